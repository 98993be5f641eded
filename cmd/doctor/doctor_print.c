/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/doctor/doctor_print.c -- findings on stdout: a line each, the command
 * last. */
#include "cmd/command.h"
#include "cmd/doctor/doctor.h"
#include "report/write/json.h"

#include <stdio.h>

static const char *const mark_names[] = { "", "ok", "note", "problem" };

/* No finding ends its line early, or steers the terminal. */
static void
print_clean(const char *text)
{
	for (; *text; text++)
		putchar((unsigned char)*text < ' ' || *text == 127 ? '?'
		    : *text);
}

static void
print_text(const struct ac_doctor_findings *findings)
{
	bool has_problem = false;

	for (size_t i = 0; i < findings->count; i++) {
		has_problem |= findings->found[i].mark == AC_DOCTOR_PROBLEM;
		printf("%-8s ", mark_names[findings->found[i].mark]);
		print_clean(findings->found[i].text);
		putchar('\n');
	}
	printf("%s\n", has_problem ? "what to do:" : "more about it:");
	puts(findings->fix);
}

static void
print_json(const struct ac_doctor_findings *findings)
{
	struct ac_json w;

	ac_json_begin(&w, ac_say_stdout, NULL);
	ac_json_integer(&w, "version", 1);
	ac_json_integer(&w, "status", findings->status);
	ac_json_open(&w, "findings", "[");
	for (size_t i = 0; i < findings->count; i++) {
		ac_json_open(&w, NULL, "{");
		ac_json_string(&w, "cause", findings->found[i].cause);
		ac_json_string(&w, "mark",
		    mark_names[findings->found[i].mark]);
		ac_json_string(&w, "text", findings->found[i].text);
		ac_json_close(&w, "}");
	}
	ac_json_close(&w, "]");
	ac_json_string(&w, "command", findings->fix);
	ac_json_end(&w);
}

void
ac_doctor_print(const struct ac_doctor_findings *findings, bool json)
{
	(json ? print_json : print_text)(findings);
}
