/* SPDX-License-Identifier: Apache-2.0 */
/* policy/language/number.c -- numbers and suffixes, with a reason when one is
 * refused. Pure; called by the parser. */
#include "policy/language/number.h"

#include "base/text.h"

#include <string.h>

#define TWO_TO_63 9223372036854775808.0

struct suffix {
	const char *name;
	double      factor;
	bool        is_binary;
};
static const struct suffix suffixes[] = {
	{ "Ki", 1024.0, true },
	{ "Mi", 1048576.0, true },
	{ "Gi", 1073741824.0, true },
	{ "k", 1e3, false },
	{ "M", 1e6, false },
	{ "G", 1e9, false },
	{ "T", 1e12, false },
};

static const struct suffix *
find_suffix(const char *s, size_t length)
{
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++)
		if (strlen(suffixes[i].name) == length &&
		    memcmp(suffixes[i].name, s, length) == 0)
			return &suffixes[i];
	return NULL;
}

static bool
is_whole(const char *s, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (s[i] < '0' || s[i] > '9')
			return false;
	return true;
}

static bool
suffix_fits(const struct suffix *suffix, enum ac_number_kind kind)
{
	if (kind == AC_NUMBER_SIZE)
		return suffix->is_binary && suffix->factor < 1e9;
	return kind == AC_NUMBER_AMOUNT;
}

static void
refuse_suffix(const char *s, size_t length, const struct suffix *suffix,
    enum ac_number_kind kind, double value, struct ac_text *why)
{
	const int digits = (int)(length - strlen(suffix->name));

	ac_text_addf(why, "'%.*s': ", (int)length, s);
	if (kind != AC_NUMBER_SIZE) {
		ac_text_addf(why, "no '%s' here", suffix->name);
		return;
	}
	ac_text_add(why, "a size takes Ki and Mi only: write ");
	ac_text_add_fixed(why, value * suffix->factor, 0);
	if (suffix->factor < 1e7 && is_whole(s, (size_t)digits))
		ac_text_addf(why, " or %.*s%s", digits, s,
		    suffix->name[0] == 'k' ? "Ki" : "Mi");
}

bool
ac_number_read(const char *s, size_t length, enum ac_number_kind kind,
    double *value_out, struct ac_text *why)
{
	double value = 0;
	const size_t digits = ac_text_number(s, length, &value);
	const struct suffix *suffix = NULL;

	if (digits != 0 && digits < length)
		suffix = find_suffix(s + digits, length - digits);
	if (digits == 0 || (digits < length && suffix == NULL)) {
		ac_text_addf(why, "'%.*s' is not a number", (int)length, s);
		return false;
	}
	if (suffix != NULL && !suffix_fits(suffix, kind)) {
		refuse_suffix(s, length, suffix, kind, value, why);
		return false;
	}
	if ((kind == AC_NUMBER_SIZE || kind == AC_NUMBER_WHOLE) &&
	    !is_whole(s, digits)) {
		ac_text_addf(why, "'%.*s': a whole number is wanted",
		    (int)length, s);
		return false;
	}
	if (suffix != NULL)
		value *= suffix->factor;
	if (!(value < TWO_TO_63)) {
		ac_text_addf(why, "'%.*s' is too large", (int)length, s);
		return false;
	}
	*value_out = value;
	return true;
}
