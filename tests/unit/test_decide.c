/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/test_decide.c -- the rung, the tactic and the reason. */
#include "with_policy.h"

static const char *
decided_by(const char *text, const struct ac_op *op)
{
	struct ac_policy *policy = parse_good(text);
	const char *answer = decided(policy, op);

	ac_policy_destroy(policy);
	return answer;
}

#define CHECK(text, op, answer) \
	assert_string_equal(decided_by(text, op), answer)

static void
test_first_rule_decides(void **state)
{
	const struct ac_op op = product(AC_OP_GEMM_SINGLE, 512, 512, 512, 90);

	(void)state;
	CHECK("gemm m=512 -> keep; gemm -> tf32", &op, "keep: rule");
	CHECK("gemm m=511 -> keep; gemm -> tf32", &op, "tf32 library");
	CHECK("conv -> tf32", &op, "keep: no-rule");
	CHECK("", &op, "keep: no-rule");
	CHECK("conv -> tf32; otherwise off", &op, "keep: rule");
	CHECK("conv -> tf32; otherwise tf32", &op, "tf32 library");
}

static void
test_order_of_rungs(void **state)
{
	const struct ac_op h200 = product(AC_OP_GEMM_SINGLE, 512, 512, 512, 90);
	const struct ac_op t4 = product(AC_OP_GEMM_SINGLE, 512, 512, 512, 75);
	const struct ac_op unknown = product(AC_OP_GEMM_SINGLE, 512, 512, 512,
	    0);

	(void)state;
	CHECK("* -> fp16,tf32", &h200, "tf32 library");
	CHECK("* -> bf16,fp16", &h200, "fp16 cast");
	CHECK("* -> auto", &h200, "tf32 library");
	CHECK("* -> auto", &t4, "fp16 cast");
	CHECK("* -> auto tol=1e-5", &h200, "keep: not-built");
	CHECK("* -> fp16,tf32 profit=off", &h200, "fp16 cast");
	CHECK("* -> fp16x3,bf16,tf32 profit=off", &h200, "bf16 library");
	CHECK("* -> auto profit=off", &h200, "tf32 library");
	CHECK("* -> tf32,fp16 profit=off", &t4, "fp16 cast");
	CHECK("* -> tf32,bf16", &t4, "keep: unsupported");
	CHECK("* -> fp16x3", &h200, "keep: not-built");
	CHECK("* -> fp16x3,tf32", &h200, "tf32 library");
	/* Nothing is legal on a GPU nobody knows. */
	CHECK("* -> auto", &unknown, "keep: unsupported");
	CHECK("* -> fp16 profit=off", &unknown, "keep: unsupported");
	CHECK("* -> fp16x3", &unknown, "keep: not-built");
}

static void
test_small(void **state)
{
	struct ac_op op = product(AC_OP_GEMM_STRIDED, 256, 256, 127, 90);

	(void)state;
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

static void
test_tactics(void **state)
{
	const struct ac_op op = product(AC_OP_GEMM_SINGLE, 512, 512, 512, 90);
	struct ac_policy *policy;
	struct ac_decision d;

	(void)state;
	CHECK("* -> fp16", &op, "fp16 cast");
	CHECK("* -> fp16 tactic=cached", &op, "fp16 cast");
	CHECK("* -> fp16 tactic=library scale=none", &op, "fp16 library");
	CHECK("* -> bf16", &op, "bf16 library");
	CHECK("* -> bf16 tactic=cast", &op, "bf16 cast");
	CHECK("set tactic=cast; * -> tf32", &op, "tf32 library");
	/* auto with tactic=library has no unscaled fp16 to offer. */
	CHECK("set tactic=library; * -> auto tol=1e-3", &op, "tf32 library");

	policy = parse_good("* -> fp16 scale=none");
	ac_policy_decide(policy, &op, &d);
	assert_false(d.scaled);
	assert_int_equal(d.tactic, AC_TACTIC_CAST);
	ac_policy_destroy(policy);
}

static void
test_settings_chain(void **state)
{
	const struct ac_op op = product(AC_OP_GEMM_SINGLE, 512, 512, 512, 90);
	struct ac_policy *policy;
	struct ac_decision d;

	(void)state;
	/* The rule, else the latest `set`, else the profile, else built in. */
	policy = parse_good("set tol=2e-3 workspace=64Mi\nset tol=3e-3\n"
	    "gemm m=512 -> tf32 tol=4e-3\n");
	ac_policy_decide(policy, &op, &d);
	assert_true(d.tol == 4e-3);
	assert_int_equal(d.workspace_bytes, 64 << 20);
	assert_int_equal(ac_policy_workspace(policy), 64 << 20);
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
	assert_int_equal(ac_policy_workspace(policy), 0);
	ac_policy_destroy(policy);

	policy = parse_good("gemm -> bf16");
	ac_policy_decide(policy, &op, &d);
	assert_true(d.tol == 8e-3);
	assert_true(d.scaled && d.respects_opt_out);
	ac_policy_destroy(policy);
}

static void
test_opt_outs(void **state)
{
	static const struct {
		const char *asked, *answer, *overruled;
	} rows[] = {
		{ "fp32", "tf32 library", "tf32 library" },
		{ "tf32", "tf32 library", "tf32 library" },
		{ "fast16f", "tf32 library", "tf32 library" },
		{ "fast16bf", "tf32 library", "tf32 library" },
		{ "pedantic", "keep: pedantic", "tf32 library" },
		{ "emulated", "keep: opted-out", "tf32 library" },
		{ "opted-out", "keep: opted-out", "tf32 library" },
	};
	struct ac_op op = product(AC_OP_GEMM_SINGLE, 512, 512, 512, 90);
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(rows); i++) {
		op.fact[AC_FACT_ASKED] = rows[i].asked;
		CHECK("* -> tf32", &op, rows[i].answer);
		CHECK("* -> tf32 respect-opt-out=off", &op, rows[i].overruled);
		CHECK("* -> tf32 profit=off guard=off", &op, rows[i].answer);
	}
	/* A rule that keeps says so itself. */
	op.fact[AC_FACT_ASKED] = "pedantic";
	CHECK("* -> keep", &op, "keep: rule");
}

