/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/verified/verified.h -- the device side of one verified product: a
 * product of casts that leaves its call within tol, or recomputed in FP32.
 *
 * Four launches around NVIDIA's product, all on the caller's stream, none
 * waits, none allocates:
 *
 *   probe    chooses lines by a hash of contents and sizes, adds them up with
 *            random weights, finds the exponents
 *   cast     writes both operands in 16 bits, and of every line what verify
 *            needs: its products with those sums, its energy, its loss
 *   (the product)  reads &state->alpha and &state->zero
 *   verify   holds every row and column of the product against that, and says
 *            which lines are bad, or all
 *   mend     recomputes those in FP32 from the originals; mostly none. Where
 *            the product is apart, writes what becomes of it
 *
 * A line is a row of op(A) or a column of op(B), and the row or column of C
 * that it makes. Matrices are column-major as cuBLAS has them.
 * verified_body.h holds the arithmetic once for the GPU and its CPU twins: the
 * same bits on both, for any launch geometry. */
#ifndef AC_KERNELS_VERIFIED_H
#define AC_KERNELS_VERIFIED_H

#include "kernels/load/kernels.h"

/* Of sizes, for the host and for kernels. */
#ifdef __CUDACC__
#define AC_VERIFIED_SIZE static __host__ __device__ inline
#else
#define AC_VERIFIED_SIZE static inline
#endif

enum {
	AC_VERIFIED_VECTORS = 8,    /* of random weights */
	/* What is known of a line: its projections, its energy sum y^2, its
	 * loss sum (y - cast(y))^2, its reach sum |y|, where y = x 2^e. */
	AC_VERIFIED_ENERGY = AC_VERIFIED_VECTORS,
	AC_VERIFIED_LOSS,
	AC_VERIFIED_REACH,
	AC_VERIFIED_VALUES,
	/* Of each chain, and never brought together: the bits of what it has
	 * lost, whose square may be too small for FP32. */
	AC_VERIFIED_TRACE = AC_VERIFIED_VALUES,
	AC_VERIFIED_SUMS,
	AC_VERIFIED_SLICE = 512,    /* of K, at most, for one block of cast */
	AC_VERIFIED_SPANS = 8,      /* of K, at most, that mend adds apart */
	AC_VERIFIED_SIDE = 64       /* of a tile of mend */
};

/* What verify found in 32 lines. */
struct ac_verified_word {
	double   d2, e2;            /* of lines that are not flagged */
	float    line, loss;        /* worst d2 / e2, loss / energy of them */
	uint32_t flagged, wrong, judged; /* lines */
	uint32_t cancels;           /* lines of which little is left of product
	                             * + beta C */
};

/* A, or B: the program's FP32 matrices, and where their cast goes. */
struct ac_verified_operand {
	const float        *from;   /* the first matrix; NULL: see `array` */
	const float *const *array;  /* device memory: the matrices' addresses */
	int64_t lines;              /* m, or n */
	int64_t ld, stride;         /* as stored; stride: to the next matrix */
	/* 16-byte aligned, ld_to x (stored columns) x batch, where K is
	 * ac_verified_stored_k(); ld_to is a multiple of 8, not below the
	 * stored rows. NULL, of both: the product is of `from`, and only looked
	 * at. */
	uint16_t *to;
	int64_t ld_to;
	uint32_t lines_are_cols;    /* the stored columns are lines, not rows */
	uint32_t reserved;
	double  *sums;              /* [batch][8][k]: what it is projected on:
	                             * lines of the other operand */
	float   *parts;             /* [batch][slice][value][lines] */
	uint32_t *flags;            /* [batch][ac_verified_words(lines)]: a bit
	                             * for each line that mend recomputes */
	struct ac_verified_word *words; /* as many as words of flags */
};

/* What follows a product, as cublasLt has it. All zero: nothing. */
struct ac_verified_tail {
	uint32_t activation;        /* AC_ACTIVATION_* */
	uint32_t bias_is_row;       /* a number per column of D, not per row */
	const float *bias;          /* NULL: none */
	int64_t bias_stride;        /* elements to the next matrix's */
	/* DRELU and DGELU read it; RELU and GELU, if it is not NULL, write what
	 * their gradient reads: bits of y not below 0, or y. Entry (row, col)
	 * of matrix b is number b aux_stride + col aux_ld + row, in FP32 or
	 * in bits from the lowest on. A mask that is written is 4-byte aligned,
	 * ld and stride multiples of 32; no other bit of it changes. */
	void   *aux;
	int64_t aux_ld, aux_stride;
	float  *sums;               /* of each row of D; NULL: not asked for */
	int64_t sums_stride;
	/* Scratch of the sums: ac_verified_partials() doubles, and a word for
	 * each 128 of m of each matrix and one more, all zero. */
	double   *partials;
	uint32_t *arrived;
};

/* Where the product goes; and, if it is not what is asked for, D = activation(
 * product + beta C + bias), the product being `apart`. D may be C, and either
 * may be the product. */
