/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/shim/lane_world.c -- see lane_world.h. */
#include "tests/unit/shim/lane_world.h"
#include "tests/unit/cases.h"

struct world world;
struct ac_provider full, bare;

struct ac_scratch {
	unsigned index;
	uint32_t epoch;
};
static struct ac_scratch scratches[AC_SCRATCH_CONTEXTS];
static unsigned contexts;
static _Atomic uintptr_t things; /* made so far: addresses and handles */

/* Whether it fails. */
static bool
note(enum call call)
{
	world.count[call]++;
	return world.fails >> call & 1;
}

/* ---- The driver -------------------------------------------------------- */

static ac_cu_result
event_create(ac_cu_event *event, unsigned flags)
{
	assert_int_equal(flags, AC_CU_EVENT_DISABLE_TIMING);
	*event = (ac_cu_event)(++things * 4096);
	if (!note(EVENT_CREATE))
		return 0;
	*event = NULL;
	return 1;
}

static ac_cu_result
event_destroy(ac_cu_event event)
{
	assert_non_null(event);
	return note(EVENT_DESTROY);
}

static ac_cu_result
event_record(ac_cu_event event, ac_cu_stream stream)
{
	assert_non_null(event);
	world.stream = stream;
	return note(RECORD);
}

static ac_cu_result
event_query(ac_cu_event event)
{
	assert_non_null(event);
	assert_int_equal(world.mode, AC_CU_CAPTURE_RELAXED);
	return note(QUERY) || world.is_pending;
}

static ac_cu_result
stream_wait(ac_cu_stream stream, ac_cu_event event, unsigned flags)
{
	world.stream = stream;
	world.event = event;
	return note(WAIT);
}

static ac_cu_result
set_words(ac_cu_address address, unsigned value, size_t count,
    ac_cu_stream stream)
{
	assert_int_equal(value, 0);
	world.stream = stream;
	world.zeroed = address;
	world.zeroed_bytes = 4 * count;
	return note(MEMSET);
}

static ac_cu_result
get_attribute(int *value, int attribute, int device)
{
	assert_int_equal(attribute, AC_CU_ATTRIBUTE_MAJOR);
	assert_int_equal(device, 3);
	*value = world.major;
	return !world.major;
}

static ac_cu_result
get_device(int *device)
{
	*device = 3;
	return !world.current;
}

static ac_cu_result
get_current(ac_cu_context *context)
{
	*context = (ac_cu_context)(uintptr_t)16;
	return 0;
}

static ac_cu_result
get_id(ac_cu_context context, unsigned long long *id)
{
	*id = world.current;
	return 0;
}

static void (*destroy_object)(void *);

static ac_cu_result
create_object(ac_cu_object *object, void *data, void (*destroy)(void *),
    unsigned references, unsigned flags)
{
	world.held[world.holds++] = data;
	destroy_object = destroy;
	*object = NULL;
	return 0;
}

static ac_cu_result
release_object(ac_cu_object object, unsigned count)
{
	return 1;
}

static ac_cu_result
retain_object(ac_cu_graph graph, ac_cu_object object, unsigned count,
    unsigned flags)
{
	return 0;
}

void
world_end(unsigned nth)
{
	destroy_object(world.held[nth]);
}

static const struct ac_driver driver = {
	.cuEventCreate = event_create, .cuEventDestroy = event_destroy,
	.cuEventRecord = event_record, .cuEventQuery = event_query,
	.cuStreamWaitEvent = stream_wait, .cuMemsetD32Async = set_words,
	.cuDeviceGetAttribute = get_attribute, .cuCtxGetDevice = get_device,
	.cuCtxGetCurrent = get_current, .cuCtxGetId = get_id,
	.cuUserObjectCreate = create_object,
	.cuUserObjectRelease = release_object,
	.cuGraphRetainUserObject = retain_object,
};

const struct ac_driver *
ac_driver_loaded(void)
{
	return &driver;
}

/* ---- The scratch ------------------------------------------------------- */

struct ac_scratch *
ac_scratch_find(uint64_t context_id)
{
	return context_id && context_id <= contexts
	    ? &scratches[context_id - 1] : NULL;
}

unsigned
ac_scratch_index(const struct ac_scratch *scratch)
{
	return scratch->index;
}

uint32_t
ac_scratch_epoch(const struct ac_scratch *scratch)
{
	return scratch->epoch;
}

uint64_t
ac_scratch_limit(const struct ac_scratch *scratch, uint64_t wanted)
{
	return wanted ? wanted : UINT64_C(1) << 30;
}

/* Whoever takes may find less. */
bool
ac_scratch_has_room(const struct ac_scratch *scratch, uint64_t limit,
    uint64_t bytes)
{
	return bytes <= world.seen_room;
}

enum ac_reason
ac_scratch_take(struct ac_scratch *scratch, uint64_t limit, uint64_t bytes,
    bool zeroed, ac_cu_stream stream, ac_cu_address *address_out)
{
	limit = ac_scratch_limit(scratch, limit);
	world.stream = stream;
	world.taken_bytes[world.count[TAKE] % 8] = bytes;
	world.taken_zeroed[world.count[TAKE] % 8] = zeroed;
	if (note(TAKE))
		return AC_REASON_OUT_OF_MEMORY;
	if (bytes > limit || bytes > world.room)
		return AC_REASON_WORKSPACE;
	*address_out = ++things << 32;
	return AC_REASON_NONE;
}

