/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/tune/tune_files.c -- the files that a run wrote, as --files names them: a
 * copy of each goes to the run's folder, under its own name, which no other
 * output of the run may have. One that was there before and is as it
 * was is not this run's; it stays where it is. */
#include "cmd/tune/tune.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* As it was before the run. What is written to, or put in its place, has
 * another ctime, inode or size. */
struct ac_tune_file {
	char       *path;
	struct stat status;
	bool        is_of_runs;      /* one of this command wrote it */
	bool        is_taken;        /* of this run: two patterns may name it */
};

static bool
is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino
	    && a->st_size == b->st_size
	    && a->st_ctim.tv_sec == b->st_ctim.tv_sec
	    && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

void
ac_tune_files_forget(struct ac_tune *t)
{
	for (size_t i = 0; i < t->file_count; i++)
		free(t->files[i].path);
	free(t->files);
	t->files = NULL;
	t->file_count = 0;
}

static struct ac_tune_file *
find(const struct ac_tune *t, const char *path)
{
	for (size_t i = 0; i < t->file_count; i++)
		if (!strcmp(t->files[i].path, path))
			return &t->files[i];
	return NULL;
}

/* What is known of it, of a file that is met first, too. */
static struct ac_tune_file *
learn(struct ac_tune *t, const char *path)
{
	struct ac_tune_file *file = find(t, path), *more;

	if (file)
		return file;
	more = ac_say_memory(reallocarray(t->files, t->file_count + 1,
	    sizeof *more));
	t->files = more;
	file = &more[t->file_count++];
	*file = (struct ac_tune_file){ .path = ac_say_memory(strdup(path)) };
	return file;
}

void
ac_tune_files_note(struct ac_tune *t)
{
	for (size_t i = 0; i < t->file_count; i++)
		t->files[i].is_taken = false;
	for (size_t i = 0; i < t->glob_count; i++) {
		glob_t found;

		if (glob(t->globs[i], 0, NULL, &found))
			continue;
		for (size_t k = 0; k < found.gl_pathc; k++) {
			struct stat status;

			if (!stat(found.gl_pathv[k], &status))
				learn(t, found.gl_pathv[k])->status = status;
		}
		globfree(&found);
	}
}

bool
ac_tune_copy(const char *from, const char *to)
{
	const int in = ac_file_open_regular(AT_FDCWD, from);
	const int out = in < 0 ? -1 : open(to, O_WRONLY | O_CREAT | O_TRUNC
	    | O_CLOEXEC, 0600);
	bool done = out >= 0 && ac_again_copy(in, out);

	if (in >= 0)
		close(in);
	if (out >= 0)
		done &= !close(out);
	return done;
}

/* False after one line. */
static bool
take(const struct ac_tune *t, const char *from)
{
	const char *slash = strrchr(from, '/');
	struct ac_text path = AC_TEXT_OF(PATH_MAX);
	struct ac_text typed = AC_TEXT_OF(PATH_MAX);

	ac_text_addf(&path, "%s/%s", t->folder, slash ? slash + 1 : from);
	ac_text_add_clean(&typed, from);
	if (!access(path.data, F_OK))
		return ac_say(0, "%s: --files names %s, and the run has "
		    "another output of that name: only one could be judged",
		    t->verb, typed.data);
	return (!path.truncated && ac_tune_copy(from, path.data))
	    || ac_say(0, "%s: cannot keep a copy of %s in %s: %s", t->verb,
	    typed.data, t->folder, strerror(errno));
}

/* What one pattern names. */
struct taken {
	size_t written, left;        /* left as a run before wrote it */
	char   name[PATH_MAX];       /* the first of the latter; or, if nothing
	                              * was written, of what there is */
};

/* It was there before. Inputs are of no interest where others were written. */
static void
leave(const struct ac_tune_file *file, struct taken *taken)
{
	if (taken->left && !file->is_of_runs)
		return;
	if (!taken->left) {
		struct ac_text name = AC_TEXT_IN(taken->name);

		ac_text_add_clean(&name, file->path);
	}
	taken->left += file->is_of_runs;
}

static bool
take_pattern(struct ac_tune *t, const char *pattern, struct taken *taken)
{
	bool done = true;
	glob_t found;

	*taken = (struct taken){ 0 };
	if (glob(pattern, 0, NULL, &found))
		return true;
	for (size_t k = 0; k < found.gl_pathc && done; k++) {
		const char *path = found.gl_pathv[k];
		struct ac_tune_file *file = find(t, path);
		struct stat status;

		if (stat(path, &status) || !S_ISREG(status.st_mode))
			continue; /* gone again, or no file of a program */
		if (file && is_same(&file->status, &status)) {
			leave(file, taken);
			continue;
		}
		file = learn(t, path);
		taken->written++;
		done = file->is_taken || take(t, path);
		file->is_of_runs = file->is_taken = true;
	}
	globfree(&found);
	return done;
}

/* In one line; who is judged by files wants to know. */
static void
say_unwritten(const struct ac_tune *t, const char *pattern,
    const struct taken *taken)
{
	if (*taken->name)
		(void)ac_say(0, "%s: run %u did not write %s%s: what was there "
		    "before does not count", t->verb, t->runs, taken->name,
		    taken->left > 1 ? " and others" : "");
	else
		(void)ac_say(0, "%s: run %u wrote no file like --files '%s'",
		    t->verb, t->runs, pattern);
}

bool
ac_tune_files_take(struct ac_tune *t)
{
	bool done = true;

	t->lacks_files = false;
	for (size_t i = 0; i < t->glob_count && done; i++) {
		struct taken taken;

		done = take_pattern(t, t->globs[i], &taken);
		t->lacks_files |= !taken.written;
		if (done && (taken.left || !taken.written))
			say_unwritten(t, t->globs[i], &taken);
	}
	return done;
}
