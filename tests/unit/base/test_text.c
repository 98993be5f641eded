/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/base/test_text.c -- bounded text must stay bounded, and its
 * numbers must not depend on the locale. */
#include "base/text.h"
#include "tests/unit/cases.h"

#include <inttypes.h>
#include <locale.h>
#include <math.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* An overlong text is cut, stays terminated and remembers the cut. */
CASE(test_overflow)
{
	char buffer[8] = "xxxxxxx";
	struct ac_text t;

	ac_text_init(&t, buffer, 6);
	ac_text_add(&t, "abc");
	assert_false(t.truncated);
	ac_text_add(&t, "def");
	assert_string_equal(buffer, "abcde");
	assert_true(t.truncated);
	assert_int_equal(buffer[6], 'x');

	ac_text_init(&t, buffer, 6);
	ac_text_addf(&t, "%d-%s", 12, "34");
	assert_string_equal(buffer, "12-34");
	assert_false(t.truncated);
	ac_text_addf(&t, "%d", 5);
	assert_string_equal(buffer, "12-34");
	assert_true(t.truncated);

	ac_text_init(&t, buffer, 1);
	ac_text_add(&t, "");
	assert_false(t.truncated);
	ac_text_addf(&t, "%c", 'x');
	ac_text_add_double(&t, 1.5, 3);
	assert_string_equal(buffer, "");
	assert_true(t.truncated);
}

/* A number of many kinds: near a power of ten, near half a digit, any. */
static double
any_number(uint64_t bits)
{
	const int power = (int)(bits >> 8 & 31) - 14;
	char text[48];

	snprintf(text, sizeof text, "%s%" PRIu64 "%se%d", bits & 8 ? "-" : "",
	    bits >> 40, bits & 4 ? "5" : "", power - 7);
	if (bits & 2)
		snprintf(text, sizeof text, "1e%d", power);
	return bits & 1 ? nextafter(strtod(text, NULL), bits & 16 ? 1e300 : 0)
	    : strtod(text, NULL);
}

/* The digits are printf's, which are exact. */
CASE(test_digits)
{
	uint64_t seed = 1;

	for (int i = 0; i < 400000; i++) {
		struct ac_text t = AC_TEXT_OF(32);
		char exact[32], short_one[32];
		const int digits = 1 + i % 9;
		double value;

		seed = seed * UINT64_C(6364136223846793005) + 12345;
		value = any_number(seed >> 3);
		ac_text_add_double(&t, value, digits);
		snprintf(exact, sizeof exact, "%.*e", digits - 1, value);
		snprintf(short_one, sizeof short_one, "%.*e", digits - 1,
		    strtod(t.data, NULL));
		assert_string_equal(short_one, exact);
	}
}

CASE(test_pad)
{
	char buffer[8];
	struct ac_text t;

	ac_text_init(&t, buffer, sizeof(buffer));
	ac_text_add(&t, "ab");
	ac_text_pad(&t, 5);
	ac_text_pad(&t, 3);
	ac_text_add(&t, "c");
	assert_string_equal(buffer, "ab   c");
	ac_text_pad(&t, 100);
	assert_int_equal(t.used, 7);
	assert_true(t.truncated);
}

static const char *
as_double(double value, int digits)
{
	static char buffer[64];
	struct ac_text t;

	ac_text_init(&t, buffer, sizeof(buffer));
	ac_text_add_double(&t, value, digits);
	return buffer;
}

static const char *
as_fixed(double value, int decimals)
{
	static char buffer[400];
	struct ac_text t;

	ac_text_init(&t, buffer, sizeof(buffer));
	ac_text_add_fixed(&t, value, decimals);
	return buffer;
}

