/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/ptx/matrix.h -- matrices in the registers of a warp. Each lane has a
 * share of them.
 *
 * Shares of mma are as the ISA has them. Those of wmma are not specified; here
 * they are laid out like those of mma, as on GPUs from Turing on. B is taken as
 * its transpose, so that sums run along rows of both A and B. */
#ifndef AC_EMULATOR_PTX_MATRIX_H
#define AC_EMULATOR_PTX_MATRIX_H

#include "emulator/ptx/run.h"

/* The share of a lane. Elements are laid out in tiles of 8 rows, each of which
 * has 4 * `side` columns. */
struct ptx_share {
	int rows, cols;
	int side;               /* elements side by side in a lane */
	int packed;             /* elements of a register */
	int count, distinct;    /* of a lane; wmma has some twice */
	int type;
};
struct ptx_share ptx_share_of(const struct ptx_instruction *in, int name,
    int type);
/* Where element e of a lane is. */
void ptx_share_place(const struct ptx_share *s, int lane, int e, int *row,
    int *col);

/* All lanes of the warp: mma, wmma, ldmatrix, stmatrix. */
void ptx_matrices(struct warp *w, struct frame *f,
    const struct ptx_instruction *in, unsigned char *const base[4],
    uint32_t mask);
/* mma and wmma.mma: D = A B + C. */
void ptx_multiply(struct warp *w, const struct ptx_instruction *in,
    unsigned char *const base[4], uint32_t mask);

#endif
