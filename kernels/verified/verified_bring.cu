/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/verified/verified_bring.cu -- what a block of cast works on, and how
 * a thread comes by it: numbers, ahead of time where that pays, and the sums
 * that they are projected on. */
#include "kernels/verified/verified_body.h"

enum {
	CAST_LINES = 128,       /* of a block */
	CAST_EACH = 4,          /* lines of a lane, and k of it at a time */
	CAST_STEP = CAST_EACH * AC_VERIFIED_CHAINS, /* k of a block */
	CAST_ROUND = 4,         /* values that warps bring together at a time */
	CAST_ONCE = 8,          /* sums that a thread reads at a time */
	CAST_NEVER = 1 << 30    /* a k that no lane has */
};

/* 16 KiB: what the slice is projected on, then what the warps have found. */
union cast_block {
	float u[AC_VERIFIED_VECTORS * AC_VERIFIED_SLICE];
	float found[WARPS][CAST_ROUND][CAST_LINES];
};
static_assert(sizeof(union cast_block) == 16384, "shared memory of cast");

/* One block's work. In shared memory: in registers it would crowd out the
 * sums. */
struct cast_work {
	const float  *from;     /* the block's first element */
	const double *sums;     /* the slice's */
	uint16_t *to;
	float    *parts;        /* the slice's, of the first line */
	int64_t  lines;
	int64_t  left, left_to; /* lines from the first on; with padding */
	uint32_t ld, ld_to;
	int      begin, ks, count; /* of K; without and with padding */
	float    factor, factor_u;
	int      side;
	bool     wide, exact, along; /* along: memory runs along K */
	bool     writes;        /* where it goes, or it is only looked at */
	uint32_t found;         /* AC_VERIFIED_* */
	struct ac_verified_rung rung;
	uint32_t terms;
	int64_t  step_to;       /* from term to term */
	int      stored;        /* of K, where that does not run along memory */
};

typedef float cast_sums[CAST_EACH][AC_VERIFIED_SUMS];
typedef float cast_cells[CAST_EACH][CAST_EACH];

static __device__ __forceinline__ void
find_work(const struct ac_verified &v, struct cast_work &w)
{
	const uint32_t slices = ((uint32_t)v.k + (uint32_t)v.slice - 1)
	    / (uint32_t)v.slice;
	const uint32_t tiles0 = ((uint32_t)v.m + CAST_LINES - 1) / CAST_LINES;
	const uint32_t tiles1 = ((uint32_t)v.n + CAST_LINES - 1) / CAST_LINES;
	const uint32_t number = blockIdx.x / slices;
	const uint32_t tile = number % (tiles0 + tiles1);
	const int64_t slice = blockIdx.x % slices;
	const int64_t matrix = number / (tiles0 + tiles1);
	const int side = tile >= tiles0;
	const int64_t first = (int64_t)(side ? tile - tiles0 : tile)
	    * CAST_LINES;
	const struct ac_verified_operand o = operand_of(v, side);
	const struct ac_cast_scale scale = ac_verified_scale_of(&v);
	const int64_t begin = slice * v.slice;
	const int64_t at = ac_verified_at(&v, begin, &w.step_to);

	w.begin = (int)begin;
	w.ks = (int)min(v.slice, v.k - begin);
	w.count = (w.ks + 7) / 8 * 8;
	w.from = ac_verified_matrix(&o, matrix)
	    + first * ac_verified_line_step(&o)
	    + begin * ac_verified_k_step(&o);
	w.to = o.to + (o.lines_are_cols
	    ? (matrix * o.lines + first) * o.ld_to + at
	    : (matrix * ac_verified_stored_k(v.k, v.format) + at) * o.ld_to
	    + first);
	w.step_to *= o.lines_are_cols ? 1 : o.ld_to;
	w.terms = (uint32_t)ac_verified_terms(v.format);
	w.rung = ac_verified_rung_in(&v, side);
	w.stored = w.terms > 1 ? w.count : w.ks;
	w.sums = o.sums + matrix * AC_VERIFIED_VECTORS * v.k + begin;
	w.parts = o.parts + (matrix * slices + slice) * AC_VERIFIED_VALUES
	    * o.lines + first;
	w.lines = o.lines;
	w.ld = (uint32_t)o.ld;
	w.ld_to = (uint32_t)o.ld_to;
	w.left = o.lines - first;
	w.left_to = o.to ? o.ld_to - first : 0;
	w.factor = ac_verified_power(side ? scale.exponent[1]
	    : scale.exponent[0]);
	w.factor_u = ac_verified_power(side ? scale.exponent[0]
	    : scale.exponent[1]);
	w.side = side;
	w.along = o.lines_are_cols;
	w.writes = o.to;
	w.wide = !((uintptr_t)w.from & 15) && !(o.ld & 3);
	w.exact = ac_verified_is_counted(&v, &scale);
	w.found = 0;
	if (!blockIdx.x)
		ac_verified_begin(&scale, v.state);
}

