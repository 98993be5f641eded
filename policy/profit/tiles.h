/* SPDX-License-Identifier: Apache-2.0 */
/* policy/profit/tiles.h -- how long the multiplications of a product take: it
 * is cut into tiles, the tiles are dealt out to the multiprocessors, and the
 * one with the most of them ends last. Pure; asked by profit.c. */
#ifndef AC_POLICY_TILES_H
#define AC_POLICY_TILES_H

#include "policy/profit/profit.h"

/* One product, or a batch of them. */
struct ac_tiled {
	double m, n, k, batch;
	double words;               /* 4-byte words per element; complex: 2 */
	double rate;                /* FLOP/s of AC_LARGE^3 */
	bool   has_tensor_cores;    /* that arithmetic runs on them */
};

/* A narrower product runs on kernels that read each operand once and wait for
 * memory. */
#define AC_WIDEST_SKINNY 16.0

/* Rates are those of square products of this size, or published as such. */
#define AC_LARGE 8192.0

/* Seconds that the multiplications take, C not written yet. Whatever the
 * GPU, a square product of AC_LARGE takes 2 AC_LARGE^3 / rate with its C
 * written. A GPU of unknown multiprocessors does everything at the full
 * rate. */
double ac_tiles_seconds(const struct ac_rates *rates,
    const struct ac_tiled *product);

#endif
