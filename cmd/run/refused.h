/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/run/refused.h -- what the emulated GPU refused while the program ran. */
#ifndef AC_CMD_REFUSED_H
#define AC_CMD_REFUSED_H

#include "base/text.h"

/* Give the processes that are started from now on a file to note it in. One
 * run at a time. */
void ac_refused_begin(void);

/* Add the N-th refusal, from 0: "cuGetExportTable: is not built"; false, and
 * nothing, where there is none. What is noted may be anything. */
bool ac_refused_add(struct ac_text *text, unsigned n);

#endif
