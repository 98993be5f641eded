/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/kernels/lockstep.h -- the text of the .cu files, run on the
 * CPU. */
#ifndef AC_TESTS_LOCKSTEP_H
#define AC_TESTS_LOCKSTEP_H

#include "kernels/conv/conv_body.h"
#include "kernels/recast/recast_ranges.h"
#include "kernels/recast/recast_symmetric.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ac_recast_ranges() with `blocks` blocks along x. Ends the program with a
 * message if threads wait for each other for ever. */
void lockstep_run_ranges(const struct ac_recast_ranges *ranges,
    unsigned blocks);
/* ac_recast_symmetric(), with a block for each tile. */
void lockstep_run_symmetric(const struct ac_recast_symmetric *s);
/* ac_conv_check(), in the same way; `job` is made of `check`. */
void lockstep_run_conv(const struct ac_conv_check *check,
    const struct ac_conv_job *job, unsigned blocks);
/* One of the gradient scaler's, with params as its twin has them. */
void lockstep_run_scaler(const char *name, void **params, unsigned blocks);
/* One of a verified product's, with so many threads a block. */
struct verified_data;
void lockstep_run_verified(const char *name, const struct verified_data *data,
    unsigned blocks, unsigned of_block);

/* lockstep.c: random operands, convolutions and lists of tensors under all of
 * them, and TAP of two cases. The text is called `text` there. True: no bit
 * differs from the twins'. */
bool lockstep_turns(int turns, uint64_t seed, const char *text);
/* lockstep_scaler.c: one random list of tensors. Returns how many differ, and
 * says which. */
unsigned lockstep_scaler_turn(int turn, uint64_t seed);
/* lockstep_verified.c: random verified products, TAP of case `number`. */
bool lockstep_verified_turns(int turns, uint64_t seed, int number,
    const char *text);

#ifdef __cplusplus
}
#endif

#endif
