/* SPDX-License-Identifier: Apache-2.0 */
/* scaler/core.c -- see core.h. How the scale itself moves is
 * ac_scaler_rule_apply(), the same text as on the device. */
#include "scaler/core.h"

#include "api/status.h"

#include <float.h>

struct ac_scaler_state
ac_core_first_state(const struct ac_core *core)
{
	struct ac_scaler_state state = {
		.scale = core->init_scale,
		.inverse = (float)(1 / (double)core->init_scale),
		.tracker = core->init_tracker,
		.patience = core->init_patience,
		.least = core->init_scale, .most = core->init_scale
	};

	return state;
}

void
ac_core_scaled(struct ac_core *core)
{
	core->is_scaled = true;
}

/* ---- Stages ------------------------------------------------------------- */

enum ac_stage
ac_core_stage(const struct ac_core *core, const struct ac_core_group *group)
{
	return group->epoch == core->epoch ? group->stage : AC_STAGE_READY;
}

static const char *
name_of(const struct ac_core_group *group)
{
	return group->name ? group->name : "the group";
}

static autocast_status
check_scaled(const struct ac_core *core)
{
	if (core->is_scaled)
		return AUTOCAST_OK;
	return ac_status_fail(AUTOCAST_E_NOT_SCALED, "nothing was scaled yet: "
	    "autocast_scaler_scale() comes first");
}

static autocast_status
check_fp16(const struct ac_core *core, const struct ac_core_group *group,
    bool has_fp16)
{
	if (!has_fp16 || core->allow_fp16)
		return AUTOCAST_OK;
	return ac_status_fail(AUTOCAST_E_DTYPE, "%s has FP16 gradients: they "
	    "lose in unscaling (option allow_fp16 does it all the same)",
	    name_of(group));
}

autocast_status
ac_core_may_unscale(const struct ac_core *core,
    const struct ac_core_group *group, bool has_fp16)
{
	autocast_status status;

	if (!core->enabled)
		return AUTOCAST_OK;
	status = check_scaled(core);
	if (status)
		return status;
	switch (ac_core_stage(core, group)) {
	case AC_STAGE_UNSCALED:
		return ac_status_fail(AUTOCAST_E_ALREADY_UNSCALED,
		    "%s was unscaled since the last update", name_of(group));
	case AC_STAGE_STEPPED:
		return ac_status_fail(AUTOCAST_E_UNSCALE_AFTER_STEP,
		    "%s was stepped since the last update", name_of(group));
	case AC_STAGE_READY:
		break;
	}
	return check_fp16(core, group, has_fp16);
}

static void
enter(struct ac_core *core, struct ac_core_group *group, enum ac_stage stage)
{
	if (group->epoch != core->epoch) {
		group->epoch = core->epoch;
		group->is_checked = group->is_divided = false;
	}
	group->stage = stage;
}

void
ac_core_checked(struct ac_core *core, struct ac_core_group *group, bool divided)
{
	if (!core->enabled)
		return;
	enter(core, group, AC_STAGE_UNSCALED);
	group->is_checked = true;
	group->is_divided = divided;
	core->checked++;
}

void
ac_core_unscaled(struct ac_core *core, struct ac_core_group *group,
    bool has_gradients)
{
	if (!core->enabled)
		return;
	if (has_gradients) {
		ac_core_checked(core, group, true);
	} else {
		enter(core, group, AC_STAGE_UNSCALED);
		group->is_divided = true;
	}
}

bool
ac_core_is_unused(const struct ac_core *core, const struct ac_core_group *group)
{
	switch (ac_core_stage(core, group)) {
	case AC_STAGE_READY:
		return true;
	case AC_STAGE_UNSCALED:
		return !group->is_checked;
	case AC_STAGE_STEPPED:
		break;
	}
	return false;
}

void
ac_core_replaced(struct ac_core *core, struct ac_core_group *group)
{
	enter(core, group, AC_STAGE_READY);
}

autocast_status
ac_core_may_clip(const struct ac_core *core, const struct ac_core_group *group)
{
	if (!core->enabled)
		return AUTOCAST_OK;
	if (group->epoch == core->epoch && group->is_divided
	    && group->stage == AC_STAGE_UNSCALED)
		return AUTOCAST_OK;
	if (ac_core_stage(core, group) == AC_STAGE_STEPPED)
		return ac_status_fail(AUTOCAST_E_NOT_UNSCALED,
		    "%s was stepped: norms and clipping come between "
		    "autocast_scaler_unscale() and the step", name_of(group));
	return ac_status_fail(AUTOCAST_E_NOT_UNSCALED,
	    "%s is not unscaled: autocast_scaler_unscale() comes first",
	    name_of(group));
}

