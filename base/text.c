/* SPDX-License-Identifier: Apache-2.0 */
/* base/text.c -- building short texts, and reading numbers out of them.
 * Never allocates and never trusts the locale. Every room uses it. */
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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
