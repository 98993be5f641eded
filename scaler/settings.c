/* SPDX-License-Identifier: Apache-2.0 */
/* scaler/settings.c -- the factors and the interval, one at a time. */
#include "scaler/scaler.h"

#include "api/status.h"

static autocast_status
check_setter(const autocast_scaler *scaler)
{
	if (scaler)
		return AUTOCAST_OK;
	return ac_status_fail(AUTOCAST_E_INVALID, "scaler is NULL");
}

static autocast_status
check_getter(const autocast_scaler *scaler, const void *out)
{
	if (!scaler || !out)
		return ac_status_fail(AUTOCAST_E_INVALID, "%s is NULL",
		    scaler ? "where to write it" : "scaler");
	if (!scaler->core.enabled)
		return ac_status_fail(AUTOCAST_E_INVALID,
		    "the scaler is disabled: it has no such setting");
	return AUTOCAST_OK;
}

/* One setter and one getter for a field of the rule. */
#define SETTING(name, type, field)                                            \
autocast_status                                                               \
autocast_scaler_set_##name(autocast_scaler *scaler, type value)               \
{                                                                             \
	autocast_status status = check_setter(scaler);                        \
									      \
	if (status)                                                           \
		return status;                                                \
	ac_lock_take(&scaler->lock);                                          \
	status = ac_core_set_##name(&scaler->core, value);                    \
	ac_lock_give(&scaler->lock);                                          \
	return status;                                                        \
}                                                                             \
									      \
autocast_status                                                               \
autocast_scaler_get_##name(const autocast_scaler *scaler, type *value_out)    \
{                                                                             \
	struct ac_lock *const lock = (struct ac_lock *)(uintptr_t)            \
	    (scaler ? &scaler->lock : NULL);                                  \
	const autocast_status status = check_getter(scaler, value_out);       \
									      \
	if (status)                                                           \
		return status;                                                \
	ac_lock_take(lock);                                                   \
	*value_out = scaler->core.rule.field;                                 \
	ac_lock_give(lock);                                                   \
	return AUTOCAST_OK;                                                   \
}

SETTING(growth, double, up)
SETTING(backoff, double, down)
SETTING(interval, int64_t, interval)
