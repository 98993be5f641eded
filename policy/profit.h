/* SPDX-License-Identifier: Apache-2.0 */
/* policy/profit.h -- how long would it take? The closed formulas of
 * numerics.md section 4 with the constants of one GPU. Pure; asked once per
 * site. Times are seconds, rates are per second. */
#ifndef AC_POLICY_PROFIT_H
#define AC_POLICY_PROFIT_H

#include "policy/op.h"

/* What a GPU can do. A rate of 0: it does not have that arithmetic. */
struct ac_rates {
	const char *gpu;            /* glob for the device's name: "*H200*" */
	double fp32, tf32, fp16, bf16; /* FLOP/s of large products, inputs of
	                             * that type, FP32 accumulation and output */
	double bandwidth;           /* B/s of device memory */
	double launch;              /* device time of one more kernel */
	double host_launch;         /* host time of queueing one more kernel */
	bool   measured;            /* false: predicted from data sheets */
	const char *source;         /* where the numbers are from, for people */
};

/* The built-in row for a device ("NVIDIA H200", 90); one for its compute
 * capability, marked predicted, if the name has none; never NULL for sm >= 70. */
const struct ac_rates *ac_rates_find(const char *gpu, int sm);

/* Predicted time of `op` on `rung` by `tactic`, extra launches and their host
 * cost included; AC_RUNG_KEEP: the call as the program asked for it (its
 * `asked` fact: tf32 runs at that rate). Infinite where the GPU lacks it. */
double ac_profit_seconds(const struct ac_rates *rates, const struct ac_op *op,
    enum ac_rung rung, enum ac_tactic tactic);

#endif