autocast_status
ac_core_may_add(const struct ac_core *core, const struct ac_core_group *group)
{
	if (!core->enabled || (group->epoch == core->epoch
	    && group->is_checked))
		return AUTOCAST_OK;
	return ac_status_fail(AUTOCAST_E_NOT_UNSCALED,
	    "%s has no flag yet: it was neither unscaled nor stepped since the "
	    "last update", name_of(group));
}

/* ---- Steps -------------------------------------------------------------- */

bool
ac_core_must_check(const struct ac_core *core,
    const struct ac_core_group *group)
{
	return core->enabled && ac_core_stage(core, group) == AC_STAGE_READY;
}

autocast_status
ac_core_may_step(struct ac_core *core, struct ac_core_group *group,
    bool divide, bool has_gradients, bool has_fp16)
{
	autocast_status status;
	bool is_checked;

	if (!core->enabled)
		return AUTOCAST_OK;
	status = check_scaled(core);
	if (status)
		return status;
	if (ac_core_stage(core, group) == AC_STAGE_STEPPED)
		return ac_status_fail(AUTOCAST_E_ALREADY_STEPPED,
		    "%s was stepped since the last update", name_of(group));
	is_checked = has_gradients;
	if (ac_core_must_check(core, group)) {
		status = check_fp16(core, group, has_fp16 && divide);
		if (status)
			return status;
		if (!has_gradients && !core->strict)
			ac_core_unscaled(core, group, false);
	} else {
		is_checked = group->is_checked;
	}
	if (is_checked)
		return AUTOCAST_OK;
	return ac_status_fail(AUTOCAST_E_NO_CHECKS_GROUP,
	    "%s has no gradients that could be checked", name_of(group));
}

void
ac_core_stepped(struct ac_core *core, struct ac_core_group *group)
{
	if (core->enabled)
		enter(core, group, AC_STAGE_STEPPED);
}

/* ---- Updates ------------------------------------------------------------ */

bool
ac_core_is_busy(const struct ac_core *core)
{
	return core->checked > 0;
}

autocast_status
ac_core_may_update(const struct ac_core *core)
{
	autocast_status status;

	if (!core->enabled)
		return AUTOCAST_OK;
	status = check_scaled(core);
	if (status || core->checked)
		return status;
	return ac_status_fail(AUTOCAST_E_NO_CHECKS, "no group that has "
	    "gradients was unscaled or stepped since the last update "
	    "(autocast_scaler_update_to() ends such an iteration, too)");
}

autocast_status
ac_core_may_update_to(const struct ac_core *core, double scale)
{
	autocast_status status;

	if (!core->enabled)
		return AUTOCAST_OK;
	status = check_scaled(core);
	if (status || !core->strict)
		return status;
	if (!(scale > 0) || (float)scale > FLT_MAX)
		return ac_status_fail(AUTOCAST_E_INVALID,
		    "the new scale must be positive and finite");
	if (scale < core->rule.least || scale > core->rule.most)
		return ac_status_fail(AUTOCAST_E_INVALID,
		    "the new scale is not within min_scale and max_scale");
	return AUTOCAST_OK;
}

void
ac_core_updated(struct ac_core *core)
{
	core->checked = 0;
	core->epoch++;
}

autocast_status
ac_core_may_load(const struct ac_core *core, struct ac_core_saved *saved)
{
	/* As scales are: what was held there can be loaded again. */
	const float least = (float)core->rule.least;
	const float most = (float)core->rule.most;
	const bool is_below = core->rule.least > 0 && saved->scale < least;

	if (!is_below && !(saved->scale > most))
		return AUTOCAST_OK;
	if (core->strict)
		return ac_status_fail(AUTOCAST_E_STATE_FORMAT, "the saved "
		    "state's scale is %s", is_below
		    ? "below the smallest that there may be"
		    : "above max_scale");
	saved->scale = is_below ? least : most;
	return AUTOCAST_OK;
}

void
ac_core_load(struct ac_core *core, const struct ac_core_saved *saved)
{
	core->rule.up = saved->growth;
	core->rule.down = saved->backoff;
	core->rule.interval = saved->interval;
	core->init_scale = saved->scale;
	core->init_tracker = saved->tracker;
	core->init_patience = saved->patience;
}
