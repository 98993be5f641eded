/* SPDX-License-Identifier: Apache-2.0 */
/* shim/trial/origin.c -- the table of origins; which way their calls go. No
 * lock. */
#include "shim/trial/origin_state.h"

#include "base/mapped.h"
#include "shim/trial/wait.h"

#include <string.h>

enum { BITS = 13 };             /* of the number of slots */

static ac_table_slot slots[1 << BITS];
static struct ac_table table = { slots, BITS, 1 << (BITS - 1), 0 };

static uint64_t
candidates_of(const struct ac_decision *decision)
{
	uint64_t word = decision->line;

	for (unsigned i = 0; i < decision->candidate_count; i++)
		word = word << 8 | (uint64_t)decision->candidate[i].rung << 4
		    | (uint64_t)decision->candidate[i].tactic;
	return word;
}

/* A candidate that pays on some data only does not serve before a call has
 * shown such data: else a site's first calls would be recomputed whole. */
static uint32_t
out_at_first(const struct ac_decision *decision)
{
	uint32_t out = 0;

	for (unsigned i = 0; i < decision->candidate_count; i++)
		if (decision->candidate[i].rung == AC_RUNG_FP16X2
		    && decision->candidate_count > 1)
			out |= 1u << i;
	return out;
}

/* The entry with that key, made if need be and if there is a decision; NULL:
 * there is none, or no room. */
static struct ac_origin *
find_or_make(const uint64_t key[5], const struct ac_decision *decision,
    struct ac_origin *place)
{
	enum { KEY = 5 * sizeof *key };
	const uint64_t hash = ac_table_hash(key, KEY);
	struct ac_origin *made = NULL;

	for (;;) {
		struct ac_table_entry *there;
		ac_table_slot *slot = ac_table_find(&table, hash, key, KEY,
		    &there);

		if (!slot || there || !decision)
			return (struct ac_origin *)there;
		if (!made && !(made = ac_mapped_take(sizeof *made)))
			return NULL;
		made->entry.hash = hash;
		memcpy(made->key, key, KEY);
		made->place = place;
		made->window = ORIGIN_WINDOW_FIRST;
		made->out = out_at_first(decision);
		for (unsigned i = 0; i < AC_CANDIDATES; i++)
			made->candidate[i].back_at = UINT64_MAX;
		if (ac_table_put(&table, slot, NULL, &made->entry))
			return made;
	}
}

/* What is allowed depends on sizes, what is tried first on the place alone. */
struct ac_origin *
ac_origin_of(const uint64_t from[2], const struct ac_decision *decision,
    uint64_t stream_id)
{
	uint64_t key[5] = {
		from[0], from[1], (uint64_t)(uintptr_t)decision->source,
		candidates_of(decision), stream_id
	};
	struct ac_origin *there = find_or_make(key, NULL, NULL), *place;

	if (there)
		return there;
	key[3] = ~(uint64_t)decision->line; /* no candidates have it */
	place = find_or_make(key, decision, NULL);
	key[3] = candidates_of(decision);
	return place ? find_or_make(key, decision, place) : NULL;
}

struct ac_origin *
ac_origin_on(const struct ac_origin *origin,
    const struct ac_decision *decision, uint64_t stream_id)
{
	return ac_origin_of(origin->key, decision, stream_id);
}

/* ---- A call's turn ------------------------------------------------------- */

/* Under guard=strict only what is always verified serves, and nowhere what
 * cannot be. */
static uint32_t
unfit(const struct ac_variants *v, const struct ac_turn *turn)
{
	return !turn->pair || v->decision->guard == AC_GUARD_STRICT
	    ? v->converted : 0;
}

/* Whether this call shows what the library makes of new data, or of old ones
 * once more: no loop of the program keeps step with it. */
static bool
looks(struct ac_origin *o, struct ac_turn *turn)
{
	enum { FIRST = 3, PERIOD = 32 };
	const uint64_t pair = turn->pair;

	for (unsigned i = 0; i < ORIGIN_PAIRS; i++)
		if (atomic_load_explicit(&o->pair[i], memory_order_relaxed)
		    == pair)
			return o->queued < FIRST || ac_turn_mix(turn->number
			    / PERIOD) % PERIOD == turn->number % PERIOD;
	turn->is_new = true;
	return true;
}

