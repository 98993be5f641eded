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

/* What the policy that `chosen` names would do with the sites of the run; an
 * exit status (cmd/report/forecast.c). */
int ac_forecast_print(const char *file, const struct ac_report *report,
    const struct ac_chosen *chosen, enum ac_sort sort);

#endif
