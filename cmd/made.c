/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/made.c -- the first line of a policy that was made by running:
 * "# 2026-11-28, NVIDIA H200, cublas-13.1, by". */
#include "cmd/command.h"
#include "base/env.h"
#include "report/count/file.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LINE_BYTES = 256 };

/* The part up to the next comma; false if there is none. */
static bool
take(const char **line, char *part_out, size_t size)
{
	const char *end = strstr(*line, ", ");
	struct ac_text text;

	if (!end)
		return false;
	ac_text_init(&text, part_out, size);
	ac_text_add_bytes(&text, *line, (size_t)(end - *line));
	*line = end + 2;
	return !text.truncated;
}

static bool
read_line(const char *line, struct ac_made *made_out)
{
	char date[16];

	return !strncmp(line, "# ", 2) && (line += 2)
	    && take(&line, date, sizeof date)
	    && take(&line, made_out->gpu, sizeof made_out->gpu)
	    && take(&line, made_out->library, sizeof made_out->library)
	    && !strncmp(line, "by\n", 3);
}

bool
ac_made_on(const char *policy, struct ac_made *made_out)
{
	char line[LINE_BYTES];
	FILE *stream;
	bool found;
	int fd;

	if (!policy)
		policy = ac_env(AC_ENV_POLICY);
	if (!*policy || strstr(policy, "->") || ac_policy_profile_text(policy))
		return false;
	fd = ac_file_open_regular(AT_FDCWD, policy);
	stream = fd < 0 ? NULL : fdopen(fd, "r");
	if (!stream) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	found = fgets(line, sizeof line, stream) && read_line(line, made_out);
	(void)fclose(stream);
	return found;
}

/* An emulated GPU is one, too: "NVIDIA H200 (emulated)". */
bool
ac_made_elsewhere(const struct ac_made *made, const char *gpu,
    const char *library)
{
	const size_t length = strlen(made->gpu);

	return strncmp(gpu, made->gpu, length)
	    || (gpu[length] && strcmp(gpu + length, " (emulated)"))
	    || strncmp(library, made->library, strcspn(made->library, "."));
}
