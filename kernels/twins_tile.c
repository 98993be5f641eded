/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/twins_tile.c -- a tile of the one-pass cast on the CPU, plainly and
 * eight lanes at a time. Both add in recast_body.h's order. Touches no matrix:
 * twins_recast.c brings the elements and takes the cast away. */
#include "kernels/twins_recast.h"

enum { CHUNKS = AC_TILE_SIDE / AC_CAST_CHUNK }; /* of a column */

/* Lanes' sums to one, in place. */
static float
add_lanes(float sum[AC_RECAST_LANES])
{
	for (int away = AC_RECAST_LANES / 2; away; away /= 2)
		for (int lane = 0; lane < away; lane++)
			sum[lane] = sum[lane] + sum[lane + away];
	return sum[0];
}

static float
add_rows(const float s[AC_CAST_CHUNK])
{
	return ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));
}

static void
cast_plain(struct ac_twin_tile *tile, struct ac_recast_way way)
{
	float energy[AC_RECAST_LANES], loss[AC_RECAST_LANES];

	for (int lane = 0; lane < AC_RECAST_LANES; lane++) {
		const int row = lane % CHUNKS * AC_CAST_CHUNK;
		float s[AC_CAST_CHUNK] = {0}, r[AC_CAST_CHUNK] = {0};

		for (int j = 0; j < AC_RECAST_COLS; j++)
			for (int i = 0; i < AC_CAST_CHUNK; i++) {
				const int col = lane / CHUNKS
				    + j * AC_RECAST_LANES / CHUNKS;
				const struct ac_recast_cell cell =
				    ac_recast_cell_of(
				    tile->from[col][row + i], way);

				tile->to[col][row + i] = cell.to;
				s[i] = s[i] + cell.energy;
				r[i] = r[i] + cell.loss;
			}
		energy[lane] = add_rows(s);
		loss[lane] = add_rows(r);
	}
	tile->energy = add_lanes(energy);
	tile->loss = add_lanes(loss);
}

static uint32_t
largest_plain(const struct ac_twin_tile *tile)
{
	uint32_t largest = 0;

	for (int j = 0; j < AC_TILE_SIDE; j++)
		for (int i = 0; i < AC_TILE_SIDE; i++) {
			const uint32_t m =
			    ac_cast_bits(tile->from[j][i]) & 0x7fffffff;

			if (m > largest)
				largest = m;
		}
	return largest;
}

#if defined(__x86_64__)
AC_EIGHT static inline __m256
absolute(__m256 x)
{
	return _mm256_and_ps(x,
	    _mm256_castsi256_ps(_mm256_set1_epi32(0x7fffffff)));
}

/* Eight elements of a column. */
AC_EIGHT static inline void
cast_eight(const float *from, struct ac_recast_way way, uint16_t *to,
    __m256 *energy, __m256 *loss)
{
	const __m256 first = _mm256_set1_ps(way.factor.first);
	const __m256 second = _mm256_set1_ps(way.factor.second);
	const __m256 x = _mm256_load_ps(from);
	const __m256 s = _mm256_mul_ps(_mm256_mul_ps(x, first), second);
	const __m256 y = way.scaled ? s : x;
	const bool fp16 = way.format == AC_FORMAT_FP16;
	const __m128i cell = fp16 ? ac_fp16_eight(y) : ac_bf16_eight(y);
	const __m256 wide = fp16 ? _mm256_cvtph_ps(cell)
	    : _mm256_castsi256_ps(_mm256_slli_epi32(
	    _mm256_cvtepu16_epi32(cell), 16));
	__m256 lost = _mm256_sub_ps(y, wide);

	if (!way.scaled) {
		lost = _mm256_blendv_ps(y, lost, _mm256_cmp_ps(absolute(wide),
		    _mm256_set1_ps(ac_cast_float(AC_CAST_INF)), _CMP_LT_OQ));
		lost = _mm256_mul_ps(_mm256_mul_ps(lost, first), second);
	}
	_mm_store_si128((__m128i *)to, cell);
	*energy = _mm256_add_ps(*energy, _mm256_mul_ps(s, s));
	*loss = _mm256_add_ps(*loss, _mm256_mul_ps(lost, lost));
}

/* The eight rows of eight lanes each to one, as add_rows() does. */
AC_EIGHT static inline __m256
add_rows_eight(const __m256 s[AC_CAST_CHUNK])
{
	const __m256 a = _mm256_hadd_ps(_mm256_hadd_ps(s[0], s[1]),
	    _mm256_hadd_ps(s[2], s[3]));
	const __m256 b = _mm256_hadd_ps(_mm256_hadd_ps(s[4], s[5]),
	    _mm256_hadd_ps(s[6], s[7]));

	return _mm256_add_ps(_mm256_permute2f128_ps(a, b, 0x20),
	    _mm256_permute2f128_ps(a, b, 0x31));
}

AC_EIGHT static void
cast_tile_eight(struct ac_twin_tile *tile, struct ac_recast_way way)
{
	_Alignas(32) float energy[AC_RECAST_LANES], loss[AC_RECAST_LANES];

	for (int lane = 0; lane < AC_RECAST_LANES; lane += AC_CAST_CHUNK) {
		__m256 s[AC_CAST_CHUNK], r[AC_CAST_CHUNK];

		for (int l = 0; l < AC_CAST_CHUNK; l++) {
			const int row = l % CHUNKS * AC_CAST_CHUNK;
			const int col = (lane + l) / CHUNKS;

			s[l] = r[l] = _mm256_setzero_ps();
			for (int j = 0; j < AC_RECAST_COLS; j++)
				cast_eight(&tile->from[col + j * 8][row], way,
				    &tile->to[col + j * 8][row], &s[l], &r[l]);
		}
		_mm256_store_ps(energy + lane, add_rows_eight(s));
		_mm256_store_ps(loss + lane, add_rows_eight(r));
	}
	tile->energy = add_lanes(energy);
	tile->loss = add_lanes(loss);
}

AC_EIGHT static uint32_t
largest_eight(const struct ac_twin_tile *tile)
{
	const __m256i magnitude = _mm256_set1_epi32(0x7fffffff);
	const float *from = tile->from[0];
	__m256i top = _mm256_setzero_si256();
	uint32_t lane[8], largest = 0;

	for (int i = 0; i < AC_TILE_SIDE * AC_TILE_SIDE; i += 8)
		top = _mm256_max_epu32(top, _mm256_and_si256(magnitude,
		    _mm256_castps_si256(_mm256_load_ps(from + i))));
	_mm256_storeu_si256((__m256i *)lane, top);
	for (int k = 0; k < 8; k++)
		if (lane[k] > largest)
			largest = lane[k];
	return largest;
}

void
ac_twin_tile_cast(struct ac_twin_tile *tile, struct ac_recast_way way)
{
	if (ac_has_eight())
		cast_tile_eight(tile, way);
	else
		cast_plain(tile, way);
}

uint32_t
ac_twin_tile_largest(const struct ac_twin_tile *tile)
{
	return ac_has_eight() ? largest_eight(tile) : largest_plain(tile);
}
#else
void
ac_twin_tile_cast(struct ac_twin_tile *tile, struct ac_recast_way way)
{
	cast_plain(tile, way);
}

uint32_t
ac_twin_tile_largest(const struct ac_twin_tile *tile)
{
	return largest_plain(tile);
}
#endif
