/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/twins/twins_inside.h -- what the twins share among themselves:
 * counted access to matrices, the float mode. */
#ifndef AC_KERNELS_TWINS_INSIDE_H
#define AC_KERNELS_TWINS_INSIDE_H

#include "kernels/recast/cast.h"
#include "kernels/recast/float_mode.h"
#include "kernels/twins/twins.h"

#include <stdatomic.h>
#include <stdbool.h>

/* One of each kernel, for twins.c's table. */
ac_twin_run ac_twin_recast_ranges, ac_twin_recast_symmetric,
    ac_twin_conv_check,
    ac_twin_verified_probe, ac_twin_verified_cast, ac_twin_verified_verify,
    ac_twin_verified_mend,
    ac_twin_scaler_multiply, ac_twin_scaler_unscale, ac_twin_scaler_fold,
    ac_twin_scaler_norm, ac_twin_scaler_close, ac_twin_scaler_clip,
    ac_twin_scaler_add, ac_twin_scaler_update, ac_twin_scaler_set;

/* One run's moves, added to the process's counters when it ends. */
struct ac_meter {
	uint64_t read, written;
	double   operations;    /* of products that a kernel makes itself */
};

/* One element of a matrix. */
static inline float
ac_read_one(struct ac_meter *meter, const float *from)
{
	meter->read += sizeof *from;
	return *from;
}

static inline void
ac_meter_add(const struct ac_meter *meter)
{
	atomic_fetch_add_explicit(&ac_twin_bytes_read, meter->read,
	    memory_order_relaxed);
	atomic_fetch_add_explicit(&ac_twin_bytes_written, meter->written,
	    memory_order_relaxed);
	if (ac_twin_moved)
		ac_twin_moved(meter->read, meter->written, meter->operations);
}

#endif
