/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/run/refused.c -- what the emulated GPU refused while the program ran: a
 * file without a name, to which all its processes add lines. */
#include "cmd/run/refused.h"
#include "cmd/command.h"
#include "base/env.h"
#include "report/read/read.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MOST = 1 << 16 };

static int file = -1;

void
ac_refused_begin(void)
{
	char path[64];
	struct ac_text text;

	if (file < 0)
		file = memfd_create("autocast-refused", MFD_CLOEXEC);
	if (file < 0 || ftruncate(file, 0))
		return; /* then nothing is known */
	ac_text_init(&text, path, sizeof path);
	ac_text_addf(&text, "/proc/%d/fd/%d", (int)getpid(), file);
	setenv(ac_env_rows[AC_ENV_EMU_REFUSED].variable, path, 1);
}

bool
ac_refused_add(struct ac_text *text, unsigned n)
{
	static char lines[MOST];
	const ssize_t got = file < 0 ? 0
	    : pread(file, lines, sizeof lines - 1, 0);
	char *rest = lines, *line = NULL;

	lines[got > 0 ? got : 0] = '\0';
	for (unsigned i = 0; i <= n; i++)
		line = strsep(&rest, "\n");
	if (!rest) /* the last one is not whole */
		return false;
	ac_text_add_clean(text, line);
	return true;
}
