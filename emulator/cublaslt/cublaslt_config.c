/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cublaslt/cublaslt_config.c -- cublasLt calls: what an algorithm is
 * set to [sizes measured, 13.1], and what it can do. Contracts are NVIDIA's. */
#include "emulator/cublaslt/cublaslt.h"

#include <string.h>

static const struct lt_attribute config_rows[] = {
#define ROW(number, member)                                               \
	LT_ATTRIBUTE(CUBLASLT_ALGO_CONFIG_##number, lt_algorithm, member)
	ROW(ID, id)
	ROW(TILE_ID, tile)
	ROW(SPLITK_NUM, split_k)
	ROW(REDUCTION_SCHEME, reduction)
	ROW(CTA_SWIZZLING, swizzle)
	ROW(CUSTOM_OPTION, custom)
	ROW(STAGES_ID, stages)
	ROW(INNER_SHAPE_ID, inner)
	ROW(CLUSTER_SHAPE_ID, cluster)
#undef ROW
	LT_ATTRIBUTE(10, lt_algorithm, unnamed)
	{ 0, 0, 0 }
};

cublasStatus_t
cublasLtMatmulAlgoConfigSetAttribute(cublasLtMatmulAlgo_t *algo,
    cublasLtMatmulAlgoConfigAttributes_t attribute, const void *value,
    size_t bytes)
{
	EMU_ENTER(&emu_blas);
	return attribute == CUBLASLT_ALGO_CONFIG_ID ?
	    CUBLAS_STATUS_INVALID_VALUE :
	    lt_set(config_rows, algo, (int)attribute, value, bytes);
}

cublasStatus_t
cublasLtMatmulAlgoConfigGetAttribute(const cublasLtMatmulAlgo_t *algo,
    cublasLtMatmulAlgoConfigAttributes_t attribute, void *value, size_t bytes,
    size_t *written)
{
	EMU_ENTER(&emu_blas);
	return lt_get(config_rows, algo, (int)attribute, value, bytes,
	    written);
}

/* ---- what it can do ------------------------------------------------------ */

struct capability {
	int32_t  split_k;
	uint32_t reductions, swizzle;
	int32_t  batch, apart, triangle;
	uint32_t tile;
	int32_t  largest_option, other_order;
	uint32_t pointer_modes, epilogues, stages;
	int32_t  negative_ld;
	uint64_t implementation;
	uint32_t alignment[4];
	int32_t  pointer_arrays, emulation;
};

static const struct lt_attribute capability_rows[] = {
#define ROW(number, member)                                               \
	LT_ATTRIBUTE(CUBLASLT_ALGO_CAP_##number, capability, member)
	ROW(SPLITK_SUPPORT, split_k)
	ROW(REDUCTION_SCHEME_MASK, reductions)
	ROW(CTA_SWIZZLING_SUPPORT, swizzle)
	ROW(STRIDED_BATCH_SUPPORT, batch)
	ROW(OUT_OF_PLACE_RESULT_SUPPORT, apart)
	ROW(UPLO_SUPPORT, triangle)
	ROW(TILE_IDS, tile)
	ROW(CUSTOM_OPTION_MAX, largest_option)
	ROW(CUSTOM_MEMORY_ORDER, other_order)
	ROW(POINTER_MODE_MASK, pointer_modes)
	ROW(EPILOGUE_MASK, epilogues)
	ROW(STAGES_IDS, stages)
	ROW(LD_NEGATIVE, negative_ld)
	ROW(NUMERICAL_IMPL_FLAGS, implementation)
	ROW(MIN_ALIGNMENT_A_BYTES, alignment[0])
	ROW(MIN_ALIGNMENT_B_BYTES, alignment[1])
	ROW(MIN_ALIGNMENT_C_BYTES, alignment[2])
	ROW(MIN_ALIGNMENT_D_BYTES, alignment[3])
#undef ROW
	LT_ATTRIBUTE(21, capability, pointer_arrays)
	LT_ATTRIBUTE(22, capability, emulation)
	{ 0, 0, 0 }
};

static struct capability
capability_of(const struct lt_algorithm *algorithm,
    const struct lt_method *method)
{
	struct capability can = { .split_k = method->split_k > 1,
		.reductions = method->reduction, .swizzle = 1, .batch = 1,
		.apart = 1, .tile = method->tile,
		.pointer_modes = CUBLASLT_POINTER_MODE_MASK_HOST |
		CUBLASLT_POINTER_MODE_MASK_DEVICE,
		.epilogues = CUBLASLT_EPILOGUE_DEFAULT | LT_RELU | LT_BIAS |
		LT_DRELU | LT_BGRAD | LT_GELU | LT_DGELU | LT_AUX |
		LT_BGRADA | LT_BGRADB, .stages = method->stages,
		.implementation = lt_implementation(method) };

	for (int i = 0; i < 4; i++) {
		const size_t element = emu_type_bytes(
		    (cudaDataType)algorithm->types[i]);

		can.alignment[i] = method->alignment > element ?
		    method->alignment : (uint32_t)element;
	}
	return can;
}

/* Of the lists there is one element; the buffer may have room for more. */
cublasStatus_t
cublasLtMatmulAlgoCapGetAttribute(const cublasLtMatmulAlgo_t *algo,
    cublasLtMatmulAlgoCapAttributes_t attribute, void *value, size_t bytes,
    size_t *written)
{
	const bool list = attribute == CUBLASLT_ALGO_CAP_TILE_IDS ||
	    attribute == CUBLASLT_ALGO_CAP_STAGES_IDS;
	const struct lt_method *method;
	struct lt_algorithm algorithm;
	struct capability can;

	EMU_ENTER(&emu_blas);
	if (!algo)
		return CUBLAS_STATUS_INVALID_VALUE;
	memcpy(&algorithm, algo, sizeof algorithm);
	method = lt_method(algorithm.id);
	if (!method)
		return CUBLAS_STATUS_INVALID_VALUE;
	can = capability_of(&algorithm, method);
	return lt_get(capability_rows, &can, (int)attribute, value,
	    list && bytes > sizeof can.tile ? sizeof can.tile : bytes,
	    written);
}
