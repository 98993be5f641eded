/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/compare/compare_history.c -- what the last recast run counted goes from
 * the folder of the comparison to the user's other runs, where `autocast
 * report` finds it. The runs before it did the same. */
#include "cmd/compare/compare.h"
#include "cmd/run/again.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Under a name that is no run's until all of it is there: 0, or errno. */
static int
copy_file(int from, const char *name, int to)
{
	char partial[32];
	struct ac_text t;
	int in, out, error;
	bool done;

	ac_text_init(&t, partial, sizeof partial);
	ac_text_addf(&t, ".compare-%d", (int)getpid());
	in = openat(from, name, O_RDONLY | O_CLOEXEC);
	out = in < 0 ? -1 : openat(to, partial, O_WRONLY | O_CREAT | O_TRUNC |
	    O_NOFOLLOW | O_CLOEXEC, 0600);
	done = out >= 0 && ac_compare_copy(in, out);
	error = errno;
	if (in >= 0)
		close(in);
	if (out < 0)
		return error;
	if (close(out) && done) {
		error = errno;
		done = false;
	}
	if (done && !renameat(to, partial, to, name))
		return 0;
	if (done)
		error = errno;
	(void)unlinkat(to, partial, 0);
	return error;
}

/* The files of the run `token`. */
static int
copy_run(DIR *from, const char *token, int to)
{
	const struct dirent *entry;
	char ending[32];
	struct ac_text t;
	int error = 0;

	ac_text_init(&t, ending, sizeof ending);
	ac_text_addf(&t, "-%08x.stats", ac_file_run_hash(token));
	while (!error && (entry = readdir(from))) {
		const size_t length = strlen(entry->d_name);

		if (ac_file_is_name(entry->d_name) && length > t.used &&
		    !strcmp(entry->d_name + length - t.used, ending))
			error = copy_file(dirfd(from), entry->d_name, to);
	}
	return error;
}

void
ac_compare_keep(const struct ac_comparison *compare)
{
	char path[AC_FILE_PATH];
	struct ac_text user;
	int error, to = -1;
	size_t fixed;
	DIR *from;

	ac_again_environment(compare->environment);
	ac_text_init(&user, path, sizeof path);
	if (!compare->report || ac_file_is_once() ||
	    !ac_file_directory(&user, &fixed))
		return;
	from = opendir(compare->launch.state);
	error = from ? ac_file_make_directory(path, fixed) : errno;
	if (!error) {
		ac_file_prune(path, &compare->report->processes[0]);
		to = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		error = to < 0 ? errno : copy_run(from, compare->launch.run,
		    to);
	}
	if (to >= 0)
		close(to);
	if (from)
		closedir(from);
	if (error)
		(void)ac_say(0, "compare: 'autocast report' will not find the "
		    "recast run: %s", ac_file_trouble(error));
}
