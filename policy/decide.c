/* SPDX-License-Identifier: Apache-2.0 */
/* policy/decide.c -- from an operation to a decision.
 * Pure: same question, same answer; no I/O, no clock, no allocation. Reads
 * only the frozen policy; asked once per site, from any thread. */
#include "policy/rule.h"

#include "base/text.h"

#include <string.h>

/* Below this many multiply-adds and adds a product is bound by launches and
 * bandwidth on every GPU we know, whatever its rung. */
#define FEWEST_OPERATIONS 16777216.0

bool
ac_rule_allows(const struct ac_rule *rule, enum ac_rung rung)
{
	unsigned i;

	if (rule->action == AC_ACTION_AUTO)
		return rung != AC_RUNG_KEEP;
	for (i = 0; i < rule->rung_count; i++)
		if (rule->rungs[i] == rung)
			return true;
	return false;
}

double
ac_rule_tol(const struct ac_rule *rule, enum ac_rung rung)
{
	return rule->ask.tol > 0 ? rule->ask.tol : ac_rung_rows[rung].tol;
}

/* ---- Legality ------------------------------------------------------------ */

#define BIT(id) (1u << AC_RUNG_##id)
enum {
	SPLITS = BIT(FP16X3) | BIT(BF16X3) | BIT(BF16X6) | BIT(INT8X3) |
	    BIT(INT8X6),
	PLAIN = BIT(TF32) | BIT(FP16) | BIT(BF16)
};

/* The rungs each operation has at all ("Legal rungs" of the manual). */
static const unsigned legal_rungs[AC_OP_COUNT] = {
	[AC_OP_GEMM_SINGLE] = PLAIN | SPLITS,
	[AC_OP_GEMM_STRIDED] = PLAIN | SPLITS,
	[AC_OP_GEMM_LT] = PLAIN | SPLITS,
	/* Pointer arrays: the host cannot see how the matrices are aligned, so
	 * the compute type of the program's own call stays as it is. */
	[AC_OP_GEMM_BATCHED] = BIT(FP16) | BIT(BF16) | SPLITS,
	[AC_OP_GEMM_GROUPED] = 0,
	[AC_OP_CONV_FPROP] = BIT(TF32) | BIT(FP16),
	[AC_OP_CONV_DGRAD] = BIT(TF32),
	[AC_OP_CONV_WGRAD] = BIT(TF32),
	[AC_OP_RNN] = BIT(TF32) | BIT(FP16),
};

/* Compute capability that first has the arithmetic of a rung. */
static const double least_sm[AC_RUNG_COUNT] = {
	[AC_RUNG_TF32] = 80,
	[AC_RUNG_FP16] = 70,
	[AC_RUNG_BF16] = 80,
	[AC_RUNG_FP16X3] = 70,
	[AC_RUNG_BF16X3] = 80,
	[AC_RUNG_BF16X6] = 80,
	[AC_RUNG_INT8X3] = 75,
	[AC_RUNG_INT8X6] = 75,
};

/* Operations whose recast calls this version can make. */
static bool
is_built_for(const struct ac_op *op)
{
	return op->operation == AC_OP_GEMM_SINGLE ||
	    op->operation == AC_OP_GEMM_STRIDED;
}

static bool
fact_is(const struct ac_op *op, enum ac_fact fact, const char *value)
{
	return op->fact[fact] != NULL && strcmp(op->fact[fact], value) == 0;
}

/* Whether a pattern of the rule names just this operation. */
static bool
names_exactly(const struct ac_rule *rule, enum ac_operation operation)
{
	unsigned i;

	for (i = 0; i < AC_PATTERN_COUNT; i++)
		if (rule->patterns >> i & 1 && ac_patterns[i].exact &&
		    ac_patterns[i].operations == 1u << operation)
			return true;
	return false;
}

static bool
is_legal(const struct ac_rule *rule, const struct ac_op *op, enum ac_rung rung)
{
	unsigned legal = legal_rungs[op->operation];

	/* Gradients need range: FP16 only for who asks for it by name. */
	if ((op->operation == AC_OP_CONV_DGRAD ||
	    op->operation == AC_OP_CONV_WGRAD) &&
	    names_exactly(rule, op->operation))
		legal |= BIT(FP16);
	if (fact_is(op, AC_FACT_TYPE, "c32"))
		legal &= BIT(TF32) | BIT(BF16);
	return legal >> rung & 1;
}

