/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cublas/cublas_sums.c -- products with the GPU's own sums, and with
 * sums in FP64. Operands are gathered so that every sum runs along memory; a
 * complex sum is two real ones; then alpha and beta are applied as cuBLAS
 * does. */
#include "emulator/cublas/cublas_sums.h"
#include "emulator/cublas/cublas_exact.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* More takes longer than a quarter of a minute. */
#define EXACT_MOST 0x1p34

/* Both operands, and the sums of C's parts. Rows of A and columns of B have
 * `length` numbers each. */
struct gathered {
	int64_t length;
	float *a[2], *b[2], *sums[2]; /* the second for imaginary parts */
};

bool
emu_product_fits_exact(const struct emu_gemm *g)
{
	const double one = (double)g->m * (double)g->n * (double)g->k *
	    (g->real == EMU_COMPLEX ? 4 : 1);

	char what[160];

	if (one * (double)g->batch <= EXACT_MOST)
		return true;
	snprintf(what, sizeof what, "a product of %lld x %lld x %lld, %lld "
	    "times, has more than 2^34 terms and is added in FP32, in the "
	    "CPU's order", (long long)g->m, (long long)g->n, (long long)g->k,
	    (long long)g->batch);
	emu_device_not_exact(what);
	return false;
}

static void
drop(struct gathered *s)
{
	for (int i = 0; i < 2; i++) {
		free(s->a[i]);
		free(s->b[i]);
		free(s->sums[i]);
	}
}

/* The place of a number of an operand's element l: real ones in order. A
 * complex sum takes `block` first terms (re re, or re im), then `block` second
 * ones (im im, or im re), because a GPU issues them in turn; the gap at the end
 * is zeros. */
struct order {
	int64_t count, block, length;
	bool complex;
};

static struct order
order_of(const struct emu_gemm *g, int64_t block)
{
	struct order o = { g->k, block ? block : 1, g->k,
		g->real == EMU_COMPLEX };

	if (o.complex)
		o.length = (g->k + o.block - 1) / o.block * o.block * 2;
	return o;
}

/* One operand: `n` rows (or columns) of C, part[0] of the first terms and
 * part[1] of the second, with the signs of the parts. */
static float *
gather(const struct order *o, const float *packed, int64_t rows,
    bool along_rows, int64_t n, const int part[2], const float sign[2])
{
	const int parts = o->complex ? 2 : 1;
	float *to = calloc((size_t)(n * o->length) + 1, sizeof *to);

	for (int64_t i = 0; to && i < n; i++)
		for (int64_t l = 0; l < o->count; l++) {
			const int64_t from = along_rows ? i * rows + l :
			    l * rows + i;
			const int64_t at = i * o->length + (o->complex ?
			    l / o->block * 2 * o->block + l % o->block : l);

			for (int t = 0; t < parts; t++)
				to[at + t * o->block] = sign[t] *
				    packed[from * parts + part[t]];
		}
	return to;
}

/* Real: one pair. Complex: (re, -im) with (re, im), (re, im) with (im, re);
 * conjugation flips the sign of the imaginary part. */
static bool
gather_all(const struct emu_product *p, int64_t block, struct gathered *s)
{
	static const int straight[2] = { 0, 1 }, crossed[2] = { 1, 0 };
	const struct emu_gemm *g = p->g;
	const struct order o = order_of(g, block);
	const bool ta = g->transa != CUBLAS_OP_N, tb = g->transb != CUBLAS_OP_N;
	const float ca = g->transa == CUBLAS_OP_C ? -1 : 1;
	const float cb = g->transb == CUBLAS_OP_C ? -1 : 1;
	const float minus[2] = { 1, -ca }, plus[2] = { 1, ca };
	const float re_im[2] = { 1, cb }, im_re[2] = { cb, 1 };
	const int64_t ra = emu_rows_of_a(g), rb = emu_rows_of_b(g);
	float *a = emu_pack(p->touched, p->a, &g->a, ra, ta ? g->m : g->k,
	    g->arithmetic);
	float *b = emu_pack(p->touched, p->b, &g->b, rb, tb ? g->k : g->n,
	    g->arithmetic);
	bool whole = a && b;

	*s = (struct gathered){ .length = o.length };
	for (int i = 0; whole && i < (o.complex ? 2 : 1); i++) {
		s->a[i] = gather(&o, a, ra, ta, g->m, straight,
		    i ? plus : minus);
		s->b[i] = gather(&o, b, rb, !tb, g->n, i ? crossed : straight,
		    i ? im_re : re_im);
		s->sums[i] = malloc((size_t)(g->m * g->n) * sizeof(float));
		whole = s->a[i] && s->b[i] && s->sums[i];
	}
	free(a);
	free(b);
	return whole;
}

/* alpha * sum + beta * c as a kernel's epilogue computes it: beta c first, then
 * one FMA. */
