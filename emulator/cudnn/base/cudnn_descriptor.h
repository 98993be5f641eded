/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cudnn/base/cudnn_descriptor.h -- what the files of descriptors
 * share, and the convolution that legacy descriptors describe. */
#ifndef AC_EMULATOR_CUDNN_DESCRIPTOR_H
#define AC_EMULATOR_CUDNN_DESCRIPTOR_H

#include "emulator/cudnn/base/cudnn.h"

/* BAD_PARAM below `least`, NOT_SUPPORTED beyond `most`. */
cudnnStatus_t emu_dnn_check_dims(int dims, int least, int most);

/* The convolution that descriptors describe, without alpha and beta; its
 * arithmetic is that of the current device, which is up. BAD_PARAM if they do
 * not fit each other, NOT_SUPPORTED for types that cuDNN has no kernels for. */
cudnnStatus_t emu_conv_describe(enum emu_conv_operation operation,
    cudnnTensorDescriptor_t x, cudnnFilterDescriptor_t w,
    cudnnConvolutionDescriptor_t convolution, cudnnTensorDescriptor_t y,
    struct emu_conv *out);

/* Algorithms of an operation by cuDNN's numbers: whether the number exists;
 * whether it can do `conv`; the workspace that it then needs. */
int emu_conv_algorithms(enum emu_conv_operation operation);
bool emu_conv_algorithm_fits(const struct emu_conv *conv, int algorithm);
bool emu_conv_algorithm_is_deterministic(enum emu_conv_operation operation,
    int algorithm);
size_t emu_conv_workspace(const struct emu_conv *conv, int algorithm);

/* Check the memory and queue it; `workspace` is overwritten. `alpha` and `beta`
 * are in `conv`. */
struct emu_conv_call {
	struct emu_conv conv;
	const void *x, *w, *y;  /* the output is written */
	void   *workspace;
	size_t  workspace_bytes;
	int     algorithm;
};
cudnnStatus_t emu_conv_submit(cudnnHandle_t handle,
    const struct emu_conv_call *call);
/* Only the checks: BAD_PARAM, NOT_SUPPORTED, EXECUTION_FAILED. */
cudnnStatus_t emu_conv_check(const struct emu_conv_call *call);
/* On a worker: overwrite the workspace as a kernel does. */
void emu_conv_spoil_workspace(const struct emu_conv_call *call);

#endif
