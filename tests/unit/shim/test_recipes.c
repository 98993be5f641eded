/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/shim/test_recipes.c -- what the recipes do, in which order, with
 * what, and what becomes of the call and of its lane when a step fails. */
#include "tests/unit/cases.h"
#include "tests/unit/shim/recipe_world.h"

#include "policy/language/names.h"

#include <limits.h>

#define MAKE(g, apart, layout) \
	ac_layout_make(g, AC_FORMAT_FP16, 0, apart, layout)

/* What a recipe makes of the call as it stands. */
static void
check_as_read(enum ac_reason (*run)(const struct ac_job *),
    enum ac_reason reason, int said, const char *expected)
{
	const enum ac_reason found = run(&job);

	if (found != reason || (int)status != said
	    || strcmp(events, expected))
		fail_msg("reason %d, not %d; status %d, not %d; %s, not %s",
		    (int)found, (int)reason, (int)status, said, events,
		    expected);
}

static void
check(enum ac_reason (*run)(const struct ac_job *), enum ac_reason reason,
    int said, const char *expected)
{
	ac_job_read(&job);
	check_as_read(run, reason, said, expected);
}

#define GOOD "borrow probe cast gemm verify mend return"

static void
check_good(void)
{
	check(ac_recipe_verified, AC_REASON_NONE, 0, GOOD);
}

static bool
is_operand(const struct ac_operand *found, const void *data, cudaDataType type,
    int64_t ld, long long stride)
{
	return found->data == data && found->type == type && found->ld == ld
	    && found->stride == stride;
}

/* ---- By the library ------------------------------------------------------ */

/* Only what cuBLAS says before it does anything is a refusal. */
CASE(test_answers)
{
	enum { REFUSALS = 5 };
	static const cublasStatus_t answers[] = {
		CUBLAS_STATUS_NOT_SUPPORTED, CUBLAS_STATUS_INVALID_VALUE,
		CUBLAS_STATUS_ARCH_MISMATCH, CUBLAS_STATUS_ALLOC_FAILED,
		CUBLAS_STATUS_NOT_INITIALIZED,
		CUBLAS_STATUS_SUCCESS, CUBLAS_STATUS_EXECUTION_FAILED,
		CUBLAS_STATUS_INTERNAL_ERROR, CUBLAS_STATUS_MAPPING_ERROR,
	};

	for (unsigned i = 0; i < sizeof answers / sizeof *answers; i++) {
		start(1);
		answer = answers[i];
		check(ac_recipe_library, i < REFUSALS ? AC_REASON_REFUSED
		    : AC_REASON_NONE, i < REFUSALS ? UNTOUCHED
		    : (int)answers[i], "gemm");
	}
}

/* The program's own arguments, with another compute type. */
CASE(test_arguments)
{
	assert_int_equal(ac_library_compute(AC_RUNG_TF32),
	    CUBLAS_COMPUTE_32F_FAST_TF32);
	assert_int_equal(ac_library_compute(AC_RUNG_BF16),
	    CUBLAS_COMPUTE_32F_FAST_16BF);
	assert_int_equal(ac_library_compute(AC_RUNG_FP16),
	    CUBLAS_COMPUTE_32F_FAST_16F);
	for (int many = 0; many < 2; many++) {
		start(1);
		g.batch = many ? 4 : 1;
		g.a.stride = many ? 100 : 0;
		g.b.stride = many ? 200 : 0;
		g.c.stride = many ? 300 : 0;
		check(ac_recipe_library, AC_REASON_NONE, 0,
		    many ? "strided" : "gemm");
		assert_ptr_equal(issued.handle, g.handle);
		assert_int_equal(issued.transa, g.transa);
		assert_int_equal(issued.transb, g.transb);
		assert_true(issued.m == 5 && issued.n == 6 && issued.k == 7
		    && issued.batch == g.batch);
		assert_ptr_equal(issued.alpha, &alpha);
		assert_ptr_equal(issued.beta, &beta);
		assert_true(is_operand(&issued.a, g.a.data, CUDA_R_32F, 11,
		    g.a.stride));
		assert_true(is_operand(&issued.b, g.b.data, CUDA_R_32F, 12,
		    g.b.stride));
		assert_true(is_operand(&issued.c, g.c.data, CUDA_R_32F, 13,
		    g.c.stride));
		assert_int_equal(issued.compute, CUBLAS_COMPUTE_32F_FAST_TF32);
		assert_false(was_apart);
	}
}

