/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/test_parse.c -- every complaint of the language, word for word
 * and at its place; what is accepted; and that nothing is unbounded. */
#include "with_policy.h"

struct complaint {
	const char *text, *said;   /* `said`: the lines that name a place */
};

static const struct complaint complaints[] = {
	/* Operations */
	{ "gem -> fp16",
	  "p:1:1: unknown operation 'gem' (did you mean 'gemm'?)\n" },
	{ "gemm,wgrad -> fp16",
	  "p:1:6: unknown operation 'wgrad' (did you mean 'conv.wgrad'?)\n" },
	{ "-> fp16",
	  "p:1:1: an operation is wanted here, not '->'\n" },
	{ "gemm, -> fp16",
	  "p:1:7: an operation is wanted here, not '->'\n" },
	{ "gemm,\n",
	  "p:1:6: an operation is wanted here, not the end of the line\n" },
	{ "profile amp",
	  "p:1:1: unknown operation 'profile'\n" },
	{ "gemm conv -> fp16",
	  "p:1:6: several operations are written with ',': gemm,conv\n" },
	/* The arrow */
	{ "gemm",
	  "p:1:5: '->' and an action are missing\n" },
	{ "gemm fp16",
	  "p:1:6: '->' is missing before 'fp16'\n" },
	{ "gemm auto",
	  "p:1:6: '->' is missing before 'auto'\n" },
	{ "gemm m>5 (",
	  "p:1:10: '->' is missing before '('\n" },
	{ "gemm -> fp16 -> tf32",
	  "p:1:14: '->' twice on one line\n" },
	{ "gemm m<=16 | n<=16 -> keep",
	  "p:1:12: there is no '|': list values with ',' (ta=N,T), or write "
	  "two lines\n" },
	/* Actions */
	{ "gemm ->\n",
	  "p:1:8: an action is missing after '->'\n" },
	{ "gemm -> fp16,",
	  "p:1:14: an action is missing after ','\n" },
	{ "gemm -> fp61",
	  "p:1:9: unknown action 'fp61' (did you mean 'fp16'?)\n" },
	{ "gemm -> keep,fp16",
	  "p:1:13: 'keep' stands alone: it is always allowed anyway\n" },
	{ "gemm -> auto,fp16",
	  "p:1:13: 'auto' stands alone: it allows every rung\n" },
	{ "gemm -> fp16,keep",
	  "p:1:14: 'keep' stands alone\n" },
	{ "gemm -> fp16 )",
	  "p:1:14: unexpected ')'\n" },
	/* Conditions */
	{ "gemm caller=a b -> keep",
	  "p:1:15: 'b' is not a condition (KEY=VALUE)\n" },
	{ "gemm \"m\" -> keep",
	  "p:1:6: \"m\" is not a condition (KEY=VALUE)\n" },
	{ "gemm mm>5 -> keep",
	  "p:1:6: unknown condition 'mm' (did you mean 'm'?)\n" },
	{ "gemm minimum=5 -> keep",
	  "p:1:6: unknown condition 'minimum'\n" },
	{ "gemm tol=1e-4 -> fp16",
	  "p:1:6: 'tol' is a setting: put it after the action\n" },
	{ "[]x",
	  "p:1:3: unexpected 'x'\n" },
	{ "[sm]",
	  "p:1:4: a comparison is missing: one of = != < <= > >=\n" },
	{ "gemm max(m,zz)<5 -> keep",
	  "p:1:12: 'zz' is not a size\n" },
	{ "gemm max()<5 -> keep",
	  "p:1:10: ')' is not a size\n" },
	{ "gemm max(m n)<5 -> keep",
	  "p:1:12: ')' is missing\n" },
	{ "gemm max(sm)<5 -> keep",
	  "p:1:10: 'sm' is not a size\n" },
	{ "gemm ta==T -> fp16",
	  "p:1:8: '==' is no comparison: equality is '='\n" },
	{ "gemm ta<T -> fp16",
	  "p:1:8: 'ta' is a name: only = and !=\n" },
	{ "gemm m= -> fp16",
	  "p:1:9: a value is missing\n" },
	{ "gemm ta=,N -> fp16",
	  "p:1:9: a value is missing\n" },
	{ "gemm m<5,6 -> fp16",
	  "p:1:9: '<' takes one value\n" },
	{ "gemm cin>=4 -> fp16",
	  "p:1:6: no operation of this line can have 'cin'\n" },
	{ "rnn min(m,n)>=4 -> fp16",
	  "p:1:5: no operation of this line can have 'min'\n" },
	{ "[cin<=4]\ngemm -> keep",
	  "p:2:1: no operation of this line can have cin<=4, which its "
	  "section asks for\n" },
	{ "[rank=0\n",
	  "p:1:8: ']' is missing\n" },
	{ "[rank=0; gemm -> keep",
	  "p:1:8: ']' is missing\n" },
	/* Numbers */
	{ "gemm m>=abc -> fp16",
	  "p:1:9: 'abc' is not a number\n" },
	{ "gemm m=\"5\" -> fp16",
	  "p:1:8: '\"5\"' is not a number\n" },
	{ "gemm k>=4k -> fp16",
	  "p:1:9: '4k': a size takes Ki and Mi only: write 4000 or 4Ki\n" },
	{ "gemm k>=1.5M -> fp16",
	  "p:1:9: '1.5M': a size takes Ki and Mi only: write 1500000\n" },
	{ "gemm m=1.5 -> fp16",
	  "p:1:8: '1.5': a whole number is wanted\n" },
	{ "gemm m=99999999999999999999999 -> fp16",
	  "p:1:8: '99999999999999999999999' is too large\n" },
	{ "gemm m=512..16 -> fp16",
	  "p:1:8: '512..16' is an empty range: the smaller number comes "
	  "first\n" },
	{ "gemm m<1..5 -> fp16",
	  "p:1:8: a range wants = or !=\n" },
	{ "gemm m=1.. -> fp16",
	  "p:1:8: '' is not a number\n" },
	{ "gemm sm=8k -> fp16",
	  "p:1:9: '8k': no 'k' here\n" },
	{ "conv filter<3x3 -> tf32",
	  "p:1:13: NxM wants = or !=\n" },
	{ "conv filter=3x -> tf32",
	  "p:1:13: '' is not a number\n" },
	{ "conv filter=1x1x1x1 -> tf32",
	  "p:1:13: '1x1x1x1': at most three extents, like 3x3x3\n" },
	{ "conv filter=70000x1 -> tf32",
	  "p:1:13: '70000x1' is too large\n" },
	{ "conv spatial=56x56 -> tf32",
	  "p:1:14: '56x56' is not a number\n" },
	/* Settings */
	{ "gemm -> fp16 k>=5",
	  "p:1:14: 'k' is a condition: put it before '->'\n" },
	{ "gemm -> fp16 tool=5",
	  "p:1:14: unknown setting 'tool' (did you mean 'tol'?)\n" },
	{ "set guard off",
	  "p:1:5: a setting is written guard=VALUE\n" },
	{ "set",
	  "p:1:4: set wants KEY=VALUE\n" },
	{ "set tol=",
	  "p:1:9: a value is missing\n" },
	{ "set tol=-1",
	  "p:1:9: '-1' is not a number\n" },
	{ "set tol=0",
	  "p:1:9: tol must be greater than 0\n" },
	{ "set tol=1k",
	  "p:1:9: '1k': no 'k' here\n" },
	{ "set workspace=0",
	  "p:1:15: workspace must be greater than 0\n" },
	{ "set after=1.5",
	  "p:1:11: '1.5': a whole number is wanted\n" },
	{ "set profit=of",
	  "p:1:12: profit is one of: on off (did you mean 'off'?)\n" },
	{ "set tactic=fast",
	  "p:1:12: tactic is one of: auto library cast cached (did you "
	  "mean 'cast'?)\n" },
	/* Contradictions */
	{ "gemm -> fp16,bf16 tol=1e-3",
	  "p:1:14: the known error of bf16, 0.0024, is more than tol=1e-3 "
	  "allows: drop bf16, or write tol=0.008\n" },
	{ "set tol=1e-5\ngemm -> tf32",
	  "p:2:9: the known error of tf32, 2.9e-4, is more than tol=1e-5 "
	  "(line 1) allows: drop tf32, or write tol=0.001\n" },
	{ "set tol=1e-5\notherwise tf32",
	  "p:1:9: the known error of tf32, 2.9e-4, is more than tol=1e-5 "
	  "allows; profile 'tf32' uses it in line 4\n" },
	{ "gemm -> bf16\notherwise amp",
	  "p:1:9: the known error of bf16, 0.0024, is more than tol=1e-3 "
	  "(amp:2) allows: drop bf16, or write tol=0.008\n" },
	{ "gemm -> auto tol=1e-8",
	  "p:1:9: no rung is known to reach tol=1e-8; the most accurate is "
	  "bf16x6 with 3e-7\n" },
	{ "gemm -> bf16,fp16 tactic=library",
	  "p:1:14: the library's own fp16 is not scaled: with tactic=library "
	  "write scale=none too, or leave the tactic to autocast\n" },
	{ "set tactic=library\notherwise fp16",
	  "p:1:12: the library's own fp16 is not scaled: with tactic=library "
	  "write scale=none too, or leave the tactic to autocast\n" },
	{ "gemm -> tf32 tactic=cast",
	  "p:1:21: tf32 has no cast: the library rounds by itself; drop "
	  "tactic=cast\n" },
	/* Other statements */
	{ "version 2",
	  "p:1:9: only version 1 of the language is known, not '2'\n" },
	{ "version",
	  "p:1:8: only version 1 of the language is known, not the end of the "
	  "line\n" },
	{ "version 1 2",
	  "p:1:11: unexpected '2'\n" },
	{ "include users",
	  "p:1:9: include wants a file name in quotes\n" },
	{ "include \"users",
	  "p:1:9: this string does not end, or has a '\\' before something "
	  "else than '\"' or '\\'\n" },
	{ "site",
	  "p:1:5: site wants a name: site NAME = ID\n" },
	{ "site a b",
	  "p:1:8: '=' is missing: site NAME = ID\n" },
	{ "site a = 9c41",
	  "p:1:10: a site id has 8 hexadecimal digits, as the report prints "
	  "it\n" },
	{ "site a = 9c41d2eg",
	  "p:1:10: a site id has 8 hexadecimal digits, as the report prints "
	  "it\n" },
	{ "site a-name-longer-than-31-bytes-is-no-name = 00000000",
	  "p:1:6: longer than 31 bytes\n" },
	{ "otherwise ampp",
	  "p:1:11: 'ampp' is not a profile (did you mean 'amp'?)\n" },
	{ "otherwise",
	  "p:1:10: the end of the line is not a profile\n" },
	{ "otherwise amp\ngemm -> fp16\nconv -> tf32",
	  "p:2:1: 'otherwise' (line 1) must be the last statement\n" },
};

