/* SPDX-License-Identifier: Apache-2.0 */
/* shim/device/history.c -- histories are cut from zeroed slabs of device
 * memory, one slab at a time per context. */
#include "shim/device/history.h"

#include "base/lock.h"
#include "base/mapped.h"
#include "shim/device/hold.h"

enum {
	SLAB_BYTES = 16 << 10,
	MOST = 64           /* of one site; more are not remembered */
};

/* The slab that histories are cut from; under its lock. */
struct slab {
	struct ac_lock lock;
	uint32_t       epoch;
	ac_cu_address  address;     /* 0: none yet */
	uint64_t       used;
};
static struct slab slabs[AC_SCRATCH_CONTEXTS];

static struct slab *
slab_of(const struct ac_place *place)
{
	return &slabs[place->index];
}

/* Room for one more, of the slab as it is now; 0 without. */
static ac_cu_address
cut(struct slab *slab, uint32_t epoch)
{
	ac_cu_address address = 0;

	ac_lock_take(&slab->lock);
	if (slab->address && slab->epoch == epoch
	    && slab->used < SLAB_BYTES) {
		address = slab->address + slab->used;
		slab->used += sizeof(struct ac_recast_history);
	}
	ac_lock_give(&slab->lock);
	return address;
}

/* Two threads may each make one: the rest of the first is then lost. */
static void
refill(const struct ac_place *place, uint64_t limit)
{
	struct slab *slab = slab_of(place);
	ac_cu_address address;

	if (ac_scratch_take(place->scratch, limit, SLAB_BYTES, true,
	    place->stream, &address) != AC_REASON_NONE)
		return;
	ac_lock_take(&slab->lock);
	slab->epoch = place->epoch;
	slab->address = address;
	slab->used = 0;
	ac_lock_give(&slab->lock);
}

static ac_cu_address
take(const struct ac_place *place, uint64_t limit)
{
	const uint32_t epoch = place->epoch;
	struct slab *slab = slab_of(place);
	ac_cu_address address = cut(slab, epoch);

	if (!address && !place->capture) {
		refill(place, limit);
		address = cut(slab, epoch);
	}
	return address && ac_scratch_order(place->scratch, place->stream,
	    place->capture != 0) ? address : 0;
}

static bool
is_for(const struct ac_history *history, const struct ac_place *place,
    unsigned candidate)
{
	return history->stream_id == place->stream_id
	    && history->candidate == candidate
	    && history->capture == place->capture
	    && history->scratch == place->index
	    && history->epoch == place->epoch;
}

/* One that a graph has left, for the capture at `place`, which is held. */
static const struct ac_history *
inherit(struct ac_history *history, const struct ac_place *place,
    unsigned candidate)
{
	struct ac_place then = *place;

	for (; history; history = history->next) {
		then.capture = history->capture;
		if (history->held && is_for(history, &then, candidate)
		    && !ac_hold_is_live(then.capture)
		    && atomic_compare_exchange_strong(&history->capture,
		    &then.capture, place->capture))
			return history;
	}
	return NULL;
}

struct ac_recast_history *
ac_history_find(ac_histories *list, const struct ac_place *place,
    unsigned candidate, uint64_t limit)
{
	struct ac_history *first = atomic_load_explicit(list,
	    memory_order_acquire), *history;
	const bool held = place->capture && ac_hold_is_live(place->capture);
	const struct ac_history *left;
	ac_cu_address address;
	unsigned count = 0;

	for (history = first; history; history = history->next, count++)
		if (is_for(history, place, candidate))
			return (struct ac_recast_history *)(uintptr_t)
			    history->address;
	left = held ? inherit(first, place, candidate) : NULL;
	if (left)
		return (struct ac_recast_history *)(uintptr_t)left->address;
	if (count >= MOST)
		return NULL;
	/* In this order: what is mapped is never given back. */
	address = take(place, limit);
	history = address ? ac_mapped_take(sizeof *history) : NULL;
	if (!history)
		return NULL;
	*history = (struct ac_history){
		.stream_id = place->stream_id, .capture = place->capture,
		.held = held,
		.candidate = candidate,
		.scratch = place->index,
		.epoch = place->epoch,
		.address = address, .next = first,
	};
	/* Two threads on one stream may both add it: the newest counts. */
	while (!atomic_compare_exchange_weak_explicit(list, &history->next,
	    history, memory_order_release, memory_order_acquire))
		;
	return (struct ac_recast_history *)(uintptr_t)history->address;
}

static struct ac_history *
known(ac_histories *list, const struct ac_place *place, unsigned candidate)
{
	struct ac_history *history = atomic_load_explicit(list,
	    memory_order_acquire);

	while (history && !is_for(history, place, candidate))
		history = history->next;
	return history;
}

bool
ac_history_is_silent(ac_histories *list, const struct ac_place *place,
    unsigned candidate, uint64_t number, uint64_t most)
{
	const struct ac_history *history = known(list, place, candidate);

	return history && number >= atomic_load_explicit(&history->posted,
	    memory_order_relaxed) + most;
}

void
ac_history_posts(ac_histories *list, const struct ac_place *place,
    unsigned candidate, uint64_t number)
{
	struct ac_history *history = known(list, place, candidate);

	if (history)
		atomic_store_explicit(&history->posted, number,
		    memory_order_relaxed);
}
