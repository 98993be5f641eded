/* SPDX-License-Identifier: Apache-2.0 */
/* base/text.c -- building, reading and comparing short texts.
 * Never allocates and never trusts the locale: printf's digits are taken, its
 * decimal separator is not. Every room uses it. */
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The largest double has 309 digits before the point, and 9 may follow. */
enum { LONGEST_DOUBLE = 352 };

/* ---- Building ---------------------------------------------------------- */

void
ac_text_init(struct ac_text *t, char *buffer, size_t size)
{
	t->data = buffer;
	t->size = size;
	t->used = 0;
	t->truncated = false;
	buffer[0] = '\0';
}

void
ac_text_add_bytes(struct ac_text *t, const char *s, size_t count)
{
	const size_t room = t->size - 1 - t->used;

	if (count > room) {
		count = room;
		t->truncated = true;
	}
	memcpy(t->data + t->used, s, count);
	t->used += count;
	t->data[t->used] = '\0';
}

void
ac_text_add(struct ac_text *t, const char *s)
{
	ac_text_add_bytes(t, s, strlen(s));
}

void
ac_text_addf(struct ac_text *t, const char *format, ...)
{
	const size_t room = t->size - t->used;
	va_list ap;
	int length;

	va_start(ap, format);
	length = vsnprintf(t->data + t->used, room, format, ap);
	va_end(ap);
	if (length < 0) {
		t->data[t->used] = '\0';
		t->truncated = true;
	} else if ((size_t)length >= room) {
		t->used = t->size - 1;
		t->truncated = true;
	} else {
		t->used += (size_t)length;
	}
}

void
ac_text_pad(struct ac_text *t, size_t column)
{
	while (t->used < column && t->used + 1 < t->size)
		ac_text_add_bytes(t, " ", 1);
	t->truncated |= t->used < column;
}

/* nan and the infinities by name; true if `value` was one of them. */
static bool
add_special(struct ac_text *t, double value)
{
	const char *name = NULL;

	if (value != value)
		name = "nan";
	else if (value - value != 0)
		name = value > 0 ? "inf" : "-inf";
	if (name != NULL)
		ac_text_add(t, name);
	return name != NULL;
}

/* `count` digits out of `s`, whatever separator the locale put among them.
 * Returns the position behind the last one. */
static const char *
pick_digits(const char *s, int count, char *digits_out)
{
	for (; count > 0; s++) {
		if (*s >= '0' && *s <= '9') {
			*digits_out++ = *s;
			count--;
		}
	}
	*digits_out = '\0';
	return s;
}

static void
add_zeros(struct ac_text *t, int count)
{
	for (; count > 0; count--)
		ac_text_add_bytes(t, "0", 1);
}

/* `kept` digits standing for 0.d1d2d3... times ten to the power `point`. */
static void
add_plain(struct ac_text *t, const char *digits, int kept, int point)
{
	if (point <= 0) {
		ac_text_add(t, "0.");
		add_zeros(t, -point);
		ac_text_add_bytes(t, digits, (size_t)kept);
	} else if (kept <= point) {
		ac_text_add_bytes(t, digits, (size_t)kept);
		add_zeros(t, point - kept);
	} else {
		ac_text_add_bytes(t, digits, (size_t)point);
		ac_text_add_bytes(t, ".", 1);
		ac_text_add_bytes(t, digits + point, (size_t)(kept - point));
	}
}

static int
read_exponent(const char *s)
{
	int value = 0;
	const bool negative = *s == '-';

	for (s++; *s >= '0' && *s <= '9'; s++)
		value = value * 10 + (*s - '0');
	return negative ? -value : value;
}

