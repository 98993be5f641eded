/* SPDX-License-Identifier: Apache-2.0 */
/* shim/conv/conv.h -- a convolution, whichever of cuDNN's interfaces it came
 * by, as plain numbers: what a decision, a plan and a sample go by.
 *
 * Zero-filled before its fields are set, so that its bytes are a key. Nothing
 * in it is a pointer or belongs to anybody. */
#ifndef AC_SHIM_CONV_H
#define AC_SHIM_CONV_H

#include "policy/op.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	AC_CONV_DIMS = 5,       /* n, c and up to three of space */
	AC_CONV_SPACE = 3,
	AC_CONV_STEPS = 3       /* of an epilogue */
};

/* A tensor as a graph has it. Filters: k, c of one group, space. */
struct ac_conv_tensor {
	int64_t uid;
	int64_t dim[AC_CONV_DIMS], stride[AC_CONV_DIMS]; /* elements */
	int64_t alignment;      /* of its address, in bytes */
	int32_t dims;           /* 3 to 5; 0: there is no such tensor */
	int32_t type;           /* cudnnDataType_t */
	int32_t is_virtual;     /* between two operations, never in memory */
	int32_t reserved;
};

/* One pointwise operation behind the convolution: out = mode(alpha1 in +
 * alpha2 other), where `in` is what came before, and the alphas are among the
 * scalars. */
struct ac_conv_step {
	struct ac_conv_tensor other;    /* dims 0: it has one input */
	struct ac_conv_tensor out;
	double  lower_clip, upper_clip, slope; /* of RELU_FWD, if set */
	int32_t mode;                   /* cudnnPointwiseMode_t */
	int32_t type;                   /* it computes in: cudnnDataType_t */
	int32_t is_clipped;             /* bit 0: lower, 1: upper, 2: slope */
	int32_t reserved;
};

/* What a program may change from call to call. It does not tell one
 * convolution from the next, but cuDNN's plans are made for it. */
struct ac_conv_scalars {
	double alpha, beta;
	double alpha1[AC_CONV_STEPS], alpha2[AC_CONV_STEPS];
};

struct ac_conv {
	/* fprop: y = x * w. dgrad: x from y and w. wgrad: w from x and y. */
	struct ac_conv_tensor x, w, y;
	int64_t pad[AC_CONV_SPACE], post_pad[AC_CONV_SPACE];
	int64_t stride[AC_CONV_SPACE], dilation[AC_CONV_SPACE];
	int32_t operation;              /* enum ac_operation: AC_OP_CONV_* */
	int32_t space;                  /* spatial dimensions: 1 to 3 */
	int32_t mode;                   /* cudnnConvolutionMode_t */
	int32_t type;                   /* it computes in: cudnnDataType_t */
	int32_t scalar_type;            /* alpha and beta are set as */
	int32_t steps;
	int32_t adds;                   /* beta is not 0 */
	int32_t scales;                 /* an alpha is not 1 */
	int32_t has_more;               /* operations that no step is like */
	int32_t reserved;
	struct ac_conv_step step[AC_CONV_STEPS];
	struct ac_conv_scalars scalars; /* last */
};

/* The tensors of a convolution that are in memory, by role; a description that
 * is a key has these as its unique ids. */
enum { AC_CONV_X = 1, AC_CONV_W, AC_CONV_Y, AC_CONV_Z, AC_CONV_BIAS,
	AC_CONV_ROLES = AC_CONV_BIAS, AC_CONV_VIRTUAL = 16 };

/* The unique ids that a graph has them under: [role - 1]. */
struct ac_conv_uids {
	int64_t of[AC_CONV_ROLES];
};
extern const struct ac_conv_uids ac_conv_roles; /* the roles themselves */

/* What a call reads and writes: [role - 1]. Y: the last output of fprop. */
struct ac_conv_data {
	const void *of[AC_CONV_ROLES];
};

static inline bool
ac_conv_has_scalars(const struct ac_conv *conv,
    const struct ac_conv_scalars *scalars)
{
	bool same = conv->scalars.alpha == scalars->alpha
	    && conv->scalars.beta == scalars->beta;

	for (int32_t i = 0; i < conv->steps; i++)
		same &= conv->scalars.alpha1[i] == scalars->alpha1[i]
		    && conv->scalars.alpha2[i] == scalars->alpha2[i];
	return same;
}

/* What the convolution itself writes: y, x or w. */
static inline const struct ac_conv_tensor *
ac_conv_output(const struct ac_conv *conv)
{
	return conv->operation == AC_OP_CONV_FPROP ? &conv->y
	    : conv->operation == AC_OP_CONV_DGRAD ? &conv->x : &conv->w;
}

/* The same, behind all steps: what a call leaves in memory. */
static inline const struct ac_conv_tensor *
ac_conv_last_output(const struct ac_conv *conv)
{
	return conv->steps ? &conv->step[conv->steps - 1].out
	    : ac_conv_output(conv);
}

/* Whether `tensor` has y's extents, or those of a bias of it. Pure. */
bool ac_conv_is_like(const struct ac_conv_tensor *tensor,
    const struct ac_conv_tensor *y, bool is_bias);

/* `conv`, whose unique ids are roles, with `uids`. Tensors between two steps
 * are in no call's memory: theirs only have to be others. Pure. */
void ac_conv_rename(const struct ac_conv *conv, const struct ac_conv_uids *uids,
    struct ac_conv *conv_out);

/* Whether the rungs of ours could serve it at all: all tensors FP32, FP32
 * arithmetic, beta 0, no side too large. AC_REASON_NONE, _TYPE or
 * _UNSUPPORTED. Pure. */
enum ac_reason ac_conv_objection(const struct ac_conv *conv);

#endif
