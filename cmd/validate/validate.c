/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/validate/validate.c -- autocast policy validate: does a policy's scale
 * leave a program's updates as they are? Run without it and with it; a third
 * time, without, if they differ, since some programs never compute the same
 * twice, else with the whole policy, where the scale may overflow. A stamp is
 * left where they do not differ. */
#include "cmd/run/again.h"
#include "cmd/validate/validate.h"
#include "base/env.h"
#include "report/count/stamp.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Each has a folder, and behind these is that of all statistics. */
enum run { PLAIN, SCALED, PLAIN_AGAIN, WHOLE, RUNS };
static const char *const run_names[RUNS] = { "plain run", "scaled run",
	"plain run", "recast run" };

struct validation {
	struct ac_launch  launch;
	const struct ac_program *program;
	char          **arguments, **environment;
	struct ac_chosen whole;                 /* the policy as chosen */
	bool            recasts;                /* it does more than scale */
	unsigned        scale;
	char            lines[AC_STAMP_LINES];  /* that are validated */
	char            policy[AC_STAMP_LINES + 64]; /* of the runs */
	char            folder[PATH_MAX / 2];
};

/* ---- Before the first run ---------------------------------------------- */

/* The runs have the lines and nothing else: recasting is off, but in the last
 * one. */
static int
take_lines(struct validation *v)
{
	struct ac_policy_origin origin;
	struct ac_policy *policy = ac_chosen_load(&v->launch.chosen, &origin);
	struct ac_text t = AC_TEXT_IN(v->lines);

	if (!policy)
		return ac_say(AC_EXIT_USAGE, "policy validate: the policy has "
		    "errors; nothing was started");
	v->scale = ac_policy_scale(policy);
	ac_policy_print_scaling(policy, &t);
	v->recasts = !ac_policy_is_off(policy);
	ac_policy_destroy(policy);
	if (!v->scale)
		return ac_say(AC_EXIT_USAGE, "policy validate: %s has no seed "
		    "and update lines; see autocast-policy(5)", origin.name);
	if (t.truncated)
		return ac_say(AC_EXIT_USAGE, "policy validate: the seed and "
		    "update lines of %s are longer than %d bytes",
		    origin.name, AC_STAMP_LINES);
	snprintf(v->policy, sizeof v->policy, "version 2\n%sotherwise off\n",
	    v->lines);
	v->whole = v->launch.chosen;
	return 0;
}

static int
check_state(void)
{
	struct ac_text t = AC_TEXT_OF(AC_FILE_PATH);

	if (ac_file_directory(&t, NULL))
		return 0;
	return ac_say(AC_EXIT_FAILED, "policy validate: there is no state "
	    "directory to remember it in; unset AUTOCAST_STATE=off, or set it "
	    "to a directory");
}

/* ---- The runs ---------------------------------------------------------- */

static void
name_folder(const struct validation *v, enum run run, char path_out[PATH_MAX])
{
	snprintf(path_out, PATH_MAX, "%s/%d", v->folder, (int)run);
}

/* What the user has of other runs is left in peace, and what the program prints
 * is not asked for. */
static int
run_once(struct validation *v, enum run run)
{
	char folder[PATH_MAX], state[PATH_MAX];
	int output, status, ended = 0;
	struct ac_text mode = AC_TEXT_OF(PATH_MAX + 16);

	name_folder(v, run, folder);
	name_folder(v, RUNS, state);
	output = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (output < 0 || mkdir(folder, 0700))
		return ac_say(AC_EXIT_FAILED, "policy validate: cannot write "
		    "in %s: %s", v->folder, strerror(errno));
	ac_again_environment(v->environment);
	ac_again_state(&v->launch, state);
	if (run != WHOLE)
		setenv(ac_env_rows[AC_ENV_RULES].variable, "", 1);
	setenv(ac_env_rows[AC_ENV_LOG].variable, "error", 1);
	ac_text_addf(&mode, "%s:%s", run == SCALED || run == WHOLE ? "scaled"
	    : "plain", folder);
	setenv(ac_env_rows[AC_ENV_VALIDATE].variable, mode.data, 1);
	v->launch.chosen = run == WHOLE ? v->whole
	    : (struct ac_chosen){ .policy = v->policy };
	status = ac_again_run(&v->launch, v->program, v->arguments, output,
	    &ended);
	close(output);
	return status ? status : ac_again_check("policy validate",
	    run_names[run], ended, AC_VALIDATE_RUN_FAILED);
}

static void
end(struct validation *v)
{
	char path[PATH_MAX];

	ac_again_environment(v->environment);
	if (!*v->folder)
		return;
	for (enum run run = 0; run <= RUNS; run++) {
		name_folder(v, run, path);
		ac_launch_remove(path);
	}
	ac_launch_remove(v->folder);
}

/* ---- The verdict ------------------------------------------------------- */

static int
accept(const struct validation *v, const struct ac_trace_result *result)
{
	const struct ac_stamp stamp = { .lines = ac_stamp_of_lines(v->lines),
		.program = result->program };

	if (!result->program || !ac_stamp_leave(&stamp,
	    result->modules, v->lines))
		return ac_say(AC_EXIT_FAILED, "policy validate: good, but it "
		    "cannot be remembered: %s", strerror(errno));
	printf("validated with a scale of 2^%u: %zu seeds and %zu updates, bit "
	    "for bit as without\n", v->scale, result->seeds, result->updates);
	ac_validate_print_others(result);
	return ac_say_done();
}

