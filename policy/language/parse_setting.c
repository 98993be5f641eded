/* SPDX-License-Identifier: Apache-2.0 */
/* policy/language/parse_setting.c -- KEY=VALUE, each value checked by its row
 * of words.def. Called for rules and for `set`. */
#include "policy/language/parse.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

static bool
refuse_key(struct ac_parser *parser, const struct ac_token *key)
{
	const char *instead = ac_gone_instead(key->at, key->length);
	const int length = key->length > 100 ? 100 : (int)key->length;

	if (ac_name_find(key->at, key->length, ac_quantity_names,
	    AC_Q_COUNT) >= 0 || ac_name_find(key->at, key->length,
	    ac_fact_names, AC_FACT_COUNT) >= 0)
		return ac_parser_fail(parser, key, "'%.*s' is a condition: put "
		    "it before '->'", length, key->at);
	if (instead != NULL)
		return ac_parser_fail(parser, key, "'%.*s' is gone: %s",
		    length, key->at, instead);
	return ac_parser_fail(parser, key, "unknown setting '%.*s'%s", length,
	    key->at, ac_parser_names(parser, AC_SLIP_SETTING, key,
	    ac_setting_names, AC_SET_COUNT));
}

/* How a value of this kind is read; false for words. */
static bool
number_kind(const char *values, enum ac_number_kind *kind_out)
{
	static const struct {
		const char         *name;
		enum ac_number_kind kind;
	} kinds[] = {
		{ "number", AC_NUMBER_RATIO },
		{ "count", AC_NUMBER_WHOLE },
		{ "bytes", AC_NUMBER_AMOUNT },
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(values, kinds[i].name) == 0) {
			*kind_out = kinds[i].kind;
			return true;
		}
	}
	return false;
}

static bool
parse_number(struct ac_parser *parser, enum ac_setting which,
    enum ac_number_kind kind, struct ac_setting_value *value)
{
	if (!ac_parse_number(parser, parser->token.at, parser->token.length,
	    kind, &value->number))
		return false;
	if (kind == AC_NUMBER_WHOLE || value->number > 0)
		return true;
	return ac_parser_fail(parser, &parser->token, "%s must be greater "
	    "than 0", ac_setting_names[which]);
}

/* "off" is nearer in sense to "no" than "on" is in letters. */
static bool
means_off(const char *word)
{
	return strcmp(word, "no") == 0 || strcmp(word, "false") == 0 ||
	    strcmp(word, "0") == 0 || strcmp(word, "none") == 0;
}

/* One of the words a setting takes. */
static bool
parse_choice(struct ac_parser *parser, enum ac_setting which,
    struct ac_setting_value *value)
{
	enum { MOST_CHOICES = 8, LONGEST_CHOICE = 15 };
	const char *s = ac_setting_values[which];
	char words[MOST_CHOICES][LONGEST_CHOICE + 1];
	const char *choices[MOST_CHOICES];
	int count, length;

	for (count = 0; count < MOST_CHOICES && *s != '\0'; count++) {
		length = (int)strcspn(s, " ");
		snprintf(words[count], sizeof(words[0]), "%.*s", length, s);
		choices[count] = words[count];
		s += length + (s[length] == ' ');
	}
	if (ac_name_find(value->word, strlen(value->word), choices,
	    (size_t)count) >= 0)
		return true;
	return ac_parser_fail(parser, &parser->token, "%s is one of: %s%s",
	    ac_setting_names[which], ac_setting_values[which],
	    means_off(value->word) && ac_name_find("off", 3, choices,
	    (size_t)count) >= 0 ? " (did you mean 'off'?)" :
	    ac_parser_hint(parser, AC_SLIP_NONE, &parser->token, choices,
	    (size_t)count));
}

static bool
parse_value(struct ac_parser *parser, enum ac_setting which,
    struct ac_settings *settings)
{
	const struct ac_token token = parser->token;
	const char *values = ac_setting_values[which];
	struct ac_setting_value value = { 0 };
	enum ac_number_kind kind;

	if (token.kind != AC_TOKEN_WORD && token.kind != AC_TOKEN_STRING)
		return ac_parser_fail(parser, &token, "a value is missing%s",
		    ac_parser_slip(parser, AC_SLIP_VALUE, &token));
	value.place = ac_parser_spot(parser, &token);
	value.word = ac_parser_value(parser, &token);
	if (value.word == NULL)
		return false;
	if (number_kind(values, &kind)) {
		if (!parse_number(parser, which, kind, &value))
			return false;
	} else if (!parse_choice(parser, which, &value)) {
		return false;
	}
	settings->of[which] = value;
	ac_parser_advance(parser);
	return true;
}

bool
ac_parse_settings(struct ac_parser *parser, struct ac_settings *settings,
    unsigned *count_out)
{
	unsigned count = 0, seen = 0;
	struct ac_spot place;
	struct ac_token key;
	const char *slip;
	int which;

	for (; ac_parser_is(parser, AC_TOKEN_WORD); count++) {
		key = parser->token;
		place = ac_parser_spot(parser, &key);
		ac_parser_advance(parser);
		which = ac_name_find(key.at, key.length, ac_setting_names,
		    AC_SET_COUNT);
		if (which < 0)
			return refuse_key(parser, &key);
		if (!ac_parser_reads(parser, "="))
			return ac_parser_fail(parser, &key,
			    "a setting is written %s=VALUE",
			    ac_setting_names[which]);
		ac_parser_advance(parser);
		if (!parse_value(parser, (enum ac_setting)which, settings))
			return false;
		if (seen >> which & 1)
			ac_problem_warn(&parser->problems, &place, "%s stands "
			    "here twice: the last one counts",
			    ac_setting_names[which]);
		seen |= 1u << which;
	}
	slip = ac_parser_slip(parser, AC_SLIP_SETTING, &parser->token);
	if (*slip != '\0')
		return ac_parser_fail(parser, &parser->token, "unexpected %s%s",
		    ac_parser_spell(parser), slip);
	*count_out = count;
	return true;
}
