/* SPDX-License-Identifier: Apache-2.0 */
/* base/text_double.c -- floating-point numbers as text, in decimal. printf's
 * digits are taken where ours are not sure, its decimal separator is not. */
#include "base/text.h"

#include <stdio.h>
#include <string.h>

/* The largest double has 309 digits before the point, and 9 may follow. */
enum { LONGEST_DOUBLE = 352 };

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

static char *
put(char *to, const char *bytes, int count)
{
	for (int i = 0; i < count; i++)
		*to++ = bytes[i];
	return to;
}

/* `kept` digits standing for 0.d1d2d3... times ten to the power `point`: no
 * more than nine zeros. Returns the end. */
static char *
put_plain(char *to, const char *digits, int kept, int point)
{
	static const char zeros[] = "0.00000000";
	const int whole = kept < point ? kept : point;

	if (point <= 0) {
		to = put(to, zeros, 2 - point);
		return put(to, digits, kept);
	}
	to = put(to, digits, whole);
	to = put(to, zeros + 2, point - whole);
	if (kept <= point)
		return to;
	*to++ = '.';
	return put(to, digits + point, kept - point);
}

/* No more than three digits. */
static char *
put_exponent(char *to, int exponent)
{
	const int size = exponent < 0 ? -exponent : exponent;

	*to++ = 'e';
	if (exponent < 0)
		*to++ = '-';
	if (size > 99)
		*to++ = (char)('0' + size / 100);
	if (size > 9)
		*to++ = (char)('0' + size / 10 % 10);
	*to++ = (char)('0' + size % 10);
	return to;
}

/* The digits of `value`, above zero, in its own arithmetic: at once where that
 * cannot round to another digit, be it off by the last bit. False: nothing is
 * set. */
static bool
round_digits(double value, int digits, char *digits_out, int *exponent_out)
{
	static const double ten[] = { 1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7,
		1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
		1e19, 1e20, 1e21, 1e22 };
	int exponent = 0, shift;
	double scaled, rest;
	uint64_t whole;

	if (!(value > 1e-12 && value < 1e15))
		return false;
	while (value >= ten[exponent + 1])
		exponent++;
	while (exponent <= 0 && value * ten[-exponent] < 1)
		exponent--;
	shift = digits - 1 - exponent;
	scaled = shift < 0 ? value / ten[-shift] : value * ten[shift];
	whole = (uint64_t)scaled;
	rest = scaled - (double)whole;
	if (rest > 0.4999 && rest < 0.5001)
		return false;
	whole += rest > 0.5;
	if ((double)whole >= ten[digits]) {
		whole /= 10;
		exponent++;
	}
	digits_out[digits] = '\0';
	for (int i = digits - 1; i >= 0; i--, whole /= 10)
		digits_out[i] = (char)('0' + whole % 10);
	*exponent_out = exponent;
	return true;
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
	char printed[LONGEST_DOUBLE], mantissa[16], out[32], *end = out;
	int kept, exponent;
	const char *rest;

	if (add_special(t, value))
		return;
	if (value == 0) {
		ac_text_add(t, "0");
		return;
	}
	digits = digits < 1 ? 1 : digits > 9 ? 9 : digits;
	if (!round_digits(value < 0 ? -value : value, digits, mantissa,
	    &exponent)) {
		snprintf(printed, sizeof(printed), "%.*e", digits - 1, value);
		rest = pick_digits(printed, digits, mantissa);
		exponent = read_exponent(rest + 1);
	}
	for (kept = digits; kept > 1 && mantissa[kept - 1] == '0'; kept--)
		;
	if (value < 0)
		*end++ = '-';
	if (exponent >= -3 && exponent < 6)
		end = put_plain(end, mantissa, kept, exponent + 1);
	else
		end = put_exponent(put_plain(end, mantissa, kept, 1), exponent);
	ac_text_add_bytes(t, out, (size_t)(end - out));
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
