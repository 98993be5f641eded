/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/compare/compare_run.c -- runs the program once, plain or recast, and
 * keeps what it wrote in a folder of our own. The files stay where the program
 * put them: it may want them again. */
#include "cmd/compare/compare.h"
#include "cmd/run/again.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_OUTPUTS = 1000 };

/* ---- The folder -------------------------------------------------------- */

int
ac_compare_begin(struct ac_comparison *compare)
{
	int status = ac_again_streams("compare");

	if (!status)
		status = ac_again_folder("compare", compare->folder,
		    sizeof compare->folder);
	if (status)
		return status;
	(void)ac_compare_output_number(compare, "stdout");
	return 0;
}

/* Where the recast runs count: what the user has of other runs is left in
 * peace. */
static void
name_state(const struct ac_comparison *compare, char path_out[PATH_MAX])
{
	snprintf(path_out, PATH_MAX, "%s/state", compare->folder);
}

void
ac_compare_end(struct ac_comparison *compare)
{
	char state[PATH_MAX];

	if (!*compare->folder)
		return;
	name_state(compare, state);
	ac_launch_remove(state);
	ac_launch_remove(compare->folder);
	*compare->folder = '\0';
}

/* ---- What a run wrote -------------------------------------------------- */

static int
keep_file(struct ac_comparison *compare, size_t column, size_t pair,
    struct ac_compare_pattern *pattern, const char *name)
{
	const int in = ac_file_open_regular(AT_FDCWD, name);
	char path[PATH_MAX];
	size_t number;
	bool done;
	int out;

	if (in < 0)
		return 0; /* gone again, or no file of a program */
	pattern->found = true;
	number = ac_compare_output_number(compare, name);
	ac_compare_path(compare, column, pair, number, path);
	/* Two patterns may name one file. */
	out = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	done = out >= 0 && ac_again_copy(in, out);
	if (out >= 0)
		done &= !close(out);
	close(in);
	if (!done)
		return ac_say(AC_EXIT_FAILED, "compare: cannot keep a copy of "
		    "%s in %s: %s", name, compare->folder, strerror(errno));
	if (compare->output_count > MOST_OUTPUTS)
		return ac_say(AC_EXIT_USAGE, "compare: --files names more "
		    "than %d files", MOST_OUTPUTS);
	return 0;
}

static int
keep_files(struct ac_comparison *compare, size_t column, size_t pair)
{
	int status = 0;

	for (size_t i = 0; i < compare->pattern_count; i++) {
		struct ac_compare_pattern *pattern = &compare->patterns[i];
		glob_t found;

		if (glob(pattern->glob, 0, NULL, &found))
			continue;
		for (size_t k = 0; k < found.gl_pathc && !status; k++)
			status = keep_file(compare, column, pair, pattern,
			    found.gl_pathv[k]);
		globfree(&found);
	}
	return status;
}

static void
show(const struct ac_comparison *compare, size_t column, size_t pair)
{
	char path[PATH_MAX];
	int in;

	ac_compare_path(compare, column, pair, 0, path);
	in = open(path, O_RDONLY | O_CLOEXEC);
	if (in >= 0) {
		(void)ac_again_copy(in, STDOUT_FILENO);
		close(in);
	}
}

/* What the library counted in the run that just ended. */
static void
read_report(struct ac_compare_column *column, struct ac_compare_run *run)
{
	ac_report_destroy(column->report);
	memset(&column->totals, 0, sizeof column->totals);
	column->report = ac_launch_report(&column->launch);
	if (!column->report)
		return;
	ac_report_totals(column->report, &column->totals);
	run->scratch_bytes = (double)column->totals.peak_scratch_bytes;
}

/* ---- A run ------------------------------------------------------------- */

static int
start(struct ac_comparison *compare, size_t column, size_t pair, int *ended)
{
	char path[PATH_MAX];
	int output, status;

	ac_compare_path(compare, column, pair, 0, path);
	output = open(path, O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC,
	    0600);
	if (output < 0)
		return ac_say(AC_EXIT_FAILED, "compare: cannot write in %s: "
		    "%s", compare->folder, strerror(errno));
	status = ac_again_run(&compare->columns[column].launch,
	    compare->program, compare->arguments, output, ended);
	close(output);
	return status ? status : ac_again_room("compare", compare->folder);
}

/* The first run of all is plain and ended well: otherwise there is no other. */
static int
check_end(struct ac_comparison *compare, size_t number, size_t pair, int ended)
{
	struct ac_compare_column *column = &compare->columns[number];
	struct ac_text which = AC_TEXT_OF(64);

	if (number != AC_PLAIN && WIFEXITED(ended) && !ac_child_caught()) {
		column->rejected = WEXITSTATUS(ended);
		column->rejected_run = pair + 1;
		return 0;
	}
	ac_text_addf(&which, "%s run %zu of %zu", column->name, pair + 1,
	    compare->pairs + 1);
	return ac_again_check("compare", which.data, ended,
	    AC_COMPARE_RUN_FAILED);
}

/* The counter may start again from 0 with the driver. */
static double
drawn_since(struct ac_comparison *compare, double before)
{
	const double now = ac_energy_joules(&compare->energy);

	return before < 0 || now < before ? -1 : now - before;
}

int
ac_compare_run_one(struct ac_comparison *compare, size_t number, size_t pair)
{
	struct ac_compare_column *column = &compare->columns[number];
	struct ac_compare_run *run = &column->runs[pair];
	char state[PATH_MAX];
	int status, ended = 0;
	double joules;

	ac_again_environment(compare->environment);
	column->launch.plain = number == AC_PLAIN;
	column->launch.cost = &run->cost;
	run->scratch_bytes = -1;
	if (number != AC_PLAIN) {
		name_state(compare, state);
		ac_again_state(&column->launch, state);
	}
	joules = ac_energy_joules(&compare->energy);
	status = start(compare, number, pair, &ended);
	run->joules = drawn_since(compare, joules);
	if (!status && number != AC_PLAIN)
		read_report(column, run);
	ac_compare_erase(compare);
	if (!status && compare->show)
		show(compare, number, pair);
	if (!status)
		status = check_end(compare, number, pair, ended);
	return status || column->rejected ? status
	    : keep_files(compare, number, pair);
}
