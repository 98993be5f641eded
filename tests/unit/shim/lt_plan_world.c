/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/shim/lt_plan_world.c -- in place of shim/bind/provider.c. */
#include "tests/unit/shim/lt_plan_world.h"

#include "base/mapped.h"

#include <stdlib.h>
#include <string.h>

struct given asked, ran;
unsigned calls, questions, products;
unsigned fails_at;
cublasStatus_t fails_with, answer;
cublasLtMatmulHeuristicResult_t result;
int results;
void (*inside)(void);
bool has_memory;
bool counts_addresses;
int relaxed;
struct ac_provider provider, other;
struct ac_lt_plan_key kind;
struct ac_lt_run run;

/* What the code under test never does ends the program. */
static void
check(bool good)
{
	if (!good)
		abort();
}

/* ---- A cublasLt ---------------------------------------------------------- */

static cublasStatus_t
call(void)
{
	return ++calls == fails_at ? fails_with : CUBLAS_STATUS_SUCCESS;
}

static cublasStatus_t
init(void *descriptor, size_t bytes, uint64_t magic)
{
	struct said *said = descriptor;

	check(bytes == BYTES);
	memset(said, 0, sizeof *said);
	said->magic = magic;
	return call();
}

static cublasStatus_t
set(void *descriptor, uint64_t magic, unsigned attribute, const void *value,
    size_t bytes)
{
	struct said *said = descriptor;

	check(said->magic == magic);
	check(attribute < ATTRIBUTES && bytes <= sizeof said->of[0]);
	said->of[attribute] = 0;
	memcpy(&said->of[attribute], value, bytes);
	if (counts_addresses && magic == OPERATION
	    && (attribute == CUBLASLT_MATMUL_DESC_BIAS_POINTER
	    || attribute == CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER))
		said->of[ATTRIBUTES - 1]++;
	return call();
}

static cublasStatus_t
operation_init(cublasLtMatmulDesc_t descriptor, size_t bytes,
    cublasComputeType_t compute, cudaDataType scale)
{
	struct said *said = (struct said *)descriptor;
	const cublasStatus_t status = init(said, bytes, OPERATION);

	OF(said, COMPUTE_TYPE) = compute;
	OF(said, SCALE_TYPE) = scale;
	return status;
}

static cublasStatus_t
layout_init(cublasLtMatrixLayout_t layout, size_t bytes, cudaDataType type,
    uint64_t rows, uint64_t cols, int64_t ld)
{
	struct said *said = (struct said *)layout;
	const cublasStatus_t status = init(said, bytes, LAYOUT);

	OF_LAYOUT(said, TYPE) = type;
	OF_LAYOUT(said, ROWS) = rows;
	OF_LAYOUT(said, COLS) = cols;
	OF_LAYOUT(said, LD) = (uint64_t)ld;
	OF_LAYOUT(said, BATCH_COUNT) = 1;
	return status;
}

static cublasStatus_t
preference_init(cublasLtMatmulPreference_t preference, size_t bytes)
{
	return init(preference, bytes, PREFERENCE);
}

static cublasStatus_t
set_operation(cublasLtMatmulDesc_t descriptor,
    cublasLtMatmulDescAttributes_t attribute, const void *value, size_t bytes)
{
	return set(descriptor, OPERATION, attribute, value, bytes);
}

static cublasStatus_t
set_layout(cublasLtMatrixLayout_t layout,
    cublasLtMatrixLayoutAttribute_t attribute, const void *value, size_t bytes)
{
	return set(layout, LAYOUT, attribute, value, bytes);
}

static cublasStatus_t
set_preference(cublasLtMatmulPreference_t preference,
    cublasLtMatmulPreferenceAttributes_t attribute, const void *value,
    size_t bytes)
{
	return set(preference, PREFERENCE, attribute, value, bytes);
}

static struct said
copy(const void *descriptor, uint64_t magic)
{
	struct said said;

	memcpy(&said, descriptor, sizeof said);
	check(said.magic == magic);
	return said;
}

static struct given
take(cublasLtHandle_t handle, const void *operation, const void *a,
    const void *b, const void *c, const void *d)
{
	return (struct given){ .handle = handle,
		.operation = copy(operation, OPERATION), .a = copy(a, LAYOUT),
		.b = copy(b, LAYOUT), .c = copy(c, LAYOUT),
		.d = copy(d, LAYOUT) };
}

static cublasStatus_t
heuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t operation,
    cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
    cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
    cublasLtMatmulPreference_t preference, int most,
    cublasLtMatmulHeuristicResult_t *results_out, int *count_out)
{
	void (*const callback)(void) = inside;
	const struct given given = take(handle, operation, a, b, c, d);

	check(most == 1);
	check(relaxed == 1);
	asked = given;
	asked.preference = copy(preference, PREFERENCE);
	*results_out = result;
	results_out->algo.data[0] = ++questions;
	*count_out = results;
	inside = NULL;
	if (callback) {
		relaxed--;
		callback();
		relaxed++;
	}
	return call();
}

