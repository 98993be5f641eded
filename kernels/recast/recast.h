/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/recast/recast.h -- the device side of one recast product: cast,
 * settle, finish, and what they learn on the way.
 *
 * Three launches around one product, all on the caller's stream, none waits,
 * none allocates (doc/rules.md R2, R3, R4; doc/accuracy.md A3 and A4):
 *
 *   ac_recast_cast()    cast both operands in one pass with the exponents of
 *                       the last call, gather the statistics
 *   ac_recast_settle()  cast again if this call's exponents are others, else
 *                       return; keep the 16 x 16 outputs that a sample needs
 *   (the product)       reads &state->alpha and &state->beta
 *   ac_recast_finish()  repair what has an inf or NaN factor, else return; take
 *                       the sample; write through to arrays of matrices; post
 *
 * Matrices are column-major as cuBLAS has them. recast_body.h holds the
 * arithmetic once for the GPU and its CPU twins: the same bits on both, for
 * any launch geometry. */
#ifndef AC_KERNELS_RECAST_H
#define AC_KERNELS_RECAST_H

#include "kernels/load/kernels.h"

enum {
	AC_SAMPLE_SIDE = 16,        /* rows and columns of a sample */
	AC_TILE_SIDE = 32,          /* rows and columns of a statistics tile */
	AC_BEFORE = 2 * AC_SAMPLE_SIDE * AC_SAMPLE_SIDE,
	AC_SAMPLE_LINE = 128,       /* outputs of a line that is seen again */
	AC_SAMPLE_MATRICES = 4096,  /* of a batch that are looked at, at most */
	AC_SAMPLE_DEEP = 256,       /* outputs of one that looks bad */
	AC_PROBES_EACH = 64,        /* of each for its estimate */
	AC_KEPT_LINES = 2 * AC_SAMPLE_SIDE * AC_SAMPLE_LINE,
	AC_RANGE_BINS = 256         /* of a range histogram: FP32 exponents */
};

/* A, or B: `batch` FP32 matrices of the program, and where their cast goes.
 * A line is a row of op(A), or a column of op(B): what an inf spoils. Line i
 * of matrix b is number b * (lines per matrix) + i; it has two bits in
 * `marks`, at 2 * (number % 16) of word number / 16: holds inf or NaN; holds
 * NaN. All zero before ac_recast_cast() and again after ac_recast_finish(). */
struct ac_recast_operand {
	const float        *from;   /* the first matrix; NULL: see `array` */
	const float *const *array;  /* device memory: the matrices' addresses */
	int64_t rows, cols, ld;     /* as stored; ld >= rows */
	int64_t stride;             /* elements to the next; 0: the same one */
	int64_t batch;              /* matrices to read: 1 if stride is 0 */
	uint16_t *to;               /* 16-byte aligned, ld_to * cols_to * batch;
	                             * NULL: nothing is cast (library tactic) */
	int64_t ld_to, cols_to;     /* >= rows, multiple of 8; >= cols: what is
	                             * past the matrix is written as zero */
	uint32_t *marks;            /* NULL with `to` */
	uint32_t lines_are_cols;    /* the stored columns are lines, not rows */
	uint32_t reserved;
};

/* C, the program's, and the product where that is not C itself. */
struct ac_recast_output {
	float        *c;            /* the first matrix; NULL: see `array` */
	float *const *array;        /* device memory: the matrices' addresses */
	int64_t ld, stride;
	float  *result;             /* alpha op(A) op(B), packed, m x n x batch,
	                             * leading dimension m; NULL: it is in C */
	uint32_t write_through;     /* finish: C = result + beta C */
	uint32_t reserved;
};

/* AC_ACTIVATION_* and what it does: kernels.h. */
struct ac_recast_epilogue {
	uint32_t activation;        /* AC_ACTIVATION_* */
	uint32_t is_set;            /* D is not x itself, or is not all that
	                             * the library writes */
	const float *bias;          /* one per row of C; NULL: none */
	int64_t bias_stride;        /* elements to the next matrix's */
	/* What DRELU and DGELU read: a mask, or FP32. Entry (row, col) of
	 * matrix b is number b aux_stride + col aux_ld + row; that of a mask
	 * is bit number % 8 of byte number / 8. */
	const void *aux;
	int64_t aux_ld, aux_stride;
};