/* One number of more than 31 bits takes the function of int64_t, which older
 * libraries lack. */
CASE(test_wide)
{
	int64_t *const numbers[] = { &g.m, &g.n, &g.k, &g.a.ld, &g.b.ld,
		&g.c.ld, &g.batch };
	const size_t count = sizeof numbers / sizeof *numbers;

	for (size_t i = 0; i < count; i++) {
		const bool many = numbers[i] == &g.batch;

		start(1);
		*numbers[i] = INT_MAX;
		check(ac_recipe_library, AC_REASON_NONE, 0,
		    many ? "strided" : "gemm");
		start(1);
		*numbers[i] = (int64_t)INT_MAX + 1;
		check(ac_recipe_library, AC_REASON_NONE, 0,
		    many ? "strided64" : "gemm64");
		assert_true((many ? issued.batch : numbers[i] == &g.m
		    ? issued.m : (int64_t)INT_MAX + 1) > INT_MAX);
		start(1);
		lacks_wide = true;
		*numbers[i] = (int64_t)INT_MAX + 1;
		check(ac_recipe_library, AC_REASON_UNSUPPORTED, UNTOUCHED, "");
	}
}

CASE(test_library_time)
{
	static const struct {
		const char    *fails;
		cublasStatus_t answer;
		const char    *events;
	} rows[] = {
		{ NULL, 0, "time gemm timed" },
		{ NULL, CUBLAS_STATUS_NOT_SUPPORTED, "time gemm untimed" },
		{ NULL, CUBLAS_STATUS_INTERNAL_ERROR, "time gemm untimed" },
		{ "time", 0, "time gemm" },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		start(1);
		turn.timing = &timing;
		fails = rows[i].fails;
		answer = rows[i].answer;
		(void)ac_recipe_library(&job);
		assert_string_equal(events, rows[i].events);
	}
	start(1);
	turn.timing = &timing;
	job.call.place = NULL;
	check(ac_recipe_library, AC_REASON_NONE, 0, "gemm");
}

/* ---- By a cast ----------------------------------------------------------- */

/* Until mend is queued, any failure leaves the call to the original, and the
 * lane to be cleared. */
CASE(test_order)
{
	static const struct {
		const char    *fails;
		cublasStatus_t answer;
		const char    *events;
	} rows[] = {
		{ "probe", 0, "borrow probe return-dirty" },
		{ "cast", 0, "borrow probe cast return-dirty" },
		{ NULL, CUBLAS_STATUS_NOT_SUPPORTED,
		    "borrow probe cast gemm return-dirty" },
		{ NULL, CUBLAS_STATUS_EXECUTION_FAILED,
		    "borrow probe cast gemm return-dirty" },
		{ "verify", 0, "borrow probe cast gemm verify return-dirty" },
		{ "mend", 0,
		    "borrow probe cast gemm verify mend return-dirty" },
		{ "math", 0, "" },
		{ "pointer", 0, "" },
	};

	for (size_t i = 0; i < 2 * sizeof rows / sizeof *rows; i++) {
		start(0);
		beta = i & 1;
		fails = rows[i / 2].fails;
		answer = rows[i / 2].answer;
		check(ac_recipe_verified, AC_REASON_REFUSED, UNTOUCHED,
		    rows[i / 2].events);
	}
	start(0);
	check_good();
	assert_true(is_one);
	start(0);
	borrowed = AC_REASON_WORKSPACE;
	check(ac_recipe_verified, AC_REASON_WORKSPACE, UNTOUCHED, "borrow");
	start(0);
	alpha = 0;
	check(ac_recipe_verified, AC_REASON_TOO_SMALL, UNTOUCHED, "");
	start(0);
	g.k = INT64_C(1) << 31;
	check(ac_recipe_verified, AC_REASON_UNSUPPORTED, UNTOUCHED, "");
}

/* What is timed is all that a recast takes. Of one that is only measured,
 * apart, the program is told nothing. */
