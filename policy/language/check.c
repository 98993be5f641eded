/* SPDX-License-Identifier: Apache-2.0 */
/* policy/language/check.c -- what only the whole policy shows.
 * Resolves the settings of every rule, then refuses rungs their tolerance
 * forbids and a tactic they do not have. Runs once, at the end of loading. */
#include "policy/language/parse.h"

#include "base/text.h"

#include <string.h>

const struct ac_setting_value *
ac_rule_setting(const struct ac_policy *policy, const struct ac_rule *rule,
    enum ac_setting which)
{
	const struct ac_settings *places[] = { rule == NULL ? NULL : &rule->own,
		rule == NULL ? policy->defaults : rule->defaults,
		policy->profile_defaults };

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (places[i] != NULL && places[i]->of[which].word != NULL)
			return &places[i]->of[which];
	return NULL;
}

enum { DEFAULT_OWN = 3 };

/* ---- Settings ------------------------------------------------------------ */

static bool
reads(const struct ac_policy *policy, const struct ac_rule *rule,
    enum ac_setting which, const char *word)
{
	const struct ac_setting_value *value = ac_rule_setting(policy, rule,
	    which);

	return value != NULL && strcmp(value->word, word) == 0;
}

static uint64_t
whole(const struct ac_policy *policy, const struct ac_rule *rule,
    enum ac_setting which, uint64_t otherwise)
{
	const struct ac_setting_value *value = ac_rule_setting(policy, rule,
	    which);

	return value == NULL ? otherwise : (uint64_t)value->number;
}

static void
resolve(const struct ac_policy *policy, struct ac_rule *rule)
{
	const struct ac_setting_value *tol = ac_rule_setting(policy, rule,
	    AC_SET_TOL);
	struct ac_ask *ask = &rule->ask;

	ask->tol = tol == NULL ? 0 : tol->number;
	ask->workspace_bytes = whole(policy, rule, AC_SET_WORKSPACE, 0);
	ask->own = whole(policy, rule, AC_SET_OWN, DEFAULT_OWN);
	ask->reproducible = reads(policy, rule, AC_SET_REPRODUCIBLE, "on");
	ask->learns = reads(policy, rule, AC_SET_LEARN, "on");
	ask->advertises_workspace = reads(policy, rule, AC_SET_CONV_WORKSPACE,
	    "advertise");
	ask->guard = reads(policy, rule, AC_SET_GUARD, "strict") ?
	    AC_GUARD_STRICT : reads(policy, rule, AC_SET_GUARD, "off") ?
	    AC_GUARD_OFF : AC_GUARD_ON;
	ask->tactic = reads(policy, rule, AC_SET_TACTIC, "library") ?
	    AC_TACTIC_LIBRARY : reads(policy, rule, AC_SET_TACTIC, "cast") ?
	    AC_TACTIC_CAST : AC_TACTIC_NONE;
	ask->judges_profit = !reads(policy, rule, AC_SET_PROFIT, "off");
	ask->respects_opt_out = !reads(policy, rule, AC_SET_RESPECT_OPT_OUT,
	    "off");
}

/* ---- Contradictions ---------------------------------------------------- */

/* Point at the rung a person wrote or, when the rung is a profile's, at the
 * setting a person wrote. */
static void
blame(struct ac_parser *parser, const struct ac_rule *rule, unsigned i,
    const struct ac_setting_value *value, const char *message)
{
	ac_problem_error(&parser->problems, rule->of_profile ? &value->place :
	    &rule->rung_places[i], "%s", message);
}

static void
add_setting_origin(struct ac_text *text, const struct ac_rule *rule,
    const struct ac_setting_value *value, enum ac_setting which)
{
	ac_text_addf(text, "%s=%s", ac_setting_names[which], value->word);
	if (rule->of_profile)
		return;
	if (value->place.source != rule->place.source)
		ac_text_addf(text, " (%s:%u)", value->place.source->name,
		    value->place.line);
	else if (value->place.line != rule->place.line)
		ac_text_addf(text, " (line %u)", value->place.line);
}

