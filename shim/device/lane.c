/* SPDX-License-Identifier: Apache-2.0 */
/* shim/device/lane.c -- lanes: finding, lending, taking back, ending them. */
#include "shim/device/lane.h"

#include "shim/device/lane_make.h"

#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <time.h>

enum {
	LANES = 64,           /* per context, at most 48 of them of graphs */
	EAGER_LANES = 16,     /* as many streams as run at once */
	BUSY_YIELDS = 10000,  /* a lane is busy only while it is queued to */
	BUSY_NAPS = 20000,    /* which takes long where the machine is busy */
	BUILD_ATTEMPTS = 8
};

/* The lanes of one context, by the index of its scratch. */
struct yard {
	struct ac_lane   lane[LANES];
	/* Handles that could not be made, which takes long to find out: after
	 * a few of them no more are asked for. */
	_Atomic unsigned refusals;
};
static struct yard yards[AC_SCRATCH_CONTEXTS];
static _Atomic uint64_t uses;

/* ---- Choosing a lane --------------------------------------------------- */

static bool
claim(struct ac_lane *lane, enum ac_lane_state from)
{
	return atomic_compare_exchange_strong_explicit(&lane->state, &from,
	    LANE_BUSY, memory_order_acq_rel, memory_order_relaxed);
}

static void
release(struct ac_lane *lane, enum ac_lane_state to)
{
	atomic_store_explicit(&lane->state, to, memory_order_release);
}

#define NO_STREAM UINT64_MAX /* as an id: any may have the lane */

/* What graphs have left serves streams again. */
static void
take_back(struct yard *yard)
{
	struct ac_lane *lane = yard->lane;

	for (unsigned i = 0; i < LANES; i++, lane++) {
		if (lane->state != LANE_FREE || !ac_lane_is_left(lane)
		    || !claim(lane, LANE_FREE))
			continue;
		if (ac_lane_is_left(lane)) {
			lane->capture = 0;
			lane->stream_id = NO_STREAM;
		}
		release(lane, LANE_FREE);
	}
}

static bool
serves(const struct ac_lane *lane, const struct ac_lane_request *request,
    const struct ac_place *place)
{
	return lane->provider == request->provider
	    && lane->epoch == place->epoch
	    && (!lane->capture || lane->capture == place->capture);
}

/* Claim `lane`, which was seen free and fit; it may have changed hands
 * since. */
static bool
claim_serving(struct ac_lane *lane, const struct ac_lane_request *request,
    const struct ac_place *place)
{
	if (!claim(lane, LANE_FREE))
		return false;
	if (serves(lane, request, place))
		return true;
	release(lane, LANE_FREE);
	return false;
}

static bool
is_at(const struct ac_lane *lane, const struct ac_place *place)
{
	return lane->stream_id == place->stream_id
	    && lane->capture == place->capture;
}

static struct ac_lane *
claim_same_stream(const struct ac_lane_request *request,
    const struct ac_place *place)
{
	struct ac_lane *lane = yards[place->index].lane;

	for (unsigned i = 0; i < LANES; i++, lane++) {
		if (lane->state != LANE_FREE || !is_at(lane, place)
		    || !claim_serving(lane, request, place))
			continue;
		if (is_at(lane, place))
			return lane;
		release(lane, LANE_FREE);
	}
	return NULL;
}

/* How many lanes of a provider serve streams, rather than graphs. */
static unsigned
count_eager(const struct yard *yard, uint32_t epoch,
    const struct ac_provider *provider)
{
	unsigned count = 0;

	for (unsigned i = 0; i < LANES; i++)
		count += yard->lane[i].state != LANE_EMPTY
		    && yard->lane[i].provider == provider
		    && yard->lane[i].epoch == epoch && !yard->lane[i].capture;
	return count;
}

/* A place to build in: never used, or what was there went with its context. */
static struct ac_lane *
claim_empty(const struct ac_place *place, const struct ac_provider *provider)
{
	struct ac_lane *lane = yards[place->index].lane;
	const uint32_t epoch = place->epoch;

	if (count_eager(&yards[place->index], epoch, provider)
	    >= EAGER_LANES)
		return NULL;
	for (unsigned i = 0; i < LANES; i++, lane++) {
		const enum ac_lane_state state = lane->state;

		if (state == LANE_BUSY
		    || (state != LANE_EMPTY && lane->epoch == epoch)
		    || !claim(lane, state))
			continue;
		if (state == LANE_EMPTY || lane->epoch != epoch) {
			ac_lane_forget(lane);
			return lane;
		}
		release(lane, state);
	}
	return NULL;
}