struct ac_verified_output {
	float        *product;      /* alpha A B; NULL: see `array` */
	float *const *array;
	int64_t ld, stride;
	/* Both NULL: nothing of what follows is read. */
	float        *d;
	float *const *d_array;
	int64_t d_ld, d_stride;
	const float        *c;      /* not read with a beta of 0 */
	const float *const *c_array;
	int64_t c_ld, c_stride;     /* c_ld 0: one column for all */
	struct ac_cast_scalar   beta;
	struct ac_verified_tail tail;
};

/* What a lane lends to one call. All zero before the first call; what has to be
 * zero before the next is so after each verify. */
struct ac_verified_state {
	float    alpha, zero;       /* for the product, device pointer mode */
	uint32_t seed, arrived;
	uint32_t amax[2];           /* bits of the largest |x| of the probe */
	uint32_t bits[2];           /* AC_VERIFIED_* */
	int32_t  exponent[2];
	/* What verify leaves to mend. */
	uint32_t flagged[2];        /* lines by side */
	uint32_t all;               /* everything is recomputed */
	float    one;               /* for the product's further chunks */
};
enum {
	AC_VERIFIED_FRACTION = 1,   /* a number that is not whole */
	AC_VERIFIED_SOME = 2,       /* a number that is not zero */
	AC_VERIFIED_LOSSY = 4,      /* a number that the cast has changed */
	AC_VERIFIED_PROBED = 8,     /* FRACTION, as the probe saw it */
	AC_VERIFIED_LONG = 16,      /* a number of more bits than FP16 has, as
	                             * the probe saw it */
	AC_VERIFIED_PARTED = 32     /* a number that one part does not hold:
	                             * products of small parts are left out */
};

/* A running record: the worst of all calls, sums over all calls. All zero
 * before the first. */
struct ac_verified_record {
	uint64_t calls, lines;      /* lines: mended, of calls mended in part */
	uint64_t alls;              /* calls mended whole */
	uint64_t cancels;           /* calls with a line whose product + beta C
	                             * has less than a quarter of the product:
	                             * what C lost before counts */
	uint64_t shorts;            /* calls of which FP16 holds an operand,
	                             * as far as the probe saw */
	float    whole, line;       /* worst relative errors as measured */
	float    loss[2];           /* worst sqrt(loss / energy) of a line that
	                             * was not marked */
};

/* What sums that have cancelled lie in: ranges of addresses, the oldest written
 * over. Of one context; all zero at first. */
enum { AC_VERIFIED_CANCELLED = 1024 };
struct ac_verified_cancelled {
	uint64_t from[AC_VERIFIED_CANCELLED], to[AC_VERIFIED_CANCELLED];
	uint32_t count, reserved;   /* how many were ever noted */
};

/* One product. Passed by value to all kernels. */
struct ac_verified {
	struct ac_verified_operand operand[2];
	struct ac_verified_output  output;
	int64_t  m, n, k, batch;
	int64_t  slice;             /* ac_verified_slice() */
	int64_t  chunk;             /* of K, whose terms are side by side: a
	                             * multiple of 512. Of one term: not read */
	uint32_t format;            /* enum ac_format */
	float    tol;               /* of the whole; a line: twice that. 0: only
	                             * what the casts cannot hold is mended */
	struct ac_cast_scalar alpha;
	struct ac_verified_state *state;
	struct ac_verified_record *record;  /* device memory */
	struct ac_verified_record *post;    /* host memory that the device sees,
	                                     * a copy; NULL: none */
	/* Where a sum cancels, what its parts have lost is large next to it: C
	 * is noted. A call of whose sums no host hears in time, such as one in
	 * a graph, heeds that: once what it writes, or a part, is noted, it is
	 * recomputed whole, and so will be what it adds to. */
	struct ac_verified_cancelled *cancelled; /* NULL: nothing is noted */
	uint32_t heeds_cancelled, reserved;
	/* Scratch of mend, so that few lines keep a GPU busy; NULL: none.
	 * ac_verified_spread() floats, and a word for each 64 of m, rounded up,
	 * and of n, all zero. */
	float    *spread;
	uint32_t *arrived;
};

/* Scratch of a tail's sums, in doubles: a row's parts of each 64 columns, and
 * of each 64 that are mended. */
AC_VERIFIED_SIZE int64_t
ac_verified_partials(int64_t m, int64_t n, int64_t batch)
{
	return 2 * ((n + AC_VERIFIED_SIDE - 1) / AC_VERIFIED_SIDE) * m * batch;
}

/* How much of K a block of cast takes: a power of two from 64 on, so that there
 * are 256 blocks, where possible. It depends on sizes alone: so do the bits. */
AC_VERIFIED_SIZE int64_t
ac_verified_slice(int64_t m, int64_t n, int64_t k, int64_t batch)
{
	const uint64_t tiles = (uint64_t)((m + 127) / 128 + (n + 127) / 128)
	    * (uint64_t)batch;
	int64_t slice = AC_VERIFIED_SLICE;

	while (slice > 64
	    && tiles * (uint64_t)((k + slice - 1) / slice) < 256)
		slice /= 2;
	return slice;
}

