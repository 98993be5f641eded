/* SPDX-License-Identifier: Apache-2.0 */
/* tests/trust/rhythm_lt.c -- products by cublasLt, with descriptors that live
 * for one call, and epilogues in FP64. */
#include "tests/trust/rhythm_lt.h"

#include <math.h>

enum { RELU = 2, BIAS = 4, D_RELU = 8, BGRAD = 16, GELU = 32, D_GELU = 64,
	AUX = 128 };

static const struct {
	const char *name;
	unsigned value;
} epilogues[] = {
	{ "default", CUBLASLT_EPILOGUE_DEFAULT },
	{ "relu", CUBLASLT_EPILOGUE_RELU },
	{ "bias", CUBLASLT_EPILOGUE_BIAS },
	{ "relu_bias", CUBLASLT_EPILOGUE_RELU_BIAS },
	{ "relu_aux_bias", CUBLASLT_EPILOGUE_RELU_AUX_BIAS },
	{ "gelu", CUBLASLT_EPILOGUE_GELU },
	{ "gelu_bias", CUBLASLT_EPILOGUE_GELU_BIAS },
	{ "gelu_aux_bias", CUBLASLT_EPILOGUE_GELU_AUX_BIAS },
	{ "drelu", CUBLASLT_EPILOGUE_DRELU },
	{ "drelu_bgrad", CUBLASLT_EPILOGUE_DRELU_BGRAD },
	{ "dgelu", CUBLASLT_EPILOGUE_DGELU },
	{ "dgelu_bgrad", CUBLASLT_EPILOGUE_DGELU_BGRAD },
};

unsigned
rhythm_lt_epilogue(const char *name)
{
	for (size_t i = 0; i < sizeof epilogues / sizeof *epilogues; i++)
		if (!strcmp(name, epilogues[i].name))
			return epilogues[i].value;
	return 0;
}

bool
rhythm_tail_adds(unsigned epilogue)
{
	return epilogue & BIAS;
}

bool
rhythm_tail_sums(unsigned epilogue)
{
	return epilogue & BGRAD;
}

bool
rhythm_tail_writes(unsigned epilogue)
{
	return epilogue & AUX && epilogue & (RELU | GELU);
}

bool
rhythm_tail_keeps(unsigned epilogue)
{
	return epilogue & AUX && epilogue & GELU;
}

bool
rhythm_tail_scales(unsigned epilogue)
{
	return epilogue & D_GELU;
}

/* Columns of a mask are multiples of 128 bits, of numbers of 8. */
static int64_t
aux_ld(unsigned epilogue, int m)
{
	const int unit = epilogue & (RELU | D_RELU) ? 128 : 8;

	return (m + unit - 1) / unit * unit;
}

size_t
rhythm_tail_room(int m, int n, int batch)
{
	return (size_t)(m + 128) * (size_t)n * (size_t)batch;
}

/* ---- The call ------------------------------------------------------------ */

