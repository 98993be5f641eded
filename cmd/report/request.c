/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/report/request.c -- reads what a command line asks of `autocast report`,
 * and refuses what does not go together. */
#include "cmd/report/request.h"

#include <string.h>
#include <unistd.h>

/* A run, or what is no run and may be a site. */
static int
read_operand(struct ac_request *r, const char *s)
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
set_format(struct ac_request *r, int option)
{
	const enum ac_report_format format = option == AC_REQUEST_JSON
	    ? AC_FORMAT_JSON : option == AC_REQUEST_CSV ? AC_FORMAT_CSV
	    : AC_FORMAT_HTML;

	if (r->has_format && r->format != format)
		return ac_say(AC_EXIT_USAGE, "report: %s and %s: one format at "
		    "a time", format_names[r->format], format_names[format]);
	r->has_format = true;
	r->format = format;
	return 0;
}

static int
read_word(struct ac_request *r, int option, const char *word)
{
	static const char *const colors[] = { "auto", "always", "never" };
	int i = 0;

	if (option == AC_REQUEST_SORT) {
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
read_rank(struct ac_request *r, const char *word)
{
	r->rank = (int)ac_arguments_whole(word, 0, INT32_MAX);
	r->one_rank = true;
	return r->rank >= 0 ? 0 : ac_say(AC_EXIT_USAGE, "report: --rank %s: "
	    "which rank? from 0 on", word);
}

/* What the table of sites has. */
static int
read_table(struct ac_request *r, int option, const char *word)
{
	double top;

	if (option == 'v') {
		r->style.is_detailed = true;
	} else if (option == AC_REQUEST_FILTER) {
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
table_option(const struct ac_request *r)
{
	return r->style.filter ? "--filter" : r->style.top ? "--top"
	    : r->style.is_detailed ? "-v" : NULL;
}

bool
ac_request_is_comparison(const struct ac_request *r)
{
	return r->runs[1] || (r->runs[0] && r->saved);
}

static int
check_forecast(const struct ac_request *r)
{
	if (r->is_list || ac_request_is_comparison(r))
		return ac_say(AC_EXIT_USAGE, "report: a policy is estimated "
		    "for one run; leave out %s", r->is_list ? "--list"
		    : "the second");
	if (r->ranges || r->format == AC_FORMAT_HTML)
		return ac_say(AC_EXIT_USAGE, "report: what a policy would do "
		    "is text, .csv or .json, not %s", r->ranges ? "--ranges"
		    : ac_format_ending(r->format));
	if (r->policy_count > 1 && r->style.sort != AC_SORT_WORK)
		return ac_say(AC_EXIT_USAGE, "report: --sort is of sites; of "
		    "several policies there is a line each, in their order");
	return 0;
}

/* A list and a comparison are about whole runs. */
static int
check_several(const struct ac_request *r)
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

int
ac_request_check(struct ac_request *r)
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
	if (r->saved && !r->runs[0] && r->format == AC_FORMAT_JSON
	    && !r->is_forecast)
		return ac_say(AC_EXIT_USAGE, "report: a saved report is shown "
		    "as text, .csv or .html");
	if (table_option(r) && (r->format != AC_FORMAT_TEXT || r->ranges ||
	    r->is_forecast || r->is_list || ac_request_is_comparison(r)))
		return ac_say(AC_EXIT_USAGE, "report: %s is of one run's table "
		    "as text", table_option(r));
	if (r->is_forecast)
		return check_forecast(r);
	if (r->format == AC_FORMAT_HTML && !r->file && isatty(STDOUT_FILENO))
		return ac_say(AC_EXIT_USAGE, "report: a web page is nothing "
		    "for a terminal; type 'autocast report -o page.html'");
	if (r->is_list || ac_request_is_comparison(r))
		return check_several(r);
	r->style.is_colored = r->format == AC_FORMAT_TEXT
	    && ac_format_wants_color(r->color, r->file != NULL);
	return 0;
}

static int
take_policy(struct ac_request *r, const char *policy)
{
	if (r->policy_count == AC_REQUEST_POLICIES)
		return ac_say(AC_EXIT_USAGE, "report: --policy more than %d "
		    "times", AC_REQUEST_POLICIES);
	r->policies[r->policy_count++] = policy;
	r->is_forecast = true;
	return 0;
}

int
ac_request_take(struct ac_request *r, int option, const char *value)
{
	switch (option) {
	case AC_REQUEST_JSON:
	case AC_REQUEST_HTML:
	case AC_REQUEST_CSV:
		return set_format(r, option);
	case AC_REQUEST_SORT:
	case AC_REQUEST_COLOR:
		return read_word(r, option, value);
	case 'v':
	case AC_REQUEST_FILTER:
	case AC_REQUEST_TOP:
		return read_table(r, option, value);
	case AC_REQUEST_RANK:
		return read_rank(r, value);
	case AC_ARGUMENT_OPERAND:
		return read_operand(r, value);
	case AC_REQUEST_RANGES:
		r->ranges = true;
		break;
	case AC_OPTION_POLICY:
		return take_policy(r, value);
	case 'e':
		ac_chosen_add_rule(&r->chosen, value);
		r->is_forecast = true;
		break;
	case AC_REQUEST_LIST:
		r->is_list = true;
		break;
	case 'o':
		r->file = strcmp(value, "-") ? value : NULL;
		break;
	}
	return 0;
}
