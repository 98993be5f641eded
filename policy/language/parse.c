/* SPDX-License-Identifier: Apache-2.0 */
/* policy/language/parse.c -- tokens, complaints, and the loop over statements.
 * An error skips to the end of its statement, so that all errors of a text are
 * found. The other parse_*.c files use this one. */
#include "policy/language/parse.h"

#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- Tokens and complaints --------------------------------------------- */

void
ac_parser_advance(struct ac_parser *parser)
{
	parser->before = parser->token;
	ac_lex_next(&parser->lexer, &parser->token);
}

bool
ac_parser_is(const struct ac_parser *parser, enum ac_token_kind kind)
{
	return parser->token.kind == kind;
}

bool
ac_parser_at_end(const struct ac_parser *parser)
{
	return ac_parser_is(parser, AC_TOKEN_END) ||
	    ac_parser_is(parser, AC_TOKEN_NEWLINE) ||
	    ac_parser_is(parser, AC_TOKEN_SEMICOLON);
}

struct ac_spot
ac_parser_spot(const struct ac_parser *parser, const struct ac_token *token)
{
	return (struct ac_spot){ parser->source, token->line_start,
		token->at, token->line, parser->sequence };
}

bool
ac_parser_fail(struct ac_parser *parser, const struct ac_token *token,
    const char *format, ...)
{
	const struct ac_spot place = ac_parser_spot(parser, token);
	char message[512];
	va_list ap;

	va_start(ap, format);
	vsnprintf(message, sizeof(message), format, ap);
	va_end(ap);
	ac_problem_error(&parser->problems, &place, "%s", message);
	return false;
}

static const char *
find_slip(const struct ac_parser *parser, enum ac_slip_place place,
    const struct ac_token *token)
{
	return parser->slip == NULL || place == AC_SLIP_NONE ? NULL :
	    parser->slip(place, token->at, token->length);
}

const char *
ac_parser_slip(struct ac_parser *parser, enum ac_slip_place place,
    const struct ac_token *token)
{
	const char *say = find_slip(parser, place, token);

	if (say == NULL || *say == '\0')
		return "";
	snprintf(parser->hint, sizeof(parser->hint), "; %s", say);
	return parser->hint;
}

const char *
ac_parser_hint(struct ac_parser *parser, enum ac_slip_place place,
    const struct ac_token *token, const char *const *names, size_t count)
{
	char word[64];
	const char *nearest;

	if (find_slip(parser, place, token) != NULL)
		return ac_parser_slip(parser, place, token);
	snprintf(word, sizeof(word), "%.*s", (int)token->length, token->at);
	nearest = ac_text_nearest(word, names, count);
	if (nearest == NULL)
		return "";
	snprintf(parser->hint, sizeof(parser->hint), " (did you mean '%s'?)",
	    nearest);
	return parser->hint;
}

const char *
ac_parser_names(struct ac_parser *parser, enum ac_slip_place place,
    const struct ac_token *token, const char *const *names, size_t count)
{
	struct ac_text text;

	if (*ac_parser_hint(parser, place, token, names, count) != '\0')
		return parser->hint;
	ac_text_init(&text, parser->hint, sizeof(parser->hint));
	ac_text_add(&text, " (one of:");
	for (size_t i = 0; i < count; i++)
		ac_text_addf(&text, " %s", names[i]);
	ac_text_add(&text, ")");
	return parser->hint;
}

void *
ac_parser_take(struct ac_parser *parser, size_t bytes)
{
	void *taken = ac_arena_take(&parser->policy->arena, bytes);

	parser->out_of_memory |= taken == NULL;
	return taken;
}

const char *
ac_parser_value(struct ac_parser *parser, const struct ac_token *token)
{
	const char *s = token->at, *end = s + token->length;
	char *value, *to;

	if (token->length > AC_LONGEST_VALUE) {
		ac_parser_fail(parser, token, "longer than %d bytes",
		    AC_LONGEST_VALUE);
		return NULL;
	}
	value = to = ac_parser_take(parser, token->length + 1);
	if (value == NULL)
		return NULL;
	if (token->kind == AC_TOKEN_WORD)
		return memcpy(value, s, token->length);
	for (s++, end--; s < end; s++) {
		s += *s == '\\';
		*to++ = *s;
	}
	return value;
}

const char *
ac_parser_spell(struct ac_parser *parser)
{
	const struct ac_token *token = &parser->token;

	if (ac_parser_is(parser, AC_TOKEN_END) ||
	    ac_parser_is(parser, AC_TOKEN_NEWLINE))
		return "the end of the line";
	snprintf(parser->spelling, sizeof(parser->spelling), "'%.*s'",
	    token->length > 100 ? 100 : (int)token->length, token->at);
	return parser->spelling;
}

bool
ac_parser_reads(const struct ac_parser *parser, const char *s)
{
	return parser->token.length == strlen(s) &&
	    memcmp(parser->token.at, s, parser->token.length) == 0;
}

bool
ac_parser_end_statement(struct ac_parser *parser)
{
	const struct ac_token *token = &parser->token;

	if (ac_parser_at_end(parser))
		return true;
	if (ac_parser_is(parser, AC_TOKEN_ARROW))
		return ac_parser_fail(parser, token, "'->' twice on one line");
	if (ac_parser_reads(parser, "\""))
		return ac_parser_fail(parser, token, "this string does not "
		    "end, or has a '\\' before something else than '\"' or "
		    "'\\'");
	return ac_parser_fail(parser, token, "unexpected %s",
	    ac_parser_spell(parser));
}

/* ---- Texts --------------------------------------------------------------- */

/* Bytes that are no text would only give unreadable errors. */
static bool
refuse_noise(struct ac_parser *parser)
{
	const struct ac_source *source = parser->source;
	const char *noise = ac_lex_find_noise(source->text, source->count);
	struct ac_token token = { .at = noise, .line_start = source->text,
		.line = 1 };

	if (noise == NULL)
		return false;
	for (const char *s = source->text; s < noise; s++) {
		if (*s == '\n') {
			token.line++;
			token.line_start = s + 1;
		}
	}
	ac_parser_fail(parser, &token, *noise == '\0' ? "a NUL byte: this is "
	    "not a text file" : "not UTF-8: this is not a text file");
	return true;
}

static void
parse_statements(struct ac_parser *parser)
{
	ac_lex_start(&parser->lexer, parser->source->text,
	    parser->source->count);
	ac_parser_advance(parser);
	while (!parser->out_of_memory) {
		if (!ac_parser_at_end(parser) && !ac_parse_statement(parser))
			while (!ac_parser_at_end(parser))
				ac_parser_advance(parser);
		if (ac_parser_is(parser, AC_TOKEN_END))
			return;
		ac_parser_advance(parser);
	}
}

void
ac_parse_source(struct ac_parser *parser, const struct ac_source *source)
{
	const struct ac_source *outer = parser->source;
	const struct ac_lexer lexer = parser->lexer;
	const struct ac_token token = parser->token;
	const unsigned version = parser->version;

	/* A text is of version 1 unless it, or who includes it, says more. */
	parser->source = source;
	if (outer == NULL)
		parser->version = 1;
	if (!refuse_noise(parser))
		parse_statements(parser);
	parser->source = outer;
	parser->version = version;
	parser->lexer = lexer;
	parser->token = token;
}
