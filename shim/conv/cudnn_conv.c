/* SPDX-License-Identifier: Apache-2.0 */
/* shim/conv/cudnn_conv.c -- the wrappers of cuDNN's older convolution
 * interface: pack the arguments, hand them to conv_call.c, make the original
 * call if that recast nothing. The original is made with the program's own
 * arguments, in sight. */
#include "shim/conv/conv_call.h"
#include "shim/bind/marker.h"
#include "shim/bind/wrapper.h"

/* Two tensors in, one out, each as NAME_desc and NAME. */
#define PLAIN_PARAMS(algo_t, first_t, first, second_t, second, out_t, out)    \
	cudnnHandle_t handle, const void *alpha,                              \
	const first_t first##_desc, const void *first,                        \
	const second_t second##_desc, const void *second,                     \
	const cudnnConvolutionDescriptor_t conv_desc, algo_t algo,            \
	void *workspace, size_t bytes, const void *beta,                      \
	const out_t out##_desc, void *out
#define PLAIN_ARGS(first, second, out) handle, alpha, first##_desc, first, \
	second##_desc, second, conv_desc, algo, workspace, bytes, beta, \
	out##_desc, out

#define FORWARD_PARAMS PLAIN_PARAMS(cudnnConvolutionFwdAlgo_t, \
	cudnnTensorDescriptor_t, x, cudnnFilterDescriptor_t, w, \
	cudnnTensorDescriptor_t, y)
#define FORWARD_ARGS PLAIN_ARGS(x, w, y)
#define FORWARD_OPERATION AC_OP_CONV_FPROP
#define FORWARD_IS .beta = beta

#define DATA_PARAMS PLAIN_PARAMS(cudnnConvolutionBwdDataAlgo_t, \
	cudnnFilterDescriptor_t, w, cudnnTensorDescriptor_t, y, \
	cudnnTensorDescriptor_t, x)
#define DATA_ARGS PLAIN_ARGS(w, y, x)
#define DATA_OPERATION AC_OP_CONV_DGRAD
#define DATA_IS .beta = beta

#define FILTER_PARAMS PLAIN_PARAMS(cudnnConvolutionBwdFilterAlgo_t, \
	cudnnTensorDescriptor_t, x, cudnnTensorDescriptor_t, y, \
	cudnnFilterDescriptor_t, w)
#define FILTER_ARGS PLAIN_ARGS(x, y, w)
#define FILTER_OPERATION AC_OP_CONV_WGRAD
#define FILTER_IS .beta = beta

#define FUSED_PARAMS cudnnHandle_t handle, const void *alpha, \
	const cudnnTensorDescriptor_t x_desc, const void *x, \
	const cudnnFilterDescriptor_t w_desc, const void *w, \
	const cudnnConvolutionDescriptor_t conv_desc, \
	cudnnConvolutionFwdAlgo_t algo, void *workspace, size_t bytes, \
	const void *alpha2, const cudnnTensorDescriptor_t z_desc, \
	const void *z, const cudnnTensorDescriptor_t bias_desc, \
	const void *bias, const cudnnActivationDescriptor_t activation, \
	const cudnnTensorDescriptor_t y_desc, void *y
#define FUSED_ARGS handle, alpha, x_desc, x, w_desc, w, conv_desc, algo, \
	workspace, bytes, alpha2, z_desc, z, bias_desc, bias, activation, \
	y_desc, y
#define FUSED_OPERATION AC_OP_CONV_FPROP
#define FUSED_IS .beta = alpha2, \
	.z_desc = z_desc, .z = z, .bias_desc = bias_desc, .bias = bias, \
	.activation = activation

/* What must be there before anything of it is read. */
#define FORWARD_COMPLETE (alpha && beta)
#define DATA_COMPLETE FORWARD_COMPLETE
#define FILTER_COMPLETE FORWARD_COMPLETE
#define FUSED_COMPLETE (alpha && alpha2 && z && bias && activation)

#define CONVOLUTION(shape, symbol)                                            \
AC_WRAPPER(cudnnStatus_t CUDNNWINAPI, symbol)(shape##_PARAMS)                 \
{                                                                             \
	const struct ac_wrapped call = AC_ENTER(symbol);                      \
	enum ac_outcome outcome = AC_OUTCOME_KEPT;                            \
	cudnnStatus_t status = CUDNN_STATUS_SUCCESS;                          \
	struct ac_kept kept;                                                  \
	const bool is_ours = call.outermost && handle && shape##_COMPLETE;    \
	if (is_ours && !ac_conv_is_kept(ENTRY_##symbol, call.caller,          \
	    call.binding.provider, handle, shape##_OPERATION)) {              \
		const struct ac_conv_call conv = {                            \
			.entry = ENTRY_##symbol, .caller = call.caller,       \
			.provider = call.binding.provider, .handle = handle,  \
			.operation = shape##_OPERATION,                       \
			.x_desc = x_desc, .y_desc = y_desc, .w_desc = w_desc, \
			.conv_desc = conv_desc, .algo = (int)algo,            \
			.x = x, .w = w, .y = y,                               \
			.alpha = alpha, .workspace = workspace,               \
			.bytes = bytes, shape##_IS                            \
		};                                                            \
		outcome = ac_conv_recast(&conv, &kept);                       \
	} else if (call.outermost && !is_ours) { /* cuDNN calls itself */     \
		ac_marker_count(ENTRY_##symbol);                              \
	}                                                                     \
	if (outcome != AC_OUTCOME_DONE)                                       \
		status = ORIGINAL(call, symbol)(shape##_ARGS);                \
	if (outcome == AC_OUTCOME_TIMED)                                      \
		ac_kept_end(&kept);                                           \
	ac_wrapper_leave(&call);                                              \
	return status;                                                        \
}

CONVOLUTION(FORWARD, cudnnConvolutionForward)
CONVOLUTION(DATA, cudnnConvolutionBackwardData)
CONVOLUTION(FILTER, cudnnConvolutionBackwardFilter)
CONVOLUTION(FUSED, cudnnConvolutionBiasActivationForward)
