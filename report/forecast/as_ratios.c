/* SPDX-License-Identifier: Apache-2.0 */
/* report/forecast/as_ratios.c -- what several policies would do with a run, a
 * line each, as text of 100 columns at most. Pure but for the sink. */
#include "report/forecast/forecast.h"
#include "report/write/page.h"

static const struct ac_page_column columns[] = {
	{ "policy",   24, 2, false, false },
	{ "calls",    9,  2, true,  false },
	{ "plain",    8,  2, true,  false },
	{ "then",     8,  2, true,  false },
	{ "under it", 8,  2, true,  false },
	{ "ratio",    6,  2, true,  false },
	{ "recast",   7,  2, true,  false },
};

static void
add_time(struct ac_text *t, double us)
{
	ac_text_add(t, us > 0 ? AC_TIME(us) : "-");
}

static void
print_policy(struct ac_page *p, const struct ac_forecast_policy *policy)
{
	const struct ac_forecast_sum *sum = &policy->sum;
	struct ac_page_row row = { .count = 0 };

	ac_text_pad(&p->line, AC_PAGE_INDENT);
	ac_text_add(ac_page_cell(&row), policy->name);
	ac_text_addf(ac_page_cell(&row), "%llu",
	    (unsigned long long)sum->calls);
	add_time(ac_page_cell(&row), sum->keep_us);
	add_time(ac_page_cell(&row), sum->then_us);
	add_time(ac_page_cell(&row), sum->recast_us);
	ac_text_add(ac_page_cell(&row), sum->recast_us > 0
	    ? AC_RATIO(ac_forecast_ratio(sum)) : "-");
	ac_share_add(ac_page_cell(&row), sum->recast_share, 1);
	ac_page_add_row(p, columns, &row);
	ac_page_end_line(p);
}

/* Whether they are as many calls under each policy: it may have a rung of which
 * no time is known. */
static bool
is_unknown_to_all(const struct ac_forecast_view *view)
{
	for (size_t i = 1; i < view->policy_count; i++)
		if (view->policies[i].sum.unknown_calls
		    != view->policies[0].sum.unknown_calls)
			return false;
	return true;
}

static void
print_unknown(struct ac_page *p, const struct ac_forecast_view *view)
{
	const size_t count = is_unknown_to_all(view) ? 1 : view->policy_count;

	for (size_t i = 0; i < count; i++) {
		const struct ac_forecast_policy *policy = &view->policies[i];

		if (!policy->sum.unknown_calls)
			continue;
		ac_page_print(p, "  without %s of which no time is known%s%s",
		    AC_COUNT(policy->sum.unknown_calls, "call"), count > 1
		    ? " under " : "", count > 1 ? policy->name : "");
	}
}

void
ac_forecast_as_ratios(const struct ac_forecast_view *view,
    ac_report_sink sink, void *context)
{
	struct ac_page p = { .sink = sink, .context = context };

	ac_text_init(&p.line, p.buffer, sizeof p.buffer);
	ac_forecast_print_run(&p, view);
	ac_page_end_line(&p);
	ac_page_print_titles(&p, columns, sizeof columns / sizeof *columns);
	for (size_t i = 0; i < view->policy_count; i++)
		print_policy(&p, &view->policies[i]);
	print_unknown(&p, view);
	ac_page_end_line(&p);
	ac_page_print(&p, "Estimated device time: plain, as the program makes "
	    "the calls; then, on the rungs of the run;");
	ac_page_print(&p, "ratio: then / under it; recast: the part of the "
	    "FP32 FLOPs that the policy would recast.");
	ac_page_print(&p, "Nothing was run: guards, trials and graph captures "
	    "may keep calls, and errors are not estimated.");
}
