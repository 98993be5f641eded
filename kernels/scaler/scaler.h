/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/scaler/scaler.h -- the device side of a gradient scaler: multiply
 * seeds, check and unscale many tensors in one launch, norms, clipping, guarded
 * sums, and the update of the scale.
 *
 * Each function queues one kernel on `stream`, in the current context, which
 * must be that of all memory named; none waits or allocates, all can be
 * captured. scaler_body.h holds the arithmetic once for the GPU and its CPU
 * twins: the same bits on both, for any launch geometry. Indices are 64-bit. A
 * product or sum that is NaN is stored as all ones without the sign.
 * Rules: research on torch.amp, GradScaler's check-and-unscale and its update;
 * hysteresis as in NVIDIA's update_scale_hysteresis. */
#ifndef AC_KERNELS_SCALER_H
#define AC_KERNELS_SCALER_H

#include "kernels/load/kernels.h"

#include <stdbool.h>
#include <stddef.h>

enum ac_scaler_dtype {
	AC_SCALER_F32, AC_SCALER_F64, AC_SCALER_F16, AC_SCALER_BF16,
	AC_SCALER_DTYPES
};

/* One tensor, as kernels see it. Any count; aligned to its elements only. */
struct ac_scaler_tensor {
	void    *data;
	uint64_t count;
	uint64_t first_chunk;  /* chunks of the tensors before it */
	uint32_t dtype;        /* enum ac_scaler_dtype */
	uint32_t reserved;
};

enum {
	AC_SCALER_CHUNK = 16384,   /* elements that one block takes at a time */
	AC_SCALER_INLINE = 96      /* tensors that go with a launch itself */
};

/* Numbers first_chunk of `count` tensors; returns the chunks of all of them.
 * An empty tensor has none. */
uint64_t ac_scaler_number_chunks(struct ac_scaler_tensor *tensors,
    size_t count);

/* ---- What is on a device ------------------------------------------------ */

/* A scaler's words on one device. Only the first device's are updated; the
 * others get copies of the first three. */
struct ac_scaler_state {
	float    scale;
	float    inverse;      /* (float)(1 / (double)scale) */
	int32_t  tracker;      /* clean updates since the last change */
	int32_t  patience;     /* bad updates left until the scale backs off */
	uint32_t found;        /* 1: by some group since the last update */
	uint32_t reserved;
	uint64_t updates, overflows, rises, falls, clamps, last_overflow;
	float    least, most;  /* scales since the state was set */
};

/* A group's words on one device. `arrived` and `found` are 0 between
 * launches. */
struct ac_scaler_words {
	float    found_inf;    /* 0.0 or 1.0: what programs read */
	float    grad_scale;   /* what gradients are still to be divided by */
	uint32_t arrived, found;
	double   sum;          /* of the norm: sum |x|, sum x^2, or max |x| */
	/* What ac_scaler_norm_close() made of it; the coefficient of FP64
	 * elements comes right after that of all others. */
	float    norm, coefficient;
	double   coefficient_double;
	uint32_t reserved[2];
};

/* Load the kernels into the current context, as ac_kernels_load() does its; but
 * a refusal is not remembered: who asks again may have freed memory. What
 * queues one loads them, too. */
enum ac_kernels_status ac_scaler_kernels_load(void);

/* ---- Kernels ------------------------------------------------------------ */

/* x = x * state->scale, for `count` <= AC_SCALER_INLINE tensors on the host,
 * whose chunks are numbered. FP16 and BF16 are multiplied in FP32 and rounded
 * to nearest even, FP64 in FP64 (by the FP32 scale). A scale of 1 writes
 * nothing. LAUNCH if `count` is larger. */
enum ac_kernels_status ac_scaler_multiply(const struct ac_scaler_tensor *list,
    size_t count, const struct ac_scaler_state *state, ac_cu_stream stream);

/* All gradients of a group on one device, in device memory. */
struct ac_scaler_pass {
	const struct ac_scaler_tensor *tensors; /* device; chunks numbered */
	uint64_t tensor_count, chunk_count;
	struct ac_scaler_state *state;
	struct ac_scaler_words *words;
	double  *partials;     /* device, chunk_count of them: of norms */
	uint32_t flags;        /* AC_SCALER_PASS_* */
	uint32_t reserved;
};
enum {
	AC_SCALER_PASS_CHECK_ONLY = 1,  /* nothing is written; grad_scale =
	                                 * state->scale, else 1 */
	AC_SCALER_PASS_CHECK_AFTER = 2, /* the unscaled value must be finite,
	                                 * too */
	AC_SCALER_PASS_FOLD = 4,        /* this is all of the group: OR the flag
	                                 * into state->found as well */
	AC_SCALER_PASS_STRICT = 8       /* found, whatever the elements are, if
	                                 * FP32 has no inverse of the scale */
};

