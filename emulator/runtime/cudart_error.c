/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/runtime/cudart_error.c -- runtime calls: errors and versions; the
 * end of the library. Contracts are NVIDIA's. */
#include "emulator/runtime/cudart.h"
#include "emulator/names/keep.h"
#include "emulator/shared/toolkit.h"

static const struct emu_family family = { cudaErrorUnknown,
	cudaErrorCudartUnloading };
static _Thread_local cudaError_t last;
static _Atomic bool ended;

static const struct {
	cudaError_t status;
	const char *name, *text;
} errors[] = {
#define ERROR(driver, name, text) RUNTIME_ERROR(name, text)
#define RUNTIME_ERROR(name, text) { name, #name, text },
#include "emulator/driver/error.def"
};

__attribute__((destructor))
static void
end(void)
{
	atomic_store(&ended, true);
}

int
emu_runtime_count(struct emu_call *call)
{
	const int status = emu_call_enter(call, &family);

	if (status || !atomic_load_explicit(&ended, memory_order_relaxed))
		return status;
	emu_count(EMU_calls_after_end, 1);
	emu_complain("called after the end of the runtime");
	return cudaErrorCudartUnloading;
}

int
emu_runtime_enter(struct emu_call *call)
{
	const int status = emu_runtime_count(call);

	return status ? status : emu_device_enter();
}

cudaError_t
emu_runtime_keep(int status)
{
	if (status && status != cudaErrorNotReady)
		last = status;
	return status;
}

void
emu_stub_keep(int status)
{
	emu_runtime_keep(status);
}

/* The error of a context that is lost stays: it is no call's [CUDA runtime
 * manual, cudaErrorIllegalAddress and others: any further CUDA work returns
 * it]. */
cudaError_t
cudaGetLastError(void)
{
	const cudaError_t status = cudaPeekAtLastError();

	last = cudaSuccess;
	return status;
}

cudaError_t
cudaPeekAtLastError(void)
{
	const int lost = emu_device_error();

	return lost ? (cudaError_t)lost : last;
}

const char *
cudaGetErrorName(cudaError_t status)
{
	for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
		if (errors[i].status == status)
			return errors[i].name;
	return "unrecognized error code";
}

const char *
cudaGetErrorString(cudaError_t status)
{
	for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
		if (errors[i].status == status)
			return errors[i].text;
	return "unrecognized error code";
}

cudaError_t
cudaDriverGetVersion(int *version)
{
	RUNTIME_COUNT();
	if (!version)
		return emu_runtime_keep(cudaErrorInvalidValue);
	*version = EMU_DRIVER_VERSION;
	return cudaSuccess;
}

cudaError_t
cudaRuntimeGetVersion(int *version)
{
	RUNTIME_COUNT();
	if (!version)
		return emu_runtime_keep(cudaErrorInvalidValue);
	*version = emu_toolkit.runtime;
	return cudaSuccess;
}