CASE(test_time)
{
	start(0);
	turn.timing = &timing;
	check(ac_recipe_verified, AC_REASON_NONE, 0,
	    "borrow time probe cast gemm verify mend timed return");
	start(0);
	turn.timing = &timing;
	fails = "mend";
	check(ac_recipe_verified, AC_REASON_REFUSED, UNTOUCHED, "borrow time "
	    "probe cast gemm verify mend untimed return-dirty");
	start(0);
	turn.timing = &timing;
	fails = "time";
	check(ac_recipe_verified, AC_REASON_NONE, 0,
	    "borrow time probe cast gemm verify mend return");
	start(0);
	turn.kind = AC_TURN_LEARN;
	turn.timing = &timing;
	check(ac_recipe_learn, AC_REASON_NONE, UNTOUCHED,
	    "borrow time probe cast gemm verify timed return");
	assert_true(given.tol > 1e3f && issued.c.data != g.c.data);
}

/* A's columns of 5, and B's of 6, are padded to eights, one matrix behind the
 * other, though the program has one for all. Nothing else changes. */
CASE(test_product)
{
	for (int64_t batch = 1; batch <= 3; batch += 2)
		for (int wide = 0; wide < 2; wide++) {
			const cudaDataType type = wide ? CUDA_R_16BF
			    : CUDA_R_16F;

			start(0);
			site.decision.candidate[0].rung = wide ? AC_RUNG_BF16
			    : AC_RUNG_FP16;
			g.batch = batch;
			g.a.stride = 100;
			g.c.stride = batch > 1 ? 300 : 0;
			check(ac_recipe_verified, AC_REASON_NONE, 0, batch > 1
			    ? "borrow probe cast strided verify mend return"
			    : GOOD);
			assert_int_equal(given.format, wide ? AC_FORMAT_BF16
			    : AC_FORMAT_FP16);
			assert_ptr_equal(issued.handle, (void *)8);
			assert_true(issued.m == 5 && issued.n == 6
			    && issued.k == 7 && issued.batch == batch);
			assert_int_equal(issued.transa, CUBLAS_OP_N);
			assert_int_equal(issued.transb, CUBLAS_OP_T);
			assert_ptr_equal(issued.alpha, &words.alpha);
			assert_ptr_equal(issued.beta, &words.zero);
			assert_true(is_operand(&issued.a, given.operand[0].to,
			    type, 8, batch > 1 ? 8 * 7 : 0));
			assert_true(is_operand(&issued.b, given.operand[1].to,
			    type, 8, batch > 1 ? 8 * 7 : 0));
			assert_true(is_operand(&issued.c, g.c.data, CUDA_R_32F,
			    13, g.c.stride));
			assert_int_equal(issued.compute, CUBLAS_COMPUTE_32F);
		}
	start(0);
	g.transa = CUBLAS_OP_C;
	check_good();
	assert_true(issued.transa == CUBLAS_OP_C && issued.a.ld == 8);
}

/* By parts: a product for each chunk of K, each as many times as long as the
 * policy's row says; all but the first add. */
CASE(test_chunks)
{
	static const struct {
		enum ac_rung rung;
		cudaDataType type;
	} rows[] = {
		{ AC_RUNG_FP16X2, CUDA_R_16F }, { AC_RUNG_FP16X3, CUDA_R_16F },
		{ AC_RUNG_BF16X3, CUDA_R_16BF }, { AC_RUNG_BF16X6, CUDA_R_16BF }
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const int64_t terms = ac_rung_rows[rows[i].rung].terms;

		start(0);
		site.decision.candidate[0].rung = rows[i].rung;
		site.decision.candidate[0].chunk = 512;
		g.k = 1030; /* twice 512, and 6, padded to 8 */
		g.b.ld = 2000;
		check(ac_recipe_verified, AC_REASON_NONE, 0,
		    "borrow probe cast gemm gemm gemm verify mend return");
		assert_int_equal(issued.k, terms * 8);
		assert_ptr_equal(issued.alpha, &words.alpha);
		assert_ptr_equal(issued.beta, &words.one);
		assert_true(is_operand(&issued.a, given.operand[0].to
		    + terms * 1024 * 8, rows[i].type, 8, 0));
		assert_true(is_operand(&issued.c, g.c.data, CUDA_R_32F, 13,
		    g.c.stride));
	}
}

/* What cuBLAS converts is verified like a cast: in C's place by the program's
 * own call, apart on the lane, with alpha as it is. */
