/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/ptx/matrices.c -- the words and operands of instructions on
 * matrices: mma, wmma, ldmatrix, stmatrix. */
#include "emulator/ptx/parse.h"

#include <ctype.h>
#include <stdlib.h>

/* The element types that A and B may have, and the shapes that go with them.
 * What is not here is not known, so its kernel is refused. */
static const struct form {
	uint8_t op, type, m, n, k;
} forms[] = {
	{ OP_mma, T_F16, 16, 8, 8 }, { OP_mma, T_F16, 16, 8, 16 },
	{ OP_mma, T_BF16, 16, 8, 8 }, { OP_mma, T_BF16, 16, 8, 16 },
	{ OP_mma, T_TF32, 16, 8, 4 }, { OP_mma, T_TF32, 16, 8, 8 },
	{ OP_mma, T_S8, 8, 8, 16 }, { OP_mma, T_S8, 16, 8, 16 },
	{ OP_mma, T_S8, 16, 8, 32 }, { OP_mma, T_F64, 8, 8, 4 },
	{ OP_mma, T_F64, 16, 8, 4 }, { OP_mma, T_F64, 16, 8, 8 },
	{ OP_mma, T_F64, 16, 8, 16 },
	{ OP_wmma, T_F16, 16, 16, 16 }, { OP_wmma, T_F16, 32, 8, 16 },
	{ OP_wmma, T_F16, 8, 32, 16 }, { OP_wmma, T_BF16, 16, 16, 16 },
	{ OP_wmma, T_BF16, 32, 8, 16 }, { OP_wmma, T_BF16, 8, 32, 16 },
	{ OP_wmma, T_S8, 16, 16, 16 }, { OP_wmma, T_S8, 32, 8, 16 },
	{ OP_wmma, T_S8, 8, 32, 16 }, { OP_wmma, T_TF32, 16, 16, 8 },
	{ OP_wmma, T_F64, 8, 8, 4 }
};

/* ---- Words ------------------------------------------------------------- */

/* m16n8k16: a letter and a number of at most 64, three times. */
static bool
shape(struct ptx_matrix *m, const char *part)
{
	unsigned size[3] = {0};

	for (int i = 0; i < 3; i++) {
		if (*part++ != "mnk"[i])
			return false;
		while (isdigit((unsigned char)*part) && size[i] < 64)
			size[i] = size[i] * 10 + (unsigned)(*part++ - '0');
	}
	if (*part || size[0] > 64 || size[1] > 64 || size[2] > 64)
		return false;
	m->m = (uint8_t)size[0];
	m->n = (uint8_t)size[1];
	m->k = (uint8_t)size[2];
	return true;
}

static bool
names_matrix(const struct ptx_instruction *in, const char *part)
{
	static const char names[] = "dabc"; /* as enum ptx_matrix_name */
	const char *at = part[0] && !part[1] ? strchr(names, part[0]) : NULL;

	if (in->op != OP_wmma || !at)
		return false;
	in->matrix->name = (uint8_t)(at - names);
	return true;
}

bool
ptx_matrix_word(struct parser *p, struct ptx_instruction *in, const char *part)
{
	const int type = ptx_find(ptx_type_words, part);
	struct ptx_matrix *m;

	if (in->op == OP_ldmatrix || in->op == OP_stmatrix) {
		if (part[0] == 'x' && strchr("124", part[1]) && !part[2])
			in->vector = (uint8_t)(part[1] - '0');
		return part[0] == 'x' || !strcmp(part, "m8n8");
	}
	if (in->op != OP_mma && in->op != OP_wmma)
		return false;
	if (!in->matrix)
		in->matrix = calloc(1, sizeof *in->matrix);
	m = in->matrix;
	if (!m)
		ptx_fail(p, "out of memory");
	if (names_matrix(in, part) || shape(m, part))
		return true;
	if (!strcmp(part, "row") || !strcmp(part, "col")) {
		if (m->layouts < 2)
			m->columns[m->layouts++] = *part == 'c';
		return true;
	}
	if (type > 0 && m->types < MATRICES)
		m->type[m->types++] = (uint8_t)type;
	m->finite |= !strcmp(part, "satfinite");
	return type > 0 || !strcmp(part, "satfinite");
}

/* ---- Operands ---------------------------------------------------------- */

static void
registers(struct parser *p, struct ptx_instruction *in, const struct raw *r,
    int name, int bytes)
{
	struct ptx_registers *to = &in->matrix->of[name];

	if (r->kind != RAW_VECTOR && r->kind != RAW_REGISTER)
		ptx_fail(p, "registers expected");
	to->count = r->kind == RAW_VECTOR ? r->count : 1;
	for (size_t i = 0; i < to->count; i++) {
		to->part[i] = r->kind == RAW_VECTOR ? r->part[i].operand
		    : r->operand;
		if (r->kind == RAW_VECTOR && r->part[i].kind == RAW_NUMBER)
			to->part[i] = ptx_constant(p, ptx_as_type(
			    r->part[i].number, r->part[i].is_float,
			    bytes == 8 ? T_F64 : T_F32), bytes);
		if (to->part[i].width != bytes)
			ptx_fail(p, "a register of %d bytes expected", bytes);
	}
}

