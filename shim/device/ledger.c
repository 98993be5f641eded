/* SPDX-License-Identifier: Apache-2.0 */
/* shim/device/ledger.c -- records are cut from zeroed slabs of device memory,
 * one slab at a time per context; their copies from mailboxes. */
#include "shim/device/ledger.h"

#include "base/lock.h"
#include "base/mapped.h"
#include "shim/device/hold.h"
#include "shim/device/mailbox.h"

enum {
	SLAB_BYTES = 16 << 10,
	RECORD_BYTES = 64,
	MOST = 64           /* of one site */
};
_Static_assert(sizeof(struct ac_verified_record) <= RECORD_BYTES,
    "a record has a cache line");

/* The slab that records are cut from; under its lock. The first one of an epoch
 * has the context's sums that have cancelled behind it. */
struct slab {
	struct ac_lock lock;
	uint32_t       epoch;
	ac_cu_address  address;     /* 0: none yet */
	ac_cu_address  cancelled;
	uint64_t       used;
	_Atomic(enum ac_reason) lacks; /* why there was no new one last time */
};
static struct slab slabs[AC_SCRATCH_CONTEXTS];

/* Room for one more, of the slab as it is now; 0 without. */
static ac_cu_address
cut(struct slab *slab, uint32_t epoch)
{
	ac_cu_address address = 0;

	ac_lock_take(&slab->lock);
	if (slab->address && slab->epoch == epoch
	    && slab->used < SLAB_BYTES) {
		address = slab->address + slab->used;
		slab->used += RECORD_BYTES;
	}
	ac_lock_give(&slab->lock);
	return address;
}

/* Two threads may each make one: the rest of the first is then lost. */
static void
refill(const struct ac_place *place, uint64_t limit)
{
	struct slab *slab = &slabs[place->index];
	const bool is_first = !slab->address || slab->epoch != place->epoch;
	ac_cu_address address;

	slab->lacks = ac_scratch_take(place->scratch, limit, SLAB_BYTES
	    + (is_first ? sizeof(struct ac_verified_cancelled) : 0), true,
	    place->stream, &address);
	if (slab->lacks != AC_REASON_NONE)
		return;
	ac_lock_take(&slab->lock);
	if (!slab->address || slab->epoch != place->epoch)
		slab->cancelled = address + SLAB_BYTES;
	slab->epoch = place->epoch;
	slab->address = address;
	slab->used = 0;
	ac_lock_give(&slab->lock);
}

static struct ac_verified_record *
take(const struct ac_place *place, uint64_t limit)
{
	struct slab *slab = &slabs[place->index];
	ac_cu_address address = cut(slab, place->epoch);

	if (!address && !place->capture) {
		refill(place, limit);
		address = cut(slab, place->epoch);
	}
	return address && ac_scratch_order(place->scratch, place->stream,
	    place->capture != 0)
	    ? (struct ac_verified_record *)(uintptr_t)address : NULL;
}

static bool
is_for(const struct ac_ledger *ledger, const struct ac_place *place,
    unsigned candidate)
{
	return ledger->stream_id == place->stream_id
	    && ledger->candidate == candidate
	    && ledger->capture == place->capture
	    && ledger->scratch == place->index
	    && ledger->epoch == place->epoch;
}

/* One that a graph has left, or that none ever had, for the capture at `place`;
 * `any`: of whichever stream. */
static struct ac_ledger *
inherit(struct ac_ledger *ledger, const struct ac_place *place,
    unsigned candidate, bool any)
{
	struct ac_place then = *place;

	for (; ledger; ledger = ledger->next) {
		then.capture = ledger->capture;
		if (any)
			then.stream_id = ledger->stream_id;
		if (!ledger->held || !is_for(ledger, &then, candidate)
		    || ac_hold_is_live(then.capture)
		    || !atomic_compare_exchange_strong(&ledger->capture,
		    &then.capture, place->capture))
			continue;
		ledger->stream_id = place->stream_id;
		return ledger;
	}
	return NULL;
}

/* The oldest one of another stream of which all has been heard. */
static struct ac_ledger *
take_over(struct ac_ledger *ledger, const struct ac_place *place,
    unsigned candidate)
{
	struct ac_ledger *found = NULL;
	uint64_t stream;

	for (; ledger; ledger = ledger->next)
		if (!ledger->capture && ledger->candidate == candidate
		    && ac_ledger_is_at(ledger, place)
		    && ac_ledger_posted(ledger) == ledger->queued)
			found = ledger;
	if (!found)
		return NULL;
	stream = found->stream_id;
	return atomic_compare_exchange_strong(&found->stream_id, &stream,
	    place->stream_id) ? found : NULL;
}

