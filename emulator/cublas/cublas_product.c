/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cublas/cublas_product.c -- computes a product on the stream's
 * worker. Inputs are rounded as the arithmetic says, sums are made as
 * AUTOCAST_EMU_SUMS says. beta = 0 never reads C, alpha = 0 never reads A and
 * B. */
#include "emulator/cublas/cublas_once.h"
#include "emulator/shared/round.h"
#include "emulator/cublas/cublas_sums.h"

#include <stdlib.h>

/* C = beta C: a product with k = 0. */
static bool
scale_c(const struct emu_product *p)
{
	struct emu_gemm nothing = *p->g;
	struct emu_product scaled = *p;

	nothing.k = 0;
	scaled.g = &nothing;
	return emu_product_reference(&scaled);
}

/* Counts C as written, and as read if beta is not 0; the caller moves it. */
static void *
c_of(const struct emu_product *p)
{
	const struct emu_gemm *g = p->g;

	if (g->beta.value != 0)
		emu_read_all(p->touched, p->c, &g->c, g->m, g->n);
	return emu_write_all(p->touched, p->c, &g->c, g->m, g->n);
}

/* FP32 sums of 16-bit or rounded inputs, from packed copies. */
static bool
run_packed(const struct emu_product *p)
{
	const struct emu_gemm *g = p->g;
	const bool ta = g->transa != CUBLAS_OP_N, tb = g->transb != CUBLAS_OP_N;
	const int64_t rows_a = emu_rows_of_a(g), rows_b = emu_rows_of_b(g);
	const bool wide = g->c.type == CUDA_R_32F;
	const float beta = (float)g->beta.value;
	float *a = emu_pack(p->touched, p->a, &g->a, rows_a, ta ? g->m : g->k,
	    g->arithmetic);
	float *b = emu_pack(p->touched, p->b, &g->b, rows_b, tb ? g->k : g->n,
	    g->arithmetic);
	float *c = wide ? c_of(p) : beta == 0 ?
	    malloc((size_t)(g->m * g->n) * sizeof *c) :
	    emu_pack(p->touched, p->c, &g->c, g->m, g->n, EMU_FP32);
	const bool done = a && b && c;

	if (done)
		emu_sgemm(ta, tb, (int)g->m, (int)g->n, (int)g->k,
		    (float)g->alpha.value, a, rows_a, b, rows_b, beta, c,
		    wide ? g->c.ld : g->m);
	for (int64_t j = 0; done && !wide && j < g->n; j++)
		for (int64_t i = 0; i < g->m; i++)
			emu_store(p->touched, p->c, g->c.type,
			    j * g->c.ld + i, c[j * g->m + i]);
	free(a);
	free(b);
	if (!wide)
		free(c);
	return done;
}

static bool
run_plain(const struct emu_product *p)
{
	const struct emu_gemm *g = p->g;
	const bool ta = g->transa != CUBLAS_OP_N, tb = g->transb != CUBLAS_OP_N;
	const float *a = emu_read_all(p->touched, p->a, &g->a,
	    emu_rows_of_a(g), ta ? g->m : g->k);
	const float *b = emu_read_all(p->touched, p->b, &g->b,
	    emu_rows_of_b(g), tb ? g->k : g->n);

	emu_sgemm(ta, tb, (int)g->m, (int)g->n, (int)g->k,
	    (float)g->alpha.value, a, g->a.ld, b, g->b.ld,
	    (float)g->beta.value, c_of(p), g->c.ld);
	return true;
}

static bool
run_fast(const struct emu_product *p)
{
	const struct emu_gemm *g = p->g;

	return g->real == EMU_COMPLEX ? emu_product_reference(p) :
	    g->arithmetic != EMU_FP32 || g->a.type != CUDA_R_32F ||
	    g->c.type != CUDA_R_32F ? run_packed(p) : run_plain(p);
}

/* FP32 results, real or complex. */
static bool
run_float(const struct emu_product *p)
{
	const struct emu_gemm *g = p->g;

	if (!emu_gemm_multiplies(g))
		return scale_c(p);
	switch (emu_device_sums()) {
	case EMU_SUMS_EXACT:
		if (emu_product_fits_exact(g))
			return emu_product_exact(p);
		return run_fast(p);
	case EMU_SUMS_REFERENCE:
		return emu_product_reference(p);
	default:
		return run_fast(p);
	}
}

