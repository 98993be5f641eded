/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/compare/compare.c -- autocast compare: plain and recast in turn.
 * Everything that can be refused is refused before the first run. */
#include "cmd/run/again.h"
#include "cmd/compare/compare.h"
#include "cmd/run/compared.h"
#include "base/env.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	OPT_FILES = AC_LAUNCH_OWN, OPT_LIMIT, OPT_TOL, OPT_JSON, OPT_SHOW
};

static const double default_tol = 0.01;

/* ---- Reading the command line ------------------------------------------ */

static int
take_pairs(struct ac_comparison *compare, const char *typed)
{
	const double pairs = ac_arguments_whole(typed, 1, AC_COMPARE_PAIRS);

	if (pairs < 0)
		return ac_say(AC_EXIT_USAGE, "compare: -n %s: how many pairs "
		    "of runs? 1 to %d", typed, AC_COMPARE_PAIRS);
	compare->pairs = (size_t)pairs;
	return 0;
}

static int
take_limit(struct ac_comparison *compare, const char *typed)
{
	const double percent = ac_arguments_number(typed, 0, 1e6);

	if (percent < 0)
		return ac_say(AC_EXIT_USAGE, "compare: --limit %s: how many "
		    "percent slower may it be? 0 or more", typed);
	compare->limit = percent / 100;
	return 0;
}

static int
take_tol(struct ac_comparison *compare, const char *typed)
{
	compare->tol = ac_arguments_number(typed, 0, 2);
	if (compare->tol < 0)
		return ac_say(AC_EXIT_USAGE, "compare: --tol %s: what relative "
		    "difference of numbers will do? 0 to 2, 1e-3 for example",
		    typed);
	return 0;
}

static int
take_pattern(struct ac_comparison *compare, const char *typed)
{
	struct ac_compare_pattern *more = reallocarray(compare->patterns,
	    compare->pattern_count + 1, sizeof *more);

	if (!more)
		return ac_say(AC_EXIT_FAILED, "out of memory");
	if (!*typed)
		return ac_say(AC_EXIT_USAGE, "compare: --files needs a name");
	compare->patterns = more;
	more[compare->pattern_count++] = (struct ac_compare_pattern){ typed,
	    false };
	return 0;
}

/* One option that was read; an exit status, 0: go on. */
static int
take_option(struct ac_comparison *compare, int option, const char *value)
{
	switch (option) {
	case 'n':
		return take_pairs(compare, value);
	case OPT_FILES:
		return take_pattern(compare, value);
	case OPT_LIMIT:
		return take_limit(compare, value);
	case OPT_TOL:
		return take_tol(compare, value);
	case OPT_JSON:
		compare->json = true;
		return 0;
	case OPT_SHOW:
		compare->show = true;
		return 0;
	default:
		(void)ac_launch_take(&compare->launch, option, value);
		return 0;
	}
}

/* Read the options; 0 when the program is known. */
static int
read_options(struct ac_comparison *compare, struct ac_arguments *a)
{
	int option, status = 0;

	while (!status && (option = ac_arguments_next(a)) > 0)
		status = take_option(compare, option, a->value);
	if (status)
		return status;
	if (option == AC_ARGUMENT_STOP)
		return 0;
	if (option == AC_ARGUMENT_END)
		return ac_say(AC_EXIT_USAGE, "compare: the program is missing; "
		    "try 'autocast compare -- ./program'");
	if (compare->show && compare->json)
		return ac_say(AC_EXIT_USAGE, "compare: --show and --json both "
		    "write to standard output; choose one");
	/* An emulated GPU has no speed worth a limit. */
	if (compare->limit < 0)
		compare->limit = compare->launch.emulate ? HUGE_VAL
		    : AC_COMPARE_LIMIT;
	compare->arguments = a->next - 1;
	return 0;
}

/* ---- Carrying it out --------------------------------------------------- */

size_t
ac_compare_values(const struct ac_comparison *compare, enum ac_side side,
    size_t offset, double values_out[AC_COMPARE_PAIRS])
{
	for (size_t i = 0; i < compare->pairs; i++)
		memcpy(&values_out[i], (const char *)
		    &compare->runs[side][i + 1] + offset, sizeof *values_out);
	return compare->pairs;
}

/* Plain first, recast first, plain first: what changes steadily, such as a
 * GPU's temperature, harms neither side more than the other. */
static int
run_pairs(struct ac_comparison *compare)
{
	const size_t runs = AC_SIDES * (compare->pairs + 1);
	int status = 0;

	for (size_t done = 0; done < runs && !status && !compare->rejected;
	    done++) {
		const size_t pair = done / AC_SIDES;
		const enum ac_side side = (done + pair) % AC_SIDES;

		ac_compare_draw(compare, done);
		status = ac_compare_run_one(compare, side, pair);
	}
	for (size_t i = 0; i < compare->pattern_count && !status; i++)
		if (!compare->patterns[i].found && !compare->rejected)
			status = ac_say(AC_COMPARE_RUN_FAILED, "compare: no "
			    "run wrote a file like --files '%s'",
			    compare->patterns[i].glob);
	return status;
}

/* Whether anything of it was compared. */
static bool
is_compared(const struct ac_compare_output *output)
{
	const struct ac_numbers_result *r = &output->result;

	if (output->presence != AC_PRESENT)
		return ac_compare_output_differs(output);
	return r->is_binary ? r->bytes && !r->unstable_bytes
	    : r->numbers > r->unstable || r->lines > r->unstable_lines;
}

