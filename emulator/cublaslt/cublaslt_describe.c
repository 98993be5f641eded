/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cublaslt/cublaslt_describe.c -- descriptors made one product:
 * whether they agree, and whether it is one that cublasLtMatmul() supports
 * [cuBLAS manual, cublasLtMatmul()]. */
#include "emulator/cublaslt/cublaslt.h"

#include <string.h>

cublasStatus_t
lt_read(cublasLtMatmulDesc_t operation, cublasLtMatrixLayout_t a,
    cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c,
    cublasLtMatrixLayout_t d, struct lt_descriptors *out)
{
	const size_t bytes = sizeof(struct lt_layout);
	uint8_t lacking;

	if (!operation || !a || !b || !d)
		return CUBLAS_STATUS_INVALID_VALUE;
	memset(out, 0, sizeof *out);
	memcpy(&lacking, (char *)operation +
	    offsetof(struct lt_operation, lacking), sizeof lacking);
	if (lacking > sizeof out->operation) /* never made */
		return CUBLAS_STATUS_INVALID_VALUE;
	memcpy(&out->operation, operation, sizeof out->operation - lacking);
	memcpy(&out->a, a, bytes);
	memcpy(&out->b, b, bytes);
	memcpy(&out->c, c ? c : d, bytes);
	memcpy(&out->d, d, bytes);
	return CUBLAS_STATUS_SUCCESS;
}

/* INT8 with INT32 sums; the clock has no rate of its own for them. */
static cublasStatus_t
check_integer_types(int32_t scale, const int32_t types[4],
    struct emu_gemm *out)
{
	out->real = EMU_INTEGER;
	out->arithmetic = EMU_FP16;
	return types[0] == CUDA_R_8I && types[1] == CUDA_R_8I &&
	    types[3] == CUDA_R_32I && scale == CUDA_R_32I ?
	    CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
}

cublasStatus_t
lt_check_types(cublasComputeType_t compute, int32_t scale,
    const int32_t types[4], struct emu_gemm *out)
{
	cublasStatus_t status;

	out->a.type = (cudaDataType)types[0];
	out->b.type = (cudaDataType)types[1];
	out->c.type = (cudaDataType)types[3];
	if (types[2] != types[3])
		return CUBLAS_STATUS_NOT_SUPPORTED;
	if (compute == CUBLAS_COMPUTE_32I ||
	    compute == CUBLAS_COMPUTE_32I_PEDANTIC)
		return check_integer_types(scale, types, out);
	status = emu_gemm_choose(out, compute);
	if (!status && (out->real == EMU_COMPLEX ||
	    scale != (out->real == EMU_DOUBLE ? CUDA_R_64F : CUDA_R_32F)))
		status = CUBLAS_STATUS_NOT_SUPPORTED;
	return status;
}

/* ---- shapes -------------------------------------------------------------- */

static bool
is_row(const struct lt_layout *layout)
{
	return layout->order == CUBLASLT_ORDER_ROW;
}

static bool
is_supported(const struct lt_layout *layout)
{
	return (layout->order == CUBLASLT_ORDER_COL || is_row(layout)) &&
	    !layout->plane && !layout->batch_mode && layout->rows &&
	    layout->cols && layout->batch;
}

static bool
is_valid(const struct lt_layout *layout, bool broadcasts)
{
	const uint64_t least = is_row(layout) ? layout->cols : layout->rows;

	return layout->batch >= 0 && layout->rows <= INT32_MAX &&
	    layout->cols <= INT32_MAX && ((broadcasts && !layout->ld) ||
	    (layout->ld >= 0 && (uint64_t)layout->ld >= least));
}

/* The operation on the column-order matrix that these bytes are. */
static cublasOperation_t
turned(int32_t operation, const struct lt_layout *layout)
{
	return (operation != CUBLAS_OP_N) != is_row(layout) ? CUBLAS_OP_T :
	    CUBLAS_OP_N;
}

