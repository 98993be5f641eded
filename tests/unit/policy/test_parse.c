/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/policy/test_parse.c -- what is accepted, what is warned of, in
 * what order errors come, and that nothing is unbounded. */
#include "with_policy.h"

/* All errors of a text, in the order of the text, however they are found. */
CASE(test_all_errors)
{
	assert_null(parse_with(NULL,
	    "set tol=1e-5\n"
	    "gemm ->\n"
	    "gemm -> tf32 ; conv m<5,6 -> tf32 ; conv -> fp61\n"
	    "gemm -> fp16,bf16\n"
	    "oops"));
	assert_string_equal(places(said_buffer),
	    "p:2:8: an action is missing after '->'\n"
	    "p:3:9: the known error of tf32, 2.9e-4, is more than tol=1e-5 "
	    "(line 1) allows: drop tf32, or write tol=0.001\n"
	    "p:3:24: '<' takes one value; conditions side by side all have to "
	    "hold, with nothing between\n"
	    "p:3:45: unknown action 'fp61' (did you mean 'fp16'?)\n"
	    "p:4:9: the known error of fp16, 2.9e-4, is more than tol=1e-5 "
	    "(line 1) allows: drop fp16, or write tol=0.001\n"
	    "p:4:14: the known error of bf16, 0.0024, is more than tol=1e-5 "
	    "(line 1) allows: drop bf16, or write tol=0.008\n"
	    "p:5:1: unknown operation 'oops'" ALL_OPERATIONS "\n");
	assert_int_equal(problems.errors, 7);
}

static const struct {
	const char *text, *said;
} warnings[] = {
	{ "gemm ta=n -> keep",
	  "p:1:9: warning: 'ta' is never 'n', only one of: N T C\n" },
	{ "gemm asked=fp16* -> keep",
	  "p:1:12: warning: 'asked' is never 'fp16*', only one of: fp32 tf32 "
	  "fast16f fast16bf pedantic emulated opted-out\n" },
	{ "gemm -> tf32 profit=on profit=off",
	  "p:1:24: warning: profit stands here twice: the last one counts\n" },
	{ "set guard=strict own=10 reproducible=on", "" },
	{ "set guard=off own=0 deepbind=off", "" },
	{ "gemm ta=?,T type=*32 solver=yes -> keep", "" },
};

CASE(test_warnings)
{
	struct ac_policy *policy;
	size_t i;

	for (i = 0; i < COUNT(warnings); i++) {
		policy = parse_good(warnings[i].text);
		assert_string_equal(places(said_buffer), warnings[i].said);
		assert_int_equal(problems.warnings, *warnings[i].said != '\0');
		ac_policy_destroy(policy);
	}
}

static const char *const good_texts[] = {
	"", "\n", ";;;", "# only a comment", "version 1",
	"\xef\xbb\xbfversion 1",
	"gemm->fp16", "gemm -> fp16;conv -> tf32", "gemm ->\\\n fp16",
	"gemm \\\n m>5 \\\r\n -> fp16\r\n", "[]", "* -> keep#x",
	"gemm flops>=2G bytes<1.5Mi intensity>0.5 -> auto",
	"gemm m=1..2,5,7..7Ki n!=3 -> fp16,tf32",
	"conv filter=3x3,1x1,3 stride!=2x2 dilation=1x1x1 -> tf32",
	"gemm gpu=\"NVIDIA H200*\" fn=\"a\\\"b\\\\c\" -> keep",
	"site qkv=9c41d2e0\nsite QKV = 9C41D2E0 # again",
	"set tol=1e-3 guard=off tactic=auto profit=on "
	"own=10 workspace=64Mi conv-workspace=own "
	"respect-opt-out=on deepbind=off reproducible=on",
	"conv batch>4 layout=x -> tf32 ; otherwise off",
	"gemm.single,gemm.batched,gemm.strided,gemm.grouped -> keep",
	"gemm.syrk,gemm.lt -> keep",
	"conv.fprop,conv.dgrad,conv.wgrad,* -> keep",
	"gemm -> bf16,tf32,fp16",
	"gemm -> fp16 tactic=library",
};

CASE(test_good)
{
	size_t i;

	for (i = 0; i < COUNT(good_texts); i++)
		ac_policy_destroy(parse_good(good_texts[i]));
}

/* An open section of the -e lines must not catch the policy's own rules; a
 * `set` among them does reach on. */
