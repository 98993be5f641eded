/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/cmd/test_numbers.c -- what counts as a number, where outputs
 * differ, what differs anyway, and inputs that mean harm. */
#include "cmd/compare/numbers.h"
#include "base/text.h"
#include "tests/unit/cases.h"

#include <math.h>
#include <time.h>

/* ---- Words ------------------------------------------------------------- */

/* The line with numbers as {value}, and words between bars. */
static const char *
cut(const char *line)
{
	static char buffer[1024];
	struct ac_piece_line at = { line, line, line + strlen(line) };
	struct ac_piece piece;
	struct ac_text t;

	ac_text_init(&t, buffer, sizeof buffer);
	while (ac_piece_next(&at, &piece)) {
		assert_true(piece.length > 0);
		ac_text_add(&t, piece.is_number ? "{" : "|");
		if (piece.is_number)
			ac_text_add_double(&t, piece.value, 9);
		else
			ac_text_add_bytes(&t, piece.start, piece.length);
		ac_text_add(&t, piece.is_number ? "}" : "|");
	}
	assert_ptr_equal(at.at, at.end);
	return buffer;
}

CASE(test_words)
{
	static const struct { const char *line, *cut; } rows[] = {
		{ "", "" }, { "  \t\r ", "" },
		{ "loss 0.5", "|loss|{0.5}" },
		{ "loss=0.5,acc:97%", "|loss=|{0.5}|,acc:|{97}|%|" },
		{ "-1 +2 -.5 .5e1 5. 1.e2", "{-1}{2}{-0.5}{5}{5}{100}" },
		{ "1e3 1E3 1e-3 1e+3 2e", "{1000}{1000}{0.001}{1000}{2}|e|" },
		{ "nan NaN -nan inf -INF infinity",
		    "{nan}{nan}{nan}{inf}{-inf}{inf}" },
		{ "-nan(0x8)", "{nan}|(0x8)|" },
		{ "info nano inf2 xnan", "|info nano inf2 xnan|" },
		{ "1e999 -1e999 1e-999", "{inf}{-inf}{0}" },
		{ "[1. 2. 3.]", "|[|{1}{2}{3}|]|" },
		{ "1,2,3", "{1}|,|{2}|,|{3}" },
		{ "0.5,123,456", "{0.5}|,|{123}|,|{456}" },
		{ "123,456,0.5", "{123}|,|{456}|,|{0.5}" },
		{ "1,234,567 and 1,234.5", "|1,234,567 and 1,234.5|" },
		{ "1234,567", "{1234}|,|{567}" },
		{ "0x1f 0xff 0XA 0b1", "|0x1f 0xff 0XA 0b1|" },
		{ "v1.2 1.2.3 fp16 x_1 5f3a91c2",
		    "|v1.2 1.2.3 fp16 x_1 5f3a91c2|" },
		{ "12ms 3.5GB 1.0f 2nd 7_0",
		    "{12}|ms|{3.5}|GB|{1}|f|{2}|nd 7_0|" },
		{ "10seconds", "|10seconds|" },
		{ "2026-11-21 12:34:56",
		    "{2026}|-|{11}|-|{21}{12}|:|{34}|:|{56}" },
		{ "3-4 (3)-4 a-4", "{3}|-|{4}|(|{3}|)-|{4}|a-|{4}" },
		{ "--5 - 5 -", "|-|{-5}|-|{5}|-|" },
		{ "...", "|...|" }, { "..5", "|.|{0.5}" }, { "5..", "{5}|.|" },
		{ "\303\2515 5\303\251", "|\303\2515|{5}|\303\251|" },
		{ "+", "|+|" }, { "-inf-inf", "{-inf}|-|{inf}" },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		assert_string_equal(cut(rows[i].line), rows[i].cut);
}

CASE(test_difference)
{
	assert_true(ac_number_difference(1, 1) == 0);
	assert_true(fabs(ac_number_difference(1, 1.001) - 0.000999) < 1e-6);
	assert_true(ac_number_difference(-1, 1) == 2);
	assert_true(ac_number_difference(0, 1e-300) == 1);
	assert_true(ac_number_difference(0, -0.0) == 0);
	assert_true(ac_number_difference(1.7e308, -1.7e308) == 2);
	assert_true(ac_number_difference(NAN, NAN) == 0);
	assert_true(isinf(ac_number_difference(NAN, 1)));
	assert_true(ac_number_difference(HUGE_VAL, HUGE_VAL) == 0);
	assert_true(isinf(ac_number_difference(HUGE_VAL, -HUGE_VAL)));
}

/* ---- Outputs ----------------------------------------------------------- */

/* A reference, another plain run (or NULL) and a recast one; arrays of `word`
 * bytes a number, or 0. */
static struct ac_numbers_result
judge_runs(size_t word, const void *const runs[3], const size_t counts[3])
{
	struct ac_numbers *n = ac_numbers_create(runs[0], counts[0]);
	struct ac_numbers_result r;

	assert_non_null(n);
	assert_true(!word || ac_numbers_use_words(n, word));
	assert_true(!runs[1] || ac_numbers_learn(n, runs[1], counts[1]));
	assert_true(ac_numbers_compare(n, runs[2], counts[2], 1e-2));
	ac_numbers_result(n, &r);
	ac_numbers_destroy(n);
	return r;
}

static struct ac_numbers_result
judge(const char *plain, const char *again, const char *recast)
{
	return judge_runs(0, (const void *[]){ plain, again, recast },
	    (size_t[]){ strlen(plain), again ? strlen(again) : 0,
	    strlen(recast) });
}

/* 2,310 numbers in 231 lines; `planted` replaces the one in line 124, column
 * 38. */
static char *
table(const char *planted)
{
	char *text = malloc(1 << 17);
	struct ac_text t;

	ac_text_init(&t, text, 1 << 17);
	for (unsigned i = 1; i <= 231; i++) {
		ac_text_add(&t, "row");
		for (unsigned k = 0; k < 10; k++)
			if (i == 124 && k == 5)
				ac_text_addf(&t, " %s", planted);
			else
				ac_text_addf(&t, " %u.%03u", i % 7 + 1,
				    i * k % 1000);
		ac_text_add(&t, "\n");
	}
	assert_false(t.truncated);
	return text;
}

CASE(test_planted)
{
	char *plain = table("1.000"), *recast = table("1.001");
	const struct ac_numbers_result r = judge(plain, plain, recast);

	assert_int_equal(r.numbers, 2310);
	assert_int_equal(r.unstable, 0);
	assert_int_equal(r.differing, 1);
	assert_int_equal(r.beyond, 0);
	assert_true(fabs(r.worst - 0.000999) < 1e-6);
	assert_int_equal(r.worst_line, 124);
	assert_int_equal(r.worst_column, 35);
	assert_string_equal(r.worst_plain, "1.000");
	assert_string_equal(r.worst_recast, "1.001");
	assert_int_equal(r.lines, 231);
	assert_int_equal(r.differing_lines, 0);
	free(plain);
	free(recast);
}

CASE(test_worst)
{
	struct ac_numbers_result r = judge("1 2 3\n4 5\n", NULL,
	    "1.001 2 3.3\n4 4.9\n");

	assert_int_equal(r.differing, 3);
	assert_int_equal(r.beyond, 2);
	assert_int_equal(r.worst_line, 1);
	assert_int_equal(r.worst_column, 5);
	r = judge("1\n2\n", NULL, "1.5\nnan\n");
	assert_int_equal(r.worst_line, 2);
	assert_true(isinf(r.worst));
	assert_string_equal(r.worst_recast, "nan");
	r = judge("1.0 2e0 +3 nan\n", NULL, "1 2 3.00 -NaN\n");
	assert_int_equal(r.differing, 0);
	r = judge("9007199254740992 1e400 inf 1e20 NAN\n", NULL,
	    "9007199254740993 1e500 Infinity 100000000000000000000 nan\n");
	assert_int_equal(r.differing, 2);
	assert_int_equal(r.beyond, 1);
	r = judge("a 1\n", NULL, "a   1\n");
	assert_int_equal(r.differing + r.differing_lines, 0);
	r = judge("a  b\n", NULL, "ab\n");
	assert_int_equal(r.differing_lines, 1);
}

/* What differs between plain runs is left out, and only that. */
CASE(test_unstable)
{
	struct ac_numbers_result r = judge(
	    "time 12.5 loss 3\nin /tmp/ab1x\nend 1\n",
	    "time 13.5 loss 3\nin /tmp/zz\nend 1\n",
	    "time 99.0 loss 4\nin /tmp/qq\nend 1\n");

	assert_int_equal(r.unstable, 1);
	assert_int_equal(r.unstable_lines, 1);
	assert_int_equal(r.differing, 1);
	assert_int_equal(r.worst_column, 16);
	assert_int_equal(r.differing_lines, 0);
	/* A line that only some runs print. */
	r = judge("a 1\nb 2\n", "a 1\nwarning: slow\nb 2\n",
	    "a 1\nwarning: very slow\nb 3\n");
	assert_int_equal(r.unstable_lines, 1);
	assert_int_equal(r.differing_lines, 0);
	assert_int_equal(r.differing, 1);
	/* Before a line is not that line; a line takes its numbers along. */
	r = judge("a\nb\nc\n", "a\nnew\nb\nc\n", "a\nx\nc\n");
	assert_int_equal(r.differing_lines, 1);
	r = judge("s 1\ns 2\ns 3\n", "s 1\nwarning\ns 3\n",
	    "s 1\ns 9\ns 3\n");
	assert_int_equal(r.unstable, 1);
	assert_int_equal(r.differing, 0);
}

CASE(test_lines)
{
	struct ac_numbers_result r = judge("s 1\ns 2\ns 3\ns 4\n", NULL,
	    "s 1\nwarning\ns 3\ns 4\n");

	/* Altered: the lines behind it stay in step. */
	assert_int_equal(r.differing_lines, 1);
	assert_int_equal(r.differing, 0);
	assert_int_equal(r.first_line, 2);
	assert_string_equal(r.first_plain, "s 2");
	assert_string_equal(r.first_recast, "warning");
	r = judge("s 1\ns 2\ns 3\n", NULL, "s 1\nwarning\ns 2\ns 3\n");
	assert_int_equal(r.differing_lines, 1);
	assert_int_equal(r.differing, 0);
	assert_string_equal(r.first_plain, "");
	r = judge("s 1\nnote\ns 2\ns 3\n", NULL, "s 1\ns 2\ns 3\n");
	assert_int_equal(r.differing_lines, 1);
	assert_int_equal(r.differing, 0);
	assert_string_equal(r.first_plain, "note");
	assert_string_equal(r.first_recast, "");
	r = judge("a\nb\nc\nd\n", NULL, "a\nx\nc\ny\n");
	assert_int_equal(r.differing_lines, 2);
	assert_int_equal(r.first_line, 2);
	r = judge("s 1\n", NULL, "");
	assert_int_equal(r.differing_lines, 1);
	r = judge("", NULL, "s 1\ns 2\n");
	assert_int_equal(r.differing_lines, 1);
	assert_int_equal(r.first_line, 1);
	r = judge("", NULL, "");
	assert_int_equal(r.lines + r.differing_lines, 0);
	r = judge("no newline 1", NULL, "no newline 1\n");
	assert_int_equal(r.differing_lines + r.differing, 0);
}

CASE(test_bytes)
{
	static const char plain[] = "ab\0cd", same[] = "ab\0cd",
	    other[] = "ab\0xdef";
	struct ac_numbers_result r;

	r = judge_runs(0, (const void *[]){ plain, same, other },
	    (size_t[]){ 5, 5, 7 });
	assert_true(r.is_binary && !r.unstable_bytes);
	assert_int_equal(r.bytes, 5);
	assert_int_equal(r.differing_bytes, 3);
	assert_int_equal(r.first_byte, 4);
	r = judge_runs(0, (const void *[]){ plain, other, same },
	    (size_t[]){ 5, 7, 4 });
	assert_true(r.unstable_bytes);
	assert_int_equal(r.differing_bytes, 0);
	/* Binary once only. */
	r = judge_runs(0, (const void *[]){ "ab", NULL, plain },
	    (size_t[]){ 2, 0, 5 });
	assert_true(r.is_binary);
	assert_int_equal(r.differing_bytes, 3);
}

/* ---- Harm -------------------------------------------------------------- */

static void
fill(char *text, size_t size, const char *pattern)
{
	const size_t length = strlen(pattern);

	for (size_t i = 0; i < size; i++)
		text[i] = pattern[i % length];
}

static double
seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static double
seconds_of_comparing(const char *a, const char *b, size_t size)
{
	const double start = seconds();
	struct ac_numbers *n = ac_numbers_create(a, size);

	assert_non_null(n);
	assert_true(ac_numbers_compare(n, b, size, 0));
	ac_numbers_destroy(n);
	return seconds() - start;
}

CASE(test_words_planted)
{
	float plain[1000], again[1000], recast[1000];
	double plain64[1000], recast64[1000];
	struct ac_numbers_result r;

	for (int i = 0; i < 1000; i++)
		plain64[i] = plain[i] = (float)(i % 7) + 0.25f;
	memcpy(again, plain, sizeof plain);
	memcpy(recast, plain, sizeof plain);
	memcpy(recast64, plain64, sizeof plain64);
	again[3] = 17;
	recast[3] = 18;
	recast[500] *= 1.001f;
	recast64[500] *= 1.001;
	recast64[501] *= 1.1;
	recast64[502] = NAN;
	r = judge_runs(4, (const void *[]){ plain, again, recast },
	    (size_t[]){ sizeof plain, sizeof plain, sizeof plain });
	assert_true(r.is_binary && r.has_words);
	assert_int_equal(r.numbers, 1000);
	assert_int_equal(r.unstable, 1);
	assert_int_equal(r.differing, 1);
	assert_int_equal(r.beyond, 0);
	assert_int_equal(r.worst_byte, 2001);
	/* Of 3.25 * 1.001, rounded to FP32. */
	assert_true(fabs(r.worst - 1e-3) < 2e-6);
	assert_string_equal(r.worst_plain, "3.25");
	assert_string_equal(r.worst_recast, "3.25325012");
	assert_int_equal(r.differing_bytes, 0);
	r = judge_runs(8, (const void *[]){ plain64, plain64, recast64 },
	    (size_t[]){ sizeof plain64, sizeof plain64, sizeof plain64 });
	assert_int_equal(r.differing, 3);
	assert_int_equal(r.beyond, 2);
	assert_true(isinf(r.worst));
	assert_int_equal(r.worst_byte, 502 * 8 + 1);
}

/* Bytes behind the last word of both. */
CASE(test_words_end)
{
	const char plain[] = "\0\0\200?\0\0\200?abc";
	const char other[] = "\0\0\200?\0\0\200?abd";
	struct ac_numbers_result r;

	r = judge_runs(4, (const void *[]){ plain, plain, plain },
	    (size_t[]){ 11, 11, 11 });
	assert_int_equal(r.numbers, 2);
	assert_int_equal(r.differing + r.differing_bytes, 0);
	r = judge_runs(4, (const void *[]){ plain, plain, other },
	    (size_t[]){ 11, 11, 11 });
	assert_int_equal(r.differing, 0);
	assert_int_equal(r.differing_bytes, 3);
	assert_int_equal(r.first_byte, 9);
	r = judge_runs(4, (const void *[]){ plain, plain, plain },
	    (size_t[]){ 11, 11, 4 });
	assert_int_equal(r.differing_bytes, 7);
	assert_int_equal(r.first_byte, 5);
	r = judge_runs(4, (const void *[]){ plain, other, other },
	    (size_t[]){ 11, 11, 4 });
	assert_true(r.unstable_bytes);
	assert_int_equal(r.differing_bytes, 0);
	r = judge_runs(4, (const void *[]){ "1.5\n", "1.5\n", "1.6\n" },
	    (size_t[]){ 4, 4, 4 });
	assert_false(r.has_words);
	assert_int_equal(r.worst_line, 1);
}

/* Time grows with the size of a line, not with its square: eight times the size
 * may not take much more than eight times as long. */
CASE(test_long_lines)
{
	static const char *const patterns[] = { "7", "1,234", "111,", "x", ".",
	    "-", "1.", "0x", "1e", " ", "1 ", "nan", "\n", "a\n", "1\n",
	    ".5.", "1_" };
	enum { SMALL = 1 << 16, LARGE = 8 * SMALL };
	char *a = malloc(LARGE), *b = malloc(LARGE);

	for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
		double took[2];

		fill(a, LARGE, patterns[i]);
		fill(b, LARGE, patterns[i]);
		b[SMALL / 2] = b[SMALL / 2] == '7' ? '8' : '7';
		for (int k = 0; k < 2; k++) {
			const size_t size = k ? LARGE : SMALL;

			took[k] = seconds_of_comparing(a, b, size);
		}
		assert_true(took[1] < 40 * took[0] + 0.05);
	}
	free(a);
	free(b);
}

