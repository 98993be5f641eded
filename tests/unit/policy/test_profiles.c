/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/policy/test_profiles.c -- the built-in profiles: the shipped files
 * byte for byte, and what each does. Also the example policies, which must
 * parse. Run in the build folder; `srcdir` names the source folder. */
#include "with_policy.h"

#include <glob.h>

static const char *
source_path(const char *name)
{
	static char path[1024];
	const char *srcdir = getenv("srcdir");

	snprintf(path, sizeof(path), "%s/%s", srcdir == NULL ? "." : srcdir,
	    name);
	return path;
}

/* A whole file, NUL-terminated. */
static const char *
file_text(const char *path)
{
	static char text[1 << 16];
	FILE *file = fopen(path, "r");
	size_t count;

	if (file == NULL)
		fail_msg("cannot open %s", path);
	count = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[count] = '\0';
	return text;
}

static const char *const names[] = {
#define PROFILE(id, name) name,
#include "policy/words.def"
};

CASE(test_shipped_files)
{
	char name[64];
	size_t i;

	for (i = 0; i < COUNT(names); i++) {
		snprintf(name, sizeof(name), "policy/profiles/%s.policy",
		    names[i]);
		assert_string_equal(ac_policy_profile_text(names[i]),
		    file_text(source_path(name)));
	}
	assert_null(ac_policy_profile_text("ampp"));
	assert_null(ac_policy_profile_text(""));
}

/* A profile is a policy text like any other, without a single complaint. */
CASE(test_texts)
{
	struct ac_policy *policy;
	char text[64], line[256];
	size_t i;

	for (i = 0; i < COUNT(names); i++) {
		ac_policy_destroy(parse_good(ac_policy_profile_text(names[i])));
		assert_null(strstr(said_buffer, "warning"));
		snprintf(text, sizeof(text), "otherwise %s", names[i]);
		policy = parse_good(text);
		assert_int_equal(problems.warnings, 0);
		ac_policy_destroy(policy);
		snprintf(line, sizeof(line), "set workspace=1Gi\n"
		    "gemm -> keep\notherwise %s", names[i]);
		ac_policy_destroy(parse_good(line));
	}
}

CASE(test_decisions)
{
	static const struct {
		const char *profile, *large, *small, *t4, *conv, *solver;
	} rows[] = {
		{ "off", "keep: rule", "keep: rule", "keep: rule",
		  "keep: rule", "keep: rule" },
		{ "tf32", "tf32 library", "tf32 library", "keep: unsupported",
		  "tf32 library", "tf32 library" },
		{ "fp16", "fp16 cast", "fp16 cast", "fp16 cast",
		  "tf32 library", "fp16 cast" },
		{ "bf16", "bf16 library", "bf16 library", "keep: unsupported",
		  "keep: unsupported", "bf16 library" },
		{ "accurate", "keep: no-profit", "keep: too-small",
		  "keep: no-profit", "keep: rule", "keep: no-profit" },
		{ "amp", "fp16 cast", "keep: too-small", "fp16 cast",
		  "tf32 library", "keep: no-profit" },
	};
	const struct ac_op large = product(AC_OP_GEMM_SINGLE, 512, 512, 512,
	    90);
	const struct ac_op small = product(AC_OP_GEMM_SINGLE, 32, 32, 32, 90);
	const struct ac_op t4 = product(AC_OP_GEMM_STRIDED, 512, 512, 512, 75);
	const struct ac_op conv = product(AC_OP_CONV_WGRAD, 512, 512, 512, 90);
	struct ac_op solver = large;
	char text[64];
	struct ac_policy *policy;
	size_t i;

	solver.fact[AC_FACT_SOLVER] = "yes";
	for (i = 0; i < COUNT(rows); i++) {
		snprintf(text, sizeof(text), "otherwise %s", rows[i].profile);
		policy = parse_good(text);
		assert_string_equal(decided(policy, &large), rows[i].large);
		assert_string_equal(decided(policy, &small), rows[i].small);
		assert_string_equal(decided(policy, &t4), rows[i].t4);
		assert_string_equal(decided(policy, &conv), rows[i].conv);
		assert_string_equal(decided(policy, &solver), rows[i].solver);
		ac_policy_destroy(policy);
	}
}

/* Examples are there to be copied: they must be good. */
CASE(test_examples)
{
	glob_t found;
	size_t i;

	assert_int_equal(glob(source_path("examples/policies/*.policy"), 0,
	    NULL, &found), 0);
	assert_true(found.gl_pathc >= 6);
	for (i = 0; i < found.gl_pathc; i++) {
		ac_policy_destroy(parse_good(file_text(found.gl_pathv[i])));
		if (strstr(said_buffer, "never") != NULL)
			fail_msg("%s: %s", found.gl_pathv[i], said_buffer);
	}
	globfree(&found);
}

/* The shipped program's own policy: all its products but the output layer's. */
CASE(test_digits)
{
	static const int64_t recast[][3] = { { 256, 64, 64 }, { 256, 64, 256 },
		{ 64, 256, 64 }, { 256, 256, 64 }, { 256, 32, 64 } };
	static const int64_t kept[][3] = { { 10, 64, 256 }, { 256, 64, 10 },
		{ 256, 10, 64 }, { 10, 32, 256 } };
	struct ac_policy *policy = parse_good(file_text(source_path(
	    "examples/policies/digits.policy")));
	struct ac_op op;
	size_t i;

	for (i = 0; i < COUNT(recast); i++) {
		op = product(AC_OP_GEMM_SINGLE, recast[i][0], recast[i][1],
		    recast[i][2], 90);
		assert_string_equal(decided(policy, &op), "fp16 cast");
	}
	for (i = 0; i < COUNT(kept); i++) {
		op = product(AC_OP_GEMM_SINGLE, kept[i][0], kept[i][1],
		    kept[i][2], 90);
		assert_string_equal(decided(policy, &op), "keep: rule");
	}
	ac_policy_destroy(policy);
}

CASES_RUN(NULL, NULL)
