/* SPDX-License-Identifier: Apache-2.0 */
/* shim/device/hold.h -- of which captures something is left: a graph, a copy of
 * it, an executable, a launch that is not over. The driver tells by user
 * objects (CUDA Programming Guide, "CUDA User Objects"); NCCL has them in
 * captures for the same purpose. */
#ifndef AC_SHIM_HOLD_H
#define AC_SHIM_HOLD_H

#include "shim/device/place.h"

/* Have the driver say when nothing is left of the capture that `place` records
 * into. True: ac_hold_is_live() tells from now on, and holds now. False: that
 * will never be known, since the driver has no such objects, refuses one, or
 * too many captures are held. May be asked again. */
bool ac_hold_begin(const struct ac_place *place);

/* Whether something may be left of a capture that is or was held. Any thread;
 * asks nobody. Once it is false, all launches are over, and the device is done
 * with what they used. */
bool ac_hold_is_live(uint64_t capture);

#endif
