/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/policy/test_scaling.c -- seed and update lines: which calls they
 * mean, what is wrong with them, and how they print. */
#include "with_policy.h"

#define PAIR "seed fn=cublasSscal_v2 -> scale=2^16\n" \
	"update fn=cublasSaxpy_v2 -> unscale\n"

/* ---- Which calls -------------------------------------------------------- */

static struct ac_op
call(const char *function, double n, const char *caller)
{
	struct ac_op op = { .operation = AC_OP_COUNT };

	op.fact[AC_FACT_FN] = function;
	op.fact[AC_FACT_CALLER] = caller;
	ac_op_set(&op, AC_Q_N, n);
	return op;
}

static const struct {
	const char *lines, *function;
	double n;
	const char *caller;
	enum ac_scaling kind;
	unsigned line;
} calls[] = {
	{ PAIR, "cublasSscal_v2", 320, "train", AC_SCALING_SEED, 2 },
	{ PAIR, "cublasSaxpy_v2", 320, "train", AC_SCALING_UPDATE, 3 },
	{ PAIR, "cublasSscal_v2_64", 320, "train", AC_SCALING_NONE, 0 },
	/* The first line that matches. */
	{ "update n<=16 -> unscale\nseed -> scale=2^3", "f", 16, "t",
	  AC_SCALING_UPDATE, 2 },
	{ "update n<=16 -> unscale\nseed -> scale=2^3", "f", 17, "t",
	  AC_SCALING_SEED, 3 },
	/* NVIDIA's libraries only by name. */
	{ PAIR, "cublasSscal_v2", 320, "libcusolver.so.12", AC_SCALING_NONE,
	  2 },
	{ "seed caller=libcusolver* -> scale=2^3\nupdate -> unscale",
	  "cublasSscal_v2", 320, "libcusolver.so.12", AC_SCALING_SEED, 2 },
	/* A section is of these lines, too. */
	{ "[caller=train]\nseed n=3 -> scale=2^3\n[]\nupdate -> unscale",
	  "f", 3, "other", AC_SCALING_UPDATE, 5 },
};

CASE(test_calls)
{
	char text[512];
	uint32_t line;

	for (size_t i = 0; i < COUNT(calls); i++) {
		const struct ac_op op = call(calls[i].function, calls[i].n,
		    calls[i].caller);
		struct ac_policy *policy;

		snprintf(text, sizeof text, "version 2\n%s\n", calls[i].lines);
		policy = parse_good(text);
		assert_int_equal(ac_policy_scaling(policy, &op, &line),
		    calls[i].kind);
		assert_int_equal(line, calls[i].line);
		assert_true(ac_policy_is_off(policy));
		ac_policy_destroy(policy);
	}
}

/* ---- What is wrong ----------------------------------------------------- */

static const struct {
	const char *text, *said;
} complaints[] = {
	{ "seed -> scale=2^16",
	  "p:1:1: 'seed' needs `version 2` on a line above it\n" },
	{ "version 2\nversion 1\nupdate -> unscale",
	  "p:3:1: 'update' needs `version 2` on a line above it\n" },
	{ "version 2\nseed -> scale=2^16",
	  "p:2:1: there is a seed, but no `update` line that takes its scale "
	  "away again\n" },
	{ "version 2\nupdate -> unscale",
	  "p:2:1: there is an update, but no `seed` line that says by what it "
	  "was scaled\n" },
	{ "version 2\nseed n=1 -> scale=2^16\nseed -> scale=2^8\n"
	  "update -> unscale",
	  "p:3:15: a policy has one scale, and this one has 2^16 already\n" },
	{ "version 2\nseed -> scale=2^25",
	  "p:2:17: a scale is one of 2^1 to 2^24\n" },
	{ "version 2\nseed -> scale=2^0",
	  "p:2:17: a scale is one of 2^1 to 2^24\n" },
	{ "version 2\nseed -> scale=65536",
	  "p:2:15: a scale is one of 2^1 to 2^24, not '65536'\n" },
	{ "version 2\nseed -> unscale",
	  "p:2:9: 'scale' is wanted here, not 'unscale'\n" },
	{ "version 2\nupdate -> unscale tol=1e-3",
	  "p:2:19: unexpected 'tol'\n" },
	{ "version 2\nseed fn=x",
	  "p:2:10: '->' and an action are missing\n" },
	{ "version 2\nseed k=3 -> scale=2^3",
	  "p:2:6: no operation of this line can have 'k'\n" },
	{ "version 2\n[ta=N]\nseed -> scale=2^3",
	  "p:3:1: no operation of this line can have ta=N, which its section "
	  "asks for\n" },
};

CASE(test_complaints)
{
	for (size_t i = 0; i < COUNT(complaints); i++) {
		assert_null(parse_with(NULL, complaints[i].text));
		assert_string_equal(places(said_buffer), complaints[i].said);
	}
}

/* Lines of -e are a text of their own. */
CASE(test_version_of_a_text)
{
	struct ac_policy *policy;

	assert_null(parse_with("version 2", PAIR));
	assert_null(parse_with(PAIR, "version 2\n"));
	policy = parse_with("version 2\n" PAIR, "gemm -> keep\n");
	assert_non_null(policy);
	assert_int_equal(ac_policy_scale(policy), 16);
	ac_policy_destroy(policy);
}

/* ---- As text ----------------------------------------------------------- */

static void
print(const char *lines, const char *all)
{
	struct ac_policy *policy = parse_good("version 2 # two\n"
	    "gemm   -> keep\n"
	    "[caller=\"my train\"]\n"
	    "seed fn=cublasSscal_v2   n=320,640->scale = 2 ^ 7\n"
	    "update -> unscale\n");
	char out[512];
	struct ac_text text;

	ac_text_init(&text, out, sizeof out);
	ac_policy_print_scaling(policy, &text);
	assert_string_equal(out, lines);
	ac_text_init(&text, out, sizeof out);
	ac_policy_print(policy, &text);
	assert_string_equal(out, all);
	ac_policy_destroy(policy);
}

CASE(test_print)
{
	static const char none[] = "version 1\ngemm -> keep\n";
	struct ac_policy *policy = parse_good("version 2\ngemm -> keep\n");
	char out[64];
	struct ac_text text;

#define LINES "seed caller=\"my train\" fn=cublasSscal_v2 n=320,640 " \
	"-> scale=2^7\nupdate caller=\"my train\" -> unscale\n"
	print(LINES, "version 2\n" LINES "gemm -> keep\n");
	ac_text_init(&text, out, sizeof out);
	ac_policy_print(policy, &text);
	assert_string_equal(out, none);
	assert_int_equal(ac_policy_scale(policy), 0);
	ac_policy_destroy(policy);
}

CASES_RUN(NULL, NULL)
