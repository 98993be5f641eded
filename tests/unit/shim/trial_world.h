/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/shim/trial_world.h -- what the tests of shim/trial*.c share: a
 * site that may use FP16 by cast or TF32, its calls, and what kernels would
 * have posted. */
#ifndef AC_TESTS_TRIAL_WORLD_H
#define AC_TESTS_TRIAL_WORLD_H

#include "shim/trial/trial_state.h"

#include <time.h>

/* What the device makes of the calls. A new world has good data, of which every
 * sample is posted at once. */
struct device {
	float    error[AC_CANDIDATES];  /* of the outputs */
	uint32_t samples;               /* with something in them; 0: zeros */
	bool     watches;               /* each recast call, as casts do: a post
	                                 * blames all pairs since the last */
	uint64_t bad;                   /* those so far, */
	float    worst;                 /* and how bad */
	unsigned queued, refused;       /* of each try */
	bool     is_behind;             /* it posts when deliver() is called */
	bool     is_busy;               /* no event has passed */
};
extern struct device device;
extern bool tunes;                  /* the program, as its calls say */
extern const char *caller;          /* of the next site that is made */
extern struct ac_recast_post posts[2][TRIAL_SLOTS]; /* here, and there */
extern bool has_pages;
extern bool has_context;            /* alive */
extern bool is_emulated;            /* the device */
extern int64_t side;                /* of the next site's products; 0: none */
extern int64_t now_ns;              /* the clock of a test that has one */
extern unsigned naps;               /* in all */
extern unsigned delivers_after;     /* naps until the device has caught up;
                                     * 0: never */
extern float elapsed_ms;            /* between any two events */
extern unsigned pages;              /* taken */
extern struct ac_place here, graph, there; /* there: another context */

enum { GOOD = 0, BAD = 1 };         /* of a call's data */

/* What was made in the contexts is gone. */
void reset_contexts(void);

struct ac_decision decision_of(enum ac_asked_guard guard);
/* A site of its own, in a new world. */
struct ac_trial *make(const struct ac_decision *decision, bool may_time);
/* The turn of one call, and nothing else; its operands are those of pair
 * `name`, from 1, or 0: arrays. */
struct ac_turn turn_of(struct ac_trial *t, const struct ac_place *place,
    uint64_t name);
struct ac_turn turn(struct ac_trial *t);
/* Whether the next call of that pair has to know its place. */
bool wants_place(struct ac_trial *t, uint64_t name, bool to_run);
/* A post to `slot` for call `number`. */
void post(const struct ac_slot *slot, uint64_t number, float rho, float error);
/* A whole call, made as its turn says. */
struct ac_turn call_at(struct ac_trial *t, const struct ac_place *place,
    uint64_t name);
struct ac_turn call(struct ac_trial *t);
/* The same on data of which each candidate's outputs are 0.3 off, or good. */
struct ac_turn call_on(struct ac_trial *t, uint64_t name, int data);
/* What the device had not posted yet. */
void deliver(void);
/* Calls until number `last`; the last one. */
struct ac_turn calls_until(struct ac_trial *t, uint64_t last);
/* After a probation in which the candidates had these errors: the next call is
 * the fourth. */
struct ac_trial *settled(const struct ac_decision *decision, float fp16,
    float tf32);

#endif
