/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/twins/twins_inside.h -- what the twins share among themselves:
 * counted access to matrices, the way of eight lanes, the float mode. */
#ifndef AC_KERNELS_TWINS_INSIDE_H
#define AC_KERNELS_TWINS_INSIDE_H

#include "kernels/recast/cast.h"
#include "kernels/recast/float_mode.h"
#include "kernels/twins/twins.h"

#include <stdatomic.h>
#include <stdbool.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

/* One of each kernel, for twins.c's table. */
ac_twin_run ac_twin_recast_cast, ac_twin_recast_settle, ac_twin_recast_finish,
    ac_twin_recast_write, ac_twin_recast_ranges, ac_twin_conv_check,
    ac_twin_verified_probe, ac_twin_verified_cast, ac_twin_verified_verify,
    ac_twin_verified_mend,
    ac_twin_scaler_multiply, ac_twin_scaler_unscale, ac_twin_scaler_fold,
    ac_twin_scaler_norm, ac_twin_scaler_close, ac_twin_scaler_clip,
    ac_twin_scaler_add, ac_twin_scaler_update, ac_twin_scaler_set;

/* One run's moves, added to the process's counters when it ends. */
struct ac_meter {
	uint64_t read, written;
};

/* A run: consecutive elements of one column. */
static inline const float *
ac_read_run(struct ac_meter *meter, const float *from, int64_t count)
{
	meter->read += (uint64_t)count * sizeof *from;
	return from;
}

static inline uint16_t *
ac_write_run(struct ac_meter *meter, uint16_t *to, int64_t count)
{
	meter->written += (uint64_t)count * sizeof *to;
	return to;
}

/* One element of a matrix. */
static inline float
ac_read_one(struct ac_meter *meter, const float *from)
{
	meter->read += sizeof *from;
	return *from;
}

static inline void
ac_write_one(struct ac_meter *meter, float *to, float value)
{
	meter->written += sizeof *to;
	*to = value;
}

static inline void
ac_meter_add(const struct ac_meter *meter)
{
	atomic_fetch_add_explicit(&ac_twin_bytes_read, meter->read,
	    memory_order_relaxed);
	atomic_fetch_add_explicit(&ac_twin_bytes_written, meter->written,
	    memory_order_relaxed);
	ac_twin_bytes_here += meter->read + meter->written;
}

#if defined(__x86_64__)
#define AC_EIGHT __attribute__((target("avx2,f16c")))

/* Asked once: under a hypervisor CPUID takes longer than a whole column. */
static inline bool
ac_has_eight(void)
{
	static _Atomic int known; /* 0: not asked yet, 1: no, 2: yes */
	unsigned a, b, c, d;

	if (atomic_load_explicit(&ac_twin_plain, memory_order_relaxed))
		return false;
	if (!atomic_load_explicit(&known, memory_order_relaxed))
		atomic_store_explicit(&known, __builtin_cpu_supports("avx2")
		    && __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C) ? 2 : 1,
		    memory_order_relaxed);
	return atomic_load_explicit(&known, memory_order_relaxed) == 2;
}

AC_EIGHT static inline __m256i
ac_lanes_at_least(__m256i bits, int32_t floor)
{
	const __m256i m =
	    _mm256_and_si256(bits, _mm256_set1_epi32(0x7fffffff));

	return _mm256_cmpgt_epi32(m, _mm256_set1_epi32(floor - 1));
}

/* Eight lanes to FP16; NaN made canonical, which F16C alone would not. */
AC_EIGHT static inline __m128i
ac_fp16_eight(__m256 x)
{
	const __m256i nan =
	    ac_lanes_at_least(_mm256_castps_si256(x), AC_CAST_INF + 1);
	const __m128i narrow = _mm_packs_epi32(_mm256_castsi256_si128(nan),
	    _mm256_extracti128_si256(nan, 1));

	return _mm_blendv_epi8(_mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT),
	    _mm_set1_epi16(AC_CAST_NAN16), narrow);
}

AC_EIGHT static inline __m128i
ac_bf16_eight(__m256 x)
{
	const __m256i bits = _mm256_castps_si256(x);
	const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16),
	    _mm256_set1_epi32(1));
	const __m256i up = _mm256_add_epi32(_mm256_add_epi32(bits, odd),
	    _mm256_set1_epi32(0x7fff));
	const __m256i wide = _mm256_blendv_epi8(_mm256_srli_epi32(up, 16),
	    _mm256_set1_epi32(AC_CAST_NAN16),
	    ac_lanes_at_least(bits, AC_CAST_INF + 1));

	return _mm_packus_epi32(_mm256_castsi256_si128(wide),
	    _mm256_extracti128_si256(wide, 1));
}

#endif

#endif
