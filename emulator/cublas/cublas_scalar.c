/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cublas/cublas_scalar.c -- alpha and beta, by either pointer
 * mode. */
#include "emulator/cublas/cublas.h"

#include "emulator/shared/round.h"

#include <string.h>

static const size_t bytes_of[EMU_REALS] = {
	[EMU_FLOAT] = 4, [EMU_DOUBLE] = 8, [EMU_COMPLEX] = 8,
	[EMU_INTEGER] = 4, [EMU_DOUBLE_COMPLEX] = 16, [EMU_HALF] = 2,
	[EMU_BFLOAT] = 2
};

size_t
emu_real_bytes(enum emu_real type)
{
	return bytes_of[type];
}

static void
read_from(const void *pointer, struct emu_scalar *scalar)
{
	const size_t bytes = bytes_of[scalar->type];
	float f[2] = { 0, 0 };
	double d[2] = { 0, 0 };
	uint16_t half;
	int32_t i;

	switch (scalar->type) {
	case EMU_INTEGER:
		memcpy(&i, pointer, bytes);
		d[0] = i;
		break;
	case EMU_DOUBLE: case EMU_DOUBLE_COMPLEX:
		memcpy(d, pointer, bytes);
		break;
	case EMU_HALF: case EMU_BFLOAT:
		memcpy(&half, pointer, bytes);
		d[0] = (double)(scalar->type == EMU_HALF ?
		    emu_from_fp16(half) : emu_from_bf16(half));
		break;
	default:
		memcpy(f, pointer, bytes);
		d[0] = (double)f[0];
		d[1] = (double)f[1];
	}
	scalar->value = d[0];
	scalar->imaginary = d[1];
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
