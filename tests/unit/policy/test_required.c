/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/policy/test_required.c -- lines that a site requires stand before
 * whatever a user chooses, but for the profile `off`. */
/* The loader itself, looking in a folder of this test. */
#define SYSCONFDIR "etc"
#include "policy/language/load.c"

#include "with_policy.h"

#include <sys/stat.h>

static char folder[] = "/tmp/test_required.XXXXXX";

static void
write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

static int
set_up(void **state)
{
	if (!mkdtemp(folder) || chdir(folder))
		return 1;
	setenv("XDG_CONFIG_HOME", folder, 1);
	unsetenv("AUTOCAST_POLICY");
	unsetenv("AUTOCAST_RULES");
	return mkdir("etc", 0700) || mkdir("etc/autocast", 0700)
	    || mkdir("autocast", 0700);
}

static int
tear_down(void **state)
{
	static const char *const left[] = { "etc/autocast/required-policy",
		"etc/autocast/policy", "autocast/policy", "mine" };

	for (size_t i = 0; i < sizeof left / sizeof *left; i++)
		(void)unlink(left[i]);
	return rmdir("etc/autocast") || rmdir("etc") || rmdir("autocast")
	    || rmdir(folder);
}

/* The rung for a product of 1000x1000x1000, and where its line is. */
static enum ac_rung
rung_of(const char *chosen, const char *rules, const char **source_out)
{
	char buffer[1024];
	struct ac_text said_here;
	struct ac_policy_problems found = { .text = &said_here };
	struct ac_policy_origin origin;
	struct ac_policy *policy;
	const struct ac_op op = product(AC_OP_GEMM_SINGLE, 1000, 1000,
	    1000, 90);
	struct ac_decision decision;
	static char source[64];
	struct ac_text text;

	ac_text_init(&said_here, buffer, sizeof buffer);
	policy = ac_policy_load(chosen, rules, &found, &origin);
	if (!policy)
		fail_msg("%s: %s", chosen ? chosen : "", buffer);
	ac_policy_decide(policy, &op, &decision);
	ac_text_init(&text, source, sizeof source);
	ac_text_add(&text, decision.source);
	*source_out = source;
	ac_policy_destroy(policy);
	return decision.rung;
}

CASE(test_before_all)
{
	static const char *const chosen[] = { NULL, "fp16", "gemm -> fp16",
		"./mine" };
	const char *source;

	write_file("mine", "gemm -> fp16 profit=off\n");
	write_file("etc/autocast/required-policy",
	    "set profit=off\ngemm m>=1000 -> tf32\n");
	for (size_t i = 0; i < sizeof chosen / sizeof *chosen; i++) {
		assert_int_equal(rung_of(chosen[i], "gemm -> fp16", &source),
		    AC_RUNG_TF32);
		assert_string_equal(source, "etc/autocast/required-policy");
	}
	write_file("autocast/policy", "gemm -> fp16\n");
	assert_int_equal(rung_of(NULL, "", &source), AC_RUNG_TF32);
	setenv("AUTOCAST_POLICY", "fp16", 1);
	assert_int_equal(rung_of(NULL, "", &source), AC_RUNG_TF32);
	unsetenv("AUTOCAST_POLICY");
}

CASE(test_off_is_off)
{
	const char *source;

	write_file("etc/autocast/required-policy", "gemm -> bf16 profit=off\n");
	assert_int_equal(rung_of("off", "", &source), AC_RUNG_KEEP);
	setenv("AUTOCAST_POLICY", "off", 1);
	assert_int_equal(rung_of(NULL, "", &source), AC_RUNG_KEEP);
	unsetenv("AUTOCAST_POLICY");
}

CASE(test_what_it_may_not_say)
{
	char buffer[1024];
	struct ac_text text;
	struct ac_policy_problems found = { .text = &text };
	struct ac_policy_origin origin;

	ac_text_init(&text, buffer, sizeof buffer);
	write_file("etc/autocast/required-policy", "otherwise fp16\n");
	assert_null(ac_policy_load("amp", "", &found, &origin));
	assert_non_null(strstr(buffer, "etc/autocast/required-policy:1:1: "
	    "'otherwise' here, before the policy, would hide it"));
}

static void
tell(const char *path, bool is_there, void *context)
{
	struct ac_text *text = context;

	ac_text_addf(text, "%s%s\n", path, is_there ? "" : " no");
}

CASE(test_places)
{
	char buffer[1024], wanted[1024];
	struct ac_text text;

	ac_text_init(&text, buffer, sizeof buffer);
	write_file("etc/autocast/required-policy", "gemm -> keep\n");
	(void)unlink("autocast/policy");
	ac_policy_places(tell, &text);
	snprintf(wanted, sizeof wanted, "etc/autocast/required-policy\n"
	    "%s/autocast/policy no\netc/autocast/policy no\n", folder);
	assert_string_equal(buffer, wanted);
}

CASES_RUN(set_up, tear_down)
