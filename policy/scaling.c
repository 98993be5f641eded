/* SPDX-License-Identifier: Apache-2.0 */
/* policy/scaling.c -- which call is a seed and which an update, and the lines
 * that say so as text. Pure; reads only the frozen policy. */
#include "policy/rule.h"

#include "base/text.h"

static bool
holds(const struct ac_policy *policy, const struct ac_scaling_line *line,
    const struct ac_op *op)
{
	unsigned i;

	for (i = 0; i < line->condition_count; i++)
		if (!ac_condition_holds(policy, &line->conditions[i], op))
			return false;
	return true;
}

enum ac_scaling
ac_policy_scaling(const struct ac_policy *policy, const struct ac_op *op,
    uint32_t *line_out)
{
	const struct ac_scaling_line *line = policy->scalings;
	const char *caller = op->fact[AC_FACT_CALLER];

	while (line != NULL && !holds(policy, line, op))
		line = line->next;
	if (line_out != NULL)
		*line_out = line != NULL ? line->place.line : 0;
	if (line == NULL || (caller != NULL && ac_caller_is_nvidia(caller) &&
	    !ac_conditions_name(line->conditions, line->condition_count,
	    AC_FACT_CALLER)))
		return AC_SCALING_NONE;
	return line->kind;
}

unsigned
ac_policy_scale(const struct ac_policy *policy)
{
	return policy->scalings != NULL ? policy->scale : 0;
}

void
ac_policy_print_scaling(const struct ac_policy *policy, struct ac_text *text)
{
	const struct ac_scaling_line *line;
	unsigned i;

	for (line = policy->scalings; line != NULL; line = line->next) {
		ac_text_add(text, ac_scaling_names[line->kind]);
		for (i = 0; i < line->condition_count; i++) {
			ac_text_add(text, " ");
			ac_condition_print(&line->conditions[i], text);
		}
		if (line->kind == AC_SCALING_SEED)
			ac_text_addf(text, " -> scale=2^%u\n", policy->scale);
		else
			ac_text_add(text, " -> unscale\n");
	}
}
