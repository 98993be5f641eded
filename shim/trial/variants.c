/* SPDX-License-Identifier: Apache-2.0 */
/* shim/trial/variants.c -- the times of a site's variants, and the choice. */
#include "shim/trial/variants.h"

#include "base/mapped.h"
#include "shim/trial/wait.h"

#include <unistd.h>

enum {
	ROUNDS = 4,                 /* timings of each candidate, */
	ORIGINAL_ROUNDS = 2,        /* and of the original */
	ROUND = 16,                 /* calls from one to the next, at least */
	RARELY = 96,                /* so many originals for each that it takes
	                             * to time what is slower */
	DOUBTFUL = 64,              /* the call of a site from which on what is
	                             * predicted to be slower is timed, too */
	CLEAR = 3                   /* so many times as fast: no table errs by
	                             * that; by 1.9 for the emulated T4 */
};

static double
predicted(const struct ac_decision *d, unsigned candidate, double more)
{
	const struct ac_candidate *c = &d->candidate[candidate];

	return d->judges_profit && c->seconds > 0 ? c->seconds
	    + (c->tactic == AC_TACTIC_CAST ? more : 0) : candidate + 1;
}

/* Without a prediction there is nothing to compare the original with: a policy
 * that names a candidate gets it. */
struct ac_variants *
ac_variants_make(const struct ac_decision *decision,
    struct ac_site_record *record, bool may_time, double more)
{
	const struct ac_site_key *key = &record->key;
	struct ac_variants *v = ac_mapped_take(sizeof *v);

	if (!v)
		return NULL;
	v->decision = decision;
	v->seconds = ac_wait_seconds(2.0 * (double)key->m * (double)key->n
	    * (double)key->k * (double)key->batch, decision->keep_seconds);
	v->process = getpid();
	v->may_time = may_time && !decision->reproducible;
	v->is_over = !v->may_time;
	v->is_asked = !v->may_time || !decision->judges_profit;
	v->record[0] = record;
	v->round = ROUND;
	v->shown = AC_ORIGINAL;
	for (unsigned i = 0; i < decision->candidate_count; i++) {
		v->cost[i] = predicted(decision, i, more);
		if (decision->candidate[i].tactic != AC_TACTIC_CAST)
			v->converted |= (uint8_t)(1 << i);
	}
	v->cost[AC_ORIGINAL] = decision->judges_profit
	    && decision->keep_seconds > 0
	    && decision->candidate[0].seconds > 0
	    ? decision->keep_seconds : 1e9;
	v->fastest = (uint8_t)ac_variants_find(v, 0);
	return v;
}

/* ---- What calls go by ---------------------------------------------------- */

void
ac_variants_show(struct ac_variants *v, unsigned variant, uint64_t number)
{
	struct ac_site_record *record;

	if (atomic_load_explicit(&v->shown, memory_order_relaxed) == variant)
		return;
	v->shown = (uint8_t)variant;
	if (variant == AC_ORIGINAL)
		return;
	record = ac_variants_record(v, variant, AC_REASON_NONE);
	record->course.chosen = number;
	ac_report_event(record, AC_EVENT_CHOSEN, number, AC_FINDING_NONE, 0);
}

/* ---- The choice --------------------------------------------------------- */

unsigned
ac_variants_find(const struct ac_variants *v, uint32_t out)
{
	double least = v->cost[AC_ORIGINAL];
	unsigned best = AC_ORIGINAL;

	for (unsigned i = 0; i < v->decision->candidate_count; i++)
		if (!(out >> i & 1) && v->cost[i] < least) {
			least = v->cost[i];
			best = i;
		}
	return best;
}

/* ---- Times -------------------------------------------------------------- */

/* Those that may be the fastest: rungs by parts are for where the others are
 * not good enough. */
static uint32_t
in_question(const struct ac_decision *d, uint32_t out)
{
	uint32_t plain = 0, parts = 0;

	for (unsigned i = 0; i < d->candidate_count; i++)
		*(d->candidate[i].chunk ? &parts : &plain) |= 1u << i;
	return plain & ~out ? plain & ~out : parts & ~out;
}

/* Candidates take turns, then the original, the slow one. */
__attribute__((cold, noinline)) static int
by_turns(const struct ac_variants *v, uint64_t since, uint32_t out)
{
	const uint32_t round = v->round;
	unsigned left = (unsigned)(since % round);
	uint32_t asked;

	if (since >= (uint64_t)ROUNDS * round)
		return -1;
	asked = in_question(v->decision, out);
	for (unsigned i = 0; i < v->decision->candidate_count; i++)
		if (asked >> i & 1 && left-- == 0)
			return (int)i;
	return left == 0 && !v->is_original_timed
	    && since < (uint64_t)ORIGINAL_ROUNDS * round ? AC_ORIGINAL : -1;
}

/* Of calls by the original, that those in question take no more than a
 * hundredth of the time, though they are as slow as predicted. */
static uint32_t
spacing(const struct ac_variants *v, uint32_t out)
{
	const uint32_t asked = in_question(v->decision, out);
	double more = 0;

	for (unsigned i = 0; i < v->decision->candidate_count; i++)
		if (asked >> i & 1 && v->cost[i] > v->cost[AC_ORIGINAL])
			more += v->cost[i] / v->cost[AC_ORIGINAL] - 1;
	return more * RARELY > ROUND ? (uint32_t)(more * RARELY) : ROUND;
}

