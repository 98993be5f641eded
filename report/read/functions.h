/* SPDX-License-Identifier: Apache-2.0 */
/* report/read/functions.h -- in which functions the callers of a run are. */
#ifndef AC_REPORT_FUNCTIONS_H
#define AC_REPORT_FUNCTIONS_H

#include "report/read/read.h"

/* A caller, module+offset, and the function it is in. */
struct ac_caller {
	char caller[48];
	char function[80];           /* as the symbol is called; cut */
};

/* The function of that caller; NULL: not known. */
const char *ac_report_function(const struct ac_report *report,
    const char *caller);

#endif
