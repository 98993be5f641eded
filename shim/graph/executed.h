/* SPDX-License-Identifier: Apache-2.0 */
/* shim/graph/executed.h -- the plans that a program made of graphs, by
 * address: for which site an execution counts, and as what. Any thread; an
 * execution takes no lock. A plan for which there is no room is just not
 * known. */
#ifndef AC_SHIM_EXECUTED_H
#define AC_SHIM_EXECUTED_H

#include "report/report.h"

#include <cudnn.h>

/* `plan` was finalized; its executions are calls of record's site, recast if
 * `reason` is AC_REASON_NONE. */
void ac_executed_add(cudnnBackendDescriptor_t plan,
    struct ac_site_record *record, enum ac_reason reason);

/* Before cuDNN frees it: after, the address may be another thread's. */
void ac_executed_drop(cudnnBackendDescriptor_t plan);

/* `plan` was executed: count that. False if it is not known. */
bool ac_executed_count(cudnnBackendDescriptor_t plan);

#endif
