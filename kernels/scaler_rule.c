/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/scaler_rule.c -- an update of the scale on the host. The
 * scaler's core calls it. */
#include "kernels/float_mode.h"
#include "kernels/scaler_update.h"

/* Called, so that nothing of it moves out of the mode. */
static __attribute__((noinline)) bool
apply(struct ac_scaler_state *state, const struct ac_scaler_rule *rule)
{
	return ac_scaler_apply(state, rule);
}

bool
ac_scaler_rule_apply(struct ac_scaler_state *state,
    const struct ac_scaler_rule *rule)
{
	const unsigned mode = ac_float_mode_enter();
	const bool held = apply(state, rule);

	ac_float_mode_leave(mode);
	return held;
}
