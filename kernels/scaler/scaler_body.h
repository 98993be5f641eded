/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/scaler/scaler_body.h -- the arithmetic of the gradient scaler, once
 * for both sides: scaler.cu and scaler_sums.cu (GPU), and twins_scaler.c (CPU).
 * scaler_update.h has how the scale moves.
 *
 * As cast.h: no libm, no fused multiply-add, no flush to zero, so the same bits
 * on both. Elements are handled as their bits. A NaN is always written as
 * all ones without the sign, as a GPU makes it. Norms and sums take elements by
 * four: lane t of 256 has numbers 4 t .. 4 t + 3 of its chunk, then those 1024
 * on; 32 neighbouring lanes are added l with l ^ 16, ^ 8, ^ 4, ^ 2, ^ 1, and
 * the eight sums from the first to the last. The chunks' sums go the same way:
 * lane t has number t, t + 256, ... */
#ifndef AC_KERNELS_SCALER_BODY_H
#define AC_KERNELS_SCALER_BODY_H

#include "kernels/recast/cast.h"
#include "kernels/scaler/scaler.h"

enum {
	AC_SCALER_LANES = AC_CAST_BLOCK,
	AC_SCALER_WARPS = AC_SCALER_LANES / AC_CAST_LANES,
	AC_SCALER_FOUR  = 4,      /* elements that go to a lane at a time */
	AC_SCALER_NAN   = 0x7fffffff,
	AC_SCALER_INF   = 0x7f800000
};

/* What goes with a launch of ac_scaler_multiply(). */
struct ac_scaler_product {
	struct ac_scaler_tensor tensor[AC_SCALER_INLINE];
	const struct ac_scaler_state *state;
	uint64_t tensor_count, chunk_count;
};

/* ... and of ac_scaler_norm_close(). */
struct ac_scaler_close {
	struct ac_scaler_words *words;
	const double *sums;
	uint64_t count;
	float   *norm_out;
	float    max_norm;
	uint32_t p;
};

/* The host compiler writes these, the GPU reads them. */
static_assert(sizeof(struct ac_scaler_tensor) == 32, "tensor layout");
static_assert(sizeof(struct ac_scaler_words) == 48, "words layout");
static_assert(offsetof(struct ac_scaler_words, coefficient_double)
    == offsetof(struct ac_scaler_words, coefficient) + sizeof(float),
    "both coefficients are copied at once");
static_assert(sizeof(struct ac_scaler_pass) == 56, "pass layout");
static_assert(sizeof(struct ac_scaler_sum) == 56, "sum layout");
static_assert(sizeof(struct ac_scaler_close) == 40, "close layout");
static_assert(sizeof(struct ac_scaler_product) <= 4096,
    "what a launch may carry");

/* ---- Places ------------------------------------------------------------ */

/* A chunk: consecutive elements of one tensor. */
struct ac_scaler_slice {
	uint64_t tensor;        /* its number in the table */
	uint64_t first;         /* element */
	uint64_t count;         /* 1 .. AC_SCALER_CHUNK */
};

/* Number of the tensor that has the chunk: the last that begins at or before
 * it, as tensors without chunks begin where the next one does. */
AC_CAST_BODY uint64_t
ac_scaler_find(const struct ac_scaler_tensor *tensors, uint64_t count,
    uint64_t chunk)
{
	uint64_t low = 0, high = count;

	AC_CAST_ROLLED
	while (high - low > 1) {
		const uint64_t middle = low + (high - low) / 2;

		if (tensors[middle].first_chunk <= chunk)
			low = middle;
		else
			high = middle;
	}
	return low;
}

AC_CAST_BODY struct ac_scaler_slice
ac_scaler_slice_of(const struct ac_scaler_tensor *tensors, uint64_t count,
    uint64_t chunk)
{
	struct ac_scaler_slice slice;
	uint64_t left;

	slice.tensor = ac_scaler_find(tensors, count, chunk);
	slice.first = (chunk - tensors[slice.tensor].first_chunk)
	    * AC_SCALER_CHUNK;
	left = tensors[slice.tensor].count - slice.first;
	slice.count = left < AC_SCALER_CHUNK ? left : AC_SCALER_CHUNK;
	return slice;
}

