/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/twins.c -- the kernels of cast.cu as plain loops on the CPU.
 *
 * The arithmetic is cast.h's. Where the CPU has AVX2 and F16C the runs of a
 * column go eight at a time; tests/unit/test_cast_exhaustive.c holds both ways
 * to the same bits for every input. Matrices are touched only through
 * read_run() and write_run(), which count; never printed, never kept. */
#include "kernels/twins.h"
#include "kernels/cast.h"

#include <stdatomic.h>
#include <stdbool.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

_Atomic uint64_t ac_twin_bytes_read, ac_twin_bytes_written;

/* One run's moves, added to the process's counters when it ends. */
struct meter {
	uint64_t read, written;
};

/* A run: consecutive rows of one column. */
static const float *
read_run(struct meter *meter, const float *from, int64_t count)
{
	meter->read += (uint64_t)count * sizeof *from;
	return from;
}

static uint16_t *
write_run(struct meter *meter, uint16_t *to, int64_t count)
{
	meter->written += (uint64_t)count * sizeof *to;
	return to;
}

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
#define EIGHT __attribute__((target("avx2,f16c")))

/* Asked once: under a hypervisor CPUID takes longer than a whole column. */
static bool
has_eight(void)
{
	static _Atomic int known; /* 0: not asked yet, 1: no, 2: yes */
	unsigned a, b, c, d;

	if (!atomic_load_explicit(&known, memory_order_relaxed))
		atomic_store_explicit(&known, __builtin_cpu_supports("avx2")
		    && __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C) ? 2 : 1,
		    memory_order_relaxed);
	return atomic_load_explicit(&known, memory_order_relaxed) == 2;
}

EIGHT static inline __m256i
lanes_at_least(__m256i bits, int32_t floor)
{
	const __m256i m =
	    _mm256_and_si256(bits, _mm256_set1_epi32(0x7fffffff));

	return _mm256_cmpgt_epi32(m, _mm256_set1_epi32(floor - 1));
}

EIGHT static bool
amax_run_eight(const float *x, int64_t count, uint32_t *largest)
{
	__m256i bad = _mm256_setzero_si256(), top = bad;
	uint32_t lane[8];
	int64_t i;

	for (i = 0; i + 8 <= count; i += 8) {
		const __m256i bits = _mm256_castps_si256(_mm256_loadu_ps(x + i));
		const __m256i off = lanes_at_least(bits, AC_CAST_INF);
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

/* Eight lanes to FP16; NaN made canonical, which F16C alone would not. */
EIGHT static inline __m128i
fp16_eight(__m256 x)
{
	const __m256i nan =
	    lanes_at_least(_mm256_castps_si256(x), AC_CAST_INF + 1);
	const __m128i narrow = _mm_packs_epi32(_mm256_castsi256_si128(nan),
	    _mm256_extracti128_si256(nan, 1));

	return _mm_blendv_epi8(_mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT),
	    _mm_set1_epi16(AC_CAST_NAN16), narrow);
}

EIGHT static inline __m128i
bf16_eight(__m256 x)
{
	const __m256i bits = _mm256_castps_si256(x);
	const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16),
	    _mm256_set1_epi32(1));
	const __m256i up = _mm256_add_epi32(_mm256_add_epi32(bits, odd),
	    _mm256_set1_epi32(0x7fff));
	const __m256i wide = _mm256_blendv_epi8(_mm256_srli_epi32(up, 16),
	    _mm256_set1_epi32(AC_CAST_NAN16),
	    lanes_at_least(bits, AC_CAST_INF + 1));

	return _mm_packus_epi32(_mm256_castsi256_si128(wide),
	    _mm256_extracti128_si256(wide, 1));
}

EIGHT static bool
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
		bad = _mm256_or_si256(bad, lanes_at_least(
		    _mm256_castps_si256(from), AC_CAST_INF));
		_mm_storeu_si128((__m128i *)(to + i), format == AC_FORMAT_FP16
		    ? fp16_eight(scaled) : bf16_eight(scaled));
	}
	return cast_run_plain(x + i, count - i, factor, format, to + i) ||
	    !_mm256_testz_si256(bad, bad);
}

