/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/scaler/test_scaler_state.c -- the gradient scaler's state as text:
 * it comes back bit for bit, and a text that is damaged in any way is refused,
 * by the name of the field, and changes nothing. */
#include "tests/unit/cases.h"
#include "tests/unit/emulator/test_emu.h"

#include "include/autocast_scaler.h"

#include <locale.h>

enum { ROOM = 512 };

static autocast_scaler *scaler;
static int into_strict = 1;  /* what is to refuse is strict */
static char whole[ROOM];     /* the text of a known state */
static size_t whole_size;

static void
save(autocast_scaler *of, char text[ROOM], size_t *size_out)
{
	*size_out = ROOM - 1;
	OK(autocast_scaler_save(of, text, size_out));
	text[*size_out] = '\0';
}

static autocast_scaler *
made(double init, double growth, double backoff, int64_t interval, int strict)
{
	autocast_scaler_options o = AUTOCAST_SCALER_OPTIONS;
	autocast_scaler *s = NULL;

	o.init_scale = init;
	o.growth = growth;
	o.backoff = backoff;
	o.interval = interval;
	o.hysteresis = 3;
	o.strict = strict;
	OK(autocast_scaler_create(&o, &s));
	return s;
}

static int
begin(void **state)
{
	scaler = made(3, 4, .25, 7, 0);
	OK(autocast_scaler_prepare(scaler, 0, NULL));
	OK(autocast_scaler_scale(scaler, NULL, 0, NULL));
	save(scaler, whole, &whole_size);
	return 0;
}

static int
end(void **state)
{
	autocast_scaler_destroy(scaler);
	return 0;
}

/* Load it where another state is: refused, and that is still there. */
static void
refused(const char *text, size_t size, const char *word)
{
	autocast_scaler *other = made(5, 1.5, .75, 9, into_strict);
	char before[ROOM], after[ROOM];
	size_t before_size, after_size;
	const autocast_status expected = size ? AUTOCAST_E_STATE_FORMAT
	    : AUTOCAST_E_STATE_EMPTY;
	autocast_status got;

	OK(autocast_scaler_prepare(other, 0, NULL));
	save(other, before, &before_size);
	got = autocast_scaler_load(other, text, size);
	if (got != expected)
		fail_msg("status %d (%s) of '%.*s'", got,
		    autocast_status_string(got), (int)size, text);
	if (!strstr(autocast_last_error(), word))
		fail_msg("'%s' does not name %s, of '%.*s'",
		    autocast_last_error(), word, (int)size, text);
	save(other, after, &after_size);
	assert_int_equal(before_size, after_size);
	assert_memory_equal(before, after, after_size);
	autocast_scaler_destroy(other);
}

/* The word that line `n` begins with. */
static void
field_of(int n, char name[64])
{
	const char *line = whole;

	while (n--)
		line = strchr(line, '\n') + 1;
	snprintf(name, 64, "%.*s", (int)strcspn(line, " =:\n"), line);
}

static int
lines(void)
{
	int count = 0;

	for (size_t i = 0; i < whole_size; i++)
		count += whole[i] == '\n';
	return count;
}

/* The text with line `n` replaced (NULL: without it). */
static size_t
with(int n, const char *replacement, char text[2 * ROOM])
{
	const char *line = whole;
	int before;

	for (int i = 0; i < n; i++)
		line = strchr(line, '\n') + 1;
	before = (int)(line - whole);
	line = strchr(line, '\n') + 1;
	return (size_t)snprintf(text, 2 * ROOM, "%.*s%s%s%s", before, whole,
	    replacement ? replacement : "", replacement ? "\n" : "", line);
}

/* ---- What is right ----------------------------------------------------- */

CASE(fields)
{
	static const char *const names[] = { "scale", "growth", "backoff",
		"interval", "tracker", "hysteresis" };

	assert_int_equal(lines(), 7);
	assert_int_equal(whole[whole_size - 1], '\n');
	for (int i = 0; i < 6; i++) {
		char field[64];

		field_of(i + 1, field);
		if (!strstr(field, names[i]))
			fail_msg("line %d is of %s, not %s", i + 2, field,
			    names[i]);
	}
}

static uint64_t
bits(double value)
{
	uint64_t b;

	memcpy(&b, &value, sizeof b);
	return b;
}

