/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/twins/twins.c -- the table of the CPU twins, which are in the other
 * files of this folder. */
#include "kernels/twins/twins_inside.h"

const struct ac_twin ac_twins[] = {
	{ "ac_recast_ranges", ac_twin_recast_ranges },
	{ "ac_conv_check", ac_twin_conv_check },
	{ "ac_verified_probe", ac_twin_verified_probe },
	{ "ac_verified_cast", ac_twin_verified_cast },
	{ "ac_verified_verify", ac_twin_verified_verify },
	{ "ac_verified_mend", ac_twin_verified_mend },
	{ "ac_scaler_multiply", ac_twin_scaler_multiply },
	{ "ac_scaler_unscale", ac_twin_scaler_unscale },
	{ "ac_scaler_fold", ac_twin_scaler_fold },
	{ "ac_scaler_norm", ac_twin_scaler_norm },
	{ "ac_scaler_close", ac_twin_scaler_close },
	{ "ac_scaler_clip", ac_twin_scaler_clip },
	{ "ac_scaler_add", ac_twin_scaler_add },
	{ "ac_scaler_update", ac_twin_scaler_update },
	{ "ac_scaler_set", ac_twin_scaler_set },
};
const size_t ac_twin_count = sizeof ac_twins / sizeof *ac_twins;
