/* SPDX-License-Identifier: Apache-2.0 */
/* policy/language/parse_condition.c -- one condition: a subject, a comparison,
 * values. Called for rules and for sections. */
#include "policy/language/parse.h"

#include "base/text.h"

#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

const char *const ac_compare_names[AC_COMPARE_COUNT] = {
	"<", "<=", ">", ">=", "=", "!="
};

unsigned
ac_condition_families(const struct ac_condition *condition)
{
	unsigned families = AC_GEMM_FAMILY | AC_CONV_FAMILY | AC_VECTOR_FAMILY;

	if (condition->subject == AC_SUBJECT_FACT)
		return ac_fact_families[condition->which];
	if (condition->subject == AC_SUBJECT_QUANTITY)
		return ac_quantity_rows[condition->which].families;
	for (unsigned q = 0; q < AC_Q_COUNT; q++)
		if (condition->sizes >> q & 1)
			families &= ac_quantity_rows[q].families;
	return families;
}

/* ---- Subjects ----------------------------------------------------------- */

static bool
refuse_key(struct ac_parser *parser, const struct ac_token *key)
{
	const int length = key->length > 100 ? 100 : (int)key->length;
	const char *keys[AC_Q_COUNT + AC_FACT_COUNT + 2];

	/* Put together here: what a table points to, each start pays for. */
	memcpy(keys, ac_quantity_names, sizeof ac_quantity_names);
	memcpy(keys + AC_Q_COUNT, ac_fact_names, sizeof ac_fact_names);
	keys[COUNT(keys) - 2] = "min(m,n)";
	keys[COUNT(keys) - 1] = "max(m,n)";
	if (key->kind == AC_TOKEN_NEWLINE || key->kind == AC_TOKEN_END)
		return ac_parser_fail(parser, key, "a condition is missing");
	if (ac_name_find(key->at, key->length, ac_setting_names,
	    AC_SET_COUNT) >= 0)
		return ac_parser_fail(parser, key, "'%.*s' is a setting: put "
		    "it after the action", length, key->at);
	return ac_parser_fail(parser, key, "unknown condition '%.*s'%s",
	    length, key->at, ac_parser_names(parser, AC_SLIP_KEY, key, keys,
	    COUNT(keys)));
}

/* The sizes inside min() and max(). */
static bool
parse_sizes(struct ac_parser *parser, uint32_t *sizes_out)
{
	uint32_t sizes = 0;
	int q;

	do {
		ac_parser_advance(parser);
		q = parser->token.kind != AC_TOKEN_WORD ? -1 :
		    ac_name_find(parser->token.at, parser->token.length,
		    ac_quantity_names, AC_Q_COUNT);
		if (q < 0 || !ac_quantity_rows[q].is_size)
			return ac_parser_fail(parser, &parser->token,
			    "%s is not a size", ac_parser_spell(parser));
		sizes |= UINT32_C(1) << q;
		ac_parser_advance(parser);
	} while (ac_parser_is(parser, AC_TOKEN_COMMA));
	if (!ac_parser_is(parser, AC_TOKEN_CLOSE))
		return ac_parser_fail(parser, &parser->token,
		    "')' is missing");
	ac_parser_advance(parser);
	*sizes_out = sizes;
	return true;
}

static bool
parse_subject(struct ac_parser *parser, struct ac_condition *condition)
{
	const struct ac_token key = parser->token;
	const bool is_min = ac_parser_reads(parser, "min");
	const bool is_max = ac_parser_reads(parser, "max");
	int found;

	ac_parser_advance(parser);
	if ((is_min || is_max) && ac_parser_is(parser, AC_TOKEN_OPEN)) {
		condition->subject = is_min ? AC_SUBJECT_MIN : AC_SUBJECT_MAX;
		return parse_sizes(parser, &condition->sizes);
	}
	found = ac_name_find(key.at, key.length, ac_quantity_names, AC_Q_COUNT);
	condition->subject = AC_SUBJECT_QUANTITY;
	if (found < 0) {
		found = ac_name_find(key.at, key.length, ac_fact_names,
		    AC_FACT_COUNT);
		condition->subject = AC_SUBJECT_FACT;
	}
	if (found < 0)
		return refuse_key(parser, &key);
	condition->which = (unsigned)found;
	return true;
}

