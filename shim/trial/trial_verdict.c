/* SPDX-License-Identifier: Apache-2.0 */
/* shim/trial/trial_verdict.c -- which candidates a site and its pairs may use:
 * the end of a probation, demotion, and the choice among what is left. */
#include "shim/trial/trial_state.h"

/* ---- Choosing ---------------------------------------------------------- */

unsigned
ac_trial_pick(const struct ac_trial *t, uint32_t out)
{
	enum { SLACK_PERCENT = 2 }; /* less than this is no difference */
	const uint32_t usable = t->v->accurate & ~out;
	unsigned best = TRIAL_KEEP;

	for (unsigned i = 0; i < t->decision.candidate_count; i++) {
		if (!(usable >> i & 1))
			continue;
		if (best == TRIAL_KEEP || t->cost[i] * 100
		    < t->cost[best] * (100 - SLACK_PERCENT))
			best = i;
	}
	/* Accuracy is not given up for nothing, nor in doubt: until the
	 * original was timed, too, which sets its cost. */
	if (best != TRIAL_KEEP && (t->cost[TRIAL_KEEP] > 0
	    ? t->cost[TRIAL_KEEP] * (100 - SLACK_PERCENT)
	    < t->cost[best] * 100 : t->decision.is_doubtful))
		best = TRIAL_KEEP;
	return best;
}

/* It is chosen from now on. */
static void
show(struct ac_trial *t, unsigned candidate, uint64_t at)
{
	atomic_store_explicit(&ac_trial_record(t, candidate)->course.chosen,
	    at, memory_order_relaxed);
	t->shown = (uint8_t)candidate;
	t->margin = 0;
	ac_report_event(ac_trial_record(t, candidate), AC_EVENT_CHOSEN,
	    *t->v->calls, AC_FINDING_NONE, 0);
}

/* What one pair may not use, others may: a row follows the majority. Threads
 * that count at once may lose a vote. */
void
ac_trial_show(struct ac_trial *t, unsigned candidate)
{
	const uint8_t margin = t->margin;

	if (t->shown != candidate && !margin)
		show(t, candidate, t->own_calls);
	else if (t->shown != candidate)
		t->margin = margin - 1;
	else if (margin < TRIAL_MARGIN)
		t->margin = margin + 1;
}

void
ac_trial_choose(struct ac_trial *t)
{
	const uint32_t version = atomic_load_explicit(&t->v->version,
	    memory_order_acquire);
	const uint32_t out = t->v->pairs.of[AC_PAIR_OTHERS].out | t->v->chained;
	const unsigned best = ac_trial_pick(t, out);

	atomic_store_explicit(&t->kept_as, best == TRIAL_KEEP
	    && t->v->accurate & ~out ? AC_REASON_NO_PROFIT : AC_REASON_GUARD,
	    memory_order_relaxed);
	if (best != t->current)
		show(t, best, t->own_calls + 1);
	atomic_store_explicit(&t->current, best, memory_order_release);
	atomic_store_explicit(&t->chosen, version, memory_order_release);
}

/* What may be used has changed: all sites choose again. */
static void
renew(struct ac_verdicts *v)
{
	atomic_fetch_add_explicit(&v->version, 1, memory_order_release);
}

/* ---- Demotion ---------------------------------------------------------- */

/* Bits of a rung's fraction: what rounds alike is wrong alike. */
static unsigned
fraction_of(const struct ac_trial *t, unsigned candidate)
{
	return t->decision.candidate[candidate].rung == AC_RUNG_BF16 ? 7 : 10;
}

/* The candidates of no more bits than that. */
static uint32_t
like(const struct ac_trial *t, unsigned fraction)
{
	uint32_t bits = 0;

	for (unsigned i = 0; i < t->decision.candidate_count; i++)
		if (fraction_of(t, i) <= fraction)
			bits |= 1u << i;
	return bits;
}

/* The candidates that are out of `pair` but not for good. */
static uint32_t
hopeful(const struct ac_trial *t, const struct ac_pair *pair)
{
	return pair->out & ~(t->v->refused | t->v->chained);
}

void
ac_trial_set_retry(struct ac_trial *t)
{
	uint64_t due = UINT64_MAX;
	uint32_t out = 0;

	for (unsigned i = 0; i < AC_PAIRS; i++) {
		const struct ac_pair *pair = &t->v->pairs.of[i];

		out |= pair->out;
		if (hopeful(t, pair) && pair->retry_at < due)
			due = pair->retry_at;
	}
	t->v->retry_due = t->v->again.pair != AC_PAIRS ? 0 : due;
	t->v->pairs.any_out = out != 0;
}