/* Which way a call goes, whose turn is RECAST. */
static void
choose(struct ac_origin *o, struct ac_variants *v, struct ac_turn *turn,
    bool is_own)
{
	const uint32_t out = o->out | unfit(v, turn);
	uint32_t every;

	turn->candidate = is_own ? AC_ORIGINAL : ac_variants_choose(v, out);
	turn->timing = NULL;
	if (!turn->is_unsteady && !ac_variants_rest(v, turn->own))
		turn->timing = ac_variants_time(v, turn->own, out,
		    &turn->candidate);
	if (turn->candidate != AC_ORIGINAL) {
		turn->is_verified = turn->is_looked_at
		    || !(v->converted >> turn->candidate & 1);
		turn->needs_place = turn->is_verified || turn->timing
		    || o->heard != o->queued
		    || (!v->is_over && ac_variants_is_due(v, turn->own));
		return;
	}
	every = (1u << v->decision->candidate_count) - 1;
	turn->kind = AC_TURN_KEEP;
	turn->reason = turn->timing || is_own ? AC_REASON_OWN
	    : (out & every) == every ? AC_REASON_GUARD : AC_REASON_NO_PROFIT;
	if (turn->reason == AC_REASON_GUARD && o->is_left)
		ac_origin_say_left(o, v);
	turn->is_verified = false;
	turn->needs_place = turn->timing || ac_variants_is_due(v, turn->own);
}

static inline bool
is_programs_own(struct ac_origin *o, uint64_t own)
{
	_Atomic uint64_t *calls = &o->place->calls;

	return atomic_load_explicit(calls, memory_order_relaxed) < own
	    && atomic_fetch_add_explicit(calls, 1, memory_order_relaxed) < own;
}

__attribute__((flatten)) /* the one call to choose() that is often made */
void
ac_origin_begin(struct ac_origin *o, struct ac_variants *v,
    struct ac_turn *turn)
{
	bool is_own;

	turn->number = 1 + atomic_fetch_add_explicit(&o->calls, 1,
	    memory_order_relaxed);
	turn->own = 1 + atomic_fetch_add_explicit(&v->calls, 1,
	    memory_order_relaxed);
	if (o->out)
		ac_origin_take_back(o, v, turn->number);
	turn->is_new = false;
	is_own = is_programs_own(o, v->decision->own);
	turn->is_looked_at = !is_own && v->converted && turn->pair
	    && looks(o, turn);
	choose(o, v, turn, is_own);
}

/* Whether the verified call that is `window` calls back has posted, or does so
 * before long. If its entry is another call's by now, a thread has looked. */
static bool
has_room(struct ac_origin *o, const struct ac_variants *v,
    const struct ac_place *place)
{
	/* What a part of a sum has lost nobody brings back: few such calls may
	 * be on their way. */
	const uint32_t window = o->adds ? ORIGIN_WINDOW_FIRST : o->window;
	const uint64_t queued = o->queued, number = queued + 1 - window;
	struct ac_origin_open *open = &o->open[number % ORIGIN_WINDOW];
	struct ac_ledger *l = open->ledger;
	const uint64_t least = open->least;

	/* Another context may be gone, or be reset, with all it had queued. */
	if (queued < window || open->number != number || !l
	    || !ac_ledger_is_at(l, place))
		return true;
	/* What was heard before says nothing of a device that others have
	 * waited for since. */
	if (open->number == number && l->calls < least
	    && !ac_wait_for(l->scratch, l->epoch, &l->host->calls, least,
	    v->seconds))
		return false;
	ac_origin_hear(o, l); /* of whichever size it was */
	return true;
}

/* Whether verified call `number` was heard of, or never will be here. */
static bool
is_heard(struct ac_origin *o, const struct ac_place *place, uint64_t number)
{
	struct ac_origin_open *open = &o->open[number % ORIGIN_WINDOW];
	struct ac_ledger *l = open->ledger;

	if (open->number != number || !l || !ac_ledger_is_at(l, place))
		return true;
	ac_origin_hear(o, l);
	return l->calls >= open->least;
}

/* Whether what the library makes of the last pair is known. Once all verified
 * calls were heard of, the next ones need no place to hear more. */
static bool
knows_pair(struct ac_origin *o, const struct ac_place *place)
{
	const uint64_t queued = o->queued;

	if (is_heard(o, place, queued))
		o->heard = queued;
	return is_heard(o, place, o->first);
}

/* Under reproducible=on: all that were queued since, of whichever size. Not
 * what graphs post, whose replays have no number. */
static void
await_all(struct ac_origin *o, const struct ac_place *place, double seconds)
{
	for (unsigned i = 0; i < ORIGIN_WINDOW; i++) {
		struct ac_ledger *l = o->open[i].ledger;

		if (!l || !ac_ledger_is_at(l, place))
			continue;
		(void)ac_wait_for(l->scratch, l->epoch, &l->host->calls,
		    o->open[i].least, seconds);
		ac_origin_hear(o, l);
	}
}

static void
keep(struct ac_turn *turn, enum ac_reason reason)
{
	turn->kind = AC_TURN_KEEP;
	turn->candidate = AC_ORIGINAL;
	turn->reason = reason;
	turn->timing = NULL;
	turn->is_verified = false;
}

static void
set(_Atomic bool *flag)
{
	atomic_store_explicit(flag, true, memory_order_relaxed);
}

/* Those that wrote what it adds to are kept like itself; or heed what is noted
 * on the device, as a graph may be all that is launched from now on. */
