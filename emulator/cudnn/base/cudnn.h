/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cudnn/base/cudnn.h -- what the files of libcudnn share: the handle,
 * the opening of a call, descriptors, access to tensors, and the convolution
 * that both interfaces of cuDNN use. The device belongs to libcuda.so.1. */
#ifndef AC_EMULATOR_CUDNN_H
#define AC_EMULATOR_CUDNN_H

#pragma GCC visibility push(default)
#include <cudnn.h>
#pragma GCC visibility pop
#ifdef EMU_CUDNN_8
#include "emulator/cudnn/base/cudnn_8.h"
#endif
#include "emulator/driver/emu.h"
#include "emulator/cublas/cublas_touch.h"
#include "emulator/shared/handle.h"

/* ---- handles and calls (cudnn_call.c) ---------------------------------- */

enum { EMU_DNN_MARK = 0x444e4e30 + CUDNN_MAJOR };

/* What cudnnHandle_t points to. */
struct cudnnContext {
	struct emu_handle base; /* its mark: EMU_DNN_MARK */
};

extern const struct emu_family emu_dnn;

/* CUDNN_STATUS_SUCCESS if it is a handle, and the current device is good. */
cudnnStatus_t emu_dnn_check(cudnnHandle_t handle);
/* The cuDNN status for an emu_status. */
cudnnStatus_t emu_dnn_status(int status);

/* The opening of calls that take a handle; others: EMU_ENTER(&emu_dnn). */
#define DNN_ENTER(handle)                                                 \
	EMU_ENTER(&emu_dnn);                                              \
	do {                                                              \
		const cudnnStatus_t emu_checked = emu_dnn_check(handle);  \
		if (emu_checked)                                          \
			return emu_checked;                               \
	} while (0)

/* Create and destroy an empty descriptor that the program owns; for files that
 * know the struct and include stdlib.h. */
#define DNN_LIFE(kind)                                                    \
cudnnStatus_t                                                             \
cudnnCreate##kind##Descriptor(cudnn##kind##Descriptor_t *descriptor)      \
{                                                                         \
	EMU_ENTER(&emu_dnn);                                              \
	if (!descriptor)                                                  \
		return CUDNN_STATUS_BAD_PARAM;                            \
	*descriptor = calloc(1, sizeof **descriptor);                     \
	return *descriptor ? CUDNN_STATUS_SUCCESS :                       \
	    CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED;           \
}                                                                         \
cudnnStatus_t                                                             \
cudnnDestroy##kind##Descriptor(cudnn##kind##Descriptor_t descriptor)      \
{                                                                         \
	EMU_ENTER(&emu_dnn);                                              \
	free(descriptor);                                                 \
	return CUDNN_STATUS_SUCCESS;                                      \
}

/* Queue a task of emu_task_new() on the handle's stream, counted as a launch.
 * `task` may be NULL (out of memory); it is consumed in any case. */
cudnnStatus_t emu_dnn_submit(cudnnHandle_t handle, void *task);
/* Wait for it, as calls with a host result do. */
cudnnStatus_t emu_dnn_wait(cudnnHandle_t handle);
/* Read an alpha or beta at `host`: a double for DOUBLE tensors, else a
 * float. */
double emu_dnn_scalar(const void *host, cudnnDataType_t type);

/* ---- tensors (cudnn_tensor.c) ------------------------------------------ */

/* A tensor in numbers. Of a filter: k, c of one group, then space. */
struct emu_tensor {
	cudnnDataType_t type;
	int     dims;                   /* 0: there is none */
	int64_t dim[CUDNN_DIM_MAX], stride[CUDNN_DIM_MAX]; /* elements */
};

/* Bytes of one element; 0: the emulator does not know the type. It knows FLOAT,
 * DOUBLE, HALF, BFLOAT16, INT32, INT8, INT64, BOOLEAN. */
size_t emu_dnn_bytes(cudnnDataType_t type);
/* Floating point: the emulator computes with these, and reads and writes no
 * others. */
bool emu_dnn_is_real(cudnnDataType_t type);
/* Set dense strides for its dimensions: channels last for NHWC. */
void emu_tensor_lay_out(struct emu_tensor *tensor, cudnnTensorFormat_t order);
int64_t emu_tensor_elements(const struct emu_tensor *tensor);
/* Bytes from its first element to the end of its last. */
uint64_t emu_tensor_extent(const struct emu_tensor *tensor);
bool emu_tensor_same_shape(const struct emu_tensor *a,
    const struct emu_tensor *b);