static void
check_doubles(void)
{
	assert_string_equal(as_double(0, 3), "0");
	assert_string_equal(as_double(-0.0, 3), "0");
	assert_string_equal(as_double(1, 3), "1");
	assert_string_equal(as_double(2.9e-4, 2), "2.9e-4");
	assert_string_equal(as_double(1e-3, 3), "0.001");
	assert_string_equal(as_double(0.0123456, 3), "0.0123");
	assert_string_equal(as_double(-3.14159, 4), "-3.142");
	assert_string_equal(as_double(123456, 2), "120000");
	assert_string_equal(as_double(999999.9, 3), "1e6");
	assert_string_equal(as_double(999999, 6), "999999");
	assert_string_equal(as_double(0.00099999, 2), "0.001");
	assert_string_equal(as_double(1.5e300, 9), "1.5e300");
	assert_string_equal(as_double(4.9e-324, 1), "5e-324");
	assert_string_equal(as_double(100, 1), "100");
	assert_string_equal(as_double(10.25, 9), "10.25");
	assert_string_equal(as_double(__builtin_nan(""), 3), "nan");
	assert_string_equal(as_double(__builtin_inf(), 3), "inf");
	assert_string_equal(as_double(-__builtin_inf(), 3), "-inf");
	assert_string_equal(as_fixed(1234.5678, 2), "1234.57");
	assert_string_equal(as_fixed(-0.004, 2), "0.00");
	assert_string_equal(as_fixed(-0.5, 2), "-0.50");
	assert_string_equal(as_fixed(2.5, 0), "2");
	assert_string_equal(as_fixed(0, 3), "0.000");
	assert_int_equal(strlen(as_fixed(1e308, 9)), 309 + 1 + 9);
}

CASE(test_doubles)
{
	check_doubles();
}

/* A program that set a decimal comma must not see its reports change. Where no
 * such locale is installed the test proves nothing and says so. */
CASE(test_decimal_comma)
{
	static const char *const locales[] = {
		"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "nl_NL.UTF-8"
	};
	double value = 0;
	size_t i;

	for (i = 0; i < COUNT(locales); i++)
		if (setlocale(LC_ALL, locales[i]) != NULL)
			break;
	if (i == COUNT(locales)) {
		print_message("no locale with a decimal comma here\n");
		skip();
	}
	check_doubles();
	assert_int_equal(ac_text_number("1.5", 3, &value), 3);
	assert_true(value == 1.5);
	setlocale(LC_ALL, "C");
}

static void
check_number(const char *s, size_t consumed, double expected)
{
	double value = -1;

	assert_int_equal(ac_text_number(s, strlen(s), &value), consumed);
	if (!(value == expected))
		fail_msg("'%s' gave %a, expected %a", s, value, expected);
}

CASE(test_numbers)
{
	check_number("0", 1, 0);
	check_number("16", 2, 16);
	check_number("16..32", 2, 16);
	check_number("1.5e3x", 5, 1500);
	check_number("1e", 1, 1);
	check_number("1e+", 1, 1);
	check_number("1.", 1, 1);
	check_number("1.e5", 1, 1);
	check_number("2E3", 1, 2);
	check_number("1e-3", 4, 1e-3);
	check_number("007", 3, 7);
	check_number("0.000001", 8, 1e-6);
	check_number("9007199254740993", 16, 9007199254740992.0);
	check_number("18446744073709551616", 20, 18446744073709551616.0);
	check_number("1e308", 5, 1e308);
	check_number("1e309", 5, __builtin_inf());
	check_number("1e-330", 6, 0);
	check_number("5e-324", 6, 4.9406564584124654e-324);
	check_number("1e99999999999", 13, __builtin_inf());
	check_number("0e99999999999", 13, 0);
	check_number("0.00000000000000000000000000001e30", 34, 10);
	check_number("1000000000000000000000000000000e-30", 35, 1);
}

