/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/policy/test_decide.c -- the rung, the tactic and the reason. */
#include "with_policy.h"

#include "policy/profit/profit.h"

CASE(test_first_rule_decides)
{
	const struct ac_op op = product(AC_OP_GEMM_SINGLE, 512, 512, 512, 90);

	CHECK("gemm m=512 -> keep; gemm -> tf32", &op, "keep: rule");
	CHECK("gemm m=511 -> keep; gemm -> tf32", &op, "tf32 library");
	CHECK("conv -> tf32", &op, "keep: no-rule");
	CHECK("", &op, "keep: no-rule");
	CHECK("conv -> tf32; otherwise off", &op, "keep: rule");
	CHECK("conv -> tf32; otherwise tf32", &op, "tf32 library");
}

CASE(test_order_of_rungs)
{
	const struct ac_op h200 = product(AC_OP_GEMM_SINGLE, 512, 512, 512, 90);
	const struct ac_op t4 = product(AC_OP_GEMM_SINGLE, 512, 512, 512, 75);
	/* Memory alone is waited for, whatever the rung. */
	const struct ac_op skinny = product(AC_OP_GEMM_SINGLE, 16, 8192, 8192,
	    90);
	const struct ac_op unknown = product(AC_OP_GEMM_SINGLE, 512, 512, 512,
	    0);

	CHECK("* -> fp16,tf32", &h200, "tf32 library");
	CHECK("* -> bf16,fp16", &h200, "bf16 library");
	CHECK("* -> bf16,fp16 tactic=cast", &t4, "fp16 cast");
	CHECK("* -> auto", &h200, "bf16 library");
	CHECK("* -> auto", &skinny, "tf32 library");
	CHECK("* -> auto", &t4, "fp16 cast");
	CHECK("* -> auto tol=3e-4", &h200, "tf32 library");
	CHECK("* -> fp16,tf32 profit=off", &h200, "fp16 cast");
	CHECK("* -> bf16,tf32 profit=off", &h200, "bf16 library");
	CHECK("* -> auto profit=off", &h200, "tf32 library");
	CHECK("* -> tf32,fp16 profit=off", &t4, "fp16 cast");
	CHECK("* -> tf32,bf16", &t4, "keep: unsupported");
	/* Nothing is legal on a GPU nobody knows. */
	CHECK("* -> auto", &unknown, "keep: unsupported");
	CHECK("* -> fp16 profit=off", &unknown, "keep: unsupported");
}

CASE(test_small)
{
	struct ac_op op = product(AC_OP_GEMM_STRIDED, 256, 256, 127, 90);

	CHECK("* -> tf32", &op, "keep: too-small");
	CHECK("* -> tf32 profit=off", &op, "tf32 library");
	/* 2 * 256 * 256 * 128 is 2^24. */
	ac_op_set_product(&op, 256, 256, 128, 1);
	CHECK("* -> tf32", &op, "tf32 library");
	ac_op_set_product(&op, 256, 256, 1, 128);
	CHECK("* -> tf32", &op, "tf32 library");
	ac_op_set_product(&op, 0, 256, 1, 1);
	CHECK("* -> tf32", &op, "keep: too-small");
}

CASE(test_tactics)
{
	const struct ac_op op = product(AC_OP_GEMM_SINGLE, 512, 512, 512, 90);

	CHECK("* -> fp16", &op, "fp16 cast");
	CHECK("* -> fp16 tactic=library", &op, "fp16 library");
	CHECK("* -> bf16", &op, "bf16 library");
	CHECK("* -> bf16 tactic=cast", &op, "bf16 cast");
	CHECK("set tactic=cast; * -> tf32", &op, "tf32 library");
	/* auto with tactic=library has no fp16 with exponents to offer. */
	CHECK("set tactic=library; * -> auto tol=1e-3", &op, "tf32 library");
}

