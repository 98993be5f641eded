/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/compare/compare.c -- autocast compare: plain and recast in turn.
 * Everything that can be refused is refused before the first run. */
#include "cmd/compare/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	OPT_FILES = AC_LAUNCH_OWN, OPT_LIMIT, OPT_TOL, OPT_JSON, OPT_MARKDOWN,
	OPT_SHOW, OPT_BINARY, OPT_CSV
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
	if (!*typed)
		return ac_say(AC_EXIT_USAGE, "compare: --files needs a name");
	compare->patterns = ac_say_memory(reallocarray(compare->patterns,
	    compare->pattern_count + 1, sizeof *compare->patterns));
	compare->patterns[compare->pattern_count++] =
	    (struct ac_compare_pattern){ typed, false };
	return 0;
}

static int
take_policy(struct ac_comparison *compare, const char *typed)
{
	if (compare->policy_count == AC_COMPARE_POLICIES)
		return ac_say(AC_EXIT_USAGE, "compare: --policy more than %d "
		    "times", AC_COMPARE_POLICIES);
	compare->policies[compare->policy_count++] = typed;
	return 0;
}

static int
take_binary(struct ac_comparison *compare, const char *typed)
{
	if (!strcmp(typed, "fp32"))
		compare->word = sizeof(float);
	else if (!strcmp(typed, "fp64"))
		compare->word = sizeof(double);
	else
		return ac_say(AC_EXIT_USAGE, "compare: --binary %s: what are "
		    "the numbers of binary files? fp32 or fp64", typed);
	return 0;
}

static const char *const format_options[] = {
	[AC_COMPARE_TEXT] = "--show", [AC_COMPARE_JSON] = "--json",
	[AC_COMPARE_MARKDOWN] = "--markdown", [AC_COMPARE_CSV] = "--csv",
};

static int
refuse_both(enum ac_compare_format one, enum ac_compare_format other)
{
	return ac_say(AC_EXIT_USAGE, "compare: %s and %s both write to "
	    "standard output; choose one", format_options[one],
	    format_options[other]);
}

static int
take_format(struct ac_comparison *compare, enum ac_compare_format format)
{
	if (compare->format != AC_COMPARE_TEXT && compare->format != format)
		return refuse_both(compare->format, format);
	compare->format = format;
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
	case OPT_BINARY:
		return take_binary(compare, value);
	case OPT_LIMIT:
		return take_limit(compare, value);
	case OPT_TOL:
		return take_tol(compare, value);
	case AC_OPTION_POLICY:
		return take_policy(compare, value);
	case OPT_JSON:
		return take_format(compare, AC_COMPARE_JSON);
	case OPT_MARKDOWN:
		return take_format(compare, AC_COMPARE_MARKDOWN);
	case OPT_CSV:
		return take_format(compare, AC_COMPARE_CSV);
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
	if (compare->show && compare->format != AC_COMPARE_TEXT)
		return refuse_both(AC_COMPARE_TEXT, compare->format);
	/* An emulated GPU has no speed worth a limit. */
	if (compare->limit < 0)
		compare->limit = compare->launch.emulate ? HUGE_VAL
		    : AC_COMPARE_LIMIT;
	compare->arguments = a->next - 1;
	return 0;
}

/* ---- The columns ------------------------------------------------------- */

static void
make_columns(struct ac_comparison *compare)
{
	const size_t policies = compare->policy_count;
	struct ac_compare_column *plain = &compare->columns[AC_PLAIN];
	struct ac_compare_column *recast = &compare->columns[AC_RECAST];

	compare->column_count = 1 + (policies ? policies : 1);
	for (size_t i = 0; i < compare->column_count; i++)
		compare->columns[i].launch = compare->launch;
	for (size_t i = 0; i < policies; i++) {
		struct ac_text name = AC_TEXT_IN(recast[i].name);

		recast[i].launch.chosen.policy = compare->policies[i];
		ac_chosen_name(&name, compare->policies[i], i + 1);
	}
	strcpy(plain->name, "plain");
	if (policies < 2)
		strcpy(recast->name, "recast");
}

/* Every policy, and the program. */
static int
check(struct ac_comparison *compare, const char *verb,
    struct ac_program *program)
{
	int status = 0;

	for (size_t i = AC_RECAST; i < compare->column_count && !status; i++)
		status = ac_launch_check(&compare->columns[i].launch, verb,
		    *compare->arguments, program);
	return status;
}

/* ---- Carrying it out --------------------------------------------------- */

static int
tell(struct ac_comparison *compare)
{
	int status = AC_COMPARE_SAME, written;

	ac_compare_judge_all(compare);
	for (size_t i = AC_RECAST; i < compare->column_count; i++)
		if (ac_compare_status(compare, i) != AC_COMPARE_SAME)
			status = AC_COMPARE_DIFFERS;
	if (compare->format == AC_COMPARE_JSON)
		ac_compare_json(compare, status);
	else if (compare->format == AC_COMPARE_MARKDOWN)
		ac_compare_markdown(compare);
	else if (compare->format == AC_COMPARE_CSV)
		ac_compare_csv(compare);
	else
		ac_compare_print(compare);
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
		if (!compare->launch.emulate)
			ac_energy_open(&compare->energy);
		ac_compare_announce(compare);
		status = ac_compare_rounds(compare);
	}
	if (!status && !ac_child_caught())
		status = ac_compare_outputs(compare);
	if (!status && !ac_child_caught())
		ac_compare_keep(compare);
	ac_energy_close(&compare->energy);
	ac_compare_end(compare);
	if (ac_child_caught())
		return ac_child_exit(ac_child_caught()); /* by that signal */
	ac_child_release();
	if (status)
		return status;
	ac_compare_remember(compare);
	return tell(compare);
}

static void
forget(struct ac_comparison *compare)
{
	for (size_t i = 0; i < compare->output_count; i++)
		free(compare->outputs[i].name);
	free(compare->outputs);
	free(compare->patterns);
	for (size_t i = 0; i < compare->column_count; i++)
		ac_report_destroy(compare->columns[i].report);
	free(compare->launch.chosen.rules.data);
}

static int
run(const struct ac_command *self, char **arguments)
{
	static struct ac_comparison compare = {
		.pairs = AC_COMPARE_DEFAULT };
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
	if (!status) {
		make_columns(&compare);
		status = check(&compare, self->name, &program);
	}
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
		    "(default 7)" },
		{ AC_OPTION_POLICY, "policy", "P", AC_POLICY_PROFILES
		    ", a file, or text with '->'; repeatable" },
		{ 'e', NULL, "RULE",
		    "a policy line before all others; repeatable" },
		{ AC_LAUNCH_EMULATE, "emulate", "[=MODEL]",
		    "both on an emulated GPU, see 'autocast run --help'" },
		{ OPT_FILES, "files", "GLOB", "also compare these files; "
		    "repeatable" },
		{ OPT_BINARY, "binary", "fp32|fp64", "binary files are arrays "
		    "of such numbers" },
		{ OPT_TOL, "tol", "X", "relative difference of numbers that "
		    "will do (default 0.01)" },
		{ OPT_LIMIT, "limit", "PERCENT", "so much slower it may be "
		    "(default 0.25)" },
		{ OPT_SHOW, "show", NULL, "print what the runs print" },
		{ OPT_JSON, "json", NULL, "as JSON" },
		{ OPT_CSV, "csv", NULL, "the runs as comma-separated values" },
		{ OPT_MARKDOWN, "markdown", NULL, "as GitHub's markdown" },
	},
	.run = run
};
