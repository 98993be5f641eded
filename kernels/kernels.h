/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/kernels.h -- the door of the kernels room: device work behind C.
 *
 * Everything here is queued on the caller's stream and returns before it has
 * run; nothing waits for the device, nothing allocates after ac_kernels_load().
 * Matrices are column-major. The same source text (cast.h) is compiled for the
 * GPU (cast.cu -> cast.ptx) and for the CPU twins that the emulated GPU runs,
 * so both give the same bits. */
#ifndef AC_KERNELS_KERNELS_H
#define AC_KERNELS_KERNELS_H

#include "kernels/driver.h"

#include <stdbool.h>
#include <stdint.h>

enum ac_format { AC_FORMAT_FP16, AC_FORMAT_BF16 };

enum ac_kernels_status {
	AC_KERNELS_OK,
	AC_KERNELS_NO_DRIVER,   /* no usable libcuda.so.1 */
	AC_KERNELS_NO_MODULE,   /* the driver did not take our PTX */
	AC_KERNELS_LAUNCH,      /* the driver refused a launch */
	AC_KERNELS_NO_CONTEXT   /* no context is current: nothing remembered */
};

/* An FP32 matrix, or `batch` of them, in device memory, and where its cast
 * goes. Read only: `from` is the program's. Elements, not bytes. */
struct ac_cast_operand {
	const float *from;      /* column-major, any alignment of 4 bytes */
	int64_t rows, cols, ld; /* stored shape; ld >= rows */
	int64_t stride;         /* from one matrix to the next; 0: the same one */
	int64_t batch;          /* matrices to read (1 if stride is 0) */
	uint16_t *to;           /* 16-byte aligned, ld_to * cols_to * batch */
	int64_t ld_to;          /* >= rows, a multiple of 8 */
	int64_t cols_to;        /* >= cols; rows and columns past the matrix
	                         * are written as zero */
};

/* One recast's words in device memory: `struct ac_cast_state` of the GPU
 * side. All zero before the first use; the cast kernel leaves amax and the
 * counters zero for the next one. */
struct ac_cast_state {
	uint32_t amax[2];       /* bits of the largest finite |x| per operand */
	uint32_t nonfinite;     /* bit i: operand i held an inf or a NaN */
	uint32_t arrived;       /* blocks that finished (the last one cleans up) */
	float    alpha, beta;   /* what the product is to use, device pointers */
	int32_t  exponent[2];   /* operand i was multiplied by 2^exponent[i] */
	uint32_t verdict;       /* bits AC_VERDICT_*, sticky until read */
	uint32_t reserved[7];
};
enum {
	AC_VERDICT_NONFINITE = 1,  /* an operand held inf or NaN */
	AC_VERDICT_CLAMPED   = 2   /* exponents lowered or alpha clamped */
};

/* A scalar as cuBLAS takes it: a value, or a pointer into device memory that
 * the kernel reads when it runs. */
struct ac_cast_scalar {
	float        value;
	const float *device;    /* NULL: use `value` */
};

/* Load the kernels into the current context. The first answer for a context
 * is remembered, a refusal too (said once, at INFO): later calls are a look-up.
 * The other functions load by themselves what is not loaded yet. Safe while a
 * stream captures: the loading happens in a relaxed-mode bracket. Thread-safe. */
enum ac_kernels_status ac_kernels_load(void);

/* Queue: state->amax and state->nonfinite of both operands (one launch). */
enum ac_kernels_status ac_kernels_amax(const struct ac_cast_operand operand[2],
    struct ac_cast_state *state, ac_cu_stream stream);

/* Queue: both operands cast to `format` (one launch). With `scaled`, operand i
 * is multiplied (in FP32) by the power of two that brings its amax to
 * [2^14, 2^15) and state->alpha is alpha times the inverse powers. Where that
 * would be subnormal the exponents are lowered, half each; where it would
 * overflow it is clamped to FLT_MAX; both set AC_VERDICT_CLAMPED. An alpha of
 * 0, inf or NaN stays as it is. Without `scaled`, a plain cast and state->alpha
 * = alpha. state->beta = beta. Conversion rounds to nearest even, keeps inf and
 * NaN (one canonical NaN: 0x7fff), honours subnormals. AC_VERDICT_NONFINITE is
 * set with `scaled` and without. */
enum ac_kernels_status ac_kernels_cast(const struct ac_cast_operand operand[2],
    enum ac_format format, bool scaled, struct ac_cast_scalar alpha,
    struct ac_cast_scalar beta, struct ac_cast_state *state,
    ac_cu_stream stream);

#endif
