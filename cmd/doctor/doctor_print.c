/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/doctor/doctor_print.c -- findings on stdout: a line each, the command
 * last. */
#include "cmd/doctor/doctor.h"

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
	for (size_t i = 0; i < findings->count; i++) {
		printf("%-8s ", mark_names[findings->found[i].mark]);
		print_clean(findings->found[i].text);
		putchar('\n');
	}
	printf("%s\n", findings->status == AC_DOCTOR_WELL ? "more about it:"
	    : "what to do:");
	puts(findings->fix);
}

static void
print_string(const char *text)
{
	putchar('"');
	for (; *text; text++) {
		const unsigned char c = (unsigned char)*text;

		if (c < ' ' || c == 127)
			printf("\\u%04x", c);
		else if (c == '"' || c == '\\')
			printf("\\%c", c);
		else
			putchar(c);
	}
	putchar('"');
}

static void
print_json(const struct ac_doctor_findings *findings)
{
	printf("{\"version\": 1, \"status\": %d, \"findings\": [",
	    findings->status);
	for (size_t i = 0; i < findings->count; i++) {
		printf("%s\n  {\"cause\": \"%s\", \"mark\": \"%s\", \"text\": ",
		    i ? "," : "", findings->found[i].cause,
		    mark_names[findings->found[i].mark]);
		print_string(findings->found[i].text);
		putchar('}');
	}
	printf("],\n \"command\": ");
	print_string(findings->fix);
	printf("}\n");
}

void
ac_doctor_print(const struct ac_doctor_findings *findings, bool json)
{
	(json ? print_json : print_text)(findings);
}
