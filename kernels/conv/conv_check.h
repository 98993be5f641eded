/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/conv/conv_check.h -- the guard's sample of a convolution that a
 * library computed: one launch, after it, on the caller's stream. Waits for
 * nothing, allocates nothing (doc/rules.md R4).
 *
 * Where on the tensors the sample is, conv_job.c works out on the host;
 * conv_body.h holds the arithmetic once for the GPU and its CPU twin: the same
 * bits on both, for any launch geometry. */
#ifndef AC_KERNELS_CONV_CHECK_H
#define AC_KERNELS_CONV_CHECK_H

#include "kernels/load/kernels.h"

enum ac_conv_operation { AC_CONV_FPROP, AC_CONV_DGRAD, AC_CONV_WGRAD };

enum {
	AC_CONV_SIDE = 16,      /* most positions and channels of a sample */
	/* Of struct ac_conv_check.scratch, its counters included. */
	AC_CONV_CHECK_DOUBLES = 2 + 3 * AC_CONV_SIDE * AC_CONV_SIDE / 2
};

/* FP32 elements by n, c, then up to three of space. Not used: dim 1, stride 0.
 * Strides are in elements, not negative, in any order. What is below
 * 2^31 for cuDNN is so here: dims, and coordinates with padding. */
struct ac_conv_view {
	const float *data;
	int64_t dim[5], stride[5];
};

/* What the host reads, in memory of its own that the device sees. Written
 * whole, `number` last (a system-wide release). */
struct ac_conv_post {
	uint64_t number;            /* of the call that posted */
	uint32_t verdict;           /* AC_VERDICT_* */
	uint32_t samples;           /* 1, or 0: nothing was added */
	float    error;             /* of the sample, relative Frobenius norm */
	float    line_error;        /* worst position or channel of it */
	float    exact;             /* worst relative error of an output that
	                             * FP32 has exactly */
	float    energy[2];         /* of some elements of A, of B: sum x^2 */
	uint32_t reserved;
};
enum {
	AC_VERDICT_NONFINITE = 1,
	AC_VERDICT_LARGE     = 2
};

struct ac_conv_check {
	/* w by k, c per group, space. The output, which is checked, is the y of
	 * fprop, the x of dgrad, the w of wgrad. */
	struct ac_conv_view x, w, y;
	uint32_t operation;         /* enum ac_conv_operation */
	uint32_t flip;              /* CUDNN_CONVOLUTION: w is mirrored */
	int32_t  pad[3], stride[3], dilation[3];
	uint32_t groups;
	float    alpha;             /* of the convolution */
	float    alpha2;
	/* output = act(alpha conv + alpha2 z + bias). z has the output's shape
	 * and is as it was when the convolution ran: a copy where the output
	 * was blended in place. Its dims are not looked at, so that a stride
	 * of 0 spreads it. */
	struct ac_conv_view z;      /* data NULL: none */
	const float *bias;          /* per output channel; NULL: none */
	uint32_t relu;
	uint64_t seed;              /* alone draws what is sampled */
	double  *scratch;           /* AC_CONV_CHECK_DOUBLES on the device. All
	                             * zero before the first use; a run leaves
	                             * it ready for the next on its stream */
	struct ac_conv_post *post;  /* device address */
	uint64_t number;            /* for the post */
};

/* Queue: recompute 16 positions x 16 channels of the output (all, where there
 * are fewer) in FP64 from the FP32 inputs and compare; look through the whole
 * output; post. A position is (n, space), and (c, tap) for wgrad, whose
 * channels are k: one of each sixteenth of them.
 *   Posted: samples 1, or 0 where the convolution added nothing to the sampled
 * outputs; error, line_error and exact of the sample (conv_look.h); energy of
 * 32 elements of each operand, the same ones whatever the seed; of the verdict
 *   NONFINITE  a recomputed output is inf or NaN in FP32;
 *   LARGE      an output anywhere is above 32752, half of what FP16 holds; or
 *              inf or NaN, without NONFINITE. (Non-finite inputs that the
 *              sample does not meet so look large: that costs time only.)
 * Reads the output once, and the factors of what is sampled; with an alpha of
 * 0 none of these. */
enum ac_kernels_status ac_conv_check(const struct ac_kernels *kernels,
    const struct ac_conv_check *check, ac_cu_stream stream);

#endif