CASE(test_no_number)
{
	static const char *const texts[] = { "", "x", ".5", "-1", "+1", "e5",
		" 1", "inf", "nan" };
	double value = 7;
	size_t i;

	for (i = 0; i < COUNT(texts); i++)
		assert_int_equal(ac_text_number(texts[i], strlen(texts[i]),
		    &value), 0);
	/* Bytes behind the count belong to somebody else. */
	assert_int_equal(ac_text_number("123", 0, &value), 0);
	assert_true(value == 7);
	assert_int_equal(ac_text_number("123", 2, &value), 2);
	assert_true(value == 12);
}

static uint64_t
bits_of(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

/* The promise is one unit in the last place against the C library. */
CASE(test_numbers_are_close)
{
	uint64_t seed = 88172645463325252u, ours, theirs, gap;
	char text[64];
	double value = 0;
	int i;

	for (i = 0; i < 200000; i++) {
		seed ^= seed << 13;
		seed ^= seed >> 7;
		seed ^= seed << 17;
		snprintf(text, sizeof(text), "%llu.%02ue%d",
		    (unsigned long long)(seed >> 8) >> (seed & 31),
		    (unsigned)(seed % 100), (int)(seed % 640) - 330);
		assert_int_equal(ac_text_number(text, strlen(text), &value),
		    strlen(text));
		ours = bits_of(value);
		theirs = bits_of(strtod(text, NULL));
		gap = ours > theirs ? ours - theirs : theirs - ours;
		if (gap > 1)
			fail_msg("%s is %llu units off", text,
			    (unsigned long long)gap);
	}
}

CASE(test_glob)
{
	char text[4001];

	assert_true(ac_text_glob("", ""));
	assert_false(ac_text_glob("", "a"));
	assert_true(ac_text_glob("*", ""));
	assert_true(ac_text_glob("lib*.so", "libcublas.so"));
	assert_false(ac_text_glob("lib*.so", "libcublas.so.13"));
	assert_true(ac_text_glob("lib?ublas*", "libcublas.so.13"));
	assert_true(ac_text_glob("*faiss*", "/usr/lib/libfaiss.so"));
	assert_true(ac_text_glob("a*b*c", "axxbyybzc"));
	assert_false(ac_text_glob("a*b*c", "axxbyybz"));
	assert_false(ac_text_glob("?", ""));
	assert_true(ac_text_glob("[a]", "[a]"));
	assert_false(ac_text_glob("[a]", "a"));
	assert_false(ac_text_glob("Abc", "abc"));

	/* No pattern may take exponential time. */
	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	assert_false(ac_text_glob("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b", text));
}

CASE(test_nearest)
{
	static const char *const rungs[] = { "keep", "auto", "tf32", "fp16",
		"bf16", "fp16x3", "conv.wgrad" };

#define NEAR(word) ac_text_nearest(word, rungs, COUNT(rungs))
	assert_string_equal(NEAR("fp61"), "fp16");
	assert_string_equal(NEAR("FP16"), "fp16");
	assert_string_equal(NEAR("tf23"), "tf32");
	assert_string_equal(NEAR("kep"), "keep");
	assert_string_equal(NEAR("fp16x2"), "fp16x3");
	assert_string_equal(NEAR("wgrad"), "conv.wgrad");
	assert_null(NEAR("q"));
	assert_null(NEAR("elephant"));
	assert_null(NEAR(""));
	assert_null(NEAR("a-word-longer-than-any-word-of-the-language"));
	assert_null(ac_text_nearest("fp16", rungs, 0));
	assert_string_equal(ac_text_nearest("of",
	    (const char *const[]){ "on", "off" }, 2), "off");
#undef NEAR
}

/* Site ids live in users' policies: the hash may never change. */
CASE(test_hash)
{
	assert_int_equal(ac_text_hash(AC_TEXT_HASH_START, "", 0), 0x811c9dc5u);
	assert_int_equal(ac_text_hash(AC_TEXT_HASH_START, "a", 1), 0xe40c292cu);
	assert_int_equal(ac_text_hash(AC_TEXT_HASH_START, "foobar", 6),
	    0xbf9cf968u);
}

CASES_RUN(NULL, NULL)
