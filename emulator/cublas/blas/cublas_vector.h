/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cublas/blas/cublas_vector.h -- calls on vectors, for elements of any
 * type: the ones that are named by a letter, and those that are told the
 * types. */
#ifndef AC_EMULATOR_CUBLAS_VECTOR_H
#define AC_EMULATOR_CUBLAS_VECTOR_H

#include "emulator/cublas/cublas.h"

enum emu_vector_call {
	EMU_AXPY, EMU_SCAL, EMU_COPY, EMU_SWAP, EMU_ROT,
	/* These have a result. That of asum and nrm2 is real; that of amax and
	 * amin an index, which counts from 1, or 0. */
	EMU_DOT, EMU_DOTC, EMU_ASUM, EMU_NRM2, EMU_AMAX, EMU_AMIN,
	EMU_VECTOR_CALLS
};

/* A vector's first element is at the far end if its increment is negative. */
struct emu_vectors {
	enum emu_vector_call call;
	enum emu_real type;
	int64_t n, incx, incy;
	const void *x, *y;     /* y NULL: there is one vector */
	const void *alpha;     /* the program's pointer; of rot: c */
	enum emu_real alpha_type;
	const void *s;         /* of rot */
	enum emu_real s_type;
	void *result;
	size_t result_bytes;
};

/* Check it and queue it; with a result in host pointer mode, wait for it. */
cublasStatus_t emu_vector_submit(cublasHandle_t handle,
    const struct emu_vectors *vectors);

/* What is queued: the scalars are known. */
struct emu_vector_task {
	struct emu_vectors v;
	struct emu_scalar alpha, s;
};
typedef void (*emu_vector_run)(const struct emu_vector_task *task);
emu_vector_run emu_vector_find(enum emu_vector_call call, enum emu_real type);

#endif
