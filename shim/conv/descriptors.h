/* SPDX-License-Identifier: Apache-2.0 */
/* shim/conv/descriptors.h -- one call of cuDNN's older convolution interface,
 * whichever function it came by, and what its descriptors say. */
#ifndef AC_SHIM_DESCRIPTORS_H
#define AC_SHIM_DESCRIPTORS_H

#include "shim/bind/provider.h"
#include "shim/conv/conv.h"

#include <cudnn.h>

#include <stdatomic.h>
#include <stddef.h>

/* Everything belongs to the program and is borrowed for the call. */
struct ac_conv_call {
	enum ac_entry        entry;
	const void          *caller;
	struct ac_provider  *provider;      /* NULL: pass it through */
	cudnnHandle_t        handle;
	enum ac_operation    operation;
	int                  algo;          /* cudnnConvolution*Algo_t */
	cudnnTensorDescriptor_t      x_desc, y_desc, z_desc, bias_desc;
	cudnnFilterDescriptor_t      w_desc;
	cudnnConvolutionDescriptor_t conv_desc;
	cudnnActivationDescriptor_t  activation;  /* NULL: not fused */
	const void *x, *w, *y;              /* one of them is the output */
	const void *z, *bias;
	const float *alpha, *beta;          /* host; beta NULL: 0. In a fused
	                                     * call alpha2 is beta, of z */
	void  *workspace;
	size_t bytes;                       /* of it */
};

/* Describe `call` by six of cuDNN's getters, nine if it is fused. False if a
 * descriptor cannot be read, or if no graph of ours has its kind. Data pointers
 * may all be NULL (a question about sizes). */
bool ac_conv_of_call(const struct ac_conv_call *call, struct ac_conv *conv_out,
    cudnnMathType_t *math_out);

/* Whether cuDNN would make the call as it is: it has the algorithm, and the
 * workspace is large enough for it. If not, cuDNN must say so itself: a program
 * that tries all algorithms must see which there are. *known is the workspace
 * of this algorithm in bytes; -1 until it is first asked for. */
bool ac_conv_is_good(const struct ac_conv_call *call, _Atomic int64_t *known);

/* Bytes from a tensor's first to past its last element, in FP32. */
uint64_t ac_conv_extent(const struct ac_conv_tensor *tensor);

/* Whether the output of `conv` shares memory with what it reads. */
bool ac_conv_overlaps(const struct ac_conv_data *data,
    const struct ac_conv *conv);

#endif