/* Whether `small` broadcasts to `large`: dimensions of 1 count for all. */
bool emu_tensor_broadcasts(const struct emu_tensor *small,
    const struct emu_tensor *large);
/* The element of `small`, by row-major number, that goes with the n-th of
 * `large`. */
int64_t emu_tensor_broadcast(const struct emu_tensor *small,
    const struct emu_tensor *large, int64_t n);
/* Whether the current context's work can reach all of it at `pointer`; else
 * complains, naming `argument`, and returns an emu_status. Not on a worker. */
int emu_tensor_check(const void *pointer, const struct emu_tensor *tensor,
    const char *argument);
/* The index, in elements, of its n-th element in row-major order of its
 * dimensions, for any strides. */
int64_t emu_tensor_at(const struct emu_tensor *tensor, int64_t n);
/* One floating-point element, counted; on workers. Stores round to nearest,
 * ties to even. */
double emu_tensor_load(struct emu_touched *touched, const void *data,
    cudnnDataType_t type, int64_t i);
void emu_tensor_store(struct emu_touched *touched, void *data,
    cudnnDataType_t type, int64_t i, double value);

/* What the descriptors of cuDNN point to (cudnn_descriptor.c). */
struct cudnnTensorStruct {
	struct emu_tensor tensor;
};
struct cudnnFilterStruct {
	struct emu_tensor   tensor;     /* strides as `format` lays it out */
	cudnnTensorFormat_t format;
};
struct cudnnConvolutionStruct {
	int     space;                  /* 0: not set */
	int64_t pad[CUDNN_DIM_MAX], stride[CUDNN_DIM_MAX],
		dilation[CUDNN_DIM_MAX];
	cudnnConvolutionMode_t mode;
	cudnnDataType_t        compute;
	cudnnMathType_t        math;
	cudnnReorderType_t     reorder;
	int                    groups;
};
struct cudnnActivationStruct {
	cudnnActivationMode_t   mode;
	cudnnNanPropagation_t   nan;
	double                  coefficient;
};

/* ---- convolutions (cudnn_conv*.c) -------------------------------------- */

enum { EMU_CONV_SPACE = 3 };
enum emu_conv_operation { EMU_CONV_FPROP, EMU_CONV_DGRAD, EMU_CONV_WGRAD };

/* Zero-filled, then set. The channels of x and w imply the groups. */
struct emu_conv {
	enum emu_conv_operation operation;
	int     space;                  /* 1 to 3: tensors have 2 more */
	struct emu_tensor x, w, y;
	int64_t pad[EMU_CONV_SPACE], post_pad[EMU_CONV_SPACE];
	int64_t stride[EMU_CONV_SPACE], dilation[EMU_CONV_SPACE];
	cudnnConvolutionMode_t mode;
	double  alpha, beta;            /* beta 0: the output is not read */
	enum emu_rate arithmetic;       /* inputs are rounded to, whose rate */
	bool    round_output;           /* the result passes through FP16 */
};

/* The tensor that it writes. */
static inline const struct emu_tensor *
emu_conv_output(const struct emu_conv *conv)
{
	return conv->operation == EMU_CONV_FPROP ? &conv->y :
	    conv->operation == EMU_CONV_DGRAD ? &conv->x : &conv->w;
}

/* Whether its tensors fit each other and its geometry. */
bool emu_conv_is_valid(const struct emu_conv *conv);
/* The arithmetic of the legacy API and of FP32 graphs: TF32 where the device
 * has it and `math` allows it. `device` is up. */
enum emu_rate emu_conv_arithmetic(int device, cudnnMathType_t math,
    cudnnDataType_t x, cudnnDataType_t w);
/* Its multiplications and additions. */
double emu_conv_operations(const struct emu_conv *conv);
/* Compute a valid one, on a worker. Advances the modelled clock. Writes the
 * output tensor, reads the others. EMU_OK or EMU_OUT_OF_MEMORY. */
int emu_conv_run(const struct emu_conv *conv, void *x, void *w, void *y);
/* The same into dense host memory, in FP32, or in FP64 if it computes in that,
 * without further rounding; *tensor_out describes it. beta is 0. The caller
 * frees it; NULL: no memory. */
void *emu_conv_run_aside(const struct emu_conv *conv, void *x, void *w,
    void *y, struct emu_tensor *tensor_out);

#endif
