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

/* What was queued in another context. */
static void
forget_open(struct ac_trial *t)
{
	for (unsigned i = 0; i < TRIAL_OPEN; i++)
		if (t->sample[i].number)
			ac_trial_close(t, i);
	t->again.open = 0;
	t->due = UINT64_MAX;
	if (t->state == TRIAL_WAITING) {
		t->batch = TRIAL_EVIDENCE;
		t->state = TRIAL_PROBATION;
	}
}

/* More contexts than that get new slots by turns. */
bool
ac_trial_take_slots(struct ac_trial *t, const struct ac_place *place)
{
	struct ac_trial_slots made = {
		place->scratch, ac_scratch_epoch(place->scratch), NULL, 0
	}, *slots = t->known;
	void *host;

	if (ac_trial_is_home(t, place))
		return true;
	forget_open(t);
	for (unsigned i = 0; i < TRIAL_HOMES; i++, slots++)
		if (slots->host && are_at(slots, place)) {
			t->home = slots;
			return true;
		}
	if (!ac_page_take(place, TRIAL_SLOTS * sizeof *made.host,
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

unsigned
ac_trial_pick(const struct ac_trial *t, uint32_t out)
{
	enum { SLACK_PERCENT = 2 }; /* less than this is no difference */
	const uint32_t usable = t->accurate & ~out;
	unsigned best = TRIAL_KEEP;

	for (unsigned i = 0; i < t->decision.candidate_count; i++) {
		if (!(usable >> i & 1))
			continue;
		if (best == TRIAL_KEEP || t->cost[i] * 100
		    < t->cost[best] * (100 - SLACK_PERCENT))
			best = i;
	}
	/* Accuracy is not given up for nothing, nor in doubt: until the original
	 * was timed, too, which sets its cost. */
	if (best != TRIAL_KEEP && (t->cost[TRIAL_KEEP] > 0
	    ? t->cost[TRIAL_KEEP] * (100 - SLACK_PERCENT)
	    < t->cost[best] * 100 : t->decision.is_doubtful))
		best = TRIAL_KEEP;
	return best;
}

void
ac_trial_choose(struct ac_trial *t)
{
	const uint32_t out = t->pairs.of[AC_PAIR_OTHERS].out;
	const unsigned best = ac_trial_pick(t, out);

	atomic_store_explicit(&t->kept_as, best == TRIAL_KEEP
	    && t->accurate & ~out ? AC_REASON_NO_PROFIT : AC_REASON_GUARD,
	    memory_order_relaxed);
	atomic_store_explicit(&t->current, best, memory_order_release);
}

/* ---- Demotion ---------------------------------------------------------- */

/* Bits of a rung's fraction: what rounds alike is wrong alike. */
static unsigned
fraction_of(const struct ac_trial *t, unsigned candidate)
{
	return t->decision.candidate[candidate].rung == AC_RUNG_BF16 ? 7 : 10;
}

/* The candidates of no more bits than `candidate`, itself among them. */
static uint32_t
like(const struct ac_trial *t, unsigned candidate)
{
	uint32_t bits = 0;

	for (unsigned i = 0; i < t->decision.candidate_count; i++)
		if (fraction_of(t, i) <= fraction_of(t, candidate))
			bits |= 1u << i;
	return bits;
}

static void
set_retry_due(struct ac_trial *t)
{
	uint64_t due = UINT64_MAX;

	for (unsigned i = 0; i < AC_PAIRS; i++) {
		const struct ac_pair *pair = &t->pairs.of[i];

		if (pair->out && pair->retry_at < due)
			due = pair->retry_at;
	}
	t->retry_due = t->again.is_on ? 0 : due;
}

static void
strike(struct ac_trial *t, unsigned at, uint32_t bits, uint32_t refuted,
    uint64_t number)
{
	struct ac_pair *pair = &t->pairs.of[at];
	const unsigned wait = pair->strikes < TRIAL_STRIKES ? pair->strikes
	    : TRIAL_STRIKES;

	pair->strikes++;
	pair->refuted |= refuted;
	atomic_fetch_or_explicit(&pair->out, bits | refuted,
	    memory_order_release);
	/* What was not refuted itself may prove itself at once. */
	pair->retry_at = pair->out & ~pair->refuted ? number
	    : number + ((uint64_t)TRIAL_RETRY << 2 * wait);
	t->pairs.any_out = true;
	if (t->again.is_on && t->again.pair == at
	    && refuted >> t->again.candidate & 1)
		t->again.is_on = false;
	set_retry_due(t);
}

static void
tell(struct ac_trial *t, unsigned candidate, enum ac_finding finding)
{
	struct ac_site_course *course = &ac_trial_record(t, candidate)->course;

	atomic_store_explicit(&course->finding, (uint32_t)finding,
	    memory_order_relaxed);
	add(&course->demotions, 1);
	ac_log(AC_LOG_INFO, "%s %lldx%lldx%lld: %s is left: %s", t->key.symbol,
	    (long long)t->key.m, (long long)t->key.n, (long long)t->key.k,
	    ac_rung_names[t->decision.candidate[candidate].rung],
	    ac_finding_meanings[finding]);
}

void
ac_trial_demote(struct ac_trial *t, unsigned at, unsigned candidate,
    enum ac_finding finding, uint64_t number)
{
	enum { MANY = 3 };
	const uint32_t bit = 1u << candidate;
	const bool rounds = finding == AC_FINDING_ERROR
	    || finding == AC_FINDING_LINE;
	/* In a probation each candidate is tried by itself. */
	const uint32_t bits = rounds && t->state == TRIAL_SETTLED
	    ? like(t, candidate) : bit;
	unsigned count;

	if (t->pairs.of[at].out & t->pairs.of[at].refuted & bit)
		return; /* known by now */
	tell(t, candidate, finding);
	strike(t, at, bits, bit, number);
	count = ac_pair_count_out(&t->pairs, bit);
	if (!(t->pairs.of[AC_PAIR_OTHERS].out & bit) && count >= MANY
	    && 2 * count >= t->pairs.met)
		strike(t, AC_PAIR_OTHERS, bits, bit, number);
	if (t->size_class && t->pairs.of[AC_PAIR_OTHERS].out & bit)
		atomic_fetch_and(&t->size_class->clean,
		    ~ac_size_class_bit(&t->decision.candidate[candidate]));
	ac_trial_choose(t);
}

unsigned
ac_trial_wants_again(const struct ac_trial *t, unsigned at, uint64_t number)
{
	const struct ac_pair *pair = &t->pairs.of[at];
	const uint32_t unproved = pair->out & ~pair->refuted;
	const uint32_t bits = unproved ? unproved : pair->out;

	if (!bits || number < pair->retry_at)
		return TRIAL_KEEP;
	return (unsigned)__builtin_ctz(bits);
}

/* ---- Probation --------------------------------------------------------- */

bool
ac_trial_is_undecided(const struct ac_trial *t, unsigned candidate)
{
	const struct ac_trial_evidence *e = &t->evidence[candidate];

	if (t->refused >> candidate & 1 || e->clean >= TRIAL_EVIDENCE)
		return false;
	return e->clean + e->bad < TRIAL_EVIDENCE
	    || (e->clean && e->clean + e->bad < TRIAL_MOST);
}

static void
pass(struct ac_trial *t, unsigned candidate)
{
	t->accurate |= 1u << candidate;
	if (t->size_class)
		atomic_fetch_or(&t->size_class->clean,
		    ac_size_class_bit(&t->decision.candidate[candidate]));
}

void
ac_trial_settle(struct ac_trial *t, uint64_t number)
{
	unsigned lacks = 0;

	for (unsigned i = 0; i < t->decision.candidate_count; i++) {
		const struct ac_trial_evidence *e = &t->evidence[i];

		if (ac_trial_is_undecided(t, i) && TRIAL_EVIDENCE - e->clean > lacks)
			lacks = TRIAL_EVIDENCE - e->clean;
	}
	t->batch = lacks;
	if (lacks) {
		/* Zeros teach nothing, and may go on. */
		t->first = t->was_empty ? 2 * number : number;
		t->state = TRIAL_PROBATION;
		return;
	}
	for (unsigned i = 0; i < t->decision.candidate_count; i++)
		if (t->evidence[i].clean >= TRIAL_EVIDENCE)
			pass(t, i);
	t->settled_at = number;
	t->timing_over |= !t->accurate;
	ac_trial_choose(t);
	atomic_store_explicit(&t->state, TRIAL_SETTLED, memory_order_release);
}

/* ---- Samples ----------------------------------------------------------- */

/* A try of a pair that proves itself again. */
static void
prove(struct ac_trial *t, const struct ac_trial_sample *sample,
    const struct ac_recast_post *post, enum ac_finding finding,
    uint64_t number)
{
	struct ac_trial_again *again = &t->again;

	if (!again->is_on || again->candidate != sample->candidate)
		return;
	again->open -= again->open > 0;
	if (finding != AC_FINDING_NONE) {
		strike(t, again->pair, 0, 1u << sample->candidate, number);
		again->is_on = false;
	} else {
		again->clean += post->samples > 0;
	}
	if (again->clean >= TRIAL_PROOF) {
		struct ac_pair *pair = &t->pairs.of[again->pair];

		again->is_on = false;
		t->accurate |= 1u << sample->candidate;
		pair->refuted &= ~(1u << sample->candidate);
		atomic_fetch_and(&pair->out, ~(1u << sample->candidate));
		ac_trial_choose(t);
	}
	set_retry_due(t);
}

/* What a try of a probation has shown. */
static void
weigh(struct ac_trial *t, const struct ac_trial_sample *sample,
    const struct ac_recast_post *post, enum ac_finding finding,
    uint64_t number)
{
	struct ac_trial_evidence *e = &t->evidence[sample->candidate];

	if (finding != AC_FINDING_NONE) {
		e->bad++;
		ac_trial_demote(t, sample->pair, sample->candidate, finding,
		    number);
	} else {
		e->clean += post->samples > 0;
	}
	t->was_empty &= finding == AC_FINDING_NONE && !post->samples;
}

/* Recast calls: the post tells of all since the last one. */
static void
hold_against(struct ac_trial *t, const struct ac_trial_sample *sample,
    const struct ac_recast_post *post, enum ac_finding finding,
    uint64_t number)
{
	const uint64_t bad = post->bad ? post->bad : 1ull << sample->pair;

	if (finding == AC_FINDING_NONE)
		return;
	for (unsigned i = 0; i < AC_PAIRS; i++)
		if (bad >> i & 1)
			ac_trial_demote(t, i, sample->candidate, finding,
			    number);
}

static void
apply_sample(struct ac_trial *t, unsigned entry, uint64_t number)
{
	struct ac_trial_sample *sample = &t->sample[entry];
	struct ac_recast_post post;
	enum ac_finding finding;

	if (!read_post(t, entry, sample->number, &post)) {
		if (!sample->was_late)
			add(&ac_trial_record(t, sample->candidate)->course.late,
			    1);
		sample->was_late = true;
		/* It will never come: its place is needed. */
		if (number >= sample->number + TRIAL_RETRY)
			ac_trial_close(t, entry);
		return;
	}
	finding = ac_trial_judge(t, sample->candidate, &post);
	if (!sample->is_beside)
		hold_against(t, sample, &post, finding, number);
	else if (t->state == TRIAL_SETTLED)
		prove(t, sample, &post, finding, number);
	else
		weigh(t, sample, &post, finding, number);
	ac_trial_close(t, entry);
}

void
ac_trial_apply(struct ac_trial *t, uint64_t number)
{
	uint64_t due = UINT64_MAX;

	for (unsigned i = 0; i < TRIAL_OPEN; i++) {
		const struct ac_trial_sample *sample = &t->sample[i];

		if (sample->number && sample->due <= number)
			apply_sample(t, i, number);
		/* What is late is looked for at the next call. */
		if (sample->number && sample->due < due)
			due = sample->due;
	}
	t->due = due;
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
