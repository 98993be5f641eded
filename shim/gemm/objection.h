/* SPDX-License-Identifier: Apache-2.0 */
/* shim/gemm/objection.h -- why a product cannot be recast, whatever its site
 * does; and how far its matrices reach. Calls nothing. */
#ifndef AC_SHIM_OBJECTION_H
#define AC_SHIM_OBJECTION_H

#include "shim/gemm/layout.h"

/* Why the call is kept; AC_REASON_NONE: it may be recast. `handle` is the
 * program's, `provider` the library that is asked, `known` what is known of
 * such calls, or NULL. */
enum ac_reason ac_gemm_objection(const struct ac_gemm *g,
    const struct ac_handle *handle, const struct ac_provider *provider,
    const struct ac_layout_known *known);

/* Bytes of what beta scales, from the first element on, where the tail has a C
 * of its own. */
uint64_t ac_gemm_added_bytes(const struct ac_gemm *g);

#endif
