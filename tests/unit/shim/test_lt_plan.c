/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/shim/test_lt_plan.c -- plans of recast products of cublasLt: what
 * they say, when they are made, and what becomes of them. */
#include "tests/unit/cases.h"
#include "tests/unit/shim/lt_plan_world.h"

enum { UNTOUCHED = 99 };

/* The reason; the status must be written if and only if there is none. */
static enum ac_reason
run_status(bool may_make, cublasStatus_t expected)
{
	cublasStatus_t status = (cublasStatus_t)UNTOUCHED;
	static unsigned calls_so_far;
	static struct ac_lt_plan_key before;
	static ac_lt_plan_hint ours;
	/* Whoever has no hint fares alike. */
	ac_lt_plan_hint *hint = calls_so_far++ % 3 ? &ours : NULL;
	enum ac_reason reason;

	/* A hint is of calls that are alike in what cannot change. */
	if (memcmp(&before.transa, &kind.transa,
	    sizeof kind - offsetof(struct ac_lt_plan_key, transa)))
		atomic_store(&ours, NULL);
	before = kind;
	if (!ac_lt_plan_again(&kind, &run, hint, &reason, &status))
		reason = ac_lt_plan_run(&kind, &run, may_make, hint, &status);

	assert_int_equal(status, reason == AC_REASON_NONE ? (int)expected
	    : UNTOUCHED);
	assert_int_equal(relaxed, 0);
	return reason;
}

static void
runs(void)
{
	assert_int_equal(run_status(true, CUBLAS_STATUS_SUCCESS),
	    AC_REASON_NONE);
}

/* Nothing but its plan is left of it. */
static void
ran_once(const struct ac_lt_plan_key *of)
{
	cublasStatus_t status;

	(void)ac_lt_plan_run(of, &run, true, NULL, &status);
	products = 0;
}

/* ---- What is said -------------------------------------------------------- */

static void
check_layout(const struct said *said, cudaDataType type, int64_t rows,
    int64_t cols, const struct ac_lt_stored *x)
{
	assert_int_equal(OF_LAYOUT(said, TYPE), type);
	assert_int_equal(OF_LAYOUT(said, ROWS), rows);
	assert_int_equal(OF_LAYOUT(said, COLS), cols);
	assert_int_equal(OF_LAYOUT(said, LD), x->ld);
	assert_int_equal(OF_LAYOUT(said, BATCH_COUNT), kind.batch);
	assert_int_equal(OF_LAYOUT(said, STRIDED_BATCH_OFFSET),
	    kind.batch > 1 ? x->stride : 0);
	assert_int_equal(OF_LAYOUT(said, ORDER), CUBLASLT_ORDER_COL);
}

static void
check_descriptors(const struct given *given)
{
	const struct said *o = &given->operation;
	const struct ac_lt_epilogue *does = &ac_lt_epilogues[kind.epilogue];
	const bool ta = kind.transa != CUBLAS_OP_N;
	const bool tb = kind.transb != CUBLAS_OP_N;
	const bool bias = does->adds_bias || does->sums_output;
	const bool aux = does->aux != AC_LT_AUX_NO, many = kind.batch > 1;

	assert_ptr_equal(given->handle, run.handle);
	assert_int_equal(OF(o, COMPUTE_TYPE), kind.compute);
	assert_int_equal(OF(o, SCALE_TYPE), CUDA_R_32F);
	assert_int_equal(OF(o, POINTER_MODE), kind.pointer_mode);
	assert_int_equal(OF(o, TRANSA), kind.transa);
	assert_int_equal(OF(o, TRANSB), kind.transb);
	assert_int_equal(OF(o, EPILOGUE), does->value);
	assert_int_equal(OF(o, SM_COUNT_TARGET), kind.sm_count_target);
	assert_int_equal(OF(o, BIAS_POINTER), bias ? (uintptr_t)run.bias : 0);
	assert_int_equal(OF(o, BIAS_BATCH_STRIDE),
	    bias && many ? kind.bias_stride : 0);
	assert_int_equal(OF(o, EPILOGUE_AUX_POINTER),
	    aux ? (uintptr_t)run.aux : 0);
	assert_int_equal(OF(o, EPILOGUE_AUX_LD), aux ? kind.aux_ld : 0);
	assert_int_equal(OF(o, EPILOGUE_AUX_BATCH_STRIDE),
	    aux && many ? kind.aux_stride : 0);
	check_layout(&given->a, (cudaDataType)kind.type,
	    ta ? kind.k : kind.m, ta ? kind.m : kind.k, &kind.a);
	check_layout(&given->b, (cudaDataType)kind.type,
	    tb ? kind.n : kind.k, tb ? kind.k : kind.n, &kind.b);
	check_layout(&given->c, CUDA_R_32F, kind.m, kind.n, &kind.c);
	check_layout(&given->d, CUDA_R_32F, kind.m, kind.n, &kind.d);
}