void
ac_text_add_double(struct ac_text *t, double value, int digits)
{
	char printed[LONGEST_DOUBLE], mantissa[16];
	int kept, exponent;
	const char *rest;

	if (add_special(t, value))
		return;
	if (value == 0) {
		ac_text_add(t, "0");
		return;
	}
	digits = digits < 1 ? 1 : digits > 9 ? 9 : digits;
	snprintf(printed, sizeof(printed), "%.*e", digits - 1, value);
	rest = pick_digits(printed, digits, mantissa);
	exponent = read_exponent(rest + 1);
	for (kept = digits; kept > 1 && mantissa[kept - 1] == '0'; kept--)
		;
	if (value < 0)
		ac_text_add(t, "-");
	if (exponent >= -3 && exponent < 6) {
		add_plain(t, mantissa, kept, exponent + 1);
	} else {
		add_plain(t, mantissa, kept, 1);
		ac_text_addf(t, "e%d", exponent);
	}
}

void
ac_text_add_fixed(struct ac_text *t, double value, int decimals)
{
	char printed[LONGEST_DOUBLE];
	const char *s = printed;
	size_t length;

	if (add_special(t, value))
		return;
	decimals = decimals < 0 ? 0 : decimals > 9 ? 9 : decimals;
	snprintf(printed, sizeof(printed), "%.*f", decimals, value);
	length = strlen(printed);
	if (*s == '-')
		s++;
	/* -0.004 with two decimals is 0.00, not -0.00. */
	if (value < 0 && strpbrk(s, "123456789") != NULL)
		ac_text_add(t, "-");
	for (; *s >= '0' && *s <= '9'; s++)
		ac_text_add_bytes(t, s, 1);
	if (decimals > 0) {
		ac_text_add(t, ".");
		ac_text_add(t, printed + length - (size_t)decimals);
	}
}

/* ---- Reading ----------------------------------------------------------- */

struct cursor {
	const char *s, *end;
};

static bool
at_digit(const struct cursor *c)
{
	return c->s < c->end && *c->s >= '0' && *c->s <= '9';
}

/* Digits into *mantissa while 19 of them fit, which 64 bits always hold.
 * Returns how many digits stood there; *dropped_out: how many did not fit. */
static int
read_digits(struct cursor *c, uint64_t *mantissa, int *significant,
    int *dropped_out)
{
	int seen = 0, dropped = 0;

	for (; at_digit(c); c->s++, seen++) {
		if (*significant < 19) {
			*mantissa = *mantissa * 10 + (uint64_t)(*c->s - '0');
			*significant += *mantissa != 0;
		} else {
			dropped++;
		}
	}
	*dropped_out = dropped;
	return seen;
}

/* "e", a sign, digits; nothing is consumed if the digits are missing. */
static int
read_power(struct cursor *c)
{
	struct cursor at = *c;
	bool negative = false;
	int power = 0;

	if (at.s == at.end || *at.s != 'e')
		return 0;
	at.s++;
	if (at.s < at.end && (*at.s == '+' || *at.s == '-'))
		negative = *at.s++ == '-';
	if (!at_digit(&at))
		return 0;
	for (; at_digit(&at); at.s++)
		if (power < 100000)
			power = power * 10 + (*at.s - '0');
	*c = at;
	return negative ? -power : power;
}

/* long double carries 64 bits or more, so that the dozen roundings on the way
 * stay far below one unit of the double. */
static double
scale_by_ten(uint64_t mantissa, int power)
{
	long double value = (long double)mantissa, factor = 10.0L;
	unsigned left = power < 0 ? 0u - (unsigned)power : (unsigned)power;
	long double product = 1.0L;

	if (mantissa == 0)
		return 0;
	if (left > 400)
		return power < 0 ? 0 : (double)__builtin_inf();
	for (; left != 0; left >>= 1, factor *= factor)
		if (left & 1)
			product *= factor;
	return (double)(power < 0 ? value / product : value * product);
}

size_t
ac_text_number(const char *s, size_t count, double *value_out)
{
	struct cursor c = { s, s + count };
	uint64_t mantissa = 0;
	int significant = 0, dropped, power, seen;

	if (read_digits(&c, &mantissa, &significant, &dropped) == 0)
		return 0;
	power = dropped;
	if (c.end - c.s >= 2 && c.s[0] == '.' && c.s[1] >= '0' &&
	    c.s[1] <= '9') {
		c.s++;
		seen = read_digits(&c, &mantissa, &significant, &dropped);
		power -= seen - dropped;
	}
	power += read_power(&c);
	*value_out = scale_by_ten(mantissa, power);
	return (size_t)(c.s - s);
}

