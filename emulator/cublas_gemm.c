/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cublas_gemm.c -- a product's arguments: checked in cuBLAS's order,
 * its arithmetic chosen, then queued. Computes nothing. */
#include "emulator/cublas_gemm.h"

#include <limits.h>

/* Which types a compute type takes [cuBLAS manual, cublasGemmEx()]. */
static const struct {
	cublasComputeType_t compute;
	cudaDataType input, output;
	enum emu_real real;
	enum emu_rounding rounding;
} supported[] = {
#define FP32(input, output) { CUBLAS_COMPUTE_32F, input, output, EMU_FLOAT, \
	EMU_ROUND_NONE }, { CUBLAS_COMPUTE_32F_PEDANTIC, input, output,     \
	EMU_FLOAT, EMU_ROUND_NONE }
	FP32(CUDA_R_32F, CUDA_R_32F),
	FP32(CUDA_R_16F, CUDA_R_16F),
	FP32(CUDA_R_16F, CUDA_R_32F),
	FP32(CUDA_R_16BF, CUDA_R_16BF),
	FP32(CUDA_R_16BF, CUDA_R_32F),
	{ CUBLAS_COMPUTE_32F_FAST_TF32, CUDA_R_32F, CUDA_R_32F, EMU_FLOAT,
	  EMU_ROUND_TF32 },
	{ CUBLAS_COMPUTE_32F_FAST_16BF, CUDA_R_32F, CUDA_R_32F, EMU_FLOAT,
	  EMU_ROUND_BF16 },
	{ CUBLAS_COMPUTE_32F_FAST_16F, CUDA_R_32F, CUDA_R_32F, EMU_FLOAT,
	  EMU_ROUND_FP16 },
	{ CUBLAS_COMPUTE_32F, CUDA_C_32F, CUDA_C_32F, EMU_COMPLEX,
	  EMU_ROUND_NONE },
	{ CUBLAS_COMPUTE_32F_PEDANTIC, CUDA_C_32F, CUDA_C_32F, EMU_COMPLEX,
	  EMU_ROUND_NONE },
	{ CUBLAS_COMPUTE_32F_FAST_TF32, CUDA_C_32F, CUDA_C_32F, EMU_COMPLEX,
	  EMU_ROUND_TF32 },
	{ CUBLAS_COMPUTE_32F_FAST_16BF, CUDA_C_32F, CUDA_C_32F, EMU_COMPLEX,
	  EMU_ROUND_BF16 },
	{ CUBLAS_COMPUTE_32F_FAST_16F, CUDA_C_32F, CUDA_C_32F, EMU_COMPLEX,
	  EMU_ROUND_FP16 },
	{ CUBLAS_COMPUTE_64F, CUDA_R_64F, CUDA_R_64F, EMU_DOUBLE,
	  EMU_ROUND_NONE },
	{ CUBLAS_COMPUTE_64F_PEDANTIC, CUDA_R_64F, CUDA_R_64F, EMU_DOUBLE,
	  EMU_ROUND_NONE },
#undef FP32
};

static size_t
element_bytes(cudaDataType type)
{
	switch (type) {
	case CUDA_R_16F:
	case CUDA_R_16BF:
		return 2;
	case CUDA_R_64F:
	case CUDA_C_32F:
		return 8;
	default:
		return 4;
	}
}

/* Plain FP32 as the handle's math mode changes it. */
static enum emu_rounding
by_math_mode(cublasHandle_t handle)
{
	switch (handle ? (int)handle->math_mode & 15 : 0) {
	case CUBLAS_TF32_TENSOR_OP_MATH:
		return EMU_ROUND_TF32;
	case CUBLAS_TENSOR_OP_MATH:
		return EMU_ROUND_FP16;
	default:
		return EMU_ROUND_NONE;
	}
}

static cublasStatus_t
choose_arithmetic(cublasHandle_t handle, struct emu_gemm *g,
    cublasComputeType_t compute)
{
	const int device = emu_context_device();
	const bool ampere = emu_device_model(device)->major >= 8;
	size_t i = 0;

	while (i < sizeof supported / sizeof *supported &&
	    (supported[i].compute != compute ||
	    supported[i].input != g->a.type || g->b.type != g->a.type ||
	    supported[i].output != g->c.type))
		i++;
	if (i == sizeof supported / sizeof *supported ||
	    (g->a.type == CUDA_R_16BF && !ampere))
		return CUBLAS_STATUS_NOT_SUPPORTED;
	g->real = supported[i].real;
	g->rounding = supported[i].rounding;
	if (compute == CUBLAS_COMPUTE_32F && (g->a.type == CUDA_R_32F ||
	    g->a.type == CUDA_C_32F))
		g->rounding = by_math_mode(handle);
	/* A device without the format computes in FP32. */
	if ((g->rounding == EMU_ROUND_TF32 && !emu_device_has_tf32(device)) ||
	    (g->rounding == EMU_ROUND_BF16 && !ampere))
		g->rounding = EMU_ROUND_NONE;
	return CUBLAS_STATUS_SUCCESS;
}