/* Leave a stamp for `autocast run` to find, if there was something to see. */
static void
remember(const struct ac_comparison *compare)
{
	bool compared = compare->rejected, differs = compare->rejected;
	struct ac_compared now;

	for (size_t i = 0; i < compare->output_count; i++) {
		compared |= is_compared(&compare->outputs[i]);
		differs |= ac_compare_output_differs(&compare->outputs[i]);
	}
	if (compare->totals.recast_flops <= 0)
		return;
	if (!compared) {
		(void)ac_say(0, "compare: the runs wrote nothing that could be "
		    "compared; --files names what they write");
		return;
	}
	ac_again_environment(compare->environment);
	if (ac_compared_of(&compare->launch.chosen, compare->program,
	    compare->arguments, compare->report->processes[0].gpu, &now) &&
	    !ac_compared_leave(&now, differs) &&
	    strcmp(ac_env(AC_ENV_STATE), "off"))
		(void)ac_say(0, "compare: this cannot be remembered: %s",
		    strerror(errno));
}

bool
ac_compare_is_untimed(const struct ac_comparison *compare)
{
	return compare->launch.emulate && isinf(compare->limit);
}

static int
tell_rejected(const struct ac_comparison *compare)
{
	int written;

	ac_compare_print_rejected(compare);
	written = ac_say_done();
	return written ? written : AC_COMPARE_DIFFERS;
}

static int
tell(const struct ac_comparison *compare)
{
	const size_t wall = offsetof(struct ac_compare_run, cost.wall);
	double times[AC_SIDES][AC_COMPARE_PAIRS];
	struct ac_judgement judgement;
	int status = AC_COMPARE_SAME, written;

	for (enum ac_side side = 0; side < AC_SIDES; side++)
		(void)ac_compare_values(compare, side, wall, times[side]);
	ac_compare_judge(times[AC_PLAIN], times[AC_RECAST], compare->pairs,
	    compare->limit, &judgement);
	if (ac_compare_is_untimed(compare))
		judgement.speed = AC_SPEED_UNKNOWN;
	if (judgement.speed == AC_SPEED_TOO_SLOW)
		status = AC_COMPARE_DIFFERS;
	for (size_t i = 0; i < compare->output_count; i++)
		if (ac_compare_output_differs(&compare->outputs[i]))
			status = AC_COMPARE_DIFFERS;
	if (compare->json)
		ac_compare_json(compare, &judgement, status);
	else
		ac_compare_print(compare, &judgement);
	written = ac_say_done();
	return written ? written : status;
}

static int
carry_out(struct ac_comparison *compare)
{
	int status;

	ac_child_catch();
	status = ac_compare_begin(compare);
	if (!status) {
		ac_compare_announce(compare);
		status = run_pairs(compare);
	}
	if (!status && !ac_child_caught() && !compare->rejected)
		status = ac_compare_outputs(compare);
	if (!status && !ac_child_caught())
		ac_compare_keep(compare);
	ac_compare_end(compare);
	if (ac_child_caught())
		return ac_child_exit(ac_child_caught()); /* by that signal */
	if (status)
		return status;
	remember(compare);
	return compare->rejected ? tell_rejected(compare) : tell(compare);
}

static void
forget(struct ac_comparison *compare)
{
	for (size_t i = 0; i < compare->output_count; i++)
		free(compare->outputs[i].name);
	free(compare->outputs);
	free(compare->patterns);
	ac_report_destroy(compare->report);
	free(compare->launch.chosen.rules.data);
}

static int
run(const struct ac_command *self, char **arguments)
{
	static struct ac_comparison compare = { .pairs = 5 };
	static struct ac_program program;
	struct ac_arguments a = { .command = self, .next = arguments,
	    .status = -1 };
	int status;

	compare.tol = default_tol;
	compare.limit = -1;
	compare.program = &program;
	compare.environment = environ;
	status = read_options(&compare, &a);
	if (a.status >= 0)
		return a.status;
	if (!status)
		status = ac_launch_check(&compare.launch, self->name,
		    *compare.arguments, &program);
	if (!status)
		status = carry_out(&compare);
	forget(&compare);
	return status;
}

const struct ac_command ac_command_compare = {
	.name = "compare",
	.operands = "[--] PROGRAM [ARGUMENT]...",
	.summary = "Run a program plain and recast in turn: times and outputs.",
	.details = "The exit status is 0 when the outputs agree and the recast "
	    "program is not slower,\n1 when they differ, it is, or its exit "
	    "status is not 0 as that of plain runs is,\n3 when a run failed "
	    "otherwise, 2 when an option or the policy is wrong,\n125 to 127 "
	    "as for 'autocast run'.\n",
	.ends_at_operand = true,
	.options = {
		{ 'n', NULL, "N", "so many pairs of runs, after one to warm up "
		    "(default 5)" },
		AC_POLICY_OPTIONS,
		{ AC_LAUNCH_EMULATE, "emulate", "[=MODEL]",
		    "both on an emulated GPU, see 'autocast run --help'" },
		{ OPT_FILES, "files", "GLOB", "also compare these files; "
		    "repeatable" },
		{ OPT_TOL, "tol", "X", "relative difference of numbers that "
		    "will do (default 0.01)" },
		{ OPT_LIMIT, "limit", "PERCENT", "so much slower it may be "
		    "(default 0.25)" },
		{ OPT_SHOW, "show", NULL, "print what the runs print" },
		{ OPT_JSON, "json", NULL, "as JSON" },
	},
	.run = run
};
