/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/compare/compare_outputs.c -- what the runs wrote, output by output: the
 * first plain run is the reference, what differs between plain runs is left
 * out, then the recast runs are judged. */
#include "cmd/compare/compare.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct view {
	const char *bytes;
	size_t      count;
};

void
ac_compare_path(const struct ac_comparison *compare, size_t column,
    size_t pair, size_t output, char path_out[PATH_MAX])
{
	snprintf(path_out, PATH_MAX, "%s/%zu-%zu-%zu", compare->folder, column,
	    pair, output);
}

size_t
ac_compare_output_number(struct ac_comparison *compare, const char *name)
{
	const size_t count = compare->output_count;

	/* 0 is stdout: a file may be called that, too. */
	for (size_t i = 1; i < count; i++)
		if (!strcmp(compare->outputs[i].name, name))
			return i;
	compare->outputs = ac_say_memory(reallocarray(compare->outputs,
	    count + 1, sizeof *compare->outputs));
	compare->outputs[count] = (struct ac_compare_output){
		.name = ac_say_memory(strdup(name)) };
	return compare->output_count++;
}

bool
ac_compare_differs(const struct ac_compare_finding *finding)
{
	const struct ac_numbers_result *r = &finding->result;

	if (finding->presence != AC_PRESENT)
		return finding->presence == AC_MISSING
		    || finding->presence == AC_ADDED;
	return r->beyond || r->differing_lines || r->differing_bytes;
}

/* ---- Files ------------------------------------------------------------- */

/* How many runs of the column wrote it. */
static size_t
count_there(const struct ac_comparison *compare, size_t column, size_t output)
{
	char path[PATH_MAX];
	size_t there = 0;

	for (size_t pair = 0; pair <= compare->pairs; pair++) {
		ac_compare_path(compare, column, pair, output, path);
		there += !access(path, F_OK);
	}
	return there;
}

static enum ac_presence
presence(const struct ac_comparison *compare, size_t column, size_t output)
{
	const size_t plain = count_there(compare, AC_PLAIN, output);
	const size_t recast = count_there(compare, column, output);

	if (!plain)
		return recast ? AC_ADDED : AC_ABSENT;
	if (plain <= compare->pairs)
		return AC_UNSTABLE;
	return recast <= compare->pairs ? AC_MISSING : AC_PRESENT;
}

static bool
map(const struct ac_comparison *compare, size_t column, size_t pair,
    size_t output, struct view *view_out)
{
	char path[PATH_MAX];
	struct stat status;
	void *bytes = NULL;
	int fd;

	ac_compare_path(compare, column, pair, output, path);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	if (fstat(fd, &status)) {
		close(fd);
		return false;
	}
	if (status.st_size > 0)
		bytes = mmap(NULL, (size_t)status.st_size, PROT_READ,
		    MAP_PRIVATE, fd, 0);
	close(fd);
	if (bytes == MAP_FAILED)
		return false;
	view_out->bytes = bytes ? bytes : "";
	view_out->count = (size_t)status.st_size;
	return true;
}

static void
unmap(const struct view *view)
{
	if (view->count)
		(void)munmap((void *)(uintptr_t)view->bytes, view->count);
}

/* ---- Comparing --------------------------------------------------------- */

/* All runs of one column but the reference itself. */
static bool
pass_over(const struct ac_comparison *compare, size_t column, size_t output,
    struct ac_numbers *numbers)
{
	bool done = true;

	for (size_t pair = column == AC_PLAIN; pair <= compare->pairs && done &&
	    !ac_child_caught(); pair++) {
		struct view view;

		if (!map(compare, column, pair, output, &view))
			return false;
		done = column == AC_PLAIN
		    ? ac_numbers_learn(numbers, view.bytes, view.count)
		    : ac_numbers_compare(numbers, view.bytes, view.count,
		    compare->tol);
		unmap(&view);
	}
	return done;
}

static bool
compare_output(const struct ac_comparison *compare, size_t column,
    size_t output, struct ac_numbers_result *result_out)
{
	struct ac_numbers *numbers;
	struct view reference;
	bool done;

	if (!map(compare, AC_PLAIN, 0, output, &reference))
		return false;
	numbers = ac_numbers_create(reference.bytes, reference.count);
	done = numbers && (!output || !compare->word ||
	    ac_numbers_use_words(numbers, compare->word)) &&
	    pass_over(compare, AC_PLAIN, output, numbers) &&
	    pass_over(compare, column, output, numbers);
	if (done)
		ac_numbers_result(numbers, result_out);
	ac_numbers_destroy(numbers);
	unmap(&reference);
	return done;
}

static int
compare_column(struct ac_comparison *compare, size_t column)
{
	for (size_t i = 0; i < compare->output_count; i++) {
		struct ac_compare_output *output = &compare->outputs[i];
		struct ac_compare_finding *found = &output->found[column];

		found->presence = presence(compare, column, i);
		if (found->presence != AC_PRESENT)
			continue;
		if (!compare_output(compare, column, i, &found->result))
			return ac_say(AC_EXIT_FAILED, "compare: cannot compare "
			    "%s: %s", output->name, strerror(errno));
		if (ac_child_caught())
			return AC_EXIT_FAILED;
	}
	return 0;
}

int
ac_compare_outputs(struct ac_comparison *compare)
{
	int status = 0;

	for (size_t i = AC_RECAST; i < compare->column_count && !status; i++)
		if (!compare->columns[i].rejected)
			status = compare_column(compare, i);
	return status;
}
