/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cublas/blas/cublas_copy.c -- cuBLAS calls: vectors and matrices to
 * the device and back. Contracts are NVIDIA's. */
#include "emulator/cublas/cublas.h"

/* `cols` runs of `rows` elements, from_ld and to_ld elements apart. */
struct block {
	const void *from;
	void *to;
	int64_t rows, cols, element, from_ld, to_ld;
	enum emu_direction direction;
	bool wait;
	cudaStream_t stream;
};

static cublasStatus_t
move(const struct block *b)
{
	const struct emu_copy c = {
		.to = b->to, .from = b->from,
		.bytes = (size_t)(b->rows * b->element),
		.rows = (size_t)b->cols,
		.to_pitch = (size_t)(b->to_ld * b->element),
		.from_pitch = (size_t)(b->from_ld * b->element),
		.direction = b->direction, .wait = b->wait
	};
	int status = emu_device_enter();

	if (status)
		return emu_blas_status(status);
	if (b->rows < 0 || b->cols < 0 || b->element <= 0 ||
	    b->from_ld < b->rows || b->to_ld < b->rows)
		return CUBLAS_STATUS_INVALID_VALUE;
	status = emu_copy(&c, b->stream);
	return status == EMU_ILLEGAL_ADDRESS ? CUBLAS_STATUS_MAPPING_ERROR :
	    emu_blas_status(status);
}

/* A vector is a matrix of one row; its increment is its leading dimension. */
#define VECTOR(name, index, DIRECTION)                                    \
cublasStatus_t                                                            \
name(index n, index element, const void *from, index from_step, void *to, \
    index to_step)                                                        \
{                                                                         \
	const struct block b = { from, to, 1, n, element, from_step,      \
	    to_step, DIRECTION, true, NULL };                             \
	EMU_ENTER(&emu_blas);                                             \
	return move(&b);                                                  \
}
#define VECTOR_ASYNC(name, index, DIRECTION)                              \
cublasStatus_t                                                            \
name(index n, index element, const void *from, index from_step, void *to, \
    index to_step, cudaStream_t stream)                                   \
{                                                                         \
	const struct block b = { from, to, 1, n, element, from_step,      \
	    to_step, DIRECTION, false, stream };                          \
	EMU_ENTER(&emu_blas);                                             \
	return move(&b);                                                  \
}
#define MATRIX(name, index, DIRECTION)                                    \
cublasStatus_t                                                            \
name(index rows, index cols, index element, const void *from,             \
    index from_ld, void *to, index to_ld)                                 \
{                                                                         \
	const struct block b = { from, to, rows, cols, element, from_ld,  \
	    to_ld, DIRECTION, true, NULL };                               \
	EMU_ENTER(&emu_blas);                                             \
	return move(&b);                                                  \
}
#define MATRIX_ASYNC(name, index, DIRECTION)                              \
cublasStatus_t                                                            \
name(index rows, index cols, index element, const void *from,             \
    index from_ld, void *to, index to_ld, cudaStream_t stream)            \
{                                                                         \
	const struct block b = { from, to, rows, cols, element, from_ld,  \
	    to_ld, DIRECTION, false, stream };                            \
	EMU_ENTER(&emu_blas);                                             \
	return move(&b);                                                  \
}

VECTOR(cublasSetVector, int, EMU_HOST_TO_DEVICE)
VECTOR(cublasGetVector, int, EMU_DEVICE_TO_HOST)
VECTOR_ASYNC(cublasSetVectorAsync, int, EMU_HOST_TO_DEVICE)
VECTOR_ASYNC(cublasGetVectorAsync, int, EMU_DEVICE_TO_HOST)
MATRIX(cublasSetMatrix, int, EMU_HOST_TO_DEVICE)
MATRIX(cublasGetMatrix, int, EMU_DEVICE_TO_HOST)
MATRIX_ASYNC(cublasSetMatrixAsync, int, EMU_HOST_TO_DEVICE)
MATRIX_ASYNC(cublasGetMatrixAsync, int, EMU_DEVICE_TO_HOST)
VECTOR(cublasSetVector_64, int64_t, EMU_HOST_TO_DEVICE)
VECTOR(cublasGetVector_64, int64_t, EMU_DEVICE_TO_HOST)
VECTOR_ASYNC(cublasSetVectorAsync_64, int64_t, EMU_HOST_TO_DEVICE)
VECTOR_ASYNC(cublasGetVectorAsync_64, int64_t, EMU_DEVICE_TO_HOST)
MATRIX(cublasSetMatrix_64, int64_t, EMU_HOST_TO_DEVICE)
MATRIX(cublasGetMatrix_64, int64_t, EMU_DEVICE_TO_HOST)
MATRIX_ASYNC(cublasSetMatrixAsync_64, int64_t, EMU_HOST_TO_DEVICE)
MATRIX_ASYNC(cublasGetMatrixAsync_64, int64_t, EMU_DEVICE_TO_HOST)
