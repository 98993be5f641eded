/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/saved.c -- a report that was saved as JSON, from its file. */
#include "cmd/command.h"
#include "report/past.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_BYTES = 1 << 28 };

/* All `count` bytes and a NUL, malloc'ed; NULL and errno, 0 if it is shorter
 * by now. */
static char *
read_bytes(int fd, size_t count)
{
	char *bytes = malloc(count + 1);
	size_t done = 0;

	while (bytes && done < count) {
		const ssize_t got = read(fd, bytes + done, count - done);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0) {
			errno = got ? errno : 0;
			free(bytes);
			return NULL;
		}
		done += (size_t)got;
	}
	if (bytes)
		bytes[count] = '\0';
	return bytes;
}

struct ac_report *
ac_saved_load(const char *file, struct ac_text *why)
{
	/* Non-blocking: a FIFO must not hang the reader. */
	const int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct ac_report *report = NULL;
	char *bytes = NULL;
	struct stat status;

	if (fd < 0 || fstat(fd, &status)) {
		ac_text_add(why, strerror(errno));
	} else if (!S_ISREG(status.st_mode)) {
		ac_text_add(why, "it is not a regular file");
	} else if (status.st_size > MOST_BYTES) {
		ac_text_add(why, "it is too large");
	} else {
		bytes = read_bytes(fd, (size_t)status.st_size);
		if (!bytes)
			ac_text_add(why, errno ? strerror(errno)
			    : "it is cut short");
	}
	if (bytes)
		report = ac_report_from_json(bytes, (size_t)status.st_size,
		    why);
	free(bytes);
	if (fd >= 0)
		close(fd);
	return report;
}
