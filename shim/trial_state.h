/* SPDX-License-Identifier: Apache-2.0 */
/* shim/trial_state.h -- what a trial is made of: shared by trial.c, which
 * hands out turns, and trial_judge.c, which draws the conclusions. */
#ifndef AC_SHIM_TRIAL_STATE_H
#define AC_SHIM_TRIAL_STATE_H

#include "shim/page.h"
#include "shim/trial.h"

#include <stdatomic.h>

enum {
	TRIAL_LAG = 64,            /* calls from a sample to its verdict */
	TRIAL_RETRY = 1000,        /* calls from a demotion to the next try */
	TRIAL_ROUNDS = 4,          /* timings of each variant */
	TRIAL_ROUND = 16,          /* calls from one to the next */
	TRIAL_TIMED = (TRIAL_ROUNDS + 1) * TRIAL_ROUND,
	TRIAL_RING = TRIAL_LAG + 1,
	TRIAL_HOMES = 4,           /* contexts that a site may alternate between */
	TRIAL_KEEP = AC_CANDIDATES /* as a candidate: the original call */
};

enum ac_trial_state { TRIAL_FIRST, TRIAL_BUSY, TRIAL_POSTED, TRIAL_SETTLED };

struct ac_trial_sample {
	_Atomic uint64_t number;   /* of the call; 0: nothing is open */
	_Atomic uint64_t held_by;  /* a call that is about to open it; 0: none */
	unsigned candidate;
	bool     was_late;
};

/* Where kernels of one context post to: candidates, then the ring's. */
struct ac_trial_slots {
	const struct ac_scratch *of;
	uint32_t                 epoch;
	struct ac_recast_post   *host;
	ac_cu_address            device;
};

struct ac_trial {
	/* Written once. */
	_Atomic(struct ac_trial *) next;      /* the same site on a stream */
	uint64_t           stream_id;
	struct ac_decision decision;
	struct ac_site_key key;
	struct ac_site_region region;
	char               name[32];
	bool               may_time;
	uint32_t           period;            /* calls from post to post */
	unsigned           lag;               /* samples until a verdict */

	/* Read by any thread. */
	_Atomic uint64_t calls;
	_Atomic uint64_t first;               /* the call that tries */
	_Atomic uint32_t accurate;            /* candidates that passed */
	_Atomic uint64_t settled_at, demoted_at;
	_Atomic bool     timing_over;
	_Atomic bool     is_overdue;          /* a sample that is due has not come:
	                                       * calls are kept until it has */
	_Atomic uint32_t state;               /* enum ac_trial_state */
	_Atomic uint32_t current;             /* candidate, or TRIAL_KEEP */
	_Atomic uint32_t kept_as;             /* enum ac_reason of TRIAL_KEEP */
	_Atomic(struct ac_site_record *) record[AC_CANDIDATES + 1];
	/* One of `known`, filled before: a site is at home in one context. */
	_Atomic(const struct ac_trial_slots *) home;
	_Atomic uint32_t judge;               /* the process of the thread that
	                                       * holds what follows; 0: none */

	/* Of the thread that moved `state` to BUSY or judges. */
	double   cost[AC_CANDIDATES + 1];     /* what choose() goes by */
	uint64_t tried_at;
	uint32_t tried;                       /* candidates that will post */
	ac_cu_event tried_event;
	const struct ac_driver *tried_driver;
	struct ac_timing timing[AC_CANDIDATES + 1];
	struct ac_trial_sample sample[TRIAL_RING];

	uint64_t home_at;                     /* a call that was at home */
	bool     is_hasty;                    /* waited in vain for a sample */
	struct ac_trial_slots known[TRIAL_HOMES];  /* once taken, kept */
	unsigned          homes;              /* taken so far */
};

/* Change the state, unless another thread did so before. */
bool ac_trial_move(struct ac_trial *trial, uint32_t from, uint32_t to);

/* Whether what is open was queued in the context of `place`; and if not, whether
 * that context is gone, or has not been met for `absence` calls. */
bool ac_trial_is_home(const struct ac_trial *trial,
    const struct ac_place *place);
bool ac_trial_is_deserted(const struct ac_trial *trial,
    const struct ac_place *place, uint64_t number, uint64_t absence);

/* Become the one that judges, at once or not at all, or as soon as it can be;
 * in a forked child a thread that is gone judges no more. A try is held from its
 * beginning to ac_trial_tried(), by the state BUSY or, when it is a retry, by
 * this. */
bool ac_trial_hold(struct ac_trial *trial, bool patiently);
void ac_trial_release(struct ac_trial *trial);

/* Be at home in the context of `place`, with slots there. */
bool ac_trial_take_slots(struct ac_trial *trial, const struct ac_place *place);
struct ac_slot ac_trial_slot_at(const struct ac_trial *trial, unsigned index);

/* Read what the candidates of a TRY posted; all that have not, or that are
 * found wanting, are out. Then choose. */
void ac_trial_settle(struct ac_trial *trial, uint64_t number);
bool ac_trial_all_posted(const struct ac_trial *trial);

/* Whether the first try is over; waits for it, once for each site, two seconds at
 * most: its stream may wait for this very thread. A site that waited in vain only
 * looks from then on, and while that goes on no other site waits. */
bool ac_trial_await_try(struct ac_trial *trial, const struct ac_place *place);
/* The site no longer waits for its first try. */
void ac_trial_forget_held(struct ac_trial *trial);

/* Wait, as long, for the samples that are due at call `number`, so that data which
 * turn bad are recast for no more than two periods, however far the host runs
 * ahead; what was queued since keeps the device busy. False: one has not come. A
 * site that waited in vain only looks from then on; nobody waits after a wait in
 * vain until a look finds its sample. */
bool ac_trial_await_samples(struct ac_trial *trial, uint64_t number);

/* Apply the verdicts that are due at call `number`. */
void ac_trial_apply(struct ac_trial *trial, uint64_t number);

/* Go by the times measured, once they are there. */
void ac_trial_compare(struct ac_trial *trial, const struct ac_place *place);

/* The cheapest accurate candidate becomes current; without one, keep. */
void ac_trial_choose(struct ac_trial *trial);

/* Judge a post of `candidate` and note it in its course. */
enum ac_finding ac_trial_judge(struct ac_trial *trial, unsigned candidate,
    const struct ac_recast_post *post);

/* `candidate` is out, for `finding`, found at call `number`. */
void ac_trial_demote(struct ac_trial *trial, unsigned candidate,
    enum ac_finding finding, uint64_t number);

#endif
