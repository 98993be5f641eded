/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/compare/compare_history.c -- what a comparison leaves. What the last run
 * by each policy counted goes from the folder of the comparison to the user's
 * other runs, where `autocast report` finds it; the runs before it did the
 * same. A stamp says what was compared. */
#include "cmd/compare/compare.h"
#include "cmd/run/again.h"
#include "cmd/run/compared.h"
#include "base/env.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Under a name that is no run's until all of it is there: 0, or errno. */
static int
copy_file(int from, const char *name, const char *to)
{
	int in, out, error;
	bool done;
	struct ac_text partial = AC_TEXT_OF(AC_FILE_PATH);
	struct ac_text whole = AC_TEXT_OF(AC_FILE_PATH);

	ac_text_addf(&partial, "%s/.compare-XXXXXX", to);
	ac_text_addf(&whole, "%s/%s", to, name);
	if (partial.truncated || whole.truncated)
		return ENAMETOOLONG;
	in = openat(from, name, O_RDONLY | O_CLOEXEC);
	out = in < 0 ? -1 : mkostemp(partial.data, O_CLOEXEC);
	done = out >= 0 && ac_again_copy(in, out);
	error = errno;
	if (in >= 0)
		close(in);
	if (out < 0)
		return error;
	if (close(out) && done) {
		error = errno;
		done = false;
	}
	if (done && !rename(partial.data, whole.data))
		return 0;
	if (done)
		error = errno;
	(void)unlink(partial.data);
	return error;
}

/* The files of the run `token`. */
static int
copy_run(DIR *from, const char *token, const char *to)
{
	const struct dirent *entry;
	int error = 0;
	struct ac_text t = AC_TEXT_OF(32);

	ac_text_addf(&t, "-%08x.stats", ac_file_run_hash(token));
	while (!error && (entry = readdir(from))) {
		const size_t length = strlen(entry->d_name);

		if (ac_file_is_name(entry->d_name) && length > t.used &&
		    !strcmp(entry->d_name + length - t.used, t.data))
			error = copy_file(dirfd(from), entry->d_name, to);
	}
	return error;
}

/* 0, or errno. */
static int
keep_run(const struct ac_compare_column *column, const char *path, size_t fixed)
{
	DIR *from = opendir(column->launch.state);
	int error;

	error = from ? ac_file_make_directory(path, fixed) : errno;
	if (!error) {
		ac_file_prune(path, &column->report->processes[0]);
		error = copy_run(from, column->launch.run, path);
	}
	if (from)
		closedir(from);
	return error;
}

void
ac_compare_keep(const struct ac_comparison *compare)
{
	int error = 0;
	size_t fixed;
	struct ac_text path = AC_TEXT_OF(AC_FILE_PATH);

	ac_again_environment(compare->environment);
	if (ac_file_is_once() || !ac_file_directory(&path, &fixed))
		return;
	for (size_t i = AC_RECAST; i < compare->column_count && !error; i++)
		if (compare->columns[i].report)
			error = keep_run(&compare->columns[i], path.data,
			    fixed);
	if (error)
		(void)ac_say(0, "compare: 'autocast report' will not find the "
		    "recast run: %s", ac_file_trouble(error));
}

/* ---- Stamps ------------------------------------------------------------ */

/* Whether anything of it was compared. */
static bool
is_compared(const struct ac_compare_finding *finding)
{
	const struct ac_numbers_result *r = &finding->result;

	if (finding->presence != AC_PRESENT)
		return ac_compare_differs(finding);
	return r->is_binary ? r->bytes && !r->unstable_bytes
	    : r->numbers > r->unstable || r->lines > r->unstable_lines;
}

/* False: there was nothing to see, though calls were recast. */
static bool
leave_stamp(const struct ac_comparison *compare, size_t number)
{
	const struct ac_compare_column *column = &compare->columns[number];
	bool compared = column->rejected, differs = column->rejected;
	struct ac_compared now;

	for (size_t i = 0; i < compare->output_count && !column->rejected;
	    i++) {
		const struct ac_compare_finding *found =
		    &compare->outputs[i].found[number];

		compared |= is_compared(found);
		differs |= ac_compare_differs(found);
	}
	if (column->totals.recast_flops <= 0 || !compared)
		return column->totals.recast_flops <= 0;
	if (ac_compared_of(&column->launch.chosen, compare->program,
	    compare->arguments, column->report->processes[0].gpu, &now) &&
	    !ac_compared_leave(&now, differs) &&
	    strcmp(ac_env(AC_ENV_STATE), "off"))
		(void)ac_say(0, "compare: this cannot be remembered: %s",
		    strerror(errno));
	return true;
}

void
ac_compare_remember(const struct ac_comparison *compare)
{
	bool seen = true;

	ac_again_environment(compare->environment);
	for (size_t i = AC_RECAST; i < compare->column_count; i++)
		seen &= leave_stamp(compare, i);
	if (!seen)
		(void)ac_say(0, "compare: the runs wrote nothing that could be "
		    "compared; --files names what they write");
}
