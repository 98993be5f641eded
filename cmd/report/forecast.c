/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/report/forecast.c -- autocast report --policy: what other policies would
 * do with the sites of a run. */
#include "cmd/report/request.h"
#include "policy/profit/calibration.h"
#include "report/forecast/forecast.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The rates of the run's GPU, those that were measured here if there are any;
 * NULL if nothing is known of it. */
static const struct ac_rates *
find_rates(const struct ac_file_header *process, struct ac_rates *measured)
{
	const char *gpu = *process->gpu ? process->gpu : NULL;
	struct ac_text why = AC_TEXT_OF(1024);

	if (ac_calibration_find(gpu, *process->library ? process->library
	    : NULL, measured, &why))
		return measured;
	if (why.used)
		ac_say(0, "report: %s", why.data);
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
	const char *how;
	struct ac_op op;

	memset(f, 0, sizeof *f);
	f->row = row;
	f->is_read = ac_site_has_sizes(site);
	if (!f->is_read)
		return;
	ac_operation_of_site(report, site, &op);
	op.rates = rates;
	ac_policy_decide(policy, &op, &f->decision);
	/* A run keeps it, but for trials of it that come late. */
	if (f->decision.is_doubtful)
		ac_decision_keep(&f->decision, AC_REASON_NO_PROFIT);
	f->keep_us = predict(rates, &op, AC_RUNG_KEEP, AC_TACTIC_NONE);
	f->recast_us = predict(rates, &op, f->decision.rung,
	    f->decision.tactic);
	f->then_us = predict(rates, &op, ac_site_row_rung(row, &how),
	    (enum ac_tactic)site->tactic);
}

/* ---- The policies ------------------------------------------------------ */

/* Loaded, and what they would do; forecasts of the last one are there. */
struct asked {
	struct ac_forecast_view view;
	struct ac_policy *loaded[AC_REQUEST_POLICIES];
	struct ac_forecast_policy policies[AC_REQUEST_POLICIES];
	struct ac_site_row *rows;
	struct ac_forecast *forecasts;
};

/* One that is typed, or that in force. All of them, before any is asked: a
 * mistake is said at once. */
static bool
load(struct asked *asked, const struct ac_request *r)
{
	struct ac_chosen chosen = r->chosen;
	const size_t count = r->policy_count ? r->policy_count : 1;

	for (size_t i = 0; i < count; i++) {
		struct ac_forecast_policy *policy = &asked->policies[i];
		struct ac_text name = AC_TEXT_IN(policy->name);

		chosen.policy = r->policies[i];
		asked->loaded[i] = ac_chosen_load(&chosen, &policy->origin);
		if (!asked->loaded[i])
			return false;
		policy->typed = chosen.policy ? chosen.policy
		    : policy->origin.name;
		ac_chosen_name(&name, policy->typed, i + 1);
		asked->view.policy_count++;
	}
	return true;
}

static bool
ask_all(struct asked *asked, const struct ac_request *r,
    const struct ac_rates *rates)
{
	struct ac_forecast_view *view = &asked->view;

	if (ac_rows_make(view->report, r->style.sort, &asked->rows,
	    &view->count))
		asked->forecasts = malloc((view->count + 1)
		    * sizeof *asked->forecasts);
	if (!asked->forecasts)
		return false;
	for (size_t p = 0; p < view->policy_count; p++) {
		for (size_t i = 0; i < view->count; i++)
			ask(&asked->forecasts[i], asked->loaded[p], rates,
			    view->report, &asked->rows[i]);
		ac_forecast_add_up(asked->forecasts, view->count,
		    &asked->policies[p].sum);
	}
	view->policies = asked->policies;
	view->forecasts = asked->forecasts;
	view->rates = rates ? rates->name : NULL;
	return true;
}

static int
print(const struct ac_request *r, const struct ac_forecast_view *view)
{
	struct ac_output output;

	if (!ac_output_open(&output, "report", r->file))
		return AC_EXIT_FAILED;
	if (r->format == AC_FORMAT_CSV)
		ac_forecast_as_csv(view, ac_say_bytes, &output.fd);
	else if (r->format == AC_FORMAT_JSON)
		ac_forecast_as_json(view, ac_say_bytes, &output.fd);
	else if (view->policy_count > 1)
		ac_forecast_as_ratios(view, ac_say_bytes, &output.fd);
	else
		ac_forecast_as_text(view, ac_say_bytes, &output.fd);
	return ac_output_close(&output);
}

int
ac_forecast_print(const struct ac_request *request,
    const struct ac_report *report)
{
	struct asked asked = { .view.report = report };
	struct ac_rates measured;
	int status = AC_EXIT_USAGE;

	if (load(&asked, request))
		status = ask_all(&asked, request,
		    find_rates(&report->processes[0], &measured))
		    ? print(request, &asked.view)
		    : ac_say(AC_EXIT_FAILED, "report: out of memory");
	for (size_t i = 0; i < asked.view.policy_count; i++)
		ac_policy_destroy(asked.loaded[i]);
	free(asked.forecasts);
	free(asked.rows);
	return status;
}
