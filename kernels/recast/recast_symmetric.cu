/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/recast/recast_symmetric.cu -- the GPU side of a symmetric matrix
 * written whole. A block reads a tile of the stored triangle and writes it
 * twice; the tiles of the other triangle have nothing to do. Compiled together
 * with recast_block.cu, after it. */
#include "kernels/recast/recast_symmetric.h"

extern "C" __global__ void __launch_bounds__(AC_CAST_BLOCK)
ac_recast_symmetric(struct ac_recast_symmetric s)
{
	const int side = AC_SYMMETRIC_SIDE, rows = AC_CAST_BLOCK / side;
	__shared__ float tile[AC_SYMMETRIC_SIDE][AC_SYMMETRIC_SIDE + 1];
	const int x = threadIdx.x % side, y = threadIdx.x / side;
	const int64_t row = (int64_t)blockIdx.x * side;
	const int64_t col = (int64_t)blockIdx.y * side;

	if (s.is_lower ? row < col : row > col)
		return;
	AC_CAST_ROLLED
	for (int j = y; j < side; j += rows) {
		const int64_t r = row + x, c = col + j;

		if (r < s.n && c < s.n && (s.is_lower ? r >= c : r <= c))
			tile[j][x] = __ldg(s.from + c * s.ld + r);
	}
	__syncthreads();
	AC_CAST_ROLLED
	for (int j = y; j < side; j += rows) {
		const bool is_stored = row != col
		    || (s.is_lower ? x >= j : x <= j);

		if (row + x < s.n && col + j < s.n)
			s.to[(col + j) * s.ld_to + row + x] = is_stored
			    ? tile[j][x] : tile[x][j];
		if (row != col && col + x < s.n && row + j < s.n)
			s.to[(row + j) * s.ld_to + col + x] = tile[x][j];
	}
}
