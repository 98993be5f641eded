/* SPDX-License-Identifier: Apache-2.0 */
/* shim/cudnn_conv.c -- the wrappers of cuDNN's older convolution interface: pack
 * the arguments, hand them to conv_call.c, make the original call if that
 * recast nothing. The original is made with the program's own arguments, in
 * sight. */
#include "base/guard.h"
#include "shim/conv_call.h"
#include "shim/thunk.h"

#define FORWARD_PARAMS cudnnHandle_t handle, const void *alpha, \
	const cudnnTensorDescriptor_t x_desc, const void *x, \
	const cudnnFilterDescriptor_t w_desc, const void *w, \
	const cudnnConvolutionDescriptor_t conv_desc, \
	cudnnConvolutionFwdAlgo_t algo, void *workspace, size_t bytes, \
	const void *beta, const cudnnTensorDescriptor_t y_desc, void *y
#define FORWARD_ARGS handle, alpha, x_desc, x, w_desc, w, conv_desc, algo, \
	workspace, bytes, beta, y_desc, y
#define FORWARD_IS .operation = AC_OP_CONV_FPROP, .beta = beta

#define DATA_PARAMS cudnnHandle_t handle, const void *alpha, \
	const cudnnFilterDescriptor_t w_desc, const void *w, \
	const cudnnTensorDescriptor_t y_desc, const void *y, \
	const cudnnConvolutionDescriptor_t conv_desc, \
	cudnnConvolutionBwdDataAlgo_t algo, void *workspace, size_t bytes, \
	const void *beta, const cudnnTensorDescriptor_t x_desc, void *x
#define DATA_ARGS handle, alpha, w_desc, w, y_desc, y, conv_desc, algo, \
	workspace, bytes, beta, x_desc, x
#define DATA_IS .operation = AC_OP_CONV_DGRAD, .beta = beta

#define FILTER_PARAMS cudnnHandle_t handle, const void *alpha, \
	const cudnnTensorDescriptor_t x_desc, const void *x, \
	const cudnnTensorDescriptor_t y_desc, const void *y, \
	const cudnnConvolutionDescriptor_t conv_desc, \
	cudnnConvolutionBwdFilterAlgo_t algo, void *workspace, size_t bytes, \
	const void *beta, const cudnnFilterDescriptor_t w_desc, void *w
#define FILTER_ARGS handle, alpha, x_desc, x, y_desc, y, conv_desc, algo, \
	workspace, bytes, beta, w_desc, w
#define FILTER_IS .operation = AC_OP_CONV_WGRAD, .beta = beta

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
#define FUSED_IS .operation = AC_OP_CONV_FPROP, .beta = alpha2, \
	.z_desc = z_desc, .z = z, .bias_desc = bias_desc, .bias = bias, \
	.activation = activation

/* What must be there before anything of it is read. */
#define FORWARD_COMPLETE (alpha && beta)
#define DATA_COMPLETE FORWARD_COMPLETE
#define FILTER_COMPLETE FORWARD_COMPLETE
#define FUSED_COMPLETE (alpha && alpha2 && z && bias && activation)

#define CONVOLUTION(shape, symbol)                                            \
AC_WRAPPER_DOOR(symbol);                                                      \
AC_EXPORT cudnnStatus_t CUDNNWINAPI                                           \
symbol(shape##_PARAMS)                                                        \
{                                                                             \
	const void *const caller = __builtin_return_address(0);               \
	const uint32_t via = ac_thunk_take();                                 \
	const bool outermost = ac_guard_enter(); /* cuDNN calls itself */     \
	const struct ac_binding binding = ac_provider_bind(ENTRY_##symbol,    \
	    caller, via);                                                     \
	enum ac_outcome outcome = AC_OUTCOME_KEPT;                            \
	cudnnStatus_t status = CUDNN_STATUS_SUCCESS;                          \
	struct ac_kept kept;                                                  \
	if (outermost && handle && shape##_COMPLETE) {                        \
		const struct ac_conv_call call = {                            \
			.entry = ENTRY_##symbol, .caller = caller,            \
			.provider = binding.provider, .handle = handle,       \
			.x_desc = x_desc, .y_desc = y_desc, .w_desc = w_desc, \
			.conv_desc = conv_desc, .algo = (int)algo,            \
			.x = x, .w = w, .y = y,                               \
			.alpha = alpha, .workspace = workspace,               \
			.bytes = bytes, shape##_IS                            \
		};                                                            \
		outcome = ac_conv_recast(&call, &kept, &status);              \
	}                                                                     \
	if (outcome != AC_OUTCOME_DONE)                                       \
		status = ((__typeof__(&symbol))binding.next)(shape##_ARGS);   \
	if (outcome == AC_OUTCOME_TIMED)                                      \
		ac_kept_end(&kept);                                           \
	if (outermost)                                                        \
		ac_guard_leave();                                             \
	return status;                                                        \
}

CONVOLUTION(FORWARD, cudnnConvolutionForward)
CONVOLUTION(DATA, cudnnConvolutionBackwardData)
CONVOLUTION(FILTER, cudnnConvolutionBackwardFilter)
CONVOLUTION(FUSED, cudnnConvolutionBiasActivationForward)