/* Each element is looked at once and, unless CHECK_ONLY or state->inverse is 1,
 * written once: x * inverse in FP32 (FP64 in FP64), rounded to nearest even.
 * The value as it is in its own type is tested for inf and NaN. Sets
 * words->found_inf and words->grad_scale at the end of the launch. No elements:
 * the flag is 0. One launch whatever the count. */
enum ac_kernels_status ac_scaler_unscale_pass(const struct ac_scaler_pass *pass,
    ac_cu_stream stream);

/* words->found_inf = 1.0 if it or one of `flags[0..count)` (device) is not 0
 * (NaN is not), else 0.0; ORed into state->found. For several devices,
 * before and after a reduce hook; `state` may be NULL. */
enum ac_kernels_status ac_scaler_fold(struct ac_scaler_words *words,
    struct ac_scaler_state *state, const float *flags, uint64_t count,
    ac_cu_stream stream);

/* pass->words->sum, of all elements: `p` 1, 2, or 0 for the maximum (NaN if
 * there is one). In the order that scaler_body.h gives: no result depends on
 * the geometry or on where in memory a tensor is. `partials` are written. */
enum ac_kernels_status ac_scaler_norm_pass(const struct ac_scaler_pass *pass,
    uint32_t p, ac_cu_stream stream);

/* words->norm = the norm that the `count` sums (device) make together, also to
 * `*norm_out` (device) unless NULL; words->coefficient = max_norm / (norm +
 * 1e-6), 1 if that is above 1, all three in FP32. coefficient_double is the
 * same in FP64, of a norm that was not rounded to FP32. */
enum ac_kernels_status ac_scaler_norm_close(struct ac_scaler_words *words,
    const double *sums, uint64_t count, uint32_t p, float max_norm,
    float *norm_out, ac_cu_stream stream);

/* x = x * pass->words->coefficient (FP64: coefficient_double), rounded as
 * unscaling does it; a tensor for which that is 1 is not written. */
enum ac_kernels_status ac_scaler_clip_pass(const struct ac_scaler_pass *pass,
    ac_cu_stream stream);

/* If *found_inf is 0 (NULL: it is): y = y + alpha x; else y is not touched. */
struct ac_scaler_sum {
	const void  *x;
	void        *y;
	uint64_t     count;
	uint32_t     x_dtype, y_dtype; /* F64 both; else y is F32 */
	const float *found_inf;
	struct ac_cast_scalar alpha;
};
enum ac_kernels_status ac_scaler_guarded_sum(const struct ac_scaler_sum *sum,
    ac_cu_stream stream);

/* How the scale moves. Factors are double: narrowed to float first, results
 * would be off by one ulp. */
struct ac_scaler_rule {
	double  up, down;
	double  least, most;   /* bounds of the scale; none: 0 and +inf */
	int64_t interval;
	int32_t patience;      /* hysteresis */
	uint32_t reserved;
};

/* One update. Found: --patience, down to 0; tracker = 0; if patience is used
 * up, scale = max((float)(scale * down), least). Clean: patience = rule's; n =
 * tracker + 1; if n == interval, scale = min((float)(scale * up), most) if that
 * product is finite as a float, and tracker = 0; else tracker = n. Subnormal
 * scales are honoured. Counts, sets inverse, clears state->found. */
enum ac_kernels_status ac_scaler_update_state(struct ac_scaler_state *state,
    const struct ac_scaler_rule *rule, ac_cu_stream stream);

/* The same on the host: for the pure core, and for who must know beforehand.
 * Returns whether a bound held the scale back. */
bool ac_scaler_rule_apply(struct ac_scaler_state *state,
    const struct ac_scaler_rule *rule);

/* Set words of the state, those whose bit is given. SCALE sets inverse, too.
 * RESET: counters to 0, least and most to the scale. DROP: found = 0. */
enum {
	AC_SCALER_SET_SCALE = 1, AC_SCALER_SET_TRACKER = 2,
	AC_SCALER_SET_PATIENCE = 4, AC_SCALER_SET_RESET = 8,
	AC_SCALER_SET_DROP = 16
};
struct ac_scaler_set {
	uint32_t which;
	float    scale;
	int32_t  tracker, patience;
};
enum ac_kernels_status ac_scaler_set_state(struct ac_scaler_state *state,
    const struct ac_scaler_set *set, ac_cu_stream stream);

#endif