/* ---- Comparing --------------------------------------------------------- */

bool
ac_text_glob(const char *pattern, const char *s)
{
	const char *star = NULL, *resume = NULL;

	while (*s != '\0') {
		if (*pattern == '*') {
			star = pattern++;
			resume = s;
		} else if (*pattern == '?' || *pattern == *s) {
			pattern++;
			s++;
		} else if (star != NULL) {
			/* Only the last star ever needs to take more. */
			pattern = star + 1;
			s = ++resume;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return *pattern == '\0';
}

enum { LONGEST_WORD = 31 };

static char
fold(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Insertions, deletions, substitutions and swaps of neighbours that lead from
 * `a` to `b`, case ignored; both at most LONGEST_WORD long. */
static size_t
edit_distance(const char *a, const char *b)
{
	size_t rows[3][LONGEST_WORD + 1];
	size_t *before = rows[0], *last = rows[1], *now = rows[2], *spare;
	size_t i, j, best;

	for (j = 0; j <= strlen(b); j++)
		last[j] = j;
	for (i = 1; a[i - 1] != '\0'; i++) {
		now[0] = i;
		for (j = 1; b[j - 1] != '\0'; j++) {
			best = last[j - 1] + (fold(a[i - 1]) != fold(b[j - 1]));
			if (last[j] + 1 < best)
				best = last[j] + 1;
			if (now[j - 1] + 1 < best)
				best = now[j - 1] + 1;
			if (i > 1 && j > 1 && fold(a[i - 1]) == fold(b[j - 2]) &&
			    fold(a[i - 2]) == fold(b[j - 1]) &&
			    before[j - 2] + 1 < best)
				best = before[j - 2] + 1;
			now[j] = best;
		}
		spare = before;
		before = last;
		last = now;
		now = spare;
	}
	return last[strlen(b)];
}

/* "wgrad" for "conv.wgrad", "pedant" for "pedantic". */
static bool
is_part(const char *word, const char *whole)
{
	const size_t length = strlen(word), total = strlen(whole);

	if (length < 3 || length >= total)
		return false;
	if (strncmp(whole, word, length) == 0)
		return true;
	return whole[total - length - 1] == '.' &&
	    strcmp(whole + total - length, word) == 0;
}

static size_t
common_prefix(const char *a, const char *b)
{
	size_t i = 0;

	while (a[i] != '\0' && fold(a[i]) == fold(b[i]))
		i++;
	return i;
}

/* Whether `word` is nearer to `a` than to `b`: fewer edits, then a longer
 * common beginning ("of" means "off", not "on"). `b` may be NULL. */
static bool
is_nearer(const char *word, const char *a, const char *b)
{
	size_t to_a, to_b;

	if (b == NULL)
		return true;
	to_a = edit_distance(word, a);
	to_b = edit_distance(word, b);
	if (to_a != to_b)
		return to_a < to_b;
	return common_prefix(word, a) > common_prefix(word, b);
}

const char *
ac_text_nearest(const char *word, const char *const *words, size_t count)
{
	const char *nearest = NULL;
	size_t longer, distance, i;

	if (strlen(word) > LONGEST_WORD)
		return NULL;
	for (i = 0; i < count; i++) {
		longer = strlen(words[i]);
		if (longer > LONGEST_WORD)
			continue;
		if (strlen(word) > longer)
			longer = strlen(word);
		distance = edit_distance(word, words[i]);
		if (distance <= (longer + 1) / 3 && distance < longer &&
		    is_nearer(word, words[i], nearest))
			nearest = words[i];
	}
	for (i = 0; nearest == NULL && i < count; i++)
		if (is_part(word, words[i]))
			nearest = words[i];
	return nearest;
}

uint32_t
ac_text_hash(uint32_t hash, const void *bytes, size_t count)
{
	const unsigned char *b = bytes;

	for (; count > 0; count--)
		hash = (hash ^ *b++) * 16777619u;
	return hash;
}
