/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/cmd/test_tune_loop.c -- runs in turn, of a program that is not
 * there: what is found, confirmed, and how often; verdicts that lie. */
#include "cmd/tune/tune.h"
#include "tests/unit/cases.h"

enum { UNITS = 64, MOST_UNITS = 300, SETS = 2000 };

static struct ac_tune t;
static struct ac_tune_site sites[MOST_UNITS], *units[MOST_UNITS];

/* What the program is like. */
static unsigned char planted[MOST_UNITS]; /* wants the original */
static unsigned char hard[MOST_UNITS];    /* of them: no other rung will do */
static unsigned lies_in_100; /* of its check's answers */
static bool plain_is_bad;
static enum ac_tune_verdict plain_is; /* not GOOD: said of a plain run */
/* What became of it. */
static unsigned runs, plain_runs, asked_again;
static unsigned char last_good[MOST_UNITS]; /* levels that passed last */
static bool is_good;           /* the last run, in truth */

static uint64_t seed;

static uint64_t
draw(uint64_t below)
{
	uint64_t z = seed += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return (z ^ z >> 31) % below;
}

static bool
passes(const unsigned char *levels)
{
	for (size_t i = 0; i < t.plan.unit_count; i++)
		if (planted[i] && (levels[i] == AC_TUNE_CHOSEN
		    || (levels[i] == AC_TUNE_SAFE && hard[i])))
			return false;
	return true;
}

static enum ac_tune_verdict
answer(void)
{
	const bool lies = draw(100) < lies_in_100;

	if (plain_runs && plain_is != AC_TUNE_GOOD)
		return plain_is;
	return is_good != lies ? AC_TUNE_GOOD : AC_TUNE_BAD;
}

static int
try(struct ac_tune *of, const unsigned char *levels, int *exit_out)
{
	assert_ptr_equal(of, &t);
	runs++;
	*exit_out = 0;
	is_good = passes(levels);
	if (is_good)
		memcpy(last_good, levels, t.plan.unit_count);
	return 0;
}

/* ---- What the loop calls ------------------------------------------------ */

int
ac_tune_run_plain(struct ac_tune *of, int *exit_out)
{
	plain_runs++;
	*exit_out = 0;
	is_good = !plain_is_bad;
	lies_in_100 = 0;
	return 0;
}

enum ac_tune_verdict
ac_tune_judge(struct ac_tune *of, int status)
{
	return answer();
}

enum ac_tune_verdict
ac_tune_judge_again(struct ac_tune *of)
{
	asked_again++;
	return answer();
}

bool
ac_tune_compared_nothing(const struct ac_tune *of)
{
	return false;
}

bool
ac_tune_recall(struct ac_tune *of, uint32_t set,
    enum ac_tune_verdict *verdict_out)
{
	return false;
}

void
ac_tune_note(struct ac_tune *of, uint32_t set, int status,
    enum ac_tune_verdict verdict, double seconds)
{
}

bool
ac_tune_keep_plain(struct ac_tune *of, bool again)
{
	return true;
}

void
ac_launch_remove(const char *path)
{
}

/* ---- Searches ----------------------------------------------------------- */

/* Of so many units; each has two rungs, the faster one first, or one. */
static void
begin(size_t count, unsigned most_runs, bool has_safer)
{
	t = (struct ac_tune){ .verb = "tune", .check = "true",
		.most_runs = most_runs, .journal = -1 };
	t.plan.units = units;
	t.plan.unit_count = count;
	for (size_t i = 0; i < count; i++) {
		units[i] = &sites[i];
		sites[i] = (struct ac_tune_site){ .way_count = 1 + has_safer,
			.safe = has_safer, .is_unit = true };
	}
	memset(planted, 0, sizeof planted);
	memset(hard, 0, sizeof hard);
	lies_in_100 = runs = plain_runs = asked_again = 0;
	plain_is_bad = false;
	plain_is = AC_TUNE_GOOD;
}

static void
plant(unsigned count)
{
	while (count > 0) {
		const size_t rank = draw(t.plan.unit_count);

		count -= !planted[rank];
		planted[rank] = 1;
	}
}

static unsigned char levels[MOST_UNITS];

/* Each unit that is planted, and no other, is at `level`. */
static void
assert_found(enum ac_tune_level level)
{
	for (size_t i = 0; i < t.plan.unit_count; i++)
		assert_int_equal(levels[i], planted[i] ? level
		    : AC_TUNE_CHOSEN);
}

CASE(test_found)
{
	seed = 1;
	for (int set = 0; set < SETS; set++) {
		const unsigned count = (unsigned)set % 5;
		const bool has_safer = set % 2;

		begin(UNITS, 1000, has_safer);
		plant(count);
		assert_int_equal(ac_tune_loop(&t, try, false, levels),
		    AC_TUNE_PASSED);
		assert_found(has_safer ? AC_TUNE_SAFE : AC_TUNE_KEPT);
		assert_memory_equal(levels, last_good, UNITS);
		assert_int_equal(runs, t.runs);
		if (!count)
			assert_int_equal(runs, 1);
	}
}

