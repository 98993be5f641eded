/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/scaler/scaler_rule.c -- what needs no device: an update of the scale
 * on the host, the numbers of chunks. The scaler calls it. */
#include "kernels/recast/float_mode.h"
#include "kernels/scaler/scaler_body.h"
#include "kernels/scaler/scaler_update.h"

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

uint64_t
ac_scaler_number_chunks(struct ac_scaler_tensor *tensors, size_t count)
{
	uint64_t chunks = 0;

	for (size_t i = 0; i < count; i++) {
		tensors[i].first_chunk = chunks;
		chunks += ac_scaler_chunks(tensors[i].count);
	}
	return chunks;
}
