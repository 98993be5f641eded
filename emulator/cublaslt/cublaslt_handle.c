/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cublaslt/cublaslt_handle.c -- cublasLt calls: handles, versions,
 * names of statuses, a logger that logs nothing. Contracts are NVIDIA's. */
#include "emulator/cublaslt/cublaslt.h"

/* No other library takes a handle of this one. */
static uint32_t
mark(void)
{
	return ~emu_toolkit.mark;
}

cublasStatus_t
lt_check(cublasLtHandle_t handle)
{
	if (!handle || (!emu_handle_lives(&handle->base, mark()) &&
	    !emu_handle_lives(&handle->base, emu_toolkit.mark)))
		return CUBLAS_STATUS_NOT_INITIALIZED;
	return emu_blas_status(emu_device_enter());
}

cublasStatus_t
cublasLtCreate(cublasLtHandle_t *handle)
{
	struct cublasLtContext *new;

	EMU_ENTER(&emu_blas);
	if (!handle)
		return CUBLAS_STATUS_INVALID_VALUE;
	if (emu_device_enter())
		return CUBLAS_STATUS_NOT_INITIALIZED;
	new = emu_handle_new(sizeof *new, mark(), 0);
	if (!new)
		return CUBLAS_STATUS_ALLOC_FAILED;
	*handle = new;
	return CUBLAS_STATUS_SUCCESS;
}

/* Its own handles only [measured: NULL is an invalid value here]. */
cublasStatus_t
cublasLtDestroy(cublasLtHandle_t handle)
{
	EMU_ENTER(&emu_blas);
	if (!handle || !emu_handle_lives(&handle->base, mark()))
		return CUBLAS_STATUS_INVALID_VALUE;
	return emu_blas_status(emu_handle_destroy(&handle->base));
}

size_t
cublasLtGetVersion(void)
{
	const int *version = emu_toolkit.blas;

	return (size_t)(version[0] * 10000 + version[1] * 100 + version[2]);
}

size_t
cublasLtGetCudartVersion(void)
{
	return (size_t)emu_toolkit.runtime;
}

cublasStatus_t
cublasLtGetProperty(libraryPropertyType type, int *value)
{
	EMU_ENTER(&emu_blas);
	if (!value || (unsigned)type > PATCH_LEVEL)
		return CUBLAS_STATUS_INVALID_VALUE;
	*value = emu_toolkit.blas[type];
	return CUBLAS_STATUS_SUCCESS;
}

const char *
cublasLtGetStatusName(cublasStatus_t status)
{
	return cublasGetStatusName(status);
}

const char *
cublasLtGetStatusString(cublasStatus_t status)
{
	return cublasGetStatusString(status);
}

/* ---- the logger --------------------------------------------------------- */

cublasStatus_t
cublasLtLoggerSetLevel(int level)
{
	EMU_ENTER(&emu_blas);
	return level < 0 || level > 5 ? CUBLAS_STATUS_INVALID_VALUE :
	    CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t
cublasLtLoggerSetMask(int mask_of_levels)
{
	EMU_ENTER(&emu_blas);
	(void)mask_of_levels;
	return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t
cublasLtLoggerSetCallback(cublasLtLoggerCallback_t callback)
{
	EMU_ENTER(&emu_blas);
	(void)callback;
	return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t
cublasLtLoggerSetFile(FILE *file)
{
	EMU_ENTER(&emu_blas);
	(void)file;
	return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t
cublasLtLoggerOpenFile(const char *file)
{
	EMU_ENTER(&emu_blas);
	(void)file;
	return CUBLAS_STATUS_SUCCESS;
}
