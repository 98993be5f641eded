/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cublaslt/cublaslt_matmul.c -- cublasLtMatmul(): checks what the
 * descriptors do not say, queues the product, and on the stream's worker
 * computes it by cublas/cublas_product.c. Contracts are NVIDIA's. */
#include "emulator/cublaslt/cublaslt.h"
#include "emulator/cublas/cublas_once.h"
#include "emulator/shared/round.h"

#include <stdlib.h>
#include <string.h>

enum { WORKSPACE_ALIGNMENT = 256, MASK_ALIGNMENT = 128, AUX_ALIGNMENT = 8 };

/* ---- on the worker ------------------------------------------------------- */

static const char *
element(const struct emu_operand *o, int64_t i)
{
	return (const char *)o->data + i * (int64_t)emu_type_bytes(o->type);
}

/* The columns of C where the product looks for them. */
static void
copy_c(const struct lt_matmul *t)
{
	const struct emu_operand *c = &t->c, *d = &t->gemm.c;

	for (int64_t b = 0; b < t->gemm.batch; b++)
		for (int64_t j = 0; j < t->gemm.n; j++)
			memcpy((void *)(uintptr_t)element(d,
			    b * d->stride + j * d->ld),
			    element(c, b * c->stride + j * c->ld),
			    (size_t)t->gemm.m * emu_type_bytes(c->type));
}

/* The same, as FP32 numbers. */
static void
load_c(const struct lt_matmul *t, struct emu_touched *touched, float *to)
{
	const struct emu_operand *c = &t->c;

	for (int64_t b = 0; b < t->gemm.batch; b++)
		for (int64_t j = 0; j < t->gemm.n; j++)
			for (int64_t i = 0; i < t->gemm.m; i++)
				*to++ = emu_load(touched, c->data, c->type,
				    b * c->stride + j * c->ld + i);
}

/* For emu_once_has(): of an epilogue that reads a bias and writes D, and no
 * more; 0 of others. */
static uint64_t
hash_of_epilogue(const struct lt_matmul *t)
{
	const size_t bytes = (size_t)(t->swapped ? t->gemm.n : t->gemm.m)
	    * emu_type_bytes(t->gemm.c.type);
	const unsigned char *bias = t->bias;
	uint64_t hash = t->epilogue;

	if (t->epilogue & ~(unsigned)(1 | LT_BIAS | LT_RELU | LT_GELU))
		return 0;
	for (size_t i = 0; t->epilogue & LT_BIAS && i < bytes; i++)
		hash = (hash ^ bias[i]) * 0x100000001b3ull;
	return hash;
}

/* The product and its epilogue by way of FP32 numbers of our own, which do not
 * count as the program's bytes. They begin as 0, so that AUTOCAST_EMU_SUMS=once
 * does not take an earlier product's memory for the result. */
static bool
compute_apart(struct lt_matmul *t, struct emu_touched *touched)
{
	struct emu_gemm g = t->gemm;
	const size_t count = (size_t)(g.m * g.n * g.batch);
	const bool reads = !emu_scalar_is_zero(&g.beta);
	float *x = calloc(count, sizeof *x);

	if (!x)
		return false;
	if (reads)
		load_c(t, touched, x);
	g.c = (struct emu_operand){ .data = x, .type = CUDA_R_32F,
		.ld = g.m, .stride = g.m * g.n };
	touched->bytes += emu_product_compute(&g) -
	    count * sizeof *x * (reads ? 2 : 1);
	for (int64_t b = 0; b < g.batch; b++)
		lt_epilogue(t, touched, &x[b * g.m * g.n], g.m, b);
	free(x);
	return true;
}

static bool
run_apart(struct lt_matmul *t, struct emu_touched *touched)
{
	const uint64_t epilogue = hash_of_epilogue(t);

	if (epilogue && emu_once_has(&t->gemm, epilogue, &touched->bytes))
		return true;
	if (!compute_apart(t, touched))
		return false;
	if (epilogue)
		emu_once_note(&t->gemm, epilogue, touched->bytes);
	return true;
}

/* As cublasGemmEx() does, after a copy of C. */
static void
run_in_place(struct lt_matmul *t, struct emu_touched *touched)
{
	if (!emu_scalar_is_zero(&t->gemm.beta) &&
	    t->c.data != t->gemm.c.data)
		copy_c(t);
	touched->bytes += emu_product_compute(&t->gemm);
	if (t->epilogue & (LT_BGRADA | LT_BGRADB))
		for (int64_t b = 0; b < t->gemm.batch; b++)
			lt_input_gradient(t, touched, b);
}

