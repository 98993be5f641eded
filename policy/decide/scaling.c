/* SPDX-License-Identifier: Apache-2.0 */
/* policy/decide/scaling.c -- which call is a seed and which an update, and
 * why. Pure; reads only the frozen policy. */
#include "policy/language/rule.h"

#include "base/text.h"

/* The first condition that does not hold; NULL: the line means `op`. */
static const struct ac_condition *
failing(const struct ac_policy *policy, const struct ac_scaling_line *line,
    const struct ac_op *op)
{
	for (unsigned i = 0; i < line->condition_count; i++)
		if (!ac_condition_holds(policy, &line->conditions[i], op))
			return &line->conditions[i];
	return NULL;
}

enum ac_scaling
ac_policy_scaling(const struct ac_policy *policy, const struct ac_op *op,
    uint32_t *line_out)
{
	const struct ac_scaling_line *line = policy->scalings;
	const char *caller = op->fact[AC_FACT_CALLER];

	while (line != NULL && failing(policy, line, op) != NULL)
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

static bool
may_mean(const struct ac_policy *policy, const struct ac_scaling_line *line,
    const struct ac_op *op)
{
	for (unsigned i = 0; i < line->condition_count; i++)
		if (line->conditions[i].subject == AC_SUBJECT_FACT &&
		    line->conditions[i].which == AC_FACT_PROGRAM &&
		    !ac_condition_holds(policy, &line->conditions[i], op))
			return false;
	return true;
}

bool
ac_policy_may_scale(const struct ac_policy *policy, const char *program)
{
	struct ac_op op = { .fact[AC_FACT_PROGRAM] = program };
	const struct ac_scaling_line *line = policy->scalings;

	while (line != NULL && !may_mean(policy, line, &op))
		line = line->next;
	return line != NULL;
}

void
ac_policy_explain_scaling(const struct ac_policy *policy,
    const struct ac_op *op, struct ac_text *text)
{
	const enum ac_scaling kind = ac_policy_scaling(policy, op, NULL);
	const struct ac_condition *wrong = NULL;
	const struct ac_scaling_line *line;

	for (line = policy->scalings; line != NULL; line = line->next) {
		wrong = failing(policy, line, op);
		ac_text_addf(text, "  %s:%u  ", line->place.source->name,
		    line->place.line);
		ac_scaling_print(policy, line, text);
		ac_text_add(text, "  ");
		if (wrong == NULL)
			break;
		ac_condition_object(wrong, op, text);
		ac_text_add(text, "\n");
	}
	if (line != NULL)
		ac_text_add(text, "decides\n");
	if (policy->scalings == NULL)
		ac_text_add(text, "  (the policy has no seed and update "
		    "lines)\n");
	if (kind != AC_SCALING_NONE)
		ac_text_addf(text, "\n%s: its scalar is multiplied by 2^%s%u, "
		    "where `autocast policy validate` found that to fit\n",
		    ac_scaling_names[kind], kind == AC_SCALING_SEED ? "" : "-",
		    policy->scale);
	else
		ac_text_addf(text, "\nits scalar is the program's own%s\n",
		    line == NULL ? "" : ": a line that means NVIDIA's "
		    "libraries names them by caller=");
}
