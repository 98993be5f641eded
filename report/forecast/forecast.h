/* SPDX-License-Identifier: Apache-2.0 */
/* report/forecast/forecast.h -- what another policy would do with the sites of
 * a run: predicted, never run. */
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

/* All three of its times are known, and it is FP32 work. */
bool ac_forecast_has_times(const struct ac_forecast *f);

/* All FP32 calls under one policy. Times are of those whose times are known. */
struct ac_forecast_sum {
	double   keep_us, recast_us, then_us;
	double   recast_share;       /* of the FP32 work; 0..1 */
	uint64_t calls;              /* whose times are known */
	uint64_t unknown_calls, unknown_sites;
};
void ac_forecast_add_up(const struct ac_forecast *forecasts, size_t count,
    struct ac_forecast_sum *sum_out);
/* How many times as fast as on the rungs of the run; 0: not known. */
double ac_forecast_ratio(const struct ac_forecast_sum *sum);

/* A policy and what it would do. */
struct ac_forecast_policy {
	char name[24];               /* short, for a column */
	const char *typed;           /* as typed, or the policy's own name */
	struct ac_policy_origin origin;
	struct ac_forecast_sum  sum;
};

/* What a writer gets: one policy with the sites, or several without. */
struct ac_forecast_view {
	const struct ac_report *report;
	const char *rates;           /* whose; NULL: nothing is known of the
	                              * GPU */
	const struct ac_forecast_policy *policies;
	size_t      policy_count;    /* 1 or more */
	const struct ac_forecast *forecasts; /* of one policy */
	size_t      count;
};

/* A line per site, in their order, and the sums of all. */
void ac_forecast_as_text(const struct ac_forecast_view *view,
    ac_report_sink sink, void *context);
/* A line per policy. */
void ac_forecast_as_ratios(const struct ac_forecast_view *view,
    ac_report_sink sink, void *context);
/* Of one policy a row per site, of several a row per policy. */
void ac_forecast_as_csv(const struct ac_forecast_view *view,
    ac_report_sink sink, void *context);
/* One object; with `sites` of one policy. */
void ac_forecast_as_json(const struct ac_forecast_view *view,
    ac_report_sink sink, void *context);

/* The head of both texts. */
struct ac_page;
void ac_forecast_print_run(struct ac_page *p,
    const struct ac_forecast_view *view);

#endif