CASE(test_settings_chain)
{
	const struct ac_op op = product(AC_OP_GEMM_SINGLE, 512, 512, 512, 90);
	struct ac_policy *policy;
	struct ac_decision d;

	/* The rule, else the latest `set`, else the profile, else built in. */
	policy = parse_good("set tol=2e-3 workspace=64Mi\nset tol=3e-3\n"
	    "gemm m=512 -> tf32 tol=4e-3\n");
	ac_policy_decide(policy, &op, &d);
	assert_true(d.tol == 4e-3);
	assert_int_equal(d.workspace_bytes, 64 << 20);
	ac_policy_destroy(policy);

	policy = parse_good("set tol=3e-3\ngemm -> tf32\nset tol=5e-3\n");
	ac_policy_decide(policy, &op, &d);
	assert_true(d.tol == 3e-3);
	ac_policy_destroy(policy);

	policy = parse_good("gemm -> tf32\notherwise bf16");
	ac_policy_decide(policy, &op, &d);
	assert_true(d.tol == 8e-3);
	ac_policy_destroy(policy);

	/* What a person sets counts for the profile's rules too. */
	policy = parse_good("set tol=9e-3 profit=on\notherwise bf16");
	ac_policy_decide(policy, &op, &d);
	assert_true(d.tol == 9e-3);
	assert_string_equal(d.source, "bf16");
	ac_policy_destroy(policy);

	policy = parse_good("gemm -> bf16");
	ac_policy_decide(policy, &op, &d);
	assert_true(d.tol == 8e-3);
	assert_true(d.respects_opt_out);
	ac_policy_destroy(policy);
}

CASE(test_opt_outs)
{
	static const struct {
		const char *asked, *answer, *overruled;
	} rows[] = {
		{ "fp32", "tf32 library", "tf32 library" },
		{ "tf32", "keep: no-profit", "keep: no-profit" },
		{ "fast16f", "tf32 library", "tf32 library" },
		{ "fast16bf", "tf32 library", "tf32 library" },
		{ "pedantic", "keep: pedantic", "tf32 library" },
		{ "emulated", "keep: opted-out", "tf32 library" },
		{ "opted-out", "keep: opted-out", "tf32 library" },
	};
	struct ac_op op = product(AC_OP_GEMM_SINGLE, 512, 512, 512, 90);
	size_t i;

	for (i = 0; i < COUNT(rows); i++) {
		op.fact[AC_FACT_ASKED] = rows[i].asked;
		CHECK("* -> tf32", &op, rows[i].answer);
		CHECK("* -> tf32 respect-opt-out=off", &op, rows[i].overruled);
		CHECK("* -> tf32 profit=off guard=off", &op,
		    strcmp(rows[i].asked, "tf32") == 0 ? "tf32 library" :
		    rows[i].answer);
	}
	/* A rule that keeps says so itself. */
	op.fact[AC_FACT_ASKED] = "pedantic";
	CHECK("* -> keep", &op, "keep: rule");
}

CASE(test_strangers)
{
	static const char *const theirs[] = { "libcublas.so.13",
		"libcublasLt.so.13", "libcudnn_ops.so.9", "libcusolver.so.12",
		"libcusparse.so.12", "libcufft.so.12", "libnvblas.so.13",
		"/usr/lib/libcublas.so.13" };
	struct ac_op op = product(AC_OP_GEMM_SINGLE, 512, 512, 512, 90);
	size_t i;

	for (i = 0; i < COUNT(theirs); i++) {
		op.fact[AC_FACT_CALLER] = theirs[i];
		CHECK("* -> tf32", &op, "keep: internal-caller");
		CHECK("* caller!=train -> tf32", &op, "keep: internal-caller");
		CHECK("* caller=*lib* -> tf32", &op, "tf32 library");
		CHECK("[caller=*lib*]\n* -> tf32", &op, "tf32 library");
	}
	op.fact[AC_FACT_CALLER] = "libtorch_cuda.so";
	CHECK("* -> tf32", &op, "tf32 library");
}

