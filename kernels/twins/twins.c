/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/twins/twins.c -- the table of the CPU twins, which are in the other
 * files of this folder. */
#include "kernels/twins/twins_inside.h"

/* Times: bench/results/verified-kernels-NVIDIA-H200.txt. */
const struct ac_twin ac_twins[AC_TWINS] = {
	{ "ac_recast_ranges", ac_twin_recast_ranges, 1, 0 },
	{ "ac_recast_symmetric", ac_twin_recast_symmetric, 1, 0 },
	{ "ac_conv_check", ac_twin_conv_check, 1, 0 },
	{ "ac_verified_probe", ac_twin_verified_probe, 1, 3.5e-6 },
	{ "ac_verified_cast", ac_twin_verified_cast, 1.4, 5e-6 },
	{ "ac_verified_verify", ac_twin_verified_verify, 2, 7e-6 },
	{ "ac_verified_mend", ac_twin_verified_mend, 1.5, 1e-6 },
	{ "ac_scaler_multiply", ac_twin_scaler_multiply, 1, 0 },
	{ "ac_scaler_unscale", ac_twin_scaler_unscale, 1, 0 },
	{ "ac_scaler_fold", ac_twin_scaler_fold, 1, 0 },
	{ "ac_scaler_norm", ac_twin_scaler_norm, 1, 0 },
	{ "ac_scaler_close", ac_twin_scaler_close, 1, 0 },
	{ "ac_scaler_clip", ac_twin_scaler_clip, 1, 0 },
	{ "ac_scaler_add", ac_twin_scaler_add, 1, 0 },
	{ "ac_scaler_update", ac_twin_scaler_update, 1, 0 },
	{ "ac_scaler_set", ac_twin_scaler_set, 1, 0 },
};
