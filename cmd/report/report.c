/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/report/report.c -- autocast report: what an earlier run did. */
#include "cmd/report/output.h"
#include "report/report.h"

#include <string.h>
#include <unistd.h>

enum {
	OPT_JSON = AC_OPTION_OWN, OPT_RANGES, OPT_HTML, OPT_CSV, OPT_SORT,
	OPT_COLOR, OPT_RANK, OPT_LIST, OPT_FILTER, OPT_TOP
};

struct request {
	unsigned    runs[2];    /* 0: not named, the last */
	const char *saved;      /* a file; NULL: a run that is kept */
	bool        is_list;
	bool        is_forecast;
	struct ac_chosen chosen; /* of the forecast */
	const char *file;       /* NULL: stdout */
	enum ac_report_format format;
	bool        has_format;  /* by an option */
	bool        ranges;
	struct ac_report_style style;
	enum ac_color color;
	bool        one_rank;   /* of a job, `rank` */
	int         rank;
	const char *site;       /* of --ranges; NULL: all */
};

static int
no_ranges(const struct request *r)
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
write_to(const struct request *r, const struct ac_report *report)
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
load(const struct request *r)
{
	const unsigned which = r->runs[0] ? r->runs[0] : 1;
	char buffer[512];
	struct ac_report *report;
	struct ac_text why;

	ac_text_init(&why, buffer, sizeof buffer);
	if (r->saved) {
		report = ac_saved_load(r->saved, &why);
		if (!report)
			ac_say(0, "report: cannot use %s: %s", r->saved,
			    buffer);
	} else if (r->one_rank) {
		report = ac_report_load_rank(which, r->rank, &why);
		if (!report)
			ac_say(0, "report: %s; 'autocast report' names the "
			    "ranks of a job", buffer);
	} else {
		report = ac_report_load(which, &why);
		if (!report)
			ac_say(0, which > 1 ? "report: %s; 'autocast report' "
			    "shows the last" : "report: %s; try 'autocast run "
			    "./program' first", buffer);
	}
	if (report && !r->saved)
		ac_report_name_callers(report);
	return report;
}

static int
print(const struct request *r)
{
	struct ac_report *report = load(r);
	int status;

	if (!report)
		return AC_EXIT_FAILED;
	status = r->is_forecast ? ac_forecast_print(r->file, report,
	    &r->chosen, r->style.sort) : write_to(r, report);
	ac_report_destroy(report);
	return status;
}

/* A run, or what is no run and may be a site. */
static int
read_operand(struct request *r, const char *s)
{
	unsigned which;

	if (ac_text_glob("?*.json", s) && !r->saved && !r->runs[1]
	    && !r->site) {
		r->saved = s;
		return 0;
	}
	if (*s != '@' && r->ranges) {
		if (r->site)
			return ac_say(AC_EXIT_USAGE, "report: one site at a "
			    "time; unexpected '%s'", s);
		r->site = s;
		return 0;
	}
	if (ac_text_glob("?*.json", s) || (r->saved && r->runs[0]))
		return ac_say(AC_EXIT_USAGE, "report: a saved report alone, or "
		    "against one run; unexpected '%s'", s);
	if (r->runs[1])
		return ac_say(AC_EXIT_USAGE, "report: one run, or two to "
		    "compare; unexpected '%s'", s);
	if (strlen(s) == 8 && strspn(s, "0123456789abcdef") == 8)
		return ac_say(AC_EXIT_USAGE, "report: '%s' is no run; "
		    "'autocast explain %s' tells of a site", s, s);
	which = ac_arguments_run(s);
	if (which && which == r->runs[0])
		return ac_say(AC_EXIT_USAGE, "report: %s twice; '@1 @2' "
		    "compares two runs", s);
	r->runs[r->runs[0] ? 1 : 0] = which;
	return which ? 0 : ac_say(AC_EXIT_USAGE, "report: '%s' is no run; "
	    "@1 is the last, @2 the one before%s", s, strchr(s, '.')
	    ? ", and a saved report ends in .json" : "");
}

static const char *const format_names[AC_FORMAT_COUNT] = {
	[AC_FORMAT_TEXT] = "text", [AC_FORMAT_JSON] = "--json",
	[AC_FORMAT_CSV] = "--csv", [AC_FORMAT_HTML] = "--html",
};

