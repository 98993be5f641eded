/* SPDX-License-Identifier: Apache-2.0 */
/* report/count/process.c -- reads what the kernel says of a process. Called by
 * the process that counts about itself, and by readers of its file. */
#include "report/count/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Fields of /proc/PID/stat behind the name, by the white space before them. */
enum { STATE = 1, PARENT = 2, THREADS = 18, STARTTIME = 20 };

static const char *
field(const char *s, int number)
{
	while (s && number--)
		s = strchr(s + 1, ' ');
	return s ? s + 1 : "";
}

static uint64_t
number_at(const char *s)
{
	uint64_t number = 0;

	while (*s >= '0' && *s <= '9')
		number = number * 10 + (uint64_t)(*s++ - '0');
	return number;
}

/* What comes after the name, in `stat`; NULL: the kernel does not say. */
static const char *
read_stat(int pid, char *stat, size_t size)
{
	char *rest;
	struct ac_text path = AC_TEXT_OF(32);
	ssize_t got;
	int fd;

	ac_text_addf(&path, "/proc/%d/stat", pid);
	fd = open(path.data, O_RDONLY | O_CLOEXEC);
	got = fd < 0 ? 0 : read(fd, stat, size - 1);
	if (fd >= 0)
		close(fd);
	stat[got > 0 ? got : 0] = '\0';
	/* The name may hold anything, ')' too; the last one ends it. */
	rest = strrchr(stat, ')');
	return rest;
}

uint64_t
ac_process_start(int pid, bool *ended_out)
{
	char stat[512];
	const char *rest = read_stat(pid, stat, sizeof stat);

	/* The first thread may be gone before the others: that is a Z too. */
	if (rest && ended_out)
		*ended_out = *field(rest, STATE) == 'X' ||
		    (*field(rest, STATE) == 'Z' &&
		    number_at(field(rest, THREADS)) < 2);
	return rest ? number_at(field(rest, STARTTIME)) : 0;
}

/* ---- The launcher ------------------------------------------------------ */

/* Whether process `pid` was started with `entry` (NAME=VALUE) in its
 * environment; false where that cannot be read: another user's. */
static bool
was_given(int pid, const char *entry)
{
	const size_t length = strlen(entry), no_match = length + 1;
	char piece[1024];
	struct ac_text path = AC_TEXT_IN(piece);
	size_t at = 0;
	ssize_t got;
	bool found = false;
	int fd;

	ac_text_addf(&path, "/proc/%d/environ", pid);
	fd = open(piece, O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && !found && (got = read(fd, piece, sizeof piece)) > 0)
		for (ssize_t i = 0; i < got; i++) {
			found |= !piece[i] && at == length;
			at = !piece[i] ? 0 : at < length &&
			    entry[at] == piece[i] ? at + 1 : no_match;
		}
	if (fd >= 0)
		close(fd);
	return found;
}

int
ac_process_parent(int pid)
{
	char stat[512];
	const char *rest = read_stat(pid, stat, sizeof stat);

	return rest ? (int)number_at(field(rest, PARENT)) : 0;
}

uint64_t
ac_process_launcher(const char *entry)
{
	enum { DEEPEST = 64 };
	int pid = getppid();

	for (int i = 0; i < DEEPEST && pid > 1 && was_given(pid, entry); i++)
		pid = ac_process_parent(pid);
	return pid > 1 ? (uint64_t)pid << 40 ^ ac_process_start(pid, NULL) : 0;
}

uint64_t
ac_process_age(uint64_t start)
{
	const uint64_t tick = 1000000000u / 100;        /* of every Linux */
	struct timespec now;
	uint64_t up;

	if (!start || clock_gettime(CLOCK_BOOTTIME, &now))
		return 0;
	up = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	return up > start * tick ? up - start * tick : 0;
}

uint64_t
ac_process_host(void)
{
	char text[64];
	const int fd = open("/proc/sys/kernel/random/boot_id",
	    O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? 0 : read(fd, text, sizeof text);
	uint64_t host = 0;

	if (fd >= 0)
		close(fd);
	if (got > 0)
		host = (uint64_t)ac_text_hash(AC_TEXT_HASH_START, text,
		    (size_t)got) << 32;
	got = readlink("/proc/self/ns/pid", text, sizeof text);
	if (got > 0)
		host |= ac_text_hash(AC_TEXT_HASH_START, text, (size_t)got);
	return host;
}

bool
ac_process_is_elsewhere(const struct ac_file_header *header)
{
	const uint64_t host = ac_process_host();

	return host && header->host && header->host != host;
}

bool
ac_process_runs(const struct ac_file_header *header)
{
	bool ended = false;
	uint64_t start;

	if (ac_process_is_elsewhere(header))
		return false;
	start = ac_process_start(header->pid, &ended);
	if (!start)
		return !kill(header->pid, 0) || errno != ESRCH;
	return !ended && (!header->process_start ||
	    header->process_start == start);
}
