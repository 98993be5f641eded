/* SPDX-License-Identifier: Apache-2.0 */
/* shim/conv/conv_call.h -- runs one call of cuDNN's older convolution interface
 * as the policy says. */
#ifndef AC_SHIM_CONV_CALL_H
#define AC_SHIM_CONV_CALL_H

#include "shim/conv/conv_site.h"
#include "shim/conv/descriptors.h"
#include "shim/trial/conduct.h"

/* Try to run `call` as its site's decision says. DONE: *status_out is the
 * answer. Otherwise the output is untouched and the wrapper makes the original
 * call, with ac_kept_end() after it if it is TIMED. Counts the call. */
enum ac_outcome ac_conv_recast(const struct ac_conv_call *call,
    struct ac_kept *kept_out, cudnnStatus_t *status_out);

/* What the site of `call` is looked up by; false: it has no site. */
bool ac_conv_query_of(const struct ac_conv_call *call,
    struct ac_conv_query *query_out);

#endif
