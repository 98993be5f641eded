/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/report/past.c -- autocast report --list, and one run against another. */
#include "cmd/report/request.h"
#include "report/past.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct ac_past *
open_past(void)
{
	struct ac_text why = AC_TEXT_OF(512);
	struct ac_past *past = ac_past_open(&why);

	if (past && ac_past_runs(past))
		return past;
	if (past)
		(void)ac_past_load(past, 1, &why);
	ac_past_close(past);
	ac_say(0, "report: %s", why.data);
	return NULL;
}

/* ---- List -------------------------------------------------------------- */

/* One at a time, as each may be large. A damaged one keeps its number. */
static void
read_runs(const struct ac_past *past, struct ac_past_run *runs, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		struct ac_text why = AC_TEXT_OF(512);
		struct ac_report *report = ac_past_load(past, i + 1, &why);

		ac_past_summarise(&runs[i], i + 1, report);
		ac_report_destroy(report);
	}
}

int
ac_past_print(const char *file, enum ac_report_format format)
{
	struct ac_past *past = open_past();
	const unsigned count = past ? ac_past_runs(past) : 0;
	struct ac_past_run *runs = calloc(count + 1, sizeof *runs);
	struct ac_output output;

	if (past && runs)
		read_runs(past, runs, count);
	ac_past_close(past);
	if (!past || !runs || !ac_output_open(&output, "report", file)) {
		free(runs);
		return AC_EXIT_FAILED;
	}
	if (format == AC_FORMAT_JSON)
		ac_past_as_json(runs, count, ac_say_bytes, &output.fd);
	else
		ac_past_as_list(runs, count, ac_say_bytes, &output.fd);
	free(runs);
	return ac_output_close(&output);
}

/* ---- Against each other ------------------------------------------------ */

static int
write_change(const char *file, struct ac_report *const reports[2],
    const unsigned runs[2])
{
	const int then = ac_report_is_older(reports[1], reports[0]);
	char names[2][16];
	struct ac_output output;

	if (!ac_output_open(&output, "report", file))
		return AC_EXIT_FAILED;
	for (int i = 0; i < 2; i++) {
		strcpy(names[i], "saved");
		if (!runs[i])
			continue;
		snprintf(names[i], sizeof names[i], "@%u", runs[i]);
		ac_report_name_callers(reports[i]);
	}
	if (!ac_report_as_change(reports[then], names[then], reports[!then],
	    names[!then], ac_say_bytes, &output.fd))
		output.fd = -ENOMEM;
	return ac_output_close(&output);
}

/* NULL after one line. */
static struct ac_report *
load(const struct ac_past *past, unsigned which, const char *saved)
{
	struct ac_text why = AC_TEXT_OF(512);
	struct ac_report *report = which ? ac_past_load(past, which, &why)
	    : ac_saved_load(saved, &why);

	if (!report && which)
		ac_say(0, "report: %s", why.data);
	else if (!report)
		ac_say(0, "report: cannot use %s: %s", saved, why.data);
	return report;
}

int
ac_past_compare(const char *file, const unsigned runs[2], const char *saved)
{
	struct ac_past *past = open_past();
	struct ac_report *reports[2] = { NULL, NULL };
	int status = AC_EXIT_FAILED;

	for (int i = 0; past && i < 2; i++) {
		reports[i] = load(past, runs[i], saved);
		if (!reports[i])
			break;
	}
	ac_past_close(past);
	if (reports[1])
		status = write_change(file, reports, runs);
	for (int i = 0; i < 2; i++)
		ac_report_destroy(reports[i]);
	return status;
}