void
ac_scratch_give(struct ac_scratch *scratch, ac_cu_address address,
    uint64_t bytes, ac_cu_event last_use)
{
	assert_int_not_equal(address, 0);
	note(GIVE);
	world.given = address;
	world.given_bytes = bytes;
	world.last_use = last_use;
}

void
ac_scratch_trim(struct ac_scratch *scratch)
{
	note(TRIM);
}

bool
ac_scratch_relax(const struct ac_driver *of, int *mode_out)
{
	*mode_out = world.mode;
	world.mode = AC_CU_CAPTURE_RELAXED;
	return true;
}

void
ac_scratch_restore(const struct ac_driver *of, int mode)
{
	world.mode = mode;
}

/* ---- The provider ------------------------------------------------------ */

ac_fn
ac_provider_look_up(struct ac_provider *provider, enum ac_entry entry)
{
	return NULL; /* all that there is was filled in */
}

#define PROGRAM ((cublasHandle_t)(uintptr_t)8)

static cublasStatus_t
create(cublasHandle_t *handle)
{
	assert_int_equal(world.mode, AC_CU_CAPTURE_RELAXED);
	*handle = (cublasHandle_t)(++things * 4096);
	if (!note(CREATE))
		return CUBLAS_STATUS_SUCCESS;
	return world.is_scarce ? CUBLAS_STATUS_ALLOC_FAILED
	    : CUBLAS_STATUS_NOT_INITIALIZED;
}

static cublasStatus_t
destroy(cublasHandle_t handle)
{
	assert_ptr_not_equal(handle, PROGRAM);
	note(DESTROY);
	return CUBLAS_STATUS_SUCCESS;
}

/* One that sets something of a handle that is not the program's. */
static cublasStatus_t
set(cublasHandle_t handle, enum call call)
{
	assert_non_null(handle);
	assert_ptr_not_equal(handle, PROGRAM);
	return note(call) ? CUBLAS_STATUS_INVALID_VALUE
	    : CUBLAS_STATUS_SUCCESS;
}

static cublasStatus_t
set_pointer_mode(cublasHandle_t handle, cublasPointerMode_t mode)
{
	assert_int_equal(mode, CUBLAS_POINTER_MODE_DEVICE);
	return set(handle, POINTER_MODE);
}

static cublasStatus_t
set_stream(cublasHandle_t handle, cudaStream_t stream)
{
	world.stream = (ac_cu_stream)stream;
	world.workspace = 0; /* as cuBLAS does */
	return set(handle, SET_STREAM);
}

static cublasStatus_t
set_workspace(cublasHandle_t handle, void *workspace, size_t bytes)
{
	world.workspace = (ac_cu_address)(uintptr_t)workspace;
	world.workspace_bytes = bytes;
	return set(handle, SET_WORKSPACE);
}

static cublasStatus_t
set_math(cublasHandle_t handle, cublasMath_t math)
{
	world.math = math;
	return set(handle, SET_MATH);
}

static cublasStatus_t
get_atomics(cublasHandle_t handle, cublasAtomicsMode_t *mode)
{
	assert_ptr_equal(handle, PROGRAM);
	*mode = world.program_atomics;
	return CUBLAS_STATUS_SUCCESS;
}

static cublasStatus_t
set_atomics(cublasHandle_t handle, cublasAtomicsMode_t mode)
{
	world.atomics = mode;
	return set(handle, SET_ATOMICS);
}

static cublasStatus_t
get_target(cublasHandle_t handle, int *target)
{
	assert_ptr_equal(handle, PROGRAM);
	*target = world.program_target;
	return CUBLAS_STATUS_SUCCESS;
}

static cublasStatus_t
set_target(cublasHandle_t handle, int target)
{
	world.target = target;
	return set(handle, SET_TARGET);
}

static void
fill(struct ac_provider *provider, bool is_full)
{
#define HAS(symbol, function) \
	provider->real[ENTRY_##symbol] = (ac_fn)(function)
	HAS(cublasCreate_v2, create);
	HAS(cublasDestroy_v2, destroy);
	HAS(cublasSetPointerMode_v2, set_pointer_mode);
	HAS(cublasSetStream_v2, set_stream);
	HAS(cublasSetMathMode, set_math);
	if (!is_full)
		return;
	HAS(cublasSetWorkspace_v2, set_workspace);
	HAS(cublasGetAtomicsMode, get_atomics);
	HAS(cublasSetAtomicsMode, set_atomics);
	HAS(cublasGetSmCountTarget, get_target);
	HAS(cublasSetSmCountTarget, set_target);
#undef HAS
}

/* ---- Places ------------------------------------------------------------ */

struct ac_place
world_place(void)
{
	const unsigned index = contexts++;

	assert_in_range(index, 0, AC_SCRATCH_CONTEXTS - 1);
	fill(&full, true);
	fill(&bare, false);
	scratches[index] = (struct ac_scratch){ index, 1 };
	memset(&world, 0, sizeof world);
	world.room = world.seen_room = UINT64_MAX;
	world.current = contexts;
	return (struct ac_place){
		.driver = &driver, .scratch = &scratches[index],
		.index = index, .epoch = 1,
		.stream = (ac_cu_stream)(uintptr_t)64, .stream_id = 1,
	};
}

void
world_reset(struct ac_place *place)
{
	place->epoch = ++place->scratch->epoch;
}
