/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/shim/test_variants.c -- which variant of a site serves, which is
 * timed when, and what the times lead to, in letters (letters.h). A site may
 * run FP16, candidate 0, or BF16, 1.
 *
 *   a call
 *     c  by the fastest variant     o  that is the program's own
 *     k  like c, but captured       r  like c, but it fails
 *   in between
 *     -  the device stands still    !  it catches up
 *     ~  it will while somebody waits
 *     w  the program waits for it   z  its context is reset
 *     f  no event can be made from now on; F: no second one; R: none can be
 *        recorded; g: all is well again
 *     x  candidate 0 does not serve from now on
 *
 * turns: 0, 1, or o, the original. timings: CALL:VARIANT. chosen: the fastest
 * by now, and CANDIDATE@CALL of each that served from there on. us0, us1,
 * original: the report's microseconds. timed0, timed1: how many calls it is
 * told of; begun0: how many were begun. live: events that nobody has
 * destroyed; made: all. finding: why 0 was left. naps: whether anybody did. */
#include "tests/unit/shim/event_device.h"
#include "tests/unit/shim/letters.h"

#include "shim/trial/variants.h"
#include "shim/trial/wait.h"

#include <sys/wait.h>

/* ---- A site -------------------------------------------------------------- */

static struct ac_decision decision;
static struct ac_site_record *record;
static struct ac_variants *v;
static double variant_ms[AC_CANDIDATES + 1];
static uint64_t number;
static uint32_t out;
static char turns[4096], timings[256], became[256];
static bool is_prompt;
static unsigned naps;

void
__wrap_ac_report_event(const struct ac_site_record *of,
    enum ac_event_kind kind, uint64_t call, uint32_t finding, float error)
{
	assert_int_equal(kind, AC_EVENT_CHOSEN);
	add_to_list(became, "%d@%d", of->rung != AC_RUNG_FP16, (int)call);
}

int
__wrap_nanosleep(const struct timespec *nap, struct timespec *rest)
{
	nap_passes();
	naps++;
	if (is_prompt)
		catch_up();
	return 0;
}

static char
letter_of(unsigned variant)
{
	return variant == AC_ORIGINAL ? 'o' : (char)('0' + variant);
}

/* As origins and trials go about it. */
static void
call(char letter)
{
	const struct ac_place place = here(letter == 'k');
	struct ac_timing *timing;
	unsigned variant = letter == 'o' ? AC_ORIGINAL
	    : ac_variants_choose(v, out);

	timing = ac_variants_timed(v, ++number, out, &variant);
	if (timing)
		add_to_list(timings, "%d:%c", (int)number, letter_of(variant));
	if (variant != AC_ORIGINAL || timing || ac_variants_is_due(v, number))
		ac_variants_compare(v, number, &place);
	if (variant != AC_ORIGINAL && !v->is_asked && !timing
	    && ac_variants_first(v, variant, &place))
		variant = ac_variants_choose(v, out);
	if (variant != AC_ORIGINAL && !timing)
		ac_variants_show(v, variant, number);
	if (timing && !ac_timing_begin(timing, &place))
		timing = NULL;
	device_ms += variant_ms[variant];
	if (timing)
		ac_timing_end(timing, &place, letter != 'r');
	assert_int_equal(brackets, 0);
	assert_true(number < sizeof turns);
	turns[number - 1] = letter_of(variant);
}

static void
happen(char letter)
{
	if (strchr("cokr", letter))
		call(letter);
	else if (letter == '!')
		catch_up();
	else if (letter == 'w' && ac_handle_waited[AC_WAITED_TIMES])
		ac_handle_waited[AC_WAITED_TIMES]();
	else if (strchr("fFRg", letter))
		fails = letter;
	is_prompt |= letter == '~';
	out |= letter == 'x';
	is_standing |= letter == '-';
	device.epoch += letter == 'z';
}

static struct ac_site_course *
course_of(unsigned candidate)
{
	return &ac_variants_record(v, candidate, AC_REASON_NONE)->course;
}

static void
tell(const char *name, char *value_out, size_t bytes)
{
	const struct ac_site_course *course = course_of(!strcmp(name, "us1")
	    || !strcmp(name, "timed1"));

	if (!strcmp(name, "turns") || !strcmp(name, "timings"))
		(void)snprintf(value_out, bytes, "%s", name[1] == 'u' ? turns
		    : timings);
	else if (!strcmp(name, "chosen"))
		(void)snprintf(value_out, bytes, "%c,%s",
		    letter_of(ac_variants_choose(v, out)), became);
	else if (!strcmp(name, "finding"))
		(void)snprintf(value_out, bytes, "%s",
		    ac_finding_names[course->finding]);
	else
		(void)snprintf(value_out, bytes, "%d",
		    !strcmp(name, "live") ? (int)live()
		    : !strcmp(name, "made") ? (int)made
		    : !strcmp(name, "original") ? (int)course->keep_us
		    : !strcmp(name, "begun0") ? (int)course->timings
		    : !strcmp(name, "naps") ? naps > 0
		    : *name == 'u' ? (int)course->recast_us
		    : (int)course->timed);
}

