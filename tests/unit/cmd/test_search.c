/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/cmd/test_search.c -- the search finds sets that were planted, in
 * few verdicts, and ends whatever it is told. */
#include "cmd/tune/search.h"
#include "tests/unit/cases.h"

enum { MOST_UNITS = 1301, MOST_VERDICTS = 20000, SETS = 1000 };

static uint64_t seed;
static unsigned char planted[MOST_UNITS];

static uint64_t
draw(uint64_t below)
{
	uint64_t z = seed += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return (z ^ z >> 31) % below;
}

static void
plant(size_t units, unsigned count)
{
	memset(planted, 0, sizeof planted);
	while (count > 0) {
		const size_t rank = draw(units);

		count -= !planted[rank];
		planted[rank] = 1;
	}
}

/* Whether all that was planted is kept. */
static bool
is_good(const unsigned char *kept, size_t units)
{
	for (size_t i = 0; i < units; i++)
		if (planted[i] && !kept[i])
			return false;
	return true;
}

/* To the end. Verdicts before each found unit is left out, and in all. */
struct taken {
	unsigned before, all;
};

static struct taken
find(struct ac_search *s, size_t units)
{
	struct taken taken = { 0, 0 };

	assert_true(ac_search_begin(s, units));
	while (s->state == AC_SEARCH_ASKS && taken.all < MOST_VERDICTS) {
		taken.all++;
		taken.before += s->step != AC_SEARCH_NEED;
		ac_search_tell(s, is_good(s->kept, units));
		assert_true(is_good(s->passed, units));
	}
	assert_int_equal(s->state, AC_SEARCH_FOUND);
	assert_memory_equal(s->found, planted, units);
	assert_memory_equal(s->passed, planted, units);
	return taken;
}

/* Verdicts until all that is needed is known, at most: 1 on nothing kept; for
 * each unit a bisection by weights that add up to H(n), 4.7 of 64 and 6.3 of
 * 300 units, down to the last one's, 1/n: log2(n H(n)), 8.2 and 10.9, and not
 * quite a step for what cannot be halved evenly; and 1 on what was found,
 * unless it has just passed. */
CASE(test_planted)
{
	static const struct {
		size_t   units;
		unsigned planted, most;
	} rows[] = {
		{ 12, 0, 1 }, { 12, 1, 7 }, { 12, 2, 12 }, { 12, 4, 22 },
		{ 64, 0, 1 }, { 64, 1, 10 }, { 64, 2, 20 }, { 64, 4, 38 },
		{ 300, 0, 1 }, { 300, 1, 13 }, { 300, 2, 25 }, { 300, 4, 49 },
		{ 1301, 0, 1 }, { 1301, 1, 16 }, { 1301, 2, 31 },
		{ 1301, 4, 60 },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		seed = i;
		for (int set = 0; set < SETS; set++) {
			struct ac_search s;
			struct taken taken;

			plant(rows[i].units, rows[i].planted);
			taken = find(&s, rows[i].units);
			assert_in_range(taken.before, 1, rows[i].most);
			assert_in_range(taken.all - taken.before, 0,
			    rows[i].planted);
			ac_search_end(&s);
		}
	}
}

/* What is ranked high is found soon; each rank is found alone. */
CASE(test_ranks)
{
	static const struct { size_t units; unsigned first, most; } rows[] = {
		{ 1, 1, 1 }, { 2, 2, 3 }, { 12, 3, 7 }, { 64, 4, 10 },
		{ 300, 4, 13 }, { 1301, 5, 16 }
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		for (size_t rank = 0; rank < rows[i].units; rank++) {
			struct ac_search s;

			memset(planted, 0, sizeof planted);
			planted[rank] = 1;
			assert_in_range(find(&s, rows[i].units).before, 1,
			    rank ? rows[i].most : rows[i].first);
			ac_search_end(&s);
		}
}

/* Every set of a few units, all of them too. */
CASE(test_every_set)
{
	for (size_t units = 0; units <= 10; units++)
		for (unsigned set = 0; set < 1u << units; set++) {
			struct ac_search s;

			for (size_t i = 0; i < units; i++)
				planted[i] = set >> i & 1;
			(void)find(&s, units);
			ac_search_end(&s);
		}
}

/* One of two will do: what is found passes, and no unit of it can go. */
CASE(test_either)
{
	seed = 7;
	for (int set = 0; set < SETS; set++) {
		const size_t one = draw(64), other = draw(64);
		struct ac_search s;
		int verdicts = 0;

		assert_true(ac_search_begin(&s, 64));
		while (s.state == AC_SEARCH_ASKS && verdicts++ < MOST_VERDICTS)
			ac_search_tell(&s, s.kept[one] || s.kept[other]);
		assert_int_equal(s.state, AC_SEARCH_FOUND);
		assert_int_equal(s.found[one] + s.found[other],
		    one == other ? 2 : 1);
		ac_search_end(&s);
	}
}

/* One verdict of a bisection is wrong: what is found passes, and then each unit
 * of it is needed, or it fails, as who asks once more sees, or there is a
 * contradiction. A unit too many is found out at the end. */
CASE(test_one_lie)
{
	unsigned found = 0, fewer = 0;

	seed = 9;
	for (int set = 0; set < SETS; set++) {
		struct ac_search s;
		int lie = (int)draw(12);

		plant(64, 2);
		assert_true(ac_search_begin(&s, 64));
		while (s.state == AC_SEARCH_ASKS) {
			bool good = is_good(s.kept, 64);

			if (s.step == AC_SEARCH_BISECT && lie-- == 0)
				good = !good;
			fewer += good && s.step == AC_SEARCH_NEED;
			ac_search_tell(&s, good);
		}
		if (s.state == AC_SEARCH_FOUND && is_good(s.found, 64)) {
			assert_memory_equal(s.found, planted, 64);
			found++;
		}
		ac_search_end(&s);
	}
	assert_in_range(found, SETS / 4, SETS);
	assert_in_range(fewer, SETS / 10, SETS);
}

/* Whatever it is told, it ends, and what it says has passed has. */
CASE(test_any_verdicts)
{
	static const size_t sizes[] = { 0, 1, 2, 3, 12, 64, 300, 1301 };

	seed = 3;
	for (int run = 0; run < 4000; run++) {
		const size_t units = sizes[run % 8];
		const uint64_t good = draw(11);
		unsigned char passed[MOST_UNITS];
		struct ac_search s;
		int verdicts = 0;

		memset(passed, 1, sizeof passed);
		assert_true(ac_search_begin(&s, units));
		while (s.state == AC_SEARCH_ASKS) {
			const bool is = draw(10) < good;
			size_t before = 0, now = 0;

			for (size_t i = 0; i < units; i++) {
				before += passed[i];
				now += s.kept[i];
			}
			if (is && now <= before)
				memcpy(passed, s.kept, units);
			ac_search_tell(&s, is);
			assert_memory_equal(passed, s.passed, units);
			assert_true(++verdicts < MOST_VERDICTS);
		}
		ac_search_end(&s);
	}
}

CASES_RUN(NULL, NULL)
