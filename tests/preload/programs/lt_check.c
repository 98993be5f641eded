/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/lt_check.c -- a product of cublasLt with its epilogue
 * in FP64, and what the results and their surroundings must look like. */
#include "lt_client.h"

#include <math.h>

#define GELU_STEEPEST 1.13

/* ---- numbers ------------------------------------------------------------- */

static double
half(uint16_t x)
{
	const int exponent = x >> 10 & 31, mantissa = x & 1023;
	double value = ldexp(mantissa, -24);

	if (exponent == 31)
		value = mantissa ? (double)NAN : (double)INFINITY;
	else if (exponent)
		value = ldexp(1024 + mantissa, exponent - 25);
	return x & 0x8000 ? -value : value;
}

/* Element `at` of what `bytes` hold of this matrix. */
static double
number(const struct lt_matrix *x, const unsigned char *bytes, int64_t at)
{
	const unsigned char *first = bytes + ((unsigned char *)x->device -
	    x->buffer.memory);
	uint32_t wide;
	uint16_t narrow;
	int32_t whole;
	float single;

	switch (x->type) {
	case CUDA_R_32F:
		memcpy(&single, first + 4 * at, sizeof single);
		return (double)single;
	case CUDA_R_16F:
		memcpy(&narrow, first + 2 * at, sizeof narrow);
		return half(narrow);
	case CUDA_R_16BF:
		memcpy(&narrow, first + 2 * at, sizeof narrow);
		wide = (uint32_t)narrow << 16;
		memcpy(&single, &wide, sizeof single);
		return (double)single;
	case CUDA_R_8I:
		return (double)(signed char)first[at];
	default:
		memcpy(&whole, first + 4 * at, sizeof whole);
		return (double)whole;
	}
}

static int64_t
place(const struct lt_matrix *x, int b, int64_t i, int64_t j)
{
	return b * x->stride + (x->row ? i * x->ld + j : j * x->ld + i);
}

/* Of an operand, turned or not. */
static double
operand(const struct lt_matrix *x, int b, bool turned, int64_t i, int64_t j)
{
	return number(x, x->buffer.before, turned ? place(x, b, j, i) :
	    place(x, b, i, j));
}

static bool
mask_bit(const struct lt_matrix *x, const unsigned char *bytes, int b,
    int64_t i, int64_t j)
{
	const unsigned char *first = bytes + ((unsigned char *)x->device -
	    x->buffer.memory);

	return first[b * x->stride + j * x->ld + i / 8] >> i % 8 & 1;
}

static double
tanh_of(double x)
{
	return tanh(sqrt(2 / acos(-1)) * (x + 0.044715 * x * x * x));
}

/* As an H100 has it: with tanh, and NaN for -inf. */
static double
gelu(double x)
{
	return 0.5 * x * (1 + tanh_of(x));
}

static double
gelu_slope(double x)
{
	const double t = tanh_of(x);

	return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * sqrt(2 / acos(-1)) *
	    (1 + 3 * 0.044715 * x * x);
}

/* ---- what must come out -------------------------------------------------- */

struct sum {
	double value, size;
};

/* Before the activation. */
static struct sum
product(const struct lt_problem *p, int b, int64_t i, int64_t j)
{
	const struct lt_wanted *w = &p->w;
	const struct lt_matrix *c = w->apart ? &p->c : &p->d;
	struct sum s = { 0, 0 };

	for (int64_t l = 0; w->alpha != 0 && l < w->k; l++) {
		const double x = operand(&p->a, b, w->turn_a, i, l) *
		    operand(&p->b, b, w->turn_b, l, j);
		s.value += x;
		s.size += fabs(x);
	}
	if (w->alpha != 0)
		s.value *= (double)w->alpha;
	s.size *= fabs((double)w->alpha);
	if (w->beta != 0) {
		const double x = (double)w->beta * operand(c, b, false, i, j);
		s.value += x;
		s.size += fabs(x);
	}
	if (w->epilogue & LT_BIAS) {
		const double x = operand(&p->vector, b, false, i, 0);
		s.value += x;
		s.size += fabs(x);
	}
	return s;
}