/* ---- Cases --------------------------------------------------------------- */

enum { ON, FORCED, DOUBTFUL, REPRODUCIBLE, UNTIMED, QUICK, CLEAR };

/* Predicted: FP16, BF16, the original; measured: BF16, the original, FP16;
 * where it is quick the original, in less than is predicted of any. */
static void
begin(int how)
{
	static int64_t site;
	struct ac_site_key key;

	setenv("AUTOCAST_STATE", "off", 1); /* statistics: in memory */
	memset(&key, 0, sizeof key);
	key.m = ++site;
	begin_device();
	memset(turns, 0, sizeof turns);
	number = out = naps = 0;
	is_prompt = false;
	timings[0] = became[0] = '\0';
	variant_ms[0] = 3;
	variant_ms[1] = 1;
	variant_ms[AC_ORIGINAL] = how == QUICK || how == CLEAR ? 0.008 : 2;
	decision = (struct ac_decision){
		.rung = AC_RUNG_FP16, .tactic = AC_TACTIC_CAST,
		.source = "test", .line = 1, .tol = 1e-3,
		.judges_profit = how != FORCED,
		.reproducible = how == REPRODUCIBLE,
		.keep_seconds = how == DOUBTFUL ? 5e-6 : how == CLEAR ? 3.1e-5
		    : 2e-5,
		.candidate_count = 2, .candidate = {
			{ AC_RUNG_FP16, AC_TACTIC_CAST, 1e-3, 1e-5, 0 },
			{ AC_RUNG_BF16, AC_TACTIC_LIBRARY, 8e-3, 1.5e-5, 0 }
		}
	};
	record = ac_report_site(&ac_outside, &key, &decision, "", NULL);
	v = ac_variants_make(&decision, record, how != UNTIMED, 0);
	assert_non_null(v);
}

/* Predictions decide, where there are some. */
CASE(test_predicted)
{
	static const struct {
		bool     judges;
		double   original, first, second;    /* us */
		uint32_t out;
		char     best;
	} rows[] = {
		{ true, 20, 10, 15, 0, '0' }, { true, 20, 10, 15, 1, '1' },
		{ true, 20, 10, 15, 2, '0' }, { true, 20, 10, 15, 3, 'o' },
		{ true, 20, 15, 10, 0, '1' }, { true, 20, 15, 10, 2, '0' },
		{ true, 5, 10, 15, 0, 'o' }, { true, 12, 15, 10, 2, 'o' },
		/* Equals. */
		{ true, 10, 10, 10, 0, 'o' }, { true, 20, 10, 10, 0, '0' },
		/* Without them who was named first serves. */
		{ true, 5, 0, 0, 0, '0' }, { true, 5, 0, 0, 1, '1' },
		{ true, 0, 15, 10, 0, '1' }, { true, 0, 15, 10, 3, 'o' },
		{ false, 5, 15, 10, 0, '0' }, { false, 5, 15, 10, 1, '1' },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		begin(ON);
		decision.judges_profit = rows[i].judges;
		decision.keep_seconds = rows[i].original / 1e6;
		decision.candidate[0].seconds = rows[i].first / 1e6;
		decision.candidate[1].seconds = rows[i].second / 1e6;
		v = ac_variants_make(&decision, record, false, 0);
		assert_int_equal(v->converted, 2);
		if (letter_of(ac_variants_choose(v, rows[i].out))
		    != rows[i].best)
			fail_msg("row %zu: not %c", i, rows[i].best);
	}
}

/* Where a call adds to C casts take more, and the library does not. */
CASE(test_more)
{
	begin(ON);
	v = ac_variants_make(&decision, record, true, 4e-6);
	assert_non_null(v);
	assert_int_equal(letter_of(ac_variants_choose(v, 0)), '0');
	v = ac_variants_make(&decision, record, true, 6e-6);
	assert_non_null(v);
	assert_int_equal(letter_of(ac_variants_choose(v, 0)), '1');
	assert_int_equal(letter_of(ac_variants_choose(v, 2)), '0');
	v = ac_variants_make(&decision, record, true, 1.1e-5);
	assert_non_null(v);
	assert_int_equal(letter_of(ac_variants_choose(v, 2)), 'o');
}

