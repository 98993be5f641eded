/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cublaslt/cublaslt_descriptor.c -- cublasLt calls: descriptors of
 * operations, layouts and preferences. They keep what they are given; nothing
 * is checked but sizes [measured, 13.1]. Contracts are NVIDIA's. */
#include "emulator/cublaslt/cublaslt.h"

#include <stdlib.h>
#include <string.h>

static const struct lt_attribute operation_rows[] = {
#define ROW(number, member) LT_ATTRIBUTE(number, lt_operation, member)
	ROW(CUBLASLT_MATMUL_DESC_COMPUTE_TYPE, compute)
	ROW(CUBLASLT_MATMUL_DESC_SCALE_TYPE, scale)
	ROW(CUBLASLT_MATMUL_DESC_POINTER_MODE, pointer_mode)
	ROW(CUBLASLT_MATMUL_DESC_TRANSA, transa)
	ROW(CUBLASLT_MATMUL_DESC_TRANSB, transb)
	ROW(CUBLASLT_MATMUL_DESC_TRANSC, transc)
	ROW(CUBLASLT_MATMUL_DESC_FILL_MODE, fill)
	ROW(CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue)
	ROW(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias)
	ROW(CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE, bias_stride)
	ROW(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, aux)
	ROW(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, aux_ld)
	ROW(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE, aux_stride)
	ROW(CUBLASLT_MATMUL_DESC_ALPHA_VECTOR_BATCH_STRIDE, alpha_stride)
	ROW(CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET, multiprocessors)
	ROW(16, unnamed)
	ROW(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, a_scale)
	ROW(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, b_scale)
	ROW(CUBLASLT_MATMUL_DESC_C_SCALE_POINTER, c_scale)
	ROW(CUBLASLT_MATMUL_DESC_D_SCALE_POINTER, d_scale)
	ROW(CUBLASLT_MATMUL_DESC_AMAX_D_POINTER, d_largest)
	ROW(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE, aux_type)
	ROW(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_SCALE_POINTER, aux_scale)
	ROW(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_AMAX_POINTER, aux_largest)
	ROW(CUBLASLT_MATMUL_DESC_FAST_ACCUM, fast_sums)
	ROW(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, bias_type)
	/* By number: older headers of CUDA 12 lack the names. */
	ROW(31, a_scale_mode)
	ROW(32, b_scale_mode)
	ROW(33, c_scale_mode)
	ROW(34, d_scale_mode)
	ROW(35, aux_scale_mode)
	ROW(36, d_out_scale)
	ROW(37, d_out_scale_mode)
	ROW(38, emulation)
#undef ROW
	{ 0, 0, 0 }
};