#define SET(operation, name, value)                                       \
	BLAS(cublasLtMatmulDescSetAttribute(operation,                    \
	    CUBLASLT_MATMUL_DESC_##name, &(value), sizeof (value)))
#define LAYOUT_SET(layout, name, value)                                   \
	BLAS(cublasLtMatrixLayoutSetAttribute(layout,                     \
	    CUBLASLT_MATRIX_LAYOUT_##name, &(value), sizeof (value)))

static cublasLtMatrixLayout_t
layout_of(const struct rhythm_lt *p, int rows, int cols, int ld, int64_t stride)
{
	const int32_t batch = p->batch;
	cublasLtMatrixLayout_t layout;

	BLAS(cublasLtMatrixLayoutCreate(&layout, CUDA_R_32F, (uint64_t)rows,
	    (uint64_t)cols, ld));
	if (batch > 1) {
		LAYOUT_SET(layout, BATCH_COUNT, batch);
		LAYOUT_SET(layout, STRIDED_BATCH_OFFSET, stride);
	}
	return layout;
}

static cublasLtMatmulDesc_t
operation_of(const struct rhythm_lt *p)
{
	const struct rhythm_tail *tail = p->tail;
	const int64_t ld = tail ? aux_ld(tail->epilogue, p->m) : 0;
	const int64_t stride = ld * p->n, length = p->m;
	const void *const bias = !tail ? NULL : tail->bias ? tail->bias :
	    p->sums;
	const void *const aux = !tail ? NULL : tail->aux ? tail->aux :
	    p->aux_out;
	cublasLtMatmulDesc_t operation;

	BLAS(cublasLtMatmulDescCreate(&operation, p->compute, CUDA_R_32F));
	if (!tail)
		return operation;
	SET(operation, EPILOGUE, tail->epilogue);
	if (tail->epilogue & (BIAS | BGRAD)) {
		SET(operation, BIAS_POINTER, bias);
		SET(operation, BIAS_BATCH_STRIDE, length);
	}
	if (tail->epilogue & AUX) {
		SET(operation, EPILOGUE_AUX_POINTER, aux);
		SET(operation, EPILOGUE_AUX_LD, ld);
		SET(operation, EPILOGUE_AUX_BATCH_STRIDE, stride);
	}
	return operation;
}

void
rhythm_lt_multiply(const struct rhythm_lt *p)
{
	cublasLtMatmulDesc_t operation = operation_of(p);
	cublasLtMatrixLayout_t a = layout_of(p, p->m, p->k, p->lda,
	    p->stride_a);
	cublasLtMatrixLayout_t b = layout_of(p, p->k, p->n, p->ldb,
	    p->stride_b);
	cublasLtMatrixLayout_t d = layout_of(p, p->m, p->n, p->m,
	    (int64_t)p->m * p->n);
	cublasLtMatmulHeuristicResult_t result;
	cublasLtMatmulPreference_t preference;
	int found;

	if (p->asks) {
		BLAS(cublasLtMatmulPreferenceCreate(&preference));
		BLAS(cublasLtMatmulAlgoGetHeuristic(p->handle, operation, a, b,
		    d, d, preference, 1, &result, &found));
		client_expect(found == 1, "there is an algorithm");
		BLAS(cublasLtMatmulPreferenceDestroy(preference));
	}
	BLAS(cublasLtMatmul(p->handle, operation, &one, p->a, a, p->b, b,
	    &p->beta, p->c, d, p->d, d, p->asks ? &result.algo : NULL, NULL, 0,
	    p->stream));
	BLAS(cublasLtMatrixLayoutDestroy(a));
	BLAS(cublasLtMatrixLayoutDestroy(b));
	BLAS(cublasLtMatrixLayoutDestroy(d));
	BLAS(cublasLtMatmulDescDestroy(operation));
}

/* ---- What it reads ------------------------------------------------------- */

static void
draw_aux(struct rhythm_tail *tail, uint64_t *seed)
{
	const size_t room = rhythm_tail_room(tail->m, tail->n, tail->batch);
	const size_t count = (size_t)tail->m * (size_t)tail->n *
	    (size_t)tail->batch;
	float *stored = client_allocate(room, sizeof *stored);
	unsigned char *bits = (unsigned char *)stored;

	tail->host_aux = client_allocate(count, sizeof(float));
	for (size_t i = 0; i < count; i++) {
		const size_t at = i / (size_t)tail->m * (size_t)tail->aux_ld +
		    i % (size_t)tail->m;
		const float x = (float)(6 * client_uniform(seed) - 3);

		if (tail->epilogue & D_GELU)
			stored[at] = tail->host_aux[i] = x;
		else if (x > 0)
			bits[at / 8] |= (unsigned char)(1 << at % 8);
		if (tail->epilogue & D_RELU)
			tail->host_aux[i] = x > 0;
	}
	tail->aux = client_device(stored, room);
	CUDA(cudaDeviceSynchronize());
	free(stored);
}

struct rhythm_tail
rhythm_tail_draw(unsigned epilogue, int m, int n, int batch, double size,
    double mean, const float *bias, uint64_t *seed)
{
	const size_t count = (size_t)m * (size_t)batch;
	struct rhythm_tail tail = { .epilogue = epilogue, .m = m, .n = n,
		.batch = batch, .aux_ld = aux_ld(epilogue, m) };

	if (epilogue & BIAS) {
		tail.host_bias = client_allocate(count, sizeof *bias);
		for (size_t i = 0; i < count; i++)
			tail.host_bias[i] = bias ? bias[i] :
			    (float)(mean + size
			    * (2 * client_uniform(seed) - 1));
		tail.bias = client_device(tail.host_bias, count);
		CUDA(cudaDeviceSynchronize());
	}
	if (epilogue & (D_RELU | D_GELU))
		draw_aux(&tail, seed);
	return tail;
}

/* ---- What it makes of a number ------------------------------------------- */

static double
gelu_of(double x, double *slope_out)
{
	const double root = 0.79788456080286535588, cube = 0.044715;
	const double t = tanh(root * (x + cube * x * x * x));

	*slope_out = 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * root
	    * (1 + 3 * cube * x * x);
	return 0.5 * x * (1 + t);
}

/* FP32's own way to a GELU loses up to 2^-20 of x. Left of 0 it vanishes
 * faster than its error does: there slope times x counts, too. */
struct rhythm_through
rhythm_tail_at(const struct rhythm_tail *tail, size_t at, double x)
{
	struct rhythm_through to = { x, 0, 1, 0 };

	if (tail->epilogue & RELU) {
		to.slope = x > 0;
		to.value = x > 0 ? x : 0;
	} else if (tail->epilogue & D_RELU) {
		to.slope = (double)tail->host_aux[at];
		to.value = to.slope * x;
	} else if (tail->epilogue & GELU) {
		to.value = gelu_of(x, &to.slope);
		to.blur = 0x1p-20 * fabs(x);
	} else if (tail->epilogue & D_GELU) {
		(void)gelu_of((double)tail->host_aux[at], &to.slope);
		to.value = to.slope * x;
		to.blur = 0x1p-20 * fabs(x);
	}
	to.near = fabs(to.value);
	if (tail->epilogue & GELU && x < 0)
		to.near = fmax(to.near, fabs(to.slope * x));
	return to;
}