/* The matrix that beta scales, where it is not what the output held. */
struct ac_recast_added {
	const float *from;          /* NULL: it is what the output held */
	int64_t ld, stride;         /* ld 0: one column for all */
};

/* What a lane lends to one call. All zero before the first use, and after each
 * ac_recast_finish() but for alpha, beta, exponent, measured, probe, sample. */
struct ac_recast_state {
	float    alpha, beta, zero; /* for the product, device pointer mode;
	                             * `zero` is 0, beta of a product to
	                             * `result` */
	uint32_t arrived;           /* blocks that have finished */
	uint32_t amax[2];           /* bits of the largest finite |x| */
	uint32_t nonfinite;         /* bit i: operand i held an inf or a NaN */
	uint32_t tile[2];           /* bits of the worst tile's R / S */
	uint32_t todo;              /* AC_TODO_* */
	int32_t  exponent[2];       /* operand i was multiplied by 2^this */
	/* Fixed point: [0] counts parts of 2^-32, [1] whole ones. Integer sums
	 * do not depend on the order of the blocks. */
	uint64_t energy[2][2], loss[2][2];
	/* Of the matrices of a batch, one by one: bits of the worst error, of
	 * the worst `exact`; whether anything was added. */
	uint32_t matrix_error, matrix_exact, matrix_seen;
	uint32_t probe;             /* AC_PROBE_* */
	int32_t  measured[2];       /* the statistics of operand i are those of
	                             * its elements times 2^this */
	uint32_t wanting;           /* this call was found wanting */
	/* Of the matrices of a batch: bits of the worst estimate,
	 * AC_PROBED_*. */
	uint32_t matrix_estimate, matrix_probed;
	uint32_t reserved[7];
	/* Scratch of the sample: ac_recast_looks of recast_look.h. */
	float    sample[3][AC_SAMPLE_SIDE * AC_SAMPLE_SIDE];
};
enum {
	AC_TODO_SETTLE  = 1,
	AC_TODO_SAMPLE  = 2,
	AC_TODO_REPAIR  = 4,
	AC_TODO_THROUGH = 8         /* inf and NaN go through the product */
};
/* What finish looks at 256 outputs for, or at 64 of each matrix of a batch:
 * nothing; whether they are less than was added up; and how far off they may
 * be. */
enum { AC_PROBE_NONE, AC_PROBE_SHRUNK, AC_PROBE_ESTIMATE };
enum { AC_PROBED_SUSPECT = 1, AC_PROBED_SHRUNK = 2 };

/* What a site remembers on one stream. All zero before the first use; touched
 * only by kernels of that stream. */
struct ac_recast_history {
	int32_t  exponent[2];       /* 14 - floor(log2(amax)) of the last call
	                             * whose amax was not 0 */
	uint32_t known;             /* bit i: exponent[i] was set */
	int32_t  sampled_exponent[2]; /* exponent[] at the last sample */
	uint32_t sampled_known;
	/* Since the last post, worst of all calls: */
	uint32_t verdict;           /* AC_VERDICT_* */
	float    rho, tile_rho, error, line_error;
	uint32_t samples, settled;  /* samples taken to which alpha A B added
	                             * something; casts done twice */
	uint32_t judged, suspects;  /* calls whose error was estimated, or which
	                             * were sampled for want of an estimate;
	                             * those whose estimate asked for one */
	float    estimate, exact;   /* worst estimate; worst relative error of
	                             * an output that FP32 has exactly */
	uint32_t shrunk;            /* calls with beta, whose result is under a
	                             * quarter of what they added */
	uint64_t bad;               /* bit i: of pair i one was found wanting */
	float    energy[2];         /* of the last call's operands: sum x^2 */
	uint32_t epoch;             /* of the last call */
	uint32_t reserved[9];
};

