/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/trial_world.h -- what the tests of shim/trial*.c share: a site that
 * may use FP16 by cast or TF32, its calls, and what kernels would have posted. */
#ifndef AC_TESTS_TRIAL_WORLD_H
#define AC_TESTS_TRIAL_WORLD_H

#include "shim/trial_state.h"

#include <time.h>

extern struct ac_recast_post posts[128];
extern bool has_pages, event_passed;
extern uint32_t epoch;
extern unsigned waits;              /* queries of events */
extern int64_t now_ns;              /* the clock of a test that has one */
extern float elapsed_ms;            /* between any two events */
extern unsigned pages;              /* taken */
extern const struct ac_place here, graph, there; /* there: another context */

struct ac_decision decision_of(enum ac_asked_guard guard);
/* A site of its own, in a world without posts. */
struct ac_trial *make(const struct ac_decision *decision, bool may_time);
struct ac_turn turn(struct ac_trial *t);
/* A post to `slot` for call `number`. */
void post(const struct ac_slot *slot, uint64_t number, float rho, float error);
/* Try all candidates, with these errors. */
void try_with(struct ac_trial *t, const struct ac_turn *first, float fp16,
    float tf32);
struct ac_trial *settled(const struct ac_decision *decision, float fp16,
    float tf32);
/* Turns until call `last`; samples have `error`. Returns the last one. */
struct ac_turn turns_until(struct ac_trial *t, uint64_t last, float error);

#endif