enum ac_verdict
ac_rung_judge(const struct ac_rule *rule, const struct ac_op *op,
    enum ac_rung rung)
{
	if (!is_legal(rule, op, rung))
		return AC_VERDICT_ILLEGAL;
	if (!ac_op_has(op, AC_Q_SM) ||
	    op->quantity[AC_Q_SM] < least_sm[rung])
		return AC_VERDICT_GPU;
	if (ac_rung_rows[rung].error > ac_rule_tol(rule, rung))
		return AC_VERDICT_INACCURATE;
	if (!ac_rung_rows[rung].built || !is_built_for(op) ||
	    fact_is(op, AC_FACT_TYPE, "c32"))
		return AC_VERDICT_NOT_BUILT;
	if (rung == AC_RUNG_FP16 && rule->ask.tactic == AC_TACTIC_LIBRARY &&
	    rule->ask.scaled)
		return AC_VERDICT_TACTIC;
	return AC_VERDICT_FITS;
}

/* ---- Refusals that come before any rung ---------------------------------- */

static const char *
base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash == NULL ? path : slash + 1;
}

static bool
is_nvidia_library(const char *caller)
{
	static const char *const globs[] = { "libcublas*", "libcudnn*",
		"libcusolver*", "libcusparse*", "libcufft*", "libnv*" };
	size_t i;

	for (i = 0; i < sizeof(globs) / sizeof(globs[0]); i++)
		if (ac_text_glob(globs[i], base_name(caller)))
			return true;
	return false;
}

static bool
names_caller(const struct ac_rule *rule)
{
	const struct ac_condition *condition;
	unsigned i;

	for (i = 0; i < rule->condition_count; i++) {
		condition = &rule->conditions[i];
		if (condition->subject == AC_SUBJECT_FACT &&
		    condition->which == AC_FACT_CALLER &&
		    condition->compare == AC_SAME)
			return true;
	}
	return false;
}

/* Why the call stays as it is whatever its rungs; NONE if nothing says so. */
static enum ac_reason
refusal(const struct ac_rule *rule, const struct ac_op *op)
{
	const char *caller = op->fact[AC_FACT_CALLER];

	if (rule->action == AC_ACTION_KEEP)
		return AC_REASON_RULE;
	if (rule->ask.respects_opt_out) {
		if (fact_is(op, AC_FACT_ASKED, "pedantic"))
			return AC_REASON_PEDANTIC;
		if (fact_is(op, AC_FACT_ASKED, "emulated") ||
		    fact_is(op, AC_FACT_ASKED, "opted-out"))
			return AC_REASON_OPTED_OUT;
	}
	if (op->fact[AC_FACT_TYPE] != NULL && !fact_is(op, AC_FACT_TYPE, "f32")
	    && !fact_is(op, AC_FACT_TYPE, "c32"))
		return AC_REASON_TYPE;
	if (caller != NULL && is_nvidia_library(caller) && !names_caller(rule))
		return AC_REASON_INTERNAL_CALLER;
	if (op->operation == AC_OP_GEMM_GROUPED)
		return AC_REASON_GROUPED;
	/* A guarantee was asked for that only the guard can give. */
	if (rule->ask.guard == AC_GUARD_STRICT)
		return AC_REASON_NOT_BUILT;
	return AC_REASON_NONE;
}

/* ---- The choice ----------------------------------------------------------- */

/* TF32 has the accuracy of FP16 and needs no cast; BF16 is the least accurate.
 * Measured profit will replace this order. */
static const enum ac_rung preference[] = { AC_RUNG_TF32, AC_RUNG_FP16,
	AC_RUNG_BF16 };

static enum ac_rung
best_rung(const struct ac_rule *rule, const struct ac_op *op)
{
	const bool as_named = !rule->ask.judges_profit &&
	    rule->action == AC_ACTION_RUNGS;
	const unsigned count = as_named ? rule->rung_count :
	    sizeof(preference) / sizeof(preference[0]);
	enum ac_rung rung;
	unsigned i;

	for (i = 0; i < count; i++) {
		rung = as_named ? rule->rungs[i] : preference[i];
		if (ac_rule_allows(rule, rung) &&
		    ac_rung_judge(rule, op, rung) == AC_VERDICT_FITS)
			return rung;
	}
	return AC_RUNG_KEEP;
}

