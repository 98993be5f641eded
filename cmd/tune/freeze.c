/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/tune/freeze.c -- autocast policy freeze: the rungs of a run as the lines
 * of a policy. */
#include "cmd/tune/tune.h"

#include <stdlib.h>
#include <string.h>

enum { POLICY_BYTES = 1 << 20 };

static void
add(struct ac_text *text, const struct ac_report *report,
    const struct ac_tune_plan *plan)
{
	ac_tune_add_head(text, report);
	ac_text_add_cleanf(text, "# autocast policy freeze, of %s",
	    report->processes[0].program);
	ac_text_add(text, "\n");
	ac_tune_add_frozen(text, plan);
}

int
ac_freeze(unsigned which, const char *file)
{
	struct ac_text why = AC_TEXT_OF(512), text;
	struct ac_report *report = ac_report_load(which, &why);
	struct ac_tune_plan plan;
	int status;

	if (!report)
		return ac_say(AC_EXIT_FAILED, "policy freeze: %s", why.data);
	if (!ac_tune_plan_recast(&plan, report))
		return ac_say(AC_EXIT_FAILED, "out of memory");
	if (!plan.unit_count) {
		status = ac_say(AC_EXIT_FAILED, "policy freeze: nothing was "
		    "recast in that run");
	} else {
		text = ac_say_buffer(POLICY_BYTES);
		add(&text, report, &plan);
		status = ac_output_write("policy freeze", file, text.data,
		    text.used);
		free(text.data);
	}
	ac_tune_plan_end(&plan);
	ac_report_destroy(report);
	return status;
}