static bool
is_integer(int type)
{
	return type == T_S8 || type == T_U8;
}

static bool
has_form(const struct ptx_instruction *in, int type)
{
	const struct ptx_matrix *m = in->matrix;

	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
		if (forms[i].op == in->op && forms[i].m == m->m &&
		    forms[i].n == m->n && forms[i].k == m->k &&
		    (forms[i].type == type || (forms[i].type == T_S8 &&
		    type == T_U8)))
			return true;
	return false;
}

/* The types of sums that go with A's. */
static bool
sums(int type, int sum)
{
	if (is_integer(type))
		return sum == T_S32;
	if (type == T_F64)
		return sum == T_F64;
	return sum == T_F32 || (type == T_F16 && sum == T_F16);
}

/* wmma.mma of FP16 names the types of D and C only. */
static void
name_types(struct parser *p, struct ptx_instruction *in)
{
	struct ptx_matrix *m = in->matrix;
	uint8_t *t = m->type;

	if (in->op == OP_wmma && m->types == 2) {
		t[MATRIX_C] = t[1];
		t[MATRIX_A] = t[MATRIX_B] = T_F16;
		m->types = MATRICES;
	}
	if (m->types != MATRICES || !has_form(in, t[MATRIX_A]) ||
	    !sums(t[MATRIX_A], t[MATRIX_D]) || !sums(t[MATRIX_A],
	    t[MATRIX_C]) || (t[MATRIX_A] != t[MATRIX_B] &&
	    !(is_integer(t[MATRIX_A]) && is_integer(t[MATRIX_B]))))
		ptx_fail(p, "products of this shape and these types");
}

static int
count_of(const struct ptx_instruction *in, int name, int type)
{
	const struct ptx_matrix *m = in->matrix;
	const int bytes = ptx_type_bytes[type];
	const int each = bytes < 4 ? 4 / bytes : 1;
	const int size = name == MATRIX_A ? m->m * m->k
	    : name == MATRIX_B ? m->n * m->k : m->m * m->n;

	/* Of FP16, fragments of wmma have the same size in all shapes. */
	if (in->op == OP_wmma && type == T_F16 && (name == MATRIX_A ||
	    name == MATRIX_B))
		return PARTS;
	return size / LANES / each;
}

static void
check_count(struct parser *p, const struct ptx_instruction *in, int name,
    int type)
{
	if (in->matrix->of[name].count != (size_t)count_of(in, name, type))
		ptx_fail(p, "%d registers expected", count_of(in, name,
		    type));
}

static int
register_bytes(int type)
{
	return type == T_F64 ? 8 : 4;
}

static void
product(struct parser *p, struct ptx_instruction *in, const struct raw *r,
    int count)
{
	if (count != MATRICES)
		ptx_fail(p, "four matrices expected");
	name_types(p, in);
	for (int i = 0; i < MATRICES; i++) {
		const int type = in->matrix->type[i];

		registers(p, in, &r[i], i, register_bytes(type));
		check_count(p, in, i, type);
	}
}

/* wmma.load, wmma.store. */
static void
fragment(struct parser *p, struct ptx_instruction *in, const struct raw *r,
    int count)
{
	struct ptx_matrix *m = in->matrix;
	const int at = in->mode == MODE_STORE, name = m->name;
	const int type = m->type[0];
	bool good = m->types == 1 && count >= 2;

	if (name == MATRIX_A || name == MATRIX_B)
		good &= has_form(in, type);
	else
		good &= type == T_F64 ? has_form(in, T_F64)
		    : (type == T_F32 && has_form(in, T_TF32)) ||
		    (sums(type == T_S32 ? T_S8 : T_F16, type) &&
		    has_form(in, type == T_S32 ? T_S8 : T_F16));
	if (!good)
		ptx_fail(p, "a matrix of this shape and type");
	registers(p, in, &r[at], name, register_bytes(type));
	check_count(p, in, name, type);
	ptx_address(p, in, &r[!at]);
	in->operand[2].base = BASE_NONE;
	if (count > 2)
		in->operand[2] = ptx_finish(p, &r[2], T_U32);
}

bool
ptx_matrix_operands(struct parser *p, struct ptx_instruction *in,
    const struct raw *r, int count)
{
	const int vector = in->vector, at = in->op == OP_stmatrix;

	switch (in->op) {
	case OP_ldmatrix: case OP_stmatrix:
		if (!vector || count != 2 || in->type != T_B16 ||
		    r[at].kind != RAW_VECTOR)
			ptx_fail(p, "matrices of 16-bit numbers expected");
		ptx_vector(p, in, &r[at], T_B32);
		ptx_address(p, in, &r[!at]);
		for (int i = 0; i < in->vector; i++)
			if (in->part[i].width != 4 || in->vector != vector)
				ptx_fail(p, "%d registers expected", vector);
		return true;
	case OP_mma: case OP_wmma:
		if (!in->matrix || !in->matrix->m)
			ptx_fail(p, "a product without a shape");
		if (in->op == OP_mma || in->mode == MODE_MMA)
			product(p, in, r, count);
		else if (in->mode == MODE_LOAD || in->mode == MODE_STORE)
			fragment(p, in, r, count);
		else
			ptx_fail(p, "what wmma does");
		return true;
	default:
		return false;
	}
}