static cublasOperation_t
other(cublasOperation_t operation)
{
	return operation == CUBLAS_OP_N ? CUBLAS_OP_T : CUBLAS_OP_N;
}

static struct emu_operand
operand(const struct lt_layout *layout)
{
	return (struct emu_operand){ .type = (cudaDataType)layout->type,
		.ld = layout->ld, .stride = layout->stride };
}

/* A, B and D fit each other; C is like D. */
static bool
shapes_agree(const struct lt_descriptors *s)
{
	const bool ta = s->operation.transa != CUBLAS_OP_N;
	const bool tb = s->operation.transb != CUBLAS_OP_N;
	const uint64_t m = ta ? s->a.cols : s->a.rows;
	const uint64_t k = ta ? s->a.rows : s->a.cols;
	const uint64_t n = tb ? s->b.rows : s->b.cols;

	return k == (tb ? s->b.cols : s->b.rows) && m == s->d.rows &&
	    n == s->d.cols && s->c.rows == s->d.rows &&
	    s->c.cols == s->d.cols && s->c.order == s->d.order &&
	    s->a.batch == s->d.batch && s->b.batch == s->d.batch &&
	    s->c.batch == s->d.batch;
}

static void
shape(const struct lt_descriptors *s, struct lt_matmul *out)
{
	struct emu_gemm *g = &out->gemm;
	const cublasOperation_t ta = turned(s->operation.transa, &s->a);
	const cublasOperation_t tb = turned(s->operation.transb, &s->b);

	out->swapped = is_row(&s->d);
	g->transa = out->swapped ? other(tb) : ta;
	g->transb = out->swapped ? other(ta) : tb;
	g->m = (int64_t)(out->swapped ? s->d.cols : s->d.rows);
	g->n = (int64_t)(out->swapped ? s->d.rows : s->d.cols);
	g->k = (int64_t)(s->operation.transa != CUBLAS_OP_N ? s->a.rows :
	    s->a.cols);
	g->batch = s->d.batch;
	g->a = operand(out->swapped ? &s->b : &s->a);
	g->b = operand(out->swapped ? &s->a : &s->b);
	g->c = operand(&s->d);
	out->c = operand(&s->c);
}

/* What INT8 asks of a regular product [cuBLAS manual, cublasLtMatmul()]. */
static bool
is_for_integers(const struct lt_descriptors *s, const struct emu_gemm *g)
{
	return !is_row(&s->a) && !is_row(&s->b) && !is_row(&s->d) &&
	    s->operation.transa == CUBLAS_OP_T &&
	    s->operation.transb == CUBLAS_OP_N && g->m % 4 == 0 &&
	    g->k % 4 == 0 && s->a.ld % 4 == 0 && s->b.ld % 4 == 0 &&
	    s->c.ld % 4 == 0 && s->d.ld % 4 == 0;
}

/* ---- epilogues ----------------------------------------------------------- */

static bool
is_epilogue(uint32_t epilogue)
{
	static const uint32_t all[] = {
		CUBLASLT_EPILOGUE_DEFAULT, CUBLASLT_EPILOGUE_BIAS,
		CUBLASLT_EPILOGUE_RELU, CUBLASLT_EPILOGUE_RELU_BIAS,
		CUBLASLT_EPILOGUE_RELU_AUX, CUBLASLT_EPILOGUE_RELU_AUX_BIAS,
		CUBLASLT_EPILOGUE_GELU, CUBLASLT_EPILOGUE_GELU_BIAS,
		CUBLASLT_EPILOGUE_GELU_AUX, CUBLASLT_EPILOGUE_GELU_AUX_BIAS,
		CUBLASLT_EPILOGUE_DRELU, CUBLASLT_EPILOGUE_DRELU_BGRAD,
		CUBLASLT_EPILOGUE_DGELU, CUBLASLT_EPILOGUE_DGELU_BGRAD,
		CUBLASLT_EPILOGUE_BGRADA, CUBLASLT_EPILOGUE_BGRADB
	};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (all[i] == epilogue)
			return true;
	return false;
}