static const struct lt_attribute layout_rows[] = {
#define ROW(number, member)                                               \
	LT_ATTRIBUTE(CUBLASLT_MATRIX_LAYOUT_##number, lt_layout, member)
	ROW(TYPE, type)
	ROW(ORDER, order)
	ROW(ROWS, rows)
	ROW(COLS, cols)
	ROW(LD, ld)
	ROW(BATCH_COUNT, batch)
	ROW(STRIDED_BATCH_OFFSET, stride)
	ROW(PLANE_OFFSET, plane)
#undef ROW
	LT_ATTRIBUTE(8, lt_layout, batch_mode)
	{ 0, 0, 0 }
};

static const struct lt_attribute preference_rows[] = {
#define ROW(number, member)                                               \
	LT_ATTRIBUTE(CUBLASLT_MATMUL_PREF_##number, lt_preference, member)
	ROW(SEARCH_MODE, search)
	ROW(MAX_WORKSPACE_BYTES, workspace)
	ROW(REDUCTION_SCHEME_MASK, reductions)
	ROW(MIN_ALIGNMENT_A_BYTES, alignment[0])
	ROW(MIN_ALIGNMENT_B_BYTES, alignment[1])
	ROW(MIN_ALIGNMENT_C_BYTES, alignment[2])
	ROW(MIN_ALIGNMENT_D_BYTES, alignment[3])
	ROW(MAX_WAVES_COUNT, waves)
	ROW(IMPL_MASK, implementations)
#undef ROW
	{ 0, 0, 0 }
};

/* ---- attributes ---------------------------------------------------------- */

static const struct lt_attribute *
find(const struct lt_attribute *rows, int attribute)
{
	while (rows->bytes && rows->number != attribute)
		rows++;
	return rows->bytes ? rows : NULL;
}

cublasStatus_t
lt_set(const struct lt_attribute *rows, void *state, int attribute,
    const void *value, size_t bytes)
{
	const struct lt_attribute *row = find(rows, attribute);

	if (!state || !row || !value || bytes != row->bytes)
		return CUBLAS_STATUS_INVALID_VALUE;
	memcpy((char *)state + row->at, value, bytes);
	return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t
lt_get(const struct lt_attribute *rows, const void *state, int attribute,
    void *value, size_t bytes, size_t *written)
{
	const struct lt_attribute *row = find(rows, attribute);

	if (!state || !row || (bytes ? !value || bytes != row->bytes :
	    !written))
		return CUBLAS_STATUS_INVALID_VALUE;
	if (bytes)
		memcpy(value, (const char *)state + row->at, bytes);
	if (written)
		*written = row->bytes;
	return CUBLAS_STATUS_SUCCESS;
}

/* Whether the attribute lies in the part that a short descriptor lacks. */
static bool
is_lacking(cublasLtMatmulDesc_t descriptor, int attribute)
{
	const struct lt_attribute *row = find(operation_rows, attribute);
	uint8_t lacking;

	if (!descriptor || !row)
		return false;
	memcpy(&lacking, (char *)descriptor +
	    offsetof(struct lt_operation, lacking), sizeof lacking);
	return row->at + row->bytes >
	    (int)sizeof(struct lt_operation) - lacking;
}

cublasStatus_t
cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t descriptor,
    cublasLtMatmulDescAttributes_t attribute, const void *value, size_t bytes)
{
	EMU_ENTER(&emu_blas);
	if (is_lacking(descriptor, (int)attribute))
		return CUBLAS_STATUS_INVALID_VALUE;
	return lt_set(operation_rows, descriptor, (int)attribute, value,
	    bytes);
}

cublasStatus_t
cublasLtMatmulDescGetAttribute(cublasLtMatmulDesc_t descriptor,
    cublasLtMatmulDescAttributes_t attribute, void *value, size_t bytes,
    size_t *written)
{
	EMU_ENTER(&emu_blas);
	if (is_lacking(descriptor, (int)attribute))
		return CUBLAS_STATUS_INVALID_VALUE;
	return lt_get(operation_rows, descriptor, (int)attribute, value,
	    bytes, written);
}

#define ATTRIBUTES(kind, type, attributes, rows)                          \
cublasStatus_t                                                            \
cublasLt##kind##SetAttribute(type descriptor, attributes attribute,       \
    const void *value, size_t bytes)                                      \
{                                                                         \
	EMU_ENTER(&emu_blas);                                             \
	return lt_set(rows, descriptor, (int)attribute, value, bytes);    \
}                                                                         \
cublasStatus_t                                                            \
cublasLt##kind##GetAttribute(type descriptor, attributes attribute,       \
    void *value, size_t bytes, size_t *written)                           \
{                                                                         \
	EMU_ENTER(&emu_blas);                                             \
	return lt_get(rows, descriptor, (int)attribute, value, bytes,     \
	    written);                                                     \
}
ATTRIBUTES(MatrixLayout, cublasLtMatrixLayout_t,
    cublasLtMatrixLayoutAttribute_t, layout_rows)
ATTRIBUTES(MatmulPreference, cublasLtMatmulPreference_t,
    cublasLtMatmulPreferenceAttributes_t, preference_rows)

/* ---- making them --------------------------------------------------------- */