static struct sum
finished(const struct lt_problem *p, struct sum s, int b, int64_t i,
    int64_t j)
{
	const unsigned e = p->w.epilogue;

	if (e & (LT_DGELU | LT_GELU))
		s.size *= GELU_STEEPEST;
	if (e & LT_DRELU)
		s.value = mask_bit(&p->aux, p->aux.buffer.before, b, i, j) ?
		    s.value : 0;
	else if (e & LT_DGELU)
		s.value *= gelu_slope(operand(&p->aux, b, false, i, j));
	else if (e & LT_RELU)
		s.value = s.value <= 0 ? 0 : s.value;
	else if (e & LT_GELU)
		s.value = gelu(s.value);
	return s;
}

/* The worst so far, with this number. */
static void
judge(struct lt_error *error, double got, struct sum want)
{
	const double largest = 3.4028235677973366e38; /* rounds to infinity */
	double wrong = fabs(got - want.value);

	if (fabs(want.value) >= largest || isnan(want.value)) {
		if (isnan(want.value) ? !isnan(got) : isfinite(got) ||
		    (isinf(want.value) && (isnan(got) ||
		    (got > 0) != (want.value > 0))))
			wrong = (double)INFINITY;
		else
			wrong = 0;
	} else if (!isfinite(got)) {
		wrong = (double)INFINITY;
	}
	if (wrong != 0)
		wrong = want.size > 0 && isfinite(wrong) ?
		    wrong / want.size : (double)INFINITY;
	if (wrong > error->worst)
		error->worst = wrong;
}

static void
judge_aux(const struct lt_problem *p, struct sum before, int b, int64_t i,
    int64_t j, struct lt_error *error)
{
	const struct lt_matrix *x = &p->aux;
	const bool bit = p->w.epilogue & LT_RELU &&
	    mask_bit(x, x->buffer.after, b, i, j);

	if (!(p->w.epilogue & LT_RELU))
		judge(error, number(x, x->buffer.after, place(x, b, i, j)),
		    before);
	else if (bit == (before.value < 0)) /* as if it had been 0 */
		judge(error, 0, before);
}

static struct sum
input_sum(const struct lt_problem *p, int b, int64_t i)
{
	struct sum s = { 0, 0 };

	for (int64_t l = 0; l < p->w.k; l++) {
		const double x = p->w.epilogue & LT_BGRADA ?
		    operand(&p->a, b, p->w.turn_a, i, l) :
		    operand(&p->b, b, p->w.turn_b, l, i);
		s.value += x;
		s.size += fabs(x);
	}
	return s;
}

static void
judge_matrix(const struct lt_problem *p, int b, struct lt_error *error)
{
	const struct lt_wanted *w = &p->w;
	const struct lt_matrix *v = &p->vector;
	const int64_t length = w->epilogue & (LT_BGRAD | LT_BGRADA |
	    LT_BGRADB) ? v->rows : 0;
	struct sum *sums = client_allocate((size_t)w->m, sizeof *sums);

	for (int64_t j = 0; j < w->n; j++)
		for (int64_t i = 0; i < w->m; i++) {
			const struct sum before = product(p, b, i, j);
			const struct sum after = finished(p, before, b, i, j);

			judge(error, number(&p->d, p->d.buffer.after,
			    place(&p->d, b, i, j)), after);
			if ((w->epilogue & (LT_AUX | LT_DRELU | LT_DGELU)) ==
			    LT_AUX)
				judge_aux(p, before, b, i, j, error);
			sums[i].value += after.value;
			sums[i].size += after.size;
		}
	for (int64_t i = 0; i < length; i++)
		judge(error, number(v, v->buffer.after, place(v, b, i, 0)),
		    w->epilogue & LT_BGRAD ? sums[i] : input_sum(p, b, i));
	free(sums);
}