static void
run(void *arguments)
{
	const unsigned mode = emu_float_mode(EMU_FLOAT_MODE);
	struct lt_matmul *t = arguments;
	struct emu_gemm *g = &t->gemm;
	struct emu_touched touched = { 0 };

	emu_scalar_fetch(&g->alpha);
	emu_scalar_fetch(&g->beta);
	if (!emu_scalar_is_zero(&g->beta) && !t->c.data) {
		emu_call_name(g->call);
		emu_complain("argument C: NULL, and beta is not 0");
		emu_device_poison(EMU_ILLEGAL_ADDRESS);
	} else if (g->real == EMU_INTEGER) {
		lt_integers(t, &touched);
	} else if (t->epilogue == CUBLASLT_EPILOGUE_DEFAULT ||
	    t->epilogue & (LT_BGRADA | LT_BGRADB)) {
		run_in_place(t, &touched);
	} else if (!run_apart(t, &touched)) {
		emu_device_poison(EMU_OUT_OF_MEMORY);
	}
	emu_product_account(g, touched.bytes);
	emu_float_mode(mode);
}

/* ---- the call ------------------------------------------------------------ */

struct call {
	struct cublasContext handle; /* one that has what this call says */
	struct lt_matmul task;
	const void *alpha, *beta;
};

static int
check_matrix(const struct emu_operand *o, int64_t rows, int64_t cols,
    int64_t batch, const char *argument)
{
	const struct emu_shape shape = { rows, cols, o->ld, batch, o->stride,
		emu_type_bytes(o->type) };

	return emu_memory_check_matrix(o->data, &shape, argument);
}

static int
check_vector(const struct lt_matmul *t, int64_t length)
{
	const struct emu_operand bias = { .data = t->bias,
		.type = t->gemm.c.type, .ld = length,
		.stride = t->bias_stride };

	return check_matrix(&bias, length, 1, t->gemm.batch, "bias");
}

static cublasStatus_t
check_aux(const struct lt_matmul *t)
{
	const bool mask = t->epilogue & (LT_RELU | LT_DRELU);
	const int64_t multiple = mask ? MASK_ALIGNMENT : AUX_ALIGNMENT;
	struct emu_operand aux = { .data = t->aux, .type = t->gemm.c.type,
		.ld = t->aux_ld, .stride = t->aux_stride };
	int64_t rows = t->gemm.m;

	if (!t->aux || t->aux_ld < rows || t->aux_ld % multiple ||
	    t->aux_stride % multiple)
		return CUBLAS_STATUS_INVALID_VALUE;
	if (mask) { /* bytes */
		aux.type = CUDA_R_8I;
		aux.ld /= 8;
		aux.stride /= 8;
		rows = (rows + 7) / 8;
	}
	return emu_blas_status(check_matrix(&aux, rows, t->gemm.n,
	    t->gemm.batch, "aux"));
}

static cublasStatus_t
check_epilogue(const struct lt_matmul *t)
{
	const bool vector = t->epilogue & (LT_BIAS | LT_BGRAD | LT_BGRADA |
	    LT_BGRADB);
	const int64_t length = t->epilogue & LT_BGRADB || t->swapped ?
	    t->gemm.n : t->gemm.m;
	cublasStatus_t status = CUBLAS_STATUS_SUCCESS;

	if (vector && !t->bias)
		return CUBLAS_STATUS_INVALID_VALUE;
	if (vector)
		status = emu_blas_status(check_vector(t, length));
	return !status && t->epilogue & LT_AUX ? check_aux(t) : status;
}

/* A C that exists if it is read, and is all of D or another matrix. */
static cublasStatus_t
check_c(const struct lt_matmul *t)
{
	const struct emu_gemm *g = &t->gemm;

	if (emu_scalar_is_zero(&g->beta))
		return CUBLAS_STATUS_SUCCESS;
	if (t->c.data == g->c.data && (t->c.ld != g->c.ld ||
	    t->c.stride != g->c.stride))
		return CUBLAS_STATUS_INVALID_VALUE;
	if (!t->c.data)
		return g->beta.device ? CUBLAS_STATUS_SUCCESS :
		    CUBLAS_STATUS_INVALID_VALUE;
	return emu_blas_status(check_matrix(&t->c, g->m, g->n, g->batch,
	    "C"));
}