static bool
parse_comparison(struct ac_parser *parser, struct ac_condition *condition)
{
	const struct ac_token token = parser->token;
	int compare;

	if (!ac_parser_is(parser, AC_TOKEN_COMPARE))
		return ac_parser_fail(parser, &token, "a comparison is "
		    "missing: one of = != < <= > >=%s", ac_parser_slip(parser,
		    AC_SLIP_COMPARISON, &token));
	compare = ac_name_find(token.at, token.length, ac_compare_names,
	    AC_COMPARE_COUNT);
	condition->compare = (enum ac_compare)compare;
	ac_parser_advance(parser);
	if (ac_parser_is(parser, AC_TOKEN_COMPARE))
		return ac_parser_fail(parser, &token, "'%.*s%.*s' is no "
		    "comparison: equality is '='", (int)token.length, token.at,
		    (int)parser->token.length, parser->token.at);
	if (condition->subject == AC_SUBJECT_FACT && compare != AC_SAME &&
	    compare != AC_OTHER)
		return ac_parser_fail(parser, &token, "'%s' is a name: only = "
		    "and !=", ac_fact_names[condition->which]);
	return true;
}

/* ---- Values ------------------------------------------------------------- */

static enum ac_number_kind
number_kind(const struct ac_condition *condition)
{
	if (condition->subject != AC_SUBJECT_QUANTITY ||
	    ac_quantity_rows[condition->which].is_size)
		return AC_NUMBER_SIZE;
	switch (condition->which) {
	case AC_Q_FLOPS:
	case AC_Q_BYTES:
		return AC_NUMBER_AMOUNT;
	case AC_Q_INTENSITY:
		return AC_NUMBER_RATIO;
	default:
		return AC_NUMBER_WHOLE;
	}
}

/* Position of `what` in the token, NULL if it is not in it. */
static const char *
find_in(const struct ac_token *token, const char *what)
{
	return memmem(token->at, token->length, what, strlen(what));
}

bool
ac_parse_number(struct ac_parser *parser, const char *s, size_t length,
    enum ac_number_kind kind, double *value_out)
{
	struct ac_text text = AC_TEXT_OF(160);

	if (!ac_number_read(s, length, kind, value_out, &text))
		return ac_parser_fail(parser, &parser->token, "%s%s", text.data,
		    ac_parser_slip(parser, AC_SLIP_VALUE, &parser->token));
	return true;
}

/* 3x3 or 1x3x3. */
static bool
parse_extents(struct ac_parser *parser, struct ac_span *span)
{
	const struct ac_token *token = &parser->token;
	const char *s = token->at, *end = s + token->length, *stop;
	double value;

	for (span->extents = 0; s <= end; s = stop + 1) {
		stop = memchr(s, 'x', (size_t)(end - s));
		if (stop == NULL)
			stop = end;
		if (span->extents == COUNT(span->extent))
			return ac_parser_fail(parser, token, "'%.*s': at most "
			    "three extents, like 3x3x3", (int)token->length,
			    token->at);
		if (!ac_parse_number(parser, s, (size_t)(stop - s),
		    AC_NUMBER_WHOLE, &value))
			return false;
		if (value > AC_LARGEST_EXTENT)
			return ac_parser_fail(parser, token, "'%.*s' is too "
			    "large", (int)token->length, token->at);
		span->extent[span->extents++] = (uint32_t)value;
	}
	return true;
}

static bool
parse_range(struct ac_parser *parser, enum ac_number_kind kind,
    struct ac_span *span)
{
	const struct ac_token *token = &parser->token;
	const char *dots = find_in(token, "..");
	const size_t before = (size_t)(dots - token->at);

	if (before == 0 || before + 2 == token->length)
		return ac_parser_fail(parser, token, "'%.*s': a range has two "
		    "ends; with one, write >= or <=", (int)token->length,
		    token->at);
	if (!ac_parse_number(parser, token->at, before, kind, &span->low) ||
	    !ac_parse_number(parser, dots + 2, token->length - before - 2,
	    kind, &span->high))
		return false;
	if (span->low > span->high)
		return ac_parser_fail(parser, token, "'%.*s' is an empty "
		    "range: the smaller number comes first",
		    (int)token->length, token->at);
	return true;
}

static bool
parse_span(struct ac_parser *parser, const struct ac_condition *condition,
    struct ac_span *span_out)
{
	const struct ac_token *token = &parser->token;
	const enum ac_number_kind kind = number_kind(condition);
	const bool is_extents = condition->subject == AC_SUBJECT_QUANTITY &&
	    ac_quantity_has_extents(condition->which) && find_in(token, "x");
	const bool is_range = !is_extents && find_in(token, "..") != NULL;
	struct ac_span span = { 0 };