/* What was not refuted itself may prove itself at once. */
static void
set_retry_of(const struct ac_trial *t, struct ac_pair *pair, uint64_t number)
{
	pair->retry_at = hopeful(t, pair) & ~pair->refuted ? number
	    : pair->refuted_until;
}

/* `candidate` was found wanting at pair `at`; those of `bits` are out with it.
 * Only who was let try again and failed waits longer. */
static void
strike(struct ac_trial *t, unsigned at, uint32_t bits, unsigned candidate,
    uint64_t number)
{
	struct ac_pair *pair = &t->v->pairs.of[at];
	const uint32_t bit = 1u << candidate;
	const unsigned strikes = pair->strikes[candidate];

	if (strikes < TRIAL_STRIKES)
		pair->strikes[candidate]++;
	pair->refuted |= bit;
	atomic_fetch_or_explicit(&pair->out, bits | bit, memory_order_release);
	pair->refuted_until = number + ((uint64_t)TRIAL_RETRY << 2 * strikes)
	    * (hopeful(t, pair) & ~pair->refuted ? TRIAL_SERVED : 1);
	set_retry_of(t, pair, number);
	if (t->v->again.pair == at && candidate == t->v->again.candidate)
		t->v->again.pair = AC_PAIRS;
	ac_trial_set_retry(t);
}

static void
tell(struct ac_trial *t, unsigned candidate, enum ac_finding finding)
{
	struct ac_site_course *course = &ac_trial_record(t, candidate)->course;

	atomic_store_explicit(&course->finding, (uint32_t)finding,
	    memory_order_relaxed);
	atomic_fetch_add_explicit(&course->demotions, 1, memory_order_relaxed);
	ac_report_event(ac_trial_record(t, candidate), AC_EVENT_DEMOTED,
	    *t->v->calls, finding, 0);
}

void
ac_trial_demote(struct ac_trial *t, unsigned at, unsigned candidate,
    enum ac_finding finding, uint64_t number)
{
	enum { MANY = 3 };
	const uint32_t bit = 1u << candidate;
	const bool rounds = finding == AC_FINDING_ERROR
	    || finding == AC_FINDING_LINE || finding == AC_FINDING_EXACT;
	/* In a probation each candidate is tried by itself, and under strict
	 * each call is. */
	const uint32_t bits = t->v->state == TRIAL_SETTLED &&
		t->decision.guard == AC_GUARD_ON ?
	    like(t, fraction_of(t, candidate)) :
	    bit;
	unsigned count;

	if (t->v->pairs.of[at].out & t->v->pairs.of[at].refuted & bit)
		return; /* known by now */
	tell(t, candidate, finding);
	t->v->pairs.of[at].proof = finding == AC_FINDING_LINE
	    ? TRIAL_LINE_PROOF : rounds ? TRIAL_PROOF : TRIAL_EVIDENCE;
	strike(t, at, bits, candidate, number);
	count = ac_pair_count_out(&t->v->pairs, bit);
	if (!(t->v->pairs.of[AC_PAIR_OTHERS].out & bit) && count >= MANY
	    && 2 * count >= t->v->pairs.met)
		strike(t, AC_PAIR_OTHERS, bits, candidate, number);
	renew(t->v);
}

/* By atomics alone: the others' judges are at work. */
void
ac_trial_demote_chain(struct ac_trial *t, unsigned candidate)
{
	const unsigned fraction = fraction_of(t, candidate);
	struct ac_trial *of[AC_CHAIN_LINKS + 1] = { t };

	for (unsigned i = 0; i < AC_CHAIN_LINKS; i++)
		of[i + 1] = atomic_load_explicit(&t->v->chain.with[i],
		    memory_order_acquire);
	for (unsigned i = 0; i <= AC_CHAIN_LINKS; i++) {
		const uint32_t bits = of[i] ? like(of[i], fraction) : 0;
		uint32_t before;

		if (!(bits && bits & ~of[i]->v->chained))
			continue;
		before = atomic_fetch_or(&of[i]->v->chained, bits);
		for (unsigned j = 0; j < AC_CANDIDATES; j++)
			if ((bits & ~before) >> j & 1)
				tell(of[i], j, AC_FINDING_CHAIN);
		renew(of[i]->v);
	}
}

unsigned
ac_trial_wants_again(const struct ac_trial *t, unsigned at, uint64_t number)
{
	const struct ac_pair *pair = &t->v->pairs.of[at];
	const uint32_t out = hopeful(t, pair);
	const uint32_t unproved = out & ~pair->refuted;
	const uint32_t bits = unproved ? unproved : out;

	if (!bits || number < pair->retry_at)
		return TRIAL_KEEP;
	return (unsigned)__builtin_ctz(bits);
}