CASE(test_when)
{
	static const char *const cases[] = {
		"c*200 -> timings=17:0,18:1,19:o,"
		    "33:0,34:1,35:o,49:0,50:1,65:0,66:1,128:1,192:1 made=6",
		/* Originals too, of its own calls. */
		"o*3 c*90 -> timings=2:o,3:o,20:0,21:1,36:0,37:1,52:0,53:1,"
		    "68:0,69:1",
		"o c o c*20 -> timings=3:o,18:0,19:1",
		"o*200 -> timings=2:o,3:o,80:0,81:1,96:0,97:1,112:0,113:1,"
		    "128:0,129:1",
		"x c*40 -> timings=17:1,18:o,33:1,34:o",
		"c*40 x c*30 -> timings=17:0,18:1,19:o,33:0,34:1,35:o,49:1,65:1",
		NULL
	};
	static const char *const doubtful[] = {
		/* Once and twice as much more: 96 originals for each. */
		"c*351 -> timings=2:o,3:o", "c*700 -> timings=2:o,3:o,352:0,"
		    "353:1,640:0,641:1", NULL
	};
	static const char *const never[] = {
		"o*3 c*300 -> timings= chosen=0,0@4 made=0", NULL
	};

	/* The first one, too, is to be read (test_waited()). */
	begin(ON);
	play("c*16 -> made=0");
	assert_null(ac_handle_waited[AC_WAITED_TIMES]);
	play("c -> made=2");
	assert_non_null(ac_handle_waited[AC_WAITED_TIMES]);
	check(ON, cases);
	check(DOUBTFUL, doubtful);
	check(REPRODUCIBLE, never);
	check(UNTIMED, never);
}

/* The times decide as soon as they are there, once; the report has them, and
 * who does not serve gives its events back. */
CASE(test_measured)
{
	static const char *const cases[] = {
		"c*96 -> chosen=0,0@1 live=6 timed0=0",
		"c*97 -> chosen=1,0@1 live=2 us0=3000 us1=1000 original=2000 "
		    "timed0=4 timed1=4 begun0=4 finding=none",
		"c*98 -> turns=01 chosen=1,0@1,1@98",
		"c*300 -> turns=111 made=6 timed0=4 timed1=6",
		"o*3 c*96 -> chosen=0,0@4", "o*3 c*97 -> chosen=1,0@4",
		/* The host is ahead of the device. */
		"- c*150 -> chosen=0,0@1 timed0=0",
		"- c*150 ! c -> chosen=1,0@1 us0=3000 timed0=1 live=2",
		"- c*17 r*2 c*14 r*2 c*14 r c*15 r c*40 ! c -> timed0=1",
		/* Who was left out meanwhile keeps its time. */
		"c*40 x c*60 -> chosen=1,0@1,1@41 us0=3000 timed0=2",
		NULL
	};
	static const char *const doubtful[] = {
		"c*1791 -> turns=oo chosen=o,",
		"c*1793 -> turns=oo1 chosen=1,1@1793",
		"- c*1792 ! c*287 -> chosen=o,",
		"- c*1792 ! c*288 -> chosen=1,", NULL
	};
	/* Whoever named it gets it. */
	static const char *const forced[] = {
		"c*200 -> chosen=0,0@1 us0=3000 original=2000 finding=none",
		NULL
	};

	check(ON, cases);
	check(DOUBTFUL, doubtful);
	check(FORCED, forced);
}

/* Before the first recast call the original's time is looked at, and waited
 * for, if not much is to be gained. */
CASE(test_first)
{
	static const char *const quick[] = {
		"o*3 c*9 -> turns=ooooo chosen=o, naps=0",
		"o*3 c*167 -> turns=ooo chosen=o, timed0=0",
		"o*3 c*720 -> turns=ooo chosen=o, us0=3000",
		"- o*3 ~ c -> turns=oooo naps=1", "- o*3 c -> turns=ooo0 naps=1",
		"- o*3 c -> timed0=0 chosen=0,0@4",
		/* Nor is anything asked in a capture, or later. */
		"- o*3 k -> turns=ooo0 naps=0", "o*3 k c -> turns=ooo0o",
		"c o*2 c -> turns=0oo0", "o c -> turns=o0 naps=0", NULL
	};
	static const char *const clear[] = {
		"- o*3 c -> turns=ooo0 naps=0", "o*3 c*9 -> turns=ooo000000000",
		NULL
	};
	static const char *const slow[] = {
		"o*3 c -> turns=ooo0 naps=0", "- o*3 ~ c -> turns=ooo0 naps=1",
		NULL
	};

	check(QUICK, quick);
	check(CLEAR, clear);
	check(ON, slow);
}

