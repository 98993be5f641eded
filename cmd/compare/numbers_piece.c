/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/compare/numbers_piece.c -- cuts a line into numbers and text. Never
 * allocates, never reads past the line's end; each byte is looked at a few
 * times at most. */
#include "cmd/compare/numbers.h"
#include "base/text.h"

#include <math.h>
#include <string.h>
#include <strings.h>

enum { LONGEST_UNIT = 3, LONGEST_REWRITTEN = 400 };

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool
is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
	    (unsigned char)c >= 128;
}

static bool
is_word(char c)
{
	return is_digit(c) || is_letter(c);
}

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static const char *
skip_digits(const char *s, const char *end)
{
	while (s < end && is_digit(*s))
		s++;
	return s;
}

/* ---- Numbers ----------------------------------------------------------- */

/* The end of digits grouped by thousands that begin at `s`, or `s`. A list
 * with commas is none: there some group has not three digits. */
static const char *
thousands(const char *s, const char *end)
{
	const char *at = skip_digits(s, end);

	if (at == s || at - s > 3 || end - at < 4)
		return s;
	while (end - at >= 4 && *at == ',' && is_digit(at[1]) &&
	    is_digit(at[2]) && is_digit(at[3]))
		at += 4;
	if (at == skip_digits(s, end) || (at < end && is_digit(*at)) ||
	    (end - at >= 2 && *at == ',' && is_digit(at[1])))
		return s;
	return at;
}

/* Whether what follows a number at `s` lets it be one: nothing, or a unit. */
static bool
ends_well(const char *s, const char *end)
{
	const char *unit = s;

	while (s < end && is_letter(*s) && s - unit <= LONGEST_UNIT)
		s++;
	if (s - unit > LONGEST_UNIT || (s < end && is_word(*s)))
		return false;
	return !(end - s >= 2 && *s == '.' && is_word(s[1]));
}

/* The end of [DIGITS][.[DIGITS]][e[+-]DIGITS] at `s`, or `s`. */
static const char *
decimal(const char *s, const char *end)
{
	const char *at = skip_digits(s, end), *power;
	bool has_digits = at > s;

	if (at < end && *at == '.') {
		const char *fraction = skip_digits(at + 1, end);

		has_digits |= fraction > at + 1;
		at = fraction;
	}
	if (!has_digits)
		return s;
	if (at < end && (*at == 'e' || *at == 'E')) {
		power = at + 1;
		if (power < end && (*power == '+' || *power == '-'))
			power++;
		if (power < end && is_digit(*power))
			at = skip_digits(power, end);
	}
	return at;
}

/* The value of what decimal() found. False if it is too odd to be read. */
static bool
read_decimal(const char *s, size_t length, double *value_out)
{
	struct ac_text text = AC_TEXT_OF(LONGEST_REWRITTEN);

	if (*s != '.' && !memchr(s, 'E', length) && !memchr(s, '.', length))
		return ac_text_number(s, length, value_out) > 0;
	if (*s == '.')
		ac_text_add(&text, "0");
	for (size_t i = 0; i < length && !text.truncated; i++)
		/* "5.e3" has no digit behind its point. */
		if (s[i] == '.' && (i + 1 == length || !is_digit(s[i + 1])))
			continue;
		else
			ac_text_add_bytes(&text, s[i] == 'E' ? "e" : s + i, 1);
	if (text.truncated)
		return ac_text_number(s, length, value_out) > 0;
	return ac_text_number(text.data, text.used, value_out) > 0;
}

/* The end of a word that stands for no finite number, or `s`. */
static const char *
special(const char *s, const char *end, double *value_out)
{
	static const struct {
		const char *name;
		size_t length;
		double value;
	} rows[] = {
		{ "infinity", 8, HUGE_VAL }, { "inf", 3, HUGE_VAL },
		{ "nan", 3, NAN }
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const char *after = s + rows[i].length;

		if ((size_t)(end - s) < rows[i].length ||
		    strncasecmp(s, rows[i].name, rows[i].length) ||
		    (after < end && is_word(*after)))
			continue;
		*value_out = rows[i].value;
		return after;
	}
	return s;
}

