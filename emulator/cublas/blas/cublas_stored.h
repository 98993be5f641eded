/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cublas/blas/cublas_stored.h -- cuBLAS calls on matrices however they
 * are stored, of each type: what cublas_stored.c computes and
 * cublas_stored_entry.c exports. */
#ifndef AC_EMULATOR_CUBLAS_STORED_H
#define AC_EMULATOR_CUBLAS_STORED_H

#include "emulator/cublas/cublas.h"

/* A vector is a matrix of one column; `ld` is then its increment. */
enum emu_form { EMU_FULL, EMU_VECTOR, EMU_BANDED, EMU_PACKED };
/* All but GENERAL have one triangle stored; the other one follows from it. */
enum emu_kind { EMU_GENERAL, EMU_SYMMETRIC, EMU_HERMITIAN, EMU_TRIANGULAR };

struct emu_stored {
	const void *at;
	enum emu_form form;
	enum emu_kind kind;
	bool upper, unit;           /* unit: the diagonal is not read */
	int64_t rows, cols, ld;
	int64_t below, above;       /* diagonals of a band */
};

/* MULTIPLY: C = alpha op(A) B + beta C, or B A where A is on the right.
 * UPDATE: the triangle of C = alpha op(A) op(B)' + beta C, where ' is a
 * transposition, conjugated if C is Hermitian; `both` adds the same of B and A,
 * with a conjugated alpha if so. SOLVE: op(A) C' = C, C' in place of C; TURN:
 * C' = op(A) C. COPY: the triangle of C = A. */
enum emu_stored_what { EMU_MULTIPLY, EMU_UPDATE, EMU_SOLVE, EMU_TURN,
	EMU_COPY };

struct emu_stored_call {
	enum emu_stored_what what;
	enum emu_real type;
	cublasOperation_t op;
	bool right, both, bad;      /* bad: an argument is none */
	int64_t k;                  /* of an update */
	struct emu_stored a, b, c;
	struct emu_scalar alpha, beta;
};

/* Check it and queue it. A scalar of the type EMU_REALS is none: 1. */
cublasStatus_t emu_stored_submit(cublasHandle_t handle,
    struct emu_stored_call *call, const void *alpha, enum emu_real alpha_type,
    const void *beta, enum emu_real beta_type);

#endif