AC_CAST_BODY uint64_t
ac_scaler_chunks(uint64_t count)
{
	return count / AC_SCALER_CHUNK + (count % AC_SCALER_CHUNK != 0);
}

/* log2 of an element's bytes. */
AC_CAST_BODY uint32_t
ac_scaler_shift(uint32_t dtype)
{
	return dtype == AC_SCALER_F32 ? 2 : dtype == AC_SCALER_F64 ? 3 : 1;
}

/* ---- Elements ---------------------------------------------------------- */

AC_CAST_BODY uint64_t
ac_scaler_bits(double x)
{
	uint64_t bits;

	memcpy(&bits, &x, sizeof bits);
	return bits;
}

AC_CAST_BODY double
ac_scaler_double(uint64_t bits)
{
	double x;

	memcpy(&x, &bits, sizeof x);
	return x;
}

AC_CAST_BODY float
ac_scaler_clean(float x)
{
	return x == x ? x : ac_cast_float(AC_SCALER_NAN);
}

AC_CAST_BODY double
ac_scaler_clean_double(double x)
{
	return x == x ? x : ac_scaler_double(0x7fffffffffffffff);
}

/* What an element is in arithmetic, exactly. */
AC_CAST_BODY float
ac_scaler_wide(uint32_t dtype, uint32_t bits)
{
	if (dtype == AC_SCALER_F16)
		return ac_cast_widen_fp16((uint16_t)bits);
	return ac_cast_float(dtype == AC_SCALER_BF16 ? bits << 16 : bits);
}

/* An element of any type but FP64 times the factor. */
AC_CAST_BODY uint32_t
ac_scaler_times(uint32_t dtype, uint32_t bits, float factor)
{
	const float x = ac_scaler_clean(ac_scaler_wide(dtype, bits) * factor);

	if (dtype == AC_SCALER_F16)
		return ac_cast_fp16(x);
	return dtype == AC_SCALER_BF16 ? ac_cast_bf16(x) : ac_cast_bits(x);
}

AC_CAST_BODY uint64_t
ac_scaler_times_double(uint64_t bits, double factor)
{
	return ac_scaler_bits(ac_scaler_clean_double(ac_scaler_double(bits)
	    * factor));
}

/* What is left of a word's exponents, all ones become a carry: not 0 if one of
 * the elements in it is inf or NaN, in its own type. Of FP64 the upper word. */
AC_CAST_BODY uint32_t
ac_scaler_look(uint32_t dtype, uint32_t word)
{
	if (dtype == AC_SCALER_F16)
		return ((word & 0x7c007c00) + 0x04000400) & 0x80008000;
	if (dtype == AC_SCALER_BF16)
		return ((word & 0x7f807f80) + 0x00800080) & 0x80008000;
	if (dtype == AC_SCALER_F64)
		return ((word & 0x7ff00000) + 0x00100000) & 0x80000000;
	return ((word & 0x7f800000) + 0x00800000) & 0x80000000;
}

/* ---- A pass ------------------------------------------------------------- */

/* What is done to elements. */
struct ac_scaler_way {
	double factor_double;   /* of FP64 elements */
	float  factor;          /* of all others */
	bool   write;           /* the product is stored */
	bool   after;           /* it is tested, too */
};

AC_CAST_BODY struct ac_scaler_way
ac_scaler_way_of(float factor)
{
	struct ac_scaler_way way;

	way.factor_double = (double)factor;
	way.factor = factor;
	way.write = factor != 1;
	way.after = false;
	return way;
}

AC_CAST_BODY struct ac_scaler_way
ac_scaler_clip_way(const struct ac_scaler_words *words)
{
	struct ac_scaler_way way = ac_scaler_way_of(words->coefficient);

	way.factor_double = words->coefficient_double;
	way.write |= way.factor_double != 1;
	return way;
}

/* What is done to a tensor: by a factor of 1 nothing is written. */
AC_CAST_BODY struct ac_scaler_way
ac_scaler_way_for(const struct ac_scaler_way *all, uint32_t dtype)
{
	struct ac_scaler_way way = *all;

	way.write = way.write && (dtype == AC_SCALER_F64
	    ? way.factor_double != 1 : way.factor != 1);
	return way;
}

