/* SPDX-License-Identifier: Apache-2.0 */
/* shim/trial.h -- what a site's calls do, from the first on: probation, samples,
 * demotion, retry, timing (recasting.md R4, R5). Host side only: it queues
 * nothing and waits once.
 *
 *   call `first`        the original runs; every candidate runs beside it into
 *                       scratch and is sampled
 *   the next call       waits for those samples; the accurate candidates stay
 *   the next 4 x 16     each of them and the original are timed in turn, at
 *                       fixed calls; then the fastest stays
 *   every period-th     sampled; the verdict applies 64 calls later
 *   1000 after a        the candidates are tried again as at `first`, the
 *   demotion            verdict again 64 calls later
 *
 * Under guard=strict every call is a trial of its own. Under guard=off there is
 * no trial at all. Everything happens at call numbers fixed in advance, so that
 * the bits do not depend on timing; under reproducible=on nothing depends on a
 * clock either, and the calls of each stream are numbered apart. */
#ifndef AC_SHIM_TRIAL_H
#define AC_SHIM_TRIAL_H

#include "kernels/recast.h"
#include "policy/guard.h"
#include "policy/policy.h"
#include "report/report.h"
#include "shim/place.h"
#include "shim/timing.h"

struct ac_trial;

enum ac_turn_kind {
	AC_TURN_KEEP,      /* make the original call; count it as `reason` */
	AC_TURN_RECAST,    /* run `candidate` */
	AC_TURN_TRY,       /* the original, and all candidates beside it */
	AC_TURN_STRICT     /* run `candidate` into scratch and judge it */
};

/* Where a kernel posts, and where the host reads that. */
struct ac_slot {
	const struct ac_recast_post *host;
	ac_cu_address                device;  /* 0: there is none */
};

/* What one call is to do. */
struct ac_turn {
	enum ac_turn_kind kind;
	enum ac_reason    reason;
	unsigned          candidate;    /* its number */
	uint64_t          number;       /* of this call, from 1 */
	bool              sampled;
	struct ac_slot    slot;         /* for the sample */
	struct ac_timing *timing;       /* NULL: not timed */
};

/* The trial of a site whose decision is not to keep; NULL under guard=off
 * without `after`, and without memory. */
struct ac_trial *ac_trial_make(const struct ac_decision *decision,
    const struct ac_site_key *key, const char *name,
    struct ac_site_record *record, bool may_time);

/* The trial that calls at `place` take turns of: `trial`, or under
 * reproducible=on one of this stream's own. */
struct ac_trial *ac_trial_of(struct ac_trial *trial,
    const struct ac_place *place);

/* Whether the next call's turn depends on where it runs; with `to_run`, or a
 * candidate could not run without that being known. */
bool ac_trial_wants_place(const struct ac_trial *trial, bool to_run);

/* Take a turn at `place` (NULL: not looked for). Numbers the call. */
void ac_trial_turn(struct ac_trial *trial, const struct ac_place *place,
    struct ac_turn *turn_out);

const struct ac_candidate *ac_trial_candidate(const struct ac_trial *trial,
    unsigned number);
unsigned ac_trial_count(const struct ac_trial *trial);

/* The record that a call which ran as `candidate` counts in. */
struct ac_site_record *ac_trial_record(struct ac_trial *trial,
    unsigned candidate);

/* During a turn TRY: where candidate `number` posts to. */
struct ac_slot ac_trial_slot(const struct ac_trial *trial, unsigned number);

/* End a turn TRY, in the thread that took it; until then no other one judges or
 * begins a try. The candidates whose bits are in `queued` post behind what
 * `place`'s stream has to do so far, those in `refused` the provider refused. */
void ac_trial_tried(struct ac_trial *trial, const struct ac_place *place,
    const struct ac_turn *turn, unsigned queued, unsigned refused);

/* During a turn STRICT: judge what was posted. False: leave the call alone; the
 * candidate is demoted, unless it was only an infinity or a NaN. */
bool ac_trial_judge_now(struct ac_trial *trial, const struct ac_turn *turn);

/* After a turn RECAST with a sample: it was queued. */
void ac_trial_sampled(struct ac_trial *trial, const struct ac_turn *turn);
/* After any turn, whatever came of it: what it held is free again. */
void ac_trial_turn_over(struct ac_trial *trial, const struct ac_turn *turn);

#endif
