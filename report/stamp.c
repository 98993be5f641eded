/* SPDX-License-Identifier: Apache-2.0 */
/* report/stamp.c -- stamps as files. Runs inside strangers, too: no heap, no
 * descriptor kept. */
#include "report/stamp.h"

#include "base/text.h"
#include "report/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME_LENGTH = 40, PIECE = 1 << 16 };

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
find_folder(struct ac_text *path, size_t *fixed_out)
{
	if (!ac_file_directory(path, fixed_out)) {
		errno = ENOENT;
		return false;
	}
	ac_text_add(path, "/validated");
	return !path->truncated;
}

static void
add_name(struct ac_text *path, const struct ac_stamp *stamp)
{
	ac_text_addf(path, "/%016llx-%016llx",
	    (unsigned long long)stamp->lines,
	    (unsigned long long)stamp->program);
}

static char path_buffer[AC_FILE_PATH];

bool
ac_stamp_is_there(const struct ac_stamp *stamp)
{
	struct ac_text path;

	ac_text_init(&path, path_buffer, sizeof path_buffer);
	if (!find_folder(&path, NULL))
		return false;
	add_name(&path, stamp);
	return !path.truncated && !access(path.data, R_OK);
}

bool
ac_stamp_remove(const struct ac_stamp *stamp)
{
	struct ac_text path;

	ac_text_init(&path, path_buffer, sizeof path_buffer);
	if (!find_folder(&path, NULL))
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
	if (!find_folder(&path, NULL))
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
ac_stamp_leave(const struct ac_stamp *stamp, const char *lines)
{
	const size_t count = strlen(lines);
	struct ac_text path;
	size_t fixed;
	ssize_t done;
	int fd;

	ac_text_init(&path, path_buffer, sizeof path_buffer);
	if (!find_folder(&path, &fixed))
		return false;
	ac_file_make_directory(path.data, fixed);
	add_name(&path, stamp);
	fd = open(path.data, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW
	    | O_CLOEXEC, 0600);
	if (fd < 0)
		return false;
	done = write(fd, lines, count);
	return !close(fd) && done == (ssize_t)count;
}
