/* SPDX-License-Identifier: Apache-2.0 */
/* shim/device/lane_make.c -- building lanes and fitting them to a call. */
#include "shim/device/lane_make.h"

#include "shim/device/hold.h"

#include <stddef.h>

enum {
	WORKSPACE_SM90 = 32 << 20,    /* cuBLAS manual, cublasSetWorkspace() */
	WORKSPACE = 4 << 20,
	WORDS_BYTES = 256,
	BUFFER_STEP = 64 << 10, ZEROS_STEP = 4 << 10
};
_Static_assert(sizeof(struct ac_verified_state) <= LANE_RECORD_AT
    && sizeof(struct ac_verified_record) <= WORDS_BYTES - LANE_RECORD_AT,
    "the words of a call fit");

/* ---- Parts ------------------------------------------------------------- */

static void
give_part(struct ac_lane *lane, enum ac_lane_part which)
{
	const struct ac_lane_block *part = &lane->part[which];

	if (part->address)
		ac_scratch_give(lane->scratch, part->address, part->bytes,
		    lane->used ? lane->done : NULL);
}

static bool
zero(const struct ac_lane *lane, enum ac_lane_part which, ac_cu_stream stream)
{
	const struct ac_lane_block *part = &lane->part[which];

	return !part->bytes || !lane->driver->cuMemsetD32Async(part->address, 0,
	    part->bytes / sizeof(uint32_t), stream);
}

void
ac_lane_clear(struct ac_lane *lane, ac_cu_stream stream)
{
	lane->dirty = !zero(lane, LANE_WORDS, stream)
	    || !zero(lane, LANE_ZEROS, stream);
}

/* At least `bytes`, in whole steps if the limit has room for that. */
static enum ac_reason
fit_part(struct ac_lane *lane, enum ac_lane_part which, uint64_t bytes,
    uint64_t step, const struct ac_lane_request *request,
    const struct ac_place *place)
{
	const uint64_t limit = request->limit_bytes;
	struct ac_lane_block *part = &lane->part[which];
	const bool zeroed = which != LANE_BUFFER;
	enum ac_reason reason;
	uint64_t rounded;

	if (part->bytes >= bytes)
		return AC_REASON_NONE;
	if (place->capture)
		return AC_REASON_CAPTURE;
	rounded = (bytes + step - 1) / step * step;
	give_part(lane, which);
	part->bytes = rounded;
	reason = ac_scratch_take(lane->scratch, limit, rounded, zeroed,
	    place->stream, &part->address);
	if (reason != AC_REASON_NONE) {
		part->bytes = bytes;
		if (ac_scratch_take(lane->scratch, limit, bytes, zeroed,
		    place->stream, &part->address) != AC_REASON_NONE) {
			*part = (struct ac_lane_block){ 0 };
			return reason;
		}
	}
	return AC_REASON_NONE;
}

/* Mostly it fits as it is. */
static bool
fits(const struct ac_lane *lane, const struct ac_lane_request *request)
{
	return lane->part[LANE_WORDS].bytes
	    && lane->part[LANE_ZEROS].bytes >= request->zero_bytes
	    && lane->part[LANE_BUFFER].bytes >= request->buffer_bytes;
}

static enum ac_reason
fit(struct ac_lane *lane, const struct ac_lane_request *request,
    const struct ac_place *place)
{
	enum ac_reason reason;

	if (fits(lane, request))
		return AC_REASON_NONE;
	reason = fit_part(lane, LANE_WORDS, WORDS_BYTES, WORDS_BYTES, request,
	    place);
	if (reason == AC_REASON_NONE)
		reason = fit_part(lane, LANE_ZEROS, request->zero_bytes,
		    ZEROS_STEP, request, place);
	if (reason == AC_REASON_NONE)
		reason = fit_part(lane, LANE_BUFFER, request->buffer_bytes,
		    BUFFER_STEP, request, place);
	return reason;
}

/* ---- The handle -------------------------------------------------------- */

static uint64_t
workspace_for(const struct ac_lane *lane, const struct ac_lane_request *request)
{
	const uint64_t limit = ac_scratch_limit(lane->scratch,
	    request->limit_bytes);
	uint64_t bytes = WORKSPACE;
	int major;

	if (!lane->driver->cuDeviceGetAttribute(&major, AC_CU_ATTRIBUTE_MAJOR,
	    request->device) && major >= 9)
		bytes = WORKSPACE_SM90;
	if (bytes > limit / 2)
		bytes = limit / 2;
	return bytes & ~(uint64_t)255;
}

