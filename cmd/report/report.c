/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/report/report.c -- autocast report: what an earlier run did. */
#include "cmd/command.h"
#include "report/report.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { OPT_JSON = 256, OPT_RANGES, OPT_HTML, OPT_RANK };

struct request {
	unsigned    which;      /* run; 0: the last */
	const char *file;       /* NULL: stdout */
	bool        json, html, ranges;
	bool        one_rank;   /* of a job, `rank` */
	int         rank;
	const char *site;       /* of --ranges; NULL: all */
};

/* "@2" is the run before the last; 0 if `s` is nothing like that. */
static unsigned
read_which(const char *s)
{
	const double which = *s == '@' ? ac_arguments_whole(s + 1, 1, 1e6) : 0;

	return which > 0 ? (unsigned)which : 0;
}

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
	const char *file = r->file;
	int fd = STDOUT_FILENO;

	/* Before a file is emptied for it. */
	if (r->ranges && !ac_report_as_ranges(report, r->site, ignore, NULL))
		return no_ranges(r);
	if (file)
		fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW
		    | O_CLOEXEC, 0666);
	if (fd < 0)
		return ac_say(AC_EXIT_FAILED, "report: cannot write %s: %s",
		    file, errno == ELOOP ? "it is a symbolic link"
		    : strerror(errno));
	if (r->ranges)
		(void)ac_report_as_ranges(report, r->site, ac_say_bytes, &fd);
	else
		(r->json ? ac_report_as_json : r->html ? ac_report_as_html
		    : ac_report_as_text)(report, ac_say_bytes, &fd);
	if (fd < 0 || (file && close(fd)))
		return ac_say(AC_EXIT_FAILED, "report: cannot write %s: %s",
		    file ? file : "the output", strerror(errno));
	return AC_EXIT_OK;
}

static int
print(const struct request *r)
{
	const unsigned which = r->which ? r->which : 1;
	char buffer[512];
	struct ac_report *report;
	struct ac_text why;
	int status;

	ac_text_init(&why, buffer, sizeof buffer);
	report = r->one_rank ? ac_report_load_rank(which, r->rank, &why)
	    : ac_report_load(which, NULL, &why);
	if (!report && r->one_rank)
		return ac_say(AC_EXIT_FAILED, "report: %s; 'autocast report' "
		    "names the ranks of a job", buffer);
	if (!report)
		return ac_say(AC_EXIT_FAILED, which > 1 ? "report: %s; "
		    "'autocast report' shows the last" : "report: %s; try "
		    "'autocast run ./program' first", buffer);
	status = write_to(r, report);
	ac_report_destroy(report);
	return status;
}

/* A run, or what is no run and may be a site. */
static int
read_operand(struct request *r, const char *s)
{
	if (*s != '@' && r->ranges) {
		if (r->site)
			return ac_say(AC_EXIT_USAGE, "report: one site at a "
			    "time; unexpected '%s'", s);
		r->site = s;
		return 0;
	}
	if (r->which)
		return ac_say(AC_EXIT_USAGE, "report: one run at a time; "
		    "unexpected '%s'", s);
	r->which = read_which(s);
	return r->which ? 0 : ac_say(AC_EXIT_USAGE, "report: '%s' is no run; "
	    "@1 is the last, @2 the one before", s);
}

static int
run(const struct ac_command *self, char **arguments)
{
	struct ac_arguments a = { .command = self, .next = arguments };
	struct request r = { 0 };
	int status;

	for (;;) {
		switch (ac_arguments_next(&a)) {
		case OPT_JSON:
			r.json = true;
			break;
		case OPT_HTML:
			r.html = true;
			break;
		case OPT_RANGES:
			r.ranges = true;
			break;
		case OPT_RANK:
			r.rank = (int)ac_arguments_whole(a.value, 0, INT32_MAX);
			if (r.rank < 0)
				return ac_say(AC_EXIT_USAGE, "report: --rank "
				    "%s: which rank? from 0 on", a.value);
			r.one_rank = true;
			break;
		case 'o':
			r.file = strcmp(a.value, "-") ? a.value : NULL;
			break;
		case AC_ARGUMENT_OPERAND:
			status = read_operand(&r, a.value);
			if (status)
				return status;
			break;
		case AC_ARGUMENT_END:
			if (r.json && r.ranges)
				return ac_say(AC_EXIT_USAGE, "report: --json "
				    "has the ranges of every site anyway; "
				    "leave out --ranges");
			if (r.html && (r.json || r.ranges))
				return ac_say(AC_EXIT_USAGE, "report: --html "
				    "has all in one page; leave out %s",
				    r.json ? "--json" : "--ranges");
			return print(&r);
		default:
			return a.status;
		}
	}
}

const struct ac_command ac_command_report = {
	.name = "report",
	.operands = "[@N] [SITE]",
	.summary = "Show what the last run did, site by site.",
	.details = "@2 is the run before the last, and so on. SITE is for "
	    "--ranges: an id or a name.\n",
	.options = {
		{ OPT_JSON, "json", NULL, "as JSON, every site" },
		{ OPT_HTML, "html", NULL, "as a web page with plots, in one "
		    "file" },
		{ OPT_RANK, "rank", "N", "of rank N of a job alone" },
		{ OPT_RANGES, "ranges", NULL, "what operands were made of, and "
		    "which rungs would fit" },
		{ 'o', NULL, "FILE", "write to FILE instead of stdout" },
	},
	.run = run
};
