/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cublas/cublas_touch.c -- reads and writes matrices of any type and
 * counts the bytes. Owns no matrix. */
#include "emulator/cublas/cublas_touch.h"
#include "emulator/shared/round.h"

#include <stdlib.h>

size_t
emu_type_bytes(cudaDataType type)
{
	switch (type) {
	case CUDA_R_8I:
		return 1;
	case CUDA_R_16F:
	case CUDA_R_16BF:
	case CUDA_C_8I:
		return 2;
	case CUDA_R_64F:
	case CUDA_C_32F:
		return 8;
	default:
		return 4;
	}
}

/* Numbers that make an element: 2 for complex types, else 1. */
static int
parts(cudaDataType type)
{
	return type == CUDA_C_32F || type == CUDA_C_8I ? 2 : 1;
}

static float
load(const void *data, cudaDataType type, int64_t i)
{
	switch (type) {
	case CUDA_R_8I:
	case CUDA_C_8I:
		return ((const int8_t *)data)[i];
	case CUDA_R_16F:
		return emu_from_fp16(((const uint16_t *)data)[i]);
	case CUDA_R_16BF:
		return emu_from_bf16(((const uint16_t *)data)[i]);
	default:
		return ((const float *)data)[i];
	}
}

float
emu_load(struct emu_touched *touched, const void *data, cudaDataType type,
    int64_t i)
{
	touched->bytes += emu_type_bytes(type) / (size_t)parts(type);
	return load(data, type, i);
}

void
emu_store(struct emu_touched *touched, void *data, cudaDataType type,
    int64_t i, float value)
{
	touched->bytes += emu_type_bytes(type) / (size_t)parts(type);
	switch (type) {
	case CUDA_R_16F:
		((uint16_t *)data)[i] = emu_to_fp16(value);
		break;
	case CUDA_R_16BF:
		((uint16_t *)data)[i] = emu_to_bf16(value);
		break;
	default:
		((float *)data)[i] = value;
	}
}

static const void *
read_column(struct emu_touched *touched, const void *data,
    const struct emu_operand *o, int64_t rows, int64_t col)
{
	const size_t element = emu_type_bytes(o->type);
	const char *column = (const char *)data + (size_t)(col * o->ld) *
	    element;

	touched->bytes += (size_t)rows * element;
	return column;
}

float *
emu_pack(struct emu_touched *touched, const void *data,
    const struct emu_operand *o, int64_t rows, int64_t cols,
    enum emu_rate format)
{
	const int64_t height = rows * parts(o->type);
	float *packed = malloc((size_t)(height * cols) * sizeof *packed + 1);

	for (int64_t j = 0; packed && height && j < cols; j++) {
		const void *from = read_column(touched, data, o, rows, j);

		for (int64_t i = 0; i < height; i++)
			packed[j * height + i] = emu_round(load(from, o->type,
			    i), format);
	}
	return packed;
}

const void *
emu_read_all(struct emu_touched *touched, const void *data,
    const struct emu_operand *o, int64_t rows, int64_t cols)
{
	for (int64_t j = 0; j < cols; j++) {
		const void *column = read_column(touched, data, o, rows, j);

		if (EMU_TSAN)
			emu_announce_read(column, (size_t)rows *
			    emu_type_bytes(o->type));
	}
	return data;
}

void *
emu_write_all(struct emu_touched *touched, void *data,
    const struct emu_operand *o, int64_t rows, int64_t cols)
{
	touched->bytes += (size_t)(rows * cols) * emu_type_bytes(o->type);
	return data;
}
