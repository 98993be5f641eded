/* SPDX-License-Identifier: Apache-2.0 */
/* policy/language/parse_scaling.c -- `seed` and `update` lines: which scalar is
 * multiplied by a power of two, and which by its inverse. Since version 2 of
 * the language. Called for statements that start with one of these words. */
#include "policy/language/parse.h"

#include "base/text.h"

#include <string.h>

const char *const ac_scaling_names[AC_SCALING_COUNT] = { "none", "seed",
	"update" };

/* ---- What is done ------------------------------------------------------- */

static bool
take_word(struct ac_parser *parser, const char *word)
{
	if (!ac_parser_reads(parser, word))
		return ac_parser_fail(parser, &parser->token, "'%s' is wanted "
		    "here, not %s", word, ac_parser_spell(parser));
	ac_parser_advance(parser);
	return true;
}

/* 2^K: what else could be meant is not exact. */
static bool
parse_power(struct ac_parser *parser, unsigned *exponent_out)
{
	struct ac_text text = AC_TEXT_OF(160);
	double value;

	if (!ac_parser_reads(parser, "2"))
		return ac_parser_fail(parser, &parser->token, "a scale is one "
		    "of 2^1 to 2^%d, not %s", AC_LARGEST_SCALE,
		    ac_parser_spell(parser));
	ac_parser_advance(parser);
	if (!take_word(parser, "^"))
		return false;
	if (!ac_parser_is(parser, AC_TOKEN_WORD))
		return ac_parser_fail(parser, &parser->token,
		    "a power of two is written 2^16");
	if (!ac_number_read(parser->token.at, parser->token.length,
	    AC_NUMBER_WHOLE, &value, &text))
		return ac_parser_fail(parser, &parser->token, "%s", text.data);
	if (value < 1 || value > AC_LARGEST_SCALE)
		return ac_parser_fail(parser, &parser->token, "a scale is one "
		    "of 2^1 to 2^%d", AC_LARGEST_SCALE);
	ac_parser_advance(parser);
	*exponent_out = (unsigned)value;
	return true;
}

static bool
parse_seed_action(struct ac_parser *parser, struct ac_token *power_out,
    unsigned *exponent_out)
{
	if (!take_word(parser, "scale") || !take_word(parser, "="))
		return false;
	*power_out = parser->token;
	return parse_power(parser, exponent_out);
}

/* ---- Lines --------------------------------------------------------------- */

/* As the VECTOR rows of shim/bind/entries.def; tests/cli/validate.sh compares
 * them. */
static const char *const functions[] = {
	"cublasSscal_v2", "cublasSaxpy_v2", "cublasSscal_v2_64",
	"cublasSaxpy_v2_64"
};
enum { FUNCTIONS = sizeof(functions) / sizeof(functions[0]) };

static bool
is_function(const char *pattern)
{
	for (unsigned i = 0; i < FUNCTIONS; i++)
		if (ac_text_glob(pattern, functions[i]))
			return true;
	return false;
}

/* A name without its _v2, as programs write it, would mean no call at all. */
static void
warn_of_unknown(struct ac_parser *parser, const struct ac_token *first)
{
	const struct ac_spot place = ac_parser_spot(parser, first);
	const struct ac_condition *condition = parser->conditions;

	for (unsigned i = 0; i < parser->condition_count; i++, condition++)
		for (unsigned word = 0; condition->subject == AC_SUBJECT_FACT &&
		    condition->which == AC_FACT_FN &&
		    word < condition->count; word++)
			if (!is_function(condition->words[word]))
				ac_problem_warn(&parser->problems, &place,
				    "'fn' is never '%s' here, only one of: "
				    "%s %s %s %s",
				    condition->words[word], functions[0],
				    functions[1], functions[2], functions[3]);
}

static void
add_scaling(struct ac_parser *parser, const struct ac_scaling_line *line)
{
	struct ac_scaling_line *kept = ac_parser_take(parser, sizeof(*kept));
	const struct ac_condition *conditions = ac_parser_keep(parser);

	if (kept == NULL || conditions == NULL)
		return;
	*kept = *line;
	kept->conditions = conditions;
	kept->condition_count = parser->condition_count;
	*parser->scaling_end = kept;
	parser->scaling_end = &kept->next;
	parser->scaling_count++;
}

__attribute__((cold))
static bool
parse_line(struct ac_parser *parser, enum ac_scaling kind)
{
	const struct ac_token first = parser->before;
	struct ac_scaling_line line = { .kind = kind,
		.place = ac_parser_spot(parser, &first) };
	struct ac_token power = first;
	unsigned exponent = parser->policy->scale;

	if (parser->version < 2)
		return ac_parser_fail(parser, &first, "'%s' needs `version 2` "
		    "on a line above it", ac_scaling_names[kind]);
	if (!ac_parse_conditions(parser, &first, AC_VECTOR_FAMILY))
		return false;
	warn_of_unknown(parser, &first);
	ac_parser_advance(parser);
	if (kind == AC_SCALING_SEED ?
	    !parse_seed_action(parser, &power, &exponent) :
	    !take_word(parser, "unscale"))
		return false;
	if (!ac_parser_end_statement(parser))
		return false;
	if (parser->policy->scale != 0 && exponent != parser->policy->scale)
		return ac_parser_fail(parser, &power, "a policy has one "
		    "scale, and this one has 2^%u already",
		    parser->policy->scale);
	if (parser->scaling_count == AC_MOST_SCALINGS)
		return ac_parser_fail(parser, &first, "more than %d of these "
		    "lines", AC_MOST_SCALINGS);
	parser->policy->scale = exponent;
	add_scaling(parser, &line);
	return true;
}

bool
ac_parse_seed(struct ac_parser *parser)
{
	return parse_line(parser, AC_SCALING_SEED);
}

bool
ac_parse_update(struct ac_parser *parser)
{
	return parse_line(parser, AC_SCALING_UPDATE);
}

/* One without the other would train with a wrong step. */
void
ac_check_scaling(struct ac_parser *parser)
{
	const struct ac_scaling_line *first = parser->policy->scalings, *line;
	unsigned kinds = 0;

	for (line = first; line != NULL; line = line->next)
		kinds |= 1u << line->kind;
	if (kinds == 1u << AC_SCALING_SEED)
		ac_problem_error(&parser->problems, &first->place, "there is a "
		    "seed, but no `update` line that takes its scale away "
		    "again");
	else if (kinds == 1u << AC_SCALING_UPDATE)
		ac_problem_error(&parser->problems, &first->place, "there is "
		    "an update, but no `seed` line that says by what it was "
		    "scaled");
}
