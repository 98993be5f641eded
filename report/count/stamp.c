/* SPDX-License-Identifier: Apache-2.0 */
/* report/count/stamp.c -- stamps as files. Runs inside any program: no heap, no
 * descriptor kept. */
#include "report/count/stamp.h"

#include "report/count/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME_LENGTH = 40, PIECE = 1 << 16 };
static const char module_word[] = "module ";

/* ---- Hashes ------------------------------------------------------------- */

uint64_t
ac_stamp_hash(uint64_t hash, const void *bytes, size_t count)
{
	const unsigned char *s = bytes;

	for (size_t i = 0; i < count; i++)
		hash = (hash ^ s[i]) * UINT64_C(0x100000001b3);
	return hash;
}

uint64_t
ac_stamp_of_lines(const char *lines)
{
	return ac_stamp_hash(AC_STAMP_START, lines, strlen(lines));
}

/* All of the file: one that was linked again is another program. */
bool
ac_stamp_of_program(const char *path, uint64_t *hash_out)
{
	static unsigned char piece[PIECE];
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint64_t hash = AC_STAMP_START;
	ssize_t got;

	if (fd < 0)
		return false;
	do {
		got = read(fd, piece, sizeof piece);
		if (got > 0)
			hash = ac_stamp_hash(hash, piece, (size_t)got);
	} while (got > 0 || (got < 0 && errno == EINTR));
	close(fd);
	if (got == 0)
		*hash_out = hash;
	return got == 0;
}

/* ---- Files -------------------------------------------------------------- */

static bool
find_folder(const char *folder, struct ac_text *path, size_t *fixed_out)
{
	if (!ac_file_directory(path, fixed_out)) {
		errno = ENOENT;
		return false;
	}
	ac_text_addf(path, "/%s", folder ? folder : "validated");
	return !path->truncated;
}

bool
ac_stamp_directory(const struct ac_stamp *stamp, struct ac_text *path)
{
	return find_folder(stamp->folder, path, NULL);
}

static void
add_name(struct ac_text *path, const struct ac_stamp *stamp)
{
	ac_text_addf(path, "/%016llx-%016llx",
	    (unsigned long long)stamp->lines,
	    (unsigned long long)stamp->program);
}

static char path_buffer[AC_FILE_PATH];

/* "HASH PATH", of a line "module HASH PATH". */
static bool
is_as_it_was(char *module)
{
	char *path = strchr(module, ' '), now[24];
	struct ac_text text;
	uint64_t hash;

	if (!path || !ac_stamp_of_program(path + 1, &hash))
		return false;
	*path = '\0';
	ac_text_init(&text, now, sizeof now);
	ac_text_addf(&text, "%016llx", (unsigned long long)hash);
	return !strcmp(module, now);
}

/* The lines that `text` begins with. */
static bool
modules_are_as_they_were(char *text)
{
	char *end;

	while (!strncmp(text, module_word, sizeof module_word - 1)) {
		end = strchr(text, '\n');
		if (!end)
			return false;
		*end = '\0';
		if (!is_as_it_was(text + sizeof module_word - 1))
			return false;
		text = end + 1;
	}
	return true;
}

bool
ac_stamp_is_there(const struct ac_stamp *stamp)
{
	static char bytes[AC_STAMP_MODULES + 1];
	struct ac_text path;
	ssize_t got;
	int fd;

	ac_text_init(&path, path_buffer, sizeof path_buffer);
	if (!find_folder(stamp->folder, &path, NULL))
		return false;
	add_name(&path, stamp);
	fd = path.truncated ? -1 : open(path.data, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	got = read(fd, bytes, sizeof bytes - 1);
	close(fd);
	bytes[got > 0 ? got : 0] = '\0';
	return got >= 0 && modules_are_as_they_were(bytes);
}

bool
ac_stamp_remove(const struct ac_stamp *stamp)
{
	struct ac_text path;

	ac_text_init(&path, path_buffer, sizeof path_buffer);
	if (!find_folder(stamp->folder, &path, NULL))
		return false;
	add_name(&path, stamp);
	return !path.truncated && !unlink(path.data);
}

bool
ac_stamp_is_any(uint64_t lines)
{
	const struct dirent *entry;
	char prefix[NAME_LENGTH];
	struct ac_text path;
	bool found = false;
	DIR *stream;

	ac_text_init(&path, path_buffer, sizeof path_buffer);
	if (!find_folder(NULL, &path, NULL))
		return false;
	snprintf(prefix, sizeof prefix, "%016llx-", (unsigned long long)lines);
	stream = opendir(path.data);
	while (stream && !found && (entry = readdir(stream)))
		found = !strncmp(entry->d_name, prefix, strlen(prefix));
	if (stream)
		closedir(stream);
	return found;
}

bool
ac_stamp_leave(const struct ac_stamp *stamp, const char *modules,
    const char *lines)
{
	const size_t first = strlen(modules), count = strlen(lines);
	struct ac_text path;
	bool done;
	size_t fixed;
	int fd;

	ac_text_init(&path, path_buffer, sizeof path_buffer);
	if (!find_folder(stamp->folder, &path, &fixed))
		return false;
	(void)ac_file_make_directory(path.data, fixed);
	add_name(&path, stamp);
	fd = open(path.data, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW
	    | O_CLOEXEC, 0600);
	if (fd < 0)
		return false;
	done = write(fd, modules, first) == (ssize_t)first
	    && write(fd, lines, count) == (ssize_t)count;
	done &= !close(fd);
	if (!done)
		(void)unlink(path.data); /* its name alone says something */
	return done;
}
