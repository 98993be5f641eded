/* SPDX-License-Identifier: Apache-2.0 */
/* shim/lane_make.c -- building lanes and fitting them to a call. */
#include "shim/lane_make.h"

#include <stddef.h>

enum {
	WORKSPACE_SM90 = 32 << 20,    /* cuBLAS manual, cublasSetWorkspace() */
	WORKSPACE = 4 << 20,
	STATE_BYTES = 256,
	BUFFER_STEP = 64 << 10
};

/* No stream's id: the lane's handle is to be set before its next use. */
#define NO_STREAM UINT64_MAX

/* ---- Building ---------------------------------------------------------- */

static uint64_t
workspace_for(const struct ac_lane_request *request, const struct ac_place *place)
{
	uint64_t bytes = WORKSPACE;
	int major;

	if (!place->driver->cuDeviceGetAttribute(&major, AC_CU_ATTRIBUTE_MAJOR, request->device)
	    && major >= 9)
		bytes = WORKSPACE_SM90;
	if (bytes > place->limit / 2)
		bytes = place->limit / 2;
	return bytes & ~(uint64_t)255;
}

static enum ac_reason
fit_buffer(struct ac_lane *lane, const struct ac_place *place, uint64_t bytes)
{
	const uint64_t rounded = (bytes + BUFFER_STEP - 1)
	    & ~(uint64_t)(BUFFER_STEP - 1);
	enum ac_reason reason;

	if (lane->buffer_bytes >= bytes)
		return AC_REASON_NONE;
	if (lane->buffer) {
		ac_scratch_give(lane->scratch, lane->buffer, lane->buffer_bytes,
		    lane->used ? lane->done : NULL);
		lane->buffer = 0;
		lane->buffer_bytes = 0;
	}
	reason = ac_scratch_take(lane->scratch, place->limit, rounded,
	    place->stream, &lane->buffer);
	if (reason == AC_REASON_NONE) {
		lane->buffer_bytes = rounded;
		return reason;
	}
	if (ac_scratch_take(lane->scratch, place->limit, bytes, place->stream,
	    &lane->buffer) != AC_REASON_NONE)
		return reason;
	lane->buffer_bytes = bytes;
	return AC_REASON_NONE;
}

/* Last, when there is room for all else: it takes the longest. */
static bool
make_handle(struct ac_lane *lane, struct ac_provider *provider)
{
	const int mode = ac_scratch_relax(lane->driver);
	bool done = false;

	if (lane->driver->cuEventCreate(&lane->done,
	    AC_CU_EVENT_DISABLE_TIMING))
		lane->done = NULL;
	else if (PROVIDER(provider, cublasCreate_v2)(&lane->handle))
		lane->handle = NULL;
	else
		done = !PROVIDER(provider, cublasSetPointerMode_v2)(
		    lane->handle, CUBLAS_POINTER_MODE_DEVICE);
	ac_scratch_restore(lane->driver, mode);
	return done;
}

void
ac_lane_forget(struct ac_lane *lane)
{
	lane->handle = NULL;
	lane->buffer = lane->workspace = lane->state_words = 0;
	lane->buffer_bytes = lane->workspace_bytes = 0;
	lane->done = NULL;
}

void
ac_lane_dismantle(struct ac_lane *lane)
{
	struct ac_provider *provider = lane->provider;
	const ac_cu_event last_use = lane->used ? lane->done : NULL;

	if (lane->handle)
		PROVIDER(provider, cublasDestroy_v2)(lane->handle);
	if (lane->buffer)
		ac_scratch_give(lane->scratch, lane->buffer, lane->buffer_bytes,
		    last_use);
	if (lane->workspace)
		ac_scratch_give(lane->scratch, lane->workspace,
		    lane->workspace_bytes, last_use);
	if (lane->state_words)
		ac_scratch_give(lane->scratch, lane->state_words, STATE_BYTES,
		    last_use);
	if (lane->done)
		lane->driver->cuEventDestroy(lane->done);
	ac_lane_forget(lane);
	atomic_store_explicit(&lane->state, LANE_EMPTY, memory_order_release);
}

