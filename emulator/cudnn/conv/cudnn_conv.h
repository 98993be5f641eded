/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cudnn/conv/cudnn_conv.h -- a convolution of dense copies, as
 * cudnn_conv_run.c passes it on to be computed: a cross-correlation, row-major,
 * with one type of number. */
#ifndef AC_EMULATOR_CUDNN_CONV_H
#define AC_EMULATOR_CUDNN_CONV_H

#include "emulator/cudnn/base/cudnn.h"

/* x: n, groups * c, in. w: groups * k, c, filter. y: n, groups * k, out. The
 * unused spatial dimensions come first and are 1. */
struct emu_dense {
	enum emu_conv_operation operation;
	int64_t n, groups, c, k;
	int64_t in[EMU_CONV_SPACE], filter[EMU_CONV_SPACE],
		out[EMU_CONV_SPACE];
	int64_t pad[EMU_CONV_SPACE], post_pad[EMU_CONV_SPACE];
	int64_t stride[EMU_CONV_SPACE], dilation[EMU_CONV_SPACE];
	int     space;
};

/* By oneDNN, in FP32; writes the output. False if it cannot: nothing
 * happened. */
bool emu_conv_onednn(const struct emu_dense *dense, float *x, float *w,
    float *y);
/* Before work is queued, on the program's thread: makes now what oneDNN
 * destroys at exit, after the workers have ended. */
void emu_conv_onednn_prepare(void);
/* By a plain loop, in FP64; adds to the output. */
void emu_conv_plain(const struct emu_dense *dense, double *x, double *w,
    double *y);

#endif
