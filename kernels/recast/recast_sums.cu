/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/recast/recast_sums.cu -- what a warp adds up over a tile: energies
 * and losses by band of K, in recast_body.h's order. Compiled before
 * recast.cu. */
#include "kernels/recast/recast_estimate.h"

static __device__ __forceinline__ float
add_rows(const float (&s)[AC_CAST_CHUNK])
{
	return ((s[0] + s[1]) + (s[2] + s[3])) +
	    ((s[4] + s[5]) + (s[6] + s[7]));
}

static __device__ __forceinline__ float
add_near(float sum, int away)
{
	return sum + __shfl_xor_sync(ALL, sum, away);
}

/* Of two sums a lane keeps the first, or the second if `second`, and adds what
 * the lane `away` gives up for that. */
static __device__ __forceinline__ float
share(bool second, float a, float b, int away)
{
	return (second ? b : a)
	    + __shfl_xor_sync(ALL, second ? a : b, away);
}

/* By column: its energy in lanes below 16, its loss in the others. The last one
 * comes in at the end, of a rolled loop over registers. */
struct sums {
	float column[AC_RECAST_COLS];
};

static __device__ __forceinline__ void
note_column(float energy, float loss, struct sums &sums)
{
#pragma unroll
	for (int j = 1; j < AC_RECAST_COLS; j++)
		sums.column[j - 1] = sums.column[j];
	sums.column[AC_RECAST_COLS - 1] = share(threadIdx.x & 16, energy, loss,
	    16);
}

/* Band l % 4 in lane l: its energy below 16, its loss above. */
static __device__ __forceinline__ float
band_of(const struct ac_recast_operand &o, const struct sums &sums)
{
	const float (&s)[AC_RECAST_COLS] = sums.column;
	const bool high = threadIdx.x & 2;
	float sum;

	if (o.lines_are_cols) {
		sum = (s[0] + s[1]) + (s[2] + s[3]);
	} else {
		const float even = share(high, s[0], s[2], 2);
		const float odd = share(high, s[1], s[3], 2);

		sum = share(threadIdx.x & 1, even, odd, 1);
	}
	return add_near(add_near(sum, 8), 4);
}

/* `bands`: the tile's, or NULL. */
static __device__ __forceinline__ void
note_sums(const struct ac_recast_operand &o, const struct sums &sums,
    float *bands, struct found &found)
{
	const int lane = threadIdx.x % AC_RECAST_LANES;
	const float band = band_of(o, sums);
	const float tile = add_near(add_near(band, 1), 2);
	const float other = __shfl_xor_sync(ALL, tile, 16);
	const float energy = lane & 16 ? other : tile;
	const float loss = lane & 16 ? tile : other;
	const float mine = lane & 2 ? loss : energy;

	if (bands && !(lane & 12))
		__stcg(bands + lane / 16 * AC_RECAST_BANDS
		    + lane % AC_RECAST_BANDS, band);
	found.sum += lane & 1 ? ac_recast_whole(mine)
	    : ac_recast_parts(mine);
	found.tile = max(found.tile, ac_recast_ratio(energy, loss));
}

static __device__ __forceinline__ float *
bands_of(const struct ac_recast_operand &o, const struct tile &tile,
    float *bands)
{
	return bands ? bands + ac_recast_bands_at(&o, tile.matrix,
	    o.lines_are_cols ? tile.row : tile.col,
	    o.lines_are_cols ? tile.col : tile.row) : NULL;
}
