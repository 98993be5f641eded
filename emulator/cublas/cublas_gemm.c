/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cublas/cublas_gemm.c -- a product's arguments: checks them in
 * cuBLAS's order, chooses the arithmetic, queues the product. Computes
 * nothing. */
#include "emulator/cublas/cublas_gemm.h"

#include <limits.h>

/* Which types go with a compute type [cuBLAS manual, cublasGemmEx(),
 * cublasSgemmEx(), cublasCgemmEx()]. */
static const struct {
	cublasComputeType_t compute;
	cudaDataType input, output;
	enum emu_real real;
	enum emu_rate arithmetic;
} supported[] = {
#define ROW(compute, input, output, real, arithmetic) {                    \
	CUBLAS_COMPUTE_##compute, CUDA_##input, CUDA_##output, EMU_##real, \
	EMU_##arithmetic },
	ROW(32F, R_32F, R_32F, FLOAT, FP32)
	ROW(32F, R_16F, R_16F, FLOAT, FP16)
	ROW(32F, R_16F, R_32F, FLOAT, FP16)
	ROW(32F, R_16BF, R_16BF, FLOAT, BF16)
	ROW(32F, R_16BF, R_32F, FLOAT, BF16)
	ROW(32F, R_8I, R_32F, FLOAT, FP32)
	ROW(32F, C_32F, C_32F, COMPLEX, FP32)
	ROW(32F, C_8I, C_32F, COMPLEX, FP32)
	ROW(32F_PEDANTIC, R_32F, R_32F, FLOAT, FP32)
	ROW(32F_PEDANTIC, R_16F, R_16F, FLOAT, FP32)
	ROW(32F_PEDANTIC, R_16F, R_32F, FLOAT, FP32)
	ROW(32F_PEDANTIC, R_16BF, R_16BF, FLOAT, FP32)
	ROW(32F_PEDANTIC, R_16BF, R_32F, FLOAT, FP32)
	ROW(32F_PEDANTIC, R_8I, R_32F, FLOAT, FP32)
	ROW(32F_PEDANTIC, C_32F, C_32F, COMPLEX, FP32)
	ROW(32F_PEDANTIC, C_8I, C_32F, COMPLEX, FP32)
	ROW(32F_FAST_TF32, R_32F, R_32F, FLOAT, TF32)
	ROW(32F_FAST_TF32, C_32F, C_32F, COMPLEX, TF32)
	ROW(32F_FAST_16BF, R_32F, R_32F, FLOAT, BF16)
	ROW(32F_FAST_16BF, C_32F, C_32F, COMPLEX, BF16)
	ROW(32F_FAST_16F, R_32F, R_32F, FLOAT, FP16)
	ROW(32F_FAST_16F, C_32F, C_32F, COMPLEX, FP16)
	ROW(64F, R_64F, R_64F, DOUBLE, FP64)
	ROW(64F_PEDANTIC, R_64F, R_64F, DOUBLE, FP64)
#undef ROW
};

/* The arithmetic of plain FP32 under the handle's math mode. */
static enum emu_rate
by_math_mode(cublasHandle_t handle)
{
	switch (handle ? (int)handle->math_mode & 15 : 0) {
	case CUBLAS_TF32_TENSOR_OP_MATH:
		return EMU_TF32;
	case CUBLAS_TENSOR_OP_MATH:
		return EMU_FP16;
	default:
		return EMU_FP32;
	}
}

static cublasStatus_t
choose_arithmetic(cublasHandle_t handle, struct emu_gemm *g,
    cublasComputeType_t compute)
{
	const int device = emu_context_device();
	const struct emu_model *model = emu_device_model(device);
	size_t i = 0;

	while (i < sizeof supported / sizeof *supported &&
	    (supported[i].compute != compute ||
	    supported[i].input != g->a.type || g->b.type != g->a.type ||
	    supported[i].output != g->c.type))
		i++;
	if (i == sizeof supported / sizeof *supported ||
	    (g->a.type == CUDA_R_16BF && model->rate[EMU_BF16] == 0))
		return CUBLAS_STATUS_NOT_SUPPORTED;
	g->real = supported[i].real;
	g->arithmetic = supported[i].arithmetic;
	if (compute == CUBLAS_COMPUTE_32F && (g->a.type == CUDA_R_32F ||
	    g->a.type == CUDA_C_32F))
		g->arithmetic = by_math_mode(handle);
	if (model->fast16_is_tf32 && (compute ==
	    CUBLAS_COMPUTE_32F_FAST_16F || compute ==
	    CUBLAS_COMPUTE_32F_FAST_16BF))
		g->arithmetic = EMU_TF32;
	/* A device without the format computes in FP32. */
	if ((g->arithmetic == EMU_TF32 && !emu_device_has_tf32(device)) ||
	    model->rate[g->arithmetic] == 0)
		g->arithmetic = EMU_FP32;
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
		emu_type_bytes(o->type) };

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

/* The targets of pointer arrays are known only when the work runs. */
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
emu_gemm_choose(struct emu_gemm *g, cublasComputeType_t compute)
{
	return choose_arithmetic(NULL, g, compute);
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