CASE(test_operations)
{
	static const enum ac_operation in_arrays[] = { AC_OP_GEMM_BATCHED,
		AC_OP_GEMM_GROUPED };
	size_t i;

	for (i = 0; i < COUNT(in_arrays); i++) {
		struct ac_op op = product(in_arrays[i], 512, 512, 512, 90);

		CHECK("* -> keep", &op, "keep: rule");
		CHECK("* -> tf32", &op, "keep: unsupported");
		/* By a cast, whatever another tactic would be. */
		CHECK("* -> fp16 profit=off", &op, "fp16 cast");
		CHECK("* -> tf32,bf16 profit=off", &op, "bf16 cast");
		CHECK("* -> bf16 profit=off tactic=library", &op,
		    "keep: unsupported");
		CHECK("* -> fp16 profit=off tactic=library", &op,
		    "keep: unsupported");
		op.fact[AC_FACT_TYPE] = "c32";
		CHECK("* -> auto profit=off guard=off", &op,
		    "keep: unsupported");
	}
}

CASE(test_types)
{
	struct ac_op op = product(AC_OP_GEMM_SINGLE, 512, 512, 512, 90);

	op.fact[AC_FACT_TYPE] = "c32";
	CHECK("* -> tf32", &op, "keep: guard");
	CHECK("* -> tf32 guard=strict", &op, "keep: guard");
	CHECK("* -> tf32 guard=off", &op, "tf32 library");
	CHECK("* -> bf16 guard=off", &op, "bf16 library");
	CHECK("* -> bf16 tactic=cast guard=off", &op, "bf16 library");
	CHECK("* -> fp16 guard=off", &op, "keep: unsupported");
	CHECK("* -> fp16,tf32 guard=off", &op, "tf32 library");
	op.operation = AC_OP_GEMM_BATCHED;
	CHECK("* -> auto guard=off", &op, "keep: unsupported");
	op.operation = AC_OP_GEMM_SINGLE;
	op.fact[AC_FACT_TYPE] = "f64";
	CHECK("* -> tf32", &op, "keep: type");
	op.fact[AC_FACT_TYPE] = "f16";
	CHECK("* -> auto profit=off guard=off", &op, "keep: type");
	op.fact[AC_FACT_TYPE] = NULL;
	CHECK("* -> tf32", &op, "tf32 library");
}

/* What the settings ask reaches the decision, kept or not. */
CASE(test_asked)
{
	static const struct {
		const char         *text;
		enum ac_asked_guard guard;
		bool                judges_profit, reproducible;
		unsigned            own;
	} rows[] = {
		{ "", AC_GUARD_ON, true, false, 0 },
		{ "* -> tf32", AC_GUARD_ON, true, false, 3 },
		{ "* -> keep guard=off", AC_GUARD_OFF, true, false, 3 },
		{ "* -> tf32 guard=strict profit=off", AC_GUARD_STRICT, false,
		  false, 3 },
		{ "set guard=strict; * -> tf32 guard=on", AC_GUARD_ON, true,
		  false, 3 },
		{ "* -> fp16 reproducible=on own=0", AC_GUARD_ON, true, true,
		  0 },
		{ "set own=7; * -> tf32", AC_GUARD_ON, true, false, 7 },
		{ "set own=7; * -> keep own=1000", AC_GUARD_ON, true, false,
		  1000 },
	};
	const struct ac_op op = product(AC_OP_GEMM_SINGLE, 512, 512, 512, 90);
	struct ac_policy *policy;
	struct ac_decision d;
	size_t i;

	for (i = 0; i < COUNT(rows); i++) {
		policy = parse_good(rows[i].text);
		ac_policy_decide(policy, &op, &d);
		assert_int_equal(d.guard, rows[i].guard);
		assert_int_equal(d.judges_profit, rows[i].judges_profit);
		assert_int_equal(d.reproducible, rows[i].reproducible);
		assert_int_equal(d.own, rows[i].own);
		ac_policy_destroy(policy);
	}
}

