/* SPDX-License-Identifier: Apache-2.0 */
/* report/forecast/as_values.c -- what other policies would do with a run, as
 * comma-separated values and as JSON, the same names in both. What is not known
 * is empty, or null. Pure but for the sink. */
#include "report/forecast/forecast.h"
#include "report/write/csv.h"
#include "report/write/json.h"

#include <math.h>

static double
if_known(double us)
{
	return us > 0 ? us : NAN;
}

/* ---- A site ------------------------------------------------------------ */

/* What both formats say of one. */
struct site {
	char        operation[64];
	const char *then, *rung, *how, *source;
	unsigned    line;
	double      keep_us, then_us, policy_us, gain_us;
};

static void
describe(struct site *s, const struct ac_forecast *f)
{
	const struct ac_decision *d = &f->decision;
	const bool has_times = ac_forecast_has_times(f);
	const bool is_kept = d->rung == AC_RUNG_KEEP;
	const char *how;
	struct ac_text t;

	*s = (struct site){ .rung = "", .how = "", .source = "",
		.then = ac_rung_names[ac_site_row_rung(f->row, &how)],
		.keep_us = has_times ? f->keep_us : NAN,
		.then_us = has_times ? f->then_us : NAN,
		.policy_us = has_times ? f->recast_us : NAN };
	s->gain_us = (double)f->row->calls * (s->keep_us - s->policy_us);
	ac_text_init(&t, s->operation, sizeof s->operation);
	ac_site_add_operation(&t, f->row->rungs[0]);
	if (!f->is_read)
		return;
	s->rung = ac_rung_names[d->rung];
	s->how = is_kept ? ac_reason_names[d->reason]
	    : ac_tactic_names[d->tactic];
	s->source = d->source;
	s->line = (unsigned)d->line;
}

/* ---- Comma-separated values -------------------------------------------- */

static const char site_names[] = AC_CSV_SITE ",calls,share,then,rung,how,"
    "source,line,keep_us,then_us,policy_us,gain_us";

static void
add_site_row(struct ac_csv *w, const struct ac_forecast *f)
{
	struct site s;

	describe(&s, f);
	ac_csv_site(w, f->row->rungs[0]);
	ac_csv_unsigned(w, f->row->calls);
	ac_csv_number(w, f->row->share);
	ac_csv_name(w, s.then);
	ac_csv_name(w, s.rung);
	ac_csv_name(w, s.how);
	ac_csv_name(w, s.source);
	ac_csv_unsigned(w, s.line);
	ac_csv_number(w, s.keep_us);
	ac_csv_number(w, s.then_us);
	ac_csv_number(w, s.policy_us);
	ac_csv_number(w, s.gain_us);
	ac_csv_end_row(w);
}

static const char policy_names[] = "policy,calls,unknown_calls,keep_us,then_us,"
    "policy_us,ratio,recast_share";

static void
add_policy_row(struct ac_csv *w, const struct ac_forecast_policy *policy)
{
	const struct ac_forecast_sum *sum = &policy->sum;

	ac_csv_name(w, policy->typed);
	ac_csv_unsigned(w, sum->calls);
	ac_csv_unsigned(w, sum->unknown_calls);
	ac_csv_number(w, if_known(sum->keep_us));
	ac_csv_number(w, if_known(sum->then_us));
	ac_csv_number(w, if_known(sum->recast_us));
	ac_csv_number(w, if_known(ac_forecast_ratio(sum)));
	ac_csv_number(w, sum->recast_share);
	ac_csv_end_row(w);
}

void
ac_forecast_as_csv(const struct ac_forecast_view *view, ac_report_sink sink,
    void *context)
{
	const bool is_one = view->policy_count == 1;
	struct ac_csv w;

	ac_csv_begin(&w, is_one ? site_names : policy_names, sink, context);
	for (size_t i = 0; i < view->count && is_one; i++)
		add_site_row(&w, &view->forecasts[i]);
	for (size_t i = 0; i < view->policy_count && !is_one; i++)
		add_policy_row(&w, &view->policies[i]);
}

/* ---- JSON -------------------------------------------------------------- */

static void
add_site(struct ac_json *w, const struct ac_forecast *f)
{
	const struct ac_site_total *site = f->row->rungs[0];
	struct site s;

	describe(&s, f);
	ac_json_open(w, NULL, "{");
	ac_json_id(w, "id", site->id);
	ac_json_string(w, "name", site->name);
	ac_json_string(w, "region", site->region.name);
	ac_json_string(w, "operation", s.operation);
	ac_json_string(w, "shape", site->key.shape);
	ac_json_integer(w, "m", site->key.m);
	ac_json_integer(w, "n", site->key.n);
	ac_json_integer(w, "k", site->key.k);
	ac_json_integer(w, "batch", site->key.batch);
	ac_json_string(w, "type", site->key.type);
	ac_json_unsigned(w, "calls", f->row->calls);
	ac_json_measured(w, "share", f->row->share);
	ac_json_string(w, "then", s.then);
	ac_json_string(w, "rung", s.rung);
	ac_json_string(w, "how", s.how);
	ac_json_string(w, "source", s.source);
	ac_json_unsigned(w, "line", s.line);
	ac_json_measured(w, "keep_us", s.keep_us);
	ac_json_measured(w, "then_us", s.then_us);
	ac_json_measured(w, "policy_us", s.policy_us);
	ac_json_measured(w, "gain_us", s.gain_us);
	ac_json_close(w, "}");
}

static void
add_policy(struct ac_json *w, const struct ac_forecast_policy *policy)
{
	const struct ac_forecast_sum *sum = &policy->sum;

	ac_json_open(w, NULL, "{");
	ac_json_string(w, "policy", policy->typed);
	ac_json_unsigned(w, "calls", sum->calls);
	ac_json_unsigned(w, "unknown_calls", sum->unknown_calls);
	ac_json_measured(w, "keep_us", if_known(sum->keep_us));
	ac_json_measured(w, "then_us", if_known(sum->then_us));
	ac_json_measured(w, "policy_us", if_known(sum->recast_us));
	ac_json_measured(w, "ratio", if_known(ac_forecast_ratio(sum)));
	ac_json_measured(w, "recast_share", sum->recast_share);
	ac_json_close(w, "}");
}

void
ac_forecast_as_json(const struct ac_forecast_view *view, ac_report_sink sink,
    void *context)
{
	const struct ac_file_header *h = &view->report->processes[0];
	struct ac_json w;

	ac_json_begin(&w, sink, context);
	ac_json_integer(&w, "version", AC_REPORT_VERSION);
	ac_json_string(&w, "program", h->program);
	ac_json_string(&w, "run", h->run);
	ac_json_start(&w, "start", h->start_s);
	ac_json_string(&w, "then_policy", h->policy);
	ac_json_string(&w, "gpu", h->gpu);
	ac_json_string(&w, "rates", view->rates ? view->rates : "");
	ac_json_open(&w, "policies", "[");
	for (size_t i = 0; i < view->policy_count; i++)
		add_policy(&w, &view->policies[i]);
	ac_json_close(&w, "]");
	if (view->policy_count == 1) {
		ac_json_open(&w, "sites", "[");
		for (size_t i = 0; i < view->count; i++)
			add_site(&w, &view->forecasts[i]);
		ac_json_close(&w, "]");
	}
	ac_json_end(&w);
}