/* What has no time is not taken for faster than what has one, but serves where
 * that does not. */
CASE(test_some_times)
{
	static const struct {
		float       us[3], original;    /* measured; 0: not */
		const char *order;              /* who serves; the next where
		                                 * those do not */
	} rows[] = {
		{ { 3e3f, 1e3f, 2e3f }, 2.5e3f, "12o" },
		{ { 0, 1e3f, 2e3f }, 2.5e3f, "102o" },
		{ { 0, 2e3f, 1e3f }, 2.5e3f, "201o" },
		{ { 0, 1e3f, 0 }, 2.5e3f, "102o" },
		{ { 3e3f, 0, 0 }, 2.5e3f, "o" },
		{ { 0, 0, 2e3f }, 2.5e3f, "201o" },
		/* As predicted. */
		{ { 3e3f, 2e3f, 1e3f }, 0, "012o" },
		{ { 0, 0, 0 }, 1e-3f, "012o" },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char order[AC_CANDIDATES + 2] = "";
		struct ac_place place;
		unsigned variant = 0;

		begin(ON);
		place = here(false);
		decision.candidate_count = 3;
		decision.candidate[2] = (struct ac_candidate){ AC_RUNG_TF32,
			AC_TACTIC_LIBRARY, 1e-3, 1.8e-5, 0 };
		v = ac_variants_make(&decision, record, true, 0);
		(void)ac_variants_timed(v, 1, 0, &variant);
		for (unsigned j = 0; j < 3; j++) {
			v->timing[j].count = rows[i].us[j] > 0;
			v->timing[j].least_us = rows[i].us[j];
		}
		v->timing[AC_ORIGINAL].count = rows[i].original > 0;
		v->timing[AC_ORIGINAL].least_us = rows[i].original;
		ac_variants_compare(v, 97, &place);
		for (unsigned j = 0, none = 0; !strchr(order, 'o'); j++) {
			const unsigned best = ac_variants_choose(v, none);

			order[j] = letter_of(best);
			none |= 1u << best;
		}
		if (strcmp(order, rows[i].order))
			fail_msg("row %zu: %s", i, order);
	}
}

/* A rung by parts is timed where no other is left. */
CASE(test_parts)
{
	for (uint32_t left = 0; left < 4; left++) {
		bool is_timed = false;

		begin(ON);
		decision.candidate_count = 3;
		decision.candidate[2] = (struct ac_candidate){ AC_RUNG_FP16X3,
			AC_TACTIC_CAST, 1e-5, 1.8e-5, 1024 };
		v = ac_variants_make(&decision, record, true, 0);
		for (uint64_t i = 1; i < 90; i++) {
			unsigned variant = left == 3 ? 2 : left == 1;

			is_timed |= ac_variants_timed(v, i, left, &variant)
			    == &v->timing[2];
		}
		assert_int_equal(is_timed, left == 3);
	}
}

/* What serves goes on being timed: the report has the least. It stays. */
CASE(test_later)
{
	begin(ON);
	play("c*190 -> us1=1000");
	variant_ms[1] = 0.5;
	play("c*65 -> us1=1000");
	play("c -> us1=500 timed1=6");
	variant_ms[1] = 9;
	play("c*300 -> us1=500 turns=111");
	assert_int_equal(course_of(1)->chosen, 98);
}

CASE(test_slower)
{
	begin(ON);
	variant_ms[1] = 2.5;
	play("c*97 -> chosen=o,0@1 finding=slow");
	play("c*200 -> turns=ooo timings=17:0,18:1,19:o,33:0,34:1,35:o,49:0,"
	    "50:1,65:0,66:1");
	/* As was predicted: it never served. */
	begin(DOUBTFUL);
	variant_ms[1] = 2.5;
	play("c*1800 -> turns=ooo chosen=o, finding=none us1=2500");
}

