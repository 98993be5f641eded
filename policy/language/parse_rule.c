/* SPDX-License-Identifier: Apache-2.0 */
/* policy/language/parse_rule.c -- one rule: operations, conditions, action,
 * settings. Called for every statement that starts with none of the other
 * words. */
#include "policy/language/parse.h"

#include "base/text.h"

#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- Rules -------------------------------------------------------------- */

static bool
parse_pattern(struct ac_parser *parser, unsigned *patterns)
{
	const struct ac_token token = parser->token;
	const char *instead;
	int pattern;

	if (!ac_parser_is(parser, AC_TOKEN_WORD))
		return ac_parser_fail(parser, &token,
		    "an operation is wanted here, not %s%s",
		    ac_parser_spell(parser), ac_parser_slip(parser,
		    AC_SLIP_OPERATION, &token));
	pattern = ac_name_find(token.at, token.length, ac_pattern_names,
	    AC_PATTERN_COUNT);
	instead = pattern < 0 ? ac_gone_instead(token.at, token.length) : NULL;
	if (instead != NULL)
		return ac_parser_fail(parser, &token, "'%.*s' is gone: %s",
		    (int)token.length, token.at, instead);
	if (pattern < 0)
		return ac_parser_fail(parser, &token,
		    "unknown operation '%.*s'%s", (int)token.length, token.at,
		    ac_parser_names(parser, AC_SLIP_OPERATION, &token,
		    ac_pattern_names, AC_PATTERN_COUNT));
	*patterns |= 1u << pattern;
	ac_parser_advance(parser);
	return true;
}

/* The section's conditions are the first of every rule below it. */
static bool
join_section(struct ac_parser *parser, const struct ac_token *token,
    unsigned families)
{
	struct ac_text text = AC_TEXT_OF(128);

	for (unsigned i = 0; i < parser->section_count; i++) {
		parser->conditions[i] = parser->section[i];
		if (ac_condition_families(&parser->section[i]) & families)
			continue;
		ac_condition_print(&parser->section[i], &text);
		return ac_parser_fail(parser, token, "no operation of this "
		    "line can have %s, which its section asks for", text.data);
	}
	parser->condition_count = parser->section_count;
	return true;
}

/* A word where a condition or '->' must stand, and is not followed by a
 * comparison, but by `next`. */
static bool
refuse_word(struct ac_parser *parser, const struct ac_token *token,
    const struct ac_token *next)
{
	const int length = (int)token->length;
	const char *slip;

	if (ac_name_find(token->at, token->length, ac_rung_names,
	    AC_RUNG_COUNT) >= 0 || (length == 4 &&
	    memcmp(token->at, "auto", 4) == 0))
		return ac_parser_fail(parser, token, "'->' is missing before "
		    "'%.*s'", length, token->at);
	if (ac_name_find(token->at, token->length, ac_pattern_names,
	    AC_PATTERN_COUNT) >= 0)
		return ac_parser_fail(parser, token, "several operations are "
		    "written with ',': gemm,conv");
	slip = ac_parser_slip(parser, AC_SLIP_COMPARISON, next);
	if (*slip == '\0')
		slip = ac_parser_slip(parser, AC_SLIP_CONDITION, token);
	/* gpu=NVIDIA H200 */
	if (*slip == '\0' && parser->condition_count > 0 && parser->conditions
	    [parser->condition_count - 1].subject == AC_SUBJECT_FACT)
		slip = "; a value with a blank in it stands in quotes";
	return ac_parser_fail(parser, token, "%s%.*s%s is not a condition "
	    "(KEY=VALUE)%s", token->kind == AC_TOKEN_WORD ? "'" : "", length,
	    token->at, token->kind == AC_TOKEN_WORD ? "'" : "", slip);
}

static bool
parse_conditions(struct ac_parser *parser, unsigned families)
{
	struct ac_token key, next;
	struct ac_lexer ahead;
	unsigned had;

	while (ac_parser_is(parser, AC_TOKEN_WORD) ||
	    ac_parser_is(parser, AC_TOKEN_STRING)) {
		key = parser->token;
		ahead = parser->lexer;
		ac_lex_next(&ahead, &next);
		if (next.kind != AC_TOKEN_COMPARE && next.kind != AC_TOKEN_OPEN)
			return refuse_word(parser, &key, &next);
		if (parser->condition_count == AC_MOST_CONDITIONS)
			return ac_parser_fail(parser, &key, "more than %d "
			    "conditions", AC_MOST_CONDITIONS);
		if (!ac_parse_condition(parser,
		    &parser->conditions[parser->condition_count], &had))
			return false;
		if ((had & families) == 0)
			return ac_parser_fail(parser, &key, "no operation of "
			    "this line can have '%.*s'", (int)key.length,
			    key.at);
		parser->condition_count++;
	}
	return true;
}

bool
ac_rule_allows(const struct ac_rule *rule, enum ac_rung rung)
{
	if (rule->action == AC_ACTION_AUTO)
		return rung != AC_RUNG_KEEP;
	for (unsigned i = 0; i < rule->rung_count; i++)
		if (rule->rungs[i] == rung)
			return true;
	return false;
}

