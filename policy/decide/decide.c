/* SPDX-License-Identifier: Apache-2.0 */
/* policy/decide/decide.c -- from an operation to a decision.
 * Pure: same question, same answer; no I/O, no clock, no allocation. Reads
 * only the frozen policy; asked once per site, from any thread. */
#include "policy/profit/profit.h"
#include "policy/language/rule.h"

#include "base/text.h"

#include <string.h>

/* Below this many multiply-adds and adds a product is bound by launches and
 * bandwidth on every GPU we know, whatever its rung. */
#define FEWEST_OPERATIONS 16777216.0

/* ---- Refusals that come before any rung ---------------------------------- */

/* Why the call stays as it is whatever its rungs; NONE if nothing says so. */
static enum ac_reason
refusal(const struct ac_rule *rule, const struct ac_op *op)
{
	const char *caller = op->fact[AC_FACT_CALLER];

	if (rule->action == AC_ACTION_KEEP)
		return ac_conditions_name(rule->conditions,
		    rule->condition_count, AC_FACT_SOLVER) &&
		    ac_op_is(op, AC_FACT_SOLVER, "yes") ? AC_REASON_SOLVER :
		    AC_REASON_RULE;
	if (rule->ask.respects_opt_out) {
		if (ac_op_is(op, AC_FACT_ASKED, "pedantic"))
			return AC_REASON_PEDANTIC;
		if (ac_op_is(op, AC_FACT_ASKED, "emulated") ||
		    ac_op_is(op, AC_FACT_ASKED, "opted-out"))
			return AC_REASON_OPTED_OUT;
	}
	if (op->fact[AC_FACT_TYPE] != NULL && !ac_op_is(op, AC_FACT_TYPE, "f32")
	    && !ac_op_is(op, AC_FACT_TYPE, "c32"))
		return AC_REASON_TYPE;
	if (caller != NULL && ac_caller_is_nvidia(caller) &&
	    !ac_conditions_name(rule->conditions, rule->condition_count,
	    AC_FACT_CALLER))
		return AC_REASON_INTERNAL_CALLER;
	/* It takes no complex samples. */
	if (rule->ask.guard != AC_GUARD_OFF &&
	    ac_op_is(op, AC_FACT_TYPE, "c32"))
		return AC_REASON_GUARD;
	return AC_REASON_NONE;
}

/* ---- The choice -------------------------------------------------------- */

/* Where nothing else tells two rungs apart: TF32 has the accuracy of FP16 and
 * needs no cast; BF16 is the least accurate. Those by parts come behind what
 * they are more accurate than, FP16X2 behind what is so on any data. */
static const enum ac_rung preference[] = { AC_RUNG_TF32, AC_RUNG_FP16,
	AC_RUNG_BF16, AC_RUNG_FP16X3, AC_RUNG_BF16X3, AC_RUNG_FP16X2,
	AC_RUNG_BF16X6 };

/* A gain below this is not worth the loss of accuracy. */
#define LEAST_GAIN 1.1

/* How often slower a rung may be predicted to be and yet be worth a trial: the
 * constants of a GPU may be off by this much. */
#define DOUBT 4.0

/* The same for what learn=on measures on each call's time: predictions of a GPU
 * that somebody has measured are off by a quarter at most. */
#define LEARNING_DOUBT (1.25 / 0.75)

/* Every allowed rung that fits, as named or else in the order above. */
static void
collect(const struct ac_rule *rule, const struct ac_op *op,
    struct ac_decision *decision)
{
	const bool as_named = !rule->ask.judges_profit &&
	    rule->action == AC_ACTION_RUNGS;
	const unsigned count = as_named ? rule->rung_count :
	    sizeof(preference) / sizeof(preference[0]);
	struct ac_candidate *candidate;
	enum ac_rung rung;
	unsigned i;

	for (i = 0; i < count && decision->candidate_count < AC_CANDIDATES;
	    i++) {
		rung = as_named ? rule->rungs[i] : preference[i];
		if (!ac_rule_allows(rule, rung) ||
		    ac_rung_judge(rule, op, rung) != AC_VERDICT_FITS)
			continue;
		candidate = &decision->candidate[decision->candidate_count++];
		candidate->rung = rung;
		candidate->tactic = ac_rung_tactic(rule, op, rung);
		candidate->tol = ac_rung_tol(rule, rung);
		candidate->chunk = ac_rung_chunk(op, rung);
	}
}

