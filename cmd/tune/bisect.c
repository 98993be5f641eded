/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/tune/bisect.c -- autocast bisect: which sites must be kept under a
 * policy, so that a check passes. */
#include "cmd/tune/tune.h"

#include <stdlib.h>
#include <string.h>

enum { DEFAULT_RUNS = 30, LINES_BYTES = 1 << 18 };

/* ---- Runs ---------------------------------------------------------------- */

/* Without levels under the policy as it is, which shows what it recasts. */
static int
try(struct ac_tune *t, const unsigned char *levels, int *exit_out)
{
	struct ac_text lines = ac_say_buffer(LINES_BYTES);
	int status;

	ac_tune_add_kept(&lines, &t->plan, levels);
	if (lines.used)
		lines.data[lines.used - 1] = '\0';
	t->is_learning = !levels;
	status = ac_tune_run(t, NULL, lines.used ? lines.data : NULL, exit_out);
	t->is_learning = false;
	free(lines.data);
	return status;
}

/* The program as it is: what its outputs are held against. */
static int
try_plain(struct ac_tune *t)
{
	const double begun = ac_say_clock();
	enum ac_tune_verdict verdict;
	int status;

	t->runs = 1;
	if (ac_tune_recall(t, 0, &verdict))
		return 0;
	ac_tune_tell(t, "the plain program");
	status = ac_tune_run_plain(t, &t->plain_exit);
	if (!status)
		status = ac_tune_take_plain(t);
	if (status)
		return status;
	t->seconds = ac_say_clock() - begun;
	ac_tune_note(t, 0, t->plain_exit, AC_TUNE_GOOD, t->seconds);
	return 0;
}

static int
try_policy(struct ac_tune *t, enum ac_tune_verdict *verdict_out)
{
	*verdict_out = ac_tune_verdict_of(t, try, NULL);
	if (*verdict_out >= AC_TUNE_FAILED)
		return ac_tune_explain(t, ac_tune_end_without(*verdict_out));
	if (*verdict_out == AC_TUNE_GOOD)
		return 0;
	t->report = ac_tune_learnt(t);
	if (!t->report)
		return ac_say(AC_TUNE_RUN_FAILED, "bisect: the program fails, "
		    "but nothing of it was recast");
	return ac_tune_plan_recast(&t->plan, t->report) ? 0
	    : ac_say(AC_EXIT_FAILED, "out of memory");
}

/* ---- Telling ------------------------------------------------------------- */

static int
tell(const struct ac_tune *t, const unsigned char *levels, enum ac_tune_end end)
{
	struct ac_text text = ac_say_buffer(LINES_BYTES);
	size_t kept = 0;
	int status;

	for (size_t i = 0; i < t->plan.unit_count; i++) {
		const struct ac_site_total *site = t->plan.units[i]->row
		    ->rungs[0];

		if (levels[i] != AC_TUNE_KEPT)
			continue;
		kept++;
		ac_text_addf(&text, "# %s %s on %s, %s of the work\n",
		    AC_SAID(ac_site_add_what, site),
		    AC_SAID(ac_site_add_caller, t->report, site),
		    ac_rung_names[site->rung],
		    AC_SHARE(t->plan.units[i]->row->share, 1));
	}
	ac_tune_add_kept(&text, &t->plan, levels);
	status = ac_output_write(t->verb, t->file, text.data, text.used);
	free(text.data);
	return status ? status : ac_say(AC_TUNE_FOUND, "bisect: %u runs: the "
	    "check passes with %zu of %zu sites kept%s", t->runs, kept,
	    t->plan.unit_count, end == AC_TUNE_SPENT ? "; no runs were left to "
	    "keep fewer" : "");
}

static int
carry_out(struct ac_tune *t)
{
	enum ac_tune_verdict verdict = AC_TUNE_FAILED;
	unsigned char *levels;
	enum ac_tune_end end;
	int status = try_plain(t);

	if (status)
		return status;
	status = try_policy(t, &verdict);
	if (status)
		return status;
	if (verdict == AC_TUNE_GOOD)
		return ac_say(AC_TUNE_NOTHING, "bisect: the check passes under "
		    "this policy: there is nothing to find");
	levels = ac_say_memory(calloc(1, t->plan.unit_count + 1));
	end = ac_tune_loop(t, try, true, levels);
	status = end == AC_TUNE_PASSED || end == AC_TUNE_SPENT
	    ? tell(t, levels, end) : ac_tune_explain(t, end);
	free(levels);
	return status;
}

static int
check(struct ac_tune *t)
{
	if ((t->check != NULL) != (t->within > 0))
		return 0;
	return ac_say(AC_EXIT_USAGE, "bisect: what says whether a run was "
	    "good? --check CMD or --within X%%, one of them");
}

static int
run(const struct ac_command *self, char **arguments)
{
	static struct ac_tune t = { .most_runs = DEFAULT_RUNS,
	    .journal = -1 };

	return ac_tune_main(&t, self, arguments, ac_tune_take, check,
	    carry_out);
}

const struct ac_command ac_command_bisect = {
	.name = "bisect",
	.operands = "[--] PROGRAM [ARGUMENT]...",
	.summary = "Find which sites a policy must keep for a check to pass.",
	.details = "Prints lines to put before the policy's. The exit status "
	    "is 0 with such lines,\n1 when the check passes without, 3 when "
	    "the plain program fails or verdicts\ncontradict each other, 2 "
	    "when an option is wrong, 125 to 127 as for 'autocast run'.\n",
	.ends_at_operand = true,
	.options = {
		AC_POLICY_OPTIONS,
		{ AC_TUNE_CHECK, "check", "CMD", "as of 'autocast tune'" },
		{ AC_TUNE_WITHIN, "within", "X%", "as of 'autocast tune'" },
		{ AC_TUNE_FILES, "files", "GLOB", "files that the program "
		    "writes; repeatable" },
		{ AC_TUNE_RUNS, "runs", "N", "so many runs at most (default "
		    "30)" },
		{ AC_TUNE_TIME, "time", "MIN", "so many minutes at most" },
		{ AC_LAUNCH_EMULATE, "emulate", "[=MODEL]",
		    "on an emulated GPU, see 'autocast run --help'" },
		{ 'o', NULL, "FILE", "write the lines there" },
		{ AC_TUNE_FRESH, "fresh", NULL, "forget the runs of an earlier "
		    "start" },
	},
	.run = run
};
