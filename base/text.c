/* SPDX-License-Identifier: Apache-2.0 */
/* base/text.c -- building short texts, and reading numbers out of them.
 * Never allocates and never trusts the locale: printf's digits are taken, its
 * decimal separator is not. Every room uses it. */
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The largest double has 309 digits before the point, and 9 may follow. */
enum { LONGEST_DOUBLE = 352 };

/* ---- Building ---------------------------------------------------------- */

struct ac_text
ac_text_in(char *buffer, size_t size)
{
	buffer[0] = '\0';
	return (struct ac_text){ .data = buffer, .size = size };
}

void
ac_text_init(struct ac_text *t, char *buffer, size_t size)
{
	*t = ac_text_in(buffer, size);
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

/* A positive number with 64 bits of precision, digits * 2^exponent, the top
 * bit of `digits` set. Not long double: its precision is the platform's. */
struct wide {
	uint64_t digits;
	int      exponent;
};

__extension__ typedef unsigned __int128 product_t;

static struct wide
multiply(struct wide a, struct wide b)
{
	product_t product = (product_t)a.digits * b.digits;
	struct wide out = { 0, a.exponent + b.exponent + 64 };

	if (product >> 127 == 0) {
		product <<= 1;
		out.exponent--;
	}
	out.digits = (uint64_t)(product >> 64);
	if ((uint64_t)product >> 63 && out.digits != UINT64_MAX)
		out.digits++;
	return out;
}

/* Up to 10^400 the roundings add up to an eighth of a double's last unit. */
static struct wide
scale_by_ten(struct wide value, int power)
{
	static const struct wide ten = { 0xa000000000000000u, -60 };
	static const struct wide tenth = { 0xcccccccccccccccdu, -67 };
	struct wide factor = power < 0 ? tenth : ten;
	unsigned left = power < 0 ? 0u - (unsigned)power : (unsigned)power;

	for (; left != 0; left >>= 1, factor = multiply(factor, factor))
		if (left & 1)
			value = multiply(value, factor);
	return value;
}

/* To the nearest double, ties to even; below the normal numbers it has fewer
 * bits. */
static double
narrow(struct wide value)
{
	const int power = value.exponent + 63;
	const int bits = power >= -1022 ? 53 : 53 + 1022 + power;
	uint64_t kept, rest, half, pattern;
	double out;

	if (power > 1023)
		return __builtin_inf();
	if (bits < 1)
		return 0;
	kept = value.digits >> (64 - bits);
	rest = value.digits << bits;
	half = UINT64_C(1) << 63;
	kept += rest > half || (rest == half && (kept & 1));
	/* A carry out of the digits lands in the exponent, where it belongs. */
	pattern = power >= -1022 ? ((uint64_t)(power + 1022) << 52) + kept :
	    kept;
	memcpy(&out, &pattern, sizeof(out));
	return out;
}

static double
assemble(uint64_t mantissa, int power)
{
	struct wide value = { mantissa, 0 };

	if (mantissa == 0)
		return 0;
	if (power > 400 || power < -400)
		return power < 0 ? 0 : __builtin_inf();
	for (; value.digits >> 63 == 0; value.exponent--)
		value.digits <<= 1;
	return narrow(scale_by_ten(value, power));
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
	*value_out = assemble(mantissa, power);
	return (size_t)(c.s - s);
}

size_t
ac_text_sequence(const char *text, size_t left)
{
	const unsigned char *s = (const unsigned char *)text;
	const size_t length = *s >= 0xf0 ? 4 : *s >= 0xe0 ? 3 : 2;

	if (*s < 0x80)
		return *s != 0;
	if (*s < 0xc2 || *s > 0xf4 || left < length)
		return 0;
	for (size_t i = 1; i < length; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;       /* overlong, surrogate, beyond U+10FFFF */
	return length;
}
