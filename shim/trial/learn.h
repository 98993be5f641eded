/* SPDX-License-Identifier: Apache-2.0 */
/* shim/trial/learn.h -- under learn=on each call is the program's own; some are
 * measured by each candidate, next to the original. */
#ifndef AC_SHIM_LEARN_H
#define AC_SHIM_LEARN_H

#include "shim/trial/conduct.h"

/* Number the call. Whether it is one to measure. */
__attribute__((cold)) bool ac_learn_begins(const struct ac_conduct *call);

/* Whether it is, by its place. One in a capture leaves its number to the next
 * call: nothing is measured in captures, be there as many as there may. */
__attribute__((cold)) bool ac_learn_goes_on(const struct ac_conduct *call);

/* Measure each candidate. The original is made behind them: what it reads is as
 * it was. */
__attribute__((cold)) void ac_learn(struct ac_conduct *call,
    const struct ac_ways *ways);

#endif
