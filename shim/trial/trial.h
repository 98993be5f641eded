/* SPDX-License-Identifier: Apache-2.0 */
/* shim/trial/trial.h -- which candidates of a site are accurate, where a
 * library computes and nothing but samples tells: convolutions. How fast they
 * are is in shim/trial/variants.h.
 *
 *   tries        the original runs, and each candidate next to it into scratch,
 *                until it has three clean samples with something in them. Zeros
 *                teach nothing: after them it waits as long as it has run
 *   then         the fastest accurate candidate serves
 *   samples      of calls 4 to 16 and 32, then of about each 64th, drawn by a
 *                hash: no rhythm of the program falls into step with them
 *   a finding    of policy/guard.h, in a try or a sample: the candidate is left
 *                for good
 *
 * What was posted is heard by the next call. What call n posted is waited for
 * at call n + 64, and tries before a candidate serves (shim/trial/wait.h); in
 * vain: originals, until it has come. Under reproducible=on it is heard at
 * these calls and at no others.
 *
 * What was found counts in the context whose kernels posted it. Each other
 * context begins again, and under reproducible=on each stream. In a capture
 * nothing is tried, sampled or waited for: what serves goes into it, if the
 * operands differed from try to try.
 *
 * Under learn=on nothing is tried and none serves: what is measured next to
 * calls (conduct.c) is posted like tries, and only counted.
 *
 * No lock. A call has the slot that it takes until it ends. A slot that is
 * still taken 1000 calls later is free again: its thread was cancelled, or what
 * it had queued was lost. */
#ifndef AC_SHIM_TRIAL_H
#define AC_SHIM_TRIAL_H

#include "kernels/conv/conv_check.h"
#include "shim/device/place.h"
#include "shim/trial/turn.h"
#include "shim/trial/variants.h"

enum {
	AC_TRIAL_TRIES = 3,      /* clean ones that a candidate needs */
	AC_TRIAL_SAMPLES = 8,    /* at a time */
	AC_TRIAL_LAG = 64,       /* calls until a sample is waited for */
	AC_TRIAL_PERIOD = 64,    /* calls from one to the next, about */
	AC_TRIAL_LATE = 64,      /* the first try of a site that is predicted to
	                          * gain next to nothing; and calls after one
	                          * for which there was no memory */
	AC_TRIAL_LOST = 1000,
	AC_TRIAL_HOMES = 64,     /* contexts, streams of a site */
	AC_TRIAL_FIRST_SAMPLE = AC_CANDIDATES * AC_TRIAL_TRIES, /* a slot */
	AC_TRIAL_SLOTS = AC_TRIAL_FIRST_SAMPLE + AC_TRIAL_SAMPLES
};

/* Where one call posts. */
struct ac_trial_slot {
	uint64_t      state;     /* trial.c's: a call's number, what came of
	                          * it; only grows. 0: never used */
	_Atomic uint8_t candidate; /* of a try's slot always the same */
	bool          is_try;
	const struct ac_conv_post *host;
	ac_cu_address device;
};

/* A site in one context, or under reproducible=on on one stream of it. */
struct ac_trial_home {
	/* Written once. */
	struct ac_trial_home *next;           /* of the site */
	struct ac_trial_home *also;           /* of all */
	struct ac_variants   *variants;
	bool                  is_ours;        /* no driver takes posts away */
	unsigned              scratch;        /* ac_scratch_index() */
	uint32_t              epoch;
	uint64_t              stream_id;      /* 0: any */

	/* Of any thread. */
	_Atomic uint64_t calls;
	_Atomic uint32_t out;                 /* candidates left for good */
	_Atomic uint32_t passed;              /* reported as such */
	_Atomic bool     is_hasty;            /* no more waits */
	_Atomic uint64_t next_sample;
	_Atomic uint64_t next_try[AC_CANDIDATES];
	struct ac_trial_slot slot[AC_TRIAL_SLOTS]; /* tries, by candidate;
	                                       * samples */
};

/* A site. */
struct ac_trial {
	struct ac_variants *variants;         /* NULL: it has no trial */
	_Atomic(struct ac_trial_home *) homes;
};

/* The turn of a call at `place`. Numbers it. ac_trial_over() ends it. */
void ac_trial_turn(struct ac_trial *trial, const struct ac_place *place,
    struct ac_turn *turn);

/* On a turn LEARN, which has its number: hear what was posted before, and have
 * the turn's candidate post to its slot; ac_trial_queued() or ac_trial_over()
 * ends that. False: there is none. */
bool ac_trial_learn(struct ac_trial *trial, const struct ac_place *place,
    struct ac_turn *turn);

/* After a turn TRY: candidates whose bits are in `queued` will post, those in
 * `refused` the provider refused. */
void ac_trial_tried(const struct ac_turn *turn, unsigned queued,
    unsigned refused);

/* What posts to slot `i` of the turn was queued: 0, if that is a sample. */
void ac_trial_queued(const struct ac_turn *turn, unsigned i);

/* After any turn: what was not queued after all is free again. */
void ac_trial_over(const struct ac_turn *turn);

/* ---- Between the files of that name -------------------------------------- */

/* The home of calls at `place`, made if need be; NULL without memory, and in a
 * capture where there is none yet. */
struct ac_trial_home *ac_trial_home(struct ac_trial *trial,
    const struct ac_place *place);

/* All that were made, by `also`, the youngest first. */
struct ac_trial_home *ac_trial_homes(void);

/* Have call `number`, of `candidate`, post to that slot. False: it is in
 * use. */
bool ac_trial_take(struct ac_trial_slot *slot, uint64_t number,
    unsigned candidate);

/* Candidates with as many clean tries as they need. */
uint32_t ac_trial_accurate(const struct ac_trial_home *home);

/* Whether the operands of the candidate's clean tries all differed. */
bool ac_trial_has_varied(const struct ac_trial_home *home, unsigned candidate);

/* Hear what has been posted. */
void ac_trial_hear(struct ac_trial_home *home);

/* Wait for tries of `candidate`, or unless `may_wait` is false for samples that
 * are due at call `number`, and hear them. False: one has not come. */
bool ac_trial_await_tries(struct ac_trial_home *home, unsigned candidate);
bool ac_trial_await_samples(struct ac_trial_home *home, uint64_t number,
    bool may_wait);

#endif
