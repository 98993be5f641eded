/* SPDX-License-Identifier: Apache-2.0 */
/* policy/profit/profit.h -- how long would it take? Closed formulas with the
 * constants of one GPU. Pure; asked once per site. Times are seconds, rates are
 * per second. */
#ifndef AC_POLICY_PROFIT_H
#define AC_POLICY_PROFIT_H

#include "policy/op.h"

struct ac_text;

/* What a GPU can do. A rate of 0: it does not have that arithmetic. */
struct ac_rates {
	const char *gpu;            /* glob for the device's name: "*H200*" */
	const char *name;           /* for people: "NVIDIA H200" */
	int    sm;                  /* compute capability, 90 */
	int    multiprocessors;     /* 0: not known, and nothing is cut */
	double fp32, tf32, fp16, bf16; /* FLOP/s of a square product of 8192,
	                             * inputs of that type, FP32 sums and
	                             * output; its launch left out */
	double bandwidth;           /* B/s of device memory */
	double launch;              /* device time of one more kernel */
	double host_launch;         /* host time of queueing one more kernel */
	bool   measured;            /* false: wholly or in part published by
	                             * others, or taken from those */
	const char *source;         /* where the numbers are from, for people;
	                             * of those measured, "measured by ..." */
};

/* Its numbers by name. */
enum ac_rate {
	AC_RATE_FP32, AC_RATE_TF32, AC_RATE_FP16, AC_RATE_BF16,
	AC_RATE_BANDWIDTH, AC_RATE_LAUNCH, AC_RATE_HOST_LAUNCH, AC_RATE_COUNT
};
/* As the file and `explain --rates` spell them: "fp32", "host-launch". */
extern const char *const ac_rate_names[AC_RATE_COUNT];
/* Where a rate is. */
double *ac_rate_of(struct ac_rates *rates, enum ac_rate which);

/* The built-in row for a device ("NVIDIA H200", 90); one for its compute
 * capability, or the nearest below, if the name has none. An unknown `gpu` is
 * NULL, an unknown `sm` 0. NULL if nothing is known; never for sm >= 70. */
const struct ac_rates *ac_rates_find(const char *gpu, int sm);

/* The rows, in the order of the table; NULL past its end. */
const struct ac_rates *ac_rates_row(unsigned i);

/* Who says so: "measured by us on an H100", "from public figures: of its data
 * sheet". */
void ac_rates_add_source(const struct ac_rates *rates, struct ac_text *text);

/* The rates that apply to `op`: its own, else the built-in ones for its gpu
 * fact and its sm quantity; NULL if it has neither. */
const struct ac_rates *ac_rates_of(const struct ac_op *op);

/* Predicted time of `op` on `rung` by `tactic`, extra launches and their host
 * cost included; AC_RUNG_KEEP: the call as the program asked for it (its
 * `asked` fact: tf32 runs at that rate). Infinite where the GPU lacks it, or
 * where this version has no such way. 0: not known, the sizes are missing.
 *
 *   m n k batch   what the op has, real; a complex product does four times
 *                 the work on twice the bytes
 *   product(T, s) = max(tiles(T), s (mk + kn) / bandwidth) + 4mn / bandwidth
 *                 + launch, all times batch but for the launch. With m or
 *                 n <= 16 no more than bandwidth counts
 *   tiles(T)      = (waves k + 128) step, the least for a large tile and a
 *                 small one (FP32: 128 x 64, or 64 x 32 at 0.9 of the rate;
 *                 Tensor Cores: 128 x 128, or 64 x 64 at 0.55 of the rate), and
 *                 for k whole or split into parts of no fewer than 6144, whose
 *                 sums take a launch and 8mn / bandwidth each. A wave is one
 *                 tile on every multiprocessor; a step of k takes 2 x tile /
 *                 (T / multiprocessors), but 2.9 ns at least. All of it by the
 *                 factor that makes product(T, s) of 8192^3 what T says
 *   keep, library = product(T of what is asked, 4)
 *   cast          = 1.9 x 6 (mk + kn) / bandwidth + product(T16, 2)
 *                 + 10.4 launch, for 4 kernels; with an epilogue,
 *                 and of arrays of matrices, + apart
 *   apart         = 1.6 x 8mn / bandwidth: the product is made next to C
 *   group         keep = max(2mnk batch / T, 4 (mk + kn) / bandwidth)
 *                 + 4mn / bandwidth, without a launch: what it adds to a call
 *                 whose other groups fill the GPU. Its cast takes a launch
 *                 more, as neighbours may be made apart
 *   syrk          keep = triangle(m + n) - triangle(m) - triangle(n): the block
 *                 between the halves of a diagonal, which is apart from them;
 *                 1 ns at least. triangle(s) = max(half of tiles(T) of s x s,
 *                 4sk / bandwidth) + 2s^2 / bandwidth + launch
 *
 * Convolutions, at three quarters of a rate T, which implicit GEMM reaches
 * (the analysis of ResNet-50 that tests/unit/policy/test_policy_conv.c
 * recomputes); e = bytes / 4 = the elements of x, w and y:
 *   conv(T, s)    = max(2mnk batch / 0.75 T, s e / bandwidth) + launch
 *   keep, tf32    = conv(T, 4), and where TF32 works on layout=nchw,
 *                 8 e / bandwidth to transpose and back
 *   fp16          = conv(T16, 2) + 6 e / bandwidth + 3 launch: x and w are
 *                 rounded, y is widened, and transposed on the way, as cuDNN
 *                 has no workspace but for these FP16 copies in any layout
 * There is no other way for them. Without m n k nothing is known.
 *
 * And never less than what the host needs to queue these launches. */
double ac_profit_seconds(const struct ac_rates *rates, const struct ac_op *op,
    enum ac_rung rung, enum ac_tactic tactic);

/* What a cast of `op` is predicted to take more where a call of it adds to C;
 * 0: not known, or in the time of each call. */
double ac_profit_apart_seconds(const struct ac_rates *rates,
    const struct ac_op *op);

/* The rate `which`, an arithmetic's, by which a square product of `size` takes
 * `seconds` and a launch, with the other rates as they are: turns a time
 * measured at one size into a rate. */
double ac_profit_rate(const struct ac_rates *rates, enum ac_rate which,
    double size, double seconds);

#endif
