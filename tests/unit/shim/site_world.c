/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/shim/site_world.c -- see site_world.h. */
#include "tests/unit/shim/site_world.h"

#include "base/log.h"
#include "base/mapped.h"

struct world world;
static struct ac_provider provider;

static void
original(void)
{
}

static cublasStatus_t CUBLASWINAPI
tell_mode(cublasHandle_t handle, cublasMath_t *mode)
{
	*mode = world.mode;
	return CUBLAS_STATUS_SUCCESS;
}

int
begin(void **state)
{
	static struct ac_policy *policy;
	struct ac_policy_problems problems = { 0 };

	if (!policy)
		policy = ac_policy_parse(NULL, "", 0, "empty", &problems);
	assert_non_null(policy);
	memset(&world, 0, sizeof world);
	world.shim.policy = policy;
	strcpy(world.shim.program, "train");
	world.shim.rank = -1;
	world.gpu = (struct ac_device){ 90, "NVIDIA H200", true };
	world.binding = (struct ac_binding){ original, &provider };
	world.is_complete = true;
	world.cublas_version = 130100;
	world.cudnn_version = 90800;
	world.handle = (struct ac_handle){ &provider, DEVICE, 1, tell_mode };
	world.origin = (struct ac_origin *)(uintptr_t)8;
	strcpy(world.region.name, "loss");
	world.region.enabled = 1;
	world.answer.rung = AC_RUNG_KEEP;
	world.answer.reason = AC_REASON_RULE;
	atomic_store(&ac_shim_started, &world.shim);
	atomic_fetch_add(&ac_binding_generation, 1);
	return 0;
}

/* ---- Start --------------------------------------------------------------- */

_Atomic(const struct ac_shim *) ac_shim_started;

const struct ac_shim *
ac_shim_start(void)
{
	return &world.shim;
}

_Atomic bool ac_shim_ranges;

void
__wrap_ac_policy_decide(const struct ac_policy *policy,
    const struct ac_op *op, struct ac_decision *decision_out)
{
	assert_ptr_equal(policy, world.shim.policy);
	assert_non_null(op->fact[AC_FACT_FN]);
	*decision_out = world.answer;
}

/* ---- The GPU ------------------------------------------------------------- */

const struct ac_device *
ac_device_get(int ordinal)
{
	return ordinal == DEVICE ? &world.gpu : NULL;
}

const struct ac_rates *
ac_device_rates(int ordinal, const char *library)
{
	strcpy(world.rates_library, library);
	return ordinal == DEVICE ? &world.rates : NULL;
}

bool
ac_device_may_time(int ordinal)
{
	world.timed_device = ordinal;
	return world.may_time;
}

/* ---- The provider -------------------------------------------------------- */

_Atomic uint32_t ac_binding_generation;
__thread struct ac_handle_cache ac_handle_last;
_Atomic uint32_t ac_handle_generation = 1;

const struct ac_handle *
ac_handle_search(const void *handle)
{
	return &world.handle;
}

struct ac_binding
ac_provider_bind(enum ac_entry entry, const void *caller, uint32_t via)
{
	world.binds++;
	world.bound_entry = entry;
	world.bound_caller = caller;
	world.bound_via = via;
	return world.binding;
}

bool
ac_provider_is_complete(struct ac_provider *asked)
{
	assert_ptr_equal(asked, &provider);
	return world.is_complete;
}

static cublasStatus_t CUBLASWINAPI
tell_cublas(cublasHandle_t handle, int *version)
{
	if (world.cublas_version < 0)
		return CUBLAS_STATUS_NOT_INITIALIZED;
	*version = world.cublas_version;
	return CUBLAS_STATUS_SUCCESS;
}

static size_t
tell_cudnn(void)
{
	return world.cudnn_version;
}

ac_fn
ac_provider_look_up(struct ac_provider *asked, enum ac_entry entry)
{
	assert_ptr_equal(asked, &provider);
	if (entry == ENTRY_cublasGetVersion_v2 && world.cublas_version)
		return (ac_fn)tell_cublas;
#ifdef AC_HAVE_CUDNN
	if (entry == ENTRY_cudnnGetVersion && world.cudnn_version)
		return (ac_fn)tell_cudnn;
#else
	(void)tell_cudnn;
#endif
	return NULL;
}

struct ac_solver *
ac_solver_of(uintptr_t base)
{
	return world.solver_base && base == world.solver_base
	    ? &world.solver : NULL;
}

const struct ac_region *
ac_region_get(uint32_t number)
{
	return number == REGION ? &world.region : NULL;
}

/* ---- Origins ------------------------------------------------------------- */

struct ac_origin *
ac_origin_of(const uint64_t place[2], const struct ac_decision *decision,
    uint64_t stream_id)
{
	assert_int_equal(decision->rung, world.answer.rung);
	assert_int_equal(stream_id, 0);
	world.origins++;
	memcpy(world.origin_place, place, sizeof world.origin_place);
	return world.origin;
}

struct ac_variants *
ac_variants_make(const struct ac_decision *decision,
    struct ac_site_record *record, bool may_time, double more)
{
	assert_int_equal(decision->rung, world.answer.rung);
	assert_ptr_equal(record, world.record);
	world.made++;
	world.variants_may_time = may_time;
	world.variants_more = more;
	if (world.other)
		atomic_store(&world.state->variants[more > 0 ? AC_ALIKE_ADD
		    : AC_ALIKE_ALL], world.other);
	return world.variants;
}

/* ---- The report ---------------------------------------------------------- */

_Atomic bool ac_report_forked;

void
ac_report_resume(void)
{
}

struct ac_site_record *
ac_report_site(const struct ac_site_region *region,
    const struct ac_site_key *key, const struct ac_decision *decision,
    const char *name, bool *is_overflow_out)
{
	struct ac_site_record *record = &world.record[world.next_record];

	world.told++;
	world.key = record->key = *key;
	world.told_region = *region;
	world.decision = *decision;
	world.name = name;
	*is_overflow_out = world.is_overflow;
	return record;
}

void
ac_report_module(const char *name, const char *path)
{
}

void
ac_report_machine(const char *gpu, int sm, const char *library, bool emulated)
{
	world.machines++;
	snprintf(world.machine, sizeof world.machine, "%s", gpu);
	snprintf(world.machine_library, sizeof world.machine_library, "%s",
	    library);
	world.machine_sm = sm;
	world.machine_is_emulated = emulated;
}

struct ac_marker_record *
ac_report_marker(const char *symbol)
{
	world.markers++;
	snprintf(world.marker.symbol, sizeof world.marker.symbol, "%s", symbol);
	return &world.marker;
}

void
__wrap_ac_log(enum ac_log_level level, const char *format, ...)
{
	assert_int_equal(level, AC_LOG_WARNING);
	world.warnings++;
}

void *__real_ac_mapped_take(size_t bytes);

void *
__wrap_ac_mapped_take(size_t bytes)
{
	return world.has_no_memory ? NULL : __real_ac_mapped_take(bytes);
}
