/* SPDX-License-Identifier: Apache-2.0 */
/* policy/decide/explain.c -- why a policy decides about an operation as it
 * does, for a person. Pure; agrees with decide.c because it asks decide.c. */
#include "policy/profit/profit.h"
#include "policy/language/rule.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

enum { WIDEST_PLACE = 32, WIDEST_RULE = 56, LONGEST_RULE = 1024 };

/* ---- The operation ----------------------------------------------------- */

static void
add_quantity(struct ac_text *text, const struct ac_op *op, unsigned q)
{
	if (ac_quantity_has_extents(q)) {
		uint64_t bits = (uint64_t)op->quantity[q];

		ac_text_addf(text, "%u", (unsigned)(bits & 0xffff));
		for (bits >>= 16; bits != 0; bits >>= 16)
			ac_text_addf(text, "x%u", (unsigned)(bits & 0xffff));
	} else if (ac_quantity_rows[q].is_size) {
		ac_text_add_fixed(text, op->quantity[q], 0);
	} else {
		ac_text_add_double(text, op->quantity[q], 3);
	}
}

static void
add_operation(struct ac_text *text, const struct ac_op *op)
{
	ac_text_add(text, ac_operation_names[op->operation]);
	for (unsigned i = 0; i < AC_Q_COUNT; i++) {
		if (!ac_op_has(op, i))
			continue;
		ac_text_addf(text, " %s=", ac_quantity_names[i]);
		add_quantity(text, op, i);
	}
	for (unsigned i = 0; i < AC_FACT_COUNT; i++)
		if (op->fact[i] != NULL)
			ac_text_addf(text, " %s=%s", ac_fact_names[i],
			    op->fact[i]);
	ac_text_add(text, "\n\n");
}

/* ---- The rules --------------------------------------------------------- */

void
ac_condition_object(const struct ac_condition *condition,
    const struct ac_op *op, struct ac_text *text)
{
	struct ac_text subject = AC_TEXT_OF(64);
	struct ac_condition bare = *condition;
	double value;

	/* The subject alone: a condition printed without its values. */
	bare.count = 0;
	ac_condition_print(&bare, &subject);
	subject.data[strcspn(subject.data, "<>=!")] = '\0';
	ac_text_addf(text, "no: %s is ", subject.data);
	if (condition->subject == AC_SUBJECT_FACT) {
		ac_text_add(text, op->fact[condition->which] == NULL ?
		    "not known" : op->fact[condition->which]);
	} else if (!ac_condition_value(condition, op, &value)) {
		ac_text_add(text, "not known");
	} else if (condition->subject == AC_SUBJECT_QUANTITY) {
		add_quantity(text, op, condition->which);
	} else {
		ac_text_add_fixed(text, value, 0);
	}
}

/* What stands in the way of `rule`; "" when nothing does. */
static void
judge(const struct ac_policy *policy, const struct ac_rule *rule,
    const struct ac_op *op, struct ac_text *text)
{
	if (!ac_rule_names(rule, op->operation)) {
		ac_text_addf(text, "no: another operation");
		return;
	}
	for (unsigned i = 0; i < rule->condition_count; i++) {
		if (ac_condition_holds(policy, &rule->conditions[i], op))
			continue;
		ac_condition_object(&rule->conditions[i], op, text);
		return;
	}
}

static size_t
place_width(const struct ac_rule *rule)
{
	return (size_t)snprintf(NULL, 0, "%s:%u", rule->place.source->name,
	    rule->place.line);
}

struct widths {
	size_t place, rule;
};

static struct widths
measure(const struct ac_policy *policy, const struct ac_rule *last)
{
	struct widths widths = { 0, 0 };
	const struct ac_rule *rule;

	for (rule = policy->rules; rule != NULL; rule = rule->next) {
		const size_t width = place_width(rule);
		struct ac_text text = AC_TEXT_OF(LONGEST_RULE);

		if (width > widths.place && width <= WIDEST_PLACE)
			widths.place = width;
		ac_rule_print(rule, &text);
		if (text.used > widths.rule && text.used <= WIDEST_RULE)
			widths.rule = text.used;
		if (rule == last)
			break;
	}
	return widths;
}

static void
add_rules(const struct ac_policy *policy, const struct ac_op *op,
    const struct ac_rule *last, struct ac_text *text)
{
	const struct widths widths = measure(policy, last);
	const struct ac_rule *rule;
	size_t start;

	for (rule = policy->rules; rule != NULL; rule = rule->next) {
		start = text->used;
		ac_text_addf(text, "  %s:%u", rule->place.source->name,
		    rule->place.line);
		ac_text_pad(text, start + 2 + widths.place);
		ac_text_add(text, "  ");
		ac_rule_print(rule, text);
		ac_text_pad(text, start + 4 + widths.place + widths.rule);
		ac_text_add(text, "  ");
		if (rule == last)
			ac_text_add(text, "decides");
		else
			judge(policy, rule, op, text);
		ac_text_add(text, "\n");
		if (rule == last)
			break;
	}
	if (policy->rules == NULL)
		ac_text_add(text, "  (the policy has no rules)\n");
	ac_text_add(text, "\n");
}

