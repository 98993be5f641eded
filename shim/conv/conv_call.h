/* SPDX-License-Identifier: Apache-2.0 */
/* shim/conv/conv_call.h -- one call of cuDNN's older convolution interface,
 * whichever function it came by. Everything is the program's and borrowed for
 * the length of the call. */
#ifndef AC_SHIM_CONV_CALL_H
#define AC_SHIM_CONV_CALL_H

#include "shim/conv/conv_site.h"
#include "shim/trial/conduct.h"

#include <cudnn.h>

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

/* Whether cuDNN would make the call as it is: it has the algorithm, and is
 * given the workspace that takes. If not, cuDNN is to say so: a program that
 * tries them all must see which there are. *known is the workspace of this
 * algorithm in bytes, -1 until it is asked for. */
bool ac_conv_is_good(const struct ac_conv_call *call, _Atomic int64_t *known);

/* Describe `call`; false if its descriptors cannot be read, or are of a kind
 * that no graph of ours has: the call is the program's affair. Asks cuDNN's
 * getters only. Data pointers may all be NULL (a question about sizes). */
bool ac_conv_of_call(const struct ac_conv_call *call, struct ac_conv *conv_out,
    cudnnMathType_t *math_out);

/* Bytes from a tensor's first to past its last element, in FP32. */
uint64_t ac_conv_extent(const struct ac_conv_tensor *tensor);

/* Whether the output of `call`, described by `conv`, shares memory with what it
 * reads. */
bool ac_conv_overlaps(const struct ac_conv_call *call,
    const struct ac_conv *conv);

/* Try to run it as its site's decision says. DONE: *status_out is the answer.
 * Else the output is untouched and the original is to be made, with
 * ac_kept_end() after it if it is TIMED. Counts the call. */
enum ac_outcome ac_conv_recast(const struct ac_conv_call *call,
    struct ac_kept *kept_out, cudnnStatus_t *status_out);

/* Describe `call` for its site; false: it is the program's affair. */
bool ac_conv_query_of(const struct ac_conv_call *call,
    struct ac_conv_query *query_out);

/* How much workspace a call like `call`, which has no data, is best given: that
 * of the largest plan its site may run, where the policy advertises it; else
 * 0. Counts nothing. */
size_t ac_conv_advertise(const struct ac_conv_call *call);

#endif