/* ---- Proof -------------------------------------------------------------- */

void
ac_trial_begin_proof(struct ac_trial *t, unsigned at, unsigned candidate,
    uint64_t number)
{
	struct ac_trial_again *again = &t->v->again;

	again->candidate = candidate;
	again->clean = again->open = again->tries = 0;
	again->last = number;
	again->needed = t->v->pairs.of[at].refuted >> candidate & 1
	    || !t->v->pairs.of[at].proof ? TRIAL_PROOF
	    : t->v->pairs.of[at].proof;
	again->round++;
	again->pair = at;
	ac_trial_set_retry(t);
	atomic_fetch_add_explicit(&ac_trial_record(t,
	    candidate)->course.retries, 1, memory_order_relaxed);
	ac_report_event(ac_trial_record(t, candidate), AC_EVENT_RETRIED, number,
	    AC_FINDING_NONE, 0);
}

void
ac_trial_postpone_proof(struct ac_trial *t, uint64_t until)
{
	t->v->pairs.of[t->v->again.pair].retry_at = until;
	t->v->again.pair = AC_PAIRS;
	ac_trial_set_retry(t);
}

/* Whether it is for the proof that is on: one that failed leaves tries
 * behind. */
static bool
counts(const struct ac_trial *t, const struct ac_trial_sample *sample)
{
	return t->v->again.pair != AC_PAIRS &&
	    sample->round == t->v->again.round;
}

void
ac_trial_lose(struct ac_trial *t, const struct ac_trial_sample *sample)
{
	if (counts(t, sample) && t->v->again.open)
		t->v->again.open--;
}

void
ac_trial_prove(struct ac_trial *t, const struct ac_trial_sample *sample,
    const struct ac_recast_post *post, enum ac_finding finding,
    uint64_t number)
{
	const uint32_t bit = 1u << sample->candidate;
	struct ac_trial_again *again = &t->v->again;
	struct ac_pair *pair;

	if (!counts(t, sample))
		return;
	ac_trial_lose(t, sample);
	pair = &t->v->pairs.of[again->pair];
	if (finding != AC_FINDING_NONE) {
		strike(t, again->pair, 0, sample->candidate, number);
		return;
	}
	again->clean += post->samples > 0;
	if (again->clean >= again->needed) {
		again->pair = AC_PAIRS;
		t->v->accurate |= bit;
		t->v->epoch++;
		pair->refuted &= ~bit;
		atomic_fetch_and(&pair->out, ~bit);
		set_retry_of(t, pair, number);
		ac_trial_set_retry(t);
		ac_report_event(ac_trial_record(t, sample->candidate),
		    AC_EVENT_PROVED, number, AC_FINDING_NONE, 0);
		renew(t->v);
	} else if (again->tries >= 2 * again->needed && !again->open) {
		ac_trial_postpone_proof(t, number + TRIAL_RETRY);
	}
}

/* ---- Probation --------------------------------------------------------- */

bool
ac_trial_is_undecided(const struct ac_trial *t, unsigned candidate)
{
	const struct ac_trial_evidence *e = &t->v->evidence[candidate];

	if ((t->v->refused | t->v->chained) >> candidate & 1 ||
	    e->clean >= TRIAL_EVIDENCE)
		return false;
	return e->clean + e->bad < TRIAL_EVIDENCE
	    || (e->clean && e->clean + e->bad < TRIAL_MOST);
}

void
ac_trial_settle(struct ac_trial *t, uint64_t number)
{
	unsigned lacks = 0;

	for (unsigned i = 0; i < t->decision.candidate_count; i++) {
		const struct ac_trial_evidence *e = &t->v->evidence[i];

		if (ac_trial_is_undecided(t, i) &&
		    TRIAL_EVIDENCE - e->clean > lacks)
			lacks = TRIAL_EVIDENCE - e->clean;
	}
	t->v->batch = lacks;
	if (lacks) {
		/* Zeros teach nothing, and may go on. */
		t->v->first = t->v->weighed && t->v->weighed == t->v->empty
		    ? number + t->v->own_calls : number;
		t->v->state = TRIAL_PROBATION;
		return;
	}
	for (unsigned i = 0; i < t->decision.candidate_count; i++)
		if (t->v->evidence[i].clean >= TRIAL_EVIDENCE) {
			t->v->accurate |= 1u << i;
			ac_report_event(ac_trial_record(t, i), AC_EVENT_PASSED,
			    number, AC_FINDING_NONE, 0);
		}
	renew(t->v);
	atomic_store_explicit(&t->v->state, TRIAL_SETTLED,
	    memory_order_release);
}