static void
tell_writers(struct ac_origin *o, bool in_graph)
{
	struct ac_origin *writer[AC_CHAIN_MOST];
	const unsigned count = in_graph || ac_origin_is_to_ask(o)
	    ? ac_chain_writers(o, writer) : 0;

	for (unsigned i = 0; i < count; i++)
		set(in_graph ? &writer[i]->heeds : &writer[i]->adds);
}

void
ac_origin_settle(struct ac_origin *o, struct ac_variants *v,
    const struct ac_place *place, struct ac_turn *turn)
{
	const bool is_reproducible = v->decision->reproducible;

	if (!is_reproducible)
		ac_origin_hear_all(o, v, place);
	else if (!place->capture && turn->number % (o->adds
	    ? ORIGIN_WINDOW_FIRST : ORIGIN_WINDOW) == 0)
		await_all(o, place, v->seconds);
	ac_variants_compare(v, turn->own, place);
	if (turn->kind == AC_TURN_RECAST && (o->out >> turn->candidate & 1
	    || (!v->is_asked && !turn->timing && ac_variants_first(v,
	    turn->candidate, place))))
		choose(o, v, turn, false); /* again, by what was heard */
	/* In a graph it runs on other data. What the host has heard may decide
	 * on no bit of a reproducible one. */
	if (turn->kind == AC_TURN_RECAST && !turn->is_verified
	    && (place->capture || (!is_reproducible && !knows_pair(o, place))))
		turn->is_verified = true;
	if (!turn->is_verified)
		return;
	if (place->capture && !(o->clean >> turn->candidate & 1)) {
		keep(turn, AC_REASON_CAPTURE);
		return;
	}
	if ((o->adds || o->sums) && v->decision->guard == AC_GUARD_STRICT) {
		tell_writers(o, false);
		keep(turn, AC_REASON_GUARD);
		return;
	}
	turn->ledger = ac_ledger_find(&v->ledgers, v, place, turn->candidate,
	    is_reproducible, v->decision->workspace_bytes);
	/* A capture does without one, but for sums: then its calls are not
	 * heard of. */
	if (place->capture) {
		if (!turn->ledger && (o->adds || o->sums))
			keep(turn, AC_REASON_CAPTURE);
		else if (o->sums)
			tell_writers(o, true);
	} else if (!turn->ledger || !turn->ledger->host)
		keep(turn, turn->ledger ? AC_REASON_DRIVER
		    : ac_ledger_lacks(&v->ledgers, place));
	else if (is_reproducible) /* no post of a graph is awaited */
		turn->ledger->heeds_cancelled |= o->adds;
	else if (!has_room(o, v, place))
		keep(turn, AC_REASON_UNREAD);
	else if (o->heeds)
		turn->ledger->heeds_cancelled = 1;
	if (turn->kind == AC_TURN_RECAST && !turn->timing)
		ac_variants_show(v, turn->candidate, turn->own);
}

void
ac_origin_again(struct ac_origin *o, struct ac_variants *v,
    const struct ac_place *place, struct ac_turn *turn)
{
	turn->kind = AC_TURN_RECAST;
	turn->is_looked_at = v->converted && turn->pair; /* whatever it is of */
	choose(o, v, turn, false);
	ac_origin_settle(o, v, place, turn);
}

void
ac_origin_queued(struct ac_origin *o, const struct ac_place *place,
    const struct ac_turn *turn)
{
	struct ac_origin_open *open;
	uint64_t number, least = turn->ledger /* or none, of a capture */
	    ? 1 + atomic_fetch_add(&turn->ledger->queued, 1) : 0;

	o->candidate[turn->candidate].refusals = 0;
	if (place->capture)
		return;
	number = 1 + atomic_fetch_add(&o->queued, 1);
	if (turn->is_new) {
		atomic_store(&o->first, number);
		atomic_store(&o->pair[atomic_fetch_add(&o->pairs, 1)
		    % ORIGIN_PAIRS], turn->pair);
	}
	open = &o->open[number % ORIGIN_WINDOW];
	atomic_store(&open->number, 0);
	atomic_store(&open->ledger, turn->ledger);
	atomic_store(&open->least, least);
	atomic_store(&open->number, number);
}

void
ac_origin_touches(struct ac_origin *o, const void *c, uint64_t bytes,
    enum ac_chain_kind kind)
{
	struct ac_origin *writer = c ? ac_chain_note(o, c, bytes, kind) : NULL;

	if (writer) {
		set(&o->sums);
		set(&o->adds);
		set(&writer->adds);
	} else if (kind == AC_CHAIN_ADDS) {
		set(&o->sums);
		if (!c)
			set(&o->adds);
	}
}

bool
ac_origin_follows(struct ac_origin *o)
{
	struct ac_origin *writer[AC_CHAIN_MOST];
	unsigned count = 0;

	if (o->adds && !o->queued)
		count = ac_chain_writers(o, writer);
	while (count && !writer[count - 1]->queued)
		count--;
	return o->adds && (o->queued || count);
}
