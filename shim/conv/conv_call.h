/* SPDX-License-Identifier: Apache-2.0 */
/* shim/conv/conv_call.h -- runs one call of cuDNN's older convolution interface
 * as the policy says. */
#ifndef AC_SHIM_CONV_CALL_H
#define AC_SHIM_CONV_CALL_H

#include "shim/conv/conv_ways.h"
#include "shim/conv/descriptors.h"

/* Try to run `call` as its site's decision says: as ac_conv_conduct(). */
enum ac_outcome ac_conv_recast(const struct ac_conv_call *call,
    struct ac_kept *kept_out);

/* What the site of `call` is looked up by; false: it has no site. */
bool ac_conv_query_of(const struct ac_conv_call *call,
    struct ac_conv_query *query_out);

#endif