static int
set_format(struct request *r, int option)
{
	const enum ac_report_format format = option == OPT_JSON ? AC_FORMAT_JSON
	    : option == OPT_CSV ? AC_FORMAT_CSV : AC_FORMAT_HTML;

	if (r->has_format && r->format != format)
		return ac_say(AC_EXIT_USAGE, "report: %s and %s: one format at "
		    "a time", format_names[r->format], format_names[format]);
	r->has_format = true;
	r->format = format;
	return 0;
}

static int
read_word(struct request *r, int option, const char *word)
{
	static const char *const colors[] = { "auto", "always", "never" };
	int i = 0;

	if (option == OPT_SORT) {
		while (i < AC_SORT_COUNT && strcmp(word, ac_sort_names[i]))
			i++;
		r->style.sort = (enum ac_sort)i;
		return i < AC_SORT_COUNT ? 0 : ac_say(AC_EXIT_USAGE,
		    "report: --sort=%s: by work, gain, share, error or calls",
		    word);
	}
	while (i < 3 && strcmp(word, colors[i]))
		i++;
	r->color = (enum ac_color)i;
	return i < 3 ? 0 : ac_say(AC_EXIT_USAGE, "report: --color=%s: auto, "
	    "always or never", word);
}

static int
read_rank(struct request *r, const char *word)
{
	r->rank = (int)ac_arguments_whole(word, 0, INT32_MAX);
	r->one_rank = true;
	return r->rank >= 0 ? 0 : ac_say(AC_EXIT_USAGE, "report: --rank %s: "
	    "which rank? from 0 on", word);
}

/* What the table of sites has. */
static int
read_table(struct request *r, int option, const char *word)
{
	double top;

	if (option == 'v') {
		r->style.is_detailed = true;
	} else if (option == OPT_FILTER) {
		r->style.filter = word;
	} else {
		top = ac_arguments_whole(word, 1, 1e6);
		r->style.top = top > 0 ? (size_t)top : 0;
		if (top <= 0)
			return ac_say(AC_EXIT_USAGE, "report: --top %s: how "
			    "many sites? from 1 on", word);
	}
	return 0;
}

/* One that is about the table of one run as text, or NULL. */
static const char *
table_option(const struct request *r)
{
	return r->style.filter ? "--filter" : r->style.top ? "--top"
	    : r->style.is_detailed ? "-v" : NULL;
}

static bool
is_comparison(const struct request *r)
{
	return r->runs[1] || (r->runs[0] && r->saved);
}

static int
check_forecast(const struct request *r)
{
	if (r->is_list || is_comparison(r))
		return ac_say(AC_EXIT_USAGE, "report: a policy is estimated "
		    "for one run; leave out %s", r->is_list ? "--list"
		    : "the second");
	if (r->ranges || r->format != AC_FORMAT_TEXT)
		return ac_say(AC_EXIT_USAGE, "report: what a policy would do "
		    "is text, not %s", r->ranges ? "--ranges"
		    : ac_format_ending(r->format));
	return 0;
}

/* A list and a comparison are about whole runs. */
static int
check_several(const struct request *r)
{
	if (r->is_list && r->runs[0])
		return ac_say(AC_EXIT_USAGE, "report: --list is of all runs; "
		    "leave out @%u", r->runs[0]);
	if (r->ranges || r->one_rank || r->style.sort != AC_SORT_WORK)
		return ac_say(AC_EXIT_USAGE, "report: %s is of one run, not of "
		    "%s", r->ranges ? "--ranges" : r->one_rank ? "--rank"
		    : "--sort", r->is_list ? "--list" : "two");
	if (r->format == AC_FORMAT_TEXT
	    || (r->is_list && r->format == AC_FORMAT_JSON))
		return 0;
	return ac_say(AC_EXIT_USAGE, "report: %s, not %s", r->is_list
	    ? "--list is text or JSON" : "two runs are compared as text",
	    ac_format_ending(r->format));
}