/* The lane whose last use is longest ago, whichever stream it was on.
 * *any_busy_out tells whether waiting a moment may help. */
static struct ac_lane *
claim_oldest(const struct ac_lane_request *request,
    const struct ac_place *place, bool *any_busy_out)
{
	struct ac_lane *lane = yards[place->index].lane, *oldest = NULL;

	*any_busy_out = false;
	for (unsigned i = 0; i < LANES; i++, lane++) {
		const enum ac_lane_state state = lane->state;

		if (!serves(lane, request, place))
			continue;
		*any_busy_out |= state == LANE_BUSY || state == LANE_FREE;
		if (state == LANE_FREE
		    && (!oldest || lane->last_use < oldest->last_use))
			oldest = lane;
	}
	return oldest && claim_serving(oldest, request, place) ? oldest : NULL;
}

static enum ac_reason
build(const struct ac_lane_request *request, const struct ac_place *place,
    struct ac_lane **lane_out)
{
	struct yard *yard = &yards[place->index];
	struct ac_lane *lane;
	enum ac_reason reason;

	if (yard->refusals >= BUILD_ATTEMPTS)
		return AC_REASON_REFUSED;
	lane = claim_empty(place, request->provider);
	if (!lane)
		return AC_REASON_WORKSPACE;
	reason = ac_lane_build(lane, request, place);
	if (reason == AC_REASON_NONE)
		*lane_out = lane;
	else if (reason == AC_REASON_REFUSED)
		atomic_fetch_add(&yard->refusals, 1);
	return reason;
}

/* How many lanes graphs have, but for that of capture `but`. */
static unsigned
count_graphs(const struct ac_place *place, uint64_t but)
{
	const struct ac_lane *lane = yards[place->index].lane;
	unsigned count = 0;

	for (unsigned i = 0; i < LANES; i++, lane++)
		count += lane->capture && lane->capture != but
		    && lane->epoch == place->epoch && !ac_lane_is_left(lane);
	return count;
}

/* For a capture: one that ran on this very stream if there is one, since such a
 * one had calls like this. */
static struct ac_lane *
claim_for_capture(const struct ac_lane_request *request,
    const struct ac_place *place, bool same_stream)
{
	struct ac_lane *lane = yards[place->index].lane;

	for (unsigned i = 0; i < LANES; i++, lane++) {
		if (lane->state != LANE_FREE || lane->capture
		    || (lane->stream_id == place->stream_id) != same_stream
		    || !claim_serving(lane, request, place))
			continue;
		if (!lane->capture && ac_lane_suits_capture(lane, request))
			return lane;
		release(lane, LANE_FREE);
	}
	return NULL;
}

/* Graphs have no more lanes than streams can spare. What they have left serves
 * the next one only if none is left: else it would depend on when launches end
 * whether a capture goes the way of the one that it is to update. */
static enum ac_reason
choose_for_capture(const struct ac_lane_request *request,
    const struct ac_place *place, struct ac_lane **lane_out)
{
	bool more;

	*lane_out = claim_same_stream(request, place);
	if (!*lane_out && !count_graphs(place, place->capture))
		take_back(&yards[place->index]);
	more = !*lane_out && count_graphs(place, 0) < LANES - EAGER_LANES;
	for (int same = 1; more && !*lane_out && same >= 0; same--)
		*lane_out = claim_for_capture(request, place, same);
	return *lane_out ? AC_REASON_NONE : AC_REASON_CAPTURE;
}

/* A lane on this stream, else one that a graph has left. */
static struct ac_lane *
claim_for_stream(const struct ac_lane_request *request,
    const struct ac_place *place)
{
	struct ac_lane *lane = claim_same_stream(request, place);
	struct ac_place any = *place;

	if (lane)
		return lane;
	take_back(&yards[place->index]);
	any.stream_id = NO_STREAM;
	return claim_same_stream(request, &any);
}

/* That, else a new one, else the oldest. Whether a call is recast must not
 * depend on timing: others' host work is waited for, never the device. */
static enum ac_reason
choose(const struct ac_lane_request *request, const struct ac_place *place,
    struct ac_lane **lane_out)
{
	const struct timespec nap = { 0, 50000 };
	enum ac_reason reason;
	bool any_busy;

