/* SPDX-License-Identifier: Apache-2.0 */
/* shim/conv/cudnn_size.c -- wrappers of cuDNN's questions how much workspace a
 * convolution needs: under conv-workspace=advertise, enough for the recast one,
 * too (conv_size.c). What a program is told is never less than cuDNN said. */
#include "shim/conv/conv_call.h"
#include "shim/bind/wrapper.h"

#define QUESTION(symbol, of, kind, algo_t, first_t, first, second_t, second,  \
    third_t, third)                                                           \
AC_WRAPPER(cudnnStatus_t CUDNNWINAPI, symbol)(cudnnHandle_t handle,           \
    const first_t first, const second_t second,                               \
    const cudnnConvolutionDescriptor_t conv_desc, const third_t third,        \
    algo_t algo, size_t *bytes)                                               \
{                                                                             \
	const struct ac_wrapped call = AC_ENTER(symbol);                      \
	const cudnnStatus_t status = ORIGINAL(call, symbol)(handle, first,    \
	    second, conv_desc, third, algo, bytes);                           \
	if (call.outermost && handle && status == CUDNN_STATUS_SUCCESS) {     \
		const struct ac_conv_call conv = {                            \
			.entry = ENTRY_##of, .caller = call.caller,           \
			.provider = call.binding.provider, .handle = handle,  \
			.operation = kind, .x_desc = x_desc,                  \
			.y_desc = y_desc, .w_desc = w_desc,                   \
			.conv_desc = conv_desc                                \
		};                                                            \
		const size_t ours = ac_conv_advertise(&conv);                 \
		if (ours > *bytes)                                            \
			*bytes = ours;                                        \
	}                                                                     \
	ac_wrapper_leave(&call);                                              \
	return status;                                                        \
}

QUESTION(cudnnGetConvolutionForwardWorkspaceSize, cudnnConvolutionForward,
    AC_OP_CONV_FPROP, cudnnConvolutionFwdAlgo_t,
    cudnnTensorDescriptor_t, x_desc, cudnnFilterDescriptor_t, w_desc,
    cudnnTensorDescriptor_t, y_desc)
QUESTION(cudnnGetConvolutionBackwardDataWorkspaceSize,
    cudnnConvolutionBackwardData, AC_OP_CONV_DGRAD,
    cudnnConvolutionBwdDataAlgo_t, cudnnFilterDescriptor_t, w_desc,
    cudnnTensorDescriptor_t, y_desc, cudnnTensorDescriptor_t, x_desc)
QUESTION(cudnnGetConvolutionBackwardFilterWorkspaceSize,
    cudnnConvolutionBackwardFilter, AC_OP_CONV_WGRAD,
    cudnnConvolutionBwdFilterAlgo_t, cudnnTensorDescriptor_t, x_desc,
    cudnnTensorDescriptor_t, y_desc, cudnnFilterDescriptor_t, w_desc)
