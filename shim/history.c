/* SPDX-License-Identifier: Apache-2.0 */
/* shim/history.c -- histories are cut from zeroed slabs of device memory, one
 * slab at a time per context. */
#include "shim/history.h"

#include "base/lock.h"
#include "base/mapped.h"

enum {
	SLAB_BYTES = 64 << 10,
	MOST = 64           /* of one site; beyond them, nothing is remembered */
};

/* The slab that histories are cut from; under its lock. */
struct slab {
	struct ac_lock lock;
	uint32_t       epoch;
	ac_cu_address  address;     /* 0: none yet */
	uint64_t       used;
	ac_cu_event    zeroed;
};
static struct slab slabs[AC_SCRATCH_CONTEXTS];

static struct slab *
slab_of(const struct ac_place *place)
{
	return &slabs[ac_scratch_index(place->scratch)];
}

/* Room for one more, of the slab as it is now; 0 without. */
static ac_cu_address
cut(struct slab *slab, uint32_t epoch, ac_cu_event *zeroed_out)
{
	ac_cu_address address = 0;

	ac_lock_take(&slab->lock);
	if (slab->address && slab->epoch == epoch
	    && slab->used < SLAB_BYTES) {
		address = slab->address + slab->used;
		slab->used += sizeof(struct ac_recast_history);
		*zeroed_out = slab->zeroed;
	}
	ac_lock_give(&slab->lock);
	return address;
}

static bool
make_zeroed(const struct ac_place *place, uint64_t limit,
    ac_cu_address *address_out, ac_cu_event *zeroed_out)
{
	const struct ac_driver *driver = place->driver;
	ac_cu_address address;
	ac_cu_event zeroed;

	if (driver->cuEventCreate(&zeroed, AC_CU_EVENT_DISABLE_TIMING))
		return false;
	if (ac_scratch_take(place->scratch, limit, SLAB_BYTES, place->stream,
	    &address) != AC_REASON_NONE) {
		driver->cuEventDestroy(zeroed);
		return false;
	}
	if (driver->cuMemsetD32Async(address, 0, SLAB_BYTES / 4, place->stream)
	    || driver->cuEventRecord(zeroed, place->stream)) {
		ac_scratch_give(place->scratch, address, SLAB_BYTES, NULL);
		driver->cuEventDestroy(zeroed);
		return false;
	}
	*address_out = address;
	*zeroed_out = zeroed;
	return true;
}

/* Two threads may each make one: the rest of the first is then lost. */
static void
refill(const struct ac_place *place, uint64_t limit)
{
	struct slab *slab = slab_of(place);
	ac_cu_address address;
	ac_cu_event zeroed;

	if (!make_zeroed(place, limit, &address, &zeroed))
		return;
	ac_lock_take(&slab->lock);
	slab->epoch = ac_scratch_epoch(place->scratch);
	slab->address = address;
	slab->used = 0;
	slab->zeroed = zeroed;
	ac_lock_give(&slab->lock);
}

/* A graph cannot wait for what was queued before its capture. */
static bool
order(const struct ac_place *place, ac_cu_event zeroed)
{
	const struct ac_driver *driver = place->driver;
	int mode;
	bool done;

	if (!place->capture)
		return !driver->cuStreamWaitEvent(place->stream, zeroed, 0);
	mode = ac_scratch_relax(driver);
	done = !driver->cuEventQuery(zeroed);
	ac_scratch_restore(driver, mode);
	return done;
}

static ac_cu_address
take(const struct ac_place *place, uint64_t limit)
{
	const uint32_t epoch = ac_scratch_epoch(place->scratch);
	struct slab *slab = slab_of(place);
	ac_cu_event zeroed;
	ac_cu_address address = cut(slab, epoch, &zeroed);

	if (!address && !place->capture) {
		refill(place, limit);
		address = cut(slab, epoch, &zeroed);
	}
	return address && order(place, zeroed) ? address : 0;
}

static bool
is_for(const struct ac_history *history, const struct ac_place *place,
    unsigned candidate)
{
	return history->stream_id == place->stream_id
	    && history->candidate == candidate
	    && history->capture == place->capture
	    && history->scratch == ac_scratch_index(place->scratch)
	    && history->epoch == ac_scratch_epoch(place->scratch);
}

struct ac_recast_history *
ac_history_find(ac_histories *list, const struct ac_place *place,
    unsigned candidate, uint64_t limit)
{
	struct ac_history *first = atomic_load_explicit(list,
	    memory_order_acquire), *history;
	unsigned count = 0;

	for (history = first; history; history = history->next, count++)
		if (is_for(history, place, candidate))
			return (struct ac_recast_history *)(uintptr_t)
			    history->address;
	if (count >= MOST)
		return NULL;
	history = ac_mapped_take(sizeof *history);
	if (!history)
		return NULL;
	*history = (struct ac_history){
		.stream_id = place->stream_id, .capture = place->capture,
		.candidate = candidate,
		.scratch = ac_scratch_index(place->scratch),
		.epoch = ac_scratch_epoch(place->scratch),
		.address = take(place, limit), .next = first,
	};
	if (!history->address)
		return NULL;
	/* Two threads on one stream may both add it: the newest counts. */
	while (!atomic_compare_exchange_weak_explicit(list, &history->next,
	    history, memory_order_release, memory_order_acquire))
		;
	return (struct ac_recast_history *)(uintptr_t)history->address;
}
