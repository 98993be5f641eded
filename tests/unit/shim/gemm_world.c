/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/shim/gemm_world.c -- a handle, a site, and a conductor that only
 * notes what it is given. */
#include "tests/unit/shim/gemm_world.h"
#include "tests/unit/cases.h"

#include "shim/bind/solver.h"
#include "shim/start/start.h"

/* ---- A world of one handle ---------------------------------------------- */

static cublasStatus_t get_stream(cublasHandle_t of, cudaStream_t *stream);

struct ac_provider provider = {
	.real[ENTRY_cublasGetStream_v2] = (ac_fn)get_stream
}, other_provider;
struct ac_handle handle = { .provider = &provider, .device = 3 };
_Atomic bool ac_shim_ranges;
unsigned ranges_counted, solved, conducted;
struct ac_job seen;         /* what was conducted, */
struct ac_ways ways;        /* and how */
static int reason_counted;         /* -1: as the site was decided; -2: none */

__thread struct ac_handle_cache ac_handle_last;
_Atomic uint32_t ac_handle_generation;
__thread struct ac_report_mine ac_report_mine;

const struct ac_handle *
ac_handle_search(const void *key)
{
	return &handle;
}

void
ac_report_count_slowly(struct ac_site_record *of)
{
	reason_counted = -1;
}

void
ac_report_count_other(struct ac_site_record *of, enum ac_reason reason)
{
	reason_counted = (int)reason;
}

void
ac_solver_multiplied(struct ac_solver *solver)
{
	solved++;
}

void
ac_ranges_count(const struct ac_gemm *g, const struct ac_site *of)
{
	ranges_counted++;
}

struct ac_variants made_variants[AC_ALIKE_COUNT];

struct ac_variants *
ac_site_variants(const struct ac_site *of, enum ac_alike calls)
{
	return &made_variants[calls];
}

enum ac_outcome
ac_conduct(struct ac_conduct *call, const struct ac_ways *how,
    struct ac_kept *kept_out)
{
	static struct ac_turn turn;

	seen = *(const struct ac_job *)call;
	seen.call.turn = &turn;
	ways = *how;
	conducted++;
	kept_out->timing = (struct ac_timing *)(uintptr_t)16;
	*seen.status_out = CUBLAS_STATUS_EXECUTION_FAILED;
	return AC_OUTCOME_TIMED;
}

/* What the ways call. */
const char *ran;
struct write written[4];
const void *read_c;
uint64_t read_bytes;
unsigned writes;

enum ac_reason ran_reason;
cublasStatus_t ran_status;
unsigned reads;

enum ac_reason
ac_recipe_verified(const struct ac_job *job)
{
	ran = "cast";
	return ran_reason;
}

enum ac_reason
ac_recipe_learn(const struct ac_job *job)
{
	ran = "learn";
	return ran_reason;
}

enum ac_reason
ac_recipe_library(const struct ac_job *job)
{
	ran = "library";
	if (ran_reason == AC_REASON_NONE)
		*job->status_out = ran_status;
	return ran_reason;
}

struct ac_cast_scalar beta_read;

void
ac_job_read(struct ac_job *job)
{
	job->beta = beta_read;
	reads++;
}

void
ac_origin_touches(struct ac_origin *origin, const void *c, uint64_t bytes,
    enum ac_chain_kind kind)
{
	assert_ptr_equal(origin, at(24));
	if (kind == AC_CHAIN_READS) {
		read_c = c;
		read_bytes = bytes;
		return;
	}
	written[writes].bytes = bytes;
	written[writes].c = c;
	written[writes++].adds = kind == AC_CHAIN_ADDS;
}

cublasStatus_t stream_status;

static cublasStatus_t
get_stream(cublasHandle_t of, cudaStream_t *stream)
{
	assert_ptr_equal(of, (void *)1);
	*stream = (cudaStream_t)(uintptr_t)77;
	return stream_status;
}

/* What a call needs was found when its site was decided. */
ac_fn
ac_provider_look_up(struct ac_provider *of, enum ac_entry entry)
{
	fail();
	return NULL;
}

/* ---- A product ----------------------------------------------------------- */

struct ac_gemm
good(void)
{
	return (struct ac_gemm){
		.backend = &ac_cublas_backend,
		.handle = (cublasHandle_t)(uintptr_t)1,
		.m = M, .n = N, .k = K, .batch = 1,
		.alpha = at(8), .beta = at(8),
		.a = { at(A_AT), CUDA_R_32F, M, 0 },
		.b = { at(B_AT), CUDA_R_32F, K, 0 },
		.c = { at(C_AT), CUDA_R_32F, M, 0 }
	};
}

struct ac_site_record record = { .rung = AC_RUNG_FP16 };
struct ac_site site = {
	.record = &record, .binding = { NULL, &provider },
	.decision = { .rung = AC_RUNG_FP16 }
};

int
reason_of(const struct ac_gemm *g)
{
	cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
	struct ac_kept kept = { .timing = NULL };
	enum ac_outcome outcome;

	conducted = 0;
	reason_counted = -2;
	outcome = ac_gemm_recast(g, &site, &kept, &status);
	if (conducted) {
		/* What the conductor answers is handed on. */
		assert_int_equal(reason_counted, -2);
		assert_int_equal(outcome, AC_OUTCOME_TIMED);
		assert_int_equal(status, CUBLAS_STATUS_EXECUTION_FAILED);
		assert_ptr_equal(kept.timing, at(16));
		assert_ptr_equal(seen.g, g);
		assert_ptr_equal(seen.site, &site);
		return AC_REASON_NONE;
	}
	assert_int_equal(outcome, AC_OUTCOME_KEPT);
	return reason_counted;
}
