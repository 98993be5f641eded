/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/load/kernels.h -- the interface of the kernels room: device work
 * behind C.
 *
 * What all of the room share: formats, answers, scalars, and the loading of the
 * kernels into a context. verified.h, conv_check.h, recast_ranges.h,
 * recast_symmetric.h and scaler.h have what is queued. The same source text is
 * compiled for the GPU (*.cu -> *.ptx) and for the CPU twins that the emulated
 * GPU runs, so both give the same bits. */
#ifndef AC_KERNELS_KERNELS_H
#define AC_KERNELS_KERNELS_H

#include "kernels/load/driver.h"

#include <stdint.h>

/* AC_FORMAT_TF32 is written by nobody: what the library makes of FP32 itself.
 * Its fraction is FP16's. Behind it: a number is a sum of parts in 16 bits,
 * each of what those before it have left, and a product of two numbers a sum of
 * that many products of parts, the terms. X2: one operand has two parts, the
 * other one; X3: both have two; X6: both have three. */
enum ac_format {
	AC_FORMAT_FP16, AC_FORMAT_BF16, AC_FORMAT_TF32,
	AC_FORMAT_FP16X2, AC_FORMAT_FP16X3, AC_FORMAT_BF16X3, AC_FORMAT_BF16X6
};

enum ac_kernels_status {
	AC_KERNELS_OK,
	AC_KERNELS_NO_DRIVER,   /* no usable libcuda.so.1 */
	AC_KERNELS_NO_MODULE,   /* the driver did not take our PTX */
	AC_KERNELS_LAUNCH,      /* the driver refused a launch */
	AC_KERNELS_NO_CONTEXT   /* no context is current: nothing remembered */
};

/* What cublasLt does to x = alpha op(A) op(B) + beta C before it is D, where
 * y = x + bias[row]:
 *   NONE   D = y
 *   RELU   D = max(y, 0), or NaN
 *   GELU   D = gelu(y), its form with tanh
 *   DRELU  D = y where the bit of aux is set, else 0
 *   DGELU  D = y gelu'(aux) */
enum {
	AC_ACTIVATION_NONE,
	AC_ACTIVATION_RELU,
	AC_ACTIVATION_GELU,
	AC_ACTIVATION_DRELU,
	AC_ACTIVATION_DGELU
};

/* A scalar as cuBLAS takes it: a value, or a pointer into device memory that
 * the kernel reads when it runs. */
struct ac_cast_scalar {
	float        value;
	uint32_t     reserved;  /* 0: no word of a launch is left unset */
	const float *device;    /* NULL: use `value` */
};

/* A context's kernels, loaded: what queues one takes them, and so need not ask
 * which context is current. Never changes, never freed. */
struct ac_kernels;

/* Those of all of them but scaler.h for the current
 * context, which is `context` with this id. The first answer is remembered, a
 * refusal too (said once, at INFO): later calls are a look-up that asks the
 * driver nothing. Safe while a stream captures: the loading happens in a
 * relaxed-mode bracket. Sets *kernels_out only with AC_KERNELS_OK.
 * Thread-safe. */
enum ac_kernels_status ac_kernels_load(ac_cu_context context, uint64_t id,
    const struct ac_kernels **kernels_out);

#endif