/* All that the last run passed. */
static void
check_run(void)
{
	check_descriptors(&ran);
	assert_ptr_equal(ran.alpha, run.alpha);
	assert_ptr_equal(ran.beta, run.beta);
	assert_ptr_equal(ran.from[0], run.a);
	assert_ptr_equal(ran.from[1], run.b);
	assert_ptr_equal(ran.from[2], run.c);
	assert_ptr_equal(ran.to, run.d);
	assert_ptr_equal(ran.workspace, run.workspace);
	assert_int_equal(ran.workspace_bytes, kind.workspace_bytes);
	assert_ptr_equal(ran.stream, run.stream);
}

CASE(test_said)
{
	for (unsigned i = 0; i < AC_EPILOGUE_INPUT_SUMS * 16; i++) {
		start();
		kind.epilogue = (uint8_t)(i / 16);
		kind.batch = i & 1 ? 3 : 1;
		kind.transa = i & 2 ? CUBLAS_OP_T : CUBLAS_OP_N;
		kind.transb = i & 4 ? CUBLAS_OP_T : CUBLAS_OP_N;
		kind.sm_count_target = i & 8 ? 9 : 0;
		kind.type = i & 8 ? CUDA_R_32F : CUDA_R_16BF;
		counts_addresses = i & 1;
		runs();
		check_descriptors(&asked);
		check_run();
		assert_int_equal(questions, 1);
		assert_int_equal(ran.algorithm, 1);
		assert_int_equal(OF_PREF(&asked.preference,
		    MAX_WORKSPACE_BYTES), 4096);
		assert_int_equal(OF_PREF(&asked.preference,
		    MIN_ALIGNMENT_A_BYTES), 256);
		assert_int_equal(OF_PREF(&asked.preference,
		    MIN_ALIGNMENT_B_BYTES), 128);
		assert_int_equal(OF_PREF(&asked.preference,
		    MIN_ALIGNMENT_C_BYTES), 64);
		assert_int_equal(OF_PREF(&asked.preference,
		    MIN_ALIGNMENT_D_BYTES), 32);
	}
}

CASE(test_alignment)
{
	assert_int_equal(ac_lt_alignment(AT(0x101)), 0);
	assert_int_equal(ac_lt_alignment(AT(0x102)), 1);
	assert_int_equal(ac_lt_alignment(AT(0x110)), 4);
	assert_int_equal(ac_lt_alignment(AT(0x180)), 7);
	assert_int_equal(ac_lt_alignment(AT(0x100)), 8);
	assert_int_equal(ac_lt_alignment(AT(0x1000)), 8);
	assert_int_equal(ac_lt_alignment(NULL), 8);
}

/* ---- Once per kind ------------------------------------------------------- */

/* Whether this product is one that was not asked about before. */
static bool
is_new(void)
{
	const unsigned before = questions;
	bool is;

	runs();
	is = questions != before;
	check_run();
	runs();
	assert_int_equal(questions, before + is);
	return is;
}

#define ANOTHER(member, value) do { \
	const __typeof__(kind) saved = kind; \
	kind.member = value; \
	if (!is_new()) \
		fail_msg("%s does not count", #member); \
	kind = saved; \
	assert_false(is_new()); \
} while (0)

/* Everything but addresses makes another kind. */
CASE(test_kinds)
{
	start();
	assert_true(is_new());
	ANOTHER(provider, &other);
	ANOTHER(m, 12);
	ANOTHER(n, 12);
	ANOTHER(k, 12);
	ANOTHER(a.ld, 12);
	ANOTHER(a.stride, 12);
	ANOTHER(b.ld, 12);
	ANOTHER(b.stride, 12);
	ANOTHER(c.ld, 12);
	ANOTHER(c.stride, 12);
	ANOTHER(d.ld, 12);
	ANOTHER(d.stride, 12);
	ANOTHER(bias_stride, 12);
	ANOTHER(aux_ld, 12);
	ANOTHER(aux_stride, 12);
	ANOTHER(workspace_bytes, 8192);
	ANOTHER(device, 12);
	ANOTHER(batch, 12);
	ANOTHER(sm_count_target, 12);
	ANOTHER(type, CUDA_R_16BF);
	ANOTHER(compute, CUBLAS_COMPUTE_32F_FAST_TF32);
	ANOTHER(pointer_mode, CUBLASLT_POINTER_MODE_HOST);
	ANOTHER(transa, CUBLAS_OP_N);
	ANOTHER(transb, CUBLAS_OP_T);
	ANOTHER(epilogue, AC_EPILOGUE_GELU_AUX_BIAS);
	for (unsigned i = 0; i < 6; i++)
		ANOTHER(alignment[i], 2);
	run = (struct ac_lt_run){ (cublasLtHandle_t)AT(1), AT(2), AT(3), AT(4),
		AT(5), AT(6), AT(7), AT(8), AT(9), AT(10),
		(ac_cu_stream)AT(11), run.driver };
	assert_false(is_new());
}