AC_CAST_BODY struct ac_scaler_way
ac_scaler_unscale_way(const struct ac_scaler_pass *pass)
{
	struct ac_scaler_way way = ac_scaler_way_of(pass->state->inverse);

	way.after = way.write && (pass->flags & AC_SCALER_PASS_CHECK_AFTER);
	if (pass->flags & AC_SCALER_PASS_CHECK_ONLY)
		way.write = false;
	return way;
}

AC_CAST_BODY void
ac_scaler_mark(struct ac_scaler_state *state)
{
#ifdef __CUDACC__
	atomicOr(&state->found, 1u);
#else
	__atomic_fetch_or(&state->found, 1, __ATOMIC_RELAXED);
#endif
}

/* The end of unscaling, by one thread, once all of the launch is done. */
AC_CAST_BODY void
ac_scaler_publish(const struct ac_scaler_pass *pass)
{
	volatile struct ac_scaler_words *words = pass->words;
	const bool found = words->found != 0
	    || ((pass->flags & AC_SCALER_PASS_STRICT)
	    && ac_cast_bits(pass->state->inverse) >= AC_SCALER_INF);

	words->found_inf = found ? 1.0f : 0.0f;
	words->grad_scale = pass->flags & AC_SCALER_PASS_CHECK_ONLY
	    ? pass->state->scale : 1.0f;
	words->found = 0;
	words->arrived = 0;
	if (found && (pass->flags & AC_SCALER_PASS_FOLD))
		ac_scaler_mark(pass->state);
}

AC_CAST_BODY void
ac_scaler_fold_flags(struct ac_scaler_words *words,
    struct ac_scaler_state *state, const float *flags, uint64_t count)
{
	bool found = words->found_inf != 0;

	AC_CAST_ROLLED
	for (uint64_t i = 0; i < count; i++)
		found |= flags[i] != 0;
	words->found_inf = found ? 1.0f : 0.0f;
	if (found && state)
		ac_scaler_mark(state);
}

/* ---- Norms -------------------------------------------------------------- */

/* What an element adds. */
AC_CAST_BODY double
ac_scaler_part(double x, uint32_t p)
{
	return p == 2 ? x * x
	    : ac_scaler_double(ac_scaler_bits(x) & 0x7fffffffffffffff);
}

/* Of magnitudes; as integers they are in order, NaN above all. */
AC_CAST_BODY double
ac_scaler_join(double a, double b, uint32_t p)
{
	if (p)
		return a + b;
	return ac_scaler_bits(a) > ac_scaler_bits(b) ? a : b;
}

AC_CAST_BODY void
ac_scaler_close_norm(const struct ac_scaler_close *close)
{
	double sum = 0, wide;
	float norm, coefficient;

	AC_CAST_ROLLED
	for (uint64_t i = 0; i < close->count; i++)
		sum = ac_scaler_join(sum, close->sums[i], close->p);
	if (close->p == 2)
		sum = ac_cast_sqrt(sum);
	norm = ac_scaler_clean((float)sum);
	coefficient = ac_scaler_clean(close->max_norm / (norm + 1e-6f));
	close->words->norm = norm;
	close->words->coefficient = coefficient > 1 ? 1 : coefficient;
	/* A norm of FP64 elements may be too large for FP32. */
	wide = ac_scaler_clean_double((double)close->max_norm / (sum + 1e-6));
	close->words->coefficient_double = wide > 1 ? 1 : wide;
	if (close->norm_out)
		*close->norm_out = norm;
}

/* ---- Guarded sums ------------------------------------------------------- */

AC_CAST_BODY bool
ac_scaler_may_add(const struct ac_scaler_sum *sum)
{
	return !sum->found_inf || *sum->found_inf == 0;
}

AC_CAST_BODY float
ac_scaler_added(float y, float alpha, float x)
{
	return ac_scaler_clean(y + alpha * x);
}

AC_CAST_BODY double
ac_scaler_added_double(double y, float alpha, double x)
{
	return ac_scaler_clean_double(y + (double)alpha * x);
}

#endif
