/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cublaslt/cublaslt_algorithm.c -- cublasLt calls: the heuristics, and
 * algorithms that a program makes itself. All give the same numbers; they
 * differ in what they ask for. Contracts are NVIDIA's. */
#include "emulator/cublaslt/cublaslt.h"

#include <string.h>

/* The fastest first. */
static const struct lt_method methods[] = {
	{ 66, true, 16, 1, CUBLASLT_REDUCTION_SCHEME_NONE,
	    CUBLASLT_MATMUL_TILE_128x128, 0 },
	{ 6, true, 16, 1, CUBLASLT_REDUCTION_SCHEME_NONE,
	    CUBLASLT_MATMUL_TILE_64x64, 0 },
	{ 21, true, 4, 4, CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE,
	    CUBLASLT_MATMUL_TILE_64x64, 0 },
	{ 0, false, 1, 1, CUBLASLT_REDUCTION_SCHEME_NONE,
	    CUBLASLT_MATMUL_TILE_32x32, 0 },
	{ 20, false, 1, 4, CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE,
	    CUBLASLT_MATMUL_TILE_32x32, 0 }
};
enum { METHODS = sizeof methods / sizeof *methods, LARGEST_ID = 66 };

const struct lt_method *
lt_method(int id)
{
	for (int i = 0; i < METHODS; i++)
		if (methods[i].id == id)
			return &methods[i];
	return NULL;
}

static bool
is_for(const struct lt_method *method, const struct emu_gemm *g)
{
	return !method->tensor || (g->real == EMU_FLOAT &&
	    g->arithmetic != EMU_FP32);
}

/* What an algorithm of this product remembers of it. */
static struct lt_algorithm
configured(const struct lt_method *method, const struct lt_matmul *t)
{
	const struct emu_gemm *g = &t->gemm;

	return (struct lt_algorithm){ .id = method->id,
		.tile = method->tile, .split_k = method->split_k,
		.reduction = method->reduction, .stages = method->stages,
		.compute = (int32_t)t->compute, .scale = t->scale,
		.types = { (int32_t)g->a.type, (int32_t)g->b.type,
		    (int32_t)g->c.type, (int32_t)g->c.type } };
}

static size_t
workspace_of(const struct lt_algorithm *algorithm, const struct lt_matmul *t)
{
	const struct emu_gemm *g = &t->gemm;

	return algorithm->split_k <= 1 ? 0 : (size_t)algorithm->split_k *
	    (size_t)(g->m * g->n * g->batch) * sizeof(float);
}

/* Columns and matrices of the batch begin at such addresses. */
static bool
keeps_aligned(const struct emu_operand *o, uint32_t alignment)
{
	const uint64_t bytes = emu_type_bytes(o->type);

	return (uint64_t)o->ld * bytes % alignment == 0 &&
	    (uint64_t)o->stride * bytes % alignment == 0;
}

static bool
is_aligned(const struct lt_method *method, const struct lt_matmul *t,
    const uint32_t alignment[4])
{
	const uint32_t wanted = lt_alignment(method, t);

	for (int i = 0; i < 4; i++)
		if (alignment[i] < wanted)
			return false;
	return keeps_aligned(&t->gemm.a, wanted) &&
	    keeps_aligned(&t->gemm.b, wanted) &&
	    keeps_aligned(&t->gemm.c, wanted) && keeps_aligned(&t->c, wanted);
}

cublasStatus_t
lt_algorithm_first(const struct lt_matmul *t, const uint32_t alignment[4],
    struct lt_algorithm *out)
{
	for (int i = 0; i < METHODS; i++)
		if (methods[i].split_k == 1 && is_for(&methods[i], &t->gemm) &&
		    is_aligned(&methods[i], t, alignment)) {
			*out = configured(&methods[i], t);
			return CUBLAS_STATUS_SUCCESS;
		}
	return CUBLAS_STATUS_NOT_SUPPORTED;
}

cublasStatus_t
lt_algorithm_check(const struct lt_algorithm *algorithm,
    const struct lt_matmul *t, size_t *workspace_out)
{
	const struct lt_method *method = lt_method(algorithm->id);
	struct lt_algorithm wanted;

	if (!method)
		return CUBLAS_STATUS_INVALID_VALUE;
	wanted = configured(method, t);
	if (algorithm->compute != wanted.compute ||
	    algorithm->scale != wanted.scale ||
	    memcmp(algorithm->types, wanted.types, sizeof wanted.types))
		return CUBLAS_STATUS_INVALID_VALUE;
	if (!is_for(method, &t->gemm) || algorithm->split_k < 0 ||
	    (algorithm->split_k > 1 && (method->split_k == 1 ||
	    algorithm->reduction !=
	    CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE)) ||
	    algorithm->custom || algorithm->swizzle > 1)
		return CUBLAS_STATUS_NOT_SUPPORTED;
	*workspace_out = workspace_of(algorithm, t);
	return CUBLAS_STATUS_SUCCESS;
}

/* ---- the heuristics ------------------------------------------------------ */

static bool
is_preferred(const struct lt_method *method, const struct lt_matmul *t,
    const struct lt_preference *p, int only_id)
{
	const struct lt_algorithm algorithm = configured(method, t);

	return is_for(method, &t->gemm) &&
	    is_aligned(method, t, p->alignment) &&
	    workspace_of(&algorithm, t) <= p->workspace &&
	    (method->split_k == 1 || method->reduction & p->reductions) &&
	    lt_implementation(method) & p->implementations &&
	    (p->search != CUBLASLT_SEARCH_LIMITED_BY_ALGO_ID ||
	    method->id == only_id);
}

