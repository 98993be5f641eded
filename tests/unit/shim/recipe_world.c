/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/shim/recipe_world.c -- see recipe_world.h. */
#include "tests/unit/shim/recipe_world.h"
#include "tests/unit/cases.h"

char events[256];
const char *fails;
cublasStatus_t answer;
bool lacks_wide, was_apart, is_one;
enum ac_reason borrowed;
cublasPointerMode_t pointer_mode;
struct issued issued;
struct ac_lane_request request;
struct ac_verified given;

/* False: it fails. */
static bool
note(const char *event)
{
	const size_t used = strlen(events);

	(void)snprintf(events + used, sizeof events - used, "%s%s",
	    used ? " " : "", event);
	return !fails || strcmp(event, fails);
}

/* ---- A cuBLAS ------------------------------------------------------------ */

/* Both widths of a function: the same arguments, of another type. */
#define SINGLE(name, index, event) \
static cublasStatus_t \
name(cublasHandle_t handle, cublasOperation_t transa, \
    cublasOperation_t transb, index m, index n, index k, const void *by, \
    const void *a, cudaDataType type_a, index lda, const void *b, \
    cudaDataType type_b, index ldb, const void *and, void *c, \
    cudaDataType type_c, index ldc, cublasComputeType_t compute, \
    cublasGemmAlgo_t algo) \
{ \
	(void)algo; \
	(void)note(event); \
	issued = (struct issued){ handle, transa, transb, m, n, k, 1, by, \
	    and, { a, type_a, lda, 0 }, { b, type_b, ldb, 0 }, \
	    { c, type_c, ldc, 0 }, compute }; \
	return answer; \
}
#define STRIDED(name, index, event) \
static cublasStatus_t \
name(cublasHandle_t handle, cublasOperation_t transa, \
    cublasOperation_t transb, index m, index n, index k, const void *by, \
    const void *a, cudaDataType type_a, index lda, long long stride_a, \
    const void *b, cudaDataType type_b, index ldb, long long stride_b, \
    const void *and, void *c, cudaDataType type_c, index ldc, \
    long long stride_c, index batch, cublasComputeType_t compute, \
    cublasGemmAlgo_t algo) \
{ \
	(void)algo; \
	(void)note(event); \
	issued = (struct issued){ handle, transa, transb, m, n, k, batch, \
	    by, and, { a, type_a, lda, stride_a }, \
	    { b, type_b, ldb, stride_b }, { c, type_c, ldc, stride_c }, \
	    compute }; \
	return answer; \
}
SINGLE(gemm, int, "gemm")
SINGLE(gemm_64, int64_t, "gemm64")
STRIDED(strided, int, "strided")
STRIDED(strided_64, int64_t, "strided64")

static cublasStatus_t
get_math_mode(cublasHandle_t handle, cublasMath_t *mode)
{
	*mode = CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION;
	return fails && !strcmp(fails, "math") ? CUBLAS_STATUS_NOT_INITIALIZED
	    : CUBLAS_STATUS_SUCCESS;
}

static cublasStatus_t
get_pointer_mode(cublasHandle_t handle, cublasPointerMode_t *mode)
{
	*mode = pointer_mode;
	return fails && !strcmp(fails, "pointer")
	    ? CUBLAS_STATUS_NOT_INITIALIZED : CUBLAS_STATUS_SUCCESS;
}

ac_fn
ac_provider_look_up(struct ac_provider *of, enum ac_entry entry)
{
	switch (entry) {
	case ENTRY_cublasGemmEx_64:
		return lacks_wide ? NULL : (ac_fn)gemm_64;
	case ENTRY_cublasGemmStridedBatchedEx_64:
		return (ac_fn)strided_64;
	case ENTRY_cublasGetMathMode:
		return (ac_fn)get_math_mode;
	default:
		return NULL;
	}
}

static enum ac_reason
issue(const struct ac_job *of, const struct ac_gemm *product,
    cublasComputeType_t compute, bool apart, cublasStatus_t *status_out)
{
	was_apart = apart;
	return ac_cublas_backend.issue(of, product, compute, apart, status_out);
}

/* ---- Kernels, lanes and times -------------------------------------------- */

