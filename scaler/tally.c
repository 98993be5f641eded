/* SPDX-License-Identifier: Apache-2.0 */
/* scaler/tally.c -- what the host learns of the state by the way, for
 * statistics (api/scaled.h). Asks no device: where steps told of all flags, the
 * rule says what an update makes of the state; else it is known again when
 * somebody reads it. The scaler's lock is held. */
#include "scaler/scaler.h"

#include "api/scaled.h"

void
ac_tally_made(autocast_scaler *scaler)
{
	scaler->seen = ac_core_first_state(&scaler->core);
	scaler->is_seen = true;
	if (!scaler->core.enabled)
		return;
	ac_scaled_enter()->scalers++;
	ac_scaled_leave();
}

void
ac_tally_answer(autocast_scaler *scaler, bool is_clean)
{
	struct ac_scaled *all = ac_scaled_enter();

	if (is_clean)
		all->steps++;
	else
		all->skips++;
	ac_scaled_leave();
	scaler->told_groups++;
}

void
ac_tally_state(autocast_scaler *scaler, const struct ac_scaler_state *state)
{
	const struct ac_scaler_state *before = &scaler->seen;
	struct ac_scaled *all = ac_scaled_enter();

	all->updates += state->updates - before->updates;
	all->overflows += state->overflows - before->overflows;
	all->rises += state->rises - before->rises;
	all->falls += state->falls - before->falls;
	all->scale = (double)state->scale;
	all->is_behind = scaler->is_replayed;
	ac_scaled_leave();
	scaler->seen = *state;
	scaler->is_seen = !scaler->is_replayed;
}

/* Its counters begin again. */
void
ac_tally_loaded(autocast_scaler *scaler, const struct ac_core_saved *saved)
{
	scaler->seen = (struct ac_scaler_state){ .scale = saved->scale,
		.tracker = saved->tracker, .patience = saved->patience };
	ac_tally_state(scaler, &scaler->seen);
}

void
ac_tally_lost(autocast_scaler *scaler)
{
	ac_scaled_enter()->is_behind = true;
	ac_scaled_leave();
	scaler->is_seen = false;
}

void
ac_tally_update(autocast_scaler *scaler, bool is_captured)
{
	struct ac_scaler_state state = scaler->seen;
	const bool all_told = scaler->told_epoch == scaler->core.epoch
	    && scaler->told_groups == scaler->core.checked;

	scaler->told_groups = 0;
	scaler->is_replayed |= is_captured;
	if (!scaler->is_seen || !all_told || scaler->is_replayed) {
		ac_tally_lost(scaler);
		return;
	}
	state.found = scaler->told.found;
	(void)ac_scaler_rule_apply(&state, &scaler->core.rule);
	ac_tally_state(scaler, &state);
}
