/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/shim/recipe_world.c -- a cuBLAS, kernels and a lane that note what
 * is asked of them. */
#include "tests/unit/shim/recipe_world.h"

#include <stdio.h>
#include <string.h>

char events[256];
const char *fails;
unsigned fails_at;
cublasStatus_t answers[4];
bool lacks_wide, has_history;
enum ac_reason borrowed;
cublasPointerMode_t pointer_mode;
struct issued issued;
struct ac_lane_request request;
struct ac_recast cast, settled, finished;
unsigned queued, refused;
static unsigned products;

/* False: it fails. */
static bool
note(const char *event)
{
	const size_t used = strlen(events);

	(void)snprintf(events + used, sizeof events - used, "%s%s",
	    used ? " " : "", event);
	return !fails || strcmp(event, fails) || --fails_at;
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
	return answers[products++]; \
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
	return answers[products++]; \
}
SINGLE(gemm, int, "gemm")
SINGLE(gemm_64, int64_t, "gemm64")
STRIDED(strided, int, "strided")
STRIDED(strided_64, int64_t, "strided64")

static cublasStatus_t
get_math_mode(cublasHandle_t handle, cublasMath_t *mode)
{
	(void)handle;
	*mode = CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION;
	return fails && !strcmp(fails, "math") ? CUBLAS_STATUS_NOT_INITIALIZED
	    : CUBLAS_STATUS_SUCCESS;
}

static cublasStatus_t
get_pointer_mode(cublasHandle_t handle, cublasPointerMode_t *mode)
{
	(void)handle;
	*mode = pointer_mode;
	return fails && !strcmp(fails, "pointer")
	    ? CUBLAS_STATUS_NOT_INITIALIZED : CUBLAS_STATUS_SUCCESS;
}

ac_fn
ac_provider_look_up(struct ac_provider *provider, enum ac_entry entry)
{
	(void)provider;
	switch (entry) {
	case ENTRY_cublasGemmEx:
		return (ac_fn)gemm;
	case ENTRY_cublasGemmStridedBatchedEx:
		return (ac_fn)strided;
	case ENTRY_cublasGemmEx_64:
		return lacks_wide ? NULL : (ac_fn)gemm_64;
	case ENTRY_cublasGemmStridedBatchedEx_64:
		return (ac_fn)strided_64;
	case ENTRY_cublasGetMathMode:
		return (ac_fn)get_math_mode;
	case ENTRY_cublasGetPointerMode_v2:
		return (ac_fn)get_pointer_mode;
	default:
		return NULL;
	}
}

/* ---- Kernels and lanes --------------------------------------------------- */

#define KERNEL(name, event, into) \
enum ac_kernels_status \
name(const struct ac_kernels *kernels, const struct ac_recast *recast, \
    ac_cu_stream stream) \
{ \
	(void)kernels, (void)stream; \
	into = *recast; \
	return note(event) ? AC_KERNELS_OK : AC_KERNELS_LAUNCH; \
}
static struct ac_recast wrote;
KERNEL(ac_recast_cast, "cast", cast)
KERNEL(ac_recast_settle, "settle", settled)
KERNEL(ac_recast_finish, "finish", finished)
KERNEL(ac_recast_write, "write", wrote)

enum ac_reason
ac_lane_borrow(const struct ac_lane_request *asked,
    const struct ac_place *at, struct ac_lane_loan *loan_out)
{
	(void)at;
	(void)note("borrow");
	request = *asked;
	*loan_out = loan;
	return borrowed;
}

void
ac_lane_return(const struct ac_lane_loan *lent, bool clean)
{
	(void)lent;
	(void)note(clean ? "return" : "return-dirty");
}

struct ac_recast_history *
ac_lane_spare(const struct ac_lane_loan *lent)
{
	return note("spare") ? lent->spare : NULL;
}

struct ac_recast_history *
ac_history_find(ac_histories *list, const struct ac_place *at,
    unsigned candidate, uint64_t limit_bytes)
{
	static struct ac_recast_history history;

	(void)list, (void)at, (void)candidate, (void)limit_bytes;
	return has_history ? &history : NULL;
}

/* ---- Trials -------------------------------------------------------------- */

uint32_t
ac_trial_epoch(const struct ac_trial *trial)
{
	(void)trial;
	return 0;
}

