/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cublas/cublas_scalar.c -- alpha and beta, by either pointer
 * mode. */
#include "emulator/cublas/cublas.h"

#include <string.h>

static const size_t bytes_of[] = {
	[EMU_FLOAT] = 4, [EMU_DOUBLE] = 8, [EMU_COMPLEX] = 8,
	[EMU_INTEGER] = 4
};

static void
read_from(const void *pointer, struct emu_scalar *scalar)
{
	float f[2] = { 0, 0 };
	int32_t i;
	double d;

	if (scalar->type == EMU_INTEGER) {
		memcpy(&i, pointer, sizeof i);
		scalar->value = i;
		return;
	}
	if (scalar->type == EMU_DOUBLE) {
		memcpy(&d, pointer, sizeof d);
		scalar->value = d;
		return;
	}
	memcpy(f, pointer, bytes_of[scalar->type]);
	scalar->value = (double)f[0];
	scalar->imaginary = (double)f[1];
}

cublasStatus_t
emu_scalar_take(cublasHandle_t handle, const void *pointer,
    enum emu_real type, const char *argument, struct emu_scalar *out)
{
	struct emu_scalar scalar = { .type = type };

	if (!pointer)
		return CUBLAS_STATUS_INVALID_VALUE;
	if (handle && handle->pointer_mode == CUBLAS_POINTER_MODE_DEVICE) {
		scalar.device = pointer;
		*out = scalar;
		return emu_blas_status(emu_memory_check(pointer,
		    bytes_of[type], argument));
	}
	if (emu_memory_find(pointer, NULL) == EMU_MEMORY_DEVICE) {
		emu_complain("argument %s: %p is device memory, the pointer "
		    "mode says host", argument, pointer);
		return CUBLAS_STATUS_EXECUTION_FAILED;
	}
	read_from(pointer, &scalar);
	*out = scalar;
	return CUBLAS_STATUS_SUCCESS;
}

void
emu_scalar_fetch(struct emu_scalar *scalar)
{
	if (!scalar->device)
		return;
	emu_announce_read(scalar->device, bytes_of[scalar->type]);
	read_from(scalar->device, scalar);
	scalar->device = NULL;
}

bool
emu_scalar_is_zero(const struct emu_scalar *scalar)
{
	return !scalar->device && scalar->value == 0.0 &&
	    scalar->imaginary == 0.0;
}
