/* SPDX-License-Identifier: Apache-2.0 */
/* report/count/notice.c -- says the notice once per process tree.
 * Forked children inherit the answer; images that follow an exec, and other
 * ranks of a job, find a file named after the run, or after the process group,
 * which a shell gives to each of its jobs. Prints nothing itself. */
#include "report/count/live.h"
#include "base/env.h"
#include "report/count/process.h"
#include "report/count/stamp.h"

#include <string.h>
#include <unistd.h>

bool
ac_report_claim_notice(void)
{
	static bool given;
	const int saved = ac_live_enter();
	const struct ac_file_header *header = &ac_live.front->header;
	const char *run = header->ranks ? header->run : ac_env(AC_ENV_RUN);
	uint64_t hash = AC_STAMP_START;
	struct ac_text name = AC_TEXT_OF(64);
	bool first = !given;

	given = true;
	if (first) {
		/* The start of the group's leader tells this group from an
		 * older one of the same number. */
		const uint64_t leader = (uint64_t)getpgrp();
		const uint64_t group[] = { leader,
			ac_process_start((int)leader, NULL) };

		hash = *run ? ac_stamp_hash(hash, run, strlen(run))
		    : ac_stamp_hash(hash, group, sizeof group);
		ac_text_addf(&name, AC_FILE_NOTICE "%016llx",
		    (unsigned long long)hash);
		/* Where ranks cannot leave word for each other the first one
		 * says it. */
		first = header->ranks && !ac_live.mapped[0] ? !header->rank
		    : ac_file_claim(name.data);
	}
	ac_live_leave(saved);
	return first;
}
