/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cublaslt/cublaslt.h -- what the files of libcublasLt share: what is
 * inside NVIDIA's opaque descriptors, one product with its epilogue, and the
 * algorithms. Products are computed as in libcublas, by the same objects. */
#ifndef AC_EMULATOR_CUBLASLT_H
#define AC_EMULATOR_CUBLASLT_H

#define EMU_BLAS_LT
#include "emulator/cublas/cublas_gemm.h"

/* ---- descriptors: all of their state is in the opaque struct ----------- */

struct lt_operation {
	int32_t  compute, scale, pointer_mode, transa, transb, transc, fill;
	uint32_t epilogue;
	int8_t   fast_sums;
	uint8_t  lacking;            /* bytes that a short descriptor lacks;
	                              * near the front, as NVIDIA's [measured,
	                              * 12.1 to 13.10] */
	void    *bias;
	int64_t  bias_stride;        /* elements */
	void    *aux;
	int64_t  aux_ld, aux_stride; /* elements; of a mask, bits */
	int64_t  alpha_stride;
	int32_t  multiprocessors, unnamed; /* attribute 16 has no name */
	void    *a_scale, *b_scale, *c_scale, *d_scale, *d_largest;
	void    *aux_scale, *aux_largest;
	int32_t  aux_type, bias_type; /* -1: the type of D */
	int32_t  a_scale_mode;       /* the first that older headers lack */
	int32_t  b_scale_mode, c_scale_mode, d_scale_mode, aux_scale_mode;
	int32_t  d_out_scale_mode;
	void    *d_out_scale, *emulation;
};

struct lt_layout {
	uint32_t type;
	int32_t  order;
	uint64_t rows, cols;
	int64_t  ld;
	int32_t  batch;
	uint32_t batch_mode;
	int64_t  stride, plane;
};

struct lt_preference {
	uint32_t search, reductions;
	uint64_t workspace;
	uint32_t alignment[4];       /* of A, B, C, D */
	float    waves;
	uint64_t implementations;
};

struct lt_algorithm {
	int32_t  id;
	uint32_t tile;
	int32_t  split_k;
	uint32_t reduction, swizzle, custom, stages;
	uint16_t inner, cluster;
	int32_t  compute, scale, types[4]; /* of A, B, C, D */
	uint16_t unnamed;            /* attribute 10 has no name */
};

/* The size and place of an attribute in its struct. */
struct lt_attribute {
	int     number;
	uint8_t at, bytes;
};
#define LT_ATTRIBUTE(number, type, member)                                \
	{ number, offsetof(struct type, member),                          \
	    sizeof ((struct type *)0)->member },
/* NVIDIA's contracts [measured, 13.1]: the size must match; 0 bytes asks for
 * the size; sizeWritten may be NULL otherwise. `rows` ends with 0 bytes. */
cublasStatus_t lt_set(const struct lt_attribute *rows, void *state,
    int attribute, const void *value, size_t bytes);
cublasStatus_t lt_get(const struct lt_attribute *rows, const void *state,
    int attribute, void *value, size_t bytes, size_t *written);

/* ---- one product --------------------------------------------------------
 *
 * A matrix in row order is the transpose of one in column order, so a D in row
 * order is computed as D^T = B^T A^T: then `gemm` has A and B, m and n
 * swapped. Rows and columns below are those of `gemm`. */
struct lt_matmul {
	struct emu_gemm    gemm;     /* its C is D */
	struct emu_operand c;        /* what beta scales; data NULL: none */
	cublasComputeType_t compute;
	int32_t  scale;
	bool     swapped;
	unsigned epilogue;
	void    *bias, *aux;
	int64_t  bias_stride, aux_ld, aux_stride;
};

enum { LT_BIAS = CUBLASLT_EPILOGUE_BIAS, LT_RELU = CUBLASLT_EPILOGUE_RELU,
	LT_GELU = CUBLASLT_EPILOGUE_GELU, LT_AUX = 128, LT_DRELU = 8,
	LT_DGELU = 64, LT_BGRAD = 16, LT_BGRADA = CUBLASLT_EPILOGUE_BGRADA,
	LT_BGRADB = CUBLASLT_EPILOGUE_BGRADB };

/* The program's descriptors, read: `c` is `d` if there is none. */
struct lt_descriptors {
	struct lt_operation operation;
	struct lt_layout a, b, c, d;
};
cublasStatus_t lt_read(cublasLtMatmulDesc_t operation,
    cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
    cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
    struct lt_descriptors *out);
/* The product that they describe, without matrices and scalars. What the
 * heuristics refuse is refused here. */
cublasStatus_t lt_describe(const struct lt_descriptors *descriptors,
    struct lt_matmul *out);
/* The types that a product may have, with a device's arithmetic. */
cublasStatus_t lt_check_types(cublasComputeType_t compute, int32_t scale,
    const int32_t types[4], struct emu_gemm *out);

/* On a worker, of one matrix of the batch: x is the FP32 result in column
 * order, and D is written from it. */
void lt_epilogue(const struct lt_matmul *task, struct emu_touched *touched,
    float *x, int64_t ld, int64_t index);
/* A product of INT8, with its C. */
void lt_integers(const struct lt_matmul *task, struct emu_touched *touched);
/* The row sums of A, or the column sums of B, over k. */
void lt_input_gradient(const struct lt_matmul *task,
    struct emu_touched *touched, int64_t index);

/* ---- algorithms ---------------------------------------------------------- */

/* The first that can run this product without a workspace. */
cublasStatus_t lt_algorithm_first(const struct lt_matmul *task,
    const uint32_t alignment[4], struct lt_algorithm *out);
/* Whether it is one for this product, and the workspace that it needs. */
cublasStatus_t lt_algorithm_check(const struct lt_algorithm *algorithm,
    const struct lt_matmul *task, size_t *workspace_out);
/* How some algorithms work; NULL: none has this id. */
struct lt_method {
	int      id;
	bool     tensor;     /* for rounded inputs only */
	uint32_t alignment;  /* bytes; 1: of an element */
	int32_t  split_k;
	uint32_t reduction, tile, stages;
};
const struct lt_method *lt_method(int id);

static inline uint64_t
lt_implementation(const struct lt_method *method)
{
	return method->tensor ? CUBLASLT_NUMERICAL_IMPL_FLAGS_HMMA :
	    CUBLASLT_NUMERICAL_IMPL_FLAGS_FMA;
}

/* Bytes that all operands of a product must be aligned to; those of INT8 in any
 * case to 4 [cuBLAS manual, cublasLtMatmul()]. */
static inline uint32_t
lt_alignment(const struct lt_method *method, const struct lt_matmul *task)
{
	return task->gemm.real == EMU_INTEGER && method->alignment < 4 ? 4 :
	    method->alignment;
}

/* ---- calls --------------------------------------------------------------- */

/* What cublasLtHandle_t points to; a cublasHandle_t does as well. */
struct cublasLtContext {
	struct emu_handle base;
};
cublasStatus_t lt_check(cublasLtHandle_t handle);

#define LT_ENTER(handle)                                                  \
	EMU_ENTER(&emu_blas);                                             \
	do {                                                              \
		const cublasStatus_t emu_checked = lt_check(handle);      \
		if (emu_checked)                                          \
			return emu_checked;                               \
	} while (0)

#endif
