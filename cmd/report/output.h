/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/report/output.h -- for cmd/report/ only. */
#ifndef AC_CMD_OUTPUT_H
#define AC_CMD_OUTPUT_H

#include "cmd/command.h"

/* The runs that are kept, as text or JSON; an exit status. */
int ac_past_print(const char *file, enum ac_report_format format);
/* Run against run, by their numbers, or against a report that was saved (NULL:
 * none); an exit status. */
int ac_past_compare(const char *file, const unsigned runs[2],
    const char *saved);

/* What the policies of the request would do with the run; an exit status
 * (cmd/report/forecast.c). */
struct ac_request;
int ac_forecast_print(const struct ac_request *request,
    const struct ac_report *report);

#endif
