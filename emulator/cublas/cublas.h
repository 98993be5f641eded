/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cublas/cublas.h -- what the files of libcublas share: the handle,
 * entering a call, scalars. The device is libcuda.so.1's. */
#ifndef AC_EMULATOR_CUBLAS_H
#define AC_EMULATOR_CUBLAS_H

#define EMU_BLAS
#include "emulator/driver/nvidia.h"
#include "emulator/driver/emu.h"
#include "emulator/shared/handle.h"
#include "emulator/shared/toolkit.h"

/* What cublasHandle_t points to. As in cuBLAS, two threads may call with one
 * handle; changing its settings meanwhile is a race in the program. */
struct cublasContext {
	struct emu_handle   base;    /* its mark: emu_toolkit.mark */
	cublasPointerMode_t pointer_mode;
	cublasAtomicsMode_t atomics_mode;
	cublasMath_t        math_mode;
	int                 multiprocessors; /* cublasSetSmCountTarget */
	void               *workspace;       /* the program's, or NULL */
	size_t              workspace_bytes;
	/* How FP64 may be made of integers: a hint, which changes no result. */
	int                 strategy, special_values, mantissa_control;
	int                 mantissa_bits, mantissa_offset;
	int                *mantissa_count;
};

extern const struct emu_family emu_blas;

/* CUBLAS_STATUS_SUCCESS if it is a handle, and the current device is good. */
cublasStatus_t emu_blas_check(cublasHandle_t handle);
/* The cuBLAS status for an emu_status. */
cublasStatus_t emu_blas_status(int status);

#define BLAS_ENTER(handle)                                                \
	EMU_ENTER(&emu_blas);                                             \
	do {                                                              \
		const cublasStatus_t emu_checked = emu_blas_check(handle); \
		if (emu_checked)                                          \
			return emu_checked;                               \
	} while (0)

/* An alpha or beta: read now in host pointer mode, else when the work runs. */
enum emu_real { EMU_FLOAT, EMU_DOUBLE, EMU_COMPLEX, EMU_INTEGER,
	EMU_DOUBLE_COMPLEX, EMU_HALF, EMU_BFLOAT, EMU_REALS };
size_t emu_real_bytes(enum emu_real type);
struct emu_scalar {
	double      value, imaginary;
	const void *device;           /* NULL: the value above */
	enum emu_real type;
};
cublasStatus_t emu_scalar_take(cublasHandle_t handle, const void *pointer,
    enum emu_real type, const char *argument, struct emu_scalar *out);
/* On the worker: fetch a device scalar. */
void emu_scalar_fetch(struct emu_scalar *scalar);
/* Known to be zero now. */
bool emu_scalar_is_zero(const struct emu_scalar *scalar);

/* Queue on the handle's stream, counted as a launch. `task` may be NULL (out of
 * memory). The library may overwrite the user's workspace. */
cublasStatus_t emu_blas_submit(cublasHandle_t handle, void *task);
/* Wait for it, as calls with a host result do. */
cublasStatus_t emu_blas_wait(cublasHandle_t handle);

#endif
