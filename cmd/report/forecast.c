/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/report/forecast.c -- autocast report --policy: what another policy would
 * do with the sites of a run. */
#include "cmd/report/output.h"
#include "policy/profit/calibration.h"
#include "report/write/forecast.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The rates of the run's GPU, those that were measured here if there are any;
 * NULL if nothing is known of it. */
static const struct ac_rates *
find_rates(const struct ac_file_header *process, struct ac_rates *measured)
{
	const char *gpu = *process->gpu ? process->gpu : NULL;
	char said[1024];
	struct ac_text why;

	ac_text_init(&why, said, sizeof said);
	if (ac_calibration_find(gpu, *process->library ? process->library
	    : NULL, measured, &why))
		return measured;
	if (why.used)
		ac_say(0, "report: %s", said);
	return ac_rates_find(gpu, process->sm);
}

/* 0 where it is not known, or where there is no such way. */
static double
predict(const struct ac_rates *rates, const struct ac_op *op,
    enum ac_rung rung, enum ac_tactic tactic)
{
	const double seconds = rates ? ac_profit_seconds(rates, op, rung,
	    rung == AC_RUNG_KEEP ? AC_TACTIC_NONE : tactic) : 0;

	return isfinite(seconds) && seconds > 0 ? 1e6 * seconds : 0;
}

static void
ask(struct ac_forecast *f, const struct ac_policy *policy,
    const struct ac_rates *rates, const struct ac_report *report,
    const struct ac_site_row *row)
{
	const struct ac_site_total *site = row->rungs[0];
	enum ac_reason reason;
	struct ac_op op;

	memset(f, 0, sizeof *f);
	f->row = row;
	f->is_read = ac_site_has_sizes(site);
	if (!f->is_read)
		return;
	ac_operation_of_site(report, site, &op);
	op.rates = rates;
	ac_policy_decide(policy, &op, &f->decision);
	f->keep_us = predict(rates, &op, AC_RUNG_KEEP, AC_TACTIC_NONE);
	f->recast_us = predict(rates, &op, f->decision.rung,
	    f->decision.tactic);
	f->then_us = predict(rates, &op, ac_site_row_is_kept(row, &reason)
	    ? AC_RUNG_KEEP : (enum ac_rung)site->rung,
	    (enum ac_tactic)site->tactic);
}

static int
write_forecast(const char *file, const struct ac_report *report,
    const struct ac_policy *policy, const struct ac_policy_origin *origin,
    enum ac_sort sort)
{
	struct ac_site_row *rows = NULL;
	struct ac_forecast *forecasts = NULL;
	struct ac_rates measured;
	const struct ac_rates *rates = find_rates(&report->processes[0],
	    &measured);
	size_t count = 0;
	struct ac_output output;

	if (ac_rows_make(report, sort, &rows, &count))
		forecasts = malloc((count + 1) * sizeof *forecasts);
	if (!forecasts)
		ac_say(0, "report: out of memory");
	if (!forecasts || !ac_output_open(&output, "report", file)) {
		free(rows);
		free(forecasts);
		return AC_EXIT_FAILED;
	}
	for (size_t i = 0; i < count; i++)
		ask(&forecasts[i], policy, rates, report, &rows[i]);
	ac_report_as_forecast(report, origin, rates ? rates->name
	    : "none: nothing is known of this GPU", forecasts, count,
	    ac_say_bytes, &output.fd);
	free(rows);
	free(forecasts);
	return ac_output_close(&output);
}

int
ac_forecast_print(const char *file, const struct ac_report *report,
    const struct ac_chosen *chosen, enum ac_sort sort)
{
	struct ac_policy_origin origin;
	struct ac_policy *policy = ac_chosen_load(chosen, &origin);
	int status;

	if (!policy)
		return AC_EXIT_USAGE;
	status = write_forecast(file, report, policy, &origin, sort);
	ac_policy_destroy(policy);
	return status;
}