/* Without times predictions stay. */
CASE(test_untimed)
{
	static const char *const cases[] = {
		"f c*200 -> chosen=0,0@1 made=0 timed0=0",
		"F c*200 -> chosen=0,0@1 live=0 timed0=0",
		"F c*20 g c*80 -> chosen=1,0@1,1@98 live=2 timed0=3",
		"R c*200 -> chosen=0,0@1 live=2 timed0=0",
		"r*200 -> chosen=0,0@1 timed0=0",
		"k*200 -> chosen=0,0@1 made=0",
		/* Of the original, twice. */
		"c*18 r c*15 r c*100 -> chosen=0,0@1 us0=3000 original=0",
		/* Of FP16, four times: not taken for faster than BF16. */
		"c*16 r c*15 r c*15 r c*15 r c*32 -> chosen=1,0@1 us0=0 us1=1000",
		/* Events go with their context, and what they held. */
		"c*20 z c*90 -> chosen=1,0@1,1@98 live=2 timed0=3 us0=3000",
		"- c*20 z ! c*90 -> chosen=1,0@1,1@98 timed0=3",
		"c*110 z c*20 -> live=2 timings=17:0,18:1,19:o,33:0,34:1,35:o,"
		    "49:0,50:1,65:0,66:1,128:1",
		NULL
	};

	check(ON, cases);
}

/* Where the program waits for the device, in this context and process, what
 * it has measured is read without a call of the site. */
CASE(test_waited)
{
	static const char *const cases[] = {
		"c*20 -> timed0=0", "c*20 w -> timed0=1 us0=3000 original=2000",
		"- c*20 w -> timed0=0", "- c*20 w ! w -> timed0=1",
		"- c*20 z ! w -> timed0=0", NULL
	};
	int status;
	pid_t child;

	check(ON, cases);
	begin(ON);
	play("c*20 -> timed0=0");
	device.scratch = (struct ac_scratch *)(uintptr_t)48;
	play("w -> timed0=0");
	device.scratch = NULL;
	play("w -> timed0=0");
	device.driver = NULL;
	play("w -> timed0=0");
	device.driver = &driver;
	device.scratch = SCRATCH;
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		asked = 0;
		happen('w');
		_exit(asked != 0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	play("w -> timed0=1");
}

/* And at exit. */
CASE(test_exit)
{
	char bytes[2];
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	if (!fork()) {
		begin(ON);
		times_pipe = ends[1];
		play("c*18 -> timings=17:0,18:1");
		exit(0);
	}
	close(ends[1]);
	assert_int_equal(read(ends[0], bytes, 1), 1);
	assert_int_equal(read(ends[0], bytes, 2), 1);
	close(ends[0]);
}

/* ---- Records ------------------------------------------------------------- */

CASE(test_records)
{
	const struct ac_site_record *second, *kept, *slow;

	begin(ON);
	assert_ptr_equal(ac_variants_record(v, 0, AC_REASON_GUARD), record);
	second = ac_variants_record(v, 1, AC_REASON_NONE);
	assert_int_equal(second->rung, AC_RUNG_BF16);
	assert_int_equal(second->tactic, AC_TACTIC_LIBRARY);
	assert_true(second->tol == 8e-3f);
	assert_memory_equal(&second->key, &record->key, sizeof record->key);
	assert_ptr_equal(ac_variants_record(v, 1, AC_REASON_GUARD), second);
	kept = ac_variants_record(v, AC_ORIGINAL, AC_REASON_GUARD);
	assert_int_equal(kept->rung, AC_RUNG_KEEP);
	assert_int_equal(kept->tactic, AC_TACTIC_NONE);
	assert_int_equal(kept->reason, AC_REASON_GUARD);
	slow = ac_variants_record(v, AC_ORIGINAL, AC_REASON_NO_PROFIT);
	assert_int_equal(slow->reason, AC_REASON_NO_PROFIT);
	assert_ptr_equal(ac_variants_record(v, AC_ORIGINAL, AC_REASON_GUARD),
	    kept);
	/* Each time that another one than before serves. */
	ac_variants_show(v, 0, 5);
	ac_variants_show(v, 0, 6);
	ac_variants_show(v, AC_ORIGINAL, 7);
	ac_variants_show(v, 0, 8);
	ac_variants_show(v, 1, 9);
	assert_string_equal(became, "0@5,0@8,1@9");
	assert_int_equal(course_of(0)->chosen, 8);
	assert_int_equal(course_of(1)->chosen, 9);
}

/* What waits go by: the prediction, or on an emulated GPU the FLOPs. */
CASE(test_seconds)
{
	const struct ac_site_key key = { .m = 3, .n = 5, .k = 7, .batch = 11 };

	begin(ON);
	for (int i = 0; i < 2; i++) {
		device.is_emulated = i;
		v = ac_variants_make(&decision, ac_report_site(&ac_outside,
		    &key, &decision, "", NULL), true, 0);
		assert_true(v && v->seconds == ac_wait_seconds(2.0 * 3 * 5 * 7
		    * 11, decision.keep_seconds));
	}
	device.is_emulated = false;
}

CASES_RUN(NULL, NULL)
