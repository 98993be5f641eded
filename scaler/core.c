/* SPDX-License-Identifier: Apache-2.0 */
/* scaler/core.c -- see core.h. How the scale itself moves is
 * ac_scaler_rule_apply(), the same text as on the device. */
#include "scaler/core.h"

#include "api/status.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define SMALLEST 0x1p-149

/* ---- Options ------------------------------------------------------------ */

static autocast_status
check_growth(double growth)
{
	if (growth > 1)
		return AUTOCAST_OK;
	return ac_status_fail(AUTOCAST_E_INVALID, "growth must be above 1");
}

static autocast_status
check_backoff(double backoff, bool strict)
{
	if (strict && !(backoff > 0 && backoff < 1))
		return ac_status_fail(AUTOCAST_E_INVALID,
		    "backoff must be above 0 and below 1");
	if (!(backoff < 1))
		return ac_status_fail(AUTOCAST_E_INVALID,
		    "backoff must be below 1");
	return AUTOCAST_OK;
}

static autocast_status
check_interval(int64_t interval)
{
	if (interval >= 1)
		return AUTOCAST_OK;
	return ac_status_fail(AUTOCAST_E_INVALID, "interval must be at least 1");
}

static autocast_status
check_bounds(const autocast_scaler_options *o)
{
	if (!(o->min_scale >= 0) || !(o->max_scale >= 0)
	    || o->min_scale > FLT_MAX)
		return ac_status_fail(AUTOCAST_E_INVALID,
		    "min_scale and max_scale must not be negative or NaN");
	if (o->max_scale > 0 && o->min_scale > o->max_scale)
		return ac_status_fail(AUTOCAST_E_INVALID,
		    "min_scale is above max_scale");
	if (o->hysteresis < 1)
		return ac_status_fail(AUTOCAST_E_INVALID,
		    "hysteresis must be at least 1");
	if (o->strict && !(o->init_scale > 0 && o->init_scale <= FLT_MAX))
		return ac_status_fail(AUTOCAST_E_INVALID,
		    "init_scale must be positive and finite");
	return AUTOCAST_OK;
}

static autocast_status
check_options(const autocast_scaler_options *o)
{
	autocast_status status = check_growth(o->growth);

	if (!status)
		status = check_backoff(o->backoff, o->strict);
	if (!status && o->strict)
		status = check_interval(o->interval);
	return status ? status : check_bounds(o);
}

/* The options as this library knows them: what an older program does not have
 * is the default, what a newer one has besides must be 0. */
static autocast_status
copy_options(const autocast_scaler_options *options,
    autocast_scaler_options *o)
{
	const unsigned char *const bytes = (const unsigned char *)options;
	size_t size;

	if (!options)
		return AUTOCAST_OK;
	size = options->size;
	if (size < sizeof o->size)
		return ac_status_fail(AUTOCAST_E_INVALID,
		    "options.size is not set: begin with AUTOCAST_SCALER_OPTIONS");
	for (size_t i = sizeof *o; i < size; i++)
		if (bytes[i])
			return ac_status_fail(AUTOCAST_E_ABI,
			    "an option that this library does not know is set");
	memcpy(o, options, size < sizeof *o ? size : sizeof *o);
	return AUTOCAST_OK;
}

autocast_status
ac_core_init(const autocast_scaler_options *options, struct ac_core *core_out)
{
	autocast_scaler_options o = AUTOCAST_SCALER_OPTIONS;
	autocast_status status = copy_options(options, &o);
	struct ac_core core = { .epoch = 1 };
	double init;

	if (!status && o.enabled)
		status = check_options(&o);
	if (status)
		return status;
	core.enabled = o.enabled;
	core.strict = o.strict;
	core.check_after = o.check_after;
	core.allow_fp16 = o.allow_fp16;
	core.rule.up = o.growth;
	core.rule.down = o.backoff;
	core.rule.interval = o.interval;
	core.rule.patience = o.hysteresis;
	core.rule.least = o.min_scale;
	if (o.strict && core.rule.least < SMALLEST)
		core.rule.least = SMALLEST;
	core.rule.most = o.max_scale > 0 ? o.max_scale : INFINITY;
	init = o.init_scale;
	if (o.min_scale > 0 && init < o.min_scale)
		init = o.min_scale;
	if (o.max_scale > 0 && init > o.max_scale)
		init = o.max_scale;
	core.init_scale = (float)init;
	core.init_patience = o.hysteresis;
	*core_out = core;
	return AUTOCAST_OK;
}

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

autocast_status
ac_core_may_clip(const struct ac_core *core, const struct ac_core_group *group)
{
	if (!core->enabled)
		return AUTOCAST_OK;
	if (group->epoch == core->epoch && group->is_divided
	    && group->stage == AC_STAGE_UNSCALED)
		return AUTOCAST_OK;
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
	return ac_status_fail(AUTOCAST_E_NO_CHECKS, "no group was unscaled or "
	    "stepped since the last update");
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

/* ---- Settings and state -------------------------------------------------- */

autocast_status
ac_core_set_growth(struct ac_core *core, double growth)
{
	autocast_status status = core->enabled && core->strict
	    ? check_growth(growth) : AUTOCAST_OK;

	if (!status)
		core->rule.up = growth;
	return status;
}

autocast_status
ac_core_set_backoff(struct ac_core *core, double backoff)
{
	autocast_status status = core->enabled && core->strict
	    ? check_backoff(backoff, true) : AUTOCAST_OK;

	if (!status)
		core->rule.down = backoff;
	return status;
}

autocast_status
ac_core_set_interval(struct ac_core *core, int64_t interval)
{
	autocast_status status = core->enabled && core->strict
	    ? check_interval(interval) : AUTOCAST_OK;

	if (!status)
		core->rule.interval = interval;
	return status;
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
