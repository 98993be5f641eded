/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/ptx/multiply.c -- products of matrices in registers: mma, wmma.mma.
 * Floats are added as a Tensor Core adds them, integers exactly, FP64 by one
 * FMA after the other. */
#include "emulator/arithmetic/blocks.h"
#include "emulator/ptx/matrix.h"
#include "emulator/ptx/number.h"

enum { CELLS = 512, AMPERE = 80 };

/* A matrix, one row after the other, in rows of `width` numbers. */
struct matrix {
	int width;
	double value[CELLS];
	int exponent[CELLS];        /* as blocks.h wants them */
};

static double
number_of(int type, uint64_t x)
{
	switch (type) {
	case T_S8: return (double)(int8_t)x;
	case T_U8: return (double)(uint8_t)x;
	case T_S32: return (double)(int32_t)x;
	case T_TF32: return (double)f32_of((uint32_t)x & 0xffffe000);
	default: return as_double(type, x);
	}
}

static void
collect(const struct ptx_instruction *in, unsigned char *const base[4],
    int name, int least, struct matrix *to)
{
	const int type = in->matrix->type[name];
	const struct ptx_share s = ptx_share_of(in, name, type);
	const int bits = ptx_type_bytes[type] * 8;

	for (int i = 0; i < LANES; i++)
		for (int e = 0; e < s.distinct; e++) {
			const uint64_t x = lane_value(base, &in->matrix->
			    of[name].part[e / s.packed], i) >> e % s.packed *
			    bits;
			int row, col, at;

			ptx_share_place(&s, i, e, &row, &col);
			at = row * to->width + col;
			to->value[at] = number_of(type, x);
			if (to->value[at] != 0)
				to->exponent[at] = emu_exponent_of(
				    (float)to->value[at], least);
		}
}

/* The end of a block: the sum as its type has it. */
static float
rounded(int type, int64_t total, int unit)
{
	if (type != T_F16)
		return emu_truncated(total, unit);
	return f16_to(f16_from((double)total * emu_power_of_two(unit)));
}

static float
add_blocks(const struct emu_blocks *how, int type, float sum,
    const struct matrix *a, const struct matrix *b, int i, int j)
{
	for (int l = 0; l < a->width; l += how->length) {
		const int x = i * a->width + l, y = j * b->width + l;
		const double special = emu_special_total(sum, a->value + x,
		    b->value + y, how->length);
		int unit;
		int64_t total;

		/* Not finite: there is nothing to align. */
		if (special - special != 0) {
			sum = (float)special;
			continue;
		}
		total = emu_block_total(sum, a->value + x, b->value + y,
		    a->exponent + x, b->exponent + y, how->length,
		    how->fraction, &unit);
		sum = rounded(type, total, unit);
	}
	return sum;
}

static uint64_t
add_integers(const struct ptx_matrix *m, double sum, const struct matrix *a,
    const struct matrix *b, int i, int j)
{
	int64_t total = (int64_t)sum;

	for (int l = 0; l < m->k; l++)
		total += (int64_t)(a->value[i * a->width + l] *
		    b->value[j * b->width + l]);
	if (m->finite && total > INT32_MAX)
		total = INT32_MAX;
	if (m->finite && total < INT32_MIN)
		total = INT32_MIN;
	return (uint32_t)total;
}

static uint64_t
add_doubles(const struct ptx_matrix *m, double sum, const struct matrix *a,
    const struct matrix *b, int i, int j)
{
	for (int l = 0; l < m->k; l++)
		sum = __builtin_fma(a->value[i * a->width + l],
		    b->value[j * b->width + l], sum);
	return bits_of64(c64(sum));
}

/* One number of D. */
static uint64_t
cell(const struct ptx_matrix *m, const struct emu_blocks *how, double c,
    const struct matrix *a, const struct matrix *b, int i, int j)
{
	const int type = m->type[MATRIX_D];
	float sum;

	if (type == T_S32)
		return add_integers(m, c, a, b, i, j);
	if (type == T_F64)
		return add_doubles(m, c, a, b, i, j);
	sum = add_blocks(how, type, (float)c, a, b, i, j);
	return type == T_F16 ? f16_from32(sum) : bits_of(c32(sum));
}

void
ptx_multiply(struct warp *w, const struct ptx_instruction *in,
    unsigned char *const base[4], uint32_t mask)
{
	const struct ptx_matrix *m = in->matrix;
	const int type = m->type[MATRIX_A], capability =
	    w->block->launch->options->capability;
	const int least = type == T_F16 ? EMU_FP16_LEAST : EMU_FP32_LEAST;
	const struct emu_blocks how = emu_blocks_of_format(capability
	    ? capability : AMPERE, type != T_TF32, least);
	const int width = (m->k + how.length - 1) / how.length * how.length;
	const struct ptx_share s = ptx_share_of(in, MATRIX_D,
	    m->type[MATRIX_D]);
	const int bits = ptx_type_bytes[s.type] * 8;
	struct matrix a = { .width = width }, b = a, c = { .width = m->n };

	for (int i = 0; i < CELLS; i++)
		a.exponent[i] = b.exponent[i] = EMU_EXPONENT_OF_ZERO;
	collect(in, base, MATRIX_A, least, &a);
	collect(in, base, MATRIX_B, least, &b);
	collect(in, base, MATRIX_C, least, &c);
	for (int i = 0; i < LANES; i++) {
		uint64_t x[PARTS] = {0};

		for (int e = 0; e < s.count; e++) {
			int row, col;

			ptx_share_place(&s, i, e, &row, &col);
			x[e / s.packed] |= cell(m, &how, c.value[row * m->n +
			    col], &a, &b, row, col) << e % s.packed * bits;
		}
		for (size_t k = 0; k < m->of[MATRIX_D].count; k++)
			if (mask >> i & 1)
				lane_store(base, &m->of[MATRIX_D].part[k], i,
				    x[k]);
	}
}
