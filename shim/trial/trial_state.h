/* SPDX-License-Identifier: Apache-2.0 */
/* shim/trial/trial_state.h -- what a trial is made of: shared by the files of
 * that name. trial.c makes trials and ends turns, trial_turn.c hands them
 * out. */
#ifndef AC_SHIM_TRIAL_STATE_H
#define AC_SHIM_TRIAL_STATE_H

#include "shim/trial/chain.h"
#include "shim/device/history.h"
#include "shim/device/mailbox.h"
#include "shim/trial/pair.h"
#include "shim/trial/size_class.h"
#include "shim/trial/trial.h"

#include <stdatomic.h>

enum {
	/* From a sample to its verdict, and from one sample to the next by
	 * default: 56 to 71. Data that turn bad are recast for 127 at most. */
	TRIAL_LAG = 56,
	TRIAL_PERIOD = 64,
	TRIAL_EVIDENCE = 3,        /* clean samples that a candidate needs */
	TRIAL_MOST = 12,           /* tries of a probation but empty ones */
	/* Clean samples in a row, once it failed, or one that rounds alike did;
	 * once that failed in a line only, which is mostly a matter of range.
	 * Where range alone was to blame, one that rounds alike needs its
	 * evidence. */
	TRIAL_PROOF = 128, TRIAL_LINE_PROOF = 16,
	TRIAL_ABSENCE = 256,       /* calls without the pair that proves itself:
	                            * another one's turn */
	TRIAL_LOST = 1000,         /* calls after which a post that has not
	                            * come never will */
	TRIAL_RETRY = 1000,        /* calls from a demotion to the next try, or
	                            * from a proof without a result to the next;
	                            * each strike makes it 4 times as many, */
	TRIAL_SERVED = 8,          /* times so many if another one may serve */
	TRIAL_STRIKES = 5,         /* after so many the wait grows no more */
	TRIAL_ROUNDS = 4,          /* timings of each variant, */
	TRIAL_KEPT_ROUNDS = 2,     /* and of the original */
	TRIAL_ROUND = 16,          /* calls from one to the next */
	TRIAL_TIMED = (TRIAL_ROUNDS + 1) * TRIAL_ROUND,
	TRIAL_OPEN = 64,           /* samples at a time: bits of a word */
	TRIAL_MARGIN = 8,          /* calls of other rungs that a report's row
	                            * of a site does not follow */
	TRIAL_GRAPH = TRIAL_OPEN,  /* the slot that graphs post to */
	TRIAL_SLOTS,
	TRIAL_HOMES = 4,           /* contexts that a site may use in turn */
	TRIAL_KEEP = AC_CANDIDATES /* as a candidate: the original call */
};

/* PROBATION: tries begin at call `first`. WAITING: tries are queued, nothing
 * was concluded from them yet. */
enum ac_trial_state { TRIAL_PROBATION, TRIAL_WAITING, TRIAL_SETTLED };

/* A call that will post. Its bit in `open` is set while it is somebody's. */
struct ac_trial_sample {
	_Atomic uint64_t number;   /* of the call; 0: not queued */
	uint64_t due;              /* the call at which the verdict applies */
	struct ac_trial *of;       /* the site that made the call */
	const struct ac_recast_post *host; /* where it posts to */
	uint32_t round;            /* of the proof that it is for */
	uint8_t  candidate, pair;
	bool     is_beside;        /* a try: C is the original's */
	bool     was_late;
};

/* Where kernels of one context post to: by sample, then graphs. */
struct ac_trial_slots {
	const struct ac_scratch *of;
	uint32_t                 epoch;
	struct ac_recast_post   *host;
	ac_cu_address            device;
	bool                     is_ours; /* no driver takes it away */
};

/* What the tries of a probation have shown of a candidate. */
struct ac_trial_evidence {
	uint32_t clean, bad;       /* samples with something in them */
};

/* A pair's candidate that has to prove itself again. */
struct ac_trial_again {
	_Atomic uint32_t pair;     /* AC_PAIRS: none does */
	_Atomic uint64_t last;     /* the call that was tried last */
	_Atomic uint32_t round;    /* so many proofs were begun */
	unsigned candidate;
	uint32_t clean, open;      /* samples */
	uint32_t needed;           /* of them, clean */
	uint32_t tries;
};

