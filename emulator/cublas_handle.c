/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cublas_handle.c -- cuBLAS calls: handles and their settings; what
 * every other call of the library begins and ends with. Contracts are
 * NVIDIA's. */
#include "emulator/cublas.h"

#include <pthread.h>
#include <stdlib.h>

enum { WORKSPACE_ALIGNMENT = 256 }; /* cuBLAS manual, cublasSetWorkspace() */

const struct emu_family emu_blas = { CUBLAS_STATUS_INTERNAL_ERROR,
	CUBLAS_STATUS_NOT_INITIALIZED };

cublasStatus_t
emu_blas_status(int status)
{
	switch (status) {
	case EMU_OK:
		return CUBLAS_STATUS_SUCCESS;
	case EMU_OUT_OF_MEMORY:
		return CUBLAS_STATUS_ALLOC_FAILED;
	case EMU_NOT_INITIALIZED:
	case EMU_DEINITIALIZED:
	case EMU_NO_DEVICE:
		return CUBLAS_STATUS_NOT_INITIALIZED;
	case EMU_INVALID_VALUE:
		return CUBLAS_STATUS_INVALID_VALUE;
	case EMU_ILLEGAL_ADDRESS:
	case EMU_MISALIGNED:
	case EMU_INVALID_HANDLE:
	case EMU_CONTEXT_DESTROYED:
	case EMU_CAPTURE_UNSUPPORTED:
	case EMU_CAPTURE_INVALIDATED:
	case EMU_CAPTURE_IMPLICIT:
		return CUBLAS_STATUS_EXECUTION_FAILED;
	default:
		return CUBLAS_STATUS_INTERNAL_ERROR;
	}
}

cublasStatus_t
emu_blas_check(cublasHandle_t handle)
{
	if (!handle || atomic_load_explicit(&handle->mark,
	    memory_order_relaxed) != emu_toolkit.mark)
		return CUBLAS_STATUS_NOT_INITIALIZED;
	return emu_blas_status(emu_device_enter());
}

struct touch {
	unsigned char *workspace;
	size_t bytes;
};

/* cuBLAS may write to the whole workspace in any call: what a program keeps
 * there is lost, and two streams with one workspace race. */
static void
run_touch(void *arguments)
{
	const struct touch *t = arguments;

	emu_announce_write(t->workspace, t->bytes);
	for (size_t i = 0; i < t->bytes && i < 64; i++)
		t->workspace[i] = 0xa5;
}

/* Where the work runs: where the stream is, which must be where we are. On
 * another device than the handle's the library's own workspace, which lies on
 * that one, must be in reach. */
static int
locate(cublasHandle_t handle, struct CUstream_st **stream_out)
{
	struct CUctx_st *here = emu_context_current();

	if (handle->context && emu_context_id(handle->context) !=
	    handle->context_id) {
		emu_complain("the handle's context is gone");
		return EMU_CONTEXT_DESTROYED;
	}
	if (handle->context && !emu_context_reaches(here, handle->device)) {
		emu_complain("the handle belongs to device %d, device %d is "
		    "current and has no peer access to it", handle->device,
		    emu_context_device());
		return EMU_ILLEGAL_ADDRESS;
	}
	return emu_stream_find_here(handle->stream, stream_out);
}

