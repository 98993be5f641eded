/* SPDX-License-Identifier: Apache-2.0 */
/* shim/trial/trial_slots.c -- where the samples of a site are posted, context
 * by context, and which of them are open. Touches only host memory. */
#include "shim/trial/trial_state.h"

/* ---- Slots ------------------------------------------------------------- */

bool
ac_trial_is_deserted(const struct ac_trial *t, const struct ac_place *place,
    uint64_t number, uint64_t absence)
{
	const struct ac_trial_slots *home = t->v->home;

	return !home || (home->of == place->scratch
	    && home->epoch != place->epoch)
	    || number >= t->v->home_at + absence;
}

/* What was queued in another context. */
static void
forget_open(struct ac_trial *t)
{
	for (unsigned i = 0; i < TRIAL_OPEN; i++)
		if (t->v->sample[i].number)
			ac_trial_close(t, i);
	t->v->again.open = 0;
	t->v->due = UINT64_MAX;
	t->v->is_overdue = false;
	if (t->v->state == TRIAL_WAITING) {
		t->v->batch = TRIAL_EVIDENCE;
		t->v->state = TRIAL_PROBATION;
	}
}

/* More contexts than that get new slots by turns. */
__attribute__((cold))
bool
ac_trial_take_slots(struct ac_trial *t, const struct ac_place *place)
{
	struct ac_trial_slots made = {
		place->scratch, place->epoch, NULL, 0, true
	}, *slots = t->v->known;
	const size_t bytes = TRIAL_SLOTS * sizeof *made.host;
	void *host;

	if (ac_trial_is_home(t, place))
		return true;
	forget_open(t);
	for (unsigned i = 0; i < TRIAL_HOMES; i++, slots++)
		if (slots->host && ac_slots_are_at(slots, place)) {
			t->v->home = slots;
			return true;
		}
	if (!ac_mailbox_take(place, bytes, true, &host, &made.device)) {
		made.is_ours = false;
		if (!ac_mailbox_take(place, bytes, false, &host, &made.device))
			return false;
	}
	made.host = host;
	slots = &t->v->known[t->v->homes++ % TRIAL_HOMES];
	if (slots == t->v->home) /* others may be reading it */
		slots = &t->v->known[t->v->homes++ % TRIAL_HOMES];
	*slots = made;
	t->v->home = slots;
	return true;
}

static struct ac_slot
slot_of(const struct ac_trial_slots *slots, unsigned index)
{
	return (struct ac_slot){
		.host = &slots->host[index],
		.device = slots->device + index * sizeof *slots->host,
	};
}

struct ac_slot
ac_trial_slot_at(const struct ac_trial *t, unsigned index)
{
	return slot_of(t->v->home, index);
}

bool
ac_trial_slot_in(const struct ac_trial *t, const struct ac_place *place,
    unsigned index, struct ac_slot *slot_out)
{
	const struct ac_trial_slots *home = t->v->home;

	if (!ac_slots_are_at(home, place))
		return false;
	*slot_out = slot_of(home, index);
	return true;
}

bool
ac_trial_is_elsewhere(const struct ac_trial *t, unsigned entry)
{
	const struct ac_trial_slots *home = t->v->home;

	return !home || t->v->sample[entry].host != &home->host[entry];
}

/* The device wrote `number` last, with a system-wide release. */
bool
ac_trial_read(const struct ac_trial_sample *sample,
    struct ac_recast_post *post_out)
{
	if (__atomic_load_n(&sample->host->number, __ATOMIC_ACQUIRE)
	    != sample->number)
		return false;
	*post_out = *sample->host;
	return true;
}

/* ---- Samples that are open --------------------------------------------- */

unsigned
ac_trial_open(struct ac_trial *t)
{
	uint64_t open = atomic_load_explicit(&t->v->open, memory_order_relaxed);
	unsigned entry;

	do {
		if (open == UINT64_MAX)
			return TRIAL_OPEN;
		entry = (unsigned)__builtin_ctzll(~open);
	} while (!atomic_compare_exchange_weak_explicit(&t->v->open, &open,
	    open | UINT64_C(1) << entry, memory_order_acquire,
	    memory_order_relaxed));
	return entry;
}

void
ac_trial_close(struct ac_trial *t, unsigned entry)
{
	atomic_store_explicit(&t->v->sample[entry].number, 0,
	    memory_order_relaxed);
	atomic_fetch_and_explicit(&t->v->open, ~(UINT64_C(1) << entry),
	    memory_order_release);
}

void
ac_trial_lower(_Atomic uint64_t *least, uint64_t value)
{
	uint64_t there = atomic_load(least);

	while (value < there
	    && !atomic_compare_exchange_weak(least, &there, value))
		;
}

/* The last try of a proof: the next call waits for what they found, as behind a
 * probation. */
static void
hurry(struct ac_trial *t, uint64_t number)
{
	for (unsigned i = 0; i < TRIAL_OPEN; i++) {
		struct ac_trial_sample *sample = &t->v->sample[i];

		if (sample->number && sample->is_beside)
			sample->due = number;
	}
	ac_trial_lower(&t->v->due, number);
}

void
ac_trial_opened(struct ac_trial *t, unsigned entry, const struct ac_turn *turn,
    unsigned candidate, bool is_beside)
{
	struct ac_trial_sample *sample = &t->v->sample[entry];
	const bool settled = atomic_load_explicit(&t->v->state,
	    memory_order_relaxed) == TRIAL_SETTLED;
	const uint64_t due = turn->number + (settled ? TRIAL_LAG : 0);

	sample->of = t;
	sample->candidate = (uint8_t)candidate;
	sample->pair = (uint8_t)turn->pair;
	sample->host = is_beside ? ac_trial_slot_at(t, entry).host
	    : turn->slot.host;
	sample->round = t->v->again.round;
	sample->is_beside = is_beside;
	sample->was_late = false;
	sample->due = due;
	atomic_fetch_or_explicit(&t->v->pairs.of[turn->pair].looked,
	    1u << candidate, memory_order_relaxed);
	/* First, then `due`: ac_trial_apply() counts on that. From here on the
	 * sample is the judge's. */
	atomic_store(&sample->number, turn->number);
	ac_trial_lower(&t->v->due, due);
	if (is_beside && settled && t->v->again.clean + t->v->again.open + 1
	    >= t->v->again.needed)
		hurry(t, turn->number);
}
