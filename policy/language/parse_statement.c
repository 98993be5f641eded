/* SPDX-License-Identifier: Apache-2.0 */
/* policy/language/parse_statement.c -- the statements that are not rules, and
 * the table that tells them apart. Called by ac_parse_source(). */
#include "policy/language/parse.h"

#include "base/text.h"

#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- Other statements --------------------------------------------------- */

static bool
parse_version(struct ac_parser *parser)
{
	const bool is_second = ac_parser_reads(parser, "2");

	if (!is_second && !ac_parser_reads(parser, "1"))
		return ac_parser_fail(parser, &parser->token, "only versions 1 "
		    "and 2 of the language are known, not %s",
		    ac_parser_spell(parser));
	ac_parser_advance(parser);
	if (!ac_parser_end_statement(parser))
		return false;
	parser->version = is_second ? 2 : 1;
	return true;
}

static bool
parse_section(struct ac_parser *parser)
{
	unsigned families, count = 0;

	/* After an error the old section must not catch the rules below. */
	parser->section_count = 0;
	while (!ac_parser_is(parser, AC_TOKEN_SECTION_END)) {
		if (ac_parser_at_end(parser))
			return ac_parser_fail(parser, &parser->token,
			    "']' is missing");
		if (count == AC_MOST_CONDITIONS)
			return ac_parser_fail(parser, &parser->token,
			    "more than %d conditions", AC_MOST_CONDITIONS);
		if (!ac_parse_condition(parser, &parser->section[count],
		    &families))
			return false;
		count++;
	}
	ac_parser_advance(parser);
	if (!ac_parser_end_statement(parser))
		return false;
	parser->section_count = count;
	return true;
}

static bool
parse_set(struct ac_parser *parser)
{
	const struct ac_settings **above = parser->in_profile ?
	    &parser->policy->profile_defaults : &parser->policy->defaults;
	struct ac_settings *settings;
	unsigned count;

	memset(&parser->settings, 0, sizeof(parser->settings));
	if (*above != NULL)
		parser->settings = **above;
	if (!ac_parse_settings(parser, &parser->settings, &count))
		return false;
	if (count == 0)
		return ac_parser_fail(parser, &parser->token,
		    "set wants KEY=VALUE");
	if (!ac_parser_end_statement(parser))
		return false;
	settings = ac_parser_take(parser, sizeof(*settings));
	if (settings != NULL) {
		*settings = parser->settings;
		*above = settings;
	}
	return true;
}

static bool
parse_include(struct ac_parser *parser)
{
	const struct ac_token token = parser->token;

	if (ac_parser_reads(parser, "\""))
		return ac_parser_end_statement(parser);
	if (!ac_parser_is(parser, AC_TOKEN_STRING))
		return ac_parser_fail(parser, &token,
		    "include wants a file name in quotes");
	ac_parser_advance(parser);
	return ac_parser_end_statement(parser) &&
	    ac_parse_include(parser, &token);
}

static bool
read_id(const struct ac_token *token, uint32_t *id_out)
{
	uint32_t id = 0;
	char c;

	if (token->kind != AC_TOKEN_WORD || token->length != 8)
		return false;
	for (size_t i = 0; i < 8; i++) {
		c = token->at[i];
		if (c >= '0' && c <= '9')
			id = id << 4 | (uint32_t)(c - '0');
		else if (c >= 'a' && c <= 'f')
			id = id << 4 | (uint32_t)(c - 'a' + 10);
		else if (c >= 'A' && c <= 'F')
			id = id << 4 | (uint32_t)(c - 'A' + 10);
		else
			return false;
	}
	*id_out = id;
	return true;
}

static bool
add_label(struct ac_parser *parser, const struct ac_token *name, uint32_t id)
{
	struct ac_site_label *label;

	if (parser->label_count == AC_MOST_LABELS)
		return ac_parser_fail(parser, name, "more than %d sites",
		    AC_MOST_LABELS);
	label = ac_parser_take(parser, sizeof(*label));
	if (label == NULL)
		return false;
	label->name = ac_parser_value(parser, name);
	label->id = id;
	if (label->name == NULL)
		return false;
	*parser->label_end = label;
	parser->label_end = &label->next;
	parser->label_count++;
	return true;
}

static bool
parse_site(struct ac_parser *parser)
{
	const struct ac_token name = parser->token;
	uint32_t id = 0;

	if (!ac_parser_is(parser, AC_TOKEN_WORD))
		return ac_parser_fail(parser, &name,
		    "site wants a name: site NAME = ID%s",
		    ac_parser_reads(parser, "=") ? "; a rule begins with an "
		    "operation: gemm site=ID -> keep" : "");
	if (name.length > AC_LONGEST_LABEL)
		return ac_parser_fail(parser, &name, "longer than %d bytes",
		    AC_LONGEST_LABEL);
	ac_parser_advance(parser);
	if (!ac_parser_reads(parser, "="))
		return ac_parser_fail(parser, &parser->token,
		    "'=' is missing: site NAME = ID");
	ac_parser_advance(parser);
	if (!read_id(&parser->token, &id))
		return ac_parser_fail(parser, &parser->token, "a site id has "
		    "8 hexadecimal digits, as the report prints it");
	ac_parser_advance(parser);
	return ac_parser_end_statement(parser) && add_label(parser, &name, id);
}

static bool
parse_otherwise(struct ac_parser *parser)
{
	const struct ac_token first = parser->before, token = parser->token;
	int profile;

	if (parser->source->is_rules)
		return ac_parser_fail(parser, &first, "'otherwise' here, "
		    "before the policy, would hide it: choose it with "
		    "--policy");
	profile = token.kind != AC_TOKEN_WORD ? -1 : ac_name_find(token.at,
	    token.length, ac_profile_names, AC_PROFILE_COUNT);
	if (profile < 0)
		return ac_parser_fail(parser, &token, "%s is not a profile%s",
		    ac_parser_spell(parser), ac_parser_names(parser,
		    AC_SLIP_PROFILE, &token, ac_profile_names,
		    AC_PROFILE_COUNT));
	ac_parser_advance(parser);
	if (!ac_parser_end_statement(parser))
		return false;
	parser->policy->profile = ac_profile_names[profile];
	parser->has_otherwise = true;
	parser->otherwise = ac_parser_spot(parser, &first);
	return true;
}

/* ---- Statements --------------------------------------------------------- */

struct statement {
	const char *word;
	bool      (*parse)(struct ac_parser *parser);
};
static const struct statement statements[] = {
	{ "version", parse_version },
	{ "[", parse_section },
	{ "set", parse_set },
	{ "include", parse_include },
	{ "site", parse_site },
	{ "otherwise", parse_otherwise },
	{ "seed", ac_parse_seed },
	{ "update", ac_parse_update },
};

static void
refuse_after_otherwise(struct ac_parser *parser)
{
	if (!parser->has_otherwise || parser->complained_after_otherwise)
		return;
	parser->complained_after_otherwise = true;
	ac_parser_fail(parser, &parser->token, "'otherwise' (line %u) must be "
	    "the last statement", parser->otherwise.line);
}

bool
ac_parse_statement(struct ac_parser *parser)
{
	parser->sequence++;
	refuse_after_otherwise(parser);
	for (size_t i = 0; i < COUNT(statements); i++) {
		if (!ac_parser_reads(parser, statements[i].word))
			continue;
		ac_parser_advance(parser);
		return statements[i].parse(parser);
	}
	return ac_parse_rule(parser);
}
