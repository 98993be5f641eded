/* SPDX-License-Identifier: Apache-2.0 */
/* shim/recipe_cast.c -- cast both operands to 16 bits and multiply those, on a
 * lane (recasting.md R1, R2). FP16 operands are scaled by powers of two that
 * alpha undoes; BF16 has FP32's range and needs none. */
#include "shim/recipe.h"

#include "kernels/kernels.h"
#include "shim/handle.h"
#include "shim/lane.h"

enum { PADDING = 8 }; /* elements: odd sizes then run like even ones */

static int64_t
padded(int64_t count)
{
	return (int64_t)(((uint64_t)count + PADDING - 1) / PADDING * PADDING);
}

/* `rows` x `cols` as stored; `along_k` columns are padded with zeros when the
 * product's K runs along them (along the rows ld_to pads it anyway). */
static struct ac_cast_operand
plan_operand(const struct ac_operand *operand, int64_t rows, int64_t cols,
    bool along_k, int64_t batch)
{
	return (struct ac_cast_operand){
		.from = operand->data, .rows = rows, .cols = cols,
		.ld = operand->ld, .stride = operand->stride,
		.batch = operand->stride ? batch : 1,
		.ld_to = padded(rows), .cols_to = along_k ? padded(cols) : cols,
	};
}

static void
plan(const struct ac_gemm *g, struct ac_cast_operand operand[2])
{
	const bool ta = g->transa != CUBLAS_OP_N, tb = g->transb != CUBLAS_OP_N;

	operand[0] = plan_operand(&g->a, ta ? g->k : g->m, ta ? g->m : g->k,
	    !ta, g->batch);
	operand[1] = plan_operand(&g->b, tb ? g->n : g->k, tb ? g->k : g->n,
	    tb, g->batch);
}

/* Elements of the cast, 0 when their bytes would not fit 63 bits. */
static uint64_t
cast_elements(const struct ac_cast_operand *operand)
{
	uint64_t elements;

	if (__builtin_mul_overflow((uint64_t)operand->ld_to,
	    (uint64_t)operand->cols_to, &elements)
	    || __builtin_mul_overflow(elements, (uint64_t)operand->batch,
	    &elements) || elements > (UINT64_MAX >> 4))
		return 0;
	return elements;
}

static uint64_t
cast_bytes(uint64_t elements)
{
	enum { ALIGNMENT = 256 };

	return (elements * sizeof(uint16_t) + ALIGNMENT - 1)
	    & ~(uint64_t)(ALIGNMENT - 1);
}

/* A scalar in host mode is read now, as cuBLAS would; in device mode by the
 * cast kernel, behind whatever the program queued to write it. */
static struct ac_cast_scalar
scalar(const void *pointer, cublasPointerMode_t mode)
{
	if (mode == CUBLAS_POINTER_MODE_DEVICE)
		return (struct ac_cast_scalar){ .device = pointer };
	return (struct ac_cast_scalar){ .value = *(const float *)pointer };
}

static bool
queue_casts(const struct ac_cast_operand operand[2],
    const struct ac_site *site, struct ac_cast_scalar alpha,
    struct ac_cast_scalar beta, const struct ac_lane_loan *loan)
{
	const bool fp16 = site->decision.rung == AC_RUNG_FP16;
	const bool scaled = fp16 && site->decision.scaled;

	if (scaled && ac_kernels_amax(operand, loan->state, loan->stream))
		return false;
	return !ac_kernels_cast(operand, fp16 ? AC_FORMAT_FP16 : AC_FORMAT_BF16,
	    scaled, alpha, beta, loan->state, loan->stream);
}

static enum ac_reason
multiply(const struct ac_gemm *g, const struct ac_site *site,
    const struct ac_cast_operand operand[2], const struct ac_lane_loan *loan,
    cublasStatus_t *status_out)
{
	const cudaDataType type = site->decision.rung == AC_RUNG_FP16
	    ? CUDA_R_16F : CUDA_R_16BF;
	const struct ac_product product = {
		.handle = loan->handle,
		.transa = g->transa, .transb = g->transb,
		.m = g->m, .n = g->n, .k = padded(g->k), .batch = g->batch,
		.alpha = &loan->state->alpha, .beta = &loan->state->beta,
		.a = { operand[0].to, type, operand[0].ld_to,
		    g->a.stride ? operand[0].ld_to * operand[0].cols_to : 0 },
		.b = { operand[1].to, type, operand[1].ld_to,
		    g->b.stride ? operand[1].ld_to * operand[1].cols_to : 0 },
		.c = (void *)(uintptr_t)g->c.data, .ldc = g->c.ld,
		.stride_c = g->c.stride,
		.compute = CUBLAS_COMPUTE_32F,
	};
	cublasStatus_t status;

	if (!ac_product_issue(site->binding.provider, &product, &status))
		return AC_REASON_UNSUPPORTED;
	if (ac_status_is_refusal(status))
		return AC_REASON_REFUSED;
	*status_out = status;
	return AC_REASON_NONE;
}

static enum ac_reason
run(const struct ac_gemm *g, const struct ac_site *site,
    struct ac_cast_operand operand[2], uint64_t first_bytes,
    const struct ac_cast_scalar scalars[2], const struct ac_lane_loan *loan,
    cublasStatus_t *status_out)
{
	operand[0].to = (uint16_t *)(void *)loan->buffer;
	operand[1].to = (uint16_t *)(void *)(loan->buffer + first_bytes);
	if (!queue_casts(operand, site, scalars[0], scalars[1], loan)) {
		ac_lane_return(loan, false);
		return AC_REASON_REFUSED;
	}
	const enum ac_reason reason = multiply(g, site, operand, loan,
	    status_out);

	ac_lane_return(loan, true);
	return reason;
}

enum ac_reason
ac_recipe_cast(const struct ac_gemm *g, const struct ac_site *site,
    cublasStatus_t *status_out)
{
	struct ac_provider *provider = site->binding.provider;
	const struct ac_handle *handle = ac_handle_find(g->handle);
	struct ac_lane_request request = {
		.provider = provider, .program = g->handle,
		.limit_bytes = site->decision.workspace_bytes,
	};
	struct ac_cast_operand operand[2];
	struct ac_lane_loan loan;
	cublasPointerMode_t mode;
	enum ac_reason reason;

	request.device = handle->device;
	if (PROVIDER(provider, cublasGetPointerMode_v2)(g->handle, &mode)
	    || PROVIDER(provider, cublasGetMathMode)(g->handle,
	    &request.math_mode))
		return AC_REASON_REFUSED;
	/* Read before a lane is borrowed: should the program's pointer be bad
	 * and its signal handler jump away, no lane is lost. */
	const struct ac_cast_scalar scalars[2] = {
		scalar(g->alpha, mode), scalar(g->beta, mode)
	};

	/* A product that is not wanted: reading A and B could only harm. */
	if (!scalars[0].device && scalars[0].value == 0)
		return AC_REASON_NO_PROFIT;
	plan(g, operand);
	const uint64_t first = cast_elements(&operand[0]);
	const uint64_t second = cast_elements(&operand[1]);
	if (!first || !second)
		return AC_REASON_WORKSPACE;
	request.buffer_bytes = cast_bytes(first) + cast_bytes(second);
	reason = ac_lane_borrow(&request, &loan);
	if (reason != AC_REASON_NONE)
		return reason;
	return run(g, site, operand, cast_bytes(first), scalars, &loan,
	    status_out);
}