/* What the host reads, in memory of its own that the device sees. Written
 * whole, `number` last (a system-wide release). */
struct ac_recast_post {
	uint64_t number;            /* of the call that posted */
	uint32_t verdict;           /* bits AC_VERDICT_*, since the last post */
	uint32_t samples, settled;  /* since the last post */
	float    rho;               /* worst sqrt(rho_A^2 + rho_B^2) */
	float    tile_rho;          /* worst sqrt(R/S) of a 32 x 32 tile */
	float    error;             /* worst sample, relative Frobenius norm */
	float    line_error;        /* worst row or column of a sample */
	float    estimate, exact;   /* as in the history, since the last post */
	uint32_t judged, suspects, shrunk;
	uint64_t bad;
	float    energy[2];
	uint32_t reserved[6];
};

/* One product. Passed by value to all three kernels. */
struct ac_recast {
	struct ac_recast_operand  operand[2];
	struct ac_recast_output   output;
	int64_t  m, n, k, batch;    /* k of the program, not padded */
	uint32_t trans[2];          /* 1: op(X) transposes what is stored */
	uint32_t format;            /* enum ac_format */
	uint32_t scaled;            /* 0: plain casts, exponents 0 */
	struct ac_cast_scalar     alpha, beta;
	struct ac_recast_state   *state;
	struct ac_recast_history *history;
	/* A sample is taken if `sampled`, or if an amax moved by more than two
	 * binades since the last one. Which 16 rows and columns of which matrix
	 * follows from `seed` alone. */
	uint64_t seed;
	float   *before;            /* AC_BEFORE floats on the device: those of
	                             * the sample, then those of the estimate;
	                             * NULL: no sample is ever taken */
	float   *kept;              /* ac_recast_kept(batch) floats on the
	                             * device: C where a sample may have to look
	                             * again; NULL: not unless beta is 0 */
	struct ac_recast_post    *post; /* device address; NULL: do not post */
	uint64_t number;            /* for the post */
	uint32_t sampled;
	uint32_t judge;             /* AC_JUDGE_* */
	/* What a call may lose, and which of its site's operand pairs it has:
	 * for the history's `bad`. tol 0: no call is estimated nor found
	 * wanting. */
	float    tol;
	uint32_t pair;              /* below 64 */
	/* Another one than the last call's: what the history knows of calls so
	 * far is forgotten, as if it had been posted. */
	uint32_t epoch, reserved;
	/* Scratch of the estimate; NULL where nothing is cast. */
	float   *bands[2];          /* 8 per tile of the operand's cast; 16-byte
	                             * aligned */
	double  *parts;             /* two per 32 of K, per matrix */
	struct ac_recast_epilogue epilogue;
	struct ac_recast_added    added;
};
enum {
	AC_JUDGE_EXACT = 1,         /* what FP32 has exactly has to be so */
	AC_JUDGE_POST_IF_BAD = 2    /* post only what was found wanting */
};

/* How many floats `kept` has. */
static inline int64_t
ac_recast_kept(int64_t batch)
{
	const int64_t matrices = batch < AC_SAMPLE_MATRICES ? batch
	    : AC_SAMPLE_MATRICES;

	return AC_KEPT_LINES + (batch > 1
	    ? matrices * (AC_SAMPLE_DEEP + AC_PROBES_EACH) : 0);
}

