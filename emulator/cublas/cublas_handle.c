/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cublas/cublas_handle.c -- cuBLAS calls: handles and their settings;
 * how every other call begins and ends. Contracts are NVIDIA's. */
#include "emulator/cublas/cublas.h"

enum { WORKSPACE_ALIGNMENT = 256 }; /* cuBLAS manual, cublasSetWorkspace() */
enum { SPECIAL_VALUES = 0xffff };   /* "default", as a new handle has it */

const struct emu_family emu_blas = { CUBLAS_STATUS_INTERNAL_ERROR,
	CUBLAS_STATUS_NOT_INITIALIZED };

cublasStatus_t
emu_blas_status(int status)
{
	static const struct emu_meanings meanings = {
		.no_memory = CUBLAS_STATUS_ALLOC_FAILED,
		.not_initialized = CUBLAS_STATUS_NOT_INITIALIZED,
		.invalid = CUBLAS_STATUS_INVALID_VALUE,
		.failed = CUBLAS_STATUS_EXECUTION_FAILED,
		.internal = CUBLAS_STATUS_INTERNAL_ERROR
	};

	return (cublasStatus_t)emu_status_means(status, &meanings);
}

cublasStatus_t
emu_blas_check(cublasHandle_t handle)
{
	if (!handle || !emu_handle_lives(&handle->base, emu_toolkit.mark))
		return CUBLAS_STATUS_NOT_INITIALIZED;
	return emu_blas_status(emu_device_enter());
}

struct touch {
	unsigned char *workspace;
	size_t bytes;
};

/* cuBLAS may write to the whole workspace in any call: a program's data in
 * there are lost, and two streams that share one race. */
static void
run_touch(void *arguments)
{
	const struct touch *t = arguments;

	emu_announce_write(t->workspace, t->bytes);
	for (size_t i = 0; i < t->bytes && i < 64; i++)
		t->workspace[i] = 0xa5;
}

cublasStatus_t
emu_blas_submit(cublasHandle_t handle, void *task)
{
	struct CUstream_st *stream;
	int status = emu_handle_locate(&handle->base, &stream);
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
	return emu_blas_status(emu_stream_wait(handle->base.stream));
}

/* The workspace that a handle has of its own [cuBLAS manual,
 * cublasSetWorkspace(): the default workspace pool]. */
static uint64_t
workspace_bytes(void)
{
	const int major = emu_device_model(emu_context_device())->major;

	return (uint64_t)(major == 9 || major == 10 ? 32 : major == 12 ? 12 :
	    4) << 20;
}

cublasStatus_t
cublasCreate_v2(cublasHandle_t *handle)
{
	struct cublasContext *new;

	EMU_ENTER(&emu_blas);
	if (!handle)
		return CUBLAS_STATUS_INVALID_VALUE;
	if (emu_device_enter() || emu_capture_forbid()) /* it allocates */
		return CUBLAS_STATUS_NOT_INITIALIZED;
	new = emu_handle_new(sizeof *new, emu_toolkit.mark, workspace_bytes());
	if (!new)
		return CUBLAS_STATUS_ALLOC_FAILED;
	new->special_values = SPECIAL_VALUES;
	*handle = new;
	return CUBLAS_STATUS_SUCCESS;
}

/* Like the real function, waits for the device, if it still exists. After a
 * reset it does not bring a context back. */
cublasStatus_t
cublasDestroy_v2(cublasHandle_t handle)
{
	int status = EMU_OK;

	EMU_ENTER(&emu_blas);
	if (!handle || !emu_handle_lives(&handle->base, emu_toolkit.mark))
		return CUBLAS_STATUS_NOT_INITIALIZED;
	if (emu_context_id(handle->base.context) == handle->base.context_id)
		status = emu_device_enter();
	if (!status || status == emu_device_error())
		status = emu_handle_destroy(&handle->base);
	return emu_blas_status(status);
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
	handle->base.stream = stream;
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

GETTER(cublasGetStream_v2, cudaStream_t, base.stream)
SETTING(cublasSetPointerMode_v2, cublasGetPointerMode_v2,
    cublasPointerMode_t, pointer_mode, (unsigned)value <= 1)
SETTING(cublasSetAtomicsMode, cublasGetAtomicsMode, cublasAtomicsMode_t,
    atomics_mode, (unsigned)value <= 1)
SETTING(cublasSetMathMode, cublasGetMathMode, cublasMath_t, math_mode,
    ((unsigned)value & 15) <= 8 && (unsigned)value < 32)
SETTING(cublasSetSmCountTarget, cublasGetSmCountTarget, int,
    multiprocessors, value >= 0 &&
    value <= emu_device_model(handle->base.device)->multiprocessors)

#if CUBLAS_VER_MAJOR >= 13
SETTING(cublasSetEmulationStrategy, cublasGetEmulationStrategy,
    cublasEmulationStrategy_t, strategy, (unsigned)value <= 2)
#endif
#if CUBLAS_VERSION >= 130100
SETTING(cublasSetEmulationSpecialValuesSupport,
    cublasGetEmulationSpecialValuesSupport, cudaEmulationSpecialValuesSupport,
    special_values, (unsigned)value <= 3 ||
    (unsigned)value == (unsigned)SPECIAL_VALUES)
SETTING(cublasSetFixedPointEmulationMantissaControl,
    cublasGetFixedPointEmulationMantissaControl, cudaEmulationMantissaControl,
    mantissa_control, (unsigned)value <= 1)
SETTING(cublasSetFixedPointEmulationMaxMantissaBitCount,
    cublasGetFixedPointEmulationMaxMantissaBitCount, int, mantissa_bits,
    value >= 0)
SETTING(cublasSetFixedPointEmulationMantissaBitOffset,
    cublasGetFixedPointEmulationMantissaBitOffset, int, mantissa_offset, true)
SETTING(cublasSetFixedPointEmulationMantissaBitCountPointer,
    cublasGetFixedPointEmulationMantissaBitCountPointer, int *,
    mantissa_count, true)
#endif
