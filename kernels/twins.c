/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/twins.c -- the kernels of cast.cu as plain loops on the CPU.
 *
 * The arithmetic is cast.h's. Where the CPU has AVX2 and F16C the runs of a
 * column go eight at a time; tests/unit/test_cast_exhaustive.c holds both ways
 * to the same bits for every input. Matrices are touched only through
 * ac_read_run() and ac_write_run(), which count; never printed, never kept. */
#include "kernels/twins_recast.h"

_Atomic uint64_t ac_twin_bytes_read, ac_twin_bytes_written;
_Thread_local uint64_t ac_twin_bytes_here;
_Atomic bool ac_twin_plain;

/* Whether the run held an inf or a NaN; raises *largest. */
static bool
amax_run_plain(const float *x, int64_t count, uint32_t *largest)
{
	bool nonfinite = false;

	for (int64_t i = 0; i < count; i++) {
		const uint32_t m = ac_cast_bits(x[i]) & 0x7fffffff;
		if (m >= AC_CAST_INF)
			nonfinite = true;
		else if (m > *largest)
			*largest = m;
	}
	return nonfinite;
}

static bool
cast_run_plain(const float *x, int64_t count, struct ac_cast_factor factor,
    uint32_t format, uint16_t *to)
{
	bool nonfinite = false;

	for (int64_t i = 0; i < count; i++) {
		nonfinite |= (ac_cast_bits(x[i]) & AC_CAST_INF) == AC_CAST_INF;
		to[i] = ac_cast_element(x[i], factor, format);
	}
	return nonfinite;
}

#if defined(__x86_64__)
AC_EIGHT static bool
amax_run_eight(const float *x, int64_t count, uint32_t *largest)
{
	__m256i bad = _mm256_setzero_si256(), top = bad;
	uint32_t lane[8];
	int64_t i;

	for (i = 0; i + 8 <= count; i += 8) {
		const __m256i bits = _mm256_castps_si256(_mm256_loadu_ps(x + i));
		const __m256i off = ac_lanes_at_least(bits, AC_CAST_INF);
		const __m256i m = _mm256_and_si256(bits,
		    _mm256_set1_epi32(0x7fffffff));
		bad = _mm256_or_si256(bad, off);
		top = _mm256_max_epu32(top, _mm256_andnot_si256(off, m));
	}
	_mm256_storeu_si256((__m256i *)lane, top);
	for (int k = 0; k < 8; k++)
		if (lane[k] > *largest)
			*largest = lane[k];
	return amax_run_plain(x + i, count - i, largest) ||
	    !_mm256_testz_si256(bad, bad);
}

AC_EIGHT static bool
cast_run_eight(const float *x, int64_t count, struct ac_cast_factor factor,
    uint32_t format, uint16_t *to)
{
	const __m256 first = _mm256_set1_ps(factor.first);
	const __m256 second = _mm256_set1_ps(factor.second);
	__m256i bad = _mm256_setzero_si256();
	int64_t i;

	for (i = 0; i + 8 <= count; i += 8) {
		const __m256 from = _mm256_loadu_ps(x + i);
		const __m256 scaled = _mm256_mul_ps(_mm256_mul_ps(from, first),
		    second);
		bad = _mm256_or_si256(bad, ac_lanes_at_least(
		    _mm256_castps_si256(from), AC_CAST_INF));
		_mm_storeu_si128((__m128i *)(to + i), format == AC_FORMAT_FP16
		    ? ac_fp16_eight(scaled) : ac_bf16_eight(scaled));
	}
	return cast_run_plain(x + i, count - i, factor, format, to + i) ||
	    !_mm256_testz_si256(bad, bad);
}

static bool
amax_run(const float *x, int64_t count, uint32_t *largest)
{
	return ac_has_eight() ? amax_run_eight(x, count, largest)
	    : amax_run_plain(x, count, largest);
}

static bool
cast_run(const float *x, int64_t count, struct ac_cast_factor factor,
    uint32_t format, uint16_t *to)
{
	return ac_has_eight() ? cast_run_eight(x, count, factor, format, to)
	    : cast_run_plain(x, count, factor, format, to);
}

#else
#define amax_run amax_run_plain
#define cast_run cast_run_plain
#endif

static const float *
column_of(const struct ac_cast_operand *o, int64_t matrix, int64_t col)
{
	return o->from + matrix * o->stride + col * o->ld;
}

static bool
amax_operand(const struct ac_cast_operand *o, struct ac_meter *meter,
    uint32_t *largest)
{
	bool nonfinite = false;

	for (int64_t matrix = 0; matrix < o->batch; matrix++)
		for (int64_t col = 0; col < o->cols; col++)
			nonfinite |= amax_run(ac_read_run(meter,
			    column_of(o, matrix, col), o->rows), o->rows,
			    largest);
	return nonfinite;
}

static void
zero_run(struct ac_meter *meter, uint16_t *to, int64_t count)
{
	memset(ac_write_run(meter, to, count), 0, (size_t)count * sizeof *to);
}

static bool
cast_operand(const struct ac_cast_operand *o, struct ac_cast_factor factor,
    uint32_t format, struct ac_meter *meter)
{
	bool nonfinite = false;
	uint16_t *to = o->to;

	for (int64_t matrix = 0; matrix < o->batch; matrix++)
		for (int64_t col = 0; col < o->cols_to; col++) {
			const int64_t rows = col < o->cols ? o->rows : 0;
			if (rows)
				nonfinite |= cast_run(ac_read_run(meter,
				    column_of(o, matrix, col), rows), rows,
				    factor, format, ac_write_run(meter, to, rows));
			zero_run(meter, to + rows, o->ld_to - rows);
			to += o->ld_to;
		}
	return nonfinite;
}

static void
run_amax(const struct ac_twin_launch *launch, void **params)
{
	const struct ac_cast_params *p = params[0];
	const unsigned mode = ac_float_mode_enter();
	struct ac_meter meter = {0};

	for (unsigned i = 0; i < launch->grid[1] && i < 2; i++)
		if (amax_operand(&p->operand[i], &meter, &p->state->amax[i]))
			p->state->nonfinite |= 1u << i;
	ac_float_mode_leave(mode);
	ac_meter_add(&meter);
}

static void
run_cast(const struct ac_twin_launch *launch, void **params)
{
	const struct ac_cast_params *p = params[0];
	const struct ac_cast_scale scale = ac_cast_scale_of(p->state->amax[0],
	    p->state->amax[1], p->scaled, ac_cast_scalar_read(&p->alpha));
	const unsigned mode = ac_float_mode_enter();
	struct ac_meter meter = {0};

	for (unsigned i = 0; i < launch->grid[1] && i < 2; i++)
		if (cast_operand(&p->operand[i],
		    ac_cast_factor_of(scale.exponent[i]), p->format, &meter))
			p->state->nonfinite |= 1u << i;
	ac_cast_finish(&scale, ac_cast_scalar_read(&p->beta),
	    p->state->nonfinite, p->state);
	ac_float_mode_leave(mode);
	ac_meter_add(&meter);
}

const struct ac_twin ac_twins[] = {
	{ "ac_amax", run_amax },
	{ "ac_cast", run_cast },
	{ "ac_recast_cast", ac_twin_recast_cast },
	{ "ac_recast_settle", ac_twin_recast_settle },
	{ "ac_recast_finish", ac_twin_recast_finish },
	{ "ac_recast_write", ac_twin_recast_write },
	{ "ac_recast_ranges", ac_twin_recast_ranges },
};
const size_t ac_twin_count = sizeof ac_twins / sizeof *ac_twins;