/* ---- The decision ------------------------------------------------------ */

static void
add_verdict(struct ac_text *text, const struct ac_rule *rule,
    const struct ac_op *op, enum ac_rung rung)
{
	switch (ac_rung_judge(rule, op, rung)) {
	case AC_VERDICT_FITS:
		ac_text_add(text, "fits");
		break;
	case AC_VERDICT_ILLEGAL:
		ac_text_add(text, "this operation does not have it");
		break;
	case AC_VERDICT_UNNAMED:
		ac_text_addf(text, "only for a line that names %s",
		    ac_operation_names[op->operation]);
		break;
	case AC_VERDICT_GPU:
		ac_text_add(text, !ac_op_has(op, AC_Q_SM) ?
		    "which GPU is not known: say sm=90 or the like" :
		    rung == AC_RUNG_FP16 && op->quantity[AC_Q_SM] >= 100 ?
		    "cuDNN has no such conversion on this GPU" :
		    "this GPU does not have it");
		break;
	case AC_VERDICT_INACCURATE:
		ac_text_add(text, "its known error is ");
		ac_text_add_double(text, ac_rung_rows[rung].error, 3);
		break;
	case AC_VERDICT_TACTIC:
		ac_text_add(text, "needs a cast, and tactic=library");
		break;
	case AC_VERDICT_COUNT:
		break;
	}
}

static void
add_time(struct ac_text *text, double seconds)
{
	const bool millis = seconds >= 1e-3 && seconds < 1;

	ac_text_add_double(text, seconds >= 1 ? seconds :
	    seconds * (millis ? 1e3 : 1e6), 3);
	ac_text_add(text, seconds >= 1 ? " s" : millis ? " ms" : " us");
}

/* What the model expects of a rung that fits. */
static void
add_prediction(struct ac_text *text, const struct ac_rule *rule,
    const struct ac_op *op, enum ac_rung rung, double keep_seconds)
{
	const struct ac_rates *rates = ac_rates_of(op);
	double seconds;

	if (!(keep_seconds > 0) || rates == NULL)
		return;
	seconds = ac_profit_seconds(rates, op, rung,
	    ac_rung_tactic(rule, op, rung));
	if (seconds > 1e30) {
		ac_text_add(text, ", which these rates do not have");
		return;
	}
	ac_text_add(text, ", estimated ");
	add_time(text, seconds);
	ac_text_add(text, ", ");
	ac_text_add_double(text, keep_seconds / seconds, 2);
	ac_text_add(text, rung == AC_RUNG_FP16X2 ?
	    "x, where FP16 holds an operand" : "x");
}

static const char *
why_chosen(const struct ac_rule *rule, const struct ac_decision *decision)
{
	if (decision->is_doubtful)
		return ": timed from the site's 64th call on";
	return rule->ask.judges_profit || rule->action == AC_ACTION_AUTO ?
	    ": chosen" : ", and is named first of those";
}

/* Each allowed rung, with what was said about it. */
static void
add_rungs(struct ac_text *text, const struct ac_rule *rule,
    const struct ac_op *op, const struct ac_decision *decision)
{
	enum ac_rung rung;

	if (decision->keep_seconds > 0) {
		ac_text_add(text, "  keep    estimated ");
		add_time(text, decision->keep_seconds);
		ac_text_add(text, ac_operation_is_timed(op->operation) ? "\n"
		    : ", what it adds to a call\n");
	}
	for (unsigned i = AC_RUNG_KEEP + 1; i < AC_RUNG_COUNT; i++) {
		rung = (enum ac_rung)i;
		if (!ac_rule_allows(rule, rung))
			continue;
		ac_text_addf(text, "  %-8s", ac_rung_names[rung]);
		add_verdict(text, rule, op, rung);
		if (ac_rung_judge(rule, op, rung) == AC_VERDICT_FITS)
			add_prediction(text, rule, op, rung,
			    decision->keep_seconds);
		ac_text_addf(text, "%s\n", rung == decision->rung ?
		    why_chosen(rule, decision) : "");
	}
	if (decision->apart_seconds > 0 && decision->tactic == AC_TACTIC_CAST) {
		ac_text_add(text, "  A cast takes ");
		add_time(text, decision->apart_seconds);
		ac_text_add(text, " more where a call adds to C (beta).\n");
	}
}

/* Whose numbers the estimates are. */
static void
add_rates(struct ac_text *text, const struct ac_op *op)
{
	const struct ac_rates *rates = ac_rates_of(op);

	ac_text_addf(text, "  The times are estimated for %s, by rates ",
	    rates->name);
	ac_rates_add_source(rates, text);
	ac_text_add(text, ".\n");
}