/* What is known of the accuracy of a place's calls of like sizes, by number. */
struct ac_verdicts {
	/* Written once. */
	struct ac_verdicts *also;             /* the next of all */
	int                process;
	struct ac_trial   *of;                /* the first site's */
	uint32_t           period;            /* calls from sample to sample */
	struct ac_credit  *credit;            /* the class's, or: */
	struct ac_credit   own_credit;

	/* Read by any thread. */
	_Atomic uint64_t *calls;              /* of the place, all sizes:
	                                       * numbers of calls; set once */
	_Atomic uint64_t own_calls;           /* of these sizes; without a class
	                                       * the same */
	_Atomic uint64_t least;               /* of them, to the next sample */
	_Atomic uint64_t first;               /* the call of the next try */
	_Atomic uint32_t accurate;            /* candidates that passed */
	_Atomic uint32_t chained;             /* candidates out for good: sums
	                                       * that cancel */
	_Atomic uint32_t version;             /* of accurate and what is out */
	_Atomic uint32_t epoch;               /* candidates that proved
	                                       * themselves again */
	_Atomic uint32_t varied;              /* clean calls whose operands have
	                                       * other energies, at most
	                                       * TRIAL_EVIDENCE */
	_Atomic uint64_t next_sample;         /* the call to be sampled */
	_Atomic uint64_t due;                 /* call with the next verdict */
	_Atomic uint64_t retry_due;           /* from this call on a pair wants
	                                       * to be tried again */
	_Atomic bool     is_overdue;          /* a sample that is due has not
	                                       * come: calls are kept until it
	                                       * has */
	_Atomic bool     is_hasty;            /* waited in vain for a sample */
	_Atomic uint32_t state;               /* enum ac_trial_state */
	/* One of `known`, filled before: they are at home in one context. */
	_Atomic(const struct ac_trial_slots *) home;
	_Atomic uint64_t judge;               /* process and thread that holds
	                                       * what follows; 0: none */
	_Atomic bool     is_held_long;        /* another one waited in vain for
	                                       * who judges now */
	_Atomic uint64_t open;                /* bits of `sample` */
	ac_histories     histories;

	/* Of the thread that holds `judge`. */
	_Atomic uint32_t refused;             /* candidates */
	uint64_t trying;                      /* bits of `open`: of the try that
	                                       * was begun and has not ended */
	unsigned batch;                       /* tries to the next conclusion */
	unsigned weighed, empty;              /* tries of the last batch; those
	                                       * that had nothing in them */
	struct ac_trial_evidence evidence[AC_CANDIDATES];
	struct ac_trial_again again;
	struct ac_trial_sample sample[TRIAL_OPEN];
	uint64_t told_graph;                  /* what a graph posted last */
	float    energy[TRIAL_EVIDENCE][2];   /* of calls that were clean */
	uint64_t home_at;                     /* a call that was at home */
	struct ac_trial_slots known[TRIAL_HOMES];  /* once taken, kept */
	unsigned homes;                       /* taken so far */
	struct ac_pairs pairs;
	struct ac_chain chain;
};

/* One site's part in that, or its part on one stream. */
struct ac_trial {
	/* Written once. */
	struct ac_verdicts *v;
	_Atomic(struct ac_trial *) next;      /* the same site on a stream */
	uint64_t           stream_id;
	struct ac_decision decision;
	struct ac_site_key key;
	struct ac_site_region region;
	char               name[32];
	bool               may_time;
	bool               is_xla;            /* calls it */

	/* Read by any thread. */
	_Atomic uint64_t own_calls;
	_Atomic uint64_t captured;            /* of them, with their place
	                                       * known */
	_Atomic uint32_t captured_as;         /* 1 + candidate or TRIAL_KEEP;
	                                       * 0: not yet */
	_Atomic uint64_t settled_at;          /* of its own calls; 0: not yet */
	_Atomic bool     timing_over;
	_Atomic bool     keep_timed;          /* the original was, in a try */
	_Atomic uint8_t  shown;               /* what most late calls go by, of
	                                       * all pairs: for reports */
	_Atomic uint8_t  margin;              /* by how many, TRIAL_MARGIN at
	                                       * most */
	_Atomic uint32_t current;             /* candidate, or TRIAL_KEEP */
	_Atomic uint32_t chosen;              /* the version it goes by */
	_Atomic uint32_t kept_as;             /* enum ac_reason of TRIAL_KEEP */
	_Atomic(struct ac_site_record *) record[AC_CANDIDATES + 1];
	_Atomic double   cost[AC_CANDIDATES + 1]; /* what choose() goes by */