static void
run_double(const struct emu_product *p)
{
	const struct emu_gemm *g = p->g;
	const bool ta = g->transa != CUBLAS_OP_N, tb = g->transb != CUBLAS_OP_N;
	const bool scale = !g->k || g->alpha.value == 0;
	double *c = c_of(p);

	if (!scale) {
		const double *a = emu_read_all(p->touched, p->a, &g->a,
		    emu_rows_of_a(g), ta ? g->m : g->k);
		const double *b = emu_read_all(p->touched, p->b, &g->b,
		    emu_rows_of_b(g), tb ? g->k : g->n);

		emu_dgemm(ta, tb, (int)g->m, (int)g->n, (int)g->k,
		    g->alpha.value, a, g->a.ld, b, g->b.ld, g->beta.value, c,
		    g->c.ld);
		return;
	}
	for (int64_t j = 0; j < g->n; j++)
		for (int64_t i = 0; i < g->m; i++) {
			double *x = &c[j * g->c.ld + i];

			*x = g->beta.value == 0 ? 0 : g->beta.value * *x;
		}
}

static const void *
matrix(const struct emu_operand *o, int64_t index, size_t element_bytes)
{
	if (o->array)
		return o->array[index];
	return (const char *)o->data + index * o->stride *
	    (int64_t)element_bytes;
}

/* Fast kernels read 16 bytes at once if k allows, so matrices must be aligned.
 * Those of a pointer array are first seen here [cuBLAS manual,
 * cublasGemmBatchedEx() and cublasSgemmBatched()]. */
static bool
is_misaligned(const struct emu_gemm *g, const void *pointer, const char *name)
{
	const size_t element = emu_type_bytes(g->a.type);
	const uintptr_t wanted = g->k % (int64_t)(16 / element) == 0 ? 16 :
	    g->k % 2 == 0 ? 4 : element;

	if ((uintptr_t)pointer % wanted == 0)
		return false;
	emu_call_name(g->call);
	emu_complain("argument %s: %p is not aligned to %d bytes, as this "
	    "product's kernels need it (k = %lld)", name, pointer,
	    (int)wanted, (long long)g->k);
	return true;
}

static bool
is_vectorized(const struct emu_gemm *g)
{
	return g->c.array && g->real != EMU_DOUBLE &&
	    (g->arithmetic != EMU_FP32 || emu_type_bytes(g->a.type) == 2);
}

/* RATIONALE: the lock of the memory checks would order workers that have no
 * event between them. TSan sees bad accesses itself, so builds with it leave
 * the checks out. */
static int
check(const struct emu_product *p)
{
	const struct emu_gemm *g = p->g;

	if (is_vectorized(g) && ((emu_gemm_multiplies(g) &&
	    (is_misaligned(g, p->a, "A") || is_misaligned(g, p->b, "B"))) ||
	    is_misaligned(g, p->c, "C")))
		return EMU_MISALIGNED;
	if (EMU_TSAN || !g->c.array)
		return EMU_OK;
	emu_call_name(g->call);
	return emu_gemm_check_memory(g, p->a, p->b, p->c, 1);
}

static void
run_one(struct emu_product *p, int64_t index)
{
	const struct emu_gemm *g = p->g;
	int status;

	if (emu_gemm_multiplies(g)) {
		p->a = matrix(&g->a, index, emu_type_bytes(g->a.type));
		p->b = matrix(&g->b, index, emu_type_bytes(g->b.type));
	}
	p->c = (void *)(uintptr_t)matrix(&g->c, index,
	    emu_type_bytes(g->c.type));
	status = check(p);
	if (status)
		emu_device_poison(status);
	else if (g->real == EMU_DOUBLE)
		run_double(p);
	else if (!run_float(p))
		emu_device_poison(EMU_OUT_OF_MEMORY);
}

static double
operations(const struct emu_gemm *g)
{
	if (!emu_gemm_multiplies(g))
		return 0;
	return (g->real == EMU_COMPLEX ? 8.0 : 2.0) * (double)g->m *
	    (double)g->n * (double)g->k * (double)g->batch;
}

uint64_t
emu_product_compute(struct emu_gemm *g)
{
	struct emu_touched touched = { 0 };
	struct emu_product p = { .g = g, .touched = &touched };

	emu_scalar_fetch(&g->alpha);
	emu_scalar_fetch(&g->beta);
	if (!emu_once_has(g, 0, &touched.bytes)) {
		for (int64_t i = 0; i < g->batch; i++)
			run_one(&p, i);
		emu_once_note(g, 0, touched.bytes);
	}
	return touched.bytes;
}

void
emu_product_account(const struct emu_gemm *g, uint64_t bytes)
{
	emu_count(EMU_gemm_bytes, bytes);
	emu_clock_compute(g->arithmetic, operations(g), bytes);
}

void
emu_product_run(struct emu_gemm *g)
{
	const unsigned mode = emu_float_mode(EMU_FLOAT_MODE);

	emu_product_account(g, emu_product_compute(g));
	emu_float_mode(mode);
}