/* Queue, unless nothing is cast (`to` NULL): the statistics of both operands
 * and, where history has exponents, the casts with those. A non-finite input is
 * written as 0 and marked. The exponents that a call wants bring its amax into
 * [2^14, 2^15); both are lowered, half each, until alpha' = alpha 2^-(eA + eB)
 * is normal, and |alpha'| is clamped to FLT_MAX; both set AC_VERDICT_CLAMPED.
 * Sets state->todo SETTLE unless the casts were made with the exponents that
 * this call wants, and those of the next call. So history costs time, never
 * bits: what a call makes is what a cast in two passes gives. Unscaled casts
 * keep exponents too, for their statistics only. The exponent of zeros is 0,
 * which history does not take over.
 *   S = sum s^2, R = sum (s - cast(s))^2, s = x 2^e, per operand in fixed
 * point, per 32 x 32 tile in FP32 in a fixed order; rho = sqrt(R / S).
 * An operand of zeros has rho 0. At most 6 bytes per element of the casts move,
 * plus 64 per tile and 1 KiB. With a `tol` the call is found wanting if rho
 * exceeds half of it, tile_rho all of it (half in a batch), or a finite input
 * overflowed; and `bands`, if there are any, get each tile's S and R by 8 of K.
 * What has to be cast twice, or was clamped, is then sampled. */
enum ac_kernels_status ac_recast_cast(const struct ac_kernels *kernels,
    const struct ac_recast *recast, ac_cu_stream stream);

/* Queue: cast with the exponents of this call's own amax (landing in [2^14,
 * 2^15)) if todo has SETTLE; if a sample may be due and beta is not 0, read C
 * into `before`, and into `kept` if one is, where it may look. With `to` NULL
 * only the latter. If the casts stay, the bands become `parts`: 32 bytes per
 * tile are read. C is what beta scales: `added`, if that is set.
 *   With an epilogue, an alpha that is not 0 and an inf or a NaN in an operand,
 * both are cast with inf as inf, NaN as NaN, and with what is not 0 as not 0
 * (the least subnormal of its sign, if need be): outputs of the product are of
 * FP32's class then, and so is all that the library makes of them. The sums of
 * such a call count only if the first pass had the right exponents. */
enum ac_kernels_status ac_recast_settle(const struct ac_kernels *kernels,
    const struct ac_recast *recast, ac_cu_stream stream);

/* Queue: for every output whose row of op(A) or column of op(B) is marked, add
 * alpha times the products with a non-finite factor, read from the FP32
 * originals (a line with a NaN fills its outputs with NaN); none with alpha 0.
 * If `write_through`, C = result + beta C (beta 0: C is not read). If a sample
 * is due and both operands are finite, recompute it in FP64 from the originals
 * and `before` and compare (a reference that is inf or NaN in FP32 wants its
 * like): 16 x 16 outputs of one matrix, 2 x 2 of each of up to
 * AC_SAMPLE_MATRICES of a batch, more where those look bad (recast_sample.h).
 * If the call's error can be estimated (recast_estimate.h: `tol`, bands, both
 * operands finite and not 0), do so; beyond 0.7 `tol` it is sampled as if that
 * had been due, of a batch the matrices that are. If `post`, hand over the
 * history and clear it. Without write_through and with `result`, C is left
 * alone, nothing is repaired, and the sample is of result + beta `before`.
 *   With an epilogue nothing is repaired, and write_through must not be set. C
 * is D, and the sample compares it with what the epilogue makes of the product
 * in FP64, or what it makes of result + beta `before` (recast_look.h). An
 * estimate is of outputs from which x can be told; a call, or a matrix, with
 * fewer than 16 of them is sampled (recast_estimate.h). */
enum ac_kernels_status ac_recast_finish(const struct ac_kernels *kernels,
    const struct ac_recast *recast, ac_cu_stream stream);

/* Queue: C = result + beta C, for guard=strict, once the verdict was good: it
 * repairs nothing, so NONFINITE is not good. */
enum ac_kernels_status ac_recast_write(const struct ac_kernels *kernels,
    const struct ac_recast *recast, ac_cu_stream stream);

/* Queue: add the operands' exponents (bits 30..23 of every element of every
 * matrix that is read) to counts[2][AC_RANGE_BINS] on the device, then copy
 * all of that to `copy` (device address of host memory). */
enum ac_kernels_status ac_recast_ranges(const struct ac_kernels *kernels,
    const struct ac_recast *recast, uint64_t *counts, uint64_t *copy,
    ac_cu_stream stream);

#endif
