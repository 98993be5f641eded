/* SPDX-License-Identifier: Apache-2.0 */
/* shim/lane.c -- lanes: making, lending, taking back, ending them. */
#include "shim/lane.h"

#include "shim/lane_make.h"

#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>

enum {
	LANES = 64,
	BUSY_YIELDS = 10000  /* a lane is busy only while it is queued to */
};

static struct ac_lane lanes[LANES];
static _Atomic uint64_t uses;

/* Handles that could not be made, which takes long to find out: after a few
 * of them no more are asked for. */
enum { BUILD_ATTEMPTS = 8 };
static _Atomic unsigned refusals;

/* ---- Where are we? ----------------------------------------------------- */

/* Drivers before CUDA 12 have no ids: addresses serve, and a stream is then
 * always waited for, since its address may be another stream's by now. */
static void
identify(struct ac_place *place, ac_cu_context context)
{
	const struct ac_driver *driver = place->driver;
	unsigned long long id;

	place->context_id = (uint64_t)(uintptr_t)context;
	if (driver->cuCtxGetId && !driver->cuCtxGetId(context, &id))
		place->context_id = id;
	place->stream_id = UINT64_MAX;
	if (driver->cuStreamGetId && !driver->cuStreamGetId(place->stream, &id))
		place->stream_id = id;
}

static enum ac_reason
locate(const struct ac_lane_request *request, struct ac_place *place)
{
	const struct ac_driver *driver = ac_driver_get();
	ac_cu_context current, owner;
	cudaStream_t stream;
	int capturing;

	if (!driver || driver->cuCtxGetCurrent(&current) || !current)
		return AC_REASON_NO_CONTEXT;
	if (PROVIDER(request->provider, cublasGetStream_v2)(request->program,
	    &stream))
		return AC_REASON_REFUSED;
	place->driver = driver;
	place->stream = stream;
	if (driver->cuStreamGetCtx(stream, &owner) || owner != current)
		return AC_REASON_NO_CONTEXT;
	if (driver->cuStreamIsCapturing(stream, &capturing) || capturing)
		return AC_REASON_CAPTURE;
	identify(place, current);
	place->scratch = ac_scratch_get(driver, place->context_id,
	    request->device);
	if (!place->scratch)
		return AC_REASON_OUT_OF_MEMORY;
	place->limit = ac_scratch_limit(place->scratch, request->limit_bytes);
	return ac_kernels_load() == AC_KERNELS_OK ? AC_REASON_NONE
	    : AC_REASON_UNSUPPORTED;
}

/* ---- Choosing a lane --------------------------------------------------- */

static bool
claim(struct ac_lane *lane, enum ac_lane_state from)
{
	return atomic_compare_exchange_strong_explicit(&lane->state, &from,
	    LANE_BUSY, memory_order_acq_rel, memory_order_relaxed);
}

static bool
serves(const struct ac_lane *lane, const struct ac_lane_request *request,
    const struct ac_place *place)
{
	return lane->provider == request->provider
	    && lane->context_id == place->context_id;
}

static struct ac_lane *
claim_same_stream(const struct ac_lane_request *request,
    const struct ac_place *place)
{
	for (unsigned i = 0; i < LANES; i++)
		if (lanes[i].state == LANE_FREE && serves(&lanes[i], request, place)
		    && lanes[i].stream_id == place->stream_id
		    && claim(&lanes[i], LANE_FREE)) {
			if (serves(&lanes[i], request, place)
			    && lanes[i].stream_id == place->stream_id)
				return &lanes[i];
			atomic_store_explicit(&lanes[i].state, LANE_FREE,
			    memory_order_release);
		}
	return NULL;
}

/* The lane whose last use is longest ago, whichever stream it was on.
 * *any_busy_out tells whether waiting a moment may help. */
