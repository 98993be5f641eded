/* SPDX-License-Identifier: Apache-2.0 */
/* shim/device/ledger.h -- what verified calls have found, per site, candidate
 * and stream: a running record on the device, its copy where the host reads
 * it, and how much of that the host has heard. */
#ifndef AC_SHIM_LEDGER_H
#define AC_SHIM_LEDGER_H

#include "kernels/verified/verified.h"
#include "shim/device/place.h"

#include <stdatomic.h>

struct ac_variants;

/* One candidate of a site on one stream, or in one capture of it: two graphs
 * captured on one stream may run at once. Once nothing is left of a graph, the
 * next one of that stream has its ledger (hold.h). Where a site has 64, the
 * next stream has that of one with nothing on its way, the next capture that
 * of such a graph; those of a context that was reset then leave the list. Never
 * freed, nor moved. */
struct ac_ledger {
	struct ac_ledger *next;
	struct ac_ledger *also;           /* the next of all sites */
	struct ac_variants *of;           /* whose calls */
	_Atomic uint64_t  stream_id;
	_Atomic uint64_t  capture;
	bool              held;           /* hold.h knows the capture, or none
	                                   * of its calls was recorded */
	bool              is_ours;        /* no driver takes `host` away */
	unsigned          candidate;
	unsigned          scratch;        /* ac_scratch_index() */
	uint32_t          epoch;
	struct ac_verified_record *record; /* device memory; and that of the
	                                    * context, of all its ledgers: */
	struct ac_verified_cancelled *cancelled;
	_Atomic uint32_t  heeds_cancelled; /* is of a capture, of a place whose
	                                    * results one adds to, or of parts
	                                    * of sums under reproducible=on */
	struct ac_verified_record *post;  /* its copy, as the device sees it; */
	const struct ac_verified_record *host; /* NULL: there is none */
	_Atomic uint64_t  queued;         /* calls; or those recorded, which
	                                   * each replay posts again */
	/* What was heard so far. */
	_Atomic uint64_t  calls, lines, alls, cancels;
};

/* A site's, newest first; starts NULL. */
typedef _Atomic(struct ac_ledger *) ac_ledgers;

/* The ledger in `list` for calls of `candidate` at `place`, zeroed if it is new
 * and ready for use on its stream. NULL: there is none (no memory; too many
 * streams, all busy). `is_steady`: when posts come must not matter, so that a
 * stream keeps its own. In a capture nothing is allocated. Thread-safe; should
 * a thread be about to use what another takes over, counts may get lost. */
struct ac_ledger *ac_ledger_find(ac_ledgers *list, struct ac_variants *of,
    const struct ac_place *place, unsigned candidate, bool is_steady,
    uint64_t limit_bytes);

/* A call at `place`, a capture, was recorded that posts to `ledger`. Its lane
 * has had the capture held by now, where that can be. */
void ac_ledger_recorded(struct ac_ledger *ledger, const struct ac_place *place);

/* Why there was none outside a capture: AC_REASON_UNREAD if no more are made
 * for that list, else what memory for one ran into: _WORKSPACE, _OUT_OF_MEMORY
 * or _DRIVER. */
enum ac_reason ac_ledger_lacks(ac_ledgers *list, const struct ac_place *place);

/* All that were made, by `also`, the youngest first. */
struct ac_ledger *ac_ledger_first(void);

/* Whether it is of the context at `place`, and has a copy for the host. */
static inline bool
ac_ledger_is_at(const struct ac_ledger *ledger, const struct ac_place *place)
{
	return ledger->host && ledger->scratch == place->index
	    && ledger->epoch == place->epoch;
}

/* Whether what the host sees of it may be looked at: now at `place`, or, with
 * NULL, at any time. */
static inline bool
ac_ledger_is_readable(const struct ac_ledger *ledger,
    const struct ac_place *place)
{
	return ledger->host && (ledger->is_ours
	    || (place && ac_ledger_is_at(ledger, place)));
}

/* How many calls have posted, of a readable one. */
static inline uint64_t
ac_ledger_posted(const struct ac_ledger *ledger)
{
	return __atomic_load_n(&ledger->host->calls, __ATOMIC_ACQUIRE);
}

/* Whether any have since the host last heard of them. */
static inline bool
ac_ledger_has_news(const struct ac_ledger *ledger)
{
	return ac_ledger_posted(ledger) != atomic_load_explicit(&ledger->calls,
	    memory_order_relaxed);
}

/* What they have found, and perhaps what the next ones have. */
static inline void
ac_ledger_read(const struct ac_ledger *ledger,
    struct ac_verified_record *record_out)
{
	const struct ac_verified_record *from = ledger->host;

	record_out->calls = ac_ledger_posted(ledger);
	__atomic_load(&from->lines, &record_out->lines, __ATOMIC_RELAXED);
	__atomic_load(&from->alls, &record_out->alls, __ATOMIC_RELAXED);
	__atomic_load(&from->cancels, &record_out->cancels, __ATOMIC_RELAXED);
	__atomic_load(&from->whole, &record_out->whole, __ATOMIC_RELAXED);
	__atomic_load(&from->line, &record_out->line, __ATOMIC_RELAXED);
	__atomic_load(&from->loss[0], &record_out->loss[0], __ATOMIC_RELAXED);
	__atomic_load(&from->loss[1], &record_out->loss[1], __ATOMIC_RELAXED);
}

#endif
