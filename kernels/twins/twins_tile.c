/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/twins/twins_tile.c -- a tile of the one-pass cast on the CPU, plainly
 * and eight lanes at a time. Both add in recast_body.h's order. Touches no
 * matrix: twins_recast.c brings the elements and takes the cast away. */
#include "kernels/twins/twins_recast.h"

enum { CHUNKS = AC_TILE_SIDE / AC_CAST_CHUNK }; /* of a column */

/* Each lane's sums of its columns. */
struct columns {
	_Alignas(32) float of[AC_RECAST_LANES][AC_RECAST_COLS];
};

/* Lanes whose numbers are below 16 and equal to `first` in the two bits that
 * are not 8 or 4, of column j. */
static float
add_eight_and_four(const struct columns *c, int first, int j)
{
	return (c->of[first][j] + c->of[first + 8][j])
	    + (c->of[first + 4][j] + c->of[first + 12][j]);
}

/* To bands. Lane 16 has been added to lane 0, and so on. */
static void
add_along_columns(const struct columns *c, float band[AC_RECAST_BANDS])
{
	struct columns sum = *c;

	for (int lane = 0; lane < 16; lane += 4)
		for (int j = 0; j < AC_RECAST_COLS; j++)
			sum.of[lane][j] = (c->of[lane][j] + c->of[lane + 2][j])
			    + (c->of[lane + 1][j] + c->of[lane + 3][j]);
	for (int j = 0; j < AC_RECAST_BANDS; j++)
		band[j] = add_eight_and_four(&sum, 0, j);
}

static void
add_along_rows(const struct columns *c, float band[AC_RECAST_BANDS])
{
	struct columns sum = *c;

	for (int lane = 0; lane < 16; lane++)
		sum.of[lane][0] = (c->of[lane][0] + c->of[lane][1])
		    + (c->of[lane][2] + c->of[lane][3]);
	for (int b = 0; b < AC_RECAST_BANDS; b++)
		band[b] = add_eight_and_four(&sum, b, 0);
}

static void
add_bands(struct columns *c, bool along_rows, float band[AC_RECAST_BANDS])
{
	for (int lane = 0; lane < 16; lane++)
		for (int j = 0; j < AC_RECAST_COLS; j++)
			c->of[lane][j] = c->of[lane][j] + c->of[lane + 16][j];
	if (along_rows)
		add_along_rows(c, band);
	else
		add_along_columns(c, band);
}

static float
add_rows(const float s[AC_CAST_CHUNK])
{
	return ((s[0] + s[1]) + (s[2] + s[3])) +
	    ((s[4] + s[5]) + (s[6] + s[7]));
}

static void
cast_plain(struct ac_twin_tile *tile, struct ac_recast_way way,
    bool along_rows)
{
	struct columns energy, loss;

	for (int lane = 0; lane < AC_RECAST_LANES; lane++) {
		const int row = lane % CHUNKS * AC_CAST_CHUNK;

		for (int j = 0; j < AC_RECAST_COLS; j++) {
			const int col = lane / CHUNKS
			    + j * AC_RECAST_LANES / CHUNKS;
			float s[AC_CAST_CHUNK], r[AC_CAST_CHUNK];

			for (int i = 0; i < AC_CAST_CHUNK; i++) {
				const struct ac_recast_cell cell =
				    ac_recast_cell_of(
				    tile->from[col][row + i], way);

				tile->to[col][row + i] = cell.to;
				s[i] = cell.energy;
				r[i] = cell.loss;
			}
			energy.of[lane][j] = add_rows(s);
			loss.of[lane][j] = add_rows(r);
		}
	}
	add_bands(&energy, along_rows, tile->band);
	add_bands(&loss, along_rows, tile->band + AC_RECAST_BANDS);
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
	*energy = _mm256_mul_ps(s, s);
	*loss = _mm256_mul_ps(lost, lost);
}

/* The eight rows of eight columns each to one, as add_rows() does. */
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
cast_tile_eight(struct ac_twin_tile *tile, struct ac_recast_way way,
    bool along_rows)
{
	struct columns energy, loss;

	for (int lane = 0; lane < AC_RECAST_LANES; lane += 2) {
		__m256 s[AC_CAST_CHUNK], r[AC_CAST_CHUNK];

		for (int i = 0; i < AC_CAST_CHUNK; i++) {
			const int row = (lane + i / AC_RECAST_COLS) % CHUNKS
			    * AC_CAST_CHUNK;
			const int col = (lane + i / AC_RECAST_COLS) / CHUNKS
			    + i % AC_RECAST_COLS * 8;

			cast_eight(&tile->from[col][row], way,
			    &tile->to[col][row], &s[i], &r[i]);
		}
		_mm256_store_ps(energy.of[lane], add_rows_eight(s));
		_mm256_store_ps(loss.of[lane], add_rows_eight(r));
	}
	add_bands(&energy, along_rows, tile->band);
	add_bands(&loss, along_rows, tile->band + AC_RECAST_BANDS);
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
ac_twin_tile_cast(struct ac_twin_tile *tile, struct ac_recast_way way,
    bool along_rows)
{
	if (ac_has_eight())
		cast_tile_eight(tile, way, along_rows);
	else
		cast_plain(tile, way, along_rows);
}

uint32_t
ac_twin_tile_largest(const struct ac_twin_tile *tile)
{
	return ac_has_eight() ? largest_eight(tile) : largest_plain(tile);
}
#else
void
ac_twin_tile_cast(struct ac_twin_tile *tile, struct ac_recast_way way,
    bool along_rows)
{
	cast_plain(tile, way, along_rows);
}

uint32_t
ac_twin_tile_largest(const struct ac_twin_tile *tile)
{
	return largest_plain(tile);
}
#endif