static void
predict(const struct ac_op *op, struct ac_decision *decision)
{
	const struct ac_rates *rates = ac_rates_of(op);
	struct ac_candidate *candidate;

	if (rates == NULL)
		return;
	decision->keep_seconds = ac_profit_seconds(rates, op, AC_RUNG_KEEP,
	    AC_TACTIC_NONE);
	for (unsigned i = 0; i < decision->candidate_count; i++) {
		candidate = &decision->candidate[i];
		candidate->seconds = ac_profit_seconds(rates, op,
		    candidate->rung, candidate->tactic);
	}
}

/* Whether the call, as the program makes it, does just that already. */
static bool
is_as_asked(const struct ac_op *op, const struct ac_candidate *candidate)
{
	if (candidate->tactic != AC_TACTIC_LIBRARY)
		return false;
	switch (candidate->rung) {
	case AC_RUNG_TF32:
		return ac_op_is(op, AC_FACT_ASKED, "tf32");
	case AC_RUNG_FP16:
		return ac_op_is(op, AC_FACT_ASKED, "fast16f");
	case AC_RUNG_BF16:
		return ac_op_is(op, AC_FACT_ASKED, "fast16bf");
	default:
		return false;
	}
}

/* What serves on some data only comes behind what serves on any: until a call
 * has shown such, that runs (shim/trial/origin.c). */
static bool
is_before(const struct ac_candidate *one, const struct ac_candidate *other)
{
	const bool is_last = one->rung == AC_RUNG_FP16X2;

	return is_last != (other->rung == AC_RUNG_FP16X2) ? !is_last :
	    one->seconds < other->seconds;
}

/* Put `candidate` in front of those that are slower. */
static void
insert(struct ac_candidate *sorted, unsigned count,
    const struct ac_candidate *candidate)
{
	for (; count > 0 && is_before(candidate, &sorted[count - 1]); count--)
		sorted[count] = sorted[count - 1];
	sorted[count] = *candidate;
}

/* Whether the site will have trials that are timed. */
static bool
may_try(const struct ac_op *op, const struct ac_decision *decision)
{
	return decision->guard == AC_GUARD_ON && !decision->reproducible &&
	    ac_operation_is_timed(op->operation);
}

/* How long the rung of `candidate` may be predicted to take. Where no trial
 * will tell better it is to gain, as those by parts are, which do several
 * times the work. */
static double
limit(const struct ac_op *op, const struct ac_decision *decision,
    const struct ac_candidate *candidate)
{
	const double keep = decision->keep_seconds;

	if (decision->learns)
		return keep * LEARNING_DOUBT;
	return may_try(op, decision) && ac_rung_rows[candidate->rung].terms <= 1
	    ? keep * DOUBT : keep / LEAST_GAIN;
}

/* Leave the candidates that may gain, fastest first. */
static void
rank(const struct ac_op *op, struct ac_decision *decision)
{
	struct ac_candidate candidate;
	unsigned i, count = 0;

	for (i = 0; i < decision->candidate_count; i++) {
		candidate = decision->candidate[i];
		if (!is_as_asked(op, &candidate) &&
		    candidate.seconds <= limit(op, decision, &candidate))
			insert(decision->candidate, count++, &candidate);
	}
	if (count == 1 && decision->candidate_count > 1 &&
	    decision->candidate[0].rung == AC_RUNG_FP16X2)
		count = 0; /* nothing would show it such data */
	decision->candidate_count = count;
	if (!decision->learns)
		decision->apart_seconds = ac_profit_apart_seconds(
		    ac_rates_of(op), op);
	decision->is_doubtful = count > 0 &&
	    decision->candidate[0].seconds >
	    decision->keep_seconds / LEAST_GAIN;
}

/* However long a call of cuDNN's takes, it gains nothing by what it does
 * already. */
static void
leave_news(const struct ac_op *op, struct ac_decision *decision)
{
	const struct ac_candidate *all = decision->candidate;
	const bool only_first = !decision->judges_profit;
	unsigned i, count = 0;

	for (i = 0; i < decision->candidate_count; i++) {
		if (!is_as_asked(op, &all[i]))
			decision->candidate[count++] = all[i];
		else if (only_first && i == 0)
			break;
	}
	decision->candidate_count = count;
}

static bool
is_too_small(const struct ac_op *op)
{
	const double batch = ac_op_has(op, AC_Q_BATCH) ?
	    op->quantity[AC_Q_BATCH] : 1;

	if (!ac_op_has(op, AC_Q_M) || !ac_op_has(op, AC_Q_N) ||
	    !ac_op_has(op, AC_Q_K))
		return false;
	return 2 * op->quantity[AC_Q_M] * op->quantity[AC_Q_N] *
	    op->quantity[AC_Q_K] * batch < FEWEST_OPERATIONS;
}

