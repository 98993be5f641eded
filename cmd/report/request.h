/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/report/request.h -- what a command line asks of `autocast report`; for
 * cmd/report/ only. */
#ifndef AC_CMD_REQUEST_H
#define AC_CMD_REQUEST_H

#include "cmd/command.h"

/* The options of the verb; the others are common ones. */
enum {
	AC_REQUEST_JSON = AC_OPTION_OWN, AC_REQUEST_RANGES, AC_REQUEST_HTML,
	AC_REQUEST_CSV, AC_REQUEST_SORT, AC_REQUEST_COLOR, AC_REQUEST_RANK,
	AC_REQUEST_LIST, AC_REQUEST_FILTER, AC_REQUEST_TOP
};

enum { AC_REQUEST_POLICIES = 8 };

struct ac_request {
	unsigned    runs[2];    /* 0: not named, the last */
	const char *saved;      /* a file; NULL: a run that is kept */
	bool        is_list;
	bool        is_forecast; /* of these policies; of none: of that in
	                         * force, behind the rules */
	const char *policies[AC_REQUEST_POLICIES];
	size_t      policy_count;
	struct ac_chosen chosen; /* its rules go before each */
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

/* Two runs, one against the other. */
bool ac_request_is_comparison(const struct ac_request *r);

/* Take an option or an operand; 0, or an exit status after one line. */
int ac_request_take(struct ac_request *r, int option, const char *value);
/* What does not go together, before anything is read or written. The same. */
int ac_request_check(struct ac_request *r);

/* ---- What the verb can do (past.c, forecast.c); exit statuses ------------ */

/* The runs that are kept, as text or JSON. */
int ac_past_print(const char *file, enum ac_report_format format);
/* Run against run, by their numbers, or against a report that was saved (NULL:
 * none). */
int ac_past_compare(const char *file, const unsigned runs[2],
    const char *saved);
/* What the policies of the request would do with the run. */
int ac_forecast_print(const struct ac_request *request,
    const struct ac_report *report);

#endif