CASE(test_converted)
{
	for (int adds = 0; adds < 2; adds++) {
		start(1);
		turn.is_verified = true;
		turn.ledger = &ledger;
		beta = (float)adds;
		check(ac_recipe_verified, AC_REASON_NONE, 0, GOOD);
		assert_true(request.wants_handle == adds);
		assert_int_equal(given.format, AC_FORMAT_TF32);
		assert_null(given.operand[0].to);
		assert_null(given.operand[1].to);
		assert_true(given.record == &record && given.tol > 0);
		assert_ptr_equal(issued.handle, adds ? (void *)8 : g.handle);
		assert_true(issued.alpha == (adds ? (void *)&words.alpha
		    : (void *)&alpha));
		assert_true(issued.beta == (adds ? (void *)&words.zero
		    : (void *)&beta));
		assert_true(is_operand(&issued.a, g.a.data, CUDA_R_32F, 11, 0));
		assert_true(is_operand(&issued.b, g.b.data, CUDA_R_32F, 12, 0));
		assert_true(adds == (issued.c.data != g.c.data));
		assert_int_equal(issued.compute, CUBLAS_COMPUTE_32F_FAST_TF32);
		assert_true(was_apart == adds);
	}
}

CASE(test_request)
{
	struct ac_layout made;

	start(0);
	check_good();
	assert_true(MAKE(&g, false, &made));
	assert_true(request.wants_handle);
	assert_ptr_equal(request.provider, &provider);
	assert_ptr_equal(request.program, g.handle);
	assert_int_equal(request.device, 3);
	assert_int_equal(request.limit_bytes, 12345);
	assert_int_equal(request.buffer_bytes, made.buffer_bytes);
	assert_int_equal(request.zero_bytes, made.zero_bytes);
	assert_int_equal(request.math_mode,
	    CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION);
	start(0);
	backend.has_handles = false;
	fails = "math"; /* nobody asks */
	check_good();
	assert_false(request.wants_handle);
}

/* Under guard=off only what the casts cannot hold is mended, and nobody reads
 * what was found. */
CASE(test_judged_by)
{
	start(0);
	check_good();
	assert_true(given.tol == 1e-3f);
	assert_ptr_equal(given.record, &record);
	assert_ptr_equal(given.post, &post);
	assert_ptr_equal(given.state, &words);
	start(0); /* in a capture that found no room */
	turn.ledger = NULL;
	check_good();
	assert_true(given.tol == 1e-3f);
	start(0);
	turn.ledger = NULL;
	site.decision.guard = AC_GUARD_OFF;
	check_good();
	site.decision.guard = AC_GUARD_ON;
	assert_true(given.tol == 0);
	assert_ptr_equal(given.record, &spare);
	assert_null(given.post);
}

/* ---- Apart --------------------------------------------------------------- */

static const float cs[1], bias[1];
static float sums[1];
static uint32_t aux[1];

/* What stands between a product and C's place. */
enum { BETA = 1, ON_DEVICE = 2, FOLLOWS = 4, ARRAYS = 8, OTHER_C = 16,
	KINDS = 32 };

static bool
prepare(unsigned kind)
{
	start(0);
	beta = kind & BETA ? -0.5f : 0;
	pointer_mode = kind & ON_DEVICE ? CUBLAS_POINTER_MODE_DEVICE
	    : CUBLAS_POINTER_MODE_HOST;
	g.in_arrays = kind & ARRAYS;
	g.batch = 3;
	g.c.stride = 300;
	if (kind & (FOLLOWS | OTHER_C))
		g.tail = &tail;
	if (kind & FOLLOWS) {
		tail.follows = true;
		tail.then = (struct ac_verified_tail){
			.activation = AC_ACTIVATION_RELU, .bias = bias,
			.bias_stride = 7, .aux = aux, .aux_ld = 32,
			.aux_stride = 96, .sums = sums, .sums_stride = 9
		};
	}
	if (kind & OTHER_C) {
		tail.added = cs;
		tail.added_ld = 21;
		tail.added_stride = 22;
	}
	return kind & (BETA | ON_DEVICE | FOLLOWS | ARRAYS);
}

static void
check_tail(unsigned kind)
{
	struct ac_verified_tail t = given.output.tail;

	assert_true((t.partials != NULL) == (kind & FOLLOWS) / FOLLOWS);
	t.partials = NULL;
	t.arrived = NULL;
	assert_memory_equal(&t, &tail.then, sizeof t);
}

