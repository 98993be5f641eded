/* SPDX-License-Identifier: Apache-2.0 */
/* policy/decide/region.c -- what a program asks for in its region, and how a
 * rule treats that: a line that names the region overrules the program. Pure;
 * called by decide.c and explain.c. */
#include "policy/language/rule.h"

#include "base/text.h"

static bool
names_region(const struct ac_rule *rule)
{
	return ac_conditions_name(rule->conditions, rule->condition_count,
	    AC_FACT_REGION);
}

bool
ac_region_keeps(const struct ac_rule *rule, const struct ac_op *op)
{
	return op->region_keeps &&
	    (rule == NULL || !names_region(rule));
}

const struct ac_rule *
ac_rule_in_region(const struct ac_rule *rule, const struct ac_op *op,
    struct ac_rule *own)
{
	if (op->region_rungs == 0 || rule->action == AC_ACTION_KEEP ||
	    names_region(rule))
		return rule;
	*own = *rule;
	own->action = AC_ACTION_RUNGS;
	own->rung_count = op->region_rungs;
	for (unsigned i = 0; i < op->region_rungs; i++)
		own->rungs[i] = op->region_rung[i];
	return own;
}

void
ac_region_explain(const struct ac_rule *rule, const struct ac_op *op,
    struct ac_text *text)
{
	const bool overrules = rule != NULL && !ac_region_keeps(rule, op) &&
	    (rule->action == AC_ACTION_KEEP ||
	    names_region(rule));

	if (!op->region_keeps && op->region_rungs == 0)
		return;
	ac_text_addf(text, "  The region is %s", op->region_keeps ?
	    "disabled" : "to run on ");
	for (unsigned i = 0; i < op->region_rungs && !op->region_keeps; i++)
		ac_text_addf(text, "%s%s", i > 0 ? "," : "",
		    ac_rung_names[op->region_rung[i]]);
	ac_text_add(text, overrules ? "; the rule overrules that.\n" : ".\n");
}