/* As many runs as are promised, with the one that learns. */
CASE(test_few_runs)
{
	static const struct { unsigned units, planted, most; } rows[] = {
		{ 12, 0, 2 }, { 64, 1, 12 }, { 300, 2, 27 }
	};

	seed = 6;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		for (int set = 0; set < SETS; set++) {
			begin(rows[i].units, rows[i].most, set % 2);
			t.runs = 1;
			plant(rows[i].planted);
			assert_int_equal(ac_tune_loop(&t, try, false, levels),
			    AC_TUNE_PASSED);
			assert_found(set % 2 ? AC_TUNE_SAFE : AC_TUNE_KEPT);
			assert_true(t.runs <= rows[i].most);
		}
}

/* The most accurate rung will not do either: kept. */
CASE(test_hard)
{
	seed = 2;
	for (int set = 0; set < SETS; set++) {
		begin(UNITS, 1000, true);
		plant(1 + (unsigned)set % 3);
		memcpy(hard, planted, sizeof hard);
		assert_int_equal(ac_tune_loop(&t, try, false, levels),
		    AC_TUNE_PASSED);
		assert_found(AC_TUNE_KEPT);
	}
}

/* What is known to fail is not asked again at once. */
CASE(test_known)
{
	unsigned from_start;

	begin(UNITS, 1000, false);
	planted[9] = 1;
	assert_int_equal(ac_tune_loop(&t, try, false, levels), AC_TUNE_PASSED);
	from_start = runs;
	begin(UNITS, 1000, false);
	planted[9] = 1;
	assert_int_equal(ac_tune_loop(&t, try, true, levels), AC_TUNE_PASSED);
	assert_found(AC_TUNE_KEPT);
	assert_int_equal(runs, from_start - 1);
}

/* With however few runs: what it ends with has passed, unless it is the plain
 * program, and nobody runs more often. */
CASE(test_spent)
{
	seed = 4;
	for (int set = 0; set < SETS; set++) {
		const unsigned most = 1 + (unsigned)draw(60);
		enum ac_tune_end end;

		begin(1 + draw(UNITS), most, draw(2));
		plant((unsigned)draw(t.plan.unit_count < 5
		    ? t.plan.unit_count + 1 : 5));
		for (size_t i = 0; i < UNITS; i++)
			hard[i] = planted[i] && draw(2);
		end = ac_tune_loop(&t, try, false, levels);
		assert_true(end == AC_TUNE_PASSED || end == AC_TUNE_SPENT);
		assert_true(runs <= most);
		assert_true(passes(levels));
	}
}

/* Answers of which one in twenty is wrong, with runs to the end of the search
 * and with fewer: the policy is right, or the check is named. A wrong set
 * passes if two lies follow each other, once in 400 runs of one; a search makes
 * eight at most, and has more to say if it goes on. Asked once, up to 28 % of
 * those searches ended wrong. */
CASE(test_lies)
{
	static const struct { unsigned planted, most; } rows[] = {
		{ 0, 1000 }, { 1, 1000 }, { 2, 1000 }, { 0, 3 }, { 1, 3 },
		{ 1, 11 }, { 2, 11 }, { 2, 29 }
	};

	seed = 5;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		unsigned right = 0, named = 0;

		for (int set = 0; set < SETS; set++) {
			enum ac_tune_end end;

			begin(UNITS, rows[i].most, false);
			plant(rows[i].planted);
			lies_in_100 = 5;
			end = ac_tune_loop(&t, try, false, levels);
			named += end == AC_TUNE_LIES || end == AC_TUNE_WAVERS;
			right += (end == AC_TUNE_PASSED
			    || end == AC_TUNE_SPENT) && passes(levels);
		}
		print_message("# %u planted, %u runs: %u right, %u named, "
		    "%u wrong\n", rows[i].planted, rows[i].most, right,
		    named, SETS - right - named);
		assert_in_range(right + named, SETS * 98 / 100, SETS);
		assert_in_range(right, SETS / 4, SETS);
	}
}

/* A check that always fails contradicts itself only if it passes once. */
CASE(test_contradiction)
{
	begin(UNITS, 1000, false);
	lies_in_100 = 100; /* of what passes in truth: all that is asked */
	assert_int_equal(ac_tune_loop(&t, try, false, levels), AC_TUNE_LIES);
	assert_int_equal(plain_runs, 1);
	begin(UNITS, 1000, false);
	lies_in_100 = 100;
	plain_is_bad = true;
	assert_int_equal(ac_tune_loop(&t, try, false, levels),
	    AC_TUNE_PLAIN_FAILS);
	/* A failure of ours is none of the program's. */
	begin(UNITS, 1000, false);
	lies_in_100 = 100;
	plain_is = AC_TUNE_FAILED;
	assert_int_equal(ac_tune_loop(&t, try, false, levels),
	    AC_TUNE_STOPPED);
}

/* Of an honest one what is good is asked again, and nothing else. */
CASE(test_asked_again)
{
	begin(UNITS, 1000, false);
	assert_int_equal(ac_tune_loop(&t, try, false, levels), AC_TUNE_PASSED);
	assert_int_equal(asked_again, 1);
	begin(UNITS, 2, false);
	memset(planted, 1, sizeof planted);
	assert_int_equal(ac_tune_loop(&t, try, false, levels), AC_TUNE_SPENT);
	assert_int_equal(asked_again, 0);
	begin(UNITS, 1000, false);
	t.check = NULL; /* numbers do not change their mind */
	assert_int_equal(ac_tune_loop(&t, try, false, levels), AC_TUNE_PASSED);
	assert_int_equal(asked_again, 0);
}

CASES_RUN(NULL, NULL)
