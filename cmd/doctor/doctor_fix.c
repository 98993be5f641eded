/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/doctor/doctor_fix.c -- commands to be copied into a shell. Pure. */
#include "cmd/doctor/doctor.h"

#include <string.h>

static const struct ac_doctor_process *
process_of(const struct ac_doctor_facts *facts)
{
	for (size_t i = 0; i < facts->process_count; i++)
		if (facts->processes[i].pid == facts->pid)
			return &facts->processes[i];
	return NULL;
}

void
ac_doctor_add_program(struct ac_text *text, const struct ac_doctor_facts *facts)
{
	const struct ac_doctor_process *process = process_of(facts);

	if (!facts->arguments) {
		ac_text_add(text, process && process->command
		    ? process->command : "PROGRAM");
		return;
	}
	ac_quote(text, *facts->arguments);
	ac_quote_all(text, facts->arguments + 1);
}

void
ac_doctor_add_run(struct ac_text *fix, const struct ac_doctor_facts *facts,
    const char *extra)
{
	const bool is_rule = strstr(extra, "->") != NULL;
	struct ac_launch launch = *facts->launch;

	if (strstr(extra, "--policy"))
		launch.chosen.policy = NULL;
	ac_quotef(fix, "%s run", facts->autocast);
	if (is_rule) /* of those the first one decides */
		ac_text_addf(fix, " %s", extra);
	ac_launch_add_options(fix, &launch);
	if (!is_rule && *extra)
		ac_text_addf(fix, " %s", extra);
	ac_text_add(fix, " -- ");
	ac_doctor_add_program(fix, facts);
}
