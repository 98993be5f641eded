/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/twins/twins_scaler.h -- the twins of scaler.h's kernels, for
 * twins.c's table. */
#ifndef AC_KERNELS_TWINS_SCALER_H
#define AC_KERNELS_TWINS_SCALER_H

#include "kernels/twins/twins.h"

void ac_twin_scaler_multiply(const struct ac_twin_launch *launch,
    void **params);
void ac_twin_scaler_unscale(const struct ac_twin_launch *launch, void **params);
void ac_twin_scaler_fold(const struct ac_twin_launch *launch, void **params);
void ac_twin_scaler_norm(const struct ac_twin_launch *launch, void **params);
void ac_twin_scaler_close(const struct ac_twin_launch *launch, void **params);
void ac_twin_scaler_clip(const struct ac_twin_launch *launch, void **params);
void ac_twin_scaler_add(const struct ac_twin_launch *launch, void **params);
void ac_twin_scaler_update(const struct ac_twin_launch *launch, void **params);
void ac_twin_scaler_set(const struct ac_twin_launch *launch, void **params);

#endif
