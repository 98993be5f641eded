/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/tune/tune_verb.c -- what `tune` and `bisect` share: options, folders, and
 * what became of the search. */
#include "cmd/tune/tune.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MOST_RUNS = 1000, GLOBS = sizeof ((struct ac_tune *)0)->globs
	/ sizeof *((struct ac_tune *)0)->globs };

static int
take_within(struct ac_tune *t, const char *typed)
{
	const size_t length = strcspn(typed, "%");
	struct ac_text number = AC_TEXT_OF(32);

	ac_text_add_bytes(&number, typed, length);
	t->within = ac_arguments_number(number.data, 0, 100);
	if (t->within <= 0 || (typed[length] && strcmp(typed + length, "%")))
		return ac_say(AC_EXIT_USAGE, "%s: --within %s: by how much may "
		    "a number move? 1%% or 0.01, for example", t->verb, typed);
	if (!typed[length] && t->within >= 1)
		return ac_say(AC_EXIT_USAGE, "%s: --within %s: write %s%% or "
		    "%s%%, as you mean it", t->verb, typed, typed,
		    AC_DOUBLE(100 * t->within, 4));
	if (typed[length])
		t->within /= 100;
	return 0;
}

static int
take_runs(struct ac_tune *t, const char *typed)
{
	const double runs = ac_arguments_whole(typed, 2, MOST_RUNS);

	if (runs < 0)
		return ac_say(AC_EXIT_USAGE, "%s: --runs %s: how many runs at "
		    "most? 2 to %d", t->verb, typed, MOST_RUNS);
	t->most_runs = (unsigned)runs;
	return 0;
}

static int
take_time(struct ac_tune *t, const char *typed)
{
	const double minutes = ac_arguments_number(typed, 0, 1e6);

	if (minutes <= 0)
		return ac_say(AC_EXIT_USAGE, "%s: --time %s: how many minutes "
		    "at most?", t->verb, typed);
	t->most_seconds = minutes * 60;
	return 0;
}

static int
take_files(struct ac_tune *t, const char *typed)
{
	if (!*typed || t->glob_count == GLOBS)
		return ac_say(AC_EXIT_USAGE, "%s: --files needs a name, and is "
		    "given %d times at most", t->verb, (int)GLOBS);
	t->globs[t->glob_count++] = typed;
	return 0;
}

int
ac_tune_take(struct ac_tune *t, int option, const char *value)
{
	switch (option) {
	case AC_TUNE_CHECK:
		t->check = value;
		return *value ? 0 : ac_say(AC_EXIT_USAGE,
		    "%s: --check needs a command", t->verb);
	case AC_TUNE_WITHIN:
		return take_within(t, value);
	case AC_TUNE_FILES:
		return take_files(t, value);
	case AC_TUNE_RUNS:
		return take_runs(t, value);
	case AC_TUNE_TIME:
		return take_time(t, value);
	case AC_TUNE_FRESH:
		t->is_fresh = true;
		return 0;
	case AC_TUNE_JSON:
		t->as_json = true;
		return 0;
	case 'o':
		t->file = value;
		return 0;
	default:
		(void)ac_launch_take(&t->launch, option, value);
		return 0;
	}
}

/* 0 also where a->status is set; else an exit status after one line. */
static int
read_options(struct ac_tune *t, struct ac_arguments *a, ac_tune_taker take)
{
	int option, status = 0;

	t->verb = a->command->name;
	t->environment = environ;
	while (!status && (option = ac_arguments_next(a)) > 0)
		status = take(t, option, a->value);
	if (status || option == AC_ARGUMENT_STOP)
		return status;
	if (option == AC_ARGUMENT_END)
		return ac_say(AC_EXIT_USAGE, "%s: the program is missing; try "
		    "'autocast %s --check ./check -- ./program'", t->verb,
		    t->verb);
	t->arguments = a->next - 1;
	return 0;
}

/* Once the program is known: folders, and what is remembered. */
static int
begin(struct ac_tune *t)
{
	int status = ac_again_streams(t->verb);

	if (!status)
		status = ac_output_try(t->verb, t->file);
	if (!status)
		status = ac_again_folder(t->verb, t->base, sizeof t->base);
	if (status)
		return status;
	snprintf(t->folder, sizeof t->folder, "%s/run", t->base);
	status = ac_tune_remember(t);
	if (!status)
		ac_child_catch();
	return status;
}