static bool
parse_rung(struct ac_parser *parser, struct ac_rule *rule)
{
	static const char *const actions[] = {
#define RUNG(id, name, error, tol, base, terms, chunk) name,
#include "policy/words.def"
		"auto"
	};
	const struct ac_token token = parser->token;
	int action;

	if (ac_parser_at_end(parser))
		return ac_parser_fail(parser, &token, "an action is missing "
		    "after '%s'", rule->rung_count == 0 ? "->" : ",");
	action = ac_name_find(token.at, token.length, actions, COUNT(actions));
	if (action < 0)
		return ac_parser_fail(parser, &token, "unknown action '%.*s'%s",
		    token.length > 100 ? 100 : (int)token.length, token.at,
		    ac_parser_names(parser, AC_SLIP_ACTION, &token, actions,
		    COUNT(actions)));
	if (action == AC_RUNG_KEEP || action == AC_RUNG_COUNT) {
		if (rule->rung_count != 0)
			return ac_parser_fail(parser, &token, "'%s' stands "
			    "alone", actions[action]);
		rule->action = action == AC_RUNG_KEEP ? AC_ACTION_KEEP :
		    AC_ACTION_AUTO;
		rule->rung_places[0] = ac_parser_spot(parser, &token);
	} else if (!(rule->action == AC_ACTION_RUNGS &&
	    ac_rule_allows(rule, (enum ac_rung)action))) {
		rule->action = AC_ACTION_RUNGS;
		rule->rung_places[rule->rung_count] =
		    ac_parser_spot(parser, &token);
		rule->rungs[rule->rung_count++] = (enum ac_rung)action;
	}
	ac_parser_advance(parser);
	return true;
}

static bool
parse_action(struct ac_parser *parser, struct ac_rule *rule)
{
	if (!parse_rung(parser, rule))
		return false;
	while (ac_parser_is(parser, AC_TOKEN_COMMA)) {
		if (rule->action != AC_ACTION_RUNGS)
			return ac_parser_fail(parser, &parser->token,
			    "'%s' stands alone: %s", rule->action ==
			    AC_ACTION_KEEP ? "keep" : "auto", rule->action ==
			    AC_ACTION_KEEP ? "it is always allowed anyway" :
			    "it allows every rung");
		ac_parser_advance(parser);
		if (!parse_rung(parser, rule))
			return false;
	}
	return true;
}

const struct ac_condition *
ac_parser_keep(struct ac_parser *parser)
{
	const size_t bytes = parser->condition_count *
	    sizeof(parser->conditions[0]);
	struct ac_condition *kept = ac_parser_take(parser, bytes);

	return kept == NULL ? NULL : memcpy(kept, parser->conditions, bytes);
}

/* Put the rule at the end of the list. */
static void
add_rule(struct ac_parser *parser, const struct ac_rule *rule)
{
	const struct ac_condition *conditions = ac_parser_keep(parser);
	struct ac_rule *kept = ac_parser_take(parser, sizeof(*kept));

	if (conditions == NULL || kept == NULL)
		return;
	*kept = *rule;
	kept->conditions = conditions;
	kept->condition_count = parser->condition_count;
	*parser->rule_end = kept;
	parser->rule_end = &kept->next;
	parser->rule_count++;
}

static bool
parse_left_side(struct ac_parser *parser, struct ac_rule *rule)
{
	const struct ac_token first = parser->token;
	unsigned families = 0, i;

	if (!parse_pattern(parser, &rule->patterns))
		return false;
	while (ac_parser_is(parser, AC_TOKEN_COMMA)) {
		ac_parser_advance(parser);
		if (!parse_pattern(parser, &rule->patterns))
			return false;
	}
	for (i = 0; i < AC_PATTERN_COUNT; i++)
		if (rule->patterns >> i & 1) {
			families |= ac_patterns[i].families;
			rule->operations |= ac_patterns[i].operations;
		}
	rule->place = ac_parser_spot(parser, &first);
	return ac_parse_conditions(parser, &first, families);
}

static bool
refuse_token(struct ac_parser *parser)
{
	static const struct ac_token comma = { .at = ",", .length = 1 };
	const struct ac_token *token = &parser->token;

	if (ac_parser_reads(parser, "\""))
		return ac_parser_end_statement(parser);
	/* `ta=N, tb=T`: what was read as one more value is a condition. */
	if (ac_parser_is(parser, AC_TOKEN_COMPARE) &&
	    parser->condition_count > 0 &&
	    parser->conditions[parser->condition_count - 1].count > 1)
		token = &comma;
	return ac_parser_fail(parser, &parser->token,
	    "'->' is missing before %s%s", ac_parser_spell(parser),
	    ac_parser_slip(parser, AC_SLIP_CONDITION, token));
}

bool
ac_parse_conditions(struct ac_parser *parser, const struct ac_token *first,
    unsigned families)
{
	if (!join_section(parser, first, families) ||
	    !parse_conditions(parser, families))
		return false;
	if (ac_parser_is(parser, AC_TOKEN_ARROW))
		return true;
	if (ac_parser_at_end(parser))
		return ac_parser_fail(parser, &parser->token,
		    "'->' and an action are missing");
	return refuse_token(parser);
}

bool
ac_parse_rule(struct ac_parser *parser)
{
	const struct ac_token first = parser->token;
	/* `set` lines count for a profile's rules, too: they stand above. */
	struct ac_rule rule = {
		.of_profile = parser->in_profile,
		.defaults = parser->policy->defaults,
	};
	unsigned count;

	if (!parse_left_side(parser, &rule))
		return false;
	ac_parser_advance(parser);
	if (!parse_action(parser, &rule) ||
	    !ac_parse_settings(parser, &rule.own, &count) ||
	    !ac_parser_end_statement(parser))
		return false;
	if (parser->rule_count == AC_MOST_RULES)
		return ac_parser_fail(parser, &first, "more than %d rules",
		    AC_MOST_RULES);
	add_rule(parser, &rule);
	return true;
}
