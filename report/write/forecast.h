/* SPDX-License-Identifier: Apache-2.0 */
/* report/write/forecast.h -- what another policy would do with the sites of a
 * run: predicted, never run. */
#ifndef AC_REPORT_FORECAST_H
#define AC_REPORT_FORECAST_H

#include "policy/policy.h"
#include "report/read/rows.h"

/* Times are microseconds of one call, predicted from the GPU's rates; 0: not
 * known. */
struct ac_forecast {
	const struct ac_site_row *row;
	bool   is_read;              /* false: its sizes are not known */
	struct ac_decision decision; /* of that policy */
	double keep_us;              /* as the program made it */
	double recast_us;            /* as decided; keep_us if it is kept */
	double then_us;              /* as the run decided */
};

/* A line per site, in their order, and the sums of all. `rates` says whose they
 * are. */
void ac_report_as_forecast(const struct ac_report *report,
    const struct ac_policy_origin *origin, const char *rates,
    const struct ac_forecast *forecasts, size_t count, ac_report_sink sink,
    void *context);

#endif