/* In row order the manual excludes activations with a bias. What it does not
 * say is refused, too: other outputs there; FP64 with an epilogue. */
static cublasStatus_t
describe_epilogue(const struct lt_operation *o, struct lt_matmul *out)
{
	const int32_t d_type = (int32_t)out->gemm.c.type;
	const bool plain = o->epilogue == CUBLASLT_EPILOGUE_DEFAULT;

	if (!is_epilogue(o->epilogue))
		return CUBLAS_STATUS_INVALID_VALUE;
	if (!plain && (out->gemm.real != EMU_FLOAT ||
	    out->gemm.a.type == CUDA_R_8I || (out->swapped &&
	    o->epilogue != CUBLASLT_EPILOGUE_BIAS &&
	    o->epilogue != CUBLASLT_EPILOGUE_RELU &&
	    o->epilogue != CUBLASLT_EPILOGUE_GELU)))
		return CUBLAS_STATUS_NOT_SUPPORTED;
	if (!plain && ((o->bias_type != -1 && o->bias_type != d_type) ||
	    (o->epilogue & LT_AUX && o->aux_type != -1 &&
	    o->aux_type != d_type)))
		return CUBLAS_STATUS_NOT_SUPPORTED;
	out->epilogue = o->epilogue;
	out->bias = o->bias;
	out->bias_stride = o->bias_stride;
	out->aux = o->aux;
	out->aux_ld = o->aux_ld;
	out->aux_stride = o->aux_stride;
	return CUBLAS_STATUS_SUCCESS;
}

/* ---- all of it ----------------------------------------------------------- */

static bool
is_operation(int32_t operation)
{
	return operation == CUBLAS_OP_N || operation == CUBLAS_OP_T ||
	    operation == CUBLAS_OP_C;
}

/* Scales and largest values belong to FP8. */
static bool
is_valid_operation(const struct lt_operation *o)
{
	return is_operation(o->transa) && is_operation(o->transb) &&
	    !o->a_scale && !o->b_scale && !o->c_scale && !o->d_scale &&
	    !o->d_largest && !o->aux_scale && !o->aux_largest &&
	    !o->d_out_scale;
}

static bool
is_supported_operation(const struct lt_operation *o)
{
	return o->transc == CUBLAS_OP_N &&
	    o->fill == CUBLAS_FILL_MODE_FULL && !o->emulation &&
	    (o->pointer_mode == CUBLASLT_POINTER_MODE_HOST ||
	    o->pointer_mode == CUBLASLT_POINTER_MODE_DEVICE);
}

cublasStatus_t
lt_describe(const struct lt_descriptors *s, struct lt_matmul *out)
{
	const int32_t types[4] = { (int32_t)s->a.type, (int32_t)s->b.type,
		(int32_t)s->c.type, (int32_t)s->d.type };
	cublasStatus_t status;

	memset(out, 0, sizeof *out);
	if (!is_valid_operation(&s->operation) || !is_valid(&s->a, false) ||
	    !is_valid(&s->b, false) || !is_valid(&s->c, true) ||
	    !is_valid(&s->d, false) || !shapes_agree(s))
		return CUBLAS_STATUS_INVALID_VALUE;
	if (!is_supported_operation(&s->operation) || !is_supported(&s->a) ||
	    !is_supported(&s->b) || !is_supported(&s->c) ||
	    !is_supported(&s->d))
		return CUBLAS_STATUS_NOT_SUPPORTED;
	out->compute = (cublasComputeType_t)s->operation.compute;
	out->scale = s->operation.scale;
	status = lt_check_types(out->compute, out->scale, types, &out->gemm);
	if (status)
		return status;
	shape(s, out);
	if (out->gemm.real == EMU_INTEGER && !is_for_integers(s, &out->gemm))
		return CUBLAS_STATUS_NOT_SUPPORTED;
	return describe_epilogue(&s->operation, out);
}