/* What mend makes of the product: in the call's own D, of its own C. */
static void
check_apart(unsigned kind)
{
	const struct ac_verified_output *o = &given.output;
	const bool arrays = kind & ARRAYS, other = kind & OTHER_C;

	assert_true((char *)o->product > buffer
	    && (char *)o->product < buffer + request.buffer_bytes);
	assert_true(is_operand(&issued.c, o->product, CUDA_R_32F, 5, 5 * 6));
	assert_null(o->array);
	assert_true(o->ld == 5 && o->stride == 5 * 6);
	assert_ptr_equal(o->d, arrays ? NULL : g.c.data);
	assert_ptr_equal(o->d_array, arrays ? g.c.data : NULL);
	assert_true(o->d_ld == 13 && o->d_stride == 300);
	if (!arrays)
		assert_ptr_equal(o->c, other ? cs : g.c.data);
	else if (!other)
		assert_ptr_equal(o->c_array, g.c.data);
	assert_int_equal(o->c_ld, other ? 21 : 13);
	assert_int_equal(o->c_stride, other ? 22 : 300);
	check_tail(kind);
}

/* In C's place only if beta is 0 on the host, nothing follows, and C is no
 * array; cuBLAS is given nothing of what follows. */
CASE(test_apart)
{
	for (unsigned kind = 0; kind < KINDS; kind++) {
		const bool apart = prepare(kind);
		const float *device = kind & ON_DEVICE ? &beta : NULL;

		check(ac_recipe_verified, AC_REASON_NONE, 0,
		    "borrow probe cast strided verify mend return");
		assert_true(is_one);
		assert_int_equal(was_apart, apart);
		assert_ptr_equal(given.alpha.device,
		    kind & ON_DEVICE ? &alpha : NULL);
		assert_true(kind & ON_DEVICE || given.alpha.value == 2);
		assert_ptr_equal(given.output.beta.device, device);
		assert_true(device || given.output.beta.value == beta);
		if (apart) {
			check_apart(kind);
			continue;
		}
		assert_ptr_equal(given.output.product, g.c.data);
		assert_ptr_equal(issued.c.data, g.c.data);
		assert_true(given.output.ld == 13
		    && given.output.stride == 300);
		assert_null(given.output.d);
		assert_null(given.output.d_array);
	}
}

/* A call that is known is laid out as if it were new, in C's place or apart. */
CASE(test_known)
{
	struct ac_layout_known known = { .tactic = AC_TACTIC_CAST };

	for (unsigned kind = 0; kind < KINDS; kind++) {
		struct ac_verified fresh;
		struct ac_layout apart;

		(void)prepare(kind & ~(unsigned)(BETA | FOLLOWS));
		assert_true(MAKE(&g, false, &known.layout));
		if (!(kind & ARRAYS)) /* of another call */
			known.layout.v.operand[0].from = cs;
		assert_true(MAKE(&g, true, &apart));
		known.result_bytes = kind & BETA ? apart.buffer_bytes
		    - known.layout.buffer_bytes : 0; /* or not known */
		for (int again = 0; again < 2; again++) {
			(void)prepare(kind);
			job.known = again ? &known : NULL;
			ac_job_read(&job);
			assert_int_equal(ac_recipe_verified(&job), 0);
			if (!again)
				memcpy(&fresh, &given, sizeof fresh);
		}
		assert_memory_equal(&fresh, &given, sizeof fresh);
	}
}

/* ---- Scalars ------------------------------------------------------------- */

CASE(test_scalars)
{
	start(0);
	beta = 3;
	ac_job_read(&job);
	assert_int_equal(job.unfit, AC_REASON_NONE);
	assert_true(job.alpha.value == 2 && job.beta.value == 3);
	assert_true(!job.alpha.device && !job.beta.device);
	alpha = 0;
	ac_job_read(&job);
	assert_int_equal(job.unfit, AC_REASON_TOO_SMALL);
	pointer_mode = CUBLAS_POINTER_MODE_DEVICE;
	ac_job_read(&job);
	assert_int_equal(job.unfit, AC_REASON_NONE);
	assert_ptr_equal(job.alpha.device, &alpha);
	assert_ptr_equal(job.beta.device, &beta);
	for (int i = 0; i < 2; i++) {
		g.alpha = i ? g.c.data : &alpha;
		g.beta = i ? &beta : g.c.data;
		ac_job_read(&job);
		assert_int_equal(job.unfit, AC_REASON_OVERLAP);
	}
	g.alpha = &alpha;
	fails = "pointer";
	ac_job_read(&job);
	assert_int_equal(job.unfit, AC_REASON_REFUSED);
}

CASES_RUN(NULL, NULL)