static void
test_strangers(void **state)
{
	static const char *const theirs[] = { "libcublas.so.13",
		"libcublasLt.so.13", "libcudnn_ops.so.9", "libcusolver.so.12",
		"libcusparse.so.12", "libcufft.so.12", "libnvblas.so.13",
		"/usr/lib/libcublas.so.13" };
	struct ac_op op = product(AC_OP_GEMM_SINGLE, 512, 512, 512, 90);
	size_t i;

	(void)state;
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

static void
test_operations(void **state)
{
	struct ac_op op = product(AC_OP_GEMM_GROUPED, 512, 512, 512, 90);

	(void)state;
	CHECK("* -> auto", &op, "keep: grouped");
	CHECK("* -> keep", &op, "keep: rule");
	op.operation = AC_OP_GEMM_BATCHED;
	CHECK("* -> tf32", &op, "keep: unsupported");
	CHECK("* -> fp16", &op, "keep: not-built");
	CHECK("* -> tf32,bf16 tactic=cast", &op, "keep: not-built");
	op.operation = AC_OP_GEMM_LT;
	CHECK("* -> tf32", &op, "keep: not-built");
	op.operation = AC_OP_CONV_FPROP;
	CHECK("* -> tf32", &op, "keep: not-built");
	CHECK("* -> bf16", &op, "keep: unsupported");
	op.operation = AC_OP_CONV_WGRAD;
	CHECK("conv -> fp16", &op, "keep: unsupported");
	CHECK("conv,conv.dgrad -> fp16", &op, "keep: unsupported");
	CHECK("conv,conv.wgrad -> fp16", &op, "keep: not-built");
	op.operation = AC_OP_RNN;
	CHECK("* -> fp16", &op, "keep: not-built");
	CHECK("* -> bf16", &op, "keep: unsupported");
}

static void
test_types(void **state)
{
	struct ac_op op = product(AC_OP_GEMM_SINGLE, 512, 512, 512, 90);

	(void)state;
	op.fact[AC_FACT_TYPE] = "c32";
	CHECK("* -> tf32", &op, "keep: not-built");
	CHECK("* -> fp16", &op, "keep: unsupported");
	CHECK("* -> fp16,tf32", &op, "keep: not-built");
	op.fact[AC_FACT_TYPE] = "f64";
	CHECK("* -> tf32", &op, "keep: type");
	op.fact[AC_FACT_TYPE] = "f16";
	CHECK("* -> auto profit=off guard=off", &op, "keep: type");
	op.fact[AC_FACT_TYPE] = NULL;
	CHECK("* -> tf32", &op, "tf32 library");
}

/* A promise this version cannot keep must not be made. */
static void
test_strict_guard(void **state)
{
	const struct ac_op op = product(AC_OP_GEMM_SINGLE, 512, 512, 512, 90);

	(void)state;
	CHECK("* -> tf32 guard=strict", &op, "keep: not-built");
	CHECK("* -> tf32 guard=on", &op, "tf32 library");
	CHECK("set guard=strict; * -> tf32 guard=off", &op, "tf32 library");
}

static void
test_is_off(void **state)
{
	static const struct {
		const char *text;
		bool        is_off;
	} rows[] = {
		{ "", true }, { "* -> keep", true }, { "otherwise off", true },
		{ "gemm -> tf32", false }, { "otherwise amp", false },
		{ "gemm -> keep\notherwise tf32", false },
		/* Such calls are kept, but the report has to say why. */
		{ "gemm -> fp16x3", false },
	};
	struct ac_policy *policy;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(rows); i++) {
		policy = parse_good(rows[i].text);
		assert_int_equal(ac_policy_is_off(policy), rows[i].is_off);
		ac_policy_destroy(policy);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first_rule_decides),
		cmocka_unit_test(test_order_of_rungs),
		cmocka_unit_test(test_small),
		cmocka_unit_test(test_tactics),
		cmocka_unit_test(test_settings_chain),
		cmocka_unit_test(test_opt_outs),
		cmocka_unit_test(test_strangers),
		cmocka_unit_test(test_operations),
		cmocka_unit_test(test_types),
		cmocka_unit_test(test_strict_guard),
		cmocka_unit_test(test_is_off),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