/* How many words of 16 bits a number of a cast is, side by side along K. */
AC_VERIFIED_SIZE int64_t
ac_verified_terms(uint32_t format)
{
	return format == AC_FORMAT_FP16X2 ? 2
	    : format == AC_FORMAT_FP16X3 || format == AC_FORMAT_BF16X3 ? 3
	    : format == AC_FORMAT_BF16X6 ? 6 : 1;
}

/* K of a chunk of the product that begins at k `begin`: its terms lie one after
 * the other, small ones first, each with as much of K, padded with zeros to a
 * multiple of 8; chunks lie one after the other. */
AC_VERIFIED_SIZE int64_t
ac_verified_length(const struct ac_verified *v, int64_t begin)
{
	const int64_t left = (v->k + 7) / 8 * 8 - begin;

	return left < v->chunk ? left : v->chunk;
}

/* K of a cast as it is stored. */
AC_VERIFIED_SIZE int64_t
ac_verified_stored_k(int64_t k, uint32_t format)
{
	const int64_t terms = ac_verified_terms(format);

	return terms == 1 ? k : terms * ((k + 7) / 8 * 8);
}

AC_VERIFIED_SIZE int64_t
ac_verified_words(int64_t lines)
{
	return (lines + 31) / 32;
}

/* Lines of a block of verify. */
AC_VERIFIED_SIZE int64_t
ac_verified_block(int64_t others)
{
	return others < AC_VERIFIED_SLICE ? 64 : 32;
}

AC_VERIFIED_SIZE int64_t
ac_verified_slices(const struct ac_verified *v)
{
	return (v->k + v->slice - 1) / v->slice;
}

/* Blocks of each launch, of one dimension. Mend: any number, one wave. */
AC_VERIFIED_SIZE int64_t
ac_verified_probe_blocks(const struct ac_verified *v)
{
	return (v->k + 31) / 32 * 2 * v->batch;
}

AC_VERIFIED_SIZE int64_t
ac_verified_cast_blocks(const struct ac_verified *v)
{
	return ((v->m + 127) / 128 + (v->n + 127) / 128) * v->batch
	    * ac_verified_slices(v);
}

AC_VERIFIED_SIZE int64_t
ac_verified_verify_blocks(const struct ac_verified *v)
{
	const int64_t rows = ac_verified_block(v->n);
	const int64_t cols = ac_verified_block(v->m);

	return ((v->m + rows - 1) / rows + (v->n + cols - 1) / cols)
	    * v->batch;
}

AC_VERIFIED_SIZE int64_t
ac_verified_spread(int64_t m, int64_t n)
{
	return ((m + AC_VERIFIED_SIDE - 1) / AC_VERIFIED_SIDE
	    + (n + AC_VERIFIED_SIDE - 1) / AC_VERIFIED_SIDE)
	    * AC_VERIFIED_SIDE * AC_VERIFIED_SIDE * AC_VERIFIED_SPANS;
}

/* Queue. m, n and k are at least 1 and below 2^31, ld of A and B below 2^28,
 * the batch fits a grid. In this order, with the product between cast and
 * verify: C, with beta 0. A call of which one was not queued leaves the state
 * to be zeroed by the caller.
 *   Probe: 128 lines of each operand, in groups of 8 neighbours; 32 of a side
 * below 512; all if there are no more. amax of those, brought to [2^10, 2^11),
 * gives the exponents, which are lowered where alpha asks for
 * it (ac_cast_scale_from()).
 *   Cast: what is above 65504, inf or NaN is written as 0 and marks its line.
 *   Verify: a line is flagged if it was marked; if d, the difference as 8
 * random vectors show it, exceeds 2 tol of e; if its cast lost more than half
 * of tol; if it is not zero and nothing of it was seen; if it and the other
 * operand are whole numbers, or it is a power of two alone among zeros, and a
 * number that it needs was changed. Lines of fewer than 64 outputs are judged
 * together. All are, if those not flagged are off by more than 0.7 tol
 * together, or those of one matrix of a batch, if an eighth is wrong, or half
 * of a side is flagged; or if a sum there has cancelled, and it heeds that.
 * With alpha 0 nothing is. e^2 is the smaller of what the outputs that are
 * looked at have of the product and of the product + beta C, where that is
 * finite.
 *   Mend: flagged lines become alpha A B, each output added up in the same
 * order for one line and for all (verified_body.h). If apart, it writes all of
 * D, once, and what else the tail asks for; the product need not stay. */
enum ac_kernels_status ac_verified_probe(const struct ac_kernels *kernels,
    const struct ac_verified *v, ac_cu_stream stream);
enum ac_kernels_status ac_verified_cast(const struct ac_kernels *kernels,
    const struct ac_verified *v, ac_cu_stream stream);
enum ac_kernels_status ac_verified_verify(const struct ac_kernels *kernels,
    const struct ac_verified *v, ac_cu_stream stream);
enum ac_kernels_status ac_verified_mend(const struct ac_kernels *kernels,
    const struct ac_verified *v, ac_cu_stream stream);

#endif