/* In a capture nothing is asked, nor set. */
CASE(test_capture)
{
	start();
	assert_int_equal(run_status(false, 0), AC_REASON_CAPTURE);
	assert_int_equal(calls, 0);
	ran_once(&kind);
	assert_int_equal(questions, 1);
	assert_int_equal(products, 0);
	ran_once(&kind);
	assert_int_equal(run_status(false, 0), AC_REASON_NONE);
	assert_int_equal(questions, 1);
	check_run();
}

/* ---- Refusals ------------------------------------------------------------ */

/* Refused, and never asked again. */
static void
is_refused(void)
{
	unsigned before;

	assert_int_equal(run_status(true, 0), AC_REASON_REFUSED);
	before = calls;
	assert_int_equal(run_status(true, 0), AC_REASON_REFUSED);
	assert_int_equal(run_status(false, 0), AC_REASON_REFUSED);
	assert_int_equal(calls, before);
	assert_int_equal(products, 0);
}

CASE(test_refused)
{
	start();
	results = 0;
	is_refused();
	start();
	result.state = CUBLAS_STATUS_NOT_SUPPORTED;
	is_refused();
	start();
	result.workspaceSize = 4097;
	is_refused();
	start();
	kind.workspace_bytes = 0;
	is_refused();
	start();
	kind.workspace_bytes = result.workspaceSize = 0;
	runs();
}

/* Whatever call fails while a plan is made: nothing is run by half of one. */
CASE(test_failures)
{
	unsigned last, n = 1;

	start();
	ran_once(&kind);
	last = calls - 1; /* but for the product */
	assert_int_equal(last, 32);
	for (; n <= last; n++) {
		start();
		fails_at = n;
		fails_with = CUBLAS_STATUS_NOT_SUPPORTED;
		is_refused();
		assert_int_equal(calls, n);
	}
}

/* What the heuristics failed at by chance is asked again, but not for ever. */
CASE(test_failures_by_chance)
{
	static const cublasStatus_t statuses[] = {
		CUBLAS_STATUS_NOT_INITIALIZED, CUBLAS_STATUS_ALLOC_FAILED,
		CUBLAS_STATUS_INTERNAL_ERROR, CUBLAS_STATUS_EXECUTION_FAILED
	};

	for (unsigned i = 0; i < 64; i++) {
		start();
		fails_at = i < 60 ? 32 : 0;
		fails_with = statuses[i % 4];
		result.state = i < 60 ? CUBLAS_STATUS_SUCCESS : fails_with;
		assert_int_equal(run_status(true, 0),
		    AC_REASON_OUT_OF_MEMORY);
		assert_int_equal(products, 0);
		assert_int_equal(run_status(false, 0), AC_REASON_CAPTURE);
		result.state = CUBLAS_STATUS_SUCCESS;
		runs();
		check_run();
	}
	start();
	fails_at = 32;
	is_refused();
}

/* What fails in a run is over with it. */
CASE(test_failing_runs)
{
	static const cublasStatus_t refusals[] = {
		CUBLAS_STATUS_NOT_INITIALIZED, CUBLAS_STATUS_ALLOC_FAILED,
		CUBLAS_STATUS_INVALID_VALUE, CUBLAS_STATUS_ARCH_MISMATCH,
		CUBLAS_STATUS_NOT_SUPPORTED
	};

	start();
	counts_addresses = true;
	ran_once(&kind);
	for (unsigned n = 1; n <= 2; n++) {
		run.bias = AT(0x4000 * n);
		run.aux = AT(0x6000 * n);
		fails_at = calls + n;
		assert_int_equal(run_status(true, 0), AC_REASON_REFUSED);
		assert_int_equal(products, n - 1);
		runs();
		check_run();
	}
	for (unsigned i = 0; i < sizeof refusals / sizeof *refusals; i++) {
		answer = refusals[i];
		assert_int_equal(run_status(true, 0), AC_REASON_REFUSED);
	}
	answer = CUBLAS_STATUS_EXECUTION_FAILED;
	assert_int_equal(run_status(true, answer), AC_REASON_NONE);
	answer = CUBLAS_STATUS_SUCCESS;
	runs();
	assert_int_equal(questions, 1);
}

