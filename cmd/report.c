/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/report.c -- autocast report: what an earlier run did. */
#include "cmd/command.h"
#include "report/report.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { OPT_JSON = 256 };

/* "@2" is the run before the last; 0 if `s` is nothing like that. */
static unsigned
read_which(const char *s)
{
	double value;

	if (*s != '@' || s[1 + strspn(s + 1, "0123456789")] ||
	    !ac_text_number(s + 1, strlen(s + 1), &value) ||
	    value < 1 || value > 1e6)
		return 0;
	return (unsigned)value;
}

static int
write_to(const char *file, const struct ac_report *report, bool json)
{
	int fd = STDOUT_FILENO;

	if (file)
		fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW
		    | O_CLOEXEC, 0666);
	if (fd < 0)
		return ac_say(AC_EXIT_FAILED, "report: cannot write %s: %s",
		    file, errno == ELOOP ? "it is a symbolic link"
		    : strerror(errno));
	(json ? ac_report_as_json : ac_report_as_text)(report, ac_say_bytes,
	    &fd);
	if (fd < 0 || (file && close(fd)))
		return ac_say(AC_EXIT_FAILED, "report: cannot write %s: %s",
		    file ? file : "the output", strerror(errno));
	return AC_EXIT_OK;
}

static int
print(unsigned which, const char *file, bool json)
{
	char buffer[512];
	struct ac_report *report;
	struct ac_text why;
	int status;

	ac_text_init(&why, buffer, sizeof buffer);
	report = ac_report_load(which, NULL, &why);
	if (!report)
		return ac_say(AC_EXIT_FAILED, which > 1 ? "report: %s; "
		    "'autocast report' shows the last" : "report: %s; try "
		    "'autocast run ./program' first", buffer);
	status = write_to(file, report, json);
	ac_report_destroy(report);
	return status;
}

static int
run(const struct ac_command *self, char **arguments)
{
	struct ac_arguments a = { .command = self, .next = arguments };
	const char *file = NULL;
	unsigned which = 0;
	bool json = false;

	for (;;) {
		switch (ac_arguments_next(&a)) {
		case OPT_JSON:
			json = true;
			break;
		case 'o':
			file = strcmp(a.value, "-") ? a.value : NULL;
			break;
		case AC_ARGUMENT_OPERAND:
			if (which)
				return ac_say(AC_EXIT_USAGE, "report: one run "
				    "at a time; unexpected '%s'", a.value);
			which = read_which(a.value);
			if (!which)
				return ac_say(AC_EXIT_USAGE, "report: '%s' is "
				    "no run; @1 is the last, @2 the one before",
				    a.value);
			break;
		case AC_ARGUMENT_END:
			return print(which ? which : 1, file, json);
		default:
			return a.status;
		}
	}
}

const struct ac_command ac_command_report = {
	.name = "report",
	.operands = "[@N]",
	.summary = "Show what the last run did, site by site.",
	.details = "@2 is the run before the last, and so on.\n",
	.options = {
		{ OPT_JSON, "json", NULL, "as JSON, every site" },
		{ 'o', NULL, "FILE", "write to FILE instead of stdout" },
	},
	.run = run
};
