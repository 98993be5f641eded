/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cublas_product.c -- computing a product on the stream's worker:
 * inputs rounded as the arithmetic says, sums in the accumulator's precision,
 * beta = 0 never reads C, alpha = 0 never reads A and B. */
#include "emulator/cublas_gemm.h"
#include "emulator/cublas_round.h"

#include <stdlib.h>

/* One matrix product of a batch. */
struct product {
	const struct emu_gemm *g;
	const void *a, *b;
	void *c;
};

static void
announce(const void *data, int64_t rows, int64_t cols, int64_t ld,
    size_t element)
{
	for (int64_t j = 0; EMU_TSAN && j < cols; j++)
		emu_announce_read((const char *)data + (size_t)(j * ld) *
		    element, (size_t)rows * element);
}

static float
load(const void *data, cudaDataType type, int64_t i)
{
	switch (type) {
	case CUDA_R_16F:
		return emu_from_fp16(((const uint16_t *)data)[i]);
	case CUDA_R_16BF:
		return emu_from_bf16(((const uint16_t *)data)[i]);
	default:
		return ((const float *)data)[i];
	}
}

static void
store(void *data, cudaDataType type, int64_t i, float value)
{
	switch (type) {
	case CUDA_R_16F:
		((uint16_t *)data)[i] = emu_to_fp16(value);
		break;
	case CUDA_R_16BF:
		((uint16_t *)data)[i] = emu_to_bf16(value);
		break;
	default:
		((float *)data)[i] = value;
	}
}

static float
round_to(float x, enum emu_rounding rounding)
{
	switch (rounding) {
	case EMU_ROUND_TF32:
		return emu_round_tf32(x);
	case EMU_ROUND_BF16:
		return emu_round_bf16(x);
	case EMU_ROUND_FP16:
		return emu_from_fp16(emu_to_fp16(x));
	default:
		return x;
	}
}

/* `rows` x `cols` of the operand as packed, rounded FP32. */
static float *
pack(const void *data, const struct emu_operand *o, int64_t rows,
    int64_t cols, enum emu_rounding rounding)
{
	float *packed = malloc((size_t)(rows * cols) * sizeof *packed);

	for (int64_t j = 0; packed && j < cols; j++)
		for (int64_t i = 0; i < rows; i++)
			packed[j * rows + i] = round_to(load(data, o->type,
			    j * o->ld + i), rounding);
	return packed;
}

static void
scale_c(const struct product *p)
{
	const struct emu_gemm *g = p->g;
	const float beta = (float)g->beta.value;

	for (int64_t j = 0; j < g->n; j++)
		for (int64_t i = 0; i < g->m; i++) {
			const int64_t at = j * g->c.ld + i;

			store(p->c, g->c.type, at, beta == 0 ? 0.0f :
			    beta * load(p->c, g->c.type, at));
		}
}

/* FP32 sums of 16-bit or rounded inputs, by way of packed copies. */
static void
run_packed(const struct product *p)
{
	const struct emu_gemm *g = p->g;
	const bool ta = g->transa != CUBLAS_OP_N, tb = g->transb != CUBLAS_OP_N;
	const int64_t rows_a = ta ? g->k : g->m, rows_b = tb ? g->n : g->k;
	const bool wide = g->c.type == CUDA_R_32F;
	const float beta = (float)g->beta.value;
	float *a = pack(p->a, &g->a, rows_a, ta ? g->m : g->k, g->rounding);
	float *b = pack(p->b, &g->b, rows_b, tb ? g->k : g->n, g->rounding);
	float *c = wide ? p->c : beta == 0 ?
	    malloc((size_t)(g->m * g->n) * sizeof *c) :
	    pack(p->c, &g->c, g->m, g->n, EMU_ROUND_NONE);

	if (!a || !b || !c) {
		emu_device_poison(EMU_OUT_OF_MEMORY);
	} else {
		emu_sgemm(ta, tb, (int)g->m, (int)g->n, (int)g->k,
		    (float)g->alpha.value, a, rows_a, b, rows_b, beta, c,
		    wide ? g->c.ld : g->m);
		for (int64_t j = 0; !wide && j < g->n; j++)
			for (int64_t i = 0; i < g->m; i++)
				store(p->c, g->c.type, j * g->c.ld + i,
				    c[j * g->m + i]);
	}
	free(a);
	free(b);
	if (!wide)
		free(c);
}