static bool
amax_run(const float *x, int64_t count, uint32_t *largest)
{
	return has_eight() ? amax_run_eight(x, count, largest)
	    : amax_run_plain(x, count, largest);
}

static bool
cast_run(const float *x, int64_t count, struct ac_cast_factor factor,
    uint32_t format, uint16_t *to)
{
	return has_eight() ? cast_run_eight(x, count, factor, format, to)
	    : cast_run_plain(x, count, factor, format, to);
}

/* The program's own rounding mode and flush-to-zero bits stay out of it. */
static unsigned
float_mode_enter(void)
{
	const unsigned mode = _mm_getcsr();

	_mm_setcsr(0x1f80);
	return mode;
}

static void
float_mode_leave(unsigned mode)
{
	_mm_setcsr(mode);
}
#else
#define amax_run amax_run_plain
#define cast_run cast_run_plain

static unsigned
float_mode_enter(void)
{
	return 0;
}

static void
float_mode_leave(unsigned mode)
{
	(void)mode;
}
#endif

static const float *
column_of(const struct ac_cast_operand *o, int64_t matrix, int64_t col)
{
	return o->from + matrix * o->stride + col * o->ld;
}

static bool
amax_operand(const struct ac_cast_operand *o, struct meter *meter,
    uint32_t *largest)
{
	bool nonfinite = false;

	for (int64_t matrix = 0; matrix < o->batch; matrix++)
		for (int64_t col = 0; col < o->cols; col++)
			nonfinite |= amax_run(read_run(meter,
			    column_of(o, matrix, col), o->rows), o->rows,
			    largest);
	return nonfinite;
}

static void
zero_run(struct meter *meter, uint16_t *to, int64_t count)
{
	memset(write_run(meter, to, count), 0, (size_t)count * sizeof *to);
}

static bool
cast_operand(const struct ac_cast_operand *o, struct ac_cast_factor factor,
    uint32_t format, struct meter *meter)
{
	bool nonfinite = false;
	uint16_t *to = o->to;

	for (int64_t matrix = 0; matrix < o->batch; matrix++)
		for (int64_t col = 0; col < o->cols_to; col++) {
			const int64_t rows = col < o->cols ? o->rows : 0;
			if (rows)
				nonfinite |= cast_run(read_run(meter,
				    column_of(o, matrix, col), rows), rows,
				    factor, format, write_run(meter, to, rows));
			zero_run(meter, to + rows, o->ld_to - rows);
			to += o->ld_to;
		}
	return nonfinite;
}

static void
meter_add(const struct meter *meter)
{
	atomic_fetch_add_explicit(&ac_twin_bytes_read, meter->read,
	    memory_order_relaxed);
	atomic_fetch_add_explicit(&ac_twin_bytes_written, meter->written,
	    memory_order_relaxed);
}

static void
run_amax(const struct ac_twin_launch *launch, void **params)
{
	const struct ac_cast_params *p = params[0];
	const unsigned mode = float_mode_enter();
	struct meter meter = {0};

	for (unsigned i = 0; i < launch->grid[1] && i < 2; i++)
		if (amax_operand(&p->operand[i], &meter, &p->state->amax[i]))
			p->state->nonfinite |= 1u << i;
	float_mode_leave(mode);
	meter_add(&meter);
}

static void
run_cast(const struct ac_twin_launch *launch, void **params)
{
	const struct ac_cast_params *p = params[0];
	const struct ac_cast_scale scale = ac_cast_scale_of(p->state->amax[0],
	    p->state->amax[1], p->scaled, ac_cast_scalar_read(&p->alpha));
	const unsigned mode = float_mode_enter();
	struct meter meter = {0};

	for (unsigned i = 0; i < launch->grid[1] && i < 2; i++)
		if (cast_operand(&p->operand[i],
		    ac_cast_factor_of(scale.exponent[i]), p->format, &meter))
			p->state->nonfinite |= 1u << i;
	ac_cast_finish(&scale, ac_cast_scalar_read(&p->beta),
	    p->state->nonfinite, p->state);
	float_mode_leave(mode);
	meter_add(&meter);
}

const struct ac_twin ac_twins[] = {
	{ "ac_amax", run_amax },
	{ "ac_cast", run_cast },
};
const size_t ac_twin_count = sizeof ac_twins / sizeof *ac_twins;