/* Only the lines that begin with a place, not the echoed ones. */
static const char *
places(const char *diagnostics)
{
	static char out[8192];
	struct ac_text text;
	const char *end;

	ac_text_init(&text, out, sizeof(out));
	for (; *diagnostics != '\0'; diagnostics = end + 1) {
		end = strchr(diagnostics, '\n');
		if (*diagnostics != ' ')
			ac_text_add_bytes(&text, diagnostics,
			    (size_t)(end + 1 - diagnostics));
	}
	return out;
}

static void
test_complaints(void **state)
{
	struct ac_policy *policy;
	unsigned wrong = 0;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(complaints); i++) {
		policy = parse_with(NULL, complaints[i].text);
		if (policy == NULL && problems.errors == 1 &&
		    strcmp(places(said_buffer), complaints[i].said) == 0)
			continue;
		print_message("%s\n  said:   %s  wanted: %s",
		    complaints[i].text, places(said_buffer),
		    complaints[i].said);
		wrong++;
		ac_policy_destroy(policy);
	}
	assert_int_equal(wrong, 0);
}

/* All errors of a text, in the order of the text, however they are found. */
static void
test_all_errors(void **state)
{
	(void)state;
	assert_null(parse_with(NULL,
	    "set tol=1e-5\n"
	    "gemm ->\n"
	    "gemm -> tf32 ; conv m<5,6 -> tf32 ; rnn -> fp61\n"
	    "gemm -> fp16,bf16\n"
	    "oops"));
	assert_string_equal(places(said_buffer),
	    "p:2:8: an action is missing after '->'\n"
	    "p:3:9: the known error of tf32, 2.9e-4, is more than tol=1e-5 "
	    "(line 1) allows: drop tf32, or write tol=0.001\n"
	    "p:3:24: '<' takes one value\n"
	    "p:3:44: unknown action 'fp61' (did you mean 'fp16'?)\n"
	    "p:4:9: the known error of fp16, 2.9e-4, is more than tol=1e-5 "
	    "(line 1) allows: drop fp16, or write tol=0.001\n"
	    "p:4:14: the known error of bf16, 0.0024, is more than tol=1e-5 "
	    "(line 1) allows: drop bf16, or write tol=0.008\n"
	    "p:5:1: unknown operation 'oops'\n");
	assert_int_equal(problems.errors, 7);
}

