/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/test_load.c -- which policy is in force, and the words that say
 * why. Compiles load.c itself, with the system's files in a temporary
 * folder. */
static char folder[] = "/tmp/ac_load_XXXXXX";
static char system_preload[64];

#undef SYSCONFDIR
#define SYSCONFDIR folder
#define AC_SYSTEM_PRELOAD system_preload
#include "policy/load.c"

#include "with_policy.h"

#include <sys/stat.h>

static void
write_file(const char *name, const char *text)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

static void
make_path(const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	assert_int_equal(mkdir(path, 0755), 0);
}

static void
remove_path(const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	assert_int_equal(remove(path), 0);
}

static struct ac_policy_origin origin;

static struct ac_policy *
load_policy(const char *chosen, const char *rules)
{
	ac_text_init(&said, said_buffer, sizeof(said_buffer));
	problems = (struct ac_policy_problems){ .text = &said };
	memset(&origin, 0xff, sizeof(origin));
	return ac_policy_load(chosen, rules, &problems, &origin);
}

/* What comes of `chosen`: the name (without the folder) and the words. */
static void
check(const char *chosen, const char *name, const char *why, bool is_chosen)
{
	struct ac_policy *policy = load_policy(chosen, NULL);
	const char *shown = origin.name;

	if (policy == NULL)
		fail_msg("refused: %s", said_buffer);
	if (strncmp(shown, folder, strlen(folder)) == 0)
		shown += strlen(folder);
	assert_string_equal(shown, name);
	assert_string_equal(origin.why, why);
	assert_int_equal(origin.chosen, is_chosen);
	ac_policy_destroy(policy);
}

static int
clean(void **state)
{
	(void)state;
	unsetenv("AUTOCAST_POLICY");
	unsetenv("AUTOCAST_RULES");
	unsetenv("XDG_CONFIG_HOME");
	unsetenv("LD_PRELOAD");
	setenv("HOME", "/nonexistent", 1);
	return 0;
}

static void
test_order(void **state)
{
	char path[128];

	(void)state;
	check(NULL, "amp", "nobody chose a policy: this is the default",
	    false);
	make_path("autocast");
	write_file("autocast/policy", "gemm -> tf32\n");
	check(NULL, "/autocast/policy", "the system's policy file", true);

	make_path("home");
	make_path("home/.config");
	make_path("home/.config/autocast");
	write_file("home/.config/autocast/policy", "gemm -> fp16\n");
	snprintf(path, sizeof(path), "%s/home", folder);
	setenv("HOME", path, 1);
	check(NULL, "/home/.config/autocast/policy", "the user's policy file",
	    true);
	make_path("xdg");
	make_path("xdg/autocast");
	snprintf(path, sizeof(path), "%s/xdg", folder);
	setenv("XDG_CONFIG_HOME", path, 1);
	/* XDG_CONFIG_HOME replaces ~/.config, it is not searched before it. */
	check(NULL, "/autocast/policy", "the system's policy file", true);
	write_file("xdg/autocast/policy", "gemm -> bf16\n");
	check(NULL, "/xdg/autocast/policy", "the user's policy file", true);
	setenv("XDG_CONFIG_HOME", "relative", 1);
	check(NULL, "/home/.config/autocast/policy", "the user's policy file",
	    true);

	setenv("AUTOCAST_POLICY", "tf32", 1);
	check(NULL, "tf32", "AUTOCAST_POLICY names this profile", true);
	check("fp16", "fp16", "--policy names this profile", true);
	setenv("AUTOCAST_POLICY", "", 1);
	check(NULL, "/home/.config/autocast/policy", "the user's policy file",
	    true);
	remove_path("autocast/policy");
	setenv("HOME", "relative", 1);
	check(NULL, "amp", "nobody chose a policy: this is the default",
	    false);
}

static void
test_values(void **state)
{
	const struct ac_op op = product(AC_OP_GEMM_SINGLE, 512, 512, 512, 90);
	char path[128];
	struct ac_policy *policy;
	struct ac_decision d;

	(void)state;
	check("gemm -> fp16", "--policy", "--policy holds policy text", true);
	setenv("AUTOCAST_POLICY", "gemm -> keep\n* -> fp61", 1);
	assert_null(load_policy(NULL, NULL));
	assert_string_equal(origin.name, "AUTOCAST_POLICY");
	assert_string_equal(said_buffer,
	    "AUTOCAST_POLICY:2:6: unknown action 'fp61' (did you mean "
	    "'fp16'?)\n"
	    "  * -> fp61\n"
	    "       ^\n");
	write_file("mine", "gemm -> bf16\n");
	snprintf(path, sizeof(path), "%s/mine", folder);
	setenv("AUTOCAST_POLICY", path, 1);
	check(NULL, "/mine", "AUTOCAST_POLICY names this file", true);
	policy = load_policy(NULL, NULL);
	ac_policy_decide(policy, &op, &d);
	assert_int_equal(d.rung, AC_RUNG_BF16);
	assert_string_equal(d.source, path);
	ac_policy_destroy(policy);
	policy = load_policy("amp", NULL);
	ac_policy_decide(policy, &op, &d);
	assert_string_equal(d.source, "amp");
	assert_int_equal(d.line, 4);
	ac_policy_destroy(policy);
}