/* Where addresses are known to be, the library is not asked to set them. */
CASE(test_addresses)
{
	start();
	runs();
	for (uintptr_t i = 1; i <= 3; i++) {
		const unsigned before = calls;

		run.bias = AT(0x4000 * i);
		run.aux = AT(i == 2 ? 0 : 0x6000 * i);
		runs();
		check_run();
		assert_int_equal(calls, before + 1);
	}
	/* One that stores them twice is asked. */
	start();
	counts_addresses = true;
	runs();
	run.bias = AT(0x4000);
	calls = 0;
	runs();
	check_run();
	assert_int_equal(calls, 3);
}

/* A hint is no answer for another library, nor for what has changed. */
CASE(test_again)
{
	cublasStatus_t status;
	ac_lt_plan_hint hint = NULL;
	enum ac_reason reason;

	start();
	assert_false(ac_lt_plan_again(&kind, &run, NULL, &reason, &status));
	assert_false(ac_lt_plan_again(&kind, &run, &hint, &reason, &status));
	assert_int_equal(ac_lt_plan_run(&kind, &run, true, &hint, &status),
	    AC_REASON_NONE);
	for (unsigned i = 0; i < offsetof(struct ac_lt_plan_key, transa); i++) {
		struct ac_lt_plan_key other_kind = kind;

		((unsigned char *)&other_kind)[i] ^= 1;
		assert_false(ac_lt_plan_again(&other_kind, &run, &hint,
		    &reason, &status));
	}
	assert_int_equal(products, 1);
	assert_true(ac_lt_plan_again(&kind, &run, &hint, &reason, &status));
	assert_int_equal(reason, AC_REASON_NONE);
	assert_int_equal(products, 2);
	check_run();
	ac_lt_plan_abandon(&provider);
	assert_false(ac_lt_plan_again(&kind, &run, &hint, &reason, &status));
}

/* ---- Threads ------------------------------------------------------------- */

static void
run_elsewhere(void)
{
	const struct ac_lt_run saved = run;

	run.bias = AT(0x4444);
	run.aux = AT(0x6666);
	run.d = AT(0x5555);
	runs();
	check_run();
	run = saved;
}

/* Another thread runs the same plan while cublasLt reads its descriptors. */
CASE(test_together)
{
	start();
	runs();
	inside = run_elsewhere;
	runs();
	check_run();
	assert_int_equal(questions, 1);
}

/* Two threads ask about one kind together: one answer counts, for both. */
CASE(test_twice)
{
	start();
	inside = run_elsewhere;
	runs();
	check_run();
	assert_int_equal(questions, 2);
	assert_int_equal(ran.algorithm, 2);
	runs();
	assert_int_equal(ran.algorithm, 2);
	assert_int_equal(questions, 2);
}

/* ---- Libraries that go, and room ----------------------------------------- */

CASE(test_unloaded)
{
	struct ac_lt_plan_key others;

	start();
	ran_once(&kind);
	others = kind;
	others.provider = &other;
	ran_once(&others);
	for (int i = 0; i < 3; i++)
		runs();
	ac_lt_plan_abandon(&provider);
	for (int i = 0; i < 3; i++)
		assert_int_equal(run_status(false, 0), AC_REASON_CAPTURE);
	assert_int_equal(questions, 2);
	for (int i = 0; i < 2; i++) {
		runs();
		assert_int_equal(questions, 3);
		assert_int_equal(ran.algorithm, 3);
	}
	kind = others;
	runs();
	assert_int_equal(ran.algorithm, 2);
	assert_int_equal(questions, 3);
}

CASE(test_no_memory)
{
	start();
	has_memory = false;
	assert_int_equal(run_status(true, 0), AC_REASON_OUT_OF_MEMORY);
	assert_int_equal(run_status(false, 0), AC_REASON_CAPTURE);
	assert_int_equal(calls, 0);
	has_memory = true;
	runs();
	has_memory = false;
	runs();
}

/* The last of all: the table stays full. What it has goes on. */
CASE(test_no_room)
{
	struct ac_lt_plan_key first;
	unsigned before;

	start();
	first = kind;
	runs();
	for (unsigned i = 0; i < 2048; i++) {
		kind.n = 1000 + i;
		ran_once(&kind);
	}
	before = calls;
	kind.n = 1;
	assert_int_equal(run_status(true, 0), AC_REASON_OUT_OF_MEMORY);
	assert_int_equal(calls, before);
	kind = first;
	before = questions;
	assert_true(before >= 1500);
	runs();
	assert_int_equal(questions, before);
}

CASES_RUN(NULL, NULL)
