/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/shim/test_conv_plan.c -- plans are built once, lent to one at a
 * time, run with the program's pointers, and gone with their handle; against a
 * cuDNN that is made up. */
#include "shim/conv/conv_plan.h"
#include "tests/unit/cases.h"

#include "kernels/load/driver.h"
#include "report/report.h"
#include "shim/conv/descriptors.h"
#include "shim/conv/engine.h"
#include "shim/device/handle.h"
#include "shim/device/scratch.h"

/* ---- The made-up cuDNN -------------------------------------------------- */

enum { MOST = 4096 };

static struct made {
	cudnnBackendDescriptorType_t type;
	bool lives;
} made[MOST];
static int made_count, living, destroyed;
static int64_t workspace_bytes;
static int fails_finalize;  /* so many plans cannot be finalized, */
static int fails_create;    /* so many configurations not be created */
static cudnnStatus_t run_status;
static struct {
	int64_t count, uid[8];
	void *pointer[8], *workspace;
	cudnnHandle_t handle, plan_handle;
	cudnnBackendDescriptor_t variant;
	int runs;
} pack;

static cudnnStatus_t CUDNNWINAPI
create(cudnnBackendDescriptorType_t type, cudnnBackendDescriptor_t *out)
{
	struct made *one = &made[made_count++];

	if (type == CUDNN_BACKEND_ENGINECFG_DESCRIPTOR && fails_create-- > 0)
		return CUDNN_STATUS_ALLOC_FAILED;
	assert_true(made_count < MOST);
	one->type = type;
	one->lives = true;
	living++;
	*out = (cudnnBackendDescriptor_t)(void *)one;
	return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t CUDNNWINAPI
destroy(cudnnBackendDescriptor_t descriptor)
{
	struct made *one = (void *)descriptor;

	assert_true(one->lives);
	one->lives = false;
	living--;
	destroyed++;
	return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t CUDNNWINAPI
set(cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,
    cudnnBackendAttributeType_t type, int64_t count, const void *values)
{
	if (name == CUDNN_ATTR_EXECUTION_PLAN_HANDLE)
		memcpy(&pack.plan_handle, values, sizeof pack.plan_handle);
	if (name == CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS) {
		pack.count = count;
		memcpy(pack.uid, values, (size_t)count * sizeof *pack.uid);
	}
	if (name == CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS)
		memcpy(pack.pointer, values,
		    (size_t)count * sizeof *pack.pointer);
	if (name == CUDNN_ATTR_VARIANT_PACK_WORKSPACE)
		memcpy(&pack.workspace, values, sizeof pack.workspace);
	return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t CUDNNWINAPI
get(const cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,
    cudnnBackendAttributeType_t type, int64_t asked, int64_t *count, void *out)
{
	assert_int_equal(name, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE);
	memcpy(out, &workspace_bytes, sizeof workspace_bytes);
	*count = 1;
	return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t CUDNNWINAPI
finalize(cudnnBackendDescriptor_t descriptor)
{
	const struct made *one = (void *)descriptor;

	return one->type == CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR
	    && fails_finalize-- > 0 ? CUDNN_STATUS_NOT_SUPPORTED
	    : CUDNN_STATUS_SUCCESS;
}

static int relaxed, relaxes;

static cudnnStatus_t CUDNNWINAPI
execute(cudnnHandle_t handle, cudnnBackendDescriptor_t plan,
    cudnnBackendDescriptor_t variant)
{
	assert_true(((struct made *)(void *)plan)->lives);
	assert_true(((struct made *)(void *)variant)->lives);
	assert_int_equal(((struct made *)(void *)plan)->type,
	    CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
	/* Kernels are loaded by the first run alone. */
	assert_int_equal(relaxed, pack.runs == 0);
	pack.handle = handle;
	pack.variant = variant;
	pack.runs++;
	return run_status;
}

static struct ac_provider provider, other_provider;

ac_fn
ac_provider_look_up(struct ac_provider *of, enum ac_entry entry)
{
	return NULL;
}

/* ---- What a plan borrows ------------------------------------------------ */

_Atomic uint32_t ac_handle_generation;
__thread struct ac_handle_cache ac_handle_last;
_Atomic bool ac_report_forked;
static struct ac_driver driver;
static bool has_driver, has_graph;
static unsigned engine_count, fails_configure;
static int asked;
static struct ac_engine_question question;
static struct ac_conv asked_conv;

void
ac_report_resume(void)
{
}

const struct ac_handle *
ac_handle_search(const void *handle)
{
	static const struct ac_handle record = { .device = 2 };

	return &record;
}

const struct ac_driver *
ac_driver_get(void)
{
	return has_driver ? &driver : NULL;
}

bool
ac_scratch_relax(const struct ac_driver *of, int *mode_out)
{
	assert_ptr_equal(of, &driver);
	assert_int_equal(relaxed, 0);
	relaxed = 1;
	relaxes++;
	*mode_out = 77;
	return true;
}

void
ac_scratch_restore(const struct ac_driver *of, int mode)
{
	assert_ptr_equal(of, &driver);
	assert_int_equal(mode, 77);
	assert_int_equal(relaxed, 1);
	relaxed = 0;
}

cudnnBackendDescriptor_t
ac_engine_graph(const struct ac_engine_device *device,
    const struct ac_conv *conv, cudnnDataType_t type)
{
	cudnnBackendDescriptor_t graph;

	assert_int_equal(type, CUDNN_DATA_FLOAT);
	assert_int_equal(relaxed, has_driver);
	if (!has_graph)
		return NULL;
	create(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR, &graph);
	return graph;
}

unsigned
ac_engine_find(const struct ac_engine_question *of,
    cudnnBackendDescriptor_t graph, struct ac_engines *engines)
{
	assert_true(((struct made *)(void *)graph)->lives);
	asked++;
	question = *of;
	asked_conv = *of->conv;
	memset(engines, 0, sizeof *engines);
	return engines->count = engine_count;
}

bool
ac_engine_configure(const struct ac_engine_device *device,
    cudnnBackendDescriptor_t graph, const struct ac_engine *engine,
    cudnnBackendDescriptor_t config)
{
	assert_true(((struct made *)(void *)config)->lives);
	return !fails_configure || !fails_configure--;
}

/* ---- A site ------------------------------------------------------------- */

static struct ac_site_record record;
static struct ac_conv_site *site;
static struct ac_conv_site sites[32]; /* one for each test */
static int test_number;
/* Each test has its own. */
#define HANDLE(i) ((cudnnHandle_t)((uintptr_t)test_number << 8 | (i)))

static int
begin(void **state)
{
	provider.real[ENTRY_cudnnBackendCreateDescriptor] = (ac_fn)create;
	provider.real[ENTRY_cudnnBackendDestroyDescriptor] = (ac_fn)destroy;
	provider.real[ENTRY_cudnnBackendSetAttribute] = (ac_fn)set;
	provider.real[ENTRY_cudnnBackendGetAttribute] = (ac_fn)get;
	provider.real[ENTRY_cudnnBackendFinalize] = (ac_fn)finalize;
	provider.real[ENTRY_cudnnBackendExecute] = (ac_fn)execute;
	site = &sites[test_number++];
	site->query.provider = &provider;
	site->record = &record;
	site->query.conv.x.dim[1] = 32;
	for (int i = 0; i < AC_CONV_ROLES; i++)
		site->query.uids.of[i] = 11 + i;
	memset(&record.course, 0, sizeof record.course);
	memset(&pack, 0, sizeof pack);
	made_count = living = destroyed = relaxes = asked = 0;
	workspace_bytes = 1000;
	fails_finalize = fails_create = 0;
	fails_configure = 0;
	engine_count = 2;
	has_driver = has_graph = true;
	run_status = CUDNN_STATUS_SUCCESS;
	return 0;
}

static struct ac_conv_plan *
borrow(enum ac_rung rung, int handle)
{
	struct ac_conv_plan *plan;
	bool refused = true;

	plan = ac_conv_plan_borrow(site, rung, HANDLE(handle), true, &refused);
	assert_int_equal(refused, !plan);
	return plan;
}

/* ---- Building and lending ----------------------------------------------- */

CASE_WITH(test_built_once, begin, NULL)
{
	struct ac_conv_plan *plan = borrow(AC_RUNG_FP16, 1);

	assert_non_null(plan);
	assert_int_equal(ac_conv_plan_bytes(plan), 1000);
	assert_false(ac_conv_plan_has_run(plan));
	assert_int_equal(living, 2); /* its graph and it */
	assert_int_equal(question.rung, AC_RUNG_FP16);
	assert_int_equal(question.key, ac_engine_key(2));
	/* With the ids that the program has. */
	assert_int_equal(asked_conv.x.uid, 11);
	assert_int_equal(asked_conv.y.uid, 13);
	assert_int_equal(asked_conv.x.dim[1], 32);
	assert_ptr_equal(question.device.provider, &provider);
	assert_ptr_equal(pack.plan_handle, HANDLE(1));
	assert_int_equal(relaxes, 1);
	assert_int_equal(record.course.plans, 1);
	assert_int_equal(record.course.workspace, 1000);
	assert_true(record.course.plan_ms > 0 && record.course.plan_ms < 1e4f);
	ac_conv_plan_return(plan);
	assert_ptr_equal(borrow(AC_RUNG_FP16, 1), plan);
	assert_int_equal(asked, 1);
	assert_int_equal(record.course.plans, 1);
	workspace_bytes = 0;
	assert_int_equal(ac_conv_plan_bytes(borrow(AC_RUNG_FP16, 2)), 0);
}

CASE_WITH(test_lent_to_one, begin, NULL)
{
	struct ac_conv_plan *all[64] = { borrow(AC_RUNG_FP16, 1) };
	bool refused = true;

	for (int i = 1; i < 64; i++) {
		workspace_bytes = i == 1 ? 2000 : 500;
		all[i] = borrow(AC_RUNG_FP16, 1);
		for (int j = 0; j < i; j++)
			assert_ptr_not_equal(all[i], all[j]);
	}
	assert_int_equal(record.course.plans, 64);
	assert_int_equal(record.course.workspace, 2000);
	assert_null(ac_conv_plan_borrow(site, AC_RUNG_FP16, HANDLE(1), true,
	    &refused));
	assert_false(refused);
	assert_non_null(borrow(AC_RUNG_FP16, 2));
	ac_conv_plan_return(all[40]);
	assert_ptr_equal(borrow(AC_RUNG_FP16, 1), all[40]);
}

CASE_WITH(test_told_apart, begin, NULL)
{
	struct ac_conv_plan *plan = borrow(AC_RUNG_FP16, 1), *other;

	ac_conv_plan_return(plan);
	other = borrow(AC_RUNG_TF32, 1);
	assert_ptr_not_equal(other, plan);
	assert_int_equal(question.rung, AC_RUNG_TF32);
	ac_conv_plan_return(other);
	assert_ptr_not_equal(borrow(AC_RUNG_FP16, 2), plan);
	assert_ptr_equal(borrow(AC_RUNG_FP16, 1), plan);
	assert_ptr_equal(borrow(AC_RUNG_TF32, 1), other);
	assert_int_equal(asked, 3);
}

/* Under capture nothing is built; what there is, is lent. */
CASE_WITH(test_may_not_build, begin, NULL)
{
	struct ac_conv_plan *plan;
	bool refused = true;

	assert_null(ac_conv_plan_borrow(site, AC_RUNG_FP16, HANDLE(1), false,
	    &refused));
	assert_int_equal(refused, false);
	assert_int_equal(made_count, 0);
	plan = borrow(AC_RUNG_FP16, 1);
	ac_conv_plan_return(plan);
	assert_ptr_equal(ac_conv_plan_borrow(site, AC_RUNG_FP16, HANDLE(1),
	    false, &refused), plan);
}

/* ---- Refusals ----------------------------------------------------------- */

CASE_WITH(test_refused, begin, NULL)
{
	for (int why = 0; why < 5; why++) {
		begin(state);
		has_graph = why != 0;
		engine_count = why == 1 ? 0 : 2;
		fails_configure = why == 2 ? 2 : 0;
		fails_finalize = why == 3 ? 2 : 0;
		workspace_bytes = why == 4 ? -1 : 1000;
		assert_null(borrow(AC_RUNG_FP16, 1));
		assert_int_equal(living, 0);
		assert_int_equal(relaxed, 0);
		assert_int_equal(record.course.plans, 0);
		/* It is remembered, of this handle and rung. */
		has_graph = true;
		engine_count = 2;
		workspace_bytes = 1000;
		asked = 0;
		assert_null(borrow(AC_RUNG_FP16, 1));
		assert_int_equal(asked, 0);
		assert_non_null(borrow(AC_RUNG_TF32, 1));
		assert_non_null(borrow(AC_RUNG_FP16, 2));
	}
}

CASE_WITH(test_next_engine, begin, NULL)
{
	for (int why = 0; why < 3; why++) {
		begin(state);
		fails_configure = why == 0;
		fails_finalize = why == 1;
		fails_create = why == 2;
		assert_non_null(borrow(AC_RUNG_FP16, 1));
		assert_int_equal(living, 2);
	}
}

CASE_WITH(test_without_driver, begin, NULL)
{
	const struct ac_conv_data data = { { &provider } };
	struct ac_conv_plan *plan;

	has_driver = false;
	plan = borrow(AC_RUNG_FP16, 1);
	pack.runs = 1;
	assert_int_equal(ac_conv_plan_run(plan, NULL, &data, NULL), 0);
	assert_int_equal(relaxes, 0);
}

CASE_WITH(test_measured, begin, NULL)
{
	assert_int_equal(ac_conv_plan_measure(&provider, HANDLE(1),
	    &site->query.conv, AC_RUNG_TF32), 1000);
	assert_int_equal(question.rung, AC_RUNG_TF32);
	assert_int_equal(living, 0);
	assert_int_equal(record.course.plans, 0);
	engine_count = 0;
	assert_int_equal(ac_conv_plan_measure(&provider, HANDLE(1),
	    &site->query.conv, AC_RUNG_TF32), 0);
	assert_int_equal(living, 0);
}

/* ---- Running ------------------------------------------------------------ */

CASE_WITH(test_run, begin, NULL)
{
	char at[6];
	struct ac_conv_data data = { { at, at + 1, at + 2, at + 3, at + 4 } };
	struct ac_conv_plan *plan = borrow(AC_RUNG_FP16, 1);

	assert_int_equal(ac_conv_plan_run(plan, NULL, &data, &at[5]), 0);
	assert_true(ac_conv_plan_has_run(plan));
	assert_ptr_equal(pack.handle, HANDLE(1));
	assert_ptr_equal(pack.workspace, &at[5]);
	assert_int_equal(pack.count, 5);
	for (int i = 0; i < 5; i++) {
		assert_int_equal(pack.uid[i], 11 + i);
		assert_ptr_equal(pack.pointer[i], &at[i]);
	}
	assert_int_equal(relaxes, 2);
	assert_int_equal(living, 2);
	data.of[AC_CONV_W - 1] = data.of[AC_CONV_Z - 1] = NULL;
	assert_int_equal(ac_conv_plan_run(plan, NULL, &data, NULL), 0);
	assert_int_equal(pack.count, 3);
	assert_int_equal(pack.uid[1], 13);
	assert_int_equal(pack.uid[2], 15);
	assert_ptr_equal(pack.pointer[2], &at[4]);
	assert_null(pack.workspace);
	assert_int_equal(relaxes, 2);
}

/* The program's own pack, as it is. */
CASE_WITH(test_run_with_a_pack, begin, NULL)
{
	const struct ac_conv_data data = { { &provider } };
	struct ac_conv_plan *plan = borrow(AC_RUNG_FP16, 1);
	cudnnBackendDescriptor_t own;

	create(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, &own);
	assert_int_equal(ac_conv_plan_run(plan, own, &data, NULL), 0);
	assert_ptr_equal(pack.variant, own);
	assert_int_equal(pack.count, 0);
	assert_int_equal(living, 3);
	destroy(own);
}

CASE_WITH(test_run_fails, begin, NULL)
{
	const struct ac_conv_data data = { { &provider } };
	struct ac_conv_plan *plan = borrow(AC_RUNG_FP16, 1);

	run_status = CUDNN_STATUS_EXECUTION_FAILED;
	assert_int_equal(ac_conv_plan_run(plan, NULL, &data, NULL), run_status);
	assert_false(ac_conv_plan_has_run(plan));
	assert_int_equal(relaxed, 0);
	assert_int_equal(living, 2);
	ac_conv_plan_return(plan);
	assert_null(borrow(AC_RUNG_FP16, 1));
	/* That, too, is remembered, and lent to nobody. */
	assert_null(borrow(AC_RUNG_FP16, 1));
	assert_int_equal(asked, 1);
}

/* What cannot be packed is not run, nor is it a success. */
CASE_WITH(test_pack_fails, begin, NULL)
{
	const struct ac_conv_data data = { { &provider } };
	struct ac_conv_plan *plan = borrow(AC_RUNG_FP16, 1);

	provider.real[ENTRY_cudnnBackendFinalize] = (ac_fn)0;
	assert_int_not_equal(ac_conv_plan_run(plan, NULL, &data, NULL), 0);
	assert_int_equal(pack.runs, 0);
}

/* ---- The end ------------------------------------------------------------ */

CASE_WITH(test_forgotten, begin, NULL)
{
	struct ac_conv_plan *plan = borrow(AC_RUNG_FP16, 1);
	struct ac_conv_plan *kept = borrow(AC_RUNG_FP16, 2);
	const struct ac_conv_data data = { { &provider } };

	assert_int_equal(ac_conv_plan_run(plan, NULL, &data, NULL), 0);
	ac_conv_plan_return(kept);
	/* A lent one is not touched. */
	ac_conv_plan_forget(HANDLE(1));
	assert_int_equal(living, 4);
	ac_conv_plan_return(plan);
	ac_conv_plan_forget(HANDLE(1));
	assert_int_equal(living, 2);
	assert_ptr_equal(borrow(AC_RUNG_FP16, 2), kept);
	/* Its place is used again, by a plan that has not run. */
	assert_ptr_equal(borrow(AC_RUNG_TF32, 3), plan);
	assert_false(ac_conv_plan_has_run(plan));
	assert_int_equal(living, 4);
	ac_conv_plan_return(plan);
	ac_conv_plan_forget(HANDLE(3));
	ac_conv_plan_forget(HANDLE(3));
	assert_int_equal(living, 2);
}

/* The next handle at its address has as many. */
CASE_WITH(test_as_many_again, begin, NULL)
{
	struct ac_conv_plan *plan[64];

	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 64; i++) {
			plan[i] = borrow(AC_RUNG_FP16, 1);
			assert_non_null(plan[i]);
		}
		for (int i = 0; i < 64; i++)
			ac_conv_plan_return(plan[i]);
		ac_conv_plan_forget(HANDLE(1));
		assert_int_equal(living, 0);
	}
}

CASE_WITH(test_abandoned, begin, NULL)
{
	struct ac_conv_plan *plan = borrow(AC_RUNG_FP16, 1);
	struct ac_conv_plan *lent = borrow(AC_RUNG_FP16, 2);
	const int before = destroyed, lived = living;

	ac_conv_plan_return(plan);
	ac_conv_plan_abandon(&other_provider);
	assert_ptr_equal(borrow(AC_RUNG_FP16, 1), plan);
	assert_int_equal(asked, 2);
	ac_conv_plan_return(plan);
	/* Nothing is called: that code is gone. */
	ac_conv_plan_abandon(&provider);
	ac_conv_plan_forget(HANDLE(1));
	assert_int_equal(destroyed, before);
	assert_ptr_equal(borrow(AC_RUNG_FP16, 1), plan);
	assert_int_equal(asked, 3);
	assert_int_equal(living, lived + 2);
	assert_int_equal(ac_conv_plan_bytes(lent), 1000);
}

CASES_RUN(NULL, NULL)
