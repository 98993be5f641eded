/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/ptx/matrix.c -- matrices between memory and the registers of a warp:
 * wmma.load, wmma.store, ldmatrix, stmatrix. */
#include "emulator/ptx/matrix.h"

enum { SIDE = 8 };              /* rows and columns of ldmatrix's */

struct ptx_share
ptx_share_of(const struct ptx_instruction *in, int name, int type)
{
	const struct ptx_matrix *m = in->matrix;
	const bool operand = name == MATRIX_A || name == MATRIX_B;
	const int bytes = ptx_type_bytes[type];
	struct ptx_share s = {
		.rows = name == MATRIX_B ? m->n : m->m,
		.cols = operand ? m->k : m->n,
		.packed = bytes < 4 ? 4 / bytes : 1, .type = type
	};

	s.side = operand ? s.packed : 2;
	s.distinct = s.rows * s.cols / LANES;
	s.count = (int)m->of[name].count * s.packed;
	return s;
}

void
ptx_share_place(const struct ptx_share *s, int lane, int e, int *row, int *col)
{
	const int tile = e % s->distinct / s->side, down = s->rows / 8;

	*row = 8 * (tile % down) + lane / 4;
	*col = 4 * s->side * (tile / down) + lane % 4 * s->side +
	    e % s->side;
}

/* ---- wmma -------------------------------------------------------------- */

/* The address of element (row, col); each row, or column, is `stride` elements
 * behind the one before. */
static uint64_t
element_at(const struct ptx_instruction *in, const struct ptx_share *s,
    uint64_t start, uint64_t stride, int row, int col)
{
	const bool columns = in->matrix->columns[0];
	const bool along = (in->matrix->name == MATRIX_B) == columns;
	const uint64_t at = along ? (uint64_t)row * stride + (uint64_t)col
	    : (uint64_t)col * stride + (uint64_t)row;

	return start + at * ptx_type_bytes[s->type];
}

static uint64_t
stride_of(const struct ptx_instruction *in, const struct ptx_share *s,
    unsigned char *const base[4], int lane)
{
	const bool along = (in->matrix->name == MATRIX_B) ==
	    in->matrix->columns[0];

	if (in->operand[2].base == BASE_NONE)
		return (uint64_t)(along ? s->cols : s->rows);
	return lane_value(base, &in->operand[2], lane);
}

/* One lane's share. */
static void
move_share(struct warp *w, struct frame *f, const struct ptx_instruction *in,
    unsigned char *const base[4], int lane, const struct ptx_share *s)
{
	const struct ptx_registers *to = &in->matrix->of[in->matrix->name];
	const uint64_t start = ptx_address_of(f, in, base, lane);
	const uint64_t stride = stride_of(in, s, base, lane);
	const size_t bytes = ptx_type_bytes[s->type];
	uint64_t x[PARTS] = {0};

	for (int e = 0; e < s->count; e++) {
		const int part = e / s->packed;
		const size_t shift = (size_t)(e % s->packed) * bytes;
		unsigned char *value = (unsigned char *)&x[part] + shift, *at;
		const bool is_store = in->mode == MODE_STORE;
		int row, col;

		if (is_store && !shift)
			x[part] = lane_value(base, &to->part[part], lane);
		ptx_share_place(s, lane, e, &row, &col);
		at = ptx_reach(w, f, in, lane, element_at(in, s, start, stride,
		    row, col), bytes, is_store ? WRITE : READ, is_store
		    ? value : NULL);
		if (at && is_store)
			memcpy(at, value, bytes);
		else if (at)
			memcpy(value, at, bytes);
	}
	for (size_t i = 0; i < to->count && in->mode == MODE_LOAD; i++)
		lane_store(base, &to->part[i], lane, x[i]);
}

/* ---- ldmatrix, stmatrix ------------------------------------------------ */

/* Lane i has a number at row i / 4 of the matrix, or at that column. */
static uint16_t *
number_at(uint16_t matrix[SIDE][SIDE], const struct ptx_instruction *in,
    int lane, int half)
{
	const int a = lane / 4, b = lane % 4 * 2 + half;

	return in->flags & FLAG_TRANS ? &matrix[b][a] : &matrix[a][b];
}

/* A row of 16 bytes is where lane 8 k + row of matrix k says. */
static unsigned char *
row_at(struct warp *w, struct frame *f, const struct ptx_instruction *in,
    unsigned char *const base[4], int lane, const uint16_t *value)
{
	return ptx_reach(w, f, in, lane, ptx_address_of(f, in, base, lane),
	    SIDE * sizeof *value, in->op == OP_stmatrix ? WRITE : READ,
	    (const unsigned char *)value);
}

static void
load_matrix(struct warp *w, struct frame *f, const struct ptx_instruction *in,
    unsigned char *const base[4], uint32_t mask, int k)
{
	uint16_t matrix[SIDE][SIDE] = {0};

	for (int r = 0; r < SIDE; r++) {
		const unsigned char *at = row_at(w, f, in, base, k * SIDE + r,
		    NULL);

		if (at)
			memcpy(matrix[r], at, sizeof matrix[r]);
	}
	for (int i = 0; i < LANES; i++)
		if (mask >> i & 1)
			lane_store(base, &in->part[k], i, *number_at(matrix,
			    in, i, 0) | (uint64_t)*number_at(matrix, in, i, 1)
			    << 16);
}

static void
store_matrix(struct warp *w, struct frame *f, const struct ptx_instruction *in,
    unsigned char *const base[4], int k)
{
	uint16_t matrix[SIDE][SIDE];

	for (int i = 0; i < LANES; i++) {
		const uint64_t x = lane_value(base, &in->part[k], i);

		*number_at(matrix, in, i, 0) = (uint16_t)x;
		*number_at(matrix, in, i, 1) = (uint16_t)(x >> 16);
	}
	for (int r = 0; r < SIDE; r++) {
		unsigned char *at = row_at(w, f, in, base, k * SIDE + r,
		    matrix[r]);

		if (at)
			memcpy(at, matrix[r], sizeof matrix[r]);
	}
}

void
ptx_matrices(struct warp *w, struct frame *f, const struct ptx_instruction *in,
    unsigned char *const base[4], uint32_t mask)
{
	if (mask != UINT32_MAX)
		ptx_found(w, in, __builtin_ctz(mask), PTX_MEMBERS, "only lanes "
		    "%08x take part", mask);
	if (in->op == OP_mma || in->mode == MODE_MMA) {
		ptx_multiply(w, in, base, mask);
	} else if (in->op == OP_wmma) {
		const struct ptx_share s = ptx_share_of(in, in->matrix->name,
		    in->matrix->type[0]);

		for (int i = 0; i < LANES; i++)
			if (mask >> i & 1)
				move_share(w, f, in, base, i, &s);
	} else {
		for (int k = 0; k < in->vector; k++)
			if (in->op == OP_ldmatrix)
				load_matrix(w, f, in, base, mask, k);
			else
				store_matrix(w, f, in, base, k);
	}
}