/* The slice's sums as floats: by vector where a lane has neighbouring k, by k
 * where it has neighbouring lines. Zero past K. */
static __device__ __forceinline__ void
load_sums(const struct cast_work &w, int64_t ks, int slice, bool by_vector,
    union cast_block &block)
{
	const int shift = __ffs(slice) - 1; /* it is a power of two */
	const double factor = (double)w.factor_u, *sums = w.sums;
	const int left = w.ks;

	for (int begin = 0; begin < AC_VERIFIED_VECTORS << shift;
	    begin += CAST_ONCE * AC_CAST_BLOCK) {
		double sum[CAST_ONCE];

#pragma unroll
		for (int j = 0; j < CAST_ONCE; j++) {
			const int i = begin + j * AC_CAST_BLOCK + threadIdx.x;
			const int t = i >> shift, k = i & (slice - 1);

			sum[j] = t < AC_VERIFIED_VECTORS && k < left
			    ? __ldg(sums + t * ks + k) : 0;
		}
#pragma unroll
		for (int j = 0; j < CAST_ONCE; j++) {
			const int i = begin + j * AC_CAST_BLOCK + threadIdx.x;
			const int t = i >> shift, k = i & (slice - 1);

			if (t < AC_VERIFIED_VECTORS)
				block.u[by_vector ? t * AC_VERIFIED_SLICE + k
				    : k * AC_VERIFIED_VECTORS + t] =
				    (float)(sum[j] * factor);
		}
	}
}

/* From shared memory each time: what a step begins with is not to be kept in
 * registers, nor what follows from it. */
template <class type> static __device__ __forceinline__ type
again(const type &x)
{
	return *(const volatile type *)&x;
}

/* `count` steps on. Of 32 bits: fewer registers. */
template <class type> static __device__ __forceinline__ type *
after(type *from, uint32_t count, uint32_t step)
{
	return from + (uint64_t)count * step;
}

/* Four times four neighbours; zero past the matrix: `rows` of `left`. Mostly
 * there is no end near, and the address is aligned: `fast`. */
static __device__ __forceinline__ void
load_fours(const float *from, uint32_t step, bool fast, int rows, int left,
    cast_cells &x)
{
	if (fast) {
#pragma unroll
		for (int i = 0; i < CAST_EACH; i++) {
			const float4 four = __ldg((const float4 *)after(from,
			    i, step));

			x[i][0] = four.x, x[i][1] = four.y;
			x[i][2] = four.z, x[i][3] = four.w;
		}
		return;
	}
	/* What follows from these is not to be kept in registers for it. */
	asm volatile("" : "+r"(step), "+r"(rows), "+r"(left));
#pragma unroll
	for (int i = 0; i < CAST_EACH; i++) {
#pragma unroll
		for (int j = 0; j < CAST_EACH; j++)
			x[i][j] = i < rows && j < left ? __ldg(from + j) : 0;
		from = after(from, 1, step);
	}
}

/* What a lane asks for before it is loaded, so that it comes from the cache: of
 * a warp's next step, the lanes ask for half a line of it each. */
struct cast_ahead {
	const float *from;
	int k;                  /* less that of the lane's numbers */
};

static __device__ __forceinline__ struct cast_ahead
look_ahead(const struct cast_work &w)
{
	const int lane = threadIdx.x % LANES, warp = threadIdx.x / LANES;
	const int k = w.along ? 16 * (lane % 2) : lane / 8;
	const int line = w.along ? 16 * warp + lane / 2 : 16 * (lane % 8);
	struct cast_ahead ahead;

	ahead.from = w.along ? after(w.from, line, w.ld) + k
	    : after(w.from, CAST_EACH * warp + k, w.ld) + line;
	ahead.k = line >= w.left ? CAST_NEVER : w.along ? k - CAST_EACH
	    * (lane % AC_VERIFIED_CHAINS) : k;
	return ahead;
}

/* The step at k of this lane. */
static __device__ __forceinline__ void
ask(const struct cast_ahead &ahead, int k, int ks)
{
#ifdef __CUDA_ARCH__
	if (k + ahead.k < ks)
		asm volatile("prefetch.global.L2 [%0];" :: "l"(ahead.from));
#endif
}

static __device__ __forceinline__ void
store_four(uint16_t *to, const uint16_t (&x)[CAST_EACH])
{
	__stcg((uint2 *)to, make_uint2(x[0] | (uint32_t)x[1] << 16,
	    x[2] | (uint32_t)x[3] << 16));
}
