/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cudnn/base/cudnn_tensor.c -- tensors: their sizes, the index of an
 * element, reading and writing floating-point elements, with bytes counted.
 * Owns no tensor. */
#include "emulator/cudnn/base/cudnn.h"
#include "emulator/shared/round.h"

size_t
emu_dnn_bytes(cudnnDataType_t type)
{
	switch ((int)type) {
	case CUDNN_DATA_DOUBLE:
	case CUDNN_DATA_INT64:
		return 8;
	case CUDNN_DATA_FLOAT:
	case CUDNN_DATA_INT32:
		return 4;
	case CUDNN_DATA_HALF:
	case CUDNN_DATA_BFLOAT16:
		return 2;
	case CUDNN_DATA_INT8:
	case CUDNN_DATA_BOOLEAN:
		return 1;
	default:
		return 0;
	}
}

bool
emu_dnn_is_real(cudnnDataType_t type)
{
	return type == CUDNN_DATA_FLOAT || type == CUDNN_DATA_DOUBLE ||
	    type == CUDNN_DATA_HALF || type == CUDNN_DATA_BFLOAT16;
}

int64_t
emu_tensor_elements(const struct emu_tensor *t)
{
	int64_t count = t->dims > 0;

	for (int i = 0; i < t->dims; i++)
		count *= t->dim[i];
	return count;
}

uint64_t
emu_tensor_extent(const struct emu_tensor *t)
{
	int64_t last = 0;

	if (!emu_tensor_elements(t))
		return 0;
	for (int i = 0; i < t->dims; i++)
		last += (t->dim[i] - 1) * t->stride[i];
	return (uint64_t)(last + 1) * emu_dnn_bytes(t->type);
}

void
emu_tensor_lay_out(struct emu_tensor *t, cudnnTensorFormat_t order)
{
	const bool last = order == CUDNN_TENSOR_NHWC;
	int64_t step = last ? t->dim[1] : 1;

	for (int i = t->dims - 1; i >= 0; i--) {
		if (last && i == 1) {
			t->stride[i] = 1;
			continue;
		}
		t->stride[i] = step;
		step *= t->dim[i];
	}
}

bool
emu_tensor_same_shape(const struct emu_tensor *a, const struct emu_tensor *b)
{
	for (int i = 0; i < a->dims && i < b->dims; i++)
		if (a->dim[i] != b->dim[i])
			return false;
	return a->dims == b->dims;
}

bool
emu_tensor_broadcasts(const struct emu_tensor *small,
    const struct emu_tensor *large)
{
	if (small->dims != large->dims)
		return false;
	for (int i = 0; i < small->dims; i++)
		if (small->dim[i] != 1 && small->dim[i] != large->dim[i])
			return false;
	return true;
}

int64_t
emu_tensor_broadcast(const struct emu_tensor *small,
    const struct emu_tensor *large, int64_t n)
{
	int64_t index = 0, step = 1;

	for (int i = large->dims - 1; i >= 0; i--) {
		if (small->dim[i] != 1)
			index += n % large->dim[i] * step;
		step *= small->dim[i];
		n /= large->dim[i];
	}
	return index;
}

int
emu_tensor_check(const void *pointer, const struct emu_tensor *t,
    const char *argument)
{
	const size_t element = emu_dnn_bytes(t->type);

	if (element && (uintptr_t)pointer % element) {
		emu_complain("argument %s: %p is not aligned to its elements",
		    argument, pointer);
		return EMU_MISALIGNED;
	}
	return emu_memory_check(pointer, emu_tensor_extent(t), argument);
}

int64_t
emu_tensor_at(const struct emu_tensor *t, int64_t n)
{
	int64_t at = 0;

	for (int i = t->dims - 1; i >= 0; i--) {
		at += n % t->dim[i] * t->stride[i];
		n /= t->dim[i];
	}
	return at;
}

double
emu_tensor_load(struct emu_touched *touched, const void *data,
    cudnnDataType_t type, int64_t i)
{
	touched->bytes += emu_dnn_bytes(type);
	switch ((int)type) {
	case CUDNN_DATA_DOUBLE:
		return ((const double *)data)[i];
	case CUDNN_DATA_HALF:
		return (double)emu_from_fp16(((const uint16_t *)data)[i]);
	case CUDNN_DATA_BFLOAT16:
		return (double)emu_from_bf16(((const uint16_t *)data)[i]);
	default:
		return (double)((const float *)data)[i];
	}
}

void
emu_tensor_store(struct emu_touched *touched, void *data,
    cudnnDataType_t type, int64_t i, double value)
{
	touched->bytes += emu_dnn_bytes(type);
	switch ((int)type) {
	case CUDNN_DATA_DOUBLE:
		((double *)data)[i] = value;
		break;
	case CUDNN_DATA_HALF:
		((uint16_t *)data)[i] = emu_to_fp16((float)value);
		break;
	case CUDNN_DATA_BFLOAT16:
		((uint16_t *)data)[i] = emu_to_bf16((float)value);
		break;
	default:
		((float *)data)[i] = (float)value;
	}
}
