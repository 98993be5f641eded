/* SPDX-License-Identifier: Apache-2.0 */
/* report/forecast/sums.c -- what a policy would do with all calls of a run.
 * Pure. */
#include "report/forecast/forecast.h"

bool
ac_forecast_has_times(const struct ac_forecast *f)
{
	return f->is_read && f->row->rungs[0]->is_fp32 && f->keep_us > 0
	    && f->recast_us > 0 && f->then_us > 0;
}

static void
add(struct ac_forecast_sum *sum, const struct ac_forecast *f)
{
	const double calls = (double)f->row->calls;

	if (f->is_read && !f->row->rungs[0]->is_fp32)
		return; /* no policy recasts it */
	if (f->is_read && f->decision.rung != AC_RUNG_KEEP)
		sum->recast_share += f->row->share;
	if (!ac_forecast_has_times(f)) {
		sum->unknown_calls += f->row->calls;
		sum->unknown_sites++;
		return;
	}
	sum->calls += f->row->calls;
	sum->keep_us += calls * f->keep_us;
	sum->recast_us += calls * f->recast_us;
	sum->then_us += calls * f->then_us;
}

void
ac_forecast_add_up(const struct ac_forecast *forecasts, size_t count,
    struct ac_forecast_sum *sum_out)
{
	*sum_out = (struct ac_forecast_sum){ 0 };
	for (size_t i = 0; i < count; i++)
		add(sum_out, &forecasts[i]);
	if (sum_out->recast_share > 1)
		sum_out->recast_share = 1; /* of many sites: rounding */
}

double
ac_forecast_ratio(const struct ac_forecast_sum *sum)
{
	return sum->recast_us > 0 ? sum->then_us / sum->recast_us : 0;
}