/* The rounds begin after this call. */
__attribute__((cold, noinline)) static void
begin_rounds(struct ac_variants *v, uint64_t number, unsigned chosen,
    uint32_t out)
{
	const uint32_t round = chosen == AC_ORIGINAL ? spacing(v, out) : ROUND;
	uint64_t never = 0;

	v->round = round; /* of threads that come at once, anyone's */
	(void)atomic_compare_exchange_strong(&v->begun, &never,
	    number + round);
}

/* The variant to time; -1: none. */
static int
whose_turn(struct ac_variants *v, uint64_t number, unsigned chosen,
    uint32_t out)
{
	const uint64_t begun = v->begun;

	if (v->is_over)
		return v->may_time && chosen != AC_ORIGINAL ? (int)chosen : -1;
	/* The first call of a size may load its kernel. */
	if (chosen == AC_ORIGINAL && (number == 2 || number == 3)) {
		v->is_original_timed = true;
		return AC_ORIGINAL;
	}
	if (!begun && (chosen != AC_ORIGINAL || number >= DOUBTFUL))
		begin_rounds(v, number, chosen, out);
	return begun && number >= begun ? by_turns(v, number - begun, out)
	    : -1;
}

bool
ac_variants_is_due(const struct ac_variants *v, uint64_t number)
{
	const uint64_t begun = v->begun;

	const uint32_t round = v->round;

	return !v->is_over && begun && number >= begun
	    + (ROUNDS + 1) * (uint64_t)round
	    && (number - begun) % round == 0;
}

struct ac_timing *
ac_variants_timing(struct ac_variants *v, unsigned variant)
{
	if (variant != AC_ORIGINAL)
		ac_variants_record(v, variant, AC_REASON_NONE)
		    ->course.timings++;
	ac_variants_have_read(v);
	return &v->timing[variant];
}

struct ac_timing *
ac_variants_time(struct ac_variants *v, uint64_t number, uint32_t out,
    unsigned *variant)
{
	const int whose = whose_turn(v, number, *variant, out);

	if (whose < 0)
		return NULL;
	*variant = (unsigned)whose;
	return ac_variants_timing(v, *variant);
}

/* ---- What they amount to ------------------------------------------------ */

/* Without a time for the original and for a candidate, what was predicted
 * stays. */
static bool
has_times(const struct ac_variants *v)
{
	bool any = false;

	for (unsigned i = 0; i < v->decision->candidate_count; i++)
		any |= v->timing[i].count > 0;
	return any && v->timing[AC_ORIGINAL].count;
}

/* A candidate without a time is not taken for faster than one that has one. */
static void
take_times(struct ac_variants *v)
{
	const double slower = 1.1;
	double best = 1e9;

	for (unsigned i = 0; i <= AC_CANDIDATES; i++) {
		if (!v->timing[i].count)
			continue;
		v->cost[i] = (double)v->timing[i].least_us / 1e6;
		if (i != AC_ORIGINAL && v->cost[i] < best)
			best = v->cost[i];
	}
	for (unsigned i = 0; i < v->decision->candidate_count; i++)
		if (!v->timing[i].count && v->cost[i] < slower * best)
			v->cost[i] = slower * best;
	v->fastest = (uint8_t)ac_variants_find(v, 0);
}

struct original {
	struct ac_timing *timing;
	const struct ac_place *place;
};

/* What was timed in another context cannot be read here. */
static bool
is_known(void *of)
{
	const struct original *original = of;

	return original->timing->scratch != original->place->scratch
	    || !ac_timing_read(original->timing, original->place);
}

bool
ac_variants_first(struct ac_variants *v, unsigned variant,
    const struct ac_place *place)
{
	struct ac_timing *timing = &v->timing[AC_ORIGINAL];
	struct original original = { timing, place };

	if (place->capture || atomic_exchange(&v->is_asked, true)
	    || v->cost[variant] * CLEAR < v->cost[AC_ORIGINAL])
		return false;
	(void)ac_wait_until(place->index, place->epoch, is_known, &original,
	    v->seconds);
	if (timing->count
	    && (double)timing->least_us / 1e6 < v->cost[AC_ORIGINAL])
		v->cost[AC_ORIGINAL] = (double)timing->least_us / 1e6;
	v->fastest = (uint8_t)ac_variants_find(v, 0);
	if (v->cost[AC_ORIGINAL] > v->cost[variant])
		return false;
	v->begun = 0; /* what is slower is timed later, if ever */
	return true;
}

/* The host may be far ahead of the device: then later. What runs goes on being
 * timed. */
__attribute__((cold, noinline))
static void
compare(struct ac_variants *v, const struct ac_place *place)
{
	const unsigned before = v->shown;
	const bool pending = ac_variants_read(v, place);
	unsigned chosen;

	if (v->is_over || (pending && !has_times(v)))
		return;
	if (v->decision->judges_profit && has_times(v))
		take_times(v);
	v->is_over = v->is_asked = true;
	chosen = ac_variants_choose(v, 0);
	if (chosen == AC_ORIGINAL && before != AC_ORIGINAL)
		ac_variants_record(v, before, AC_REASON_NONE)->course.finding
		    = AC_FINDING_SLOW;
	for (unsigned i = 0; i <= AC_CANDIDATES; i++)
		if (i != chosen)
			ac_timing_drop(&v->timing[i], place);
}

void
ac_variants_judge(struct ac_variants *v, uint64_t number,
    const struct ac_place *place)
{
	const uint64_t begun = v->begun;

	if (!begun || number < begun + (ROUNDS + 1) * (uint64_t)v->round
	    || atomic_exchange(&v->is_held, true))
		return;
	compare(v, place);
	v->is_held = false;
}
