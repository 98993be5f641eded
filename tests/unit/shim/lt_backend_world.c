/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/shim/lt_backend_world.c -- in place of plans, of the recipes, and
 * of what reads descriptors. */
#include "tests/unit/shim/lt_backend_world.h"
#include "tests/unit/cases.h"

/* ---- What is noted ------------------------------------------------------- */

struct noted ran, first;
unsigned runs, looks;
bool is_known;              /* ac_lt_plan_again() finds it */
struct ac_lt_last last;
bool may_make;
int reason_counted;         /* -1: as the site was decided; -2: none */
bool can_read;
struct ac_lt_pointers pointers;
struct ac_provider provider;

__thread struct ac_report_mine ac_report_mine;

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

/* Before all else, by what may change: the rest is not there yet. */
bool
ac_lt_plan_again(const struct ac_lt_plan_key *kind, const struct ac_lt_run *run,
    ac_lt_plan_hint *hint, enum ac_reason *reason_out,
    cublasStatus_t *status_out)
{
	assert_int_equal(runs, 0);
	assert_true(!hint || hint == &last.plan);
	memcpy(&first.kind, kind, offsetof(struct ac_lt_plan_key, transa));
	first.run = *run;
	looks += hint != NULL;
	if (!hint || !is_known)
		return false;
	*reason_out = AC_REASON_DRIVER;
	*status_out = CUBLAS_STATUS_MAPPING_ERROR;
	return true;
}

enum ac_reason
ac_lt_plan_run(const struct ac_lt_plan_key *kind, const struct ac_lt_run *run,
    bool may, ac_lt_plan_hint *hint, cublasStatus_t *status_out)
{
	assert_int_equal(hint != NULL, looks);
	assert_memory_equal(kind, &first.kind,
	    offsetof(struct ac_lt_plan_key, transa));
	assert_memory_equal(run, &first.run, sizeof *run);
	ran = (struct noted){ *kind, *run };
	runs++;
	may_make = may;
	*status_out = CUBLAS_STATUS_INTERNAL_ERROR;
	return AC_REASON_WORKSPACE;
}

bool
ac_lt_read_pointers(const struct ac_lt_asked *asked,
    const struct ac_lt_content *content, const struct ac_lt_version *version,
    struct ac_lt_pointers *pointers_out)
{
	assert_true(content && version == AT(0x50)
	    && asked->provider == &provider
	    && asked->desc == (cublasLtMatmulDesc_t)AT(0x11));
	*pointers_out = pointers;
	return can_read;
}

/* Nothing is classified here. */
enum ac_asked
ac_asked_by_compute(int asked)
{
	return AC_ASKED_UNSAID;
}

enum ac_type_class
ac_type_class_of(cudaDataType a, cudaDataType b, cudaDataType c, int asked)
{
	return AC_TYPE_OTHER;
}

/* ---- A call -------------------------------------------------------------- */

struct ac_site_record record;
struct ac_site site;
struct ac_place place;
struct ac_lt_arguments x;
struct ac_lt_decided decided;
void (*then)(const struct ac_gemm *g);  /* in ac_gemm_recast() */
struct ac_gemm gemm;
struct ac_gemm_tail tail;
unsigned recasts;

void
start(void)
{
	runs = recasts = looks = 0;
	is_known = false;
	memset(&last, 0, sizeof last);
	reason_counted = -2;
	can_read = true;
	then = NULL;
	pointers = (struct ac_lt_pointers){ AT(BIAS), AT(AUX), 21, 22 };
	site = (struct ac_site){ .record = &record,
		.binding = { NULL, &provider } };
	place = (struct ac_place){
		.stream = (ac_cu_stream)AT(0x20),
		.driver = (const struct ac_driver *)AT(0x30)
	};
	x = (struct ac_lt_arguments){
		.handle = (cublasLtHandle_t)AT(0x10),
		.operation = (cublasLtMatmulDesc_t)AT(0x11),
		.alpha = AT(0x12), .a = AT(A), .b = AT(B), .beta = AT(0x13),
		.c = AT(C), .d = AT(D), .workspace = AT(0x1000),
		.workspace_bytes = 777, .stream = (cudaStream_t)AT(0x14)
	};
	decided = (struct ac_lt_decided){
		.site = &site, .device = 2, .last = &last, .version = AT(0x50),
		.content = { .sm_count_target = 7, .bias_stride = 23 },
		.product = {
			.transa = CUBLAS_OP_T, .transb = CUBLAS_OP_N,
			.m = 5, .n = 6, .k = 7, .batch = 3,
			.a = { 31, 41 }, .b = { 32, 42 }, .c = { 33, 43 },
			.d = { 34, 44 },
			.pointer_mode = CUBLAS_POINTER_MODE_DEVICE,
			.epilogue = AC_EPILOGUE_DEFAULT
		}
	};
}

enum ac_outcome
ac_gemm_recast(const struct ac_gemm *g, const struct ac_site *of,
    struct ac_kept *kept_out, cublasStatus_t *status_out)
{
	assert_ptr_equal(of, &site);
	recasts++;
	gemm = *g;
	tail = *g->tail;
	if (then)
		then(g);
	*status_out = CUBLAS_STATUS_EXECUTION_FAILED;
	return AC_OUTCOME_TIMED;
}

enum ac_outcome
recast(void)
{
	const struct ac_lt_asked asked = {
		.provider = &provider, .desc = x.operation
	};
	cublasStatus_t status;
	struct ac_kept kept;

	ac_lt_decided_prepare(&decided);
	return ac_lt_recast(&x, &asked, &decided, &kept, &status);
}