static cublasStatus_t
matmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t operation,
    const void *alpha, const void *a, cublasLtMatrixLayout_t a_layout,
    const void *b, cublasLtMatrixLayout_t b_layout, const void *beta,
    const void *c, cublasLtMatrixLayout_t c_layout, void *d,
    cublasLtMatrixLayout_t d_layout, const cublasLtMatmulAlgo_t *algorithm,
    void *workspace, size_t bytes, cudaStream_t stream)
{
	void (*const callback)(void) = inside;
	struct given given;

	inside = NULL;
	if (callback)
		callback();
	/* Read after others ran. */
	given = take(handle, operation, a_layout, b_layout, c_layout, d_layout);
	check(relaxed == 0);
	given.alpha = alpha, given.beta = beta;
	given.from[0] = a, given.from[1] = b, given.from[2] = c;
	given.to = d, given.workspace = workspace;
	given.workspace_bytes = bytes;
	given.algorithm = algorithm->data[0];
	given.stream = stream;
	ran = given;
	products++;
	calls++;
	return answer;
}

ac_fn
ac_provider_look_up(struct ac_provider *of, enum ac_entry entry)
{
	check(of == &provider || of == &other);
	switch (entry) {
	case ENTRY_cublasLtMatmulDescInit_internal:
		return (ac_fn)operation_init;
	case ENTRY_cublasLtMatrixLayoutInit_internal:
		return (ac_fn)layout_init;
	case ENTRY_cublasLtMatmulPreferenceInit_internal:
		return (ac_fn)preference_init;
	case ENTRY_cublasLtMatmulDescSetAttribute:
		return (ac_fn)set_operation;
	case ENTRY_cublasLtMatrixLayoutSetAttribute:
		return (ac_fn)set_layout;
	case ENTRY_cublasLtMatmulPreferenceSetAttribute:
		return (ac_fn)set_preference;
	case ENTRY_cublasLtMatmulAlgoGetHeuristic:
		return (ac_fn)heuristic;
	case ENTRY_cublasLtMatmul:
		return (ac_fn)matmul;
	default:
		abort();
	}
}

bool
ac_scratch_relax(const struct ac_driver *driver, int *mode_out)
{
	check(driver == (void *)(uintptr_t)0x70);
	relaxed++;
	*mode_out = 5;
	return true;
}

void
ac_scratch_restore(const struct ac_driver *driver, int mode)
{
	check(driver == (void *)(uintptr_t)0x70);
	check(mode == 5);
	relaxed--;
}

/* Nothing is classified here. */
enum ac_asked
ac_asked_by_compute(int compute)
{
	(void)compute;
	return AC_ASKED_UNSAID;
}

enum ac_type_class
ac_type_class_of(cudaDataType a, cudaDataType b, cudaDataType c, int compute)
{
	(void)a, (void)b, (void)c, (void)compute;
	return AC_TYPE_OTHER;
}

void *
ac_mapped_take(size_t bytes)
{
	/* Never given back, as the real one: no leak to a sanitizer. */
	static _Alignas(64) char room[64 << 20];
	static _Atomic size_t used;
	const size_t at = atomic_fetch_add(&used, (bytes + 63) & ~(size_t)63);

	return has_memory && at + bytes <= sizeof room ? &room[at] : NULL;
}

/* ---- A product ----------------------------------------------------------- */

void
start(void)
{
	static int64_t serial = 1000;

	calls = questions = products = 0;
	fails_at = 0;
	fails_with = CUBLAS_STATUS_NOT_INITIALIZED;
	answer = CUBLAS_STATUS_SUCCESS;
	memset(&result, 0, sizeof result);
	result.workspaceSize = 4096;
	results = 1;
	inside = NULL;
	has_memory = true;
	counts_addresses = false;
	kind = (struct ac_lt_plan_key){
		.provider = &provider, .m = serial++, .n = 6, .k = 7,
		.a = { 2000, 21 }, .b = { 2001, 22 }, .c = { 2002, 23 },
		.d = { 2003, 24 }, .bias_stride = 25, .aux_ld = 2004,
		.aux_stride = 26, .workspace_bytes = 4096, .device = 1,
		.batch = 3, .sm_count_target = 9, .type = CUDA_R_16F,
		.compute = CUBLAS_COMPUTE_32F,
		.pointer_mode = CUBLASLT_POINTER_MODE_DEVICE,
		.transa = CUBLAS_OP_T, .transb = CUBLAS_OP_N,
		.epilogue = AC_EPILOGUE_RELU_AUX_BIAS,
		.alignment = { 8, 7, 6, 5, 4, 3 }
	};
	run = (struct ac_lt_run){
		.handle = (cublasLtHandle_t)AT(0x10), .alpha = AT(0x20),
		.a = AT(0x100), .b = AT(0x200), .beta = AT(0x30),
		.c = AT(0x300), .bias = AT(0x400), .d = AT(0x500),
		.aux = AT(0x600), .workspace = AT(0x700),
		.stream = (ac_cu_stream)AT(0x60),
		.driver = (const struct ac_driver *)AT(0x70)
	};
}
