/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cublas/cublas_touch.h -- access to the program's matrices. Every
 * byte that a product reads or writes goes through here and is counted; a byte
 * that is read twice counts twice. Runs on workers. */
#ifndef AC_EMULATOR_CUBLAS_TOUCH_H
#define AC_EMULATOR_CUBLAS_TOUCH_H

#include "emulator/driver/emu.h"

#include <library_types.h>

struct emu_operand {
	const void *data;          /* a matrix, or the first of a batch */
	const void *const *array;  /* or device memory that holds pointers */
	cudaDataType type;
	int64_t ld, stride;        /* elements */
};

/* The bytes that one task has moved. */
struct emu_touched {
	uint64_t bytes;
};

size_t emu_type_bytes(cudaDataType type);

/* One number of a matrix; `i` counts numbers, not elements. */
float emu_load(struct emu_touched *touched, const void *data,
    cudaDataType type, int64_t i);
void emu_store(struct emu_touched *touched, void *data, cudaDataType type,
    int64_t i, float value);
/* `rows` x `cols` elements as a dense copy, each number rounded to the format;
 * the caller's to free. NULL if the host has no memory left. */
float *emu_pack(struct emu_touched *touched, const void *data,
    const struct emu_operand *operand, int64_t rows, int64_t cols,
    enum emu_rate format);
/* Count a matrix that the caller reads, or writes, element by element. */
const void *emu_read_all(struct emu_touched *touched, const void *data,
    const struct emu_operand *operand, int64_t rows, int64_t cols);
void *emu_write_all(struct emu_touched *touched, void *data,
    const struct emu_operand *operand, int64_t rows, int64_t cols);

#endif
