/* SPDX-License-Identifier: Apache-2.0 */
/* base/text_hex.c -- numbers with all their bits, in the C notation of
 * hexadecimal floating constants. printf's %a would follow the program's
 * locale. */
#include "base/text.h"

#include <string.h>

enum { FRACTION_BITS = 52, BIAS = 1023, SPECIAL = 0x7ff };

void
ac_text_add_hex(struct ac_text *t, double value)
{
	const uint64_t mask = (UINT64_C(1) << FRACTION_BITS) - 1;
	uint64_t bits, fraction;
	int exponent, digits = FRACTION_BITS / 4;

	memcpy(&bits, &value, sizeof bits);
	fraction = bits & mask;
	exponent = (int)(bits >> FRACTION_BITS & SPECIAL);
	if (bits >> 63)
		ac_text_add(t, "-");
	if (exponent == SPECIAL) {
		ac_text_add(t, fraction ? "nan" : "inf");
		return;
	}
	if (!exponent && !fraction) {
		ac_text_add(t, "0x0p+0");
		return;
	}
	if (!exponent) { /* a subnormal, made normal */
		for (exponent = 1; !(fraction >> FRACTION_BITS); exponent--)
			fraction <<= 1;
		fraction &= mask;
	}
	for (; digits && !(fraction & 0xf); digits--)
		fraction >>= 4;
	ac_text_add(t, "0x1");
	if (digits)
		ac_text_addf(t, ".%0*llx", digits,
		    (unsigned long long)fraction);
	ac_text_addf(t, "p%+d", exponent - BIAS);
}

static int
digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

size_t
ac_text_digits(const char *s, uint64_t *value_out)
{
	size_t count = 0;

	for (*value_out = 0; digit_of(s[count]) >= 0; count++)
		*value_out = *value_out << 4 | (uint64_t)digit_of(s[count]);
	return count;
}

/* value 2^exponent, exactly, if a double has room for it. */
static double
scaled(double value, int exponent)
{
	for (; exponent > 0 && value < 0x1p1023 && value != 0; exponent--)
		value *= 2;
	for (; exponent < 0 && value != 0; exponent++)
		value /= 2;
	return exponent > 0 && value != 0 ? value * 2 : value;
}

/* DIGITS [. DIGITS] p SIGN DIGITS, after "0x". */
static size_t
read_digits(const char *s, size_t count, double *value)
{
	size_t at = 0, digits = 0;
	int exponent = 0, shift = 0;
	bool is_negative;
	uint64_t fraction = 0;

	for (; at < count && (digit_of(s[at]) >= 0 || (s[at] == '.'
	    && !shift && digits == 1)); at++) {
		if (s[at] == '.') {
			shift = 1;
			continue;
		}
		if (++digits > 14)
			return 0;
		fraction = fraction << 4 | (uint64_t)digit_of(s[at]);
		exponent -= shift ? 4 : 0;
	}
	if (!digits || at + 2 >= count || s[at] != 'p'
	    || (s[at + 1] != '+' && s[at + 1] != '-'))
		return 0;
	is_negative = s[at + 1] == '-';
	shift = 0;
	at += 2;
	for (digits = 0; at < count && s[at] >= '0' && s[at] <= '9'; at++) {
		if (++digits > 4)
			return 0;
		shift = shift * 10 + (s[at] - '0');
	}
	if (!digits)
		return 0;
	*value = scaled((double)fraction,
	    exponent + (is_negative ? -shift : shift));
	return at;
}

size_t
ac_text_hex(const char *s, size_t count, double *value_out)
{
	const size_t sign = count && *s == '-';
	size_t used;
	double value;

	s += sign;
	count -= sign;
	if (count >= 3 && (!memcmp(s, "inf", 3) || !memcmp(s, "nan", 3))) {
		value = *s == 'i' ? __builtin_inf() : __builtin_nan("");
		used = 3;
	} else if (count > 2 && s[0] == '0' && s[1] == 'x') {
		used = read_digits(s + 2, count - 2, &value);
		if (!used)
			return 0;
		used += 2;
	} else {
		return 0;
	}
	*value_out = sign ? -value : value;
	return used + sign;
}