/* The length of the number at `s`, 0: none begins here. */
static size_t
number(const struct ac_piece_line *line, const char *s, double *value_out)
{
	const char *end = line->end, *digits = s, *after;
	const char before = s > line->begin ? s[-1] : ' ';
	double value;

	if (is_word(before) || (before == '.' && is_digit(*s)))
		return 0;
	if ((*s == '+' || *s == '-') && before != ')' && before != ']')
		digits++;
	if (digits == end)
		return 0;
	after = special(digits, end, &value);
	if (after == digits) {
		after = decimal(digits, end);
		if (after == digits || !ends_well(after, end) ||
		    (before != ',' && thousands(digits, end) > digits) ||
		    (after == digits + 1 && *digits == '0' && after < end &&
		    (*after | 32) == 'x') ||
		    !read_decimal(digits, (size_t)(after - digits), &value))
			return 0;
	}
	*value_out = *s == '-' ? -value : value;
	return (size_t)(after - s);
}

double
ac_number_difference(double a, double b)
{
	const double larger = fmax(fabs(a), fabs(b));

	if (a == b || (isnan(a) && isnan(b)))
		return 0;
	if (!isfinite(a) || !isfinite(b))
		return HUGE_VAL;
	/* Halves: the difference of two huge numbers may overflow. */
	return 2 * (fabs(a / 2 - b / 2) / larger);
}

static bool
is_whole(const struct ac_piece *piece)
{
	const char *s = piece->start + !is_digit(*piece->start);

	return skip_digits(s, piece->start + piece->length)
	    == piece->start + piece->length;
}

double
ac_piece_difference(const struct ac_piece *x, const struct ac_piece *y)
{
	const double difference = ac_number_difference(x->value, y->value);

	if (difference > 0 || !(fabs(x->value) >= 0x1p53)
	    || ac_piece_same_text(x, y))
		return difference;
	if (isinf(x->value))
		return is_letter(x->start[x->length - 1]) &&
		    is_letter(y->start[y->length - 1]) ? 0 : HUGE_VAL;
	return is_whole(x) && is_whole(y) ? 0x1p-53 : 0;
}

/* ---- Words ------------------------------------------------------------- */

/* Behind the word at `s` that is no number; at least one byte. */
static const char *
skip_word(const char *s, const char *end)
{
	const char *group = thousands(s, end);

	if (group == s && !is_word(*s))
		return s + 1;
	for (s = group; s < end && (is_word(*s) || (*s == '.' &&
	    end - s >= 2 && is_word(s[1]))); s++)
		;
	return s;
}

bool
ac_piece_next(struct ac_piece_line *line, struct ac_piece *piece_out)
{
	const char *s = line->at, *end = line->end;
	struct ac_piece piece = { .is_number = false };

	while (s < end && is_blank(*s))
		s++;
	line->at = s;
	if (s == end)
		return false;
	piece.start = s;
	piece.length = number(line, s, &piece.value);
	piece.is_number = piece.length > 0;
	if (piece.is_number) {
		line->at = s + piece.length;
	} else {
		double value;

		do {
			s = skip_word(s, end);
		} while (s < end && !number(line, s, &value));
		line->at = s;
		while (s > piece.start && is_blank(s[-1]))
			s--;
		piece.length = (size_t)(s - piece.start);
	}
	*piece_out = piece;
	return true;
}

bool
ac_piece_same_text(const struct ac_piece *a, const struct ac_piece *b)
{
	const char *s = a->start, *s_end = s + a->length;
	const char *t = b->start, *t_end = t + b->length;

	if (a->length == b->length && !memcmp(s, t, a->length))
		return true;
	for (;;) {
		const bool blank = s < s_end && is_blank(*s);

		if (s == s_end || t == t_end)
			return s == s_end && t == t_end;
		if (blank != is_blank(*t) || (!blank && *s != *t))
			return false;
		do {
			s++;
		} while (blank && s < s_end && is_blank(*s));
		do {
			t++;
		} while (blank && t < t_end && is_blank(*t));
	}
}
