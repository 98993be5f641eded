/* SPDX-License-Identifier: Apache-2.0 */
/* shim/trial_judge.c -- from what kernels posted and events measured to what a
 * site's calls do. Touches only host memory and events; decides by policy/. */
#include "shim/trial_state.h"

#include "base/log.h"

/* ---- Slots ------------------------------------------------------------- */

static bool
are_at(const struct ac_trial_slots *slots, const struct ac_place *place)
{
	return slots && slots->of == place->scratch
	    && slots->epoch == ac_scratch_epoch(place->scratch);
}

bool
ac_trial_is_home(const struct ac_trial *t, const struct ac_place *place)
{
	return are_at(t->home, place);
}

bool
ac_trial_is_deserted(const struct ac_trial *t, const struct ac_place *place,
    uint64_t number, uint64_t absence)
{
	const struct ac_trial_slots *home = t->home;

	return !home || (home->of == place->scratch
	    && home->epoch != ac_scratch_epoch(place->scratch))
	    || number >= t->home_at + absence;
}

/* More contexts than that get new slots by turns. */
bool
ac_trial_take_slots(struct ac_trial *t, const struct ac_place *place)
{
	const unsigned ring = t->decision.guard == AC_GUARD_STRICT
	    ? TRIAL_RING : t->lag + 1;
	struct ac_trial_slots made = {
		place->scratch, ac_scratch_epoch(place->scratch), NULL, 0
	}, *slots = t->known;
	void *host;

	if (ac_trial_is_home(t, place))
		return true;
	for (unsigned i = 0; i < TRIAL_HOMES; i++, slots++)
		if (slots->host && are_at(slots, place)) {
			t->home = slots;
			return true;
		}
	if (!ac_page_take(place, (AC_CANDIDATES + ring) * sizeof *made.host,
	    false, &host, &made.device))
		return false;
	made.host = host;
	slots = &t->known[t->homes++ % TRIAL_HOMES];
	*slots = made;
	t->home = slots;
	return true;
}

struct ac_slot
ac_trial_slot_at(const struct ac_trial *t, unsigned index)
{
	const struct ac_trial_slots *home = t->home;

	return (struct ac_slot){
		.host = &home->host[index],
		.device = home->device + index * sizeof *home->host,
	};
}

/* The device wrote `number` last, with a system-wide release. */
static bool
read_post(const struct ac_trial *t, unsigned index, uint64_t number,
    struct ac_recast_post *post_out)
{
	const struct ac_trial_slots *home = t->home;
	const struct ac_recast_post *post;

	if (!home)
		return false;
	post = &home->host[index];
	if (__atomic_load_n(&post->number, __ATOMIC_ACQUIRE) != number)
		return false;
	*post_out = *post;
	return true;
}

/* ---- The course: what reports show ------------------------------------- */

static void
raise_to(_Atomic float *worst, float value)
{
	if (!(value <= atomic_load_explicit(worst, memory_order_relaxed)))
		atomic_store_explicit(worst, value, memory_order_relaxed);
}

static void
add(_Atomic uint32_t *counter, uint32_t amount)
{
	atomic_fetch_add_explicit(counter, amount, memory_order_relaxed);
}

static void
note_post(struct ac_site_course *course, const struct ac_recast_post *post)
{
	add(&course->samples, post->samples);
	add(&course->settled, post->settled);
	raise_to(&course->rho, post->rho);
	raise_to(&course->tile_rho, post->tile_rho);
	raise_to(&course->error, post->error);
	raise_to(&course->line_error, post->line_error);
	raise_to(&course->estimate, post->estimate);
	raise_to(&course->exact, post->exact);
	add(&course->suspects, post->suspects);
	atomic_fetch_add_explicit(&course->judged, post->judged,
	    memory_order_relaxed);
	if (post->samples)
		atomic_store_explicit(&course->sampled_at, post->number,
		    memory_order_relaxed);
}

enum ac_finding
ac_trial_judge(struct ac_trial *t, unsigned candidate,
    const struct ac_recast_post *post)
{
	const struct ac_guard_facts facts = {
		.rho = (double)post->rho, .tile_rho = (double)post->tile_rho,
		.error = (double)post->error,
		.line_error = (double)post->line_error,
		.exact = (double)post->exact,
		.overflowed = post->verdict & AC_VERDICT_OVERFLOW,
		.large = post->verdict & AC_VERDICT_LARGE
		    && t->decision.candidate[candidate].rung == AC_RUNG_FP16,
		.batched = t->key.batch > 1,
	};

	note_post(&ac_trial_record(t, candidate)->course, post);
	return ac_guard_judge(&facts, t->decision.candidate[candidate].tol);
}

/* ---- Choosing ---------------------------------------------------------- */

void
ac_trial_choose(struct ac_trial *t)
{
	enum { SLACK_PERCENT = 2 }; /* less than this is no difference */
	unsigned best = TRIAL_KEEP;

	for (unsigned i = 0; i < t->decision.candidate_count; i++) {
		if (!(t->accurate >> i & 1))
			continue;
		if (best == TRIAL_KEEP || t->cost[i] * 100
		    < t->cost[best] * (100 - SLACK_PERCENT))
			best = i;
	}
	atomic_store_explicit(&t->kept_as, AC_REASON_GUARD,
	    memory_order_relaxed);
	/* Accuracy is not given up for nothing, nor in doubt: until the original
	 * was timed, too, which sets its cost. */
	if (best != TRIAL_KEEP && (t->cost[TRIAL_KEEP] > 0
	    ? t->cost[TRIAL_KEEP] * (100 - SLACK_PERCENT)
	    < t->cost[best] * 100 : t->decision.is_doubtful)) {
		best = TRIAL_KEEP;
		atomic_store_explicit(&t->kept_as, AC_REASON_NO_PROFIT,
		    memory_order_relaxed);
	}
	atomic_store_explicit(&t->current, best, memory_order_release);
}