	if ((is_extents || is_range) && condition->compare != AC_SAME &&
	    condition->compare != AC_OTHER)
		return ac_parser_fail(parser, token, "%s wants = or !=",
		    is_range ? "a range" : "NxM");
	if (is_extents) {
		if (!parse_extents(parser, &span))
			return false;
	} else if (is_range) {
		if (!parse_range(parser, kind, &span))
			return false;
	} else {
		if (!ac_parse_number(parser, token->at, token->length, kind,
		    &span.low))
			return false;
		span.high = span.low;
	}
	span.word = ac_parser_value(parser, token);
	*span_out = span;
	return span.word != NULL;
}

static bool
parse_value(struct ac_parser *parser, const struct ac_condition *condition)
{
	const bool is_fact = condition->subject == AC_SUBJECT_FACT;
	const unsigned i = condition->count;

	if (!ac_parser_is(parser, AC_TOKEN_WORD) &&
	    !ac_parser_is(parser, AC_TOKEN_STRING))
		return ac_parser_fail(parser, &parser->token,
		    "a value is missing%s", ac_parser_slip(parser,
		    AC_SLIP_VALUE, &parser->token));
	if (i == AC_MOST_VALUES)
		return ac_parser_fail(parser, &parser->token,
		    "more than %d values", AC_MOST_VALUES);
	if (!is_fact && !parse_span(parser, condition, &parser->spans[i]))
		return false;
	if (is_fact) {
		parser->words[i] = ac_parser_value(parser, &parser->token);
		if (parser->words[i] == NULL)
			return false;
	}
	ac_parser_advance(parser);
	return true;
}

/* Values that no call can ever have are a slip of the pen, not an error: a
 * later version may know them. */
static void
warn_of_unknown(struct ac_parser *parser, const struct ac_condition *condition,
    const struct ac_token *token)
{
	const char *values = ac_fact_values(condition->which), *s = values;
	const struct ac_spot place = ac_parser_spot(parser, token);
	char known[32];
	size_t length;

	for (; s != NULL && *s != '\0'; s += length + (s[length] == ' ')) {
		length = strcspn(s, " ");
		memcpy(known, s, length);
		known[length] = '\0';
		if (ac_text_glob(parser->words[condition->count], known))
			return;
	}
	if (values != NULL)
		ac_problem_warn(&parser->problems, &place, "'%s' is never "
		    "'%s', only one of: %s", ac_fact_names[condition->which],
		    parser->words[condition->count], values);
}

/* Move the values from the workspace to where they stay. */
static bool
keep_values(struct ac_parser *parser, struct ac_condition *condition)
{
	const bool is_fact = condition->subject == AC_SUBJECT_FACT;
	const void *from = is_fact ? (const void *)parser->words :
	    parser->spans;
	const size_t bytes = condition->count * (is_fact ?
	    sizeof(parser->words[0]) : sizeof(parser->spans[0]));
	void *kept = ac_parser_take(parser, bytes);

	if (kept == NULL)
		return false;
	memcpy(kept, from, bytes);
	condition->words = is_fact ? kept : NULL;
	condition->spans = is_fact ? NULL : kept;
	return true;
}

bool
ac_parse_condition(struct ac_parser *parser,
    struct ac_condition *condition_out, unsigned *families_out)
{
	struct ac_condition condition = { 0 };
	struct ac_token value;

	if (!parse_subject(parser, &condition) ||
	    !parse_comparison(parser, &condition))
		return false;
	for (;;) {
		value = parser->token;
		if (!parse_value(parser, &condition))
			return false;
		if (condition.subject == AC_SUBJECT_FACT)
			warn_of_unknown(parser, &condition, &value);
		condition.count++;
		if (!ac_parser_is(parser, AC_TOKEN_COMMA))
			break;
		if (condition.compare != AC_SAME &&
		    condition.compare != AC_OTHER)
			return ac_parser_fail(parser, &parser->token,
			    "'%s' takes one value%s",
			    ac_compare_names[condition.compare],
			    ac_parser_slip(parser, AC_SLIP_CONDITION,
			    &parser->token));
		ac_parser_advance(parser);
	}
	if (!keep_values(parser, &condition))
		return false;
	*families_out = ac_condition_families(&condition);
	*condition_out = condition;
	return true;
}
