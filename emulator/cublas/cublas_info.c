/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cublas/cublas_info.c -- cuBLAS calls: versions, status names, a
 * logger that logs nothing. Contracts are NVIDIA's. */
#include "emulator/cublas/cublas.h"

static const struct {
	cublasStatus_t status;
	const char *name, *text;
} statuses[] = {
#define STATUS(name, text) { name, #name, text },
	STATUS(CUBLAS_STATUS_SUCCESS, "success")
	STATUS(CUBLAS_STATUS_NOT_INITIALIZED, "the library was not initialized")
	STATUS(CUBLAS_STATUS_ALLOC_FAILED,
	    "the resource allocation failed")
	STATUS(CUBLAS_STATUS_INVALID_VALUE,
	    "an unsupported value or parameter was passed to the function")
	STATUS(CUBLAS_STATUS_ARCH_MISMATCH,
	    "the function requires a feature absent from the device")
	STATUS(CUBLAS_STATUS_MAPPING_ERROR,
	    "an access to GPU memory space failed")
	STATUS(CUBLAS_STATUS_EXECUTION_FAILED,
	    "the GPU program failed to execute")
	STATUS(CUBLAS_STATUS_INTERNAL_ERROR,
	    "an internal operation failed")
	STATUS(CUBLAS_STATUS_NOT_SUPPORTED,
	    "the functionality requested is not supported")
	STATUS(CUBLAS_STATUS_LICENSE_ERROR, "the functionality requested "
	    "requires some license")
#undef STATUS
};

const char *
cublasGetStatusName(cublasStatus_t status)
{
	for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
		if (statuses[i].status == status)
			return statuses[i].name;
	return "CUBLAS_STATUS_UNKNOWN";
}

const char *
cublasGetStatusString(cublasStatus_t status)
{
	for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
		if (statuses[i].status == status)
			return statuses[i].text;
	return "unknown status";
}

cublasStatus_t
cublasGetVersion_v2(cublasHandle_t handle, int *version)
{
	EMU_ENTER(&emu_blas);
	(void)handle;
	if (!version)
		return CUBLAS_STATUS_INVALID_VALUE;
	*version = emu_toolkit.blas[0] * 10000 + emu_toolkit.blas[1] * 100 +
	    emu_toolkit.blas[2];
	return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t
cublasGetProperty(libraryPropertyType type, int *value)
{
	EMU_ENTER(&emu_blas);
	if (!value || (unsigned)type > PATCH_LEVEL)
		return CUBLAS_STATUS_INVALID_VALUE;
	*value = emu_toolkit.blas[type];
	return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t
cublasLoggerConfigure(int on, int to_stdout, int to_stderr, const char *file)
{
	EMU_ENTER(&emu_blas);
	(void)on;
	(void)to_stdout;
	(void)to_stderr;
	(void)file;
	return CUBLAS_STATUS_SUCCESS;
}

static cublasLogCallback logger;

cublasStatus_t
cublasSetLoggerCallback(cublasLogCallback callback)
{
	EMU_ENTER(&emu_blas);
	logger = callback;
	return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t
cublasGetLoggerCallback(cublasLogCallback *callback)
{
	EMU_ENTER(&emu_blas);
	if (!callback)
		return CUBLAS_STATUS_INVALID_VALUE;
	*callback = logger;
	return CUBLAS_STATUS_SUCCESS;
}
