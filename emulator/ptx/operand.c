/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/ptx/operand.c -- operands: registers, constants, addresses,
 * vectors. */
#include "emulator/ptx/parse.h"

#include <ctype.h>
#include <stdlib.h>

struct ptx_operand
ptx_constant(struct parser *p, uint64_t value, int width)
{
	struct ptx_module *m = p->module;
	const size_t lane = width ? (size_t)width : 4;
	const size_t bytes = (lane * LANES + 63) / 64 * 64;
	struct ptx_operand o = { .base = BASE_POOL, .width = (uint8_t)width };
	uint64_t wide[2] = { value, 0 };

	if (!width)
		value = wide[0] = value ? UINT32_MAX : 0;
	if (m->pool_bytes + bytes > m->pool_room) {
		unsigned char *pool;

		m->pool_room = m->pool_room ? m->pool_room * 2 : 65536;
		pool = aligned_alloc(64, m->pool_room);
		if (!pool)
			ptx_fail(p, "out of memory");
		if (m->pool)
			memcpy(pool, m->pool, m->pool_bytes);
		free(m->pool);
		m->pool = pool;
	}
	o.at = (int32_t)m->pool_bytes;
	for (int i = 0; i < LANES; i++)
		memcpy(m->pool + m->pool_bytes + (size_t)i * lane, wide, lane);
	m->pool_bytes += bytes;
	return o;
}

static void
raw_name(struct parser *p, struct raw *r)
{
	const char *w = ptx_word(p);

	if (!*w)
		ptx_fail(p, "an operand expected at '%.20s'", p->s);
	if (!strcmp(w, "_")) {
		r->kind = RAW_SINK;
		r->operand.base = BASE_NONE;
	} else if (ptx_register_of(p, w, &r->operand)) {
		r->kind = RAW_REGISTER;
	} else {
		r->kind = RAW_NAME;
		if (strlen(w) >= sizeof r->name)
			ptx_fail(p, "a name is too long");
		strcpy(r->name, w);
	}
}

static void
raw_vector(struct parser *p, struct raw *r)
{
	r->kind = RAW_VECTOR;
	do {
		const struct raw part = ptx_raw(p);

		if (r->count == RAW_PARTS)
			ptx_fail(p, "a vector of more than 8");
		r->part[r->count].kind = part.kind;
		r->part[r->count].operand = part.operand;
		r->part[r->count].number = part.number;
		r->part[r->count++].is_float = part.is_float;
	} while (ptx_take(p, ','));
	ptx_want(p, '}');
}

struct raw
ptx_raw(struct parser *p)
{
	struct raw r;
	int c = ptx_peek(p);

	memset(&r, 0, sizeof r);
	if (ptx_take(p, '{')) {
		raw_vector(p, &r);
		return r;
	}
	if (ptx_take(p, '[')) {
		r = ptx_raw(p);
		r.has_register = r.kind == RAW_REGISTER;
		if (r.kind == RAW_NUMBER)
			r.offset = (int64_t)r.number;
		r.kind = RAW_ADDRESS;
		ptx_want(p, ']');
		return r;
	}
	if (ptx_take(p, '!')) {
		r = ptx_raw(p);
		r.operand.inverted = 1;
		return r;
	}
	if (isdigit(c) || c == '-') {
		r.kind = RAW_NUMBER;
		r.number = ptx_number(p, &r.is_float);
		return r;
	}
	raw_name(p, &r);
	while (ptx_peek(p) == '+' || (r.kind == RAW_NAME && ptx_peek(p) == '-'))
		r.offset += (int64_t)ptx_whole(p);
	if (ptx_take(p, '|')) {
		r.has_second = true;
		r.second = ptx_raw(p).operand;
	}
	return r;
}

struct ptx_operand
ptx_result(struct parser *p, const struct raw *r)
{
	if (r->kind != RAW_SINK && (r->kind != RAW_REGISTER ||
	    r->operand.base != BASE_FRAME))
		ptx_fail(p, "a result that is no register");
	return r->operand;
}

uint64_t
ptx_as_type(uint64_t value, int is_float, int type)
{
	if (is_float == 8 && type == T_F32) {
		double x;
		float y;

		memcpy(&x, &value, sizeof x);
		y = (float)x;
		value = 0;
		memcpy(&value, &y, sizeof y);
	} else if (is_float == 4 && type == T_F64) {
		float x;
		double y;

		memcpy(&x, &value, sizeof x);
		y = (double)x;
		memcpy(&value, &y, sizeof y);
	}
	return value;
}

bool
ptx_name_value(struct parser *p, const struct raw *r, uint64_t *value)
{
	const struct ptx_variable *v = ptx_variable_of(p, r->name);
	struct ptx_function *f;

	if (v) {
		*value = (uint64_t)(v->at + r->offset);
		return v->space != SPACE_LOCAL;
	}
	f = ptx_function_of(p, r->name, false);
	if (!f)
		ptx_fail(p, "%s is not known", r->name);
	*value = (uint64_t)(uintptr_t)f;
	return true;
}

struct ptx_operand
ptx_finish(struct parser *p, const struct raw *r, int type)
{
	uint64_t value;

	switch (r->kind) {
	case RAW_REGISTER:
	case RAW_SINK:
		return r->operand;
	case RAW_NUMBER:
		return ptx_constant(p, ptx_as_type(r->number, r->is_float,
		    type), ptx_type_bytes[type]);
	case RAW_NAME:
		if (ptx_name_value(p, r, &value))
			return ptx_constant(p, value, ptx_type_bytes[type]);
		/* fall through */
	default:
		ptx_fail(p, "an operand of this kind");
	}
}

static int
space_from(struct parser *p, const struct raw *r)
{
	const struct ptx_variable *v = r->has_register || !r->name[0] ? NULL
	    : ptx_variable_of(p, r->name);

	return v ? v->space : -1;
}

void
ptx_address(struct parser *p, struct ptx_instruction *in, const struct raw *r)
{
	uint64_t value = 0;

	if (r->kind != RAW_ADDRESS)
		ptx_fail(p, "an address expected");
	in->offset = r->offset;
	if (r->has_register && r->operand.width != 4 && r->operand.width != 8)
		ptx_fail(p, "an address of %d bits", r->operand.width * 8);
	if (r->has_register) {
		in->operand[1] = r->operand;
		if (in->space == SPACE_PARAM && !p->function->kernel)
			in->space = SPACE_ARGUMENT;
		return;
	}
	in->operand[1].base = BASE_NONE;
	if (r->name[0]) {
		const int space = space_from(p, r);

		(void)ptx_name_value(p, r, &value);
		if (space == SPACE_ARGUMENT)
			in->space = SPACE_ARGUMENT;
		else if (in->space == SPACE_GENERIC && space > 0)
			in->space = (uint8_t)space;
		in->offset = (int64_t)value;
	}
}

void
ptx_vector(struct parser *p, struct ptx_instruction *in, const struct raw *r,
    int type)
{
	if (r->count > VECTOR)
		ptx_fail(p, "a vector of more than four");
	in->vector = (uint8_t)r->count;
	for (size_t i = 0; i < r->count; i++) {
		if (r->part[i].kind == RAW_NUMBER)
			in->part[i] = ptx_constant(p, ptx_as_type(
			    r->part[i].number, r->part[i].is_float, type),
			    ptx_type_bytes[type]);
		else
			in->part[i] = r->part[i].operand;
		if (r->part[i].kind != RAW_NUMBER &&
		    r->part[i].kind != RAW_REGISTER &&
		    r->part[i].kind != RAW_SINK)
			ptx_fail(p, "a vector of what is no register");
	}
}