/* What was found good before is so no longer, once a run shows otherwise; but
 * one that is not the same twice shows nothing. */
static int
refuse(const struct validation *v, const struct ac_trace_result *result,
    bool reproducible)
{
	const struct ac_stamp stamp = { .lines = ac_stamp_of_lines(v->lines),
		.program = result->program };
	const int status = ac_validate_refuse(result, v->scale, reproducible);

	if (status == AC_EXIT_FAILED)
		return ac_say(status, "policy validate: what the runs left in "
		    "%s cannot be read", v->folder);
	if (reproducible && (result->verdict == AC_TRACE_UNFIT
	    || result->verdict == AC_TRACE_OTHER_CALLS
	    || result->verdict == AC_TRACE_OTHER_UPDATE
	    || result->verdict == AC_TRACE_OVERFLOW)
	    && ac_stamp_remove(&stamp))
		(void)ac_say(0, "policy validate: this program was validated "
		    "before with these lines; that counts no longer");
	return status;
}

/* What is the same without recasts may be too large for FP16 with them. */
static int
try_whole(struct validation *v, const char *plain,
    struct ac_trace_result *result)
{
	char whole[PATH_MAX];
	const uint64_t program = result->program;
	const int status = run_once(v, WHOLE);

	name_folder(v, WHOLE, whole);
	if (!status && ac_trace_overflows(plain, whole, result))
		result->program = program;
	return status;
}

/* 0 and a result, or an exit status. */
static int
find_out(struct validation *v, struct ac_trace_result *result,
    bool *reproducible)
{
	char plain[PATH_MAX], other[PATH_MAX];
	struct ac_trace_result again;
	int status = run_once(v, PLAIN);

	if (!status)
		status = run_once(v, SCALED);
	if (status)
		return status;
	name_folder(v, PLAIN, plain);
	name_folder(v, SCALED, other);
	ac_trace_compare(plain, other, result);
	if (result->verdict == AC_TRACE_SAME && v->recasts)
		return try_whole(v, plain, result);
	if (result->verdict != AC_TRACE_OTHER_CALLS
	    && result->verdict != AC_TRACE_OTHER_UPDATE)
		return 0;
	status = run_once(v, PLAIN_AGAIN);
	name_folder(v, PLAIN_AGAIN, other);
	ac_trace_compare(plain, other, &again);
	if (again.verdict == AC_TRACE_OTHER_CALLS
	    || again.verdict == AC_TRACE_OTHER_UPDATE) {
		*reproducible = false;
		*result = again;
	}
	return status;
}

static int
carry_out(struct validation *v)
{
	struct ac_trace_result result;
	bool reproducible = true;
	int status;

	ac_child_catch();
	status = ac_again_streams("policy validate");
	if (!status)
		status = ac_again_folder("policy validate", v->folder,
		    sizeof v->folder);
	if (!status)
		status = find_out(v, &result, &reproducible);
	end(v);
	if (ac_child_caught())
		return ac_child_exit(ac_child_caught()); /* by that signal */
	ac_child_release();
	if (status)
		return status;
	return result.verdict == AC_TRACE_SAME ? accept(v, &result)
	    : refuse(v, &result, reproducible);
}

/* ---- The verb ---------------------------------------------------------- */

static int
run(const struct ac_command *self, char **arguments)
{
	static struct validation v;
	static struct ac_program program;
	struct ac_arguments a = { .command = self, .next = arguments };
	int option, status;

	v.program = &program;
	v.environment = environ;
	do {
		option = ac_arguments_next(&a);
	} while (ac_launch_take(&v.launch, option, a.value));
	if (option == AC_ARGUMENT_END)
		return ac_say(AC_EXIT_USAGE, "policy validate: the program is "
		    "missing; try 'autocast policy validate --policy FILE -- "
		    "./program'");
	if (option != AC_ARGUMENT_OPERAND)
		return a.status;
	v.arguments = a.next - 1;
	status = ac_launch_check_model(&v.launch, self->name);
	if (!status)
		status = take_lines(&v);
	if (!status)
		status = check_state();
	if (!status)
		status = ac_launch_find(&v.launch, *v.arguments, &program);
	return status ? status : carry_out(&v);
}

const struct ac_command ac_command_validate = {
	.name = "policy validate",
	.operands = "[--] PROGRAM [ARGUMENT]...",
	.summary = "Find out whether a policy's seed and update lines fit a "
	    "program.",
	.details = "The program runs twice without recasts, and once more if "
	    "it must. The exit status\nis 0 when its updates are the same bit "
	    "for bit, which is remembered, 1 when they\nare not, 3 when a run "
	    "failed, 2 when an option or the policy is wrong, 125 to\n127 as "
	    "for 'autocast run'.\n",
	.ends_at_operand = true,
	.options = {
		AC_POLICY_OPTIONS,
		{ AC_LAUNCH_EMULATE, "emulate", "[=MODEL]",
		    "on an emulated GPU, see 'autocast run --help'" },
	},
	.run = run
};
