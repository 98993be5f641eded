/* SPDX-License-Identifier: Apache-2.0 */
/* report/notice.c -- says the notice once per process tree.
 * Forked children inherit the answer; images that follow an exec find a file
 * named after the run, or after the process group, which a shell gives to each
 * of its jobs. Prints nothing itself. */
#include "report/live.h"
#include "base/env.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { STAT_STARTTIME = 20 };   /* fields of /proc/PID/stat behind the name */

/* When the leader of our process group started, in clock ticks since boot, as
 * the kernel prints it; "0" once the leader is gone. It tells this group from
 * an older one of the same number. */
static void
add_start_of(struct ac_text *t, int pid)
{
	char name[32], stat[512];
	struct ac_text path;
	const char *field;
	ssize_t got;
	int fd;

	ac_text_init(&path, name, sizeof name);
	ac_text_addf(&path, "/proc/%d/stat", pid);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	got = fd < 0 ? 0 : read(fd, stat, sizeof stat - 1);
	if (fd >= 0)
		close(fd);
	stat[got > 0 ? got : 0] = '\0';
	field = strrchr(stat, ')');
	for (int i = 0; field && i < STAT_STARTTIME; i++)
		field = strchr(field + 1, ' ');
	if (field)
		ac_text_add_bytes(t, field + 1, strcspn(field + 1, " "));
	else
		ac_text_add(t, "0");
}

bool
ac_report_claim_notice(void)
{
	static bool given;
	const int saved = ac_live_enter();
	const char *run = ac_env(AC_ENV_RUN);
	char name[64];
	struct ac_text t;
	bool first = !given;

	given = true;
	if (first) {
		ac_text_init(&t, name, sizeof name);
		if (*run) {
			ac_text_addf(&t, "notice-run-%08x",
			    (unsigned)ac_text_hash(AC_TEXT_HASH_START, run,
			    strlen(run)));
		} else {
			ac_text_addf(&t, "notice-%d-", (int)getpgrp());
			add_start_of(&t, (int)getpgrp());
		}
		first = ac_file_claim(name);
	}
	ac_live_leave(saved);
	return first;
}