	if (place->capture)
		return choose_for_capture(request, place, lane_out);
	*lane_out = claim_for_stream(request, place);
	if (*lane_out)
		return AC_REASON_NONE;
	reason = build(request, place, lane_out);
	for (unsigned i = 0; reason != AC_REASON_NONE
	    && i < BUSY_YIELDS + BUSY_NAPS; i++) {
		*lane_out = claim_oldest(request, place, &any_busy);
		if (*lane_out)
			return AC_REASON_NONE;
		if (!any_busy)
			break;
		if (i < BUSY_YIELDS)
			sched_yield();
		else
			nanosleep(&nap, NULL);
	}
	return reason;
}

/* ---- Lending ----------------------------------------------------------- */

static void *
at(const struct ac_lane *lane, enum ac_lane_part part, unsigned offset)
{
	return (void *)(uintptr_t)(lane->part[part].address + offset);
}

enum ac_reason
ac_lane_borrow(const struct ac_lane_request *request,
    const struct ac_place *place, struct ac_lane_loan *loan_out)
{
	struct ac_lane *lane;
	enum ac_reason reason = choose(request, place, &lane);

	if (reason != AC_REASON_NONE)
		return reason;
	reason = ac_lane_prepare(lane, request, place);
	if (reason != AC_REASON_NONE && !lane->ordered) {
		/* `done` still marks the last use: not to be recorded again. */
		release(lane, LANE_FREE);
		return reason;
	}
	*loan_out = (struct ac_lane_loan){
		.lane = lane, .stream = place->stream,
		.handle = request->wants_handle ? lane->handle : NULL,
		.buffer = at(lane, LANE_BUFFER, 0),
		.zeros = at(lane, LANE_ZEROS, 0),
		.state = at(lane, LANE_WORDS, 0),
		.record = at(lane, LANE_WORDS, LANE_RECORD_AT)
	};
	if (reason != AC_REASON_NONE)
		ac_lane_return(loan_out, true);
	return reason;
}

/* Without the event nobody could order a later use on another stream after
 * this one: such a lane is never lent again. A graph's lane has only the
 * graph's order. */
void
ac_lane_return(const struct ac_lane_loan *loan, bool clean)
{
	struct ac_lane *lane = loan->lane;
	enum ac_lane_state state = LANE_FREE;

	if (!clean)
		ac_lane_clear(lane, loan->stream);
	if (!lane->capture
	    && lane->driver->cuEventRecord(lane->done, loan->stream))
		state = LANE_RETIRED;
	lane->used = true;
	lane->last_use = 1 + atomic_fetch_add_explicit(&uses, 1,
	    memory_order_relaxed);
	release(lane, state);
}

/* ---- Ending ------------------------------------------------------------ */

static bool
is_of(const struct ac_lane *lane, const struct ac_provider *provider,
    const struct ac_scratch *scratch)
{
	return lane->provider == provider
	    && lane->epoch == ac_scratch_epoch(scratch);
}

void
ac_lane_destroy_all(struct ac_provider *provider, unsigned long long context)
{
	const struct ac_driver *driver = ac_driver_loaded();
	struct ac_cu_current now;
	struct ac_scratch *scratch;
	struct yard *yard;

	if (!driver || !ac_driver_current(driver, &now) || now.id != context)
		return;
	scratch = ac_scratch_find(context);
	if (!scratch)
		return;
	yard = &yards[ac_scratch_index(scratch)];
	take_back(yard);
	for (unsigned i = 0; i < LANES; i++) {
		struct ac_lane *lane = &yard->lane[i];

		if (!is_of(lane, provider, scratch) || !claim(lane, LANE_FREE))
			continue;
		if (is_of(lane, provider, scratch) && !lane->capture)
			ac_lane_dismantle(lane);
		else
			release(lane, LANE_FREE);
	}
	ac_scratch_trim(scratch);
}

void
ac_lane_abandon_all(struct ac_provider *provider)
{
	for (unsigned i = 0; i < AC_SCRATCH_CONTEXTS; i++)
		for (unsigned j = 0; j < LANES; j++) {
			struct ac_lane *lane = &yards[i].lane[j];

			if (lane->provider == provider
			    && claim(lane, LANE_FREE))
				release(lane, LANE_RETIRED);
		}
}