/* A GPU on which only arithmetic takes time, in TFLOP/s. */
static struct ac_rates
only(double fp32, double tf32, double fp16, double bf16)
{
	return (struct ac_rates){ .fp32 = fp32 * 1e12, .tf32 = tf32 * 1e12,
		.fp16 = fp16 * 1e12, .bf16 = bf16 * 1e12, .bandwidth = 1e30 };
}

/* The candidates as "fp16 tf32", a doubtful choice behind '?', or the reason
 * for which there are none. */
static const char *
ranked_by(const char *text, const struct ac_op *op)
{
	static char answer[64];
	struct ac_policy *policy = parse_good(text);
	struct ac_decision d;
	struct ac_text out;
	unsigned i;

	ac_policy_decide(policy, op, &d);
	ac_policy_destroy(policy);
	ac_text_init(&out, answer, sizeof(answer));
	if (d.candidate_count == 0) {
		assert_int_equal(d.rung, AC_RUNG_KEEP);
		assert_false(d.is_doubtful);
		return ac_reason_names[d.reason];
	}
	assert_int_equal(d.rung, d.candidate[0].rung);
	assert_int_equal(d.tactic, d.candidate[0].tactic);
	assert_true(d.tol == d.candidate[0].tol);
	ac_text_add(&out, d.is_doubtful ? "?" : "");
	for (i = 0; i < d.candidate_count; i++)
		ac_text_addf(&out, "%s%s", i > 0 ? " " : "",
		    ac_rung_names[d.candidate[i].rung]);
	return answer;
}

#define RANKS(text, fp32, tf32, fp16, bf16, answer) do { \
	const struct ac_rates rates = only(fp32, tf32, fp16, bf16); \
	op.rates = &rates; \
	assert_string_equal(ranked_by(text, &op), answer); \
} while (0)

