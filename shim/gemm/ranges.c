/* SPDX-License-Identifier: Apache-2.0 */
/* shim/gemm/ranges.c -- per site, totals on the device, a copy of them in host
 * memory that the kernel writes, and the report's place for them, brought up to
 * date at every call and when the process ends. */
#include "shim/gemm/gemm.h"

#include "base/env.h"
#include "base/mapped.h"
#include "kernels/recast/recast_ranges.h"
#include "report/report.h"
#include "shim/device/mailbox.h"
#include "shim/device/lane.h"

#include <string.h>
#include <unistd.h>

enum { TOTALS = 2 * AC_RANGE_BINS, BYTES = TOTALS * sizeof(uint64_t) };
_Static_assert((int)TOTALS == (int)AC_REPORT_RANGES, "the report's places");

/* Written once, then listed. */
struct ac_ranges {
	struct ac_ranges       *next;
	const struct ac_scratch *scratch;
	uint32_t                epoch;
	ac_cu_address           counts;     /* on the device */
	ac_cu_address           copy_device;
	const uint64_t         *copy;
	uint64_t               *report;
	pid_t                   process;    /* a forked child has none */
};
static _Atomic(struct ac_ranges *) all;

static struct ac_ranges *
make(const struct ac_site *site, const struct ac_place *place)
{
	struct ac_ranges *ranges = ac_mapped_take(sizeof *ranges);
	void *copy;

	if (!ranges)
		return NULL;
	ranges->report = ac_report_ranges(site->record);
	if (!ranges->report || !ac_mailbox_take(place, BYTES, true, &copy,
	    &ranges->copy_device) || ac_scratch_take(place->scratch,
	    site->decision.workspace_bytes, BYTES, true, place->stream,
	    &ranges->counts) != AC_REASON_NONE)
		return NULL;
	ranges->copy = copy;
	ranges->process = getpid();
	ranges->scratch = place->scratch;
	ranges->epoch = place->epoch;
	AC_MAPPED_PUSH(&all, ranges, next);
	return ranges;
}

/* Two threads may both make one: the first that is stored counts. What could
 * not be made is not tried again. */
static struct ac_ranges *
ranges_of(const struct ac_site *site, const struct ac_place *place)
{
	static struct ac_ranges none;
	struct ac_ranges *ranges = atomic_load_explicit(&site->state->ranges,
	    memory_order_acquire), *there = NULL;

	if (!ranges) {
		ranges = make(site, place);
		if (!ranges)
			ranges = &none;
		if (!atomic_compare_exchange_strong(&site->state->ranges,
		    &there, ranges))
			ranges = there;
	}
	return ranges->copy && ranges->scratch == place->scratch
	    && ranges->epoch == place->epoch ? ranges
	    : NULL;
}

/* The device writes whole words; which call's they are does not matter. */
static void
hand_on(const struct ac_ranges *ranges)
{
	for (unsigned i = 0; i < TOTALS; i++)
		__atomic_store_n(&ranges->report[i], __atomic_load_n(
		    &ranges->copy[i], __ATOMIC_RELAXED), __ATOMIC_RELAXED);
}

static struct ac_recast_matrices
read_of(const struct ac_gemm *g, const struct ac_operand *operand, int64_t rows,
    int64_t cols)
{
	return (struct ac_recast_matrices){
		.from = g->in_arrays ? NULL : operand->data,
		.array = g->in_arrays ? operand->data : NULL,
		.rows = rows, .cols = cols, .ld = operand->ld,
		.stride = operand->stride,
		.batch = g->in_arrays || operand->stride ? g->batch : 1
	};
}

/* The launch counts its blocks in a word of a lane: of nothing that two streams
 * share, or one of them would take the other's block for its last. */
static void
queue(const struct ac_ranges *ranges, const struct ac_lane_request *request,
    const struct ac_place *place, const struct ac_gemm *g)
{
	const bool ta = g->transa != CUBLAS_OP_N, tb = g->transb != CUBLAS_OP_N;
	struct ac_recast_ranges launch = {
		.operand = {
			read_of(g, &g->a, ta ? g->k : g->m, ta ? g->m : g->k),
			read_of(g, &g->b, tb ? g->n : g->k, tb ? g->k : g->n)
		},
		.counts = (uint64_t *)(uintptr_t)ranges->counts,
		.copy = (uint64_t *)(uintptr_t)ranges->copy_device,
	};
	struct ac_lane_loan loan;

	if (!ac_scratch_order(place->scratch, place->stream, false)
	    || ac_lane_borrow(request, place, &loan) != AC_REASON_NONE)
		return;
	launch.arrived = loan.zeros;
	ac_lane_return(&loan, !ac_recast_ranges(place->kernels, &launch,
	    place->stream));
}

void
ac_ranges_count(const struct ac_gemm *g, const struct ac_site *site)
{
	const struct ac_handle *handle = ac_handle_find(g->handle);
	const struct ac_lane_request request = {
		.provider = handle->provider, .program = g->handle,
		.device = handle->device, .zero_bytes = sizeof(uint32_t),
		.limit_bytes = site->decision.workspace_bytes,
	};
	struct ac_ranges *ranges;
	ac_cu_stream stream;
	struct ac_place place;

	if (!site->state || !ac_driver_get()
	    || !ac_provider_is_complete(site->binding.provider)
	    || g->backend->find_stream(g, site->binding.provider, &stream)
	    != AC_REASON_NONE
	    || ac_place_on(stream, handle->device, &place) != AC_REASON_NONE
	    || place.capture)
		return;
	ranges = ranges_of(site, &place);
	if (!ranges)
		return;
	queue(ranges, &request, &place, g);
	hand_on(ranges);
}

/* No CUDA call: the device may be gone, what it wrote is not. */
__attribute__((destructor)) static void
hand_on_all(void)
{
	for (struct ac_ranges *r = atomic_load(&all); r; r = r->next)
		if (r->process == getpid())
			hand_on(r);
}