CASE(round_trip)
{
	static const double scales[] = { 65536, 3, 0x1p-149, 0x1.fffffep127,
		0x1.23456p-130, 0x1.99999ap-4 };
	static const double growths[] = { 2, 1.1, 0x1.0000000000001p0, 1e300 };
	static const double backoffs[] = { .5, .1, 0x1.fffffffffffffp-1,
		4.9e-324 };

	for (size_t i = 0; i < 6 * 4 * 4; i++) {
		const double growth = growths[i / 6 % 4];
		const double backoff = backoffs[i / 24];
		const int64_t interval = i % 2 ? INT64_MAX : 1;
		autocast_scaler *a = made(scales[i % 6], growth, backoff,
		    interval, 1);
		autocast_scaler *b = made(1, 2, .5, 2000, (int)i % 2);
		char text[ROOM], again[ROOM];
		size_t size, again_size;
		double value;
		int64_t count;

		save(a, text, &size);
		OK(autocast_scaler_load(b, text, size));
		save(b, again, &again_size);
		assert_string_equal(text, again);
		OK(autocast_scaler_get(b, &value, NULL));
		assert_true(bits(value) == bits(scales[i % 6]));
		OK(autocast_scaler_get_growth(b, &value));
		assert_true(bits(value) == bits(growth));
		OK(autocast_scaler_get_backoff(b, &value));
		assert_true(bits(value) == bits(backoff));
		OK(autocast_scaler_get_interval(b, &count));
		assert_true(count == interval);
		autocast_scaler_destroy(a);
		autocast_scaler_destroy(b);
	}
}

/* Into one that no device knows yet: the first device gets it. */
CASE(into_a_new_one)
{
	autocast_scaler *other = made(5, 1.5, .75, 9, 0);
	char text[2 * ROOM], again[ROOM];
	size_t again_size;

	with(5, "growth_tracker 5\nhysteresis 2", text);
	*strrchr(text, 'h') = '\0'; /* the old line behind the new one */
	OK(autocast_scaler_load(other, text, strlen(text)));
	save(other, again, &again_size);
	assert_string_equal(again, text);
	OK(autocast_scaler_prepare(other, 0, NULL));
	OK(autocast_scaler_scale(other, NULL, 0, NULL));
	save(other, again, &again_size);
	assert_string_equal(again, text);
	autocast_scaler_destroy(other);
}

CASE(sizes)
{
	char text[ROOM];
	size_t size = 0;

	OK(autocast_scaler_save(scaler, NULL, &size));
	assert_int_equal(size, whole_size);
	for (size_t room = 0; room < whole_size; room++) {
		memset(text, '#', sizeof text);
		size = room;
		assert_int_equal(autocast_scaler_save(scaler, text, &size),
		    AUTOCAST_E_INVALID);
		assert_int_equal(size, whole_size);
		for (size_t i = 0; i < sizeof text; i++)
			assert_int_equal(text[i], '#');
	}
	size = whole_size;
	OK(autocast_scaler_save(scaler, text, &size));
	assert_memory_equal(text, whole, whole_size);
	assert_int_equal(text[whole_size], '#');
}

/* A user's locale writes fractions with a comma. */
CASE(elsewhere)
{
	char text[ROOM];
	size_t size;

	if (!setlocale(LC_ALL, "de_DE.UTF-8") && !setlocale(LC_ALL, "de_DE"))
		print_message("# no locale with a decimal comma here\n");
	save(scaler, text, &size);
	assert_string_equal(text, whole);
	OK(autocast_scaler_load(scaler, text, size));
	setlocale(LC_ALL, "C");
}

/* ---- What is not ------------------------------------------------------- */

CASE(cut)
{
	for (size_t size = 0; size < whole_size; size++)
		refused(whole, size, "");
}

CASE(lines_missing)
{
	char text[2 * ROOM], name[64], line[256];
	int length;

	for (int n = 0; n < lines(); n++) {
		size_t size = with(n, NULL, text);

		field_of(n, name);
		refused(text, size, n ? name : "");
		/* Twice. */
		length = (int)strcspn(strstr(whole, name), "\n");
		snprintf(line, sizeof line, "%.*s\n%.*s", length,
		    strstr(whole, name), length, strstr(whole, name));
		refused(text, with(n, line, text), "");
		/* Another word before it, and after all. */
		snprintf(line, sizeof line, "colour 7\n%s", name);
		refused(text, with(n, line, text), "");
	}
	snprintf(text, sizeof text, "%scolour 7\n", whole);
	refused(text, strlen(text), "");
	snprintf(text, sizeof text, "%s\n", whole);
	refused(text, strlen(text), "");
	snprintf(text, sizeof text, "\n%s", whole);
	refused(text, strlen(text), "");
}

CASE(values)
{
	static const char *const words[] = { "nan", "NaN", "-nan", "-1",
		"-0x1p+3", "", " ", "x", "1x", "0x", "0x1p", "1,5", "1e", "--1",
		"inf", "-inf", "99999999999999999999999999", "0x1p+9999", "1 2",
		"1\r", "+1 ", "\t1", "0", "0x0p+0", "-9223372036854775808" };
	char text[2 * ROOM], name[64], line[128];

	for (int n = 1; n < lines(); n++)
		for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
			field_of(n, name);
			/* A count may be 0, patience used up, growth inf. */
			if ((n == 2 && (!strcmp(words[i], "inf")
			    || !strcmp(words[i], "0x1p+9999")))
			    || (n >= 5 && !strcmp(words[i], "0")))
				continue;
			snprintf(line, sizeof line, "%s %s", name, words[i]);
			refused(text, with(n, line, text), name);
		}
}

