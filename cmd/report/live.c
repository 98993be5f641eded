/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/report/live.c -- autocast report --live: what a running process does just
 * now. It reads the process's statistics file and does not touch the process.
 * On a terminal each block takes the place of the one before; the terminal's
 * settings are changed within one write only, so that there is nothing to
 * restore. */
#include "cmd/command.h"
#include "report/report.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { OPT_ONCE = 256, ROWS = 10, HEAD_LINES = 10, BLOCK_BYTES = 1 << 16 };

struct watch {
	struct ac_report_watched process;
	double   interval;              /* seconds */
	double   blocks;                /* still to print */
	int      end;                   /* pidfd: readable at its end; or -1 */
	bool     terminal;
	size_t   lines;                 /* of the block on the terminal */
};

/* ---- Blocks ------------------------------------------------------------ */

static size_t
terminal_lines(void)
{
	struct winsize size;

	return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || size.ws_row < 2
	    ? 24 : size.ws_row;
}

static void
add_bytes(const char *bytes, size_t count, void *block)
{
	ac_text_add_bytes(block, bytes, count);
}

/* The first lines of the text, so that a block fits the terminal. */
static size_t
cut(struct ac_text *text, size_t from, size_t most)
{
	size_t lines = 0;

	for (size_t i = from; i < text->used; i++)
		if (text->data[i] == '\n' && ++lines == most) {
			text->used = i + 1;
			text->data[text->used] = '\0';
		}
	return lines;
}

/* One write per block: stopped between two, we leave a clean terminal. Lines
 * that are too long must not wrap, or the count of lines would be wrong. */
static int
print_block(struct watch *w, const struct ac_report *before,
    const struct ac_report *now, double seconds)
{
	static char buffer[BLOCK_BYTES];
	const size_t height = terminal_lines();
	struct ac_report_view view = { .seconds = seconds,
		.rows = w->terminal && height > HEAD_LINES + ROWS
		    ? height - HEAD_LINES : ROWS };
	struct timespec clock;
	size_t head;
	int fd = STDOUT_FILENO;
	struct ac_text block = AC_TEXT_IN(buffer);

	clock_gettime(CLOCK_REALTIME, &clock);
	view.clock = (double)clock.tv_sec + (double)clock.tv_nsec / 1e9;
	if (w->terminal) {
		if (w->lines)
			ac_text_addf(&block, "\033[%zuA", w->lines);
		ac_text_add(&block, "\r\033[J\033[?7l");
	} else if (before) {
		ac_text_add(&block, "\n");
	}
	head = block.used;
	ac_report_as_live(before, now, &view, add_bytes, &block);
	if (w->terminal) {
		w->lines = cut(&block, head, height - 1);
		ac_text_add(&block, "\033[?7h");
	}
	ac_say_bytes(block.data, block.used, &fd);
	if (fd < 0)
		return ac_say(AC_EXIT_FAILED, "report --live: cannot write the "
		    "output: %s", strerror(errno));
	return AC_EXIT_OK;
}

/* ---- Time -------------------------------------------------------------- */

/* Until `deadline` (ac_say_clock()), or the process's end, after which kernels
 * without pidfd have to be asked. */
static void
wait_until(const struct watch *w, double deadline)
{
	struct pollfd end = { .fd = w->end, .events = POLLIN };
	double left;

	while ((left = deadline - ac_say_clock()) > 0) {
		if (w->end < 0 && left > 0.5)
			left = 0.5;
		if (poll(&end, 1, (int)(left * 1000) + 1) > 0 ||
		    (w->end < 0 && kill(w->process.pid, 0) && errno == ESRCH))
			return;
	}
}

static int
watch(struct watch *w)
{
	struct ac_report *before = NULL, *now = NULL;
	double next = ac_say_clock(), looked = next;
	int status = AC_EXIT_OK;
	bool runs = true;

	while (status == AC_EXIT_OK && runs && w->blocks-- > 0) {
		const double last = looked;
		struct ac_text why = AC_TEXT_OF(512);

		wait_until(w, next);
		next += w->interval;
		ac_report_destroy(before);
		before = now;
		now = ac_report_look(&w->process, &runs, &why);
		looked = ac_say_clock();
		if (!now)
			status = ac_say(AC_EXIT_FAILED, "report --live: cannot "
			    "read %s any more: %s", w->process.path, why.data);
		else
			status = print_block(w, before, now, looked - last);
	}
	ac_report_destroy(before);
	ac_report_destroy(now);
	if (status == AC_EXIT_OK && !runs) {
		printf("process %d has ended; 'autocast report' shows what its "
		    "run did\n", w->process.pid);
		status = ac_say_done();
	}
	return status;
}

/* ---- The command ------------------------------------------------------- */

static int
begin(struct watch *w, int pid)
{
	int status;
	struct ac_text why = AC_TEXT_OF(512);

	if (!ac_report_find(pid, &w->process, &why))
		return ac_say(AC_EXIT_FAILED, "report --live: %s", why.data);
	w->end = -1;
#ifdef SYS_pidfd_open
	w->end = (int)syscall(SYS_pidfd_open, w->process.pid, 0);
#endif
	w->terminal = isatty(STDOUT_FILENO) == 1;
	status = watch(w);
	if (w->end >= 0)
		close(w->end);
	return status;
}

static int
run(const struct ac_command *self, char **arguments)
{
	struct ac_arguments a = { .command = self, .next = arguments };
	struct watch w = { .interval = 1, .blocks = 1e18 };
	double pid = 0;

	for (;;) {
		switch (ac_arguments_next(&a)) {
		case 'n':
			w.blocks = ac_arguments_whole(a.value, 1, 1e9);
			if (w.blocks < 0)
				return ac_say(AC_EXIT_USAGE, "report --live: "
				    "-n %s: how many blocks? from 1 on",
				    a.value);
			break;
		case 'i':
			w.interval = ac_arguments_number(a.value, 0.1, 86400);
			if (w.interval < 0)
				return ac_say(AC_EXIT_USAGE, "report --live: "
				    "-i %s: how many seconds? 0.1 to "
				    "86400", a.value);
			break;
		case OPT_ONCE:
			w.blocks = 1;
			break;
		case AC_ARGUMENT_OPERAND:
			if (pid > 0)
				return ac_say(AC_EXIT_USAGE, "report --live: "
				    "one process at a time; unexpected '%s'",
				    a.value);
			pid = ac_arguments_whole(a.value, 1, INT32_MAX);
			if (pid < 0)
				return ac_say(AC_EXIT_USAGE, "report --live: "
				    "'%s' is no process id", a.value);
			break;
		case AC_ARGUMENT_END:
			return begin(&w, (int)pid);
		default:
			return a.status;
		}
	}
}

const struct ac_command ac_command_live = {
	.name = "report --live",
	.operands = "[PID]",
	.summary = "Show what a running process does just now.",
	.details = "Without PID: the youngest one that runs and has "
	    "statistics. It ends with the process.\n",
	.options = {
		{ 'i', NULL, "SECONDS", "time from one block to the next "
		    "(default 1)" },
		{ 'n', NULL, "COUNT", "end after COUNT blocks" },
		{ OPT_ONCE, "once", NULL, "print one block and end" },
	},
	.run = run
};
