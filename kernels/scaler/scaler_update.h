/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/scaler/scaler_update.h -- how the scale moves, once for both sides:
 * scaler.cu (GPU), and twins_scaler.c and scaler_rule.c (CPU). The same bits on
 * both: products in FP64, rounded to FP32 once. */
#ifndef AC_KERNELS_SCALER_UPDATE_H
#define AC_KERNELS_SCALER_UPDATE_H

#include "kernels/recast/cast.h"
#include "kernels/scaler/scaler.h"

/* The host compiler writes these, the GPU reads them. */
static_assert(sizeof(struct ac_scaler_state) == 80, "state layout");
static_assert(sizeof(struct ac_scaler_rule) == 48, "rule layout");
static_assert(sizeof(struct ac_scaler_set) == 16, "set layout");

enum {
	AC_SCALER_LAST = 0x7fffffff, /* what is counted goes no further */
	AC_SCALER_SCALE_NAN = 0x7fffffff
};

/* Which NaN arithmetic makes differs between GPU and CPU. */
AC_CAST_BODY float
ac_scaler_canonical(float x)
{
	return x == x ? x : ac_cast_float(AC_SCALER_SCALE_NAN);
}

AC_CAST_BODY void
ac_scaler_set_scale(struct ac_scaler_state *state, float scale)
{
	state->scale = ac_scaler_canonical(scale);
	state->inverse = ac_scaler_canonical((float)(1.0 / (double)scale));
	if (scale < state->least)
		state->least = scale;
	if (scale > state->most)
		state->most = scale;
}

/* The scale goes down, but not below the bound. */
AC_CAST_BODY bool
ac_scaler_fall(struct ac_scaler_state *state, const struct ac_scaler_rule *rule)
{
	const float old = state->scale;
	float scale = (float)((double)old * rule->down);
	const bool held = rule->least > 0 && (double)scale < rule->least;

	if (held)
		scale = (float)rule->least;
	ac_scaler_set_scale(state, scale);
	state->falls += scale < old;
	return held;
}

AC_CAST_BODY bool
ac_scaler_rise(struct ac_scaler_state *state, const struct ac_scaler_rule *rule)
{
	const float old = state->scale;
	float scale = (float)((double)old * rule->up);
	const bool held = (double)scale > rule->most;

	if ((ac_cast_bits(scale) & AC_CAST_INF) == AC_CAST_INF)
		return false;
	if (held)
		scale = (float)rule->most;
	ac_scaler_set_scale(state, scale);
	state->rises += scale > old;
	return held;
}

AC_CAST_BODY bool
ac_scaler_overflowed(struct ac_scaler_state *state,
    const struct ac_scaler_rule *rule)
{
	state->overflows++;
	state->last_overflow = state->updates;
	state->tracker = 0;
	if (state->patience > 0)
		state->patience--;
	return state->patience <= 0 && ac_scaler_fall(state, rule);
}

AC_CAST_BODY bool
ac_scaler_was_clean(struct ac_scaler_state *state,
    const struct ac_scaler_rule *rule)
{
	const int64_t next = (int64_t)state->tracker + 1;

	state->patience = rule->patience;
	if (next == rule->interval) {
		state->tracker = 0;
		return ac_scaler_rise(state, rule);
	}
	if (next <= AC_SCALER_LAST)
		state->tracker = (int32_t)next;
	return false;
}

/* One update: whether a bound held the scale. */
AC_CAST_BODY bool
ac_scaler_apply(struct ac_scaler_state *state,
    const struct ac_scaler_rule *rule)
{
	bool held;

	state->updates++;
	held = state->found ? ac_scaler_overflowed(state, rule)
	    : ac_scaler_was_clean(state, rule);
	state->found = 0;
	state->clamps += held;
	return held;
}

AC_CAST_BODY void
ac_scaler_assign(struct ac_scaler_state *state, const struct ac_scaler_set *set)
{
	if (set->which & AC_SCALER_SET_SCALE)
		ac_scaler_set_scale(state, set->scale);
	if (set->which & AC_SCALER_SET_TRACKER)
		state->tracker = set->tracker;
	if (set->which & AC_SCALER_SET_PATIENCE)
		state->patience = set->patience;
	if (set->which & AC_SCALER_SET_DROP)
		state->found = 0;
	if (!(set->which & AC_SCALER_SET_RESET))
		return;
	state->updates = state->overflows = state->rises = 0;
	state->falls = state->clamps = state->last_overflow = 0;
	state->least = state->most = state->scale;
}

#endif
