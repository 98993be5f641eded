/* SPDX-License-Identifier: Apache-2.0 */
/* shim/device/place.h -- where a call is about to run: context, stream,
 * capture. */
#ifndef AC_SHIM_PLACE_H
#define AC_SHIM_PLACE_H

#include "kernels/load/kernels.h"
#include "shim/device/scratch.h"

/* Ids, since addresses are no identity: another context or stream may have
 * them by now. Nothing in it is used outside the call that it was found for. */
struct ac_place {
	const struct ac_driver *driver;
	const struct ac_kernels *kernels;   /* of the current context */
	struct ac_scratch      *scratch;    /* of the same; and its */
	unsigned                index;      /* ac_scratch_index() */
	uint32_t                epoch;      /* ac_scratch_epoch() */
	ac_cu_stream            stream;     /* of the program's handle */
	uint64_t                stream_id;
	uint64_t                capture;    /* the capture the stream records
	                                     * into; 0: it runs */
	ac_cu_graph             graph;      /* of the capture; NULL: the driver
	                                     * does not say */
};

/* Find where a call on `stream`, by a handle that lives on `device`, would run:
 * AC_REASON_NONE, or why it must be kept; *place_out means nothing then. What
 * the context needs is made when it is first met, but never while the stream
 * captures. Waits for nothing. */
enum ac_reason ac_place_on(ac_cu_stream stream, int device,
    struct ac_place *place_out);

/* Whether `stream` captures, or may: nobody knows without a driver. */
static inline bool
ac_place_may_capture(ac_cu_stream stream)
{
	const struct ac_driver *driver = ac_driver_get();
	int capturing;

	return !driver || driver->cuStreamIsCapturing(stream, &capturing)
	    || capturing;
}

#endif