static bool
is_operation(cublasOperation_t operation)
{
	return operation == CUBLAS_OP_N || operation == CUBLAS_OP_T ||
	    operation == CUBLAS_OP_C;
}

static bool
sizes_are_valid(const struct emu_gemm *g)
{
	const int64_t rows_a = g->transa == CUBLAS_OP_N ? g->m : g->k;
	const int64_t rows_b = g->transb == CUBLAS_OP_N ? g->k : g->n;

	return is_operation(g->transa) && is_operation(g->transb) &&
	    g->m >= 0 && g->n >= 0 && g->k >= 0 && g->batch >= 0 &&
	    g->a.ld >= 1 && g->b.ld >= 1 && g->c.ld >= 1 &&
	    g->a.ld >= rows_a && g->b.ld >= rows_b && g->c.ld >= g->m;
}

static int
check_matrix(const struct emu_operand *o, const void *data, int64_t rows,
    int64_t cols, int64_t batch, const char *argument)
{
	const struct emu_shape shape = { rows, cols, o->ld, batch, o->stride,
		element_bytes(o->type) };

	return emu_memory_check_matrix(data, &shape, argument);
}

int
emu_gemm_check_memory(const struct emu_gemm *g, const void *a, const void *b,
    const void *c, int64_t batch)
{
	const bool ta = g->transa != CUBLAS_OP_N, tb = g->transb != CUBLAS_OP_N;
	int status = EMU_OK;

	if (emu_gemm_multiplies(g)) {
		status = check_matrix(&g->a, a, ta ? g->k : g->m,
		    ta ? g->m : g->k, batch, "A");
		if (!status)
			status = check_matrix(&g->b, b, tb ? g->n : g->k,
			    tb ? g->k : g->n, batch, "B");
	}
	return status ? status :
	    check_matrix(&g->c, c, g->m, g->n, batch, "C");
}

/* What arrays of pointers point to is known only when the work runs. */
static int
check_operands(const struct emu_gemm *g)
{
	const uint64_t bytes = (uint64_t)g->batch * sizeof(void *);
	int status = EMU_OK;

	if (!g->c.array)
		return emu_gemm_check_memory(g, g->a.data, g->b.data,
		    g->c.data, g->batch);
	if (emu_gemm_multiplies(g)) {
		status = emu_memory_check(g->a.array, bytes, "Aarray");
		if (!status)
			status = emu_memory_check(g->b.array, bytes,
			    "Barray");
	}
	return status ? status :
	    emu_memory_check(g->c.array, bytes, "Carray");
}

static void
run(void *arguments)
{
	emu_product_run(arguments);
}

cublasStatus_t
emu_gemm_check(cublasHandle_t handle, struct emu_gemm *g, const void *alpha,
    const void *beta, cublasComputeType_t compute)
{
	cublasStatus_t status;

	if (!sizes_are_valid(g))
		return CUBLAS_STATUS_INVALID_VALUE;
	status = choose_arithmetic(handle, g, compute);
	if (!status && (!g->m || !g->n || !g->batch))
		return CUBLAS_STATUS_SUCCESS;
	if (!status && (g->m > INT_MAX || g->n > INT_MAX || g->k > INT_MAX ||
	    g->a.ld > INT_MAX || g->b.ld > INT_MAX || g->c.ld > INT_MAX))
		status = CUBLAS_STATUS_NOT_SUPPORTED;
	if (!status)
		status = emu_scalar_take(handle, alpha, g->real, "alpha",
		    &g->alpha);
	if (!status)
		status = emu_scalar_take(handle, beta, g->real, "beta",
		    &g->beta);
	return status ? status : emu_blas_status(check_operands(g));
}

cublasStatus_t
emu_gemm_queue(cublasHandle_t handle, const struct emu_gemm *g)
{
	struct emu_gemm *task;

	if (!g->m || !g->n || !g->batch)
		return CUBLAS_STATUS_SUCCESS;
	task = emu_task_new(run, sizeof *task);
	if (task) {
		*task = *g;
		task->call = emu_call_current();
	}
	return emu_blas_submit(handle, task);
}

cublasStatus_t
emu_gemm_call(cublasHandle_t handle, struct emu_gemm *g, const void *alpha,
    const void *beta, cublasComputeType_t compute)
{
	const cublasStatus_t status = emu_gemm_check(handle, g, alpha, beta,
	    compute);

	return status ? status : emu_gemm_queue(handle, g);
}