/* Whether a rung of the rule's, other than `but`, would do. */
static bool
any_fits(const struct ac_op *op, const struct ac_rule *rule, unsigned but)
{
	for (unsigned i = AC_RUNG_KEEP + 1; i < AC_RUNG_COUNT; i++)
		if (i != but && ac_rule_allows(rule, i) &&
		    ac_rung_judge(rule, op, i) == AC_VERDICT_FITS)
			return true;
	return false;
}

/* Whether the call runs as the best of the rule's rungs already. */
static bool
is_as_allowed(const struct ac_op *op, const struct ac_rule *rule)
{
	return !any_fits(op, rule, AC_RUNG_TF32) &&
	    ac_op_is(op, AC_FACT_ASKED, "tf32");
}

/* What a person can do about it, where something can be done. */
static const char *
advice(enum ac_reason reason, const struct ac_op *op,
    const struct ac_rule *rule)
{
	switch (reason) {
	case AC_REASON_TOO_SMALL:
	case AC_REASON_NO_PROFIT:
		if (rule != NULL && is_as_allowed(op, rule))
			return "It runs on TF32 as it is.";
		if (rule != NULL && !rule->ask.judges_profit)
			return "What is named first is what it does already.";
		return "profit=off recasts it all the same.";
	case AC_REASON_PEDANTIC:
	case AC_REASON_OPTED_OUT:
		return "respect-opt-out=off overrules the program.";
	case AC_REASON_INTERNAL_CALLER:
		return "A rule with caller= may name it.";
	case AC_REASON_GUARD:
		return rule != NULL && any_fits(op, rule, AC_RUNG_KEEP) ?
		    "guard=off recasts it unchecked." : NULL;
	case AC_REASON_REGION:
		return "A rule with region= may name it.";
	case AC_REASON_NO_RULE:
		return "`otherwise PROFILE` at the end would decide.";
	default:
		return NULL;
	}
}

/* Of a product of cublasLt, whose rungs are not what is missing. */
static void
add_objection(struct ac_text *text, const struct ac_op *op)
{
	const char *epilogue = op->fact[AC_FACT_EPILOGUE];
	const char *objection = op->operation == AC_OP_GEMM_LT && epilogue ?
	    ac_epilogue_objection(epilogue) : NULL;

	if (objection != NULL)
		ac_text_addf(text, "  By design: %s.\n", objection);
}

static void
add_decision(struct ac_text *text, const struct ac_op *op,
    const struct ac_rule *rule, const struct ac_decision *decision)
{
	const char *todo = advice(decision->reason, op, rule);
	const bool is_rule = decision->reason == AC_REASON_RULE;
	const bool rungs_matter = decision->reason == AC_REASON_NONE ||
	    decision->reason == AC_REASON_TOO_SMALL ||
	    decision->reason == AC_REASON_NO_PROFIT ||
	    decision->reason == AC_REASON_UNSUPPORTED;

	if (decision->reason == AC_REASON_NONE) {
		ac_text_addf(text, "%s%s by %s, tolerance ",
		    decision->is_doubtful ? "keep at first, then perhaps " : "",
		    ac_rung_names[decision->rung],
		    decision->tactic == AC_TACTIC_LIBRARY ?
		    "the library's own conversion" : "a cast of the operands");
		ac_text_add_double(text, decision->tol, 3);
	} else {
		ac_text_addf(text, "keep (%s): %s",
		    ac_reason_names[decision->reason], is_rule ? "kept by" :
		    ac_reason_meanings[decision->reason]);
	}
	if (rule != NULL)
		ac_text_addf(text, "%s%s:%u", is_rule ? " " : " -- ",
		    decision->source, decision->line);
	ac_text_add(text, "\n");
	if (rungs_matter)
		add_rungs(text, rule, op, decision);
	if (rungs_matter && decision->keep_seconds > 0)
		add_rates(text, op);
	if (todo != NULL)
		ac_text_addf(text, "  %s\n", todo);
	if (decision->reason == AC_REASON_UNSUPPORTED)
		add_objection(text, op);
}

void
ac_policy_explain(const struct ac_policy *policy, const struct ac_op *op,
    struct ac_text *text)
{
	const struct ac_rule *rule = ac_rule_find(policy, op);
	struct ac_decision decision;
	struct ac_rule own;

	ac_policy_decide(policy, op, &decision);
	if (decision.reason != AC_REASON_UNSUPPORTED)
		ac_policy_estimate(op, &decision);
	add_operation(text, op);
	add_rules(policy, op, rule, text);
	add_decision(text, op, rule == NULL ? NULL :
	    ac_rule_in_region(rule, op, &own), &decision);
	ac_region_explain(rule, op, text);
}
