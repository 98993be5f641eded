/* SPDX-License-Identifier: Apache-2.0 */
/* shim/conv/conv_plan.c -- plans: built, kept, lent, run. */
#include "shim/conv/conv_plan.h"

#include "base/mapped.h"
#include "kernels/load/driver.h"
#include "report/report.h"
#include "shim/conv/descriptors.h"
#include "shim/conv/engine.h"
#include "shim/conv/builder.h"
#include "shim/device/handle.h"
#include "shim/device/scratch.h"

#include <stdatomic.h>
#include <time.h>

enum { COPIES = 64 }; /* of one plan, for as many threads on one handle */

enum state { GONE, FREE, BUSY };

/* What cuDNN made. */
struct made {
	cudnnBackendDescriptor_t graph, plan;
	size_t                   bytes;  /* of workspace */
};

/* Of one site for good. Never freed nor moved; used again once its handle is
 * gone. What is not atomic is of who made it BUSY. */
struct ac_conv_plan {
	struct ac_conv_plan       *next, *next_of_all; /* newest first */
	const struct ac_conv_site *site;
	_Atomic uint32_t           state;   /* enum state */
	_Atomic uint32_t           rung;
	_Atomic(cudnnHandle_t)     handle;
	struct made                made;
	bool                       has_run, is_refused;
};
static _Atomic(struct ac_conv_plan *) all;

/* ---- Finding ----------------------------------------------------------- */

static bool
claim(struct ac_conv_plan *plan, uint32_t from)
{
	return atomic_compare_exchange_strong_explicit(&plan->state, &from,
	    BUSY, memory_order_acq_rel, memory_order_relaxed);
}

static void
release(struct ac_conv_plan *plan, uint32_t to)
{
	atomic_store_explicit(&plan->state, to, memory_order_release);
}

static bool
is_of(const struct ac_conv_plan *plan, enum ac_rung rung, cudnnHandle_t handle)
{
	return atomic_load_explicit(&plan->handle, memory_order_relaxed)
	    == handle && atomic_load_explicit(&plan->rung,
	    memory_order_relaxed) == (uint32_t)rung;
}

/* A free one of `site`, `rung` and `handle`, claimed. *others_out: how many of
 * these are lent. */
static struct ac_conv_plan *
find(struct ac_conv_site *site, enum ac_rung rung, cudnnHandle_t handle,
    unsigned *others_out)
{
	struct ac_conv_plan *plan = atomic_load_explicit(&site->plans,
	    memory_order_acquire);

	*others_out = 0;
	for (; plan; plan = plan->next) {
		/* Others' are not even touched: their owner may look for them
		 * just now. */
		if (!is_of(plan, rung, handle))
			continue;
		if (!claim(plan, FREE)) {
			++*others_out;
			continue;
		}
		if (is_of(plan, rung, handle))
			return plan;
		release(plan, FREE);
	}
	return NULL;
}

/* A place for a new one, claimed. */
static struct ac_conv_plan *
make_room(struct ac_conv_site *site)
{
	struct ac_conv_plan *plan = atomic_load_explicit(&site->plans,
	    memory_order_acquire);

	for (; plan; plan = plan->next)
		if (claim(plan, GONE))
			return plan;
	plan = ac_mapped_take(sizeof *plan);
	if (!plan)
		return NULL;
	plan->state = BUSY;
	plan->site = site;
	AC_MAPPED_PUSH(&site->plans, plan, next);
	AC_MAPPED_PUSH(&all, plan, next_of_all);
	return plan;
}

/* ---- Building ---------------------------------------------------------- */

static void
dismantle(struct ac_provider *provider, struct made *made)
{
	struct ac_builder builder = { .provider = provider };

	if (made->plan)
		builder.made[builder.count++] = made->plan;
	if (made->graph)
		builder.made[builder.count++] = made->graph;
	ac_builder_end(&builder, NULL);
	*made = (struct made){ .bytes = 0 };
}