	struct ac_trial *also;                /* the next that was timed, if */
	_Atomic bool     is_timed;
	/* Of the thread that holds `judge`. */
	struct ac_timing timing[AC_CANDIDATES + 1];
};

static inline bool
ac_slots_are_at(const struct ac_trial_slots *slots,
    const struct ac_place *place)
{
	return slots && slots->of == place->scratch
	    && slots->epoch == place->epoch;
}

/* Whether what is open was queued in the context of `place`; and if not,
 * whether that context is gone, or has not been met for `absence` calls. */
static inline bool
ac_trial_is_home(const struct ac_trial *trial, const struct ac_place *place)
{
	return ac_slots_are_at(trial->v->home, place);
}
bool ac_trial_is_deserted(const struct ac_trial *trial,
    const struct ac_place *place, uint64_t number, uint64_t absence);

/* Become the one that judges, at once or not at all, or as soon as it can be. A
 * thread that is gone judges no more: it ended, or a fork left it behind, or a
 * signal handler jumped out of its call and it makes another one. A try is held
 * from its beginning to ac_trial_tried(). */
bool ac_trial_hold(struct ac_trial *trial, bool patiently);
void ac_trial_release(struct ac_trial *trial);

/* Be at home in the context of `place`, with slots there. What is open in
 * another one is forgotten. */
bool ac_trial_take_slots(struct ac_trial *trial, const struct ac_place *place);
struct ac_slot ac_trial_slot_at(const struct ac_trial *trial, unsigned index);
/* The same for a thread that does not judge, if `place` is at home. */
bool ac_trial_slot_in(const struct ac_trial *trial,
    const struct ac_place *place, unsigned index, struct ac_slot *slot_out);

/* Take one of `sample` for a call to come, or TRIAL_OPEN; give it back. */
unsigned ac_trial_open(struct ac_trial *trial);
void ac_trial_close(struct ac_trial *trial, unsigned entry);
/* The sample `entry` of call `number` was queued. */
void ac_trial_opened(struct ac_trial *trial, unsigned entry,
    const struct ac_turn *turn, unsigned candidate, bool is_beside);

/* Whether the sample `entry` posts where this site is at home no more. */
bool ac_trial_is_elsewhere(const struct ac_trial *trial, unsigned entry);
/* What was posted for it, if it has come. */
bool ac_trial_read(const struct ac_trial_sample *sample,
    struct ac_recast_post *post_out);
/* Make `value` the least, if it is. */
void ac_trial_lower(_Atomic uint64_t *least, uint64_t value);

/* Wait for the samples that are due at call `number`, two seconds at most, or
 * what 256 such calls take: their stream may wait for this very thread. What
 * was queued since keeps the device busy. False: one has not come. A site that
 * waited in vain only looks from then on; nobody waits after a wait in vain
 * until a look finds its sample. */
bool ac_trial_await(struct ac_trial *trial, uint64_t number);
/* What was waited for in vain was of a context that is gone, perhaps lost to an
 * error: that says nothing of another one. */
void ac_trial_may_wait(struct ac_trial *trial);
/* Whether they have come. */
bool ac_trial_has_come(const struct ac_trial *trial, uint64_t number);

/* Become the one that judges, for that call; while another thread does and the
 * call depends on what it finds, wait for it, as long at most. False: it does
 * not depend on it, or no more, or a wait for that thread was in vain. */
bool ac_trial_hold_for(struct ac_trial *trial, const struct ac_turn *turn);

/* Apply the verdicts that are due at call `number`. False: one has not come. */
bool ac_trial_apply(struct ac_trial *trial, uint64_t number);
/* The same of all that have come, due or not. */
bool ac_trial_apply_posted(struct ac_trial *trial, uint64_t number);

