/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cublaslt/cublaslt_epilogue.c -- what follows a product: bias,
 * activations, their gradients, on the stream's worker. Elements are FP32, as
 * in the kernels; functions are computed in FP64 and rounded once.
 *
 * As an H100 has them (bench/gpu-day, question n9): RELU leaves a NaN, GELU is
 * the form with tanh and NaN of -inf, its gradient is NaN of both infinities. A
 * mask of RELU has the bit of row i in byte i / 8, lowest first, clear where
 * x < 0. */
#include "emulator/cublaslt/cublaslt.h"

#include <math.h>
#include <stdlib.h>

#define SQRT_2_BY_PI 0.79788456080286535588
#define GELU_CUBIC 0.044715

static double
tanh_of(double x)
{
	return tanh(SQRT_2_BY_PI * (x + GELU_CUBIC * x * x * x));
}

static double
gelu(double x)
{
	return 0.5 * x * (1 + tanh_of(x));
}

static double
gelu_gradient(double x)
{
	const double t = tanh_of(x);

	return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * SQRT_2_BY_PI *
	    (1 + 3 * GELU_CUBIC * x * x);
}

/* ---- the second matrix --------------------------------------------------- */

static bool
has_mask(const struct lt_matmul *t)
{
	return t->epilogue & (LT_RELU | LT_DRELU);
}

static int64_t
aux_at(const struct lt_matmul *t, int64_t index, int64_t i, int64_t j)
{
	return index * t->aux_stride + j * t->aux_ld + i;
}

/* A byte of a mask counts once. */
static unsigned char *
mask_byte(const struct lt_matmul *t, struct emu_touched *touched, int64_t at,
    int64_t i)
{
	touched->bytes += i % 8 == 0;
	return (unsigned char *)t->aux + at / 8;
}

static void
keep(const struct lt_matmul *t, struct emu_touched *touched, float x,
    int64_t index, int64_t i, int64_t j)
{
	const int64_t at = aux_at(t, index, i, j);

	if (has_mask(t)) {
		unsigned char *byte = mask_byte(t, touched, at, i);
		const unsigned bit = 1u << at % 8;

		*byte = (unsigned char)(x < 0 ? *byte & ~bit : *byte | bit);
	} else {
		emu_store(touched, t->aux, t->gemm.c.type, at, x);
	}
}

static float
gradient(const struct lt_matmul *t, struct emu_touched *touched, float x,
    int64_t index, int64_t i, int64_t j)
{
	const int64_t at = aux_at(t, index, i, j);

	if (has_mask(t))
		return *mask_byte(t, touched, at, i) >> at % 8 & 1 ? x : 0;
	return (float)((double)x * gelu_gradient((double)emu_load(touched,
	    t->aux, t->gemm.c.type, at)));
}

/* ---- one matrix ---------------------------------------------------------- */

static float
finished(const struct lt_matmul *t, struct emu_touched *touched, float x,
    int64_t index, int64_t i, int64_t j)
{
	if (t->epilogue & LT_BIAS)
		x += emu_load(touched, t->bias, t->gemm.c.type,
		    index * t->bias_stride + (t->swapped ? j : i));
	if (t->epilogue & (LT_DRELU | LT_DGELU))
		return gradient(t, touched, x, index, i, j);
	if (t->epilogue & LT_AUX)
		keep(t, touched, x, index, i, j);
	if (t->epilogue & LT_RELU)
		return x <= 0 ? 0 : x;
	return t->epilogue & LT_GELU ? (float)gelu((double)x) : x;
}

void
lt_epilogue(const struct lt_matmul *t, struct emu_touched *touched, float *x,
    int64_t ld, int64_t index)
{
	const struct emu_gemm *g = &t->gemm;
	const int64_t first = index * g->c.stride;
	double *sums = t->epilogue & LT_BGRAD ?
	    calloc((size_t)g->m, sizeof *sums) : NULL;

	if (t->epilogue & LT_BGRAD && !sums) {
		emu_device_poison(EMU_OUT_OF_MEMORY);
		return;
	}
	for (int64_t j = 0; j < g->n; j++)
		for (int64_t i = 0; i < g->m; i++) {
			const float y = finished(t, touched, x[j * ld + i],
			    index, i, j);

			if (sums)
				sums[i] += (double)y;
			emu_store(touched, (void *)(uintptr_t)g->c.data,
			    g->c.type, first + j * g->c.ld + i, y);
		}
	for (int64_t i = 0; sums && i < g->m; i++)
		emu_store(touched, t->bias, g->c.type,
		    index * t->bias_stride + i, (float)sums[i]);
	free(sums);
}

/* The product has read these matrices already: nothing more is counted. */
void
lt_input_gradient(const struct lt_matmul *t, struct emu_touched *touched,
    int64_t index)
{
	const struct emu_gemm *g = &t->gemm;
	const bool of_a = t->epilogue & LT_BGRADA;
	const struct emu_operand *o = of_a ? &g->a : &g->b;
	/* Neighbours in k lie in a column of memory, or in a row. */
	const bool down = of_a ? g->transa != CUBLAS_OP_N :
	    g->transb == CUBLAS_OP_N;
	struct emu_touched again = { 0 };

	for (int64_t i = 0; i < (of_a ? g->m : g->n); i++) {
		double sum = 0;

		for (int64_t l = 0; l < g->k; l++)
			sum += (double)emu_load(&again, o->data, o->type,
			    index * o->stride + (down ? i * o->ld + l :
			    l * o->ld + i));
		emu_store(touched, t->bias, g->c.type,
		    index * t->bias_stride + i, (float)sum);
	}
}