static void
finish_real(const struct emu_product *p, int64_t i, int64_t j, float sum)
{
	const struct emu_gemm *g = p->g;
	const float alpha = (float)g->alpha.value, beta = (float)g->beta.value;
	const int64_t at = j * g->c.ld + i;
	const float value = beta == 0 ? alpha * sum : fmaf(alpha, sum, beta *
	    emu_load(p->touched, p->c, g->c.type, at));

	emu_store(p->touched, p->c, g->c.type, at, value);
}

static void
finish_complex(const struct emu_product *p, int64_t i, int64_t j, float re,
    float im)
{
	const struct emu_gemm *g = p->g;
	const float ar = (float)g->alpha.value, br = (float)g->beta.value;
	const float ai = (float)g->alpha.imaginary;
	const float bi = (float)g->beta.imaginary;
	const int64_t at = 2 * (j * g->c.ld + i);
	float out[2] = { 0, 0 };

	if (br != 0 || bi != 0) {
		const float x = emu_load(p->touched, p->c, g->c.type, at);
		const float y = emu_load(p->touched, p->c, g->c.type, at + 1);

		out[0] = fmaf(br, x, -bi * y);
		out[1] = fmaf(br, y, bi * x);
	}
	out[0] = fmaf(-ai, im, fmaf(ar, re, out[0]));
	out[1] = fmaf(ai, re, fmaf(ar, im, out[1]));
	emu_store(p->touched, p->c, g->c.type, at, out[0]);
	emu_store(p->touched, p->c, g->c.type, at + 1, out[1]);
}

bool
emu_product_exact(const struct emu_product *p)
{
	const struct emu_gemm *g = p->g;
	const struct emu_model *model = emu_device_model(emu_context_device());
	const struct emu_blocks blocks = emu_blocks_of(
	    model->major * 10 + model->minor, g->arithmetic);
	const bool complex = g->real == EMU_COMPLEX;
	struct gathered s;
	bool done = gather_all(p, blocks.length, &s);

	for (int i = 0; done && i <= complex; i++)
		done = emu_exact_sums(blocks, g->m, g->n, s.length, s.a[i],
		    s.b[i], s.sums[i]);
	for (int64_t j = 0; done && j < g->n; j++)
		for (int64_t i = 0; i < g->m; i++) {
			const int64_t at = j * g->m + i;

			if (complex)
				finish_complex(p, i, j, s.sums[0][at],
				    s.sums[1][at]);
			else
				finish_real(p, i, j, s.sums[0][at]);
		}
	drop(&s);
	return done;
}

static double *
widened(const float *x, int64_t count)
{
	double *wide = malloc((size_t)count * sizeof *wide + 1);

	for (int64_t i = 0; wide && i < count; i++)
		wide[i] = (double)x[i];
	return wide;
}

/* sums = A B, both gathered. */
static bool
sum_wide(const struct emu_gemm *g, int64_t length, const float *a,
    const float *b, double *sums)
{
	double *x = widened(a, g->m * length), *y = widened(b, g->n * length);
	const bool done = x && y && sums;

	if (done && !length)
		memset(sums, 0, (size_t)(g->m * g->n) * sizeof *sums);
	else if (done)
		emu_dgemm(true, false, (int)g->m, (int)g->n, (int)length, 1, x,
		    length, y, length, 0, sums, g->m);
	free(x);
	free(y);
	return done;
}

static void
finish_wide(const struct emu_product *p, int64_t i, int64_t j, double re,
    double im)
{
	const struct emu_gemm *g = p->g;
	const struct emu_scalar *al = &g->alpha, *be = &g->beta;
	const int parts = g->real == EMU_COMPLEX ? 2 : 1;
	const int64_t at = parts * (j * g->c.ld + i);
	double old[2] = { 0, 0 };

	for (int t = 0; t < parts && (be->value != 0 || be->imaginary != 0);
	    t++)
		old[t] = (double)emu_load(p->touched, p->c, g->c.type, at + t);
	emu_store(p->touched, p->c, g->c.type, at, (float)(al->value * re -
	    al->imaginary * im + be->value * old[0] -
	    be->imaginary * old[1]));
	if (parts > 1)
		emu_store(p->touched, p->c, g->c.type, at + 1, (float)(
		    al->value * im + al->imaginary * re + be->value * old[1] +
		    be->imaginary * old[0]));
}

bool
emu_product_reference(const struct emu_product *p)
{
	const struct emu_gemm *g = p->g;
	const int parts = g->real == EMU_COMPLEX ? 2 : 1;
	double *sums[2] = { NULL, NULL };
	struct gathered s;
	bool done = gather_all(p, 1, &s);

	for (int t = 0; done && t < parts; t++) {
		sums[t] = malloc((size_t)(g->m * g->n) * sizeof *sums[t]);
		done = sum_wide(g, s.length, s.a[t], s.b[t], sums[t]);
	}
	for (int64_t j = 0; done && j < g->n; j++)
		for (int64_t i = 0; i < g->m; i++) {
			const int64_t at = j * g->m + i;

			finish_wide(p, i, j, sums[0][at], parts > 1 ?
			    sums[1][at] : 0);
		}
	free(sums[0]);
	free(sums[1]);
	drop(&s);
	return done;
}
