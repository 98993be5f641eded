/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/explain/explain.h -- for cmd/explain/ only. */
#ifndef AC_CMD_EXPLAIN_H
#define AC_CMD_EXPLAIN_H

#include "cmd/command.h"

/* Print `before`, then what the policy that `chosen` names says of `op`; an
 * exit status. */
int ac_explain_operation(const struct ac_chosen *chosen, const struct ac_op *op,
    const char *before);

/* Whether `word` begins the words [@N] SITE: an id, or a run. */
bool ac_explain_is_site(const char *word);
/* Say what was decided of that site, and what would be now; an exit status. */
int ac_explain_site(const struct ac_chosen *chosen, char **words);

/* ---- catalogue.c: lists on stdout; an exit status ------------------------ */

int ac_explain_functions(void);
/* Whether `name`, with or without its _v2, is one of them. */
bool ac_explain_is_function(const char *name);
int ac_explain_rates(void);

#endif
