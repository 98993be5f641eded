/* SPDX-License-Identifier: Apache-2.0 */
/* policy/language/lex.c -- policy text into tokens.
 * Knows characters, not meaning; the parser is its only caller. */
#include "policy/language/lex.h"
#include "base/text.h"

#include <string.h>

void
ac_lex_start(struct ac_lexer *lexer, const char *text, size_t count)
{
	lexer->at = lexer->line_start = text;
	lexer->end = text + count;
	lexer->line = 1;
	/* Editors on some systems put a byte order mark first. */
	if (count >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
		lexer->at = lexer->line_start = text + 3;
}

static bool
is_word_byte(char c)
{
	if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	    (c >= '0' && c <= '9'))
		return true;
	return c != '\0' && strchr("_.*?/+@%~:-", c) != NULL;
}

/* Length of the line end at `s`, 0 if there is none. */
static size_t
newline_length(const char *s, const char *end)
{
	if (s < end && *s == '\n')
		return 1;
	return end - s >= 2 && s[0] == '\r' && s[1] == '\n' ? 2 : 0;
}

static size_t
word_length(const char *s, const char *end)
{
	const char *start = s;

	/* `gemm->fp16` is three tokens although '-' may be part of a word. */
	while (s < end && is_word_byte(*s) &&
	    !(end - s >= 2 && s[0] == '-' && s[1] == '>'))
		s++;
	return (size_t)(s - start);
}

/* Length of the quoted string at `s`, quotes included; 0 if it never ends. */
static size_t
string_length(const char *s, const char *end)
{
	const char *start = s;

	for (s++; s < end && *s != '\n'; s++) {
		if (*s == '"')
			return (size_t)(s + 1 - start);
		if (*s != '\\')
			continue;
		if (end - s < 2 || (s[1] != '"' && s[1] != '\\'))
			return 0;
		s++;
	}
	return 0;
}

static size_t
character_length(const char *s, const char *end)
{
	const char *start = s;

	for (s++; s < end && ((unsigned char)*s & 0xc0) == 0x80; s++)
		;
	return (size_t)(s - start);
}

/* Blanks, comments and joined lines. */
static void
skip_blanks(struct ac_lexer *lexer)
{
	size_t joined;

	while (lexer->at < lexer->end) {
		if (*lexer->at == ' ' || *lexer->at == '\t') {
			lexer->at++;
		} else if (*lexer->at == '#') {
			while (lexer->at < lexer->end && *lexer->at != '\n')
				lexer->at++;
		} else if (*lexer->at == '\\' &&
		    (joined = newline_length(lexer->at + 1, lexer->end)) != 0) {
			lexer->at += 1 + joined;
			lexer->line_start = lexer->at;
			lexer->line++;
		} else {
			return;
		}
	}
}

static enum ac_token_kind
punctuation(char c)
{
	static const char marks[] = ";,()[]";
	static const enum ac_token_kind kinds[] = {
		AC_TOKEN_SEMICOLON, AC_TOKEN_COMMA, AC_TOKEN_OPEN,
		AC_TOKEN_CLOSE, AC_TOKEN_SECTION, AC_TOKEN_SECTION_END
	};
	const char *mark = c == '\0' ? NULL : strchr(marks, c);

	return mark == NULL ? AC_TOKEN_BAD : kinds[mark - marks];
}

static enum ac_token_kind
classify(const char *s, const char *end, size_t *length_out)
{
	const bool pair = end - s >= 2;
	size_t length;

	if (pair && s[0] == '-' && s[1] == '>') {
		*length_out = 2;
		return AC_TOKEN_ARROW;
	}
	if (pair && s[1] == '=' && strchr("!<>", *s) != NULL) {
		*length_out = 2;
		return AC_TOKEN_COMPARE;
	}
	*length_out = 1;
	if (*s == '=' || *s == '<' || *s == '>')
		return AC_TOKEN_COMPARE;
	if (*s == '"' && (length = string_length(s, end)) != 0) {
		*length_out = length;
		return AC_TOKEN_STRING;
	}
	if ((length = word_length(s, end)) != 0) {
		*length_out = length;
		return AC_TOKEN_WORD;
	}
	if (punctuation(*s) == AC_TOKEN_BAD)
		*length_out = character_length(s, end);
	return punctuation(*s);
}

void
ac_lex_next(struct ac_lexer *lexer, struct ac_token *token_out)
{
	skip_blanks(lexer);
	token_out->at = lexer->at;
	token_out->line_start = lexer->line_start;
	token_out->line = lexer->line;
	if (lexer->at == lexer->end) {
		token_out->kind = AC_TOKEN_END;
		token_out->length = 0;
		return;
	}
	token_out->length = newline_length(lexer->at, lexer->end);
	if (token_out->length != 0) {
		token_out->kind = AC_TOKEN_NEWLINE;
		lexer->line_start = lexer->at + token_out->length;
		lexer->line++;
	} else {
		token_out->kind = classify(lexer->at, lexer->end,
		    &token_out->length);
	}
	lexer->at += token_out->length;
}

uint32_t
ac_lex_column(const char *line_start, const char *at)
{
	uint32_t column = 1;

	for (; line_start < at; line_start++)
		column += ((unsigned char)*line_start & 0xc0) != 0x80;
	return column;
}

const char *
ac_lex_find_noise(const char *text, size_t count)
{
	const char *s = text;
	size_t length;

	while (s < text + count) {
		length = ac_text_sequence(s, (size_t)(text + count - s));
		if (length == 0)
			return s;
		s += length;
	}
	return NULL;
}

bool
ac_lex_is_word(const char *s)
{
	const size_t length = strlen(s);

	return length != 0 && word_length(s, s + length) == length;
}