static const struct complaint warnings[] = {
	{ "gemm ta=n -> keep",
	  "p:1:9: warning: 'ta' is never 'n', only one of: N T C\n" },
	{ "gemm asked=fp16* -> keep",
	  "p:1:12: warning: 'asked' is never 'fp16*', only one of: fp32 tf32 "
	  "fast16f fast16bf pedantic emulated opted-out\n" },
	{ "gemm -> tf32 profit=on profit=off",
	  "p:1:24: warning: profit stands here twice: the last one counts\n" },
	{ "set guard=on",
	  "p:1:5: warning: guard=on is not built yet and has no effect\n" },
	{ "gemm -> tf32 guard=strict",
	  "p:1:14: warning: guard=strict is not built yet and has no effect: "
	  "its calls are kept\n" },
	{ "gemm -> fp16 tactic=cached",
	  "p:1:14: warning: tactic=cached is not built yet and has no "
	  "effect\n" },
	{ "set guard=off sample=0 deepbind=off", "" },
	{ "gemm ta=?,T type=*32 solver=yes -> keep", "" },
};

static void
test_warnings(void **state)
{
	struct ac_policy *policy;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(warnings); i++) {
		policy = parse_good(warnings[i].text);
		assert_string_equal(places(said_buffer), warnings[i].said);
		assert_int_equal(problems.warnings, *warnings[i].said != '\0');
		ac_policy_destroy(policy);
	}
}

