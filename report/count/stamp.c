/* SPDX-License-Identifier: Apache-2.0 */
/* report/count/stamp.c -- stamps as files, looked for. Runs inside any program:
 * no heap, no descriptor kept. */
#include "report/count/stamp.h"

#include "report/count/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { PIECE = 1 << 16 };
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
	const int fd = ac_file_open_regular(AT_FDCWD, path);
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

bool
ac_stamp_directory(const struct ac_stamp *stamp, struct ac_text *path,
    size_t *fixed_out)
{
	if (!ac_file_directory(path, fixed_out)) {
		errno = ENOENT;
		return false;
	}
	ac_text_addf(path, "/%s", stamp->folder ? stamp->folder : "validated");
	return !path->truncated;
}

void
ac_stamp_add_name(const struct ac_stamp *stamp, struct ac_text *path)
{
	ac_text_addf(path, "%016llx-%016llx",
	    (unsigned long long)stamp->lines,
	    (unsigned long long)stamp->program);
}

static char path_buffer[AC_FILE_PATH];

/* "HASH PATH", of a line "module HASH PATH". */
static bool
is_as_it_was(char *module)
{
	char *path = strchr(module, ' ');
	struct ac_text now = AC_TEXT_OF(24);
	uint64_t hash;

	if (!path || !ac_stamp_of_program(path + 1, &hash))
		return false;
	*path = '\0';
	ac_text_addf(&now, "%016llx", (unsigned long long)hash);
	return !strcmp(module, now.data);
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
	struct ac_text path = AC_TEXT_IN(path_buffer);
	ssize_t got;
	int fd;

	if (!ac_stamp_directory(stamp, &path, NULL))
		return false;
	ac_text_add(&path, "/");
	ac_stamp_add_name(stamp, &path);
	fd = path.truncated ? -1
	    : ac_file_open_regular(AT_FDCWD, path.data);
	if (fd < 0)
		return false;
	got = read(fd, bytes, sizeof bytes - 1);
	close(fd);
	bytes[got > 0 ? got : 0] = '\0';
	return got >= 0 && modules_are_as_they_were(bytes);
}