/* A finalized plan of `config`, NULL if cuDNN refuses. */
static cudnnBackendDescriptor_t
finish_plan(const struct ac_engine_device *device,
    cudnnBackendDescriptor_t config, size_t *bytes_out)
{
	struct ac_builder builder = { .provider = device->provider };
	cudnnBackendDescriptor_t plan = ac_builder_new(&builder,
	    CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
	int64_t bytes = 0;

	ac_builder_set(&builder, plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG,
	    CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &config);
	ac_builder_set(&builder, plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE,
	    CUDNN_TYPE_HANDLE, 1, &device->handle);
	ac_builder_finalize(&builder, plan);
	ac_builder_get(&builder, plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE,
	    CUDNN_TYPE_INT64, 1, &bytes);
	plan = bytes < 0 ? ac_builder_end(&builder, NULL)
	    : ac_builder_end(&builder, plan);
	if (plan)
		*bytes_out = (size_t)bytes;
	return plan;
}

/* The first engine whose plan can be finalized. */
static bool
choose_engine(const struct ac_engine_device *device,
    const struct ac_engines *engines, struct made *made)
{
	for (unsigned i = 0; i < engines->count && !made->plan; i++) {
		struct ac_builder builder = { .provider = device->provider };
		cudnnBackendDescriptor_t config = ac_builder_new(&builder,
		    CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);

		if (config && ac_engine_configure(device, made->graph,
		    &engines->engine[i], config))
			made->plan = finish_plan(device, config, &made->bytes);
		ac_builder_end(&builder, NULL);
	}
	return made->plan != NULL;
}

static double
milliseconds_since(const struct timespec *start)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)(now.tv_sec - start->tv_sec) * 1e3
	    + (double)(now.tv_nsec - start->tv_nsec) * 1e-6;
}

static void
report(const struct ac_conv_plan *plan, double milliseconds)
{
	struct ac_site_course *course = &plan->site->record->course;

	float sum = course->plan_ms;
	uint64_t most = course->workspace;

	ac_report_check_fork();
	atomic_fetch_add_explicit(&course->plans, 1, memory_order_relaxed);
	while (!atomic_compare_exchange_weak_explicit(&course->plan_ms, &sum,
	    sum + (float)milliseconds, memory_order_relaxed,
	    memory_order_relaxed))
		;
	while (most < plan->made.bytes
	    && !atomic_compare_exchange_weak_explicit(&course->workspace, &most,
	    plan->made.bytes, memory_order_relaxed, memory_order_relaxed))
		;
}

/* By heuristics that every engine has. cuDNN may load kernels, which no capture
 * must notice (doc/rules.md R7). */
static bool
make(const struct ac_engine_device *device, const struct ac_conv *conv,
    enum ac_rung rung, struct made *made)
{
	const struct ac_engine_question question = {
		.device = *device, .conv = conv, .rung = rung,
		.key = ac_engine_key(ac_handle_find(device->handle)->device),
	};
	const struct ac_driver *driver = ac_driver_get();
	struct ac_engines engines;
	int mode = 0;

	if (driver && !ac_scratch_relax(driver, &mode))
		return false;
	made->graph = ac_engine_graph(device, conv, CUDNN_DATA_FLOAT);
	if (!made->graph || !ac_engine_find(&question, made->graph, &engines)
	    || !choose_engine(device, &engines, made))
		dismantle(device->provider, made);
	if (driver)
		ac_scratch_restore(driver, mode);
	return made->plan != NULL;
}

static bool
build(struct ac_conv_plan *plan, enum ac_rung rung, cudnnHandle_t handle)
{
	const struct ac_conv_site *site = plan->site;
	const struct ac_engine_device device = { site->query.provider, handle };
	struct timespec start;
	struct ac_conv conv;

	clock_gettime(CLOCK_MONOTONIC, &start);
	ac_conv_rename(&site->query.conv, &site->query.uids, &conv);
	if (!make(&device, &conv, rung, &plan->made))
		return false;
	report(plan, milliseconds_since(&start));
	return true;
}

size_t
ac_conv_plan_measure(struct ac_provider *provider, cudnnHandle_t handle,
    const struct ac_conv *conv, enum ac_rung rung)
{
	const struct ac_engine_device device = { provider, handle };
	struct made made = { .bytes = 0 };
	size_t bytes;

	if (!make(&device, conv, rung, &made))
		return 0;
	bytes = made.bytes;
	dismantle(provider, &made);
	return bytes;
}

/* ---- Lending ----------------------------------------------------------- */