static void
run_float(const struct product *p)
{
	const struct emu_gemm *g = p->g;
	const bool ta = g->transa != CUBLAS_OP_N, tb = g->transb != CUBLAS_OP_N;

	if (!g->k || g->alpha.value == 0) {
		scale_c(p);
	} else if (g->rounding != EMU_ROUND_NONE ||
	    g->a.type != CUDA_R_32F || g->c.type != CUDA_R_32F) {
		run_packed(p);
	} else {
		announce(p->a, ta ? g->k : g->m, ta ? g->m : g->k, g->a.ld, 4);
		announce(p->b, tb ? g->n : g->k, tb ? g->k : g->n, g->b.ld, 4);
		emu_sgemm(ta, tb, (int)g->m, (int)g->n, (int)g->k,
		    (float)g->alpha.value, p->a, g->a.ld, p->b, g->b.ld,
		    (float)g->beta.value, p->c, g->c.ld);
	}
}

static void
run_double(const struct product *p)
{
	const struct emu_gemm *g = p->g;
	const bool scale = !g->k || g->alpha.value == 0;
	double *c = p->c;

	if (!scale) {
		emu_dgemm(g->transa != CUBLAS_OP_N, g->transb != CUBLAS_OP_N,
		    (int)g->m, (int)g->n, (int)g->k, g->alpha.value, p->a,
		    g->a.ld, p->b, g->b.ld, g->beta.value, c, g->c.ld);
		return;
	}
	for (int64_t j = 0; j < g->n; j++)
		for (int64_t i = 0; i < g->m; i++) {
			double *x = &c[j * g->c.ld + i];

			*x = g->beta.value == 0 ? 0 : g->beta.value * *x;
		}
}

struct complex {
	double re, im;
};

static struct complex
element(const void *data, int64_t ld, cublasOperation_t operation, int64_t i,
    int64_t j, enum emu_rounding rounding)
{
	const int64_t at = operation == CUBLAS_OP_N ? j * ld + i : i * ld + j;
	const float *x = (const float *)data + 2 * at;
	struct complex value = {
		(double)round_to(x[0], rounding),
		(double)round_to(x[1], rounding)
	};

	if (operation == CUBLAS_OP_C)
		value.im = -value.im;
	return value;
}

static void
run_complex_element(const struct product *p, int64_t i, int64_t j)
{
	const struct emu_gemm *g = p->g;
	const struct emu_scalar *al = &g->alpha, *be = &g->beta;
	float *c = (float *)p->c + 2 * (j * g->c.ld + i);
	struct complex sum = { 0, 0 }, old = { 0, 0 };

	if (al->value != 0 || al->imaginary != 0)
		for (int64_t l = 0; l < g->k; l++) {
			const struct complex x = element(p->a, g->a.ld,
			    g->transa, i, l, g->rounding);
			const struct complex y = element(p->b, g->b.ld,
			    g->transb, l, j, g->rounding);

			sum.re += x.re * y.re - x.im * y.im;
			sum.im += x.re * y.im + x.im * y.re;
		}
	if (be->value != 0 || be->imaginary != 0) {
		old.re = (double)c[0];
		old.im = (double)c[1];
	}
	c[0] = (float)(al->value * sum.re - al->imaginary * sum.im +
	    be->value * old.re - be->imaginary * old.im);
	c[1] = (float)(al->value * sum.im + al->imaginary * sum.re +
	    be->value * old.im + be->imaginary * old.re);
}

static void
run_complex(const struct product *p)
{
	for (int64_t j = 0; j < p->g->n; j++)
		for (int64_t i = 0; i < p->g->m; i++)
			run_complex_element(p, i, j);
}

static const void *
matrix(const struct emu_operand *o, int64_t index, size_t element_bytes)
{
	if (o->array)
		return o->array[index];
	return (const char *)o->data + index * o->stride *
	    (int64_t)element_bytes;
}

static size_t
bytes_of(cudaDataType type)
{
	return type == CUDA_R_16F || type == CUDA_R_16BF ? 2 :
	    type == CUDA_R_32F ? 4 : 8;
}

/* RATIONALE: the checks' lock would order workers that nobody ordered, so a
 * build with TSan, which sees bad accesses itself, does without. */
static bool
is_bad(const struct product *p)
{
	if (EMU_TSAN || !p->g->c.array)
		return false;
	emu_call_name(p->g->call);
	return emu_gemm_check_memory(p->g, p->a, p->b, p->c, 1);
}

void
emu_product_run(struct emu_gemm *g)
{
	struct product p = { .g = g };

	emu_scalar_fetch(&g->alpha);
	emu_scalar_fetch(&g->beta);
	for (int64_t i = 0; i < g->batch; i++) {
		if (emu_gemm_multiplies(g)) {
			p.a = matrix(&g->a, i, bytes_of(g->a.type));
			p.b = matrix(&g->b, i, bytes_of(g->b.type));
		}
		p.c = (void *)(uintptr_t)matrix(&g->c, i, bytes_of(g->c.type));
		if (is_bad(&p))
			emu_device_poison(EMU_ILLEGAL_ADDRESS);
		else if (g->real == EMU_FLOAT)
			run_float(&p);
		else if (g->real == EMU_DOUBLE)
			run_double(&p);
		else
			run_complex(&p);
	}
}