/* Last, when there is room for all else: it takes the longest, and memory of
 * its own, which the program may free one day. */
__attribute__((cold))
static enum ac_reason
create_handle(struct ac_lane *lane, struct ac_provider *provider)
{
	cublasStatus_t status;
	int mode;

	if (!ac_scratch_relax(lane->driver, &mode))
		return AC_REASON_DRIVER;
	status = PROVIDER(provider, cublasCreate_v2)(&lane->handle);
	if (status) {
		lane->handle = NULL;
	} else if (PROVIDER(provider, cublasSetPointerMode_v2)(lane->handle,
	    CUBLAS_POINTER_MODE_DEVICE)) {
		PROVIDER(provider, cublasDestroy_v2)(lane->handle);
		lane->handle = NULL;
	}
	ac_scratch_restore(lane->driver, mode);
	if (status == CUBLAS_STATUS_ALLOC_FAILED)
		return AC_REASON_OUT_OF_MEMORY;
	return lane->handle ? AC_REASON_NONE : AC_REASON_REFUSED;
}

__attribute__((cold))
static enum ac_reason
make_handle(struct ac_lane *lane, const struct ac_lane_request *request,
    const struct ac_place *place)
{
	enum ac_reason reason = AC_REASON_NONE;
	uint64_t workspace;

	if (lane->handle)
		return AC_REASON_NONE;
	if (place->capture)
		return AC_REASON_CAPTURE;
	workspace = workspace_for(lane, request);
	if (workspace && !lane->part[LANE_WORKSPACE].address) {
		struct ac_lane_block *part = &lane->part[LANE_WORKSPACE];

		reason = ac_scratch_take(lane->scratch, request->limit_bytes,
		    workspace, false, place->stream, &part->address);
		if (reason != AC_REASON_NONE)
			return reason;
		part->bytes = workspace;
	}
	return create_handle(lane, request->provider);
}

/* ---- Building ---------------------------------------------------------- */

void
ac_lane_forget(struct ac_lane *lane)
{
	lane->handle = NULL;
	for (unsigned i = 0; i < LANE_PARTS; i++)
		lane->part[i] = (struct ac_lane_block){ 0 };
	lane->done = NULL;
	lane->capture = 0;
}

__attribute__((cold))
void
ac_lane_dismantle(struct ac_lane *lane)
{
	if (lane->handle)
		PROVIDER(lane->provider, cublasDestroy_v2)(lane->handle);
	for (unsigned i = 0; i < LANE_PARTS; i++)
		give_part(lane, (enum ac_lane_part)i);
	if (lane->done)
		lane->driver->cuEventDestroy(lane->done);
	ac_lane_forget(lane);
	atomic_store_explicit(&lane->state, LANE_EMPTY, memory_order_release);
}

/* All at once: each call that there is no room for comes by. */
static bool
has_room(const struct ac_lane *lane, const struct ac_lane_request *request)
{
	const uint64_t parts = WORDS_BYTES + request->zero_bytes
	    + request->buffer_bytes;

	return ac_scratch_has_room(lane->scratch, request->limit_bytes, parts
	    + (request->wants_handle ? workspace_for(lane, request) : 0));
}

__attribute__((cold))
enum ac_reason
ac_lane_build(struct ac_lane *lane, const struct ac_lane_request *request,
    const struct ac_place *place)
{
	enum ac_reason reason;

	lane->driver = place->driver;
	lane->scratch = place->scratch;
	lane->provider = request->provider;
	lane->epoch = place->epoch;
	lane->used = lane->dirty = lane->follows = false;
	lane->math_flags = CUBLAS_DEFAULT_MATH;
	lane->atomics = CUBLAS_ATOMICS_NOT_ALLOWED;
	lane->sm_target = 0;
	if (!has_room(lane, request)) {
		ac_lane_dismantle(lane);
		return AC_REASON_WORKSPACE;
	}
	reason = lane->driver->cuEventCreate(&lane->done,
	    AC_CU_EVENT_DISABLE_TIMING) ? AC_REASON_REFUSED : AC_REASON_NONE;
	if (reason == AC_REASON_NONE)
		reason = fit(lane, request, place);
	if (reason == AC_REASON_NONE && request->wants_handle)
		reason = make_handle(lane, request, place);
	if (reason != AC_REASON_NONE)
		ac_lane_dismantle(lane);
	return reason;
}

