/* SPDX-License-Identifier: Apache-2.0 */
/* shim/conv/conv_sample.h -- the sample of one convolution, for conv_call.c. */
#ifndef AC_SHIM_CONV_SAMPLE_H
#define AC_SHIM_CONV_SAMPLE_H

#include "shim/conv/conv_plan.h"
#include "shim/trial/trial.h"

/* Queue at `place` the sample of what a plan of `site` wrote to data's output,
 * to be posted at `post` as of turn's call; `scratch` holds
 * AC_CONV_CHECK_DOUBLES doubles until then. False: it was not queued. */
bool ac_conv_sample(const struct ac_conv_site *site,
    const struct ac_conv_data *data, const struct ac_turn *turn,
    ac_cu_address post, const struct ac_place *place, uint32_t *scratch);

#endif