static const char *const good_texts[] = {
	"", "\n", ";;;", "# only a comment", "version 1", "\xef\xbb\xbfversion 1",
	"gemm->fp16", "gemm -> fp16;conv -> tf32", "gemm ->\\\n fp16",
	"gemm \\\n m>5 \\\r\n -> fp16\r\n", "[]", "* -> keep#x",
	"gemm flops>=2G bytes<1.5Mi intensity>0.5 -> auto",
	"gemm m=1..2,5,7..7Ki n!=3 -> fp16,tf32",
	"conv filter=3x3,1x1,3 stride!=2x2 dilation=1x1x1 -> tf32",
	"gemm gpu=\"NVIDIA H200*\" fn=\"a\\\"b\\\\c\" -> keep",
	"site qkv=9c41d2e0\nsite QKV = 9C41D2E0 # again",
	"set tol=1e-3 guard=off scale=auto tactic=auto profit=on constant=ab "
	"after=10 sample=1/64 workspace=64Mi conv-workspace=1G "
	"respect-opt-out=on deepbind=off reproducible=on check-cache=off",
	"rnn batch>4 layout=x -> tf32 ; otherwise off",
	"gemm.single,gemm.batched,gemm.strided,gemm.grouped,gemm.lt -> keep",
	"conv.fprop,conv.dgrad,conv.wgrad,rnn,* -> keep",
	"gemm -> bf16x3,bf16x6,int8x3,int8x6,fp16x3",
	"gemm -> fp16 tactic=library scale=none",
};

static void
test_good(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(good_texts); i++)
		ac_policy_destroy(parse_good(good_texts[i]));
}

/* An open section of the -e lines must not catch the policy's own rules; a
 * `set` among them does reach on. */
static void
test_rules_come_first(void **state)
{
	const struct ac_op op = product(AC_OP_GEMM_SINGLE, 512, 512, 512, 90);
	struct ac_policy *policy;
	struct ac_decision d;

	(void)state;
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
	    "p:1:1: unknown operation 'oops'\n");
	assert_null(parse_with("otherwise amp", ""));
	assert_string_equal(places(said_buffer),
	    "-e:1:1: 'otherwise' in a -e line would hide the policy: choose "
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

static void
test_bounds(void **state)
{
	(void)state;
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
static void
test_memory(void **state)
{
	const size_t size = 3 << 20;
	char *buffer = malloc(size);
	struct ac_text text;
	unsigned i;

	(void)state;
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
static void
test_count_only(void **state)
{
	struct ac_policy_problems silent = { 0 };

	(void)state;
	assert_null(ac_policy_parse(NULL, "oops\noops", 9, "p", &silent));
	assert_int_equal(silent.errors, 2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_complaints),
		cmocka_unit_test(test_all_errors),
		cmocka_unit_test(test_warnings),
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_rules_come_first),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_count_only),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