struct ac_conv_plan *
ac_conv_plan_borrow(struct ac_conv_site *site, enum ac_rung rung,
    cudnnHandle_t handle, bool may_build, bool *refused_out)
{
	unsigned others;
	struct ac_conv_plan *plan = find(site, rung, handle, &others);

	*refused_out = false;
	if (!plan && may_build && others < COPIES) {
		plan = make_room(site);
		if (!plan)
			return NULL;
		atomic_store_explicit(&plan->handle, handle,
		    memory_order_relaxed);
		atomic_store_explicit(&plan->rung, (uint32_t)rung,
		    memory_order_relaxed);
		plan->has_run = false;
		plan->is_refused = !build(plan, rung, handle);
	}
	if (plan && plan->is_refused) {
		*refused_out = true;
		release(plan, FREE);
		return NULL;
	}
	return plan;
}

void
ac_conv_plan_return(struct ac_conv_plan *plan)
{
	release(plan, FREE);
}

size_t
ac_conv_plan_bytes(const struct ac_conv_plan *plan)
{
	return plan->made.bytes;
}

bool
ac_conv_plan_has_run(const struct ac_conv_plan *plan)
{
	return plan->has_run;
}

/* ---- Running ----------------------------------------------------------- */

static cudnnBackendDescriptor_t
make_pack(struct ac_builder *builder, const struct ac_conv_plan *plan,
    const struct ac_conv_data *data, void *workspace)
{
	int64_t uid[AC_CONV_ROLES], count = 0;
	const void *pointer[AC_CONV_ROLES];
	cudnnBackendDescriptor_t pack = ac_builder_new(builder,
	    CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);

	for (unsigned i = 0; i < AC_CONV_ROLES; i++)
		if (data->of[i]) {
			uid[count] = plan->site->query.uids.of[i];
			pointer[count++] = data->of[i];
		}
	ac_builder_set(builder, pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS,
	    CUDNN_TYPE_INT64, count, uid);
	ac_builder_set(builder, pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS,
	    CUDNN_TYPE_VOID_PTR, count, pointer);
	ac_builder_set(builder, pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE,
	    CUDNN_TYPE_VOID_PTR, 1, &workspace);
	ac_builder_finalize(builder, pack);
	return pack;
}

static cudnnStatus_t
execute(const struct ac_conv_plan *plan, cudnnBackendDescriptor_t pack,
    const struct ac_conv_data *data, void *workspace)
{
	struct ac_provider *provider = plan->site->query.provider;
	struct ac_builder builder = { .provider = provider };
	cudnnStatus_t status = CUDNN_STATUS_NOT_INITIALIZED;

	if (!pack)
		pack = make_pack(&builder, plan, data, workspace);
	if (!builder.is_refused)
		status = PROVIDER(provider, cudnnBackendExecute)(plan->handle,
		    plan->made.plan, pack);
	ac_builder_end(&builder, NULL);
	return status;
}

cudnnStatus_t
ac_conv_plan_run(struct ac_conv_plan *plan, cudnnBackendDescriptor_t pack,
    const struct ac_conv_data *data, void *workspace)
{
	const struct ac_driver *driver = plan->has_run ? NULL
	    : ac_driver_get();
	cudnnStatus_t status = CUDNN_STATUS_NOT_INITIALIZED;
	int mode = 0;

	if (driver && !ac_scratch_relax(driver, &mode))
		return status;
	status = execute(plan, pack, data, workspace);
	if (driver)
		ac_scratch_restore(driver, mode);
	plan->has_run |= status == CUDNN_STATUS_SUCCESS;
	plan->is_refused |= status != CUDNN_STATUS_SUCCESS;
	return status;
}

/* ---- The end ----------------------------------------------------------- */

void
ac_conv_plan_forget(cudnnHandle_t handle)
{
	struct ac_conv_plan *plan = atomic_load_explicit(&all,
	    memory_order_acquire);

	for (; plan; plan = plan->next_of_all)
		if (plan->handle == handle && claim(plan, FREE)) {
			dismantle(plan->site->query.provider, &plan->made);
			plan->handle = NULL;
			release(plan, GONE);
		}
}

void
ac_conv_plan_abandon(const struct ac_provider *provider)
{
	struct ac_conv_plan *plan = atomic_load(&all);

	for (; plan; plan = plan->next_of_all)
		if (plan->site->query.provider == provider
		    && claim(plan, FREE)) {
			plan->made = (struct made){ .bytes = 0 };
			plan->handle = NULL;
			release(plan, GONE);
		}
}
