/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/tune/tune.c -- autocast tune: learn in one run what each rung would do,
 * choose, and run it: mostly that is all. */
#include "cmd/tune/tune.h"
#include "policy/language/names.h"

#include <stdlib.h>
#include <string.h>

enum { OPT_TOL = AC_TUNE_OWN, OPT_RUNGS };
enum { DEFAULT_RUNS = 12, POLICY_BYTES = 1 << 20 };

static const char usual_rungs[] = "fp16,tf32,fp16x3,bf16x3";

/* ---- The command line ---------------------------------------------------- */

static int
take_tol(struct ac_tune *t, const char *typed)
{
	t->tol = ac_arguments_number(typed, 0, 1);
	if (t->tol > 0)
		return 0;
	return ac_say(AC_EXIT_USAGE, "tune: --tol %s: what relative error of a "
	    "product will do? 1e-3, for example", typed);
}

static int
take_rungs(struct ac_tune *t, const char *typed)
{
	size_t length;
	int count = 0;

	for (const char *c = typed; count >= 0; c += length + 1) {
		length = strcspn(c, ",");
		count = ac_name_find(c, length, ac_rung_names, AC_RUNG_COUNT)
		    > AC_RUNG_KEEP ? count + 1 : -1;
		if (!c[length])
			break;
	}
	t->rungs = typed;
	if (count > 0 && count <= AC_CANDIDATES)
		return 0;
	return ac_say(AC_EXIT_USAGE, "tune: --rungs %s: which ones, %d at "
	    "most? %s, for example", typed, (int)AC_CANDIDATES, usual_rungs);
}

static int
take_option(struct ac_tune *t, int option, const char *value)
{
	switch (option) {
	case OPT_TOL:
		return take_tol(t, value);
	case OPT_RUNGS:
		return take_rungs(t, value);
	default:
		return ac_tune_take(t, option, value);
	}
}

/* ---- Learning ------------------------------------------------------------ */

/* All products and convolutions are the program's own, and measured. */
static void
add_learning(struct ac_text *text, const struct ac_tune *t)
{
	ac_text_addf(text, "set learn=on\n* -> %s", t->rungs ? t->rungs
	    : usual_rungs);
}

static int
learn_anew(struct ac_tune *t, const char *policy)
{
	int status;

	t->is_learning = true;
	status = ac_tune_run(t, policy, NULL, &t->plain_exit);
	t->is_learning = false;
	if (status)
		return status;
	if (t->plain_exit >= 128)
		return ac_say(AC_TUNE_RUN_FAILED, "tune: the program ended by "
		    "signal %d, with nothing recast", t->plain_exit - 128);
	if (t->plain_exit && !t->check)
		return ac_say(AC_TUNE_RUN_FAILED, "tune: the program ended "
		    "with status %d, with nothing recast; is its command "
		    "right?", t->plain_exit);
	if (!t->last)
		return ac_tune_say_unseen(t);
	return ac_tune_take_plain(t);
}

static int
learn(struct ac_tune *t)
{
	enum ac_tune_verdict verdict;
	const double begun = ac_say_clock();
	int status = 0;
	struct ac_text text = AC_TEXT_OF(512);

	add_learning(&text, t);
	t->runs = 1;
	if (ac_tune_recall(t, 0, &verdict))
		t->report = ac_tune_learnt(t);
	if (!t->report) {
		ac_tune_tell(t, "learning: every call is the program's own");
		status = learn_anew(t, text.data);
		if (!status) {
			t->seconds = ac_say_clock() - begun;
			ac_tune_note(t, 0, t->plain_exit, AC_TUNE_GOOD,
			    t->seconds);
			t->report = ac_tune_learnt(t);
		}
	}
	if (!status && !t->report)
		status = ac_say(AC_EXIT_FAILED, "tune: what was learnt cannot "
		    "be read again");
	return status;
}

/* ---- Trying -------------------------------------------------------------- */

static void
add_head(struct ac_text *text, const struct ac_tune *t)
{
	ac_tune_add_head(text, t->report);
	ac_text_add(text, "# ");
	ac_tune_add_command(text, t);
	ac_text_add(text, "\n");
	if (t->launch.chosen.rules.data)
		ac_text_addf(text, "%s\n", t->launch.chosen.rules.data);
}

static int
try(struct ac_tune *t, const unsigned char *levels, int *exit_out)
{
	struct ac_text text = ac_say_buffer(POLICY_BYTES);
	int status;
	struct ac_text name = AC_TEXT_OF(PATH_MAX);

	ac_text_addf(&name, "%s/policy", t->base);
	ac_tune_add_policy(&text, &t->plan, levels, t->tol);
	status = ac_output_write(t->verb, name.data, text.data, text.used);
	free(text.data);
	return status ? status : ac_tune_run(t, name.data, NULL, exit_out);
}

