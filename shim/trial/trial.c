/* SPDX-License-Identifier: Apache-2.0 */
/* shim/trial/trial.c -- slots, and what is heard from them. trial_turn.c hands
 * out turns. */
#include "shim/trial/trial.h"

#include "base/lock.h"
#include "policy/guard.h"
#include "shim/trial/wait.h"

#include <math.h>

/* ---- Slots --------------------------------------------------------------- */

/* What became of a slot, in this order. A thread that finds it QUEUED, and its
 * post there, makes it HEARD: no other thread reads that post. */
enum { TAKEN, QUEUED, HEARD, OVER, CLEAN, STATE_BITS = 3 };

static uint64_t
word(uint64_t number, unsigned state)
{
	return number << STATE_BITS | state;
}

static uint64_t
number_of(uint64_t seen)
{
	return seen >> STATE_BITS;
}

static bool
is(uint64_t seen, unsigned state)
{
	return seen && seen == word(number_of(seen), state);
}

static uint64_t
look(const struct ac_trial_slot *slot)
{
	return __atomic_load_n(&slot->state, __ATOMIC_ACQUIRE);
}

static bool
move(struct ac_trial_slot *slot, uint64_t from, uint64_t to)
{
	return __atomic_compare_exchange_n(&slot->state, &from, to, false,
	    __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

/* A later call may have had the slot meanwhile: this one cannot have it. */
bool
ac_trial_take(struct ac_trial_slot *slot, uint64_t number, unsigned candidate)
{
	const uint64_t seen = look(slot), by = number_of(seen);

	if (is(seen, CLEAN) || number <= by || (seen && !is(seen, OVER)
	    && number < by + AC_TRIAL_LOST)
	    || !move(slot, seen, word(number, TAKEN)))
		return false;
	if (!slot->is_try)
		slot->candidate = (uint8_t)candidate;
	return true;
}

uint32_t
ac_trial_accurate(const struct ac_trial_home *h)
{
	uint32_t bits = (1u << h->variants->decision->candidate_count) - 1;

	for (unsigned i = 0; i < AC_TRIAL_FIRST_SAMPLE; i++)
		if (!is(look(&h->slot[i]), CLEAN))
			bits &= ~(1u << h->slot[i].candidate);
	return bits;
}

/* The post of a clean try stays where it is. */
bool
ac_trial_has_varied(const struct ac_trial_home *h, unsigned candidate)
{
	const struct ac_trial_slot *tries = h->slot
	    + candidate * AC_TRIAL_TRIES;

	for (unsigned i = 1; i < AC_TRIAL_TRIES; i++)
		for (unsigned j = 0; j < i; j++) {
			const float *one = tries[i].host->energy;
			const float *other = tries[j].host->energy;

			if (one[0] == other[0] && one[1] == other[1])
				return false;
		}
	return true;
}

/* ---- What is heard ------------------------------------------------------- */

static struct ac_site_record *
record_of(const struct ac_trial_home *h, unsigned candidate)
{
	return ac_variants_record(h->variants, candidate, AC_REASON_NONE);
}

static void
note(struct ac_site_record *record, const struct ac_conv_post *post)
{
	struct ac_site_course *course = &record->course;

	if (post->samples && !(post->error <= course->error))
		ac_report_event(record, AC_EVENT_WORST, post->number,
		    AC_FINDING_NONE, post->error);
	course->samples += post->samples;
	ac_report_raise(&course->error, post->error);
	ac_report_raise(&course->line_error, post->line_error);
	ac_report_note_time();
}

/* Under learn=on: by any tolerance. */
static enum ac_finding
judge(const struct ac_decision *decision, const struct ac_candidate *candidate,
    const struct ac_conv_post *post)
{
	const struct ac_guard_facts facts = {
		.error = (double)post->error,
		.line_error = (double)post->line_error,
		.exact = (double)post->exact,
		.large = post->verdict & AC_VERDICT_LARGE
		    && candidate->rung == AC_RUNG_FP16
	};

	return ac_guard_judge(&facts, decision->learns ? HUGE_VAL
	    : candidate->tol);
}

/* For good. */
static void
leave(struct ac_trial_home *h, unsigned candidate, enum ac_finding finding,
    const struct ac_conv_post *post)
{
	struct ac_site_record *record = record_of(h, candidate);

	if (atomic_fetch_or(&h->out, 1u << candidate) >> candidate & 1)
		return;
	record->course.finding = finding;
	record->course.demotions++;
	ac_report_event(record, AC_EVENT_DEMOTED, post->number, finding,
	    post->error);
}

/* Under learn=on. Zeros teach nothing. */
static void
learn(struct ac_trial_home *h, unsigned candidate, enum ac_finding finding,
    const struct ac_conv_post *post)
{
	struct ac_site_course *course = &record_of(h, candidate)->course;

	course->judged += post->samples;
	if (finding != AC_FINDING_NONE)
		course->finding = finding;
}

/* One more clean try of it. */
static void
pass(struct ac_trial_home *h, unsigned candidate, uint64_t number)
{
	const uint32_t bit = 1u << candidate & ac_trial_accurate(h);

	if (bit & ~atomic_fetch_or(&h->passed, bit))
		ac_report_event(record_of(h, candidate), AC_EVENT_PASSED,
		    number, AC_FINDING_NONE, 0);
}

/* A candidate whose try found zeros waits as long as the site has run. Returns
 * whether this was a clean try. */
static bool
take_in(struct ac_trial_home *h, const struct ac_trial_slot *slot,
    uint64_t number, const struct ac_conv_post *post)
{
	const struct ac_decision *decision = h->variants->decision;
	const unsigned candidate = slot->candidate;
	const enum ac_finding finding = judge(decision,
	    &decision->candidate[candidate], post);

	if (decision->learns)
		learn(h, candidate, finding, post);
	else if (finding != AC_FINDING_NONE)
		leave(h, candidate, finding, post);
	else if (slot->is_try && !post->samples)
		h->next_try[candidate] = 2 * number;
	return slot->is_try && finding == AC_FINDING_NONE && post->samples
	    && !decision->learns;
}

/* A slot that was seen to have posted. */
static void
hear(struct ac_trial_home *h, struct ac_trial_slot *slot, uint64_t seen)
{
	const uint64_t number = number_of(seen);
	const unsigned candidate = slot->candidate;
	struct ac_conv_post post;
	bool is_clean;

	if (!move(slot, seen, word(number, HEARD)))
		return;
	post = *slot->host;
	is_clean = take_in(h, slot, number, &post);
	h->is_hasty = false;
	(void)ac_wait_for(h->scratch, h->epoch, &slot->host->number, number,
	    0); /* is found */
	note(record_of(h, candidate), &post);
	if (move(slot, word(number, HEARD), word(number, is_clean ? CLEAN
	    : OVER)) && is_clean)
		pass(h, candidate, number);
}

void
ac_trial_hear(struct ac_trial_home *h)
{
	for (unsigned i = 0; i < AC_TRIAL_SLOTS; i++) {
		const uint64_t seen = look(&h->slot[i]);

		if (is(seen, QUEUED) && __atomic_load_n(
		    &h->slot[i].host->number, __ATOMIC_ACQUIRE)
		    >= number_of(seen))
			hear(h, &h->slot[i], seen);
	}
}

static bool
wait(struct ac_trial_home *h, const struct ac_trial_slot *slot,
    const uint64_t *at, uint64_t least)
{
	if (__atomic_load_n(at, __ATOMIC_ACQUIRE) >= least)
		return true;
	if (h->is_hasty)
		return false;
	if (ac_wait_for(h->scratch, h->epoch, at, least, h->variants->seconds))
		return true;
	h->is_hasty = true;
	record_of(h, slot->candidate)->course.late++;
	return false;
}

/* Wait for a slot that was `seen` taken: until its thread has queued, the
 * device has posted, and a thread has heard the post. */
static bool
await(struct ac_trial_home *h, struct ac_trial_slot *slot, uint64_t seen)
{
	const uint64_t number = number_of(seen), queued = word(number, QUEUED);

	if (!wait(h, slot, &slot->state, queued))
		return false;
	if (look(slot) == queued) {
		if (!wait(h, slot, &slot->host->number, number))
			return false;
		hear(h, slot, queued);
	}
	return wait(h, slot, &slot->state, word(number, OVER));
}

bool
ac_trial_await_tries(struct ac_trial_home *h, unsigned candidate)
{
	bool has_come = true;

	for (unsigned i = 0; i < AC_TRIAL_TRIES; i++) {
		struct ac_trial_slot *slot = &h->slot[candidate
		    * AC_TRIAL_TRIES + i];
		const uint64_t seen = look(slot);

		has_come &= !seen || await(h, slot, seen);
	}
	return has_come;
}

/* A sample that its thread has not queued yet is not waited for. */
bool
ac_trial_await_samples(struct ac_trial_home *h, uint64_t number, bool may_wait)
{
	bool has_come = true;

	for (unsigned i = AC_TRIAL_FIRST_SAMPLE; i < AC_TRIAL_SLOTS; i++) {
		struct ac_trial_slot *slot = &h->slot[i];
		const uint64_t seen = look(slot), by = number_of(seen);

		if (number < by + AC_TRIAL_LAG
		    || !(is(seen, QUEUED) || is(seen, HEARD))
		    || (may_wait && await(h, slot, seen)))
			continue;
		has_come &= number >= by + AC_TRIAL_LOST
		    && move(slot, seen, word(by, OVER));
	}
	return has_come;
}

/* ---- What became of a turn ----------------------------------------------- */

void
ac_trial_queued(const struct ac_turn *turn, unsigned i)
{
	(void)move(turn->slot[i], word(turn->number, TAKEN),
	    word(turn->number, QUEUED));
}

void
ac_trial_tried(const struct ac_turn *turn, unsigned queued, unsigned refused)
{
	for (unsigned i = 0; i < AC_CANDIDATES; i++) {
		struct ac_site_course *course;

		if (!(turn->tries >> i & 1))
			continue;
		course = &record_of(turn->home, i)->course;
		if (queued >> i & 1) {
			course->tries++;
			ac_trial_queued(turn, i);
		} else if (refused >> i & 1) {
			atomic_fetch_or(&turn->home->out, 1u << i);
			course->finding = AC_FINDING_REFUSED;
		} else {
			turn->home->next_try[i] = turn->number + AC_TRIAL_LATE;
		}
	}
}

void
ac_trial_over(const struct ac_turn *turn)
{
	for (unsigned i = 0; i < AC_CANDIDATES; i++)
		if (turn->slot[i])
			(void)move(turn->slot[i], word(turn->number, TAKEN),
			    word(turn->number, OVER));
}

/* ---- At exit ------------------------------------------------------------- */

/* What no later call came to hear. No CUDA call: the device may be gone, what
 * it wrote is not; but for memory that the driver lent us. */
__attribute__((destructor)) static void
hear_the_last(void)
{
	for (struct ac_trial_home *h = ac_trial_homes(); h; h = h->also) {
		if (!h->is_ours || h->variants->process != ac_lock_process())
			continue;
		ac_trial_hear(h);
		for (unsigned i = 0; i < AC_TRIAL_SLOTS; i++)
			if (is(look(&h->slot[i]), QUEUED))
				record_of(h, h->slot[i].candidate)
				    ->course.unread++;
	}
}
