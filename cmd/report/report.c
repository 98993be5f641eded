/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/report/report.c -- autocast report: what an earlier run did. */
#include "cmd/report/request.h"
#include "report/report.h"

static int
no_ranges(const struct ac_request *r)
{
	return ac_say(AC_EXIT_FAILED, r->site ? "report: no exponents were "
	    "counted for a site '%s'; 'autocast report --ranges' shows all"
	    : "report: no exponents were counted%s; 'autocast run --ranges' "
	    "counts them", r->site ? r->site : "");
}

static void
ignore(const char *bytes, size_t count, void *context)
{
	(void)bytes, (void)count, (void)context;
}

static int
write_to(const struct ac_request *r, const struct ac_report *report)
{
	struct ac_output output;

	/* Before there is a file for it. */
	if (r->ranges && !ac_report_as_ranges(report, r->site, ignore, NULL))
		return no_ranges(r);
	if (!ac_output_open(&output, "report", r->file))
		return AC_EXIT_FAILED;
	if (r->ranges)
		(void)ac_report_as_ranges(report, r->site, ac_say_bytes,
		    &output.fd);
	else
		ac_format_write(r->format, report, &r->style, &output.fd);
	return ac_output_close(&output);
}

/* NULL after one line. */
static struct ac_report *
load(const struct ac_request *r)
{
	const unsigned which = r->runs[0] ? r->runs[0] : 1;
	struct ac_report *report;
	struct ac_text why = AC_TEXT_OF(512);

	if (r->saved) {
		report = ac_saved_load(r->saved, &why);
		if (!report)
			ac_say(0, "report: cannot use %s: %s", r->saved,
			    why.data);
	} else if (r->one_rank) {
		report = ac_report_load_rank(which, r->rank, &why);
	} else {
		report = ac_report_load(which, &why);
	}
	if (!report && !r->saved)
		ac_say(0, "report: %s", why.data);
	if (report && !r->saved)
		ac_report_name_callers(report);
	return report;
}

static int
print(const struct ac_request *r)
{
	struct ac_report *report = load(r);
	int status;

	if (!report)
		return AC_EXIT_FAILED;
	status = r->is_forecast ? ac_forecast_print(r, report)
	    : write_to(r, report);
	ac_report_destroy(report);
	return status;
}

static int
run(const struct ac_command *self, char **arguments)
{
	struct ac_arguments a = { .command = self, .next = arguments };
	struct ac_request r = { 0 };
	int status = 0, option;

	while (!status && (option = ac_arguments_next(&a)) != AC_ARGUMENT_END) {
		if (option == AC_ARGUMENT_STOP)
			return a.status;
		status = ac_request_take(&r, option, a.value);
	}
	if (!status)
		status = ac_request_check(&r);
	if (status)
		return status;
	if (r.is_list)
		return ac_past_print(r.file, r.format);
	return ac_request_is_comparison(&r)
	    ? ac_past_compare(r.file, r.runs, r.saved) : print(&r);
}

const struct ac_command ac_command_report = {
	.name = "report",
	.operands = "[@N [@M | FILE.json] | FILE.json] [SITE]",
	.summary = "Show what the last run did, site by site.",
	.details = "@2 is the run before the last, and so on. Two runs are "
	    "compared: totals, and the\nsites that changed. FILE.json is a "
	    "report that was saved, shown again, or\ncompared with a run. "
	    "SITE is for --ranges: an id or a name.\n",
	.options = {
		{ AC_REQUEST_LIST, "list", NULL, "the runs that are kept, "
		    "newest first" },
		{ AC_REQUEST_JSON, "json", NULL, "as JSON, every site" },
		{ AC_REQUEST_CSV, "csv", NULL, "as comma-separated values, a "
		    "line per site" },
		{ AC_REQUEST_HTML, "html", NULL, "as a web page with plots, in "
		    "one file" },
		{ AC_REQUEST_RANK, "rank", "N", "of rank N of a job alone" },
		{ AC_REQUEST_RANGES, "ranges", NULL, "what operands were made "
		    "of, and which rungs would fit" },
		{ AC_REQUEST_SORT, "sort", "work|gain|share|error|calls",
		    "which sites come first; work if not said" },
		{ AC_REQUEST_FILTER, "filter", "TEXT", "only sites with TEXT "
		    "in their line, region or shape" },
		{ AC_REQUEST_TOP, "top", "N", "the first N sites; 100 if not "
		    "said" },
		{ 'v', NULL, NULL, "more lines about each site" },
		{ AC_REQUEST_COLOR, "color", "auto|always|never", "auto, the "
		    "default, is on a terminal" },
		{ AC_OPTION_POLICY, "policy", "P", "estimate what this policy "
		    "would do with these sites; repeatable" },
		{ 'e', NULL, "RULE", "the same with a policy line before all "
		    "others; repeatable" },
		{ 'o', NULL, "FILE", "write to FILE instead of stdout; its "
		    "ending, .txt, .json, .csv or .html, says how" },
	},
	.run = run
};