/* ---- The end ------------------------------------------------------------- */

/* The policy goes to the file, or to the standard output unless JSON does. */
static int
write_policy(const struct ac_tune *t, const unsigned char *levels)
{
	struct ac_text text = ac_say_buffer(POLICY_BYTES);
	struct ac_output output;
	int status = 0;

	add_head(&text, t);
	ac_tune_add_policy(&text, &t->plan, levels, t->tol);
	if (t->file || !t->as_json)
		status = ac_output_write(t->verb, t->file, text.data,
		    text.used);
	free(text.data);
	if (!status && t->as_json) {
		if (!ac_output_open(&output, t->verb, NULL))
			return AC_EXIT_FAILED;
		ac_tune_write_json(t, levels, &output.fd);
		status = ac_output_close(&output);
	}
	return status;
}

static int
carry_out(struct ac_tune *t)
{
	unsigned char *levels;
	enum ac_tune_end end;
	int status;

	t->launch.chosen.policy = NULL; /* each run has its own */
	status = learn(t);
	if (status)
		return status;
	if (!ac_tune_plan_make(&t->plan, t->report, t->tol))
		(void)ac_say_memory(NULL);
	if (!t->plan.unit_count)
		return ac_tune_say_nothing(t);
	levels = ac_say_memory(calloc(1, t->plan.unit_count));
	end = ac_tune_loop(t, try, false, levels);
	if (end == AC_TUNE_PASSED || end == AC_TUNE_SPENT)
		status = write_policy(t, levels);
	else
		status = ac_tune_explain(t, end);
	if (!status)
		ac_tune_summarise(t, levels, end);
	free(levels);
	return status;
}

/* The policy that learns is checked with the rules, and part of the key. */
static int
check(struct ac_tune *t)
{
	static char policy[512];
	struct ac_text text = AC_TEXT_IN(policy);

	if (t->check && t->within > 0)
		return ac_say(AC_EXIT_USAGE, "tune: --check and --within both "
		    "judge a run; choose one");
	add_learning(&text, t);
	t->launch.chosen.policy = policy;
	return 0;
}

static int
run(const struct ac_command *self, char **arguments)
{
	static struct ac_tune t = { .most_runs = DEFAULT_RUNS,
	    .journal = -1 };

	return ac_tune_main(&t, self, arguments, take_option, check, carry_out);
}

const struct ac_command ac_command_tune = {
	.name = "tune",
	.operands = "[--] PROGRAM [ARGUMENT]...",
	.summary = "Find the policy that makes a program fastest and keeps it "
	    "right.",
	.details = "One run measures every rung next to the program's own "
	    "calls, one tries\nwhat that leads to; more come only where the "
	    "check fails. The exit status is\n0 with a policy, 1 when nothing "
	    "gains, 3 when a run or the check failed,\n2 when an option is "
	    "wrong, 125 to 127 as for 'autocast run'.\n",
	.ends_at_operand = true,
	.options = {
		{ AC_TUNE_CHECK, "check", "CMD", "a shell command that says "
		    "whether a run was good:\n0, 125 (cannot tell), else bad; "
		    "in a folder with stdout,\nstderr and --files" },
		{ AC_TUNE_WITHIN, "within", "X%", "or: no number of the output "
		    "moves by more" },
		{ AC_TUNE_FILES, "files", "GLOB", "files that the program "
		    "writes; repeatable" },
		{ OPT_TOL, "tol", "E", "error that a call may have "
		    "(default: each rung's own)" },
		{ OPT_RUNGS, "rungs", "LIST", "rungs to try, four at most "
		    "(fp16,tf32,fp16x3,bf16x3)" },
		{ AC_TUNE_RUNS, "runs", "N", "so many runs at most (default "
		    "12)" },
		{ AC_TUNE_TIME, "time", "MIN", "so many minutes at most" },
		{ 'e', NULL, "RULE",
		    "a policy line before all others; repeatable" },
		{ AC_LAUNCH_EMULATE, "emulate", "[=MODEL]",
		    "on an emulated GPU, see 'autocast run --help'" },
		{ 'o', NULL, "FILE", "write the policy there" },
		{ AC_TUNE_FRESH, "fresh", NULL, "forget the runs of an earlier "
		    "start" },
		{ AC_TUNE_JSON, "json", NULL, "what was found, as JSON" },
	},
	.run = run
};