#define KERNEL(name) \
enum ac_kernels_status \
ac_verified_##name(const struct ac_kernels *kernels, \
    const struct ac_verified *v, ac_cu_stream stream) \
{ \
	assert_ptr_equal(kernels, (void *)24); \
	assert_ptr_equal(stream, (void *)16); \
	is_one = is_one && (!strcmp(#name, "probe") \
	    || !memcmp(&given, v, sizeof given)); \
	memcpy(&given, v, sizeof given); \
	return note(#name) ? AC_KERNELS_OK : AC_KERNELS_LAUNCH; \
}
KERNEL(probe)
KERNEL(cast)
KERNEL(verify)
KERNEL(mend)

char buffer[1 << 16];
static uint32_t zeros[64];
struct ac_verified_state words;
struct ac_verified_record spare;

enum ac_reason
ac_lane_borrow(const struct ac_lane_request *asked, const struct ac_place *at,
    struct ac_lane_loan *loan_out)
{
	(void)note("borrow");
	request = *asked;
	*loan_out = (struct ac_lane_loan){
		.handle = (cublasHandle_t)(uintptr_t)8, .stream = at->stream,
		.buffer = buffer, .zeros = zeros, .state = &words,
		.record = &spare
	};
	return borrowed;
}

void
ac_lane_return(const struct ac_lane_loan *lent, bool clean)
{
	assert_ptr_equal(lent->buffer, buffer);
	(void)note(clean ? "return" : "return-dirty");
}

bool
ac_timing_begin(struct ac_timing *of, const struct ac_place *at)
{
	return note("time");
}

void
ac_timing_end(struct ac_timing *of, const struct ac_place *at, bool done)
{
	(void)note(done ? "timed" : "untimed");
}

/* ---- A call -------------------------------------------------------------- */

const struct ac_place place = {
	.stream = (ac_cu_stream)(uintptr_t)16,
	.kernels = (const struct ac_kernels *)(uintptr_t)24
};
struct ac_provider provider = { .real = {
	[ENTRY_cublasGemmEx] = (ac_fn)gemm,
	[ENTRY_cublasGemmStridedBatchedEx] = (ac_fn)strided,
	[ENTRY_cublasGetPointerMode_v2] = (ac_fn)get_pointer_mode
} };
struct ac_verified_record record, post;
struct ac_ledger ledger;
struct ac_timing timing;
struct ac_gemm_backend backend;
struct ac_gemm_tail tail;
float alpha, beta;
struct ac_gemm g;
struct ac_turn turn;
struct ac_site site;
struct ac_job job;
cublasStatus_t status;

/* No scalar lies in it. */
static float output[4096];

void
start(unsigned number)
{
	events[0] = '\0';
	fails = NULL;
	answer = CUBLAS_STATUS_SUCCESS;
	lacks_wide = was_apart = false;
	is_one = true;
	borrowed = AC_REASON_NONE;
	pointer_mode = CUBLAS_POINTER_MODE_HOST;
	alpha = 2;
	beta = 0;
	status = (cublasStatus_t)UNTOUCHED;
	ledger = (struct ac_ledger){ .record = &record, .post = &post };
	tail = (struct ac_gemm_tail){ .follows = false };
	backend = ac_cublas_backend;
	backend.issue = issue;
	g = (struct ac_gemm){
		.backend = &backend, .handle = (cublasHandle_t)(uintptr_t)1,
		.transb = CUBLAS_OP_T, .m = 5, .n = 6, .k = 7, .batch = 1,
		.alpha = &alpha, .beta = &beta,
		.a = { &g, CUDA_R_32F, 11, 0 },
		.b = { &site, CUDA_R_32F, 12, 0 },
		.c = { output, CUDA_R_32F, 13, 0 }
	};
	turn = (struct ac_turn){ .kind = AC_TURN_RECAST, .candidate = number,
		.is_verified = !number, .ledger = number ? NULL : &ledger };
	site = (struct ac_site){
		.binding = { NULL, &provider },
		.decision = {
			.guard = AC_GUARD_ON, .workspace_bytes = 12345,
			.candidate_count = 2, .candidate = {
				{ AC_RUNG_FP16, AC_TACTIC_CAST, 1e-3, 0, 0 },
				{ AC_RUNG_TF32, AC_TACTIC_LIBRARY, 1e-3, 0, 0 }
			}
		}
	};
	job = (struct ac_job){
		.call = {
			.decision = &site.decision, .place = &place,
			.candidate = &site.decision.candidate[number],
			.turn = &turn, .device = 3
		},
		.g = &g, .site = &site, .owner = &provider,
		.status_out = &status
	};
}