void
ac_decision_keep(struct ac_decision *decision, enum ac_reason reason)
{
	decision->rung = AC_RUNG_KEEP;
	decision->tactic = AC_TACTIC_NONE;
	decision->reason = reason;
	decision->candidate_count = 0;
	decision->is_doubtful = false;
}

/* What the settings say, for kept calls too. */
static void
obey(struct ac_decision *decision, const struct ac_rule *rule)
{
	const struct ac_ask *ask = &rule->ask;

	decision->source = rule->place.source->name;
	decision->line = rule->place.line;
	decision->tol = ac_rule_tol(rule, AC_RUNG_KEEP);
	decision->respects_opt_out = ask->respects_opt_out;
	decision->workspace_bytes = ask->workspace_bytes;
	decision->guard = ask->learns ? AC_GUARD_ON : ask->guard;
	decision->judges_profit = ask->judges_profit;
	decision->reproducible = ask->reproducible || ask->learns;
	decision->learns = ask->learns;
	decision->advertises_workspace = ask->advertises_workspace;
	decision->own = ask->own;
}

static void
obey_nobody(struct ac_decision *decision)
{
	decision->source = "";
	decision->tol = ac_rung_rows[AC_RUNG_KEEP].tol;
	decision->respects_opt_out = true;
	decision->guard = AC_GUARD_ON;
	decision->judges_profit = true;
}

/* Returns why there is none to choose. */
static enum ac_reason
choose(const struct ac_rule *rule, const struct ac_op *op,
    struct ac_decision *decision)
{
	collect(rule, op, decision);
	if (decision->candidate_count == 0)
		return AC_REASON_UNSUPPORTED;
	predict(op, decision);
	if (rule->ask.judges_profit && is_too_small(op))
		return AC_REASON_TOO_SMALL;
	if (rule->ask.judges_profit && decision->keep_seconds > 0)
		rank(op, decision);
	if (ac_op_is_conv(op))
		leave_news(op, decision);
	if (decision->candidate_count == 0)
		return AC_REASON_NO_PROFIT;
	/* Results of convolutions are sampled, which is not enough. */
	if (rule->ask.guard == AC_GUARD_STRICT && ac_op_is_conv(op))
		return AC_REASON_GUARD;
	/* Next to a call no rung of a complex product is checked. */
	if (decision->learns && ac_op_is(op, AC_FACT_TYPE, "c32"))
		return AC_REASON_OWN;
	decision->rung = decision->candidate[0].rung;
	decision->tactic = decision->candidate[0].tactic;
	decision->tol = decision->candidate[0].tol;
	return AC_REASON_NONE;
}

/* With the rungs of the region, which are seldom there. */
static enum ac_reason
choose_there(const struct ac_rule *rule, const struct ac_op *op,
    struct ac_decision *decision)
{
	struct ac_rule own;

	return choose(ac_rule_in_region(rule, op, &own), op, decision);
}

void
ac_policy_decide(const struct ac_policy *policy, const struct ac_op *op,
    struct ac_decision *decision_out)
{
	const struct ac_rule *rule = ac_rule_find(policy, op);
	enum ac_reason reason;

	memset(decision_out, 0, sizeof(*decision_out));
	if (rule == NULL)
		obey_nobody(decision_out);
	else
		obey(decision_out, rule);
	if (ac_region_keeps(rule, op))
		reason = AC_REASON_REGION;
	else if (rule == NULL)
		reason = AC_REASON_NO_RULE;
	else
		reason = refusal(rule, op);
	if (reason == AC_REASON_NONE)
		reason = choose_there(rule, op, decision_out);
	if (reason != AC_REASON_NONE)
		ac_decision_keep(decision_out, reason);
}

void
ac_policy_estimate(const struct ac_op *op, struct ac_decision *decision)
{
	if (!(decision->keep_seconds > 0)
	    && decision->reason != AC_REASON_TYPE)
		predict(op, decision);
}

bool
ac_policy_is_off(const struct ac_policy *policy)
{
	return policy->is_off;
}

bool
ac_policy_strips_deepbind(const struct ac_policy *policy)
{
	const struct ac_setting_value *value = ac_rule_setting(policy, NULL,
	    AC_SET_DEEPBIND);

	return value != NULL && strcmp(value->word, "on") == 0;
}
