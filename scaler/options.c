/* SPDX-License-Identifier: Apache-2.0 */
/* scaler/options.c -- which options and settings a scaler takes, strict or as
 * PyTorch does. */
#include "scaler/core.h"

#include "api/status.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define SMALLEST 0x1p-149 /* the smallest subnormal float */

enum { LARGEST = 4096 }; /* bytes that options will ever have */

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
	return ac_status_fail(AUTOCAST_E_INVALID,
	    "interval must be at least 1");
}

/* The smallest scale there may be; 0: none. Strict: never 0. */
static double
least_of(const autocast_scaler_options *o)
{
	if (!o->strict)
		return o->min_scale;
	return o->min_scale > SMALLEST ? o->min_scale : SMALLEST;
}

static autocast_status
check_bounds(const autocast_scaler_options *o)
{
	if (!(o->min_scale >= 0) || !(o->max_scale >= 0))
		return ac_status_fail(AUTOCAST_E_INVALID,
		    "min_scale and max_scale must not be negative or NaN");
	if (o->min_scale > FLT_MAX)
		return ac_status_fail(AUTOCAST_E_INVALID, "min_scale is above "
		    "FLT_MAX: no scale is as large");
	if (o->max_scale > 0 && o->min_scale > o->max_scale)
		return ac_status_fail(AUTOCAST_E_INVALID,
		    "min_scale is above max_scale");
	if (o->max_scale > 0 && least_of(o) > o->max_scale)
		return ac_status_fail(AUTOCAST_E_INVALID, "max_scale is below "
		    "the smallest scale that strict allows, 0x1p-149");
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
		    "options.size is not set: begin with "
		    "AUTOCAST_SCALER_OPTIONS");
	if (size > LARGEST)
		return ac_status_fail(AUTOCAST_E_INVALID,
		    "options.size is %zu: begin with "
		    "AUTOCAST_SCALER_OPTIONS", size);
	for (size_t i = sizeof *o; i < size; i++)
		if (bytes[i])
			return ac_status_fail(AUTOCAST_E_ABI,
			    "an option that this library does not know is set");
	memcpy(o, options, size < sizeof *o ? size : sizeof *o);
	if (o->reserved)
		return ac_status_fail(AUTOCAST_E_ABI, "options.reserved is %d: "
		    "this library knows no such option", (int)o->reserved);
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
	core.rule.least = least_of(&o);
	core.rule.most = o.max_scale > 0 ? o.max_scale : INFINITY;
	init = o.init_scale;
	if (core.rule.least > 0 && init < core.rule.least)
		init = core.rule.least;
	if (o.max_scale > 0 && init > o.max_scale)
		init = o.max_scale;
	core.init_scale = (float)init;
	core.init_patience = o.hysteresis;
	*core_out = core;
	return AUTOCAST_OK;
}

/* ---- Settings ----------------------------------------------------------- */

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