static uint32_t
alignment_of(const void *pointer)
{
	const uintptr_t address = (uintptr_t)pointer | 256;

	return (uint32_t)(address & -address);
}

/* The algorithm can run here, in this workspace. */
static cublasStatus_t
check_algorithm(const cublasLtMatmulAlgo_t *given, const struct lt_matmul *t,
    const void *workspace, size_t workspace_bytes)
{
	const uint32_t alignment[4] = { alignment_of(t->gemm.a.data),
		alignment_of(t->gemm.b.data), alignment_of(t->c.data),
		alignment_of(t->gemm.c.data) };
	struct lt_algorithm algorithm;
	cublasStatus_t status;
	size_t needed;

	if ((uintptr_t)workspace % WORKSPACE_ALIGNMENT)
		return CUBLAS_STATUS_INVALID_VALUE;
	if (!given)
		return lt_algorithm_first(t, alignment, &algorithm);
	memcpy(&algorithm, given, sizeof algorithm);
	status = lt_algorithm_check(&algorithm, t, &needed);
	if (!status && needed && (!workspace || workspace_bytes < needed))
		status = CUBLAS_STATUS_INVALID_VALUE;
	for (int i = 0; !status && i < 4; i++)
		if (alignment[i] <
		    lt_alignment(lt_method(algorithm.id), t))
			status = CUBLAS_STATUS_NOT_SUPPORTED;
	return status;
}

static cublasStatus_t
queue(struct call *call)
{
	struct lt_matmul *task = emu_task_new(run, sizeof *task);

	if (task) {
		*task = call->task;
		task->gemm.call = emu_call_current();
	}
	return emu_blas_submit(&call->handle, task);
}

/* What emu_gemm_check() does for other types. */
static cublasStatus_t
check_integers(struct call *call)
{
	struct emu_gemm *g = &call->task.gemm;
	cublasStatus_t status = emu_scalar_take(&call->handle, call->alpha,
	    EMU_INTEGER, "alpha", &g->alpha);

	if (!status)
		status = emu_scalar_take(&call->handle, call->beta,
		    EMU_INTEGER, "beta", &g->beta);
	return status ? status : emu_blas_status(emu_gemm_check_memory(g,
	    g->a.data, g->b.data, g->c.data, g->batch));
}

/* Scalars, matrices, epilogue, in this order; then it runs. */
static cublasStatus_t
run_call(struct call *call)
{
	struct lt_matmul *t = &call->task;
	cublasStatus_t status;

	if (!t->gemm.a.data || !t->gemm.b.data || !t->gemm.c.data)
		return CUBLAS_STATUS_INVALID_VALUE;
	status = t->gemm.real == EMU_INTEGER ? check_integers(call) :
	    emu_gemm_check(&call->handle, &t->gemm, call->alpha, call->beta,
	    t->compute);
	if (!status)
		status = check_c(t);
	if (!status)
		status = check_epilogue(t);
	return status ? status : queue(call);
}

cublasStatus_t
cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t operation,
    const void *alpha, const void *A, cublasLtMatrixLayout_t Adesc,
    const void *B, cublasLtMatrixLayout_t Bdesc, const void *beta,
    const void *C, cublasLtMatrixLayout_t Cdesc, void *D,
    cublasLtMatrixLayout_t Ddesc, const cublasLtMatmulAlgo_t *algo,
    void *workspace, size_t workspace_bytes, cudaStream_t stream)
{
	struct call call = { .handle = { .workspace = workspace,
		.workspace_bytes = workspace ? workspace_bytes : 0 },
		.alpha = alpha, .beta = beta };
	struct lt_descriptors descriptors;
	struct lt_matmul *t = &call.task;
	cublasStatus_t status;

	LT_ENTER(handle);
	status = lt_read(operation, Adesc, Bdesc, Cdesc, Ddesc, &descriptors);
	if (!status)
		status = lt_describe(&descriptors, t);
	if (status)
		return status;
	t->gemm.a.data = t->swapped ? B : A;
	t->gemm.b.data = t->swapped ? A : B;
	t->gemm.c.data = D;
	t->c.data = C;
	status = check_algorithm(algo, t, workspace, workspace_bytes);
	call.handle.pointer_mode =
	    (cublasPointerMode_t)descriptors.operation.pointer_mode;
	call.handle.base.context = handle->base.context;
	call.handle.base.context_id = handle->base.context_id;
	call.handle.base.device = handle->base.device;
	call.handle.base.stream = stream;
	return status ? status : run_call(&call);
}