/* Whether a try of all candidates is paid for. */
bool ac_trial_is_afforded(const struct ac_trial *trial);
/* Have the candidates of `bits` run beside this call; for who holds the
 * trial. */
void ac_trial_begin_try(struct ac_trial *trial, const struct ac_place *place,
    uint32_t bits, struct ac_turn *turn);
/* The turn of a call before the site has settled. */
void ac_trial_turn_probation(struct ac_trial *trial,
    const struct ac_place *place, struct ac_turn *turn);

/* Conclude from the tries of a probation, if all have posted; in a capture
 * without waiting for that. */
void ac_trial_end_waiting(struct ac_trial *trial, const struct ac_place *place,
    uint64_t number);

/* Whether the probation has to see more of a candidate. */
bool ac_trial_is_undecided(const struct ac_trial *trial, unsigned candidate);

/* All tries of a probation are judged: settle, or set `first` for more. */
void ac_trial_settle(struct ac_trial *trial, uint64_t number);

/* A call is about to be timed on that candidate, or as it was made: by what is
 * returned. What the site's own calls do not come to read is read where the
 * program has waited for the device, or at exit, as far as it has passed. */
struct ac_timing *ac_trial_time(struct ac_trial *trial, unsigned variant);
/* Go by the times measured, once they are there. */
void ac_trial_compare(struct ac_trial *trial, const struct ac_place *place);

/* The cheapest accurate candidate becomes current; without one, keep. */
void ac_trial_choose(struct ac_trial *trial);
/* A call goes by `candidate`: what most do comes first in the site's row. */
void ac_trial_show(struct ac_trial *trial, unsigned candidate);
/* The cheapest that is not in `out`; TRIAL_KEEP. */
unsigned ac_trial_pick(const struct ac_trial *trial, uint32_t out);

/* Judge a post of `candidate` and note it in its course. */
enum ac_finding ac_trial_judge(struct ac_trial *trial, unsigned candidate,
    const struct ac_recast_post *post);

/* `candidate` is out at pair `pair`, for `finding`, found at call `number`;
 * where many pairs have it, everywhere. */
void ac_trial_demote(struct ac_trial *trial, unsigned pair, unsigned candidate,
    enum ac_finding finding, uint64_t number);

/* The trials that wrote the same Cs are left as well as this one, for good:
 * what was found is no property of one call. */
void ac_trial_demote_chain(struct ac_trial *trial, unsigned candidate);

/* Under guard=strict: what was left long enough ago may be used again; and the
 * turn of a call that is to be recast. */
void ac_trial_retry_strict(struct ac_trial *trial, const struct ac_turn *turn);
void ac_trial_turn_strict(struct ac_trial *trial, const struct ac_place *place,
    struct ac_turn *turn);

/* Have what is open when the process ends read then. */
void ac_trial_enlist(struct ac_verdicts *verdicts);
/* What a graph posted since the last time is told. */
void ac_trial_hear_graph(struct ac_trial *trial);
/* The turn of a call in a capture, under guard=on. */
void ac_trial_turn_captured(struct ac_trial *trial,
    const struct ac_place *place, struct ac_turn *turn);
void ac_trial_note_unread(struct ac_trial *trial, uint32_t unread,
    uint64_t oldest);

/* A try of a candidate that has to prove itself again ended so; or was lost. */
void ac_trial_prove(struct ac_trial *trial,
    const struct ac_trial_sample *sample, const struct ac_recast_post *post,
    enum ac_finding finding, uint64_t number);
void ac_trial_lose(struct ac_trial *trial,
    const struct ac_trial_sample *sample);
/* Begin a proof of `candidate` at pair `at`; end it, without a result, until
 * call `until`. */
void ac_trial_begin_proof(struct ac_trial *trial, unsigned at,
    unsigned candidate, uint64_t number);
void ac_trial_postpone_proof(struct ac_trial *trial, uint64_t until);
/* When the next pair may try again. */
void ac_trial_set_retry(struct ac_trial *trial);

/* The candidate that pair `at` should try again at call `number`; TRIAL_KEEP:
 * none. */
unsigned ac_trial_wants_again(const struct ac_trial *trial, unsigned at,
    uint64_t number);

#endif