static int
finish(struct ac_tune *t, int status)
{
	ac_tune_forget(t, status < AC_EXIT_FAILED && !ac_child_caught());
	if (*t->base)
		ac_tune_remove(t->base);
	ac_tune_files_forget(t);
	ac_tune_plan_end(&t->plan);
	ac_report_destroy(t->last);
	ac_report_destroy(t->report);
	free(t->launch.chosen.rules.data);
	if (ac_child_caught())
		return ac_child_exit(ac_child_caught()); /* by that signal */
	ac_child_release();
	return status;
}

int
ac_tune_main(struct ac_tune *t, const struct ac_command *self,
    char **arguments, ac_tune_taker take, int (*check)(struct ac_tune *t),
    int (*carry_out)(struct ac_tune *t))
{
	struct ac_arguments a = { .command = self, .next = arguments,
	    .status = -1 };
	int status = read_options(t, &a, take);

	if (a.status >= 0)
		return a.status;
	if (!status)
		status = check(t);
	if (status)
		return status;
	status = ac_launch_check(&t->launch, t->verb, *t->arguments,
	    &t->program);
	if (!status)
		status = begin(t);
	if (!status)
		status = carry_out(t);
	return finish(t, status);
}

int
ac_tune_explain(const struct ac_tune *t, enum ac_tune_end end)
{
	switch (end) {
	case AC_TUNE_LIES:
		return ac_say(AC_TUNE_RUN_FAILED, "%s: verdicts contradict "
		    "each other: equal runs pass and fail; %s must say the "
		    "same of them", t->verb, t->check ? "the check"
		    : "the program");
	case AC_TUNE_WAVERS:
		return ac_say(AC_TUNE_RUN_FAILED, "%s: the check does not "
		    "answer the same twice about the same output: nothing can "
		    "be found with it", t->verb);
	case AC_TUNE_PLAIN_FAILS:
		return ac_say(AC_TUNE_RUN_FAILED, "%s: verdicts contradict "
		    "each other, and another plain run fails %s, which must "
		    "say the same of equal runs", t->verb, t->check
		    ? "the check" : "--within");
	default:
		return !ac_tune_compared_nothing(t) ? AC_EXIT_FAILED
		    : ac_say(AC_TUNE_RUN_FAILED, "%s: all that --within could "
		    "compare differs between two plain runs; --check can judge "
		    "what the program makes", t->verb);
	}
}

int
ac_tune_take_plain(struct ac_tune *t)
{
	const enum ac_tune_verdict verdict = t->within > 0 ? AC_TUNE_GOOD
	    : ac_tune_judge_twice(t, t->plain_exit, true);

	if (verdict >= AC_TUNE_FAILED)
		return ac_tune_explain(t, ac_tune_end_without(verdict));
	if (verdict != AC_TUNE_GOOD)
		return ac_say(AC_TUNE_RUN_FAILED, "%s: your check fails on the "
		    "plain program: nothing can be found with it", t->verb);
	if (!(t->within > 0))
		return 0;
	if (!ac_tune_has_outputs(t))
		return AC_TUNE_RUN_FAILED;
	return ac_tune_keep_plain(t, false) ? 0 : AC_EXIT_FAILED;
}

void
ac_tune_add_head(struct ac_text *text, const struct ac_report *report)
{
	const time_t now = time(NULL);
	char date[32];
	struct tm local;

	if (!localtime_r(&now, &local)
	    || !strftime(date, sizeof date, "%Y-%m-%d", &local))
		*date = '\0';
	ac_text_addf(text, "# %s, %s, %s, by\n", date,
	    AC_SAID(ac_report_add_gpu, report), report->processes[0].library);
}

void
ac_tune_add_command(struct ac_text *text, const struct ac_tune *t)
{
	ac_text_addf(text, "autocast %s", t->verb);
	if (t->check)
		ac_quotef(text, " --check %s", t->check);
	if (t->within > 0)
		ac_text_addf(text, " --within %s%%",
		    AC_DOUBLE(100 * t->within, 4));
	for (size_t i = 0; i < t->glob_count; i++)
		ac_quotef(text, " --files %s", t->globs[i]);
	if (t->tol > 0)
		ac_text_addf(text, " --tol %s", AC_DOUBLE(t->tol, 4));
	if (t->rungs)
		ac_text_addf(text, " --rungs %s", t->rungs);
	if (t->launch.emulate)
		ac_text_addf(text, " --emulate%s%s", t->launch.model ? "=" : "",
		    t->launch.model ? t->launch.model : "");
	ac_text_add(text, " --");
	ac_quote_all(text, t->arguments);
}
