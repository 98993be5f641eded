/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/driver/api/cuda_error.c -- driver calls: names and texts of errors.
 * Contracts are NVIDIA's. */
#include "emulator/driver/api/cuda.h"

static const struct {
	CUresult    status;
	const char *name, *text;
} errors[] = {
#define ERROR(name, runtime, text) { name, #name, text },
#define RUNTIME_ERROR(name, text)
#include "emulator/driver/error.def"
};

CUresult
cuGetErrorName(CUresult status, const char **name)
{
	EMU_ENTER(&emu_driver);
	for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
		if (errors[i].status == status) {
			*name = errors[i].name;
			return CUDA_SUCCESS;
		}
	*name = NULL;
	return CUDA_ERROR_INVALID_VALUE;
}

CUresult
cuGetErrorString(CUresult status, const char **text)
{
	EMU_ENTER(&emu_driver);
	for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
		if (errors[i].status == status) {
			*text = errors[i].text;
			return CUDA_SUCCESS;
		}
	*text = NULL;
	return CUDA_ERROR_INVALID_VALUE;
}
