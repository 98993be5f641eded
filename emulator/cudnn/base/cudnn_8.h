/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cudnn/base/cudnn_8.h -- how cuDNN 8.9.7 differs from the headers of
 * cuDNN 9 that the emulator is built with: its version and its statuses, which
 * are fewer and have other numbers. cudnn.h includes it where the same files
 * become libcudnn.so.8. Functions and numbers that both headers have are the
 * same; CUDNN_MAJOR and emulator/cudnn/base/cudnn_8.map leave out what 8 does
 * not have. */
#ifndef AC_EMULATOR_CUDNN_8_H
#define AC_EMULATOR_CUDNN_8_H

#undef CUDNN_MAJOR
#undef CUDNN_MINOR
#undef CUDNN_PATCHLEVEL
#undef CUDNN_VERSION
#undef CUDNN_MAX_DEVICE_VERSION
#define CUDNN_MAJOR 8
#define CUDNN_MINOR 9
#define CUDNN_PATCHLEVEL 7
#define CUDNN_VERSION \
	(CUDNN_MAJOR * 1000 + CUDNN_MINOR * 100 + CUDNN_PATCHLEVEL)
#define CUDNN_MAX_DEVICE_VERSION 900

/* The statuses that the emulator returns; cudnn_error_8.def has their names. */
enum {
	EMU_DNN_8_NOT_INITIALIZED = 1,
	EMU_DNN_8_ALLOC_FAILED = 2,
	EMU_DNN_8_BAD_PARAM = 3,
	EMU_DNN_8_INTERNAL_ERROR = 4,
	EMU_DNN_8_ARCH_MISMATCH = 6,
	EMU_DNN_8_EXECUTION_FAILED = 8,
	EMU_DNN_8_NOT_SUPPORTED = 9
};
#define EMU_DNN_8(name) ((cudnnStatus_t)EMU_DNN_8_##name)
#define CUDNN_STATUS_NOT_INITIALIZED EMU_DNN_8(NOT_INITIALIZED)
#define CUDNN_STATUS_BAD_PARAM EMU_DNN_8(BAD_PARAM)
#define CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE EMU_DNN_8(BAD_PARAM)
#define CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER EMU_DNN_8(BAD_PARAM)
#define CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED EMU_DNN_8(BAD_PARAM)
#define CUDNN_STATUS_BAD_PARAM_NULL_POINTER EMU_DNN_8(BAD_PARAM)
#define CUDNN_STATUS_INTERNAL_ERROR EMU_DNN_8(INTERNAL_ERROR)
#define CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED \
	EMU_DNN_8(ALLOC_FAILED)
#define CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED \
	EMU_DNN_8(ALLOC_FAILED)
#define CUDNN_STATUS_EXECUTION_FAILED EMU_DNN_8(EXECUTION_FAILED)
#define CUDNN_STATUS_NOT_SUPPORTED EMU_DNN_8(NOT_SUPPORTED)
#define CUDNN_STATUS_NOT_SUPPORTED_ARCH_MISMATCH EMU_DNN_8(ARCH_MISMATCH)

#endif