/* In this order: what is mapped is never given back. */
static struct ac_ledger *
make(struct ac_variants *of, const struct ac_place *place, unsigned candidate,
    uint64_t limit)
{
	struct ac_verified_record *record = take(place, limit);
	struct ac_ledger *made = record ? ac_mapped_take(sizeof *made) : NULL;
	ac_cu_address device;
	void *host;

	if (!made)
		return NULL;
	made->stream_id = place->stream_id;
	made->capture = place->capture;
	made->held = place->capture != 0;
	made->of = of;
	made->candidate = candidate;
	made->scratch = place->index;
	made->epoch = place->epoch;
	made->record = record;
	made->cancelled = (struct ac_verified_cancelled *)
	    (uintptr_t)slabs[place->index].cancelled;
	made->heeds_cancelled = place->capture != 0;
	made->is_ours = ac_mailbox_take(place, sizeof *record, true, &host,
	    &device);
	if (made->is_ours || ac_mailbox_take(place, sizeof *record, false,
	    &host, &device)) {
		made->host = host;
		made->post = (struct ac_verified_record *)(uintptr_t)device;
	}
	return made;
}

static _Atomic(struct ac_ledger *) all;

struct ac_ledger *
ac_ledger_first(void)
{
	return atomic_load_explicit(&all, memory_order_acquire);
}

static void
publish(ac_ledgers *list, struct ac_ledger *ledger)
{
	/* Two threads on one stream may both add it: the newest counts. */
	AC_MAPPED_PUSH(list, ledger, next);
	AC_MAPPED_PUSH(&all, ledger, also);
}

static unsigned
count_all(const struct ac_ledger *ledger)
{
	unsigned count = 0;

	for (; ledger; ledger = ledger->next)
		count++;
	return count;
}

/* Those but for the first that were of the context before it was reset, or of
 * one in whose stead it came, leave the list. Who stands at one goes on from
 * there; of two threads one may put back what the other took out. */
static void
drop_past(struct ac_ledger *ledger, const struct ac_place *place)
{
	struct ac_ledger *next;

	while (ledger && (next = ledger->next)) {
		if (next->scratch == place->index
		    && next->epoch != place->epoch)
			__atomic_store_n(&ledger->next, next->next,
			    __ATOMIC_RELEASE);
		else
			ledger = next;
	}
}

enum ac_reason
ac_ledger_lacks(ac_ledgers *list, const struct ac_place *place)
{
	const enum ac_reason why = slabs[place->index].lacks;

	return count_all(atomic_load(list)) >= MOST ? AC_REASON_UNREAD
	    : why != AC_REASON_NONE ? why : AC_REASON_DRIVER;
}

/* Of a call that has none yet. Apart, so that the others save no registers for
 * it. */
__attribute__((cold, noinline))
static struct ac_ledger *
get(ac_ledgers *list, struct ac_variants *of, const struct ac_place *place,
    unsigned candidate, bool is_steady, uint64_t limit)
{
	struct ac_ledger *first = atomic_load_explicit(list,
	    memory_order_acquire);
	struct ac_ledger *ledger = place->capture
	    ? inherit(first, place, candidate, false) : NULL;

	if (ledger)
		return ledger;
	if (count_all(first) >= MOST)
		drop_past(first, place);
	if (count_all(first) >= MOST)
		return is_steady ? NULL : place->capture
		    ? inherit(first, place, candidate, true)
		    : take_over(first, place, candidate);
	ledger = make(of, place, candidate, limit);
	if (ledger)
		publish(list, ledger);
	return ledger;
}

struct ac_ledger *
ac_ledger_find(ac_ledgers *list, struct ac_variants *of,
    const struct ac_place *place, unsigned candidate, bool is_steady,
    uint64_t limit)
{
	struct ac_ledger *ledger = atomic_load_explicit(list,
	    memory_order_acquire);

	for (; ledger; ledger = ledger->next)
		if (is_for(ledger, place, candidate))
			return ledger;
	return get(list, of, place, candidate, is_steady, limit);
}

void
ac_ledger_recorded(struct ac_ledger *ledger, const struct ac_place *place)
{
	ledger->held = ac_hold_is_live(place->capture);
}