enum ac_reason
ac_lane_build(struct ac_lane *lane, const struct ac_lane_request *request,
    const struct ac_place *place)
{
	enum ac_reason reason;

	lane->driver = place->driver;
	lane->scratch = place->scratch;
	lane->provider = request->provider;
	lane->epoch = ac_scratch_epoch(place->scratch);
	lane->used = false;
	lane->dirty = true;
	lane->math_flags = CUBLAS_DEFAULT_MATH;
	lane->atomics = CUBLAS_ATOMICS_NOT_ALLOWED;
	lane->sm_target = 0;
	lane->workspace_bytes = workspace_for(request, place);
	reason = ac_scratch_take(place->scratch, place->limit, STATE_BYTES,
	    place->stream, &lane->state_words);
	if (reason == AC_REASON_NONE && lane->workspace_bytes)
		reason = ac_scratch_take(place->scratch, place->limit,
		    lane->workspace_bytes, place->stream, &lane->workspace);
	if (reason == AC_REASON_NONE)
		reason = fit_buffer(lane, place, request->buffer_bytes);
	if (reason == AC_REASON_NONE && !make_handle(lane, request->provider))
		reason = AC_REASON_REFUSED;
	if (reason != AC_REASON_NONE)
		ac_lane_dismantle(lane);
	return reason;
}

/* ---- Making it ready for this call ------------------------------------- */

/* cublasSetStream() takes the workspace away (cuBLAS manual), hence the pair. */
static bool
follow_stream(struct ac_lane *lane, const struct ac_place *place)
{
	struct ac_provider *provider = lane->provider;
	__typeof__(&cublasSetWorkspace_v2) set_workspace =
	    PROVIDER(provider, cublasSetWorkspace_v2);

	if (lane->used && lane->stream_id == place->stream_id)
		return true;
	if (PROVIDER(provider, cublasSetStream_v2)(lane->handle, place->stream))
		return false;
	return !lane->workspace || !set_workspace
	    || !set_workspace(lane->handle, (void *)(uintptr_t)lane->workspace,
	        lane->workspace_bytes);
}

/* The flag bits of the math mode, atomics and the SM target are the program's
 * wishes for how its work runs, so the lane has them too. */
static bool
mirror(struct ac_lane *lane, const struct ac_lane_request *request)
{
	enum { MODE_BITS = 0xf };
	struct ac_provider *provider = lane->provider;
	__typeof__(&cublasGetAtomicsMode) get_atomics =
	    PROVIDER(provider, cublasGetAtomicsMode);
	__typeof__(&cublasSetAtomicsMode) set_atomics =
	    PROVIDER(provider, cublasSetAtomicsMode);
	__typeof__(&cublasGetSmCountTarget) get_target =
	    PROVIDER(provider, cublasGetSmCountTarget);
	__typeof__(&cublasSetSmCountTarget) set_target =
	    PROVIDER(provider, cublasSetSmCountTarget);
	const cublasMath_t flags = (cublasMath_t)((unsigned)request->math_mode
	    & ~(unsigned)MODE_BITS);
	cublasAtomicsMode_t atomics;
	int target;

	if (flags != lane->math_flags) {
		if (PROVIDER(provider, cublasSetMathMode)(lane->handle, flags))
			return false;
		lane->math_flags = flags;
	}
	if (get_atomics && set_atomics
	    && !get_atomics(request->program, &atomics)
	    && atomics != lane->atomics) {
		if (set_atomics(lane->handle, atomics))
			return false;
		lane->atomics = atomics;
	}
	if (get_target && set_target && !get_target(request->program, &target)
	    && target != lane->sm_target) {
		if (set_target(lane->handle, target))
			return false;
		lane->sm_target = target;
	}
	return true;
}

enum ac_reason
ac_lane_prepare(struct ac_lane *lane, const struct ac_lane_request *request,
    const struct ac_place *place)
{
	const struct ac_driver *driver = place->driver;
	enum ac_reason reason;

	lane->ordered = false;
	if (lane->used && lane->stream_id != place->stream_id
	    && driver->cuStreamWaitEvent(place->stream, lane->done, 0))
		return AC_REASON_REFUSED;
	lane->ordered = true;
	reason = fit_buffer(lane, place, request->buffer_bytes);
	if (reason != AC_REASON_NONE)
		return reason;
	if (!follow_stream(lane, place)) {
		lane->stream_id = NO_STREAM;
		return AC_REASON_REFUSED;
	}
	lane->stream_id = place->stream_id;
	if (!mirror(lane, request))
		return AC_REASON_REFUSED;
	if (lane->dirty && driver->cuMemsetD32Async(lane->state_words, 0,
	    STATE_BYTES / 4, place->stream))
		return AC_REASON_REFUSED;
	lane->dirty = false;
	return AC_REASON_NONE;
}
