/* SPDX-License-Identifier: Apache-2.0 */
/* shim/trial/trial.h -- what a site's calls do, from the first on: probation,
 * samples, demotion, retry, timing. Host side only: it queues nothing but
 * events.
 *
 *   probation           the original runs, timed from the second call on;
 *                       candidates run next to it into scratch and are sampled,
 *                       until each has three clean samples of different calls
 *                       with something in them, or none. It begins at the first
 *                       call, or under profit=on once it has paid
 *                       (shim/trial/size_class.h)
 *   16 to 79 calls      each accurate candidate is timed four times, at fixed
 *   after that          calls; then the fastest stays
 *   4, 8, 16, 32, then  calls are sampled, the gaps drawn by a hash: no rhythm
 *   about each 64th     of the program falls into step with them. The verdict,
 *                       on all calls of a cast since the last one, applies 56
 *                       calls later
 *   1000 after a        the candidate runs next to that pair's calls again, 128
 *   demotion            in a row (a rung that fell with it: 128, 16 or 3, as
 *                       rounding, one line or only range was to blame); if
 *                       it is found wanting again, the wait is four times as
 *                       long
 *
 * A verdict is about the operand pair (shim/trial/pair.h) that it was made on,
 * and about the site where many pairs have it. Under guard=strict every call is
 * a trial of its own. Under guard=off there is no trial at all. Everything
 * happens at call numbers fixed in advance, so that the bits do not depend on
 * timing; under reproducible=on nothing depends on a clock either, and the
 * calls of each stream are numbered apart. */
#ifndef AC_SHIM_TRIAL_H
#define AC_SHIM_TRIAL_H

#include "kernels/recast/recast.h"
#include "policy/guard.h"
#include "policy/policy.h"
#include "report/report.h"
#include "shim/device/history.h"
#include "shim/device/place.h"
#include "shim/trial/timing.h"

struct ac_trial;

enum ac_turn_kind {
	AC_TURN_KEEP,      /* make the original call; count it as `reason` */
	AC_TURN_RECAST,    /* run `candidate` */
	AC_TURN_TRY,       /* the original, and `tries` beside it */
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
	unsigned          pair;         /* of the site's operand pairs, */
	unsigned          pair_bit;     /* and its bit in a post's `bad` */
	uint64_t          number;       /* of this call, from 1, at its place */
	uint64_t          nth;          /* among those of like sizes there */
	uint64_t          own;          /* among those of its site */
	bool              is_unsteady;  /* the caller's to set: keep or try
	                                 * this call, but in a capture */
	unsigned          tries;        /* TRY: bits of candidates */
	bool              sampled;
	bool              was_queued;   /* the sample: ac_trial_sampled() */
	bool              posts_only;   /* what every call is judged by */
	bool              posts_if_bad; /* in a graph: `slot` is for that */
	struct ac_slot    slot;         /* for the sample */
	uint8_t           entry[AC_CANDIDATES]; /* samples opened: by candidate
	                                 * in a TRY, else the first */
	struct ac_timing *timing;       /* NULL: not timed */
};

struct ac_size_class;

/* Whether a site with that decision is to have a trial. */
bool ac_trial_is_wanted(const struct ac_decision *decision);

/* The trial of such a site; NULL without memory. Verdicts are shared by all
 * sites of `size_class` (NULL: of this one only). */
struct ac_trial *ac_trial_make(const struct ac_decision *decision,
    const struct ac_site_key *key, const char *name,
    struct ac_site_record *record, struct ac_size_class *size_class,
    bool may_time);

/* The trial that calls at `place` take turns of: `trial`, or under
 * reproducible=on one of this stream's own. */
struct ac_trial *ac_trial_of(struct ac_trial *trial,
    const struct ac_place *place);

/* The operands of the next call, by ac_pair_key(): sets turn_out->pair
 * and pair_bit. First of all. */
void ac_trial_meet(struct ac_trial *trial, uint64_t operands,
    struct ac_turn *turn_out);

/* Whether that call's turn depends on where it runs; with `to_run`, or a
 * candidate could not run without that being known. */
bool ac_trial_wants_place(const struct ac_trial *trial,
    const struct ac_turn *turn, bool to_run);

/* Where it does not: whether it does if the call is captured, since the data
 * have not varied so far. */
bool ac_trial_minds_captures(const struct ac_trial *trial);

/* Take a turn at `place` (NULL: not looked for). Numbers the call. */
void ac_trial_turn(struct ac_trial *trial, const struct ac_place *place,
    struct ac_turn *turn);

/* The next call of `trial` writes C (NULL: nobody knows which, of arrays of
 * matrices); it adds to what is there (beta is not 0, or not known), or not.
 * Under guard=strict sums of several products are kept: what the first one
 * lost, nobody could bring back. */
void ac_trial_writes(struct ac_trial *trial, const void *c, bool adds);

/* The same of a call that adds to `c` and writes elsewhere. */
void ac_trial_reads(struct ac_trial *trial, const void *c);

/* How often a candidate was let prove itself again: what it did before says
 * nothing then (struct ac_recast.epoch). */
uint32_t ac_trial_epoch(const struct ac_trial *trial);

/* What they remember on the device, of all their sizes. */
ac_histories *ac_trial_histories(struct ac_trial *trial);

const struct ac_candidate *ac_trial_candidate(const struct ac_trial *trial,
    unsigned number);
unsigned ac_trial_count(const struct ac_trial *trial);

/* The record that a call which ran as `candidate` counts in. */
struct ac_site_record *ac_trial_record(struct ac_trial *trial,
    unsigned candidate);

/* During a turn TRY: where candidate `number`, one of `tries`, posts to. */
struct ac_slot ac_trial_slot(const struct ac_trial *trial,
    const struct ac_turn *turn, unsigned number);

/* End a turn TRY, in the thread that took it; until then no other one judges or
 * begins a try. The candidates whose bits are in `queued` will post, those in
 * `refused` the provider refused. */
void ac_trial_tried(struct ac_trial *trial, const struct ac_turn *turn,
    unsigned queued, unsigned refused);

/* During a turn STRICT: judge what was posted. False: leave the call alone; the
 * candidate is demoted, unless it was only an infinity or a NaN. */
bool ac_trial_judge_now(struct ac_trial *trial, const struct ac_turn *turn);

/* During a turn RECAST in a capture, which has nothing to run its candidate
 * with: another one is set in `turn`, or it is to be kept (false). Captures
 * that follow go the same way. */
bool ac_trial_lacks_room(struct ac_trial *trial, struct ac_turn *turn);

/* After a turn RECAST with a sample: it was queued. */
void ac_trial_sampled(struct ac_trial *trial, struct ac_turn *turn);
/* After any turn, whatever came of it: what it held is free again. */
void ac_trial_turn_over(struct ac_trial *trial, const struct ac_turn *turn);

#endif