/* What does not go together, before anything is read or written. */
static int
check(struct request *r)
{
	if (r->has_format && r->ranges)
		return ac_say(AC_EXIT_USAGE, r->format == AC_FORMAT_CSV
		    ? "report: --csv has no ranges; leave out --ranges"
		    : r->format == AC_FORMAT_JSON ? "report: --json has the "
		    "ranges of every site anyway; leave out --ranges"
		    : "report: --html has all in one page; leave out --ranges");
	if (!ac_format_choose(r->file, r->has_format, &r->format))
		return ac_say(AC_EXIT_USAGE, r->has_format ? "report: -o %s: "
		    "its ending is not %s" : "report: -o %s: unknown "
		    "ending: .txt, .json, .csv or .html", r->file,
		    ac_format_ending(r->format));
	if (r->ranges && r->format != AC_FORMAT_TEXT)
		return ac_say(AC_EXIT_USAGE, "report: --ranges is text; %s is "
		    "no name for it", r->file);
	if (r->saved && (r->ranges || r->one_rank || r->is_list))
		return ac_say(AC_EXIT_USAGE, "report: a saved report has no "
		    "%s", r->ranges ? "--ranges" : r->one_rank ? "--rank"
		    : "--list");
	if (r->saved && !r->runs[0] && r->format == AC_FORMAT_JSON)
		return ac_say(AC_EXIT_USAGE, "report: a saved report is shown "
		    "as text, .csv or .html");
	if (r->format == AC_FORMAT_HTML && !r->file && isatty(STDOUT_FILENO))
		return ac_say(AC_EXIT_USAGE, "report: a web page is nothing "
		    "for a terminal; type 'autocast report -o page.html'");
	if (table_option(r) && (r->format != AC_FORMAT_TEXT || r->ranges ||
	    r->is_forecast || r->is_list || is_comparison(r)))
		return ac_say(AC_EXIT_USAGE, "report: %s is of one run's table "
		    "as text", table_option(r));
	if (r->is_forecast)
		return check_forecast(r);
	if (r->is_list || is_comparison(r))
		return check_several(r);
	r->style.is_colored = r->format == AC_FORMAT_TEXT
	    && ac_format_wants_color(r->color, r->file != NULL);
	return 0;
}

static int
take(struct request *r, int option, const char *value)
{
	switch (option) {
	case OPT_JSON:
	case OPT_HTML:
	case OPT_CSV:
		return set_format(r, option);
	case OPT_SORT:
	case OPT_COLOR:
		return read_word(r, option, value);
	case 'v':
	case OPT_FILTER:
	case OPT_TOP:
		return read_table(r, option, value);
	case OPT_RANK:
		return read_rank(r, value);
	case AC_ARGUMENT_OPERAND:
		return read_operand(r, value);
	case OPT_RANGES:
		r->ranges = true;
		break;
	case AC_OPTION_POLICY:
		r->chosen.policy = value;
		r->is_forecast = true;
		break;
	case 'e':
		ac_chosen_add_rule(&r->chosen, value);
		r->is_forecast = true;
		break;
	case OPT_LIST:
		r->is_list = true;
		break;
	case 'o':
		r->file = strcmp(value, "-") ? value : NULL;
		break;
	}
	return 0;
}

static int
run(const struct ac_command *self, char **arguments)
{
	struct ac_arguments a = { .command = self, .next = arguments };
	struct request r = { 0 };
	int status = 0, option;

	while (!status && (option = ac_arguments_next(&a)) != AC_ARGUMENT_END) {
		if (option == AC_ARGUMENT_STOP)
			return a.status;
		status = take(&r, option, a.value);
	}
	if (!status)
		status = check(&r);
	if (status)
		return status;
	return r.is_list ? ac_past_print(r.file, r.format)
	    : is_comparison(&r) ? ac_past_compare(r.file, r.runs, r.saved)
	    : print(&r);
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
		{ OPT_LIST, "list", NULL, "the runs that are kept, newest "
		    "first" },
		{ OPT_JSON, "json", NULL, "as JSON, every site" },
		{ OPT_CSV, "csv", NULL, "as comma-separated values, a line per "
		    "site" },
		{ OPT_HTML, "html", NULL, "as a web page with plots, in one "
		    "file" },
		{ OPT_RANK, "rank", "N", "of rank N of a job alone" },
		{ OPT_RANGES, "ranges", NULL, "what operands were made of, and "
		    "which rungs would fit" },
		{ OPT_SORT, "sort", "work|gain|share|error|calls",
		    "which sites come first; work if not said" },
		{ OPT_FILTER, "filter", "TEXT", "only sites with TEXT in their "
		    "line, region or shape" },
		{ OPT_TOP, "top", "N", "the first N sites; 100 if not said" },
		{ 'v', NULL, NULL, "more lines about each site" },
		{ OPT_COLOR, "color", "auto|always|never", "auto, the default, "
		    "is on a terminal" },
		{ AC_OPTION_POLICY, "policy", "P", "estimate what this policy "
		    "would do with these sites" },
		{ 'e', NULL, "RULE", "the same with a policy line before all "
		    "others; repeatable" },
		{ 'o', NULL, "FILE", "write to FILE instead of stdout; its "
		    "ending, .txt, .json, .csv or .html, says how" },
	},
	.run = run
};