/* Strict or not. */
CASE(negative)
{
	static const char *const words[] = { "-1", "-0x1p+3", "nan" };
	char text[2 * ROOM], name[64], line[128];

	into_strict = 0;
	for (int n = 1; n < lines(); n++)
		for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
			field_of(n, name);
			snprintf(line, sizeof line, "%s %s", name, words[i]);
			refused(text, with(n, line, text), name);
		}
	into_strict = 1;
}

/* What is wrong and what is wanted instead is said. */
CASE(messages)
{
	static const struct { int n; const char *line, *says; } rows[] = {
		{ 1, "scale 1024", "scale is not a fraction as in 0x1p+16" },
		{ 1, "scale 0x1p3", "scale is not a fraction as in 0x1p+16" },
		{ 3, "backoff_factor .5",
		    "backoff_factor is not a fraction as in 0x1p+16" },
		{ 4, "growth_interval 2e3",
		    "growth_interval is not a whole number as in 2000" },
		{ 4, "growth_interval -7", "growth_interval is negative" },
		{ 5, "growth_tracker 2147483648",
		    "growth_tracker is too large" },
		{ 6, "hysteresis -1", "hysteresis is negative" },
		{ 0, "autocast-scaler 1\r",
		    "autocast-scaler ends in a carriage return" },
		{ 1, "scale 0x1p+3\r", "scale ends in a carriage return" },
		{ 1, "growth_factor 0x1p+2",
		    "growth_factor is too early: scale should be there" },
		{ 1, "scale 0x1p+3\nscale 0x1p+3",
		    "scale is there twice: growth_factor should be there" },
		{ 1, "scalar 0x1p+3",
		    "line 2 is no field of it: scale should be there" },
		{ 5, "growth_tracker 0\ngrowth_interval 7",
		    "growth_interval is there twice: hysteresis should be" },
	};
	char text[2 * ROOM];

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		refused(text, with(rows[i].n, rows[i].line, text),
		    rows[i].says);
}

/* Bounds are looked at by name, too. */
CASE(bounds)
{
	autocast_scaler_options o = AUTOCAST_SCALER_OPTIONS;
	autocast_scaler *s;
	double scale;

	o.strict = 1;
	for (int i = 0; i < 2; i++) {
		o.min_scale = i ? 4 : 1;
		o.max_scale = i ? 0 : 2;
		OK(autocast_scaler_create(&o, &s));
		assert_int_equal(autocast_scaler_load(s, whole, whole_size),
		    AUTOCAST_E_STATE_FORMAT);
		assert_non_null(strstr(autocast_last_error(), i
		    ? "scale is below the smallest"
		    : "scale is above max_scale"));
		OK(autocast_scaler_get(s, &scale, NULL));
		assert_true(scale == (i ? 65536 : 2));
		autocast_scaler_destroy(s);
	}
}

CASE(versions)
{
	static const char *const numbers[] = { "2", "0", "-1", "10", "1.0",
		"999999999999999999999", "1 ", "", "x" };
	char text[2 * ROOM], name[64], line[128];

	field_of(0, name);
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
		snprintf(line, sizeof line, "%s %s", name, numbers[i]);
		refused(text, with(0, line, text), "");
	}
	refused(text, with(0, "autocast_scaler 1", text), "");
	refused(text, with(0, "", text), "");
}

/* Whatever comes: an answer, and if it is yes, a state that saves again. */
CASE(noise)
{
	uint64_t dice = 1;
	int taken = 0;

	for (int i = 0; i < 20000; i++) {
		autocast_scaler *s = made(1, 2, .5, 2000, i % 2);
		char text[ROOM], again[ROOM];
		size_t size = whole_size, again_size;
		autocast_status status;

		memcpy(text, whole, sizeof text);
		for (int n = 0; n <= i % 3; n++) {
			test_random(&dice);
			text[(dice >> 33) % size] = i % 5 ? (char)(dice >> 50)
			    : "0123456789abcpx.+- \n"[(dice >> 50) % 20];
		}
		status = autocast_scaler_load(s, text, size);
		assert_true(status == AUTOCAST_OK
		    || status == AUTOCAST_E_STATE_FORMAT);
		save(s, again, &again_size);
		if (!status) {
			taken++;
			OK(autocast_scaler_load(s, again, again_size));
		}
		autocast_scaler_destroy(s);
	}
	assert_true(taken > 0 && taken < 10000);
}

CASES_RUN(begin, end)
