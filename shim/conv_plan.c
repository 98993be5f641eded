/* SPDX-License-Identifier: Apache-2.0 */
/* shim/conv_plan.c -- plans: built, kept, lent, run. */
#include "shim/conv_plan.h"

#include "base/mapped.h"
#include "report/report.h"
#include "shim/engine.h"
#include "shim/handle.h"

#include <stdatomic.h>
#include <time.h>

enum { COPIES = 8 };  /* of one plan, for as many threads on one handle */

enum state { GONE, FREE, BUSY };

/* What cuDNN made. */
struct made {
	cudnnBackendDescriptor_t graph, plan;
	size_t                   bytes;  /* of workspace */
};

/* Never freed nor moved; used again once its handle is gone. */
struct ac_conv_plan {
	struct ac_conv_plan       *next;    /* of all; newest first */
	_Atomic(const struct ac_conv_site *) site;
	_Atomic uint32_t           state;   /* enum state */
	cudnnHandle_t              handle;
	enum ac_rung               rung;
	struct made                made;
	bool                       has_run, is_refused;
};
static _Atomic(struct ac_conv_plan *) plans;

/* ---- Finding ---------------------------------------------------------------- */

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

/* A free one of `site`, `rung` and `handle`, claimed. *count_out: how many of
 * the site are in use. */
static struct ac_conv_plan *
find(const struct ac_conv_site *site, enum ac_rung rung, cudnnHandle_t handle,
    unsigned *count_out)
{
	struct ac_conv_plan *plan = atomic_load_explicit(&plans,
	    memory_order_acquire);

	*count_out = 0;
	for (; plan; plan = plan->next) {
		if (plan->site != site)
			continue;
		if (!claim(plan, FREE)) {
			++*count_out;
			continue;
		}
		if (plan->site == site && plan->rung == rung
		    && plan->handle == handle)
			return plan;
		release(plan, FREE);
	}
	return NULL;
}

/* A place for a new one, claimed. */
static struct ac_conv_plan *
make_room(void)
{
	struct ac_conv_plan *plan = atomic_load_explicit(&plans,
	    memory_order_acquire);
	struct ac_conv_plan *head;

	for (; plan; plan = plan->next)
		if (claim(plan, GONE))
			return plan;
	plan = ac_mapped_take(sizeof *plan);
	if (!plan)
		return NULL;
	plan->state = BUSY;
	head = atomic_load_explicit(&plans, memory_order_relaxed);
	do
		plan->next = head;
	while (!atomic_compare_exchange_weak_explicit(&plans, &head, plan,
	    memory_order_acq_rel, memory_order_relaxed));
	return plan;
}

/* ---- Building --------------------------------------------------------------- */

static void
destroy(struct ac_provider *provider, cudnnBackendDescriptor_t *descriptor)
{
	if (*descriptor)
		PROVIDER(provider, cudnnBackendDestroyDescriptor)(*descriptor);
	*descriptor = NULL;
}

static void
dismantle(struct ac_provider *provider, struct made *made)
{
	destroy(provider, &made->plan);
	destroy(provider, &made->graph);
}

static cudnnBackendDescriptor_t
create(struct ac_provider *provider, cudnnBackendDescriptorType_t type)
{
	cudnnBackendDescriptor_t made = NULL;

	if (PROVIDER(provider, cudnnBackendCreateDescriptor)(type, &made))
		return NULL;
	return made;
}

