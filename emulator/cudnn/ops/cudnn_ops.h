/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cudnn/ops/cudnn_ops.h -- what the legacy operations of libcudnn
 * share: a task over a few tensors, each walked in row-major order of its
 * dimensions. For cudnn_activation.c, cudnn_conv_bias.c, cudnn_dropout.c,
 * cudnn_norm.c, cudnn_pool.c, cudnn_reduce.c, cudnn_softmax.c,
 * cudnn_tensor_op.c.
 *
 * Arithmetic is in double precision, in a fixed order, and rounded when it is
 * stored: deterministic, and at least as exact as the device's. */
#ifndef AC_EMULATOR_CUDNN_OPS_H
#define AC_EMULATOR_CUDNN_OPS_H

#include "emulator/cudnn/base/cudnn.h"

/* A tensor in device memory. */
struct emu_view {
	const char *name;   /* name of the argument; NULL: there is none */
	void       *data;
	struct emu_tensor tensor;
	bool        packed; /* dense and row-major: faster */
};

enum { EMU_OP_VIEWS = 9 };

/* A task. Operations with settings of their own embed it as first member. */
struct emu_op {
	void   (*run)(struct emu_op *op);  /* on the worker */
	double alpha, beta;                /* for blends; beta 0: not read */
	double operations;                 /* for the modelled clock */
	struct emu_touched touched;
	struct emu_view view[EMU_OP_VIEWS];
};

/* Set view `i`; emu_op_submit() refuses a NULL descriptor or pointer. */
void emu_op_view(struct emu_op *op, int i, const char *name,
    const struct cudnnTensorStruct *descriptor, const void *data);
/* Read alpha and beta (host memory); `type` says whether they are double.
 * False if one is NULL. */
bool emu_op_scalars(struct emu_op *op, const void *alpha, const void *beta,
    cudnnDataType_t type);
/* Same dimensions and type. */
bool emu_op_alike(const struct emu_op *op, int i, int j);
/* The same buffer, but different places for elements: an operation that runs
 * element by element cannot work in place. */
bool emu_op_collides(const struct emu_op *op, int i, int j);
/* Check the views and queue the `bytes` that start at `op`. BAD_PARAM for NULL
 * or unset views, NOT_SUPPORTED for types that are not floating point,
 * EXECUTION_FAILED for memory out of reach. */
cudnnStatus_t emu_op_submit(cudnnHandle_t handle, const struct emu_op *op,
    size_t bytes);

/* ---- on the worker: element `n` of view `i` ---------------------------- */

double emu_op_load(struct emu_op *op, int i, int64_t n);
void emu_op_store(struct emu_op *op, int i, int64_t n, double value);
/* Store alpha * value + beta * the old value. */
void emu_op_blend(struct emu_op *op, int i, int64_t n, double value);
/* The element of view `small` for element `n` of view `large`; dimensions of 1
 * count for all. */
int64_t emu_op_broadcast(const struct emu_op *op, int small, int large,
    int64_t n);

#endif