CASE(test_ranking)
{
	struct ac_op op = product(AC_OP_GEMM_SINGLE, 512, 512, 512, 90);
	static const char any[] = "* -> auto tol=8e-3";

	/* The fastest as predicted; at a tie no cast, then the more
	 * accurate. */
	RANKS(any, 10, 20, 30, 25, "fp16 bf16 tf32");
	RANKS(any, 10, 40, 20, 30, "tf32 bf16 fp16");
	RANKS(any, 10, 20, 20, 20, "tf32 fp16 bf16");
	RANKS("* -> fp16,tf32", 10, 20, 40, 30, "fp16 tf32");
	RANKS("* -> auto tol=1e-3", 10, 20, 32, 30, "fp16 tf32");
	/* By parts: so many products each, and what is predicted to lose is no
	 * doubt; four at most. */
	RANKS(any, 10, 20, 40, 30, "fp16 bf16 tf32 fp16x3");
	RANKS("* -> auto tol=1e-3", 10, 20, 80, 70,
	    "fp16 fp16x3 bf16x3 tf32");
	RANKS("* -> fp16x3", 10, 0, 33.1, 0, "fp16x3");
	RANKS("* -> fp16x3", 10, 0, 32.9, 0, "no-profit");
	RANKS("* -> fp16x2,bf16x3,bf16x6", 10, 0, 22.1, 66.1,
	    "bf16x3 bf16x6 fp16x2");
	RANKS("* -> fp16x2,fp16x3", 10, 0, 24, 0, "no-profit");
	RANKS("* -> fp16x2", 10, 0, 24, 0, "fp16x2");
	/* A tenth is the least gain; up to a quarter of the speed is doubt. */
	RANKS("* -> tf32", 10, 11.01, 0, 0, "tf32");
	RANKS("* -> tf32", 10, 10.99, 0, 0, "?tf32");
	RANKS("* -> tf32", 10, 2.51, 0, 0, "?tf32");
	RANKS("* -> tf32", 10, 2.49, 0, 0, "no-profit");
	RANKS(any, 10, 5, 12, 2, "fp16 tf32");
	RANKS(any, 10, 5, 0, 8, "?bf16 tf32");
	/* Without trials, or without a clock, the prediction decides. */
	RANKS("* -> tf32 guard=off", 10, 11.01, 0, 0, "tf32");
	RANKS("* -> tf32 guard=off", 10, 10.99, 0, 0, "no-profit");
	RANKS("* -> tf32 guard=strict", 10, 10.99, 0, 0, "no-profit");
	RANKS("* -> tf32 reproducible=on", 10, 11.01, 0, 0, "tf32");
	RANKS("* -> tf32 reproducible=on", 10, 10.99, 0, 0, "no-profit");
	RANKS("* -> auto tol=8e-3 reproducible=on", 10, 5, 12, 14,
	    "bf16 fp16");
	op.operation = AC_OP_GEMM_GROUPED; /* no trial of which is timed */
	RANKS("* -> fp16", 10, 0, 11.01, 0, "fp16");
	RANKS("* -> fp16", 10, 0, 10.99, 0, "no-profit");
	op.operation = AC_OP_GEMM_SYRK; /* nor of these */
	RANKS("* -> fp16,tf32", 10, 11.01, 12, 0, "fp16 tf32");
	RANKS("* -> fp16,tf32", 10, 10.99, 10.99, 0, "no-profit");
	op.operation = AC_OP_GEMM_SINGLE;
	/* Nobody asked: as named. */
	RANKS("* -> bf16,tf32,fp16 profit=off", 10, 1, 1, 1, "bf16 tf32 fp16");
	RANKS("* -> auto tol=8e-3 profit=off", 10, 1, 50, 1,
	    "tf32 fp16 bf16 fp16x3");
	RANKS("* -> fp16,fp16,tf32 profit=off", 10, 1, 1, 1, "fp16 tf32");
	/* What the call does already is no candidate. */
	op.fact[AC_FACT_ASKED] = "tf32";
	RANKS(any, 10, 20, 40, 30, "fp16 bf16");
	op.fact[AC_FACT_ASKED] = "fast16bf";
	RANKS(any, 10, 20, 40, 30, "fp16 tf32");
	RANKS("* -> bf16", 10, 20, 40, 30, "no-profit");
	RANKS("* -> bf16 tactic=cast", 10, 20, 40, 30, "?bf16");
	op.fact[AC_FACT_ASKED] = "fast16f";
	RANKS("* -> fp16", 10, 20, 40, 30, "?fp16");
	RANKS("* -> fp16 tactic=library", 10, 20, 40, 30, "no-profit");
}

/* Predictions are given whoever judges them; sizes nobody knows have none. */
CASE(test_predictions)
{
	const struct ac_rates rates = only(10, 20, 40, 0);
	struct ac_op op = product(AC_OP_GEMM_SINGLE, 512, 512, 512, 90);
	struct ac_policy *policy = parse_good("* -> tf32,fp16 profit=off");
	struct ac_decision d;

	op.rates = &rates;
	ac_policy_decide(policy, &op, &d);
	assert_int_equal(d.candidate_count, 2);
	assert_true(d.keep_seconds == 2.0 * 512 * 512 * 512 / 10e12);
	assert_true(d.candidate[0].seconds == d.keep_seconds / 2);
	assert_true(d.candidate[1].seconds == d.keep_seconds / 4);
	op.quantities &= ~(1u << AC_Q_K);
	ac_policy_decide(policy, &op, &d);
	assert_int_equal(d.rung, AC_RUNG_TF32);
	assert_true(d.keep_seconds == 0 && d.candidate[0].seconds == 0);
	ac_policy_destroy(policy);
}