/* A finalized plan of `config`, NULL if cuDNN refuses. */
static cudnnBackendDescriptor_t
finish_plan(const struct ac_engine_device *device,
    cudnnBackendDescriptor_t config, size_t *bytes_out)
{
	struct ac_provider *provider = device->provider;
	cudnnBackendDescriptor_t plan = create(provider,
	    CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
	__typeof__(&cudnnBackendSetAttribute) set =
	    PROVIDER(provider, cudnnBackendSetAttribute);
	cudnnHandle_t handle = device->handle;
	int64_t bytes = 0, count = 0;

	if (!plan)
		return NULL;
	if (!set(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG,
	    CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &config)
	    && !set(plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE,
	    1, &handle)
	    && !PROVIDER(provider, cudnnBackendFinalize)(plan)
	    && !PROVIDER(provider, cudnnBackendGetAttribute)(plan,
	    CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1,
	    &count, &bytes) && bytes >= 0) {
		*bytes_out = (size_t)bytes;
		return plan;
	}
	destroy(provider, &plan);
	return NULL;
}

/* The first engine whose plan can be finalized. */
static bool
choose_engine(const struct ac_engine_device *device,
    const struct ac_engines *engines, struct made *made)
{
	for (unsigned i = 0; i < engines->count && !made->plan; i++) {
		cudnnBackendDescriptor_t config = create(device->provider,
		    CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);

		if (config && ac_engine_configure(device, made->graph,
		    &engines->engine[i], config))
			made->plan = finish_plan(device, config, &made->bytes);
		destroy(device->provider, &config);
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
	struct ac_site_course *course =
	    &atomic_load(&plan->site)->record->course;

	ac_report_check_fork();
	atomic_fetch_add_explicit(&course->plans, 1, memory_order_relaxed);
	atomic_store_explicit(&course->plan_ms, course->plan_ms
	    + (float)milliseconds, memory_order_relaxed);
	if (plan->made.bytes > course->workspace)
		atomic_store_explicit(&course->workspace, plan->made.bytes,
		    memory_order_relaxed);
}

/* In the mode of the heuristics that every engine has. */
static bool
make(const struct ac_engine_device *device, const struct ac_conv *conv,
    enum ac_rung rung, struct made *made)
{
	const struct ac_engine_question question = {
		.device = *device, .conv = conv, .rung = rung,
		.mode = CUDNN_HEUR_MODE_A,
		.key = 1 + (uint64_t)(uint32_t)
		    ac_handle_find((void *)device->handle)->device,
	};
	struct ac_engines engines;

	made->graph = ac_engine_graph(device, conv, CUDNN_DATA_FLOAT);
	if (made->graph && ac_engine_find(&question, made->graph, &engines)
	    && choose_engine(device, &engines, made))
		return true;
	dismantle(device->provider, made);
	return false;
}

static bool
build(struct ac_conv_plan *plan)
{
	const struct ac_conv_site *site = plan->site;
	const struct ac_engine_device device = {
		site->provider, plan->handle, NULL
	};
	struct timespec start;

	clock_gettime(CLOCK_MONOTONIC, &start);
	if (!make(&device, &site->query.conv, plan->rung, &plan->made))
		return false;
	report(plan, milliseconds_since(&start));
	return true;
}

size_t
ac_conv_plan_measure(struct ac_provider *provider, cudnnHandle_t handle,
    const struct ac_conv *conv, enum ac_rung rung)
{
	const struct ac_engine_device device = { provider, handle, NULL };
	struct made made = { .bytes = 0 };

	if (!make(&device, conv, rung, &made))
		return 0;
	dismantle(provider, &made);
	return made.bytes;
}

/* ---- Lending ---------------------------------------------------------------- */

struct ac_conv_plan *
ac_conv_plan_borrow(const struct ac_conv_site *site, enum ac_rung rung,
    cudnnHandle_t handle, bool may_build, bool *refused_out)
{
	unsigned others;
	struct ac_conv_plan *plan = find(site, rung, handle, &others);

	*refused_out = false;
	if (!plan && may_build && others < COPIES) {
		plan = make_room();
		if (!plan)
			return NULL;
		plan->site = site;
		plan->handle = handle;
		plan->rung = rung;
		plan->has_run = false;
		plan->is_refused = !build(plan);
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

/* ---- Running ---------------------------------------------------------------- */

struct pack {
	int64_t uid[AC_CONV_BIAS];
	void   *pointer[AC_CONV_BIAS];
	int64_t count;
};

static void
add(struct pack *pack, int64_t uid, const void *pointer)
{
	if (!pointer)
		return;
	pack->uid[pack->count] = uid;
	pack->pointer[pack->count++] = (void *)(uintptr_t)pointer;
}

cudnnStatus_t
ac_conv_plan_run(struct ac_conv_plan *plan, const struct ac_conv_data *data,
    void *workspace)
{
	struct ac_provider *provider = atomic_load(&plan->site)->provider;
	__typeof__(&cudnnBackendSetAttribute) set =
	    PROVIDER(provider, cudnnBackendSetAttribute);
	cudnnBackendDescriptor_t variant = create(provider,
	    CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
	cudnnStatus_t status = CUDNN_STATUS_NOT_INITIALIZED;
	struct pack pack = { .count = 0 };

	add(&pack, AC_CONV_X, data->x);
	add(&pack, AC_CONV_W, data->w);
	add(&pack, AC_CONV_Y, data->y);
	add(&pack, AC_CONV_Z, data->z);
	add(&pack, AC_CONV_BIAS, data->bias);
	if (!variant)
		return status;
	if (!set(variant, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64,
	    pack.count, pack.uid)
	    && !set(variant, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS,
	    CUDNN_TYPE_VOID_PTR, pack.count, pack.pointer)
	    && !set(variant, CUDNN_ATTR_VARIANT_PACK_WORKSPACE,
	    CUDNN_TYPE_VOID_PTR, 1, &workspace)
	    && !PROVIDER(provider, cudnnBackendFinalize)(variant))
		status = PROVIDER(provider, cudnnBackendExecute)(plan->handle,
		    plan->made.plan, variant);
	destroy(provider, &variant);
	plan->has_run |= status == CUDNN_STATUS_SUCCESS;
	return status;
}

/* ---- The end ---------------------------------------------------------------- */

void
ac_conv_plan_forget(cudnnHandle_t handle)
{
	struct ac_conv_plan *plan = atomic_load_explicit(&plans,
	    memory_order_acquire);

	for (; plan; plan = plan->next) {
		if (!claim(plan, FREE))
			continue;
		if (plan->handle != handle) {
			release(plan, FREE);
			continue;
		}
		dismantle(atomic_load(&plan->site)->provider, &plan->made);
		plan->site = NULL;
		release(plan, GONE);
	}
}

void
ac_conv_plan_abandon(const struct ac_provider *provider)
{
	struct ac_conv_plan *plan = atomic_load_explicit(&plans,
	    memory_order_acquire);

	for (; plan; plan = plan->next) {
		if (!claim(plan, FREE))
			continue;
		if (atomic_load(&plan->site)->provider != provider) {
			release(plan, FREE);
			continue;
		}
		plan->made.plan = plan->made.graph = NULL;
		plan->site = NULL;
		release(plan, GONE);
	}
}
