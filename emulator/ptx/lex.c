/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/ptx/lex.c -- blanks, words and numbers of a PTX text. */
#include "emulator/ptx/parse.h"

#include "base/text.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>

_Noreturn void
ptx_fail(struct parser *p, const char *format, ...)
{
	va_list list;
	int at = snprintf(p->message, p->message_size, "line %u: ", p->line);

	va_start(list, format);
	if (at >= 0 && (size_t)at < p->message_size)
		vsnprintf(p->message + at, p->message_size - (size_t)at, format,
		    list);
	va_end(list);
	longjmp(p->in_instruction ? p->inner : p->in_function
	    ? p->function_out : p->out, 1);
}

void *
ptx_grow(struct parser *p, void *array, size_t count, size_t *room, size_t size)
{
	if (count < *room)
		return array;
	*room = *room ? *room * 2 : 64;
	array = realloc(array, *room * size);
	if (!array)
		ptx_fail(p, "out of memory");
	return array;
}
char *
ptx_copy(struct parser *p, const char *s)
{
	char *copy = strdup(s);

	if (!copy)
		ptx_fail(p, "out of memory");
	return copy;
}

static void
skip_blanks(struct parser *p)
{
	for (;; p->s++) {
		if (p->s >= p->end || !*p->s)
			return;
		if (*p->s == '\n')
			p->line++;
		else if (p->s[0] == '/' && p->s[1] == '/') {
			while (p->s + 1 < p->end && p->s[1] != '\n')
				p->s++;
		} else if (p->s[0] == '/' && p->s[1] == '*') {
			for (p->s += 2; p->s + 1 < p->end && !(p->s[0] == '*'
			    && p->s[1] == '/'); p->s++)
				if (*p->s == '\n')
					p->line++;
			p->s = p->s + 1 < p->end ? p->s + 1 : p->end - 1;
		} else if (!isspace((unsigned char)*p->s)) {
			return;
		}
	}
}

void
ptx_skip_line(struct parser *p)
{
	while (p->s < p->end && *p->s && *p->s != '\n')
		p->s++;
}

bool
ptx_is_end(struct parser *p)
{
	skip_blanks(p);
	return p->s >= p->end || !*p->s;
}

int
ptx_peek(struct parser *p)
{
	return ptx_is_end(p) ? 0 : (unsigned char)*p->s;
}

bool
ptx_take(struct parser *p, int c)
{
	if (ptx_peek(p) != c)
		return false;
	p->s++;
	return true;
}

void
ptx_want(struct parser *p, int c)
{
	if (!ptx_take(p, c))
		ptx_fail(p, "'%c' expected at '%.20s'", c, p->s);
}

static bool
is_word(int c)
{
	return isalnum(c) || c == '_' || c == '$' || c == '%' || c == '.';
}

const char *
ptx_word(struct parser *p)
{
	size_t n = 0;

	skip_blanks(p);
	while (p->s < p->end && (is_word((unsigned char)*p->s) ||
	    (p->s[0] == ':' && p->s[1] == ':'))) {
		if (n + 3 > sizeof p->token)
			ptx_fail(p, "a word is too long");
		if (*p->s == ':')
			p->token[n++] = *p->s++;
		p->token[n++] = *p->s++;
	}
	p->token[n] = '\0';
	return p->token;
}

const char *
ptx_directive(struct parser *p)
{
	char *next;

	ptx_word(p);
	next = p->token[0] == '.' ? strchr(p->token + 1, '.') : NULL;
	if (next) {
		p->s -= strlen(next);
		*next = '\0';
	}
	return p->token;
}

void
ptx_skip_statement(struct parser *p)
{
	while (!ptx_is_end(p) && !ptx_take(p, ';'))
		p->s++;
}

void
ptx_skip_braces(struct parser *p)
{
	int depth = 0;

	do {
		if (ptx_take(p, '{'))
			depth++;
		else if (ptx_take(p, '}'))
			depth--;
		else if (!ptx_is_end(p))
			p->s++;
		else
			ptx_fail(p, "braces do not close");
	} while (depth);
}

static int
digit(int c)
{
	return c >= '0' && c <= '9' ? c - '0'
	    : c >= 'a' && c <= 'f' ? c - 'a' + 10
	    : c >= 'A' && c <= 'F' ? c - 'A' + 10 : 99;
}

/* At most `most` digits of that base. */
static uint64_t
digits(struct parser *p, int base, int most)
{
	uint64_t value = 0;
	int count = 0;

	for (; count < most && digit((unsigned char)*p->s) < base; count++)
		value = value * (uint64_t)base +
		    (uint64_t)digit((unsigned char)*p->s++);
	if (!count)
		ptx_fail(p, "a number expected at '%.20s'", p->s);
	return value;
}

/* 0f and the bits of a float, 0d and those of a double. */
static uint64_t
float_bits(struct parser *p, bool minus, int *is_float)
{
	const bool wide = p->s[1] == 'd' || p->s[1] == 'D';
	uint64_t value;

	p->s += 2;
	value = digits(p, 16, wide ? 16 : 8);
	*is_float = wide ? 8 : 4;
	return minus ? value ^ UINT64_C(1) << (wide ? 63 : 31) : value;
}

/* 1.5, 2e10. */
static uint64_t
decimal(struct parser *p, bool minus, int *is_float)
{
	uint64_t value;
	double x = 0;

	p->s += ac_text_number(p->s, (size_t)(p->end - p->s), &x);
	memcpy(&value, &x, sizeof value);
	*is_float = 8;
	return minus ? value ^ UINT64_C(1) << 63 : value;
}

uint64_t
ptx_number(struct parser *p, int *is_float)
{
	const char *start;
	bool minus = false;
	uint64_t value;
	int base = 10;

	*is_float = 0;
	while (ptx_peek(p) == '-' || ptx_peek(p) == '+')
		minus ^= *p->s++ == '-';
	if (p->s[0] == '0' && p->s[1] && strchr("fFdD", p->s[1]))
		return float_bits(p, minus, is_float);
	if (p->s[0] == '0' && p->s[1] && strchr("xXbB", p->s[1])) {
		base = strchr("xX", p->s[1]) ? 16 : 2;
		p->s += 2;
	}
	start = p->s;
	value = digits(p, base, 64);
	if (base == 10 && (*p->s == '.' || *p->s == 'e' || *p->s == 'E')) {
		p->s = start;
		return decimal(p, minus, is_float);
	}
	if (base == 10 && *start == '0') {
		p->s = start;
		value = digits(p, 8, 64);
	}
	if (*p->s == 'U' || *p->s == 'u')
		p->s++;
	return minus ? -value : value;
}

uint64_t
ptx_whole(struct parser *p)
{
	int is_float;

	return ptx_number(p, &is_float);
}