/* ---- promises ------------------------------------------------------------ */

static void
fetch(struct lt_buffer *b)
{
	if (b->memory)
		CUDA(cudaMemcpy(b->after, b->memory, b->bytes,
		    cudaMemcpyDeviceToHost));
}

static bool
unchanged(const struct lt_buffer *b)
{
	return !b->memory || !memcmp(b->before, b->after, b->bytes);
}

/* Nothing but the elements was written. */
static bool
gaps_unchanged(const struct lt_matrix *x)
{
	const size_t around = (size_t)((unsigned char *)x->device -
	    x->buffer.memory);
	const int64_t columns = x->row ? x->rows : x->cols;
	const int64_t used = x->row ? x->cols : x->rows;
	const size_t size = x->type == CUDA_R_8I ? 1 : x->type ==
	    CUDA_R_16F || x->type == CUDA_R_16BF ? 2 : 4;
	unsigned char *copy;
	bool same;

	if (!x->buffer.memory)
		return true;
	copy = client_allocate(x->buffer.bytes, 1);
	memcpy(copy, x->buffer.before, x->buffer.bytes);
	for (int b = 0; b < x->batch; b++)
		for (int64_t j = 0; j < columns; j++) {
			const size_t at = around + (size_t)(b * x->stride +
			    j * x->ld) * size;
			memcpy(copy + at, x->buffer.after + at,
			    (size_t)used * size);
		}
	same = !memcmp(copy, x->buffer.after, x->buffer.bytes);
	free(copy);
	return same;
}

struct lt_error
lt_check(struct lt_problem *p)
{
	const unsigned e = p->w.epilogue;
	struct lt_error error = { 0, NULL };

	fetch(&p->a.buffer);
	fetch(&p->b.buffer);
	fetch(&p->c.buffer);
	fetch(&p->d.buffer);
	fetch(&p->vector.buffer);
	fetch(&p->aux.buffer);
	if (!unchanged(&p->a.buffer) || !unchanged(&p->b.buffer) ||
	    !unchanged(&p->c.buffer))
		error.broken = "an input was written";
	else if (e & LT_BIAS && !unchanged(&p->vector.buffer))
		error.broken = "the bias was written";
	else if (e & (LT_DRELU | LT_DGELU) && !unchanged(&p->aux.buffer))
		error.broken = "AUX was written";
	else if (!gaps_unchanged(&p->d) || !gaps_unchanged(&p->vector) ||
	    !gaps_unchanged(&p->aux))
		error.broken = "a gap was written";
	for (int b = 0; b < p->w.batch; b++)
		judge_matrix(p, b, &error);
	if (error.broken)
		error.worst = (double)INFINITY;
	return error;
}

uint64_t
lt_hash(const struct lt_problem *p)
{
	const struct lt_buffer *const outputs[] = { &p->d.buffer,
		&p->vector.buffer, &p->aux.buffer };
	uint64_t hash = 0;

	for (int i = 0; i < 3; i++)
		if (outputs[i]->memory)
			hash = client_hash(hash, outputs[i]->after,
			    outputs[i]->bytes);
	return hash;
}

double
lt_bound(const struct lt_problem *p, int bits)
{
	const int kept = bits < p->w.kind->bits ? bits : p->w.kind->bits;
	const double u = kept < 24 ? ldexp(1, -kept) : 0;
	const double out = p->w.kind->out == CUDA_R_16F ? 0x1p-11 :
	    p->w.kind->out == CUDA_R_16BF ? 0x1p-8 : 0;

	if (p->w.kind->in == CUDA_R_8I)
		return 0;
	return 2 * u + u * u + (double)(p->w.k + p->w.n + 8) * 0x1p-23 +
	    2 * out;
}