CASE(test_is_off)
{
	static const struct {
		const char *text;
		bool        is_off;
	} rows[] = {
		{ "", true }, { "* -> keep", true }, { "otherwise off", true },
		{ "gemm -> tf32", false }, { "otherwise amp", false },
		{ "gemm -> keep\notherwise tf32", false },
	};
	struct ac_policy *policy;
	size_t i;

	for (i = 0; i < COUNT(rows); i++) {
		policy = parse_good(rows[i].text);
		assert_int_equal(ac_policy_is_off(policy), rows[i].is_off);
		ac_policy_destroy(policy);
	}
}

/* Whatever follows it, but for what is never recast. */
CASE(test_cublaslt)
{
	struct ac_op op = product(AC_OP_GEMM_LT, 512, 512, 512, 90);

	CHECK("* -> tf32", &op, "tf32 library");
	for (unsigned i = 0; i < AC_EPILOGUE_COUNT; i++) {
		const char *name = op.fact[AC_FACT_EPILOGUE] =
		    ac_epilogue_names[i];
		const bool never = i >= AC_EPILOGUE_INPUT_SUMS;

		CHECK("* -> tf32", &op, never ? "keep: unsupported"
		    : "tf32 library");
		CHECK("* -> fp16 profit=off guard=off", &op, never
		    ? "keep: unsupported" : "fp16 cast");
		assert_int_equal(ac_epilogue_objection(name) != NULL, never);
	}
	assert_non_null(ac_epilogue_objection("other: A_SCALE_POINTER"));
	assert_null(ac_epilogue_objection(""));
	assert_null(ac_epilogue_objection("others"));
	op.fact[AC_FACT_EPILOGUE] = "gelu_bias";
	CHECK("gemm epilogue=gelu* -> keep; * -> tf32", &op, "keep: rule");
	CHECK("gemm epilogue=none -> keep; * -> tf32", &op, "tf32 library");
	op.fact[AC_FACT_TYPE] = "c32";
	CHECK("* -> tf32 guard=off", &op, "keep: unsupported");
}

/* Under guard=strict they would be kept. */
static void
test_learning_convolutions(void)
{
	struct ac_op op = product(AC_OP_CONV_FPROP, 512, 512, 4096, 75);

	for (int strict = 0; strict < 2; strict++) {
		struct ac_policy *policy = parse_good(strict
		    ? "conv -> fp16 learn=on guard=strict"
		    : "conv -> fp16 learn=on guard=off");
		struct ac_decision decision;

		ac_policy_decide(policy, &op, &decision);
		assert_int_equal(decision.rung, strict ? AC_RUNG_KEEP
		    : AC_RUNG_FP16);
		assert_int_equal(decision.reason, strict ? AC_REASON_GUARD
		    : AC_REASON_NONE);
		ac_policy_destroy(policy);
	}
}

/* Under learn=on what is predicted to take over 1.25 / 0.75 of the original's
 * time is not measured, but under profit=off. */
CASE(test_learning)
{
	struct ac_policy *some = parse_good("set learn=on\n"
	    "gemm -> fp16,tf32,bf16x3,fp16x3");
	struct ac_policy *all = parse_good("set learn=on profit=off\n"
	    "gemm -> fp16,tf32,bf16x3,fp16x3");
	unsigned measured = 0, left = 0;

	for (int64_t m = 256; m <= 4096; m += 64) {
		struct ac_op op = product(AC_OP_GEMM_SINGLE, m, m, m, 90);
		struct ac_decision decision, every;
		unsigned count = 0;

		ac_policy_decide(some, &op, &decision);
		ac_policy_decide(all, &op, &every);
		assert_int_equal(every.candidate_count, 4);
		for (unsigned i = 0; i < 4; i++)
			count += every.candidate[i].seconds
			    <= every.keep_seconds * 1.25 / 0.75;
		assert_int_equal(decision.candidate_count, count);
		assert_true(count || decision.reason == AC_REASON_NO_PROFIT);
		measured += count;
		left += 4 - count;
	}
	assert_true(measured && left);
	test_learning_convolutions();
	ac_policy_destroy(some);
	ac_policy_destroy(all);
}

CASES_RUN(NULL, NULL)
