/* SPDX-License-Identifier: Apache-2.0 */
/* policy/language/lex.h -- policy text into tokens. No allocation; tokens point
 * into the text, which the caller keeps. */
#ifndef AC_POLICY_LEX_H
#define AC_POLICY_LEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ac_token_kind {
	AC_TOKEN_END,        /* of the text; comes again and again */
	AC_TOKEN_NEWLINE,
	AC_TOKEN_SEMICOLON,
	AC_TOKEN_COMMA,
	AC_TOKEN_OPEN,       /* ( */
	AC_TOKEN_CLOSE,      /* ) */
	AC_TOKEN_SECTION,    /* [ */
	AC_TOKEN_SECTION_END,
	AC_TOKEN_ARROW,
	AC_TOKEN_COMPARE,
	AC_TOKEN_WORD,
	AC_TOKEN_STRING,     /* quotes included */
	AC_TOKEN_BAD         /* one character that starts no token */
};

struct ac_token {
	enum ac_token_kind kind;
	const char        *at;
	size_t             length;      /* bytes */
	const char        *line_start;
	uint32_t           line;        /* 1-based */
};

struct ac_lexer {
	const char *at, *end, *line_start;
	uint32_t    line;
};

void ac_lex_start(struct ac_lexer *lexer, const char *text, size_t count);
void ac_lex_next(struct ac_lexer *lexer, struct ac_token *token_out);

/* 1-based column of `at` in its line, in characters, not bytes. */
uint32_t ac_lex_column(const char *line_start, const char *at);

/* The first byte that is not part of valid UTF-8, or is NUL; NULL if the text
 * is fine. */
const char *ac_lex_find_noise(const char *text, size_t count);

/* Whether a value can stand without quotes. */
bool ac_lex_is_word(const char *s);

#endif