void
ac_trial_demote(struct ac_trial *t, unsigned candidate,
    enum ac_finding finding, uint64_t number)
{
	struct ac_site_course *course = &ac_trial_record(t, candidate)->course;

	atomic_store_explicit(&course->finding, (uint32_t)finding,
	    memory_order_relaxed);
	add(&course->demotions, 1);
	t->accurate &= ~(1u << candidate);
	t->demoted_at = number;
	ac_log(AC_LOG_INFO, "%s %lldx%lldx%lld: %s is left: %s", t->key.symbol,
	    (long long)t->key.m, (long long)t->key.n, (long long)t->key.k,
	    ac_rung_names[t->decision.candidate[candidate].rung],
	    ac_finding_meanings[finding]);
}

bool
ac_trial_all_posted(const struct ac_trial *t)
{
	struct ac_recast_post post;

	for (unsigned i = 0; i < AC_CANDIDATES; i++)
		if (t->tried >> i & 1 && !read_post(t, i, t->tried_at, &post))
			return false;
	return true;
}

void
ac_trial_settle(struct ac_trial *t, uint64_t number)
{
	const uint32_t before = t->accurate;
	struct ac_recast_post post;
	enum ac_finding finding;

	t->demoted_at = 0;
	t->accurate = 0;
	for (unsigned i = 0; i < t->decision.candidate_count; i++) {
		if (!(t->tried >> i & 1)
		    || !read_post(t, i, t->tried_at, &post)) {
			t->accurate |= before & 1u << i;
			continue;
		}
		finding = ac_trial_judge(t, i, &post);
		if (finding == AC_FINDING_NONE)
			t->accurate |= 1u << i;
		else
			ac_trial_demote(t, i, finding, number);
	}
	t->tried = 0;
	ac_trial_choose(t);
}

/* ---- Samples ----------------------------------------------------------- */

static void
apply_sample(struct ac_trial *t, unsigned place, uint64_t number)
{
	struct ac_trial_sample *sample = &t->sample[place];
	const unsigned candidate = sample->candidate;
	struct ac_recast_post post;
	enum ac_finding finding;

	if (!read_post(t, AC_CANDIDATES + place, sample->number, &post)) {
		if (!sample->was_late)
			add(&ac_trial_record(t, candidate)->course.late, 1);
		sample->was_late = true;
		/* It will never come: its place is needed. */
		if (number >= sample->number + TRIAL_RETRY)
			sample->number = 0;
		return;
	}
	sample->number = 0;
	finding = ac_trial_judge(t, candidate, &post);
	if (finding == AC_FINDING_NONE || !(t->accurate >> candidate & 1))
		return;
	ac_trial_demote(t, candidate, finding, number);
	ac_trial_choose(t);
}

void
ac_trial_apply(struct ac_trial *t, uint64_t number)
{
	for (unsigned i = 0; i <= t->lag; i++)
		if (t->sample[i].number
		    && t->sample[i].number + TRIAL_LAG <= number)
			apply_sample(t, i, number);
}

/* ---- Times ------------------------------------------------------------- */

static void
note_times(struct ac_trial *t)
{
	const struct ac_timing *keep = &t->timing[TRIAL_KEEP];

	for (unsigned i = 0; i < t->decision.candidate_count; i++) {
		struct ac_site_course *course;

		if (!t->timing[i].count)
			continue;
		course = &ac_trial_record(t, i)->course;
		atomic_store_explicit(&course->recast_us,
		    t->timing[i].least_us, memory_order_relaxed);
		atomic_store_explicit(&course->timed, t->timing[i].count,
		    memory_order_relaxed);
		if (keep->count)
			atomic_store_explicit(&course->keep_us, keep->least_us,
			    memory_order_relaxed);
	}
}

/* Without a time for everything, what was predicted stays. */
static bool
has_all_times(const struct ac_trial *t)
{
	bool all = t->timing[TRIAL_KEEP].count > 0;

	for (unsigned i = 0; i < t->decision.candidate_count; i++)
		all &= !(t->accurate >> i & 1) || t->timing[i].count > 0;
	return all;
}

void
ac_trial_compare(struct ac_trial *t, const struct ac_place *place)
{
	const unsigned before = t->current;

	for (unsigned i = 0; i <= AC_CANDIDATES; i++)
		ac_timing_read(&t->timing[i], place);
	note_times(t);
	if (t->timing_over)
		return;
	t->timing_over = true;
	if (t->decision.judges_profit && has_all_times(t)) {
		for (unsigned i = 0; i <= AC_CANDIDATES; i++)
			if (t->timing[i].count)
				t->cost[i] = (double)t->timing[i].least_us / 1e6;
		ac_trial_choose(t);
	}
	if (t->current == TRIAL_KEEP && before != TRIAL_KEEP)
		atomic_store_explicit(&ac_trial_record(t, before)->course.finding,
		    AC_FINDING_SLOW, memory_order_relaxed);
	for (unsigned i = 0; i <= AC_CANDIDATES; i++)
		if (i != t->current)
			ac_timing_drop(&t->timing[i], place);
}