cublasStatus_t
emu_blas_submit(cublasHandle_t handle, void *task)
{
	struct CUstream_st *stream;
	int status = locate(handle, &stream);
	struct touch *touch = NULL;

	if (!status && !task)
		status = EMU_OUT_OF_MEMORY;
	if (!status && handle->workspace) {
		status = emu_memory_check(handle->workspace,
		    handle->workspace_bytes, "workspace");
		touch = emu_task_new(run_touch, sizeof *touch);
		if (!status && !touch)
			status = EMU_OUT_OF_MEMORY;
	}
	if (status) {
		emu_task_drop(task);
		emu_task_drop(touch);
		return emu_blas_status(status);
	}
	if (touch) {
		touch->workspace = handle->workspace;
		touch->bytes = handle->workspace_bytes;
		emu_stream_submit(stream, touch);
	}
	emu_task_tally(task, EMU_launches, 1);
	emu_stream_submit(stream, task);
	return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t
emu_blas_wait(cublasHandle_t handle)
{
	return emu_blas_status(emu_stream_wait(handle->stream));
}

/* Memory of destroyed handles, newest first: it is read when a stale handle
 * comes, and the next handle gets it, whatever device that is for. */
static struct cublasContext *unused;
static pthread_mutex_t unused_lock = PTHREAD_MUTEX_INITIALIZER;

static struct cublasContext *
get(void)
{
	struct cublasContext *handle;

	pthread_mutex_lock(&unused_lock);
	handle = unused;
	if (handle)
		unused = handle->next;
	pthread_mutex_unlock(&unused_lock);
	return handle ? handle : malloc(sizeof *handle);
}

static void
give_back(struct cublasContext *handle)
{
	atomic_store(&handle->mark, 0);
	pthread_mutex_lock(&unused_lock);
	handle->next = unused;
	unused = handle;
	pthread_mutex_unlock(&unused_lock);
}

__attribute__((destructor))
static void
release(void)
{
	while (unused) {
		struct cublasContext *next = unused->next;

		free(unused);
		unused = next;
	}
}

cublasStatus_t
cublasCreate_v2(cublasHandle_t *handle)
{
	struct cublasContext *new;
	int status;

	EMU_ENTER(&emu_blas);
	if (!handle)
		return CUBLAS_STATUS_INVALID_VALUE;
	status = emu_device_enter();
	if (status)
		return emu_blas_status(status);
	if (emu_capture_forbid()) /* the real one allocates */
		return CUBLAS_STATUS_NOT_INITIALIZED;
	new = get();
	if (!new)
		return CUBLAS_STATUS_ALLOC_FAILED;
	*new = (struct cublasContext){
		.mark = emu_toolkit.mark, .context = emu_context_current(),
		.context_id = emu_context_id(emu_context_current()),
		.device = emu_context_device()
	};
	*handle = new;
	return CUBLAS_STATUS_SUCCESS;
}

/* As the real one, waits for the device, if it is still there. */
cublasStatus_t
cublasDestroy_v2(cublasHandle_t handle)
{
	BLAS_ENTER(handle);
	if (emu_context_wait(handle->context, handle->context_id) ==
	    EMU_CAPTURE_UNSUPPORTED)
		return CUBLAS_STATUS_EXECUTION_FAILED;
	give_back(handle);
	return CUBLAS_STATUS_SUCCESS;
}

/* A change of stream gives up the program's workspace [cuBLAS manual,
 * cublasSetWorkspace()]. */
cublasStatus_t
cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream)
{
	struct CUstream_st *found;

	BLAS_ENTER(handle);
	if (emu_stream_find(stream, &found))
		return CUBLAS_STATUS_INVALID_VALUE;
	handle->stream = stream;
	handle->workspace = NULL;
	handle->workspace_bytes = 0;
	return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t
cublasSetWorkspace_v2(cublasHandle_t handle, void *workspace, size_t bytes)
{
	BLAS_ENTER(handle);
	if ((uintptr_t)workspace % WORKSPACE_ALIGNMENT)
		return CUBLAS_STATUS_INVALID_VALUE;
	if (emu_memory_check(workspace, workspace ? bytes : 0, "workspace"))
		return CUBLAS_STATUS_INVALID_VALUE;
	handle->workspace = bytes ? workspace : NULL;
	handle->workspace_bytes = bytes;
	return CUBLAS_STATUS_SUCCESS;
}

/* ---- settings: a range to keep, a field to keep it in ------------------ */

#define SETTING(set, get, type, field, valid)                             \
cublasStatus_t                                                            \
set(cublasHandle_t handle, type value)                                    \
{                                                                         \
	BLAS_ENTER(handle);                                               \
	if (!(valid))                                                     \
		return CUBLAS_STATUS_INVALID_VALUE;                       \
	handle->field = value;                                            \
	return CUBLAS_STATUS_SUCCESS;                                     \
}                                                                         \
GETTER(get, type, field)

#define GETTER(get, type, field)                                          \
cublasStatus_t                                                            \
get(cublasHandle_t handle, type *value)                                   \
{                                                                         \
	BLAS_ENTER(handle);                                               \
	if (!value)                                                       \
		return CUBLAS_STATUS_INVALID_VALUE;                       \
	*value = handle->field;                                           \
	return CUBLAS_STATUS_SUCCESS;                                     \
}

GETTER(cublasGetStream_v2, cudaStream_t, stream)
SETTING(cublasSetPointerMode_v2, cublasGetPointerMode_v2,
    cublasPointerMode_t, pointer_mode, (unsigned)value <= 1)
SETTING(cublasSetAtomicsMode, cublasGetAtomicsMode, cublasAtomicsMode_t,
    atomics_mode, (unsigned)value <= 1)
SETTING(cublasSetMathMode, cublasGetMathMode, cublasMath_t, math_mode,
    ((unsigned)value & 15) <= 8 && (unsigned)value < 32)
SETTING(cublasSetSmCountTarget, cublasGetSmCountTarget, int,
    multiprocessors, value >= 0 &&
    value <= emu_device_model(handle->device)->multiprocessors)