ac_histories *
ac_trial_histories(struct ac_trial *trial)
{
	(void)trial;
	return NULL;
}

unsigned
ac_trial_count(const struct ac_trial *trial)
{
	(void)trial;
	return 2;
}

const struct ac_candidate *
ac_trial_candidate(const struct ac_trial *trial, unsigned number)
{
	(void)trial;
	return &site.decision.candidate[number];
}

struct ac_slot
ac_trial_slot(const struct ac_trial *trial, const struct ac_turn *of,
    unsigned number)
{
	(void)trial, (void)of;
	return (struct ac_slot){ NULL, 64 * (number + 1) };
}

void
ac_trial_tried(struct ac_trial *trial, const struct ac_turn *of,
    unsigned were_queued, unsigned were_refused)
{
	(void)trial, (void)of;
	(void)note("tried");
	queued = were_queued;
	refused = were_refused;
}

void
ac_trial_sampled(struct ac_trial *trial, struct ac_turn *of)
{
	(void)trial, (void)of;
	(void)note("sampled");
}

bool
ac_timing_begin(struct ac_timing *of, const struct ac_place *at)
{
	(void)of, (void)at;
	return note("time");
}

void
ac_timing_end(struct ac_timing *of, const struct ac_place *at, bool done)
{
	(void)of, (void)at;
	(void)note(done ? "timed" : "untimed");
}

bool
ac_conduct_is_good(const struct ac_conduct *call)
{
	(void)call;
	return note("judge");
}

/* ---- A call -------------------------------------------------------------- */

static struct ac_recast_state words;
static struct ac_recast_history spare;
static uint32_t marks[64];
static float before[AC_BEFORE];
static char buffer[1 << 16];
static struct ac_provider provider;
static struct ac_site_record record;
static struct ac_site_state state;

const struct ac_place place = { .stream = (ac_cu_stream)(uintptr_t)16 };
struct ac_lane_loan loan;
struct ac_timing timing;
float alpha, beta;
struct ac_gemm g;
struct ac_turn turn;
struct ac_site site;
struct ac_job job;
cublasStatus_t status;

void
start(unsigned number)
{
	events[0] = '\0';
	fails = NULL;
	fails_at = 1;
	memset(answers, 0, sizeof answers);
	lacks_wide = false;
	has_history = true;
	borrowed = AC_REASON_NONE;
	pointer_mode = CUBLAS_POINTER_MODE_HOST;
	products = 0;
	queued = refused = 99;
	alpha = 2;
	beta = 3;
	status = (cublasStatus_t)99;
	loan = (struct ac_lane_loan){
		.handle = (cublasHandle_t)(uintptr_t)8, .stream = place.stream,
		.buffer = buffer, .marks = marks, .state = &words,
		.before = before, .spare = &spare
	};
	g = (struct ac_gemm){
		.door = &ac_cublas_door,
		.handle = (cublasHandle_t)(uintptr_t)1,
		.transb = CUBLAS_OP_T, .m = 5, .n = 6, .k = 7, .batch = 1,
		.alpha = &alpha, .beta = &beta,
		.a = { &buffer[1], CUDA_R_32F, 11, 0 },
		.b = { &buffer[2], CUDA_R_32F, 12, 0 },
		.c = { &buffer[3], CUDA_R_32F, 13, 0 }
	};
	turn = (struct ac_turn){ .kind = AC_TURN_RECAST, .tries = 3,
		.candidate = number, .slot = { NULL, 32 } };
	site = (struct ac_site){
		.record = &record, .state = &state,
		.binding = { NULL, &provider },
		.decision = {
			.guard = AC_GUARD_ON, .sample_period = 64,
			.workspace_bytes = 12345,
			.scaled = true, .candidate_count = 2, .candidate = {
				{ AC_RUNG_FP16, AC_TACTIC_CAST, 1e-3, 0 },
				{ AC_RUNG_TF32, AC_TACTIC_LIBRARY, 1e-3, 0 }
			}
		}
	};
	job = (struct ac_job){
		.call = {
			.decision = &site.decision, .place = &place,
			.candidate = &site.decision.candidate[number],
			.trial = (struct ac_trial *)(uintptr_t)8,
			.turn = &turn, .device = 3
		},
		.g = &g, .site = &site, .owner = &provider,
		.status_out = &status,
		.alpha = { alpha, 0, NULL }, .beta = { beta, 0, NULL }
	};
}
