/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/format.c -- the formats of a report: chosen by an option or by the ending
 * of a file, and written. */
#include "cmd/command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const endings[AC_FORMAT_COUNT] = {
	[AC_FORMAT_TEXT] = ".txt", [AC_FORMAT_JSON] = ".json",
	[AC_FORMAT_CSV] = ".csv", [AC_FORMAT_HTML] = ".html",
};

/* A name that begins with its only dot has no ending. */
static const char *
ending_of(const char *file)
{
	const char *name = basename(file);
	const char *dot = strrchr(name, '.');

	return dot && dot > name ? dot : "";
}

bool
ac_format_choose(const char *file, bool is_asked,
    enum ac_report_format *format)
{
	const char *ending = file ? ending_of(file) : "";

	if (!*ending || !strncmp(file, "/dev/", 5)) {
		if (!is_asked)
			*format = AC_FORMAT_TEXT;
		return true;
	}
	for (int i = 0; i < AC_FORMAT_COUNT; i++)
		if (!strcmp(ending, endings[i])) {
			if (is_asked && *format != (enum ac_report_format)i)
				return false;
			*format = (enum ac_report_format)i;
			return true;
		}
	return false;
}

const char *
ac_format_ending(enum ac_report_format format)
{
	return endings[format];
}

/* NO_COLOR counts where it is not empty. */
bool
ac_format_wants_color(enum ac_color color, bool is_file)
{
	const char *term = getenv("TERM"), *no = getenv("NO_COLOR");

	if (color != AC_COLOR_AUTO)
		return color == AC_COLOR_ALWAYS;
	return !is_file && isatty(STDOUT_FILENO) && !(no && *no) && term
	    && *term && strcmp(term, "dumb");
}

void
ac_format_write(enum ac_report_format format,
    const struct ac_report *report, const struct ac_report_style *style,
    int *fd)
{
	switch (format) {
	case AC_FORMAT_JSON:
		ac_report_as_json(report, ac_say_bytes, fd);
		return;
	case AC_FORMAT_HTML:
		ac_report_as_html(report, ac_say_bytes, fd);
		return;
	case AC_FORMAT_CSV:
		if (!ac_report_as_csv(report, style->sort, ac_say_bytes, fd))
			*fd = -ENOMEM;
		return;
	case AC_FORMAT_TEXT:
	case AC_FORMAT_COUNT:
		break;
	}
	ac_report_as_table(report, style, ac_say_bytes, fd);
}
