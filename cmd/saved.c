/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/saved.c -- all of a file; a report that was saved as JSON. */
#include "cmd/command.h"
#include "report/past.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { READ_BYTES = 1 << 16, MOST_BYTES = 1 << 28 };

char *
ac_saved_bytes(int fd, size_t most, size_t *count_out)
{
	char *bytes = NULL;
	size_t used = 0;
	ssize_t got;

	do {
		bytes = ac_say_memory(realloc(bytes, used + READ_BYTES + 1));
		got = read(fd, bytes + used, READ_BYTES);
		used += got > 0 ? (size_t)got : 0;
	} while ((got > 0 && used < most) || (got < 0 && errno == EINTR));
	bytes[used] = '\0';
	*count_out = used;
	if (got >= 0)
		return bytes;
	free(bytes);
	return NULL;
}

struct ac_report *
ac_saved_load(const char *file, struct ac_text *why)
{
	/* Non-blocking: a FIFO must not hang the reader. */
	const int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct ac_report *report = NULL;
	char *bytes = NULL;
	struct stat status;
	size_t count;

	if (fd < 0 || fstat(fd, &status)) {
		ac_text_add(why, strerror(errno));
	} else if (!S_ISREG(status.st_mode)) {
		ac_text_add(why, "it is not a regular file");
	} else if (status.st_size > MOST_BYTES) {
		ac_text_add(why, "it is too large");
	} else {
		bytes = ac_saved_bytes(fd, MOST_BYTES, &count);
		if (bytes)
			report = ac_report_from_json(bytes, count, why);
		else
			ac_text_add(why, strerror(errno));
	}
	free(bytes);
	if (fd >= 0)
		close(fd);
	return report;
}