/* No allowed rung fits: because none exists here, or none exists yet? */
static enum ac_reason
why_no_rung(const struct ac_rule *rule, const struct ac_op *op)
{
	bool names_built = false, waits = false;
	unsigned i;

	for (i = AC_RUNG_KEEP + 1; i < AC_RUNG_COUNT; i++) {
		if (!ac_rule_allows(rule, (enum ac_rung)i))
			continue;
		names_built |= ac_rung_rows[i].built;
		waits |= ac_rung_judge(rule, op, (enum ac_rung)i) ==
		    AC_VERDICT_NOT_BUILT;
	}
	return waits || !names_built ? AC_REASON_NOT_BUILT :
	    AC_REASON_UNSUPPORTED;
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

static enum ac_tactic
tactic_of(const struct ac_rule *rule, enum ac_rung rung)
{
	if (rung == AC_RUNG_TF32)
		return AC_TACTIC_LIBRARY;
	if (rung == AC_RUNG_FP16)
		return rule->ask.tactic == AC_TACTIC_LIBRARY &&
		    !rule->ask.scaled ? AC_TACTIC_LIBRARY : AC_TACTIC_CAST;
	return rule->ask.tactic == AC_TACTIC_CAST ? AC_TACTIC_CAST :
	    AC_TACTIC_LIBRARY;
}

static void
keep(struct ac_decision *decision, enum ac_reason reason)
{
	decision->rung = AC_RUNG_KEEP;
	decision->tactic = AC_TACTIC_NONE;
	decision->reason = reason;
}

void
ac_policy_decide(const struct ac_policy *policy, const struct ac_op *op,
    struct ac_decision *decision_out)
{
	const struct ac_rule *rule = ac_rule_find(policy, op);
	struct ac_decision decision = { .source = "", .scaled = true,
		.respects_opt_out = true };
	enum ac_reason reason;
	enum ac_rung rung;

	if (rule == NULL) {
		keep(&decision, AC_REASON_NO_RULE);
		decision.tol = ac_rung_rows[AC_RUNG_KEEP].tol;
		*decision_out = decision;
		return;
	}
	decision.source = rule->place.source->name;
	decision.line = rule->place.line;
	decision.scaled = rule->ask.scaled;
	decision.respects_opt_out = rule->ask.respects_opt_out;
	decision.workspace_bytes = rule->ask.workspace_bytes;
	reason = refusal(rule, op);
	rung = reason == AC_REASON_NONE ? best_rung(rule, op) : AC_RUNG_KEEP;
	decision.tol = ac_rule_tol(rule, rung);
	if (reason != AC_REASON_NONE) {
		keep(&decision, reason);
	} else if (rung == AC_RUNG_KEEP) {
		keep(&decision, why_no_rung(rule, op));
	} else if (rule->ask.judges_profit && is_too_small(op)) {
		keep(&decision, AC_REASON_TOO_SMALL);
	} else {
		decision.rung = rung;
		decision.tactic = tactic_of(rule, rung);
		decision.reason = AC_REASON_NONE;
	}
	*decision_out = decision;
}

bool
ac_policy_is_off(const struct ac_policy *policy)
{
	return policy->is_off;
}

/* A setting of the process, not of a rule; NULL if nobody set it. */
static const struct ac_setting_value *
process_setting(const struct ac_policy *policy, enum ac_setting which)
{
	const struct ac_settings *places[] = { policy->defaults,
		policy->profile_defaults };

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (places[i] != NULL && places[i]->of[which].word != NULL)
			return &places[i]->of[which];
	return NULL;
}

uint64_t
ac_policy_workspace(const struct ac_policy *policy)
{
	const struct ac_setting_value *value = process_setting(policy,
	    AC_SET_WORKSPACE);

	return value != NULL ? (uint64_t)value->number : 0;
}

bool
ac_policy_strips_deepbind(const struct ac_policy *policy)
{
	const struct ac_setting_value *value = process_setting(policy,
	    AC_SET_DEEPBIND);

	return value != NULL && strcmp(value->word, "on") == 0;
}