/* ---- Making it ready for this call ------------------------------------- */

/* cublasSetStream() takes the workspace away (cuBLAS manual), hence the
 * pair. */
static bool
follow_stream(struct ac_lane *lane, const struct ac_place *place)
{
	struct ac_provider *provider = lane->provider;
	const struct ac_lane_block *workspace = &lane->part[LANE_WORKSPACE];
	__typeof__(&cublasSetWorkspace_v2) set_workspace;

	if (lane->follows)
		return true;
	set_workspace = PROVIDER(provider, cublasSetWorkspace_v2);
	if (PROVIDER(provider, cublasSetStream_v2)(lane->handle, place->stream))
		return false;
	return !workspace->address || !set_workspace
	    || !set_workspace(lane->handle,
		(void *)(uintptr_t)workspace->address, workspace->bytes);
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
	__typeof__(&cublasGetSmCountTarget) get_target =
	    PROVIDER(provider, cublasGetSmCountTarget);
	__typeof__(&cublasSetAtomicsMode) set_atomics;
	__typeof__(&cublasSetSmCountTarget) set_target;
	const cublasMath_t flags = (cublasMath_t)((unsigned)request->math_mode
	    & ~(unsigned)MODE_BITS);
	cublasAtomicsMode_t atomics;
	int target;

	if (flags != lane->math_flags) {
		if (PROVIDER(provider, cublasSetMathMode)(lane->handle, flags))
			return false;
		lane->math_flags = flags;
	}
	if (get_atomics && !get_atomics(request->program, &atomics)
	    && atomics != lane->atomics) {
		set_atomics = PROVIDER(provider, cublasSetAtomicsMode);
		if (set_atomics && set_atomics(lane->handle, atomics))
			return false;
		lane->atomics = atomics;
	}
	if (get_target && !get_target(request->program, &target)
	    && target != lane->sm_target) {
		set_target = PROVIDER(provider, cublasSetSmCountTarget);
		if (set_target && set_target(lane->handle, target))
			return false;
		lane->sm_target = target;
	}
	return true;
}

static enum ac_reason
prepare_handle(struct ac_lane *lane, const struct ac_lane_request *request,
    const struct ac_place *place)
{
	const enum ac_reason reason = make_handle(lane, request, place);

	if (reason != AC_REASON_NONE)
		return reason;
	lane->follows = follow_stream(lane, place);
	return lane->follows && mirror(lane, request) ? AC_REASON_NONE
	    : AC_REASON_REFUSED;
}

enum ac_reason
ac_lane_prepare(struct ac_lane *lane, const struct ac_lane_request *request,
    const struct ac_place *place)
{
	const bool moves = lane->stream_id != place->stream_id
	    || lane->capture != place->capture;
	enum ac_reason reason;

	/* A lane that goes into a capture is done with all else. */
	lane->ordered = false;
	if (lane->used && moves && !place->capture
	    && place->driver->cuStreamWaitEvent(place->stream, lane->done, 0))
		return AC_REASON_REFUSED;
	lane->ordered = true;
	if (moves)
		lane->follows = false;
	if (place->capture && moves)
		lane->held = ac_hold_begin(place);
	lane->stream_id = place->stream_id;
	lane->capture = place->capture;
	reason = fit(lane, request, place);
	if (reason == AC_REASON_NONE && request->wants_handle)
		reason = prepare_handle(lane, request, place);
	if (reason == AC_REASON_NONE && lane->dirty)
		ac_lane_clear(lane, place->stream);
	return reason == AC_REASON_NONE && lane->dirty ? AC_REASON_REFUSED
	    : reason;
}

bool
ac_lane_is_left(const struct ac_lane *lane)
{
	return lane->capture && lane->held && !ac_hold_is_live(lane->capture);
}

bool
ac_lane_suits_capture(struct ac_lane *lane,
    const struct ac_lane_request *request)
{
	return !lane->dirty && (lane->handle || !request->wants_handle)
	    && fits(lane, request) && (!lane->used
	    || ac_scratch_has_passed(lane->driver, lane->done));
}