/* `./fp16` is a file, even where a profile has that name. */
static void
test_forced_file(void **state)
{
	char before[1024];

	(void)state;
	assert_non_null(getcwd(before, sizeof(before)));
	assert_int_equal(chdir(folder), 0);
	write_file("fp16", "gemm -> keep\n");
	check("./fp16", "./fp16", "--policy names this file", true);
	check("fp16", "fp16", "--policy names this profile", true);
	check("mine", "mine", "--policy names this file", true);
	assert_int_equal(chdir(before), 0);
}

static void
test_refused(void **state)
{
	(void)state;
	assert_null(load_policy("fp61", NULL));
	assert_string_equal(said_buffer, "--policy: 'fp61' is neither a "
	    "profile nor a file (did you mean 'fp16'?)\n");
	assert_int_equal(problems.errors, 1);
	assert_string_equal(origin.name, "fp61");
	setenv("AUTOCAST_POLICY", "nonsense", 1);
	assert_null(load_policy(NULL, NULL));
	assert_string_equal(said_buffer, "AUTOCAST_POLICY: 'nonsense' is "
	    "neither a profile nor a file\n");
	assert_null(load_policy("/nonexistent/p", NULL));
	assert_string_equal(said_buffer,
	    "/nonexistent/p: there is no such file\n");
	assert_null(load_policy("", NULL));
	assert_string_equal(said_buffer,
	    "--policy: '' is neither a profile nor a file\n");
}

/* A user's policy that is there but broken is never passed over in silence. */
static void
test_broken_user_file(void **state)
{
	char path[128];

	(void)state;
	snprintf(path, sizeof(path), "%s/broken", folder);
	make_path("broken");
	make_path("broken/autocast");
	make_path("broken/autocast/policy");
	setenv("XDG_CONFIG_HOME", path, 1);
	assert_null(load_policy(NULL, NULL));
	assert_non_null(strstr(said_buffer, "policy: is a directory\n"));
	assert_string_equal(origin.why, "the user's policy file");
}

static void
test_rules(void **state)
{
	const struct ac_op op = product(AC_OP_GEMM_SINGLE, 512, 512, 512, 90);
	struct ac_policy *policy;
	struct ac_decision d;

	(void)state;
	policy = load_policy("amp", "gemm m=512 -> bf16 tol=8e-3");
	ac_policy_decide(policy, &op, &d);
	assert_int_equal(d.rung, AC_RUNG_BF16);
	assert_string_equal(d.source, "-e");
	ac_policy_destroy(policy);
	setenv("AUTOCAST_RULES", "gemm -> keep", 1);
	policy = load_policy("amp", NULL);
	ac_policy_decide(policy, &op, &d);
	assert_int_equal(d.reason, AC_REASON_RULE);
	ac_policy_destroy(policy);
	policy = load_policy("amp", "");
	ac_policy_decide(policy, &op, &d);
	assert_int_equal(d.reason, AC_REASON_NONE);
	ac_policy_destroy(policy);
	/* -e settings win over the profile's own. */
	policy = load_policy("amp", "set tol=2e-3");
	ac_policy_decide(policy, &op, &d);
	assert_true(d.tol == 2e-3);
	ac_policy_destroy(policy);
}

/* A library that is in every process by the administrator's wish recasts
 * nobody who did not ask. */
static void
test_preloaded_for_all(void **state)
{
	(void)state;
	write_file("ld.so.preload", "/usr/lib/libother.so\n");
	check(NULL, "amp", "nobody chose a policy: this is the default",
	    false);
	write_file("ld.so.preload", "/usr/lib/autocast/libautocast.so\n");
	check(NULL, "off", "nobody chose a policy, and /etc/ld.so.preload "
	    "alone asks for none", false);
	setenv("LD_PRELOAD", "/usr/lib/autocast/libautocast.so", 1);
	check(NULL, "amp", "nobody chose a policy: this is the default",
	    false);
	unsetenv("LD_PRELOAD");
	setenv("AUTOCAST_POLICY", "amp", 1);
	check(NULL, "amp", "AUTOCAST_POLICY names this profile", true);
	remove_path("ld.so.preload");
}

static int
make_folder(void **state)
{
	(void)state;
	if (mkdtemp(folder) == NULL)
		return 1;
	snprintf(system_preload, sizeof(system_preload), "%s/ld.so.preload",
	    folder);
	return 0;
}

static int
remove_folder(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_order, clean),
		cmocka_unit_test_setup(test_values, clean),
		cmocka_unit_test_setup(test_forced_file, clean),
		cmocka_unit_test_setup(test_refused, clean),
		cmocka_unit_test_setup(test_broken_user_file, clean),
		cmocka_unit_test_setup(test_rules, clean),
		cmocka_unit_test_setup(test_preloaded_for_all, clean),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