/* Long lines that differ at their ends: looking ahead reads only so much. If
 * it read all, that would take 60 times as long as to read each once. */
CASE(test_long_strangers)
{
	enum { SIZE = 1 << 22, LINE = 1 << 12 };
	char *a = malloc(SIZE), *b = malloc(SIZE);
	double alike, strange;

	fill(a, SIZE, "word ");
	for (size_t i = LINE; i <= SIZE; i += LINE) {
		a[i - 2] = '1';
		a[i - 1] = '\n';
	}
	memcpy(b, a, SIZE);
	for (size_t i = LINE; i <= SIZE; i += LINE)
		b[i - 2] = '2';
	alike = seconds_of_comparing(a, b, SIZE);
	for (size_t i = LINE; i <= SIZE; i += LINE)
		b[i - 2] = 'x';
	strange = seconds_of_comparing(a, b, SIZE);
	print_message("%.3f s, strangers %.3f s\n", alike, strange);
	assert_true(strange < 15 * alike);
	free(a);
	free(b);
}

/* Two texts that have nothing in common. */
CASE(test_strangers)
{
	enum { SIZE = 1 << 20 };
	char *a = malloc(SIZE), *b = malloc(SIZE);
	struct ac_numbers *n;
	struct ac_numbers_result r;

	fill(a, SIZE, "alpha\n");
	fill(b, SIZE, "beta\n");
	n = ac_numbers_create(a, SIZE);
	assert_true(ac_numbers_compare(n, b, SIZE, 0));
	ac_numbers_result(n, &r);
	assert_int_equal(r.differing_lines, r.lines + 1);
	ac_numbers_destroy(n);
	free(a);
	free(b);
}

/* Any bytes at all; a sanitizer looks on in some builds. */
CASE(test_noise)
{
	static const char letters[] = "0123456789.,eE+-xX nainf\n\t_a%\303\251";
	uint32_t seed = 1;

	for (int round = 0; round < 3000; round++) {
		char text[2][200];
		size_t length[2];
		struct ac_numbers *n;

		for (int k = 0; k < 2; k++) {
			seed = seed * 1664525 + 1013904223;
			length[k] = seed >> 16 & 127;
			for (size_t i = 0; i < length[k]; i++) {
				seed = seed * 1664525 + 1013904223;
				text[k][i] = round % 10 ? letters[(seed >> 8)
				    % (sizeof letters - 1)]
				    : (char)(seed >> 8);
			}
		}
		n = ac_numbers_create(text[0], length[0]);
		assert_true(ac_numbers_learn(n, text[0], length[0]));
		assert_true(ac_numbers_compare(n, text[1], length[1], 0));
		ac_numbers_destroy(n);
	}
}

CASES_RUN(NULL, NULL)