static struct ac_lane *
claim_oldest(const struct ac_lane_request *request, const struct ac_place *place,
    bool *any_busy_out)
{
	struct ac_lane *oldest = NULL;

	*any_busy_out = false;
	for (unsigned i = 0; i < LANES; i++) {
		const enum ac_lane_state state = lanes[i].state;

		if (!serves(&lanes[i], request, place))
			continue;
		*any_busy_out |= state == LANE_BUSY || state == LANE_FREE;
		if (state == LANE_FREE && (!oldest
		    || lanes[i].last_use < oldest->last_use))
			oldest = &lanes[i];
	}
	if (!oldest || !claim(oldest, LANE_FREE))
		return NULL;
	if (serves(oldest, request, place))
		return oldest;
	atomic_store_explicit(&oldest->state, LANE_FREE, memory_order_release);
	return NULL;
}

/* Lane on this stream, else a new one, else the oldest. When all are being
 * queued to by other threads, their host work is waited for (never the
 * device): whether a call is recast must not depend on timing. */
static enum ac_reason
choose(const struct ac_lane_request *request, const struct ac_place *place,
    struct ac_lane **lane_out)
{
	enum ac_reason reason = AC_REASON_WORKSPACE;
	bool any_busy;

	*lane_out = claim_same_stream(request, place);
	if (*lane_out)
		return AC_REASON_NONE;
	for (unsigned i = 0; i < LANES && refusals < BUILD_ATTEMPTS; i++)
		if (lanes[i].state == LANE_EMPTY && claim(&lanes[i], LANE_EMPTY)) {
			reason = ac_lane_build(&lanes[i], request, place);
			*lane_out = &lanes[i];
			break;
		}
	if (reason == AC_REASON_NONE)
		return reason;
	if (reason == AC_REASON_REFUSED)
		atomic_fetch_add(&refusals, 1);
	for (unsigned i = 0; i < BUSY_YIELDS; i++) {
		*lane_out = claim_oldest(request, place, &any_busy);
		if (*lane_out)
			return AC_REASON_NONE;
		if (!any_busy)
			break;
		sched_yield();
	}
	return reason;
}

/* ---- Lending ----------------------------------------------------------- */

enum ac_reason
ac_lane_borrow(const struct ac_lane_request *request,
    struct ac_lane_loan *loan_out)
{
	struct ac_place place;
	struct ac_lane *lane;
	enum ac_reason reason = locate(request, &place);

	if (reason == AC_REASON_NONE)
		reason = choose(request, &place, &lane);
	if (reason != AC_REASON_NONE)
		return reason;
	reason = ac_lane_prepare(lane, request, &place);
	*loan_out = (struct ac_lane_loan){
		.lane = lane, .handle = lane->handle, .stream = place.stream,
		.buffer = (char *)(uintptr_t)lane->buffer,
		.state = (struct ac_cast_state *)(uintptr_t)lane->state_words,
	};
	if (reason != AC_REASON_NONE)
		ac_lane_return(loan_out, false);
	return reason;
}

/* Without the event nobody could order a later use on another stream after
 * this one: such a lane is never lent again. */
void
ac_lane_return(const struct ac_lane_loan *loan, bool clean)
{
	struct ac_lane *lane = loan->lane;
	enum ac_lane_state state = LANE_FREE;

	if (lane->driver->cuEventRecord(lane->done, loan->stream))
		state = LANE_RETIRED;
	lane->used = true;
	lane->dirty |= !clean;
	lane->last_use = atomic_fetch_add_explicit(&uses, 1,
	    memory_order_relaxed) + 1;
	atomic_store_explicit(&lane->state, state, memory_order_release);
}

void
ac_lane_destroy_all(struct ac_provider *provider, int device)
{
	const struct ac_driver *driver = ac_driver_loaded();
	struct ac_place place = { .driver = driver };
	ac_cu_context current;

	if (!driver || driver->cuCtxGetCurrent(&current) || !current)
		return;
	identify(&place, current);
	for (unsigned i = 0; i < LANES; i++) {
		struct ac_lane *lane = &lanes[i];

		if (!claim(lane, LANE_FREE))
			continue;
		if (lane->provider == provider && lane->device == device
		    && lane->context_id == place.context_id)
			ac_lane_dismantle(lane);
		else
			atomic_store_explicit(&lane->state, LANE_FREE,
			    memory_order_release);
	}
}