CASE(test_rules_come_first)
{
	const struct ac_op op = product(AC_OP_GEMM_SINGLE, 512, 512, 512, 90);
	struct ac_policy *policy;
	struct ac_decision d;

	policy = parse_with("[sm=75]\nset tol=2e-3\ngemm -> fp16",
	    "gemm -> tf32");
	assert_non_null(policy);
	ac_policy_decide(policy, &op, &d);
	assert_int_equal(d.rung, AC_RUNG_TF32);
	assert_string_equal(d.source, "p");
	assert_true(d.tol == 2e-3);
	ac_policy_destroy(policy);

	policy = parse_with("gemm -> keep", "gemm -> tf32");
	assert_non_null(policy);
	assert_int_equal(problems.warnings, 0);
	ac_policy_decide(policy, &op, &d);
	assert_string_equal(d.source, "-e");
	assert_int_equal(d.line, 1);
	ac_policy_destroy(policy);

	assert_null(parse_with("\ngemm -> fp61", "oops"));
	assert_string_equal(places(said_buffer),
	    "-e:2:9: unknown action 'fp61' (did you mean 'fp16'?)\n"
	    "p:1:1: unknown operation 'oops'" ALL_OPERATIONS "\n");
	assert_null(parse_with("otherwise amp", ""));
	assert_string_equal(places(said_buffer),
	    "-e:1:1: 'otherwise' here, before the policy, would hide it: choose "
	    "it with --policy\n");
}

static void
repeat(struct ac_text *text, const char *s, unsigned count)
{
	for (; count > 0; count--)
		ac_text_add(text, s);
}

static void
check_bound(const char *head, const char *unit, unsigned count,
    const char *tail, const char *complaint)
{
	static char buffer[1 << 18];
	struct ac_text text;
	struct ac_policy *policy;

	ac_text_init(&text, buffer, sizeof(buffer));
	ac_text_add(&text, head);
	repeat(&text, unit, count);
	ac_text_add(&text, tail);
	assert_false(text.truncated);
	policy = parse_with(NULL, buffer);
	if (complaint == NULL) {
		if (policy == NULL)
			fail_msg("refused: %.500s", said_buffer);
	} else {
		assert_null(policy);
		if (strstr(said_buffer, complaint) == NULL)
			fail_msg("'%s' is not in: %.500s", complaint,
			    said_buffer);
	}
	ac_policy_destroy(policy);
}

CASE(test_bounds)
{
	check_bound("", "gemm m=1 -> keep\n", 4096, "", NULL);
	check_bound("", "gemm m=1 -> keep\n", 4097, "", "p:4097:1: more than "
	    "4096 rules");
	check_bound("gemm", " m=1", 64, "-> keep", NULL);
	check_bound("gemm", " m=1", 65, "-> keep", "more than 64 conditions");
	check_bound("[", " m=1", 65, "]", "more than 64 conditions");
	check_bound("[sm=1]\ngemm", " m=1", 64, "-> keep",
	    "more than 64 conditions");
	check_bound("gemm m=1", ",1", 255, "-> keep", NULL);
	check_bound("gemm m=1", ",1", 256, "-> keep", "more than 256 values");
	check_bound("gemm fn=", "a", 255, "-> keep", NULL);
	check_bound("gemm fn=", "a", 256, "-> keep", "longer than 255 bytes");
	check_bound("", "site a=00000000\n", 4097, "", "more than 4096 sites");
	check_bound("gemm", ",gemm", 10000, "-> keep", NULL);
	check_bound("gemm -> fp16", ",tf32", 10000, "", NULL);
	check_bound("", "oops\n", 10000, "", "9800 more problems");
	check_bound("gemm ", "(", 10000, "", "is missing");
	check_bound("gemm -> ", "x", 100000, "", "unknown action");
}

/* A policy too large for its memory is an error, not a crash. */
CASE(test_memory)
{
	const size_t size = 3 << 20;
	char *buffer = malloc(size);
	struct ac_text text;
	unsigned i;

	ac_text_init(&text, buffer, size);
	for (i = 0; i < 4000; i++) {
		ac_text_add(&text, "gemm m=1");
		repeat(&text, ",1", 255);
		ac_text_add(&text, "-> keep\n");
	}
	assert_false(text.truncated);
	assert_null(parse_with(NULL, buffer));
	assert_string_equal(said_buffer,
	    "policy: too large, or there is no memory for it\n");
	free(buffer);
}

/* Problems are counted even where nobody wants to read them. */
CASE(test_count_only)
{
	struct ac_policy_problems silent = { 0 };

	assert_null(ac_policy_parse(NULL, "oops\noops", 9, "p", &silent));
	assert_int_equal(silent.errors, 2);
}

CASES_RUN(NULL, NULL)