/* Headers before CUDA 13 have shorter descriptors. */
cublasStatus_t
cublasLtMatmulDescInit_internal(cublasLtMatmulDesc_t descriptor, size_t bytes,
    cublasComputeType_t compute, cudaDataType scale)
{
	const struct lt_operation fresh = { .compute = (int32_t)compute,
		.scale = (int32_t)scale, .fill = CUBLAS_FILL_MODE_FULL,
		.epilogue = CUBLASLT_EPILOGUE_DEFAULT, .aux_type = -1,
		.bias_type = -1, .lacking = bytes >= sizeof fresh ? 0 :
		(uint8_t)(sizeof fresh - bytes) };

	EMU_ENTER(&emu_blas);
	if (!descriptor)
		return CUBLAS_STATUS_INVALID_VALUE;
	if (bytes < offsetof(struct lt_operation, a_scale_mode))
		return CUBLAS_STATUS_ALLOC_FAILED;
	memcpy(descriptor, &fresh, sizeof fresh - fresh.lacking);
	return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t
cublasLtMatrixLayoutInit_internal(cublasLtMatrixLayout_t layout, size_t bytes,
    cudaDataType type, uint64_t rows, uint64_t cols, int64_t ld)
{
	const struct lt_layout fresh = { .type = (uint32_t)type,
		.order = CUBLASLT_ORDER_COL, .rows = rows, .cols = cols,
		.ld = ld, .batch = 1 };

	EMU_ENTER(&emu_blas);
	if (!layout)
		return CUBLAS_STATUS_INVALID_VALUE;
	if (bytes < sizeof *layout)
		return CUBLAS_STATUS_ALLOC_FAILED;
	memcpy(layout, &fresh, sizeof fresh);
	return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t
cublasLtMatmulPreferenceInit_internal(cublasLtMatmulPreference_t preference,
    size_t bytes)
{
	const struct lt_preference fresh = {
		.reductions = CUBLASLT_REDUCTION_SCHEME_MASK,
		.alignment = { 256, 256, 256, 256 },
		.implementations = UINT64_MAX };

	EMU_ENTER(&emu_blas);
	if (!preference)
		return CUBLAS_STATUS_INVALID_VALUE;
	if (bytes < sizeof *preference)
		return CUBLAS_STATUS_ALLOC_FAILED;
	memcpy(preference, &fresh, sizeof fresh);
	return CUBLAS_STATUS_SUCCESS;
}

#define LIFE(kind, type, parameters, arguments)                           \
cublasStatus_t                                                            \
cublasLt##kind##Create parameters                                         \
{                                                                         \
	type new;                                                         \
	EMU_ENTER(&emu_blas);                                             \
	if (!descriptor)                                                  \
		return CUBLAS_STATUS_INVALID_VALUE;                       \
	new = calloc(1, sizeof *new);                                     \
	if (!new)                                                         \
		return CUBLAS_STATUS_ALLOC_FAILED;                        \
	*descriptor = new;                                                \
	return cublasLt##kind##Init_internal arguments;                   \
}                                                                         \
cublasStatus_t                                                            \
cublasLt##kind##Destroy(type descriptor)                                  \
{                                                                         \
	EMU_ENTER(&emu_blas);                                             \
	free(descriptor);                                                 \
	return CUBLAS_STATUS_SUCCESS;                                     \
}
LIFE(MatmulDesc, cublasLtMatmulDesc_t,
    (cublasLtMatmulDesc_t *descriptor, cublasComputeType_t compute,
    cudaDataType scale), (new, sizeof *new, compute, scale))
LIFE(MatrixLayout, cublasLtMatrixLayout_t,
    (cublasLtMatrixLayout_t *descriptor, cudaDataType type, uint64_t rows,
    uint64_t cols, int64_t ld), (new, sizeof *new, type, rows, cols, ld))
LIFE(MatmulPreference, cublasLtMatmulPreference_t,
    (cublasLtMatmulPreference_t *descriptor), (new, sizeof *new))