static void
refuse_rung(struct ac_parser *parser, const struct ac_rule *rule, unsigned i,
    const struct ac_setting_value *tol)
{
	const enum ac_rung rung = rule->rungs[i];
	struct ac_text text = AC_TEXT_OF(400);

	ac_text_addf(&text, "the known error of %s, ", ac_rung_names[rung]);
	ac_text_add_double(&text, ac_rung_rows[rung].error, 3);
	ac_text_add(&text, ", is more than ");
	add_setting_origin(&text, rule, tol, AC_SET_TOL);
	if (rule->of_profile)
		ac_text_addf(&text, " allows; profile '%s' uses it in line %u",
		    rule->place.source->name, rule->place.line);
	else
		ac_text_addf(&text, " allows: drop %s, or write tol=",
		    ac_rung_names[rung]);
	if (!rule->of_profile)
		ac_text_add_double(&text, ac_rung_rows[rung].tol, 3);
	blame(parser, rule, i, tol, text.data);
}

static void
refuse_auto(struct ac_parser *parser, const struct ac_rule *rule,
    const struct ac_setting_value *tol)
{
	enum ac_rung best = AC_RUNG_TF32, rung;
	struct ac_text text = AC_TEXT_OF(200);

	for (rung = AC_RUNG_TF32; rung < AC_RUNG_COUNT; rung++)
		if (ac_rung_rows[rung].error < ac_rung_rows[best].error)
			best = rung;
	if (ac_rung_rows[best].error <= tol->number)
		return;
	ac_text_add(&text, "no rung is known to reach ");
	add_setting_origin(&text, rule, tol, AC_SET_TOL);
	ac_text_addf(&text, "; the most accurate is %s with ",
	    ac_rung_names[best]);
	ac_text_add_double(&text, ac_rung_rows[best].error, 3);
	blame(parser, rule, 0, tol, text.data);
}

/* Returns whether the rule is within its tolerance. */
static bool
check_tol(struct ac_parser *parser, const struct ac_rule *rule)
{
	const struct ac_setting_value *tol = ac_rule_setting(parser->policy,
	    rule, AC_SET_TOL);
	bool good = true;

	if (tol == NULL)
		return true;
	if (rule->action == AC_ACTION_AUTO)
		refuse_auto(parser, rule, tol);
	for (unsigned i = 0; i < rule->rung_count; i++) {
		if (ac_rung_rows[rule->rungs[i]].error <= tol->number)
			continue;
		refuse_rung(parser, rule, i, tol);
		good = false;
		if (rule->of_profile)
			break;
	}
	return good;
}

static void
check_cast(struct ac_parser *parser, const struct ac_rule *rule)
{
	const struct ac_setting_value *tactic = &rule->own.of[AC_SET_TACTIC];

	if (tactic->word == NULL || strcmp(tactic->word, "cast") != 0 ||
	    rule->rung_count != 1 || rule->rungs[0] != AC_RUNG_TF32)
		return;
	ac_problem_error(&parser->problems, &tactic->place,
	    "tf32 has no cast: the library rounds by itself; drop tactic=cast");
}

/* ---- Everything -------------------------------------------------------- */

void
ac_check_policy(struct ac_parser *parser)
{
	bool tol_blamed = false;
	struct ac_rule *rule;

	parser->policy->is_off = true;
	for (rule = parser->policy->rules; rule != NULL; rule = rule->next) {
		resolve(parser->policy, rule);
		if (!(rule->of_profile && tol_blamed))
			tol_blamed |= !check_tol(parser, rule) &&
			    rule->of_profile;
		check_cast(parser, rule);
		if (rule->action != AC_ACTION_KEEP)
			parser->policy->is_off = false;
	}
	if (parser->problems.errors == 0)
		ac_check_scaling(parser);
}
