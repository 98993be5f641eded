/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/driver/findings.c -- the findings of launches. A GPU notices a few
 * of them, at which the context ends; with AUTOCAST_EMU_CHECK all are said, and
 * the program goes on; with AUTOCAST_EMU_KERNELS=ptx, for tests, it ends. */
#include "emulator/driver/findings.h"
#include "emulator/driver/device.h"

#include "base/env.h"
#include "base/log.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINES_MOST = 100, SHUT = -1 };

/* What was said, each kind of finding of an instruction once. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t lines[LINES_MOST]; /* hashes */
static size_t line_count;
static bool is_cut;
static int file = SHUT;
static _Atomic uint64_t total, launches;

/* The statuses of what a GPU notices; the first one counts. */
static const struct {
	enum ptx_finding finding;
	int status;
} noticed[] = {
	{ PTX_OUTSIDE, EMU_ILLEGAL_ADDRESS },
	{ PTX_READ_ONLY, EMU_ILLEGAL_ADDRESS },
	{ PTX_MISALIGNED, EMU_MISALIGNED },
	{ PTX_UNSUPPORTED, EMU_ILLEGAL_INSTRUCTION },
	{ PTX_TRAP, EMU_LAUNCH_FAILED },
	{ PTX_ASSERT, EMU_ASSERT },
	{ PTX_DEADLOCK, EMU_TIMEOUT },
	{ PTX_SPIN, EMU_TIMEOUT },
};

static bool
ends_program(void)
{
	return !strcmp(ac_env(AC_ENV_EMU_KERNELS), "ptx");
}

static bool
checks(void)
{
	const char *const value = ac_env(AC_ENV_EMU_CHECK);

	return *value && strcmp(value, "0");
}

bool
emu_findings_wanted(void)
{
	return ends_program() || checks();
}

static int
status_of(const struct ptx_result *result)
{
	for (size_t i = 0; i < sizeof noticed / sizeof *noticed; i++)
		if (result->findings[noticed[i].finding])
			return noticed[i].status;
	return EMU_OK;
}

/* Of the kernel, the kind of finding and the instruction; not of the thread. */
static uint64_t
hash_of(const char *line)
{
	const char *const end = strstr(line, ", block ");
	uint64_t hash = 14695981039346656037u;

	while (*line && line != end)
		hash = (hash ^ (unsigned char)*line++) * 1099511628211u;
	return hash;
}

/* Lock held. */
static bool
is_new(const char *line)
{
	const uint64_t hash = hash_of(line);

	for (size_t i = 0; i < line_count; i++)
		if (lines[i] == hash)
			return false;
	is_cut |= line_count == LINES_MOST;
	if (is_cut)
		return false;
	lines[line_count++] = hash;
	return true;
}

/* A byte for `autocast run --check`, which waits for the process. Lock held. */
static void
note(void)
{
	if (file == SHUT && *ac_env(AC_ENV_EMU_CHECK) == '/')
		file = open(ac_env(AC_ENV_EMU_CHECK), O_WRONLY | O_APPEND |
		    O_CLOEXEC);
	if (file != SHUT && write(file, "!", 1) < 0)
		emu_complain("AUTOCAST_EMU_CHECK: cannot write to %s",
		    ac_env(AC_ENV_EMU_CHECK));
}

/* What to do about the finding of this line. */
static const char *
advice(const char *line)
{
	return strstr(line, ": spin: ") ? "; it is taken for endless: "
	    "AUTOCAST_EMU_ENDLESS=1e11 lets it run longer" : "";
}

/* Each line is one finding. */
static void
say(char *said)
{
	char *next;

	pthread_mutex_lock(&lock);
	for (char *line = strtok_r(said, "\n", &next); line;
	    line = strtok_r(NULL, "\n", &next))
		if (ends_program() || is_new(line)) {
			note();
			ac_log(AC_LOG_ERROR, "emulated GPU: kernel %s%s",
			    line, advice(line));
		}
	pthread_mutex_unlock(&lock);
}

void
emu_findings_say(char *said, const struct ptx_result *result)
{
	const int status = status_of(result);
	uint64_t findings = 0;

	for (int i = 0; i < PTX_FINDINGS; i++)
		findings += result->findings[i];
	atomic_fetch_add_explicit(&launches, 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&total, findings, memory_order_relaxed);
	if (findings && emu_findings_wanted()) {
		say(said);
	} else if (status) {
		said[strcspn(said, "\n")] = '\0';
		emu_complain("kernel %s%s", said, advice(said));
	}
	if (findings && ends_program())
		abort();
	if (status)
		emu_device_poison(status);
}

void
emu_findings_end(void)
{
	const uint64_t found = atomic_load(&total);
	const uint64_t ran = atomic_load(&launches);

	if (!checks() || !ran)
		return;
	ac_log(AC_LOG_WARNING, "emulated GPU: check: %llu finding%s in %llu "
	    "launch%s of the program's kernels%s", (unsigned long long)found,
	    found == 1 ? "" : "s", (unsigned long long)ran,
	    ran == 1 ? "" : "es", is_cut ? "; not all are shown" : "");
}