static void
answer(const struct lt_algorithm *algorithm, const struct lt_matmul *t,
    cublasLtMatmulHeuristicResult_t *out)
{
	memset(out, 0, sizeof *out);
	memcpy(&out->algo, algorithm, sizeof *algorithm);
	out->workspaceSize = workspace_of(algorithm, t);
	out->state = CUBLAS_STATUS_SUCCESS;
	out->wavesCount = 1;
}

/* A call that a capture does not see. */
cublasStatus_t
cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle,
    cublasLtMatmulDesc_t operation, cublasLtMatrixLayout_t Adesc,
    cublasLtMatrixLayout_t Bdesc, cublasLtMatrixLayout_t Cdesc,
    cublasLtMatrixLayout_t Ddesc, cublasLtMatmulPreference_t preference,
    int requested, cublasLtMatmulHeuristicResult_t results[], int *returned)
{
	struct lt_descriptors descriptors;
	struct lt_preference p;
	struct lt_algorithm given;
	struct lt_matmul t;
	cublasStatus_t status;
	int found = 0;

	LT_ENTER(handle);
	if (!preference || requested <= 0 || !results || !returned)
		return CUBLAS_STATUS_INVALID_VALUE;
	*returned = 0;
	status = lt_read(operation, Adesc, Bdesc, Cdesc, Ddesc, &descriptors);
	if (!status)
		status = lt_describe(&descriptors, &t);
	if (status)
		return status;
	memcpy(&p, preference, sizeof p);
	memcpy(&given, &results[0].algo, sizeof given);
	for (int i = 0; i < METHODS && found < requested; i++)
		if (is_preferred(&methods[i], &t, &p, given.id)) {
			const struct lt_algorithm algorithm =
			    configured(&methods[i], &t);

			answer(&algorithm, &t, &results[found++]);
		}
	*returned = found;
	return found ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
}

/* ---- algorithms by hand -------------------------------------------------- */

cublasStatus_t
cublasLtMatmulAlgoGetIds(cublasLtHandle_t handle, cublasComputeType_t compute,
    cudaDataType_t scale, cudaDataType_t Atype, cudaDataType_t Btype,
    cudaDataType_t Ctype, cudaDataType_t Dtype, int requested, int ids[],
    int *returned)
{
	const int32_t types[4] = { (int32_t)Atype, (int32_t)Btype,
		(int32_t)Ctype, (int32_t)Dtype };
	struct emu_gemm g = { .m = 1 };
	cublasStatus_t status;
	int found = 0;

	LT_ENTER(handle);
	if (requested <= 0 || !ids || !returned)
		return CUBLAS_STATUS_INVALID_VALUE;
	status = lt_check_types(compute, (int32_t)scale, types, &g);
	if (status)
		return status;
	for (int i = 0; i < METHODS && found < requested; i++)
		if (is_for(&methods[i], &g))
			ids[found++] = methods[i].id;
	*returned = found;
	return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t
cublasLtMatmulAlgoInit(cublasLtHandle_t handle, cublasComputeType_t compute,
    cudaDataType_t scale, cudaDataType_t Atype, cudaDataType_t Btype,
    cudaDataType_t Ctype, cudaDataType_t Dtype, int id,
    cublasLtMatmulAlgo_t *algo)
{
	const struct lt_method *method = lt_method(id);
	struct lt_algorithm algorithm = { .id = id, .split_k = 1,
		.compute = (int32_t)compute, .scale = (int32_t)scale,
		.types = { (int32_t)Atype, (int32_t)Btype, (int32_t)Ctype,
		    (int32_t)Dtype } };
	struct emu_gemm g = { .m = 1 };
	cublasStatus_t status;

	LT_ENTER(handle);
	if (!algo || id < 0 || id > LARGEST_ID)
		return CUBLAS_STATUS_INVALID_VALUE;
	status = lt_check_types(compute, (int32_t)scale, algorithm.types, &g);
	if (!status && (!method || !is_for(method, &g)))
		status = CUBLAS_STATUS_NOT_SUPPORTED;
	if (status)
		return status;
	memset(algo, 0, sizeof *algo);
	memcpy(algo, &algorithm, sizeof algorithm);
	return CUBLAS_STATUS_SUCCESS;
}

/* `result` gets everything but the algorithm. */
cublasStatus_t
cublasLtMatmulAlgoCheck(cublasLtHandle_t handle,
    cublasLtMatmulDesc_t operation, cublasLtMatrixLayout_t Adesc,
    cublasLtMatrixLayout_t Bdesc, cublasLtMatrixLayout_t Cdesc,
    cublasLtMatrixLayout_t Ddesc, const cublasLtMatmulAlgo_t *algo,
    cublasLtMatmulHeuristicResult_t *result)
{
	struct lt_descriptors descriptors;
	struct lt_algorithm algorithm;
	struct lt_matmul t;
	cublasStatus_t status;
	size_t needed;

	LT_ENTER(handle);
	if (!algo || !result)
		return CUBLAS_STATUS_INVALID_VALUE;
	memcpy(&algorithm, algo, sizeof algorithm);
	status = lt_read(operation, Adesc, Bdesc, Cdesc, Ddesc, &descriptors);
	if (!status)
		status = lt_describe(&descriptors, &t);
	if (!status)
		status = lt_algorithm_check(&algorithm, &t, &needed);
	if (status)
		return status;
	result->workspaceSize = needed;
	result->state = CUBLAS_STATUS_SUCCESS;
	result->wavesCount = 1;
	return CUBLAS_STATUS_SUCCESS;
}
