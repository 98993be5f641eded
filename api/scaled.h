/* SPDX-License-Identifier: Apache-2.0 */
/* api/scaled.h -- what the scalers of this process have done so far, for
 * whoever keeps statistics: written by scaler/, read by shim/. */
#ifndef AC_API_SCALED_H
#define AC_API_SCALED_H

#include <stdbool.h>
#include <stdint.h>

/* As far as the host knows: nobody asks a device for it. */
struct ac_scaled {
	uint64_t scalers;            /* made, those disabled not counted */
	uint64_t steps, skips;       /* answers of autocast_scaler_step() */
	uint64_t updates, overflows, rises, falls;
	double   scale;              /* of the one that was heard of last; 0:
	                              * none was */
	bool     is_behind;          /* updates came since, on the device */
};

/* Between the two, the caller's to change. leave() tells the listener. Any
 * thread; the caller may hold locks of its own. */
struct ac_scaled *ac_scaled_enter(void);
void ac_scaled_leave(void);

/* Who wants to know, from now on; told at once if there was a scaler. It takes
 * no lock. */
typedef void (*ac_scaled_listener)(const struct ac_scaled *scaled);
void ac_scaled_listen(ac_scaled_listener listener);

#endif
