/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/ptx/arguments.c -- the operands of an instruction, which follow its
 * words, in their order; and the operands of calls. */
#include "emulator/ptx/parse.h"

#include <stdlib.h>

/* ---- Calls ------------------------------------------------------------- */

static size_t
call_list(struct parser *p, struct ptx_call *call, bool results)
{
	size_t count = 0;

	while (!ptx_take(p, ')')) {
		struct raw r = ptx_raw(p);
		const struct ptx_variable *v = r.kind == RAW_NAME
		    ? ptx_variable_of(p, r.name) : NULL;

		ptx_take(p, ',');
		if (!v || v->space != SPACE_ARGUMENT)
			ptx_fail(p, "a call with what is no .param variable");
		if (results && count < 2) {
			call->result[count].at = (int32_t)v->at;
			call->result[count].bytes = (int32_t)v->bytes;
		} else if (!results && count < 64) {
			call->argument[count].at = (int32_t)v->at;
			call->argument[count].bytes = (int32_t)v->bytes;
		} else {
			ptx_fail(p, "a call with too many arguments");
		}
		count++;
	}
	return count;
}

static void
parse_call(struct parser *p, struct ptx_instruction *in)
{
	struct ptx_call *call = in->call = calloc(1, sizeof *call);
	struct raw r;

	if (!call)
		ptx_fail(p, "out of memory");
	if (ptx_take(p, '(')) {
		call->results = call_list(p, call, true);
		ptx_want(p, ',');
	}
	r = ptx_raw(p);
	if (r.kind == RAW_REGISTER) {
		call->indirect = true;
		in->operand[0] = r.operand;
	} else {
		snprintf(call->name, sizeof call->name, "%.127s", r.name);
		call->callee = ptx_function_of(p, r.name, true);
	}
	if (ptx_take(p, ',')) {
		if (ptx_take(p, '(')) {
			call->arguments = call_list(p, call, false);
			if (ptx_take(p, ','))
				ptx_word(p); /* the prototype */
		} else {
			ptx_word(p);
		}
	}
	ptx_want(p, ';');
}

/* ---- Memory ------------------------------------------------------------ */

static void
load(struct parser *p, struct ptx_instruction *in, const struct raw *r)
{
	ptx_address(p, in, &r[1]);
	if (r[0].kind == RAW_VECTOR)
		ptx_vector(p, in, &r[0], in->type);
	else
		in->part[0] = ptx_result(p, &r[0]);
	in->operand[0] = in->part[0];
}

static void
store(struct parser *p, struct ptx_instruction *in, const struct raw *r)
{
	ptx_address(p, in, &r[0]);
	if (r[1].kind == RAW_VECTOR)
		ptx_vector(p, in, &r[1], in->type);
	else
		in->part[0] = ptx_finish(p, &r[1], in->type);
}

/* atom and red; r[0] is the result of atom. */
static void
atomic(struct parser *p, struct ptx_instruction *in, const struct raw *r,
    int count)
{
	in->operand[0].base = BASE_NONE;
	if (in->op == OP_atom)
		in->operand[0] = ptx_finish(p, r++, in->type);
	else
		count++;
	ptx_address(p, in, r++);
	for (int i = 2; i < count && i < 4; i++)
		in->operand[i] = ptx_finish(p, r++, in->type);
}

/* ---- What moves -------------------------------------------------------- */

static void
move(struct parser *p, struct ptx_instruction *in, const struct raw *r)
{
	uint64_t value;

	if (r[0].kind == RAW_VECTOR) {
		in->op = OP_unpack;
		ptx_vector(p, in, &r[0], in->type);
		in->operand[1] = ptx_finish(p, &r[1], in->type);
		return;
	}
	in->operand[0] = ptx_result(p, &r[0]);
	if (r[1].kind == RAW_VECTOR) {
		in->op = OP_pack;
		ptx_vector(p, in, &r[1], in->type);
	} else if (r[1].kind == RAW_NAME && !ptx_name_value(p, &r[1],
	    &value)) {
		in->op = OP_address;
		in->offset = (int64_t)value;
	} else if (r[1].kind == RAW_REGISTER && r[1].operand.base ==
	    BASE_SPECIAL && r[1].operand.at < 0) {
		in->op = OP_clock;
		in->mode = (uint8_t)-r[1].operand.at;
	} else {
		in->operand[1] = ptx_finish(p, &r[1], in->type);
	}
}

/* cvta, isspacep. */
static void
generic(struct parser *p, struct ptx_instruction *in, const struct raw *r)
{
	uint64_t value;

	in->operand[0] = ptx_result(p, &r[0]);
	if (r[1].kind != RAW_NAME) {
		in->operand[1] = ptx_finish(p, &r[1], in->op == OP_isspacep
		    ? T_B64 : in->type);
		return;
	}
	if (!ptx_name_value(p, &r[1], &value))
		ptx_fail(p, "cvta of a local variable");
	in->operand[1] = ptx_constant(p, value, 8);
}

/* ---- What comes later ---------------------------------------------------- */

/* cp.async [to], [from], bytes {, bytes of the source, or ignore} {, policy} */
static void
copy_later(struct parser *p, struct ptx_instruction *in, const struct raw *r,
    int count)
{
	struct ptx_instruction to = { .space = SPACE_SHARED };

	in->operand[0].base = in->operand[2].base = BASE_NONE;
	in->operand[3].base = BASE_NONE;
	if (in->mode == MODE_BARRIER)
		ptx_address(p, in, &r[0]);
	if (in->mode != MODE_NONE)
		return;
	count -= in->flags & FLAG_HINT ? 1 : 0;
	if (count < 3 || count > 4 || r[2].kind != RAW_NUMBER ||
	    (r[2].number != 4 && r[2].number != 8 && r[2].number != 16))
		ptx_fail(p, "a copy of 4, 8 or 16 bytes expected");
	ptx_address(p, &to, &r[0]);
	ptx_address(p, in, &r[1]);
	in->operand[0] = to.operand[1];
	in->to_offset = to.offset;
	in->operand[2] = ptx_constant(p, r[2].number, 4);
	if (count == 4)
		in->operand[3] = ptx_finish(p, &r[3], T_U32);
}

static void
barrier_word(struct parser *p, struct ptx_instruction *in, const struct raw *r,
    int count)
{
	const bool has_result = in->mode == MODE_ARRIVE ||
	    in->mode == MODE_DROP || in->mode == MODE_TEST ||
	    in->mode == MODE_TRY || in->mode == MODE_PENDING;
	const bool token = (in->mode == MODE_TEST || in->mode == MODE_TRY) &&
	    in->combine != MODE_PARITY;

	in->operand[0].base = in->operand[2].base = BASE_NONE;
	if (in->mode == MODE_NONE || count < 1 + has_result)
		ptx_fail(p, "what mbarrier does");
	if (has_result) {
		in->operand[0] = ptx_result(p, r++);
		count--;
	}
	if (in->mode == MODE_PENDING) {
		in->operand[1] = ptx_finish(p, r, T_B64);
		return;
	}
	ptx_address(p, in, r);
	if (count > 1)
		in->operand[2] = ptx_finish(p, &r[1], token ? T_B64 : T_U32);
}

/* ---- All others -------------------------------------------------------- */

/* The types of operands 1... where they differ from the instruction's. */
static int
operand_type(const struct ptx_instruction *in, int i)
{
	static const uint8_t twice[T_TYPES] = { [T_U16] = T_U32, [T_S16] =
		T_S32, [T_U32] = T_U64, [T_S32] = T_S64 };

	switch (in->op) {
	case OP_shl: case OP_shr:
		return i == 2 ? T_U32 : in->type;
	case OP_mad: case OP_mul: case OP_mad24:
		return in->mode == MODE_WIDE && i == 3 ? twice[in->type]
		    : in->type;
	case OP_cvt: case OP_dp4a: case OP_dp2a:
		return i == 3 ? in->type : in->from;
	case OP_set:
		return i == 3 ? T_PRED : in->from;
	case OP_setp: case OP_selp:
		return i == 3 ? T_PRED : in->type;
	case OP_slct:
		return i == 3 ? in->from : in->type;
	case OP_bfe: case OP_szext: case OP_bmsk:
		return i == 1 ? in->type : T_U32;
	case OP_bfi:
		return i >= 3 ? T_U32 : in->type;
	case OP_shf: case OP_prmt: case OP_fns: case OP_shfl:
		return T_B32;
	case OP_match: case OP_redux:
		return i == 1 ? in->type : T_B32;
	case OP_vote:
		return i == 1 ? T_PRED : T_B32;
	case OP_bar: case OP_barrier:
		return T_U32;
	case OP_isspacep:
		return T_B64;
	default:
		return in->type ? in->type : T_B32;
	}
}

/* True: `in` has all its operands, of special kinds. */
static bool
own_kind(struct parser *p, struct ptx_instruction *in, const struct raw *r,
    int count)
{
	switch (in->op) {
	case OP_ld: case OP_ldu:
		load(p, in, r);
		return true;
	case OP_st:
		store(p, in, r);
		return true;
	case OP_atom: case OP_red:
		atomic(p, in, r, count);
		return true;
	case OP_bra:
		ptx_fix_later(p, r[0].name, NULL, 0);
		return true;
	case OP_brx:
		in->operand[0] = r[0].operand;
		ptx_fix_later(p, r[1].name, NULL, 0);
		return true;
	case OP_mov:
		move(p, in, r);
		return true;
	case OP_cvta: case OP_isspacep:
		generic(p, in, r);
		return true;
	case OP_activemask:
		in->operand[0] = ptx_result(p, &r[0]);
		return true;
	case OP_prefetch: case OP_prefetchu: case OP_discard:
	case OP_applypriority: case OP_membar: case OP_fence: case OP_ret:
	case OP_exit: case OP_trap: case OP_brkpt: case OP_nanosleep:
	case OP_pmevent: case OP_griddepcontrol:
		return true;
	case OP_cp:
		copy_later(p, in, r, count);
		return true;
	case OP_mbarrier:
		barrier_word(p, in, r, count);
		return true;
	case OP_createpolicy:   /* a hint, which changes nothing */
		in->op = OP_mov;
		in->type = T_B64;
		in->operand[0] = ptx_result(p, &r[0]);
		in->operand[1] = ptx_constant(p, 0, 8);
		return true;
	default:
		return ptx_matrix_operands(p, in, r, count);
	}
}

static bool
is_barrier(const struct ptx_instruction *in)
{
	return in->op == OP_bar || in->op == OP_barrier;
}

/* Registers have the instruction's width, but those of cvt and of 8 bits. */
static struct ptx_operand
source(struct parser *p, const struct ptx_instruction *in, const struct raw *r,
    int at)
{
	const int type = operand_type(in, at);
	const struct ptx_operand o = ptx_finish(p, r, type);

	if (in->op != OP_cvt && o.base != BASE_NONE &&
	    o.width != ptx_type_bytes[type] && !(is_barrier(in) && !o.width))
		ptx_fail(p, "operand %d has %d bits", at, o.width * 8);
	return o;
}

/* A result, perhaps with a second one after a bar, and its operands. */
static void
common_kind(struct parser *p, struct ptx_instruction *in, const struct raw *r,
    int count)
{
	const bool has_result = !is_barrier(in) || in->mode == MODE_RED;
	int at = 1;

	if (in->op == OP_redux && in->type != T_B32 && in->type != T_U32 &&
	    in->type != T_S32)
		ptx_fail(p, "redux of this type");
	if (in->op == OP_vote && in->mode == MODE_BALLOT)
		in->type = T_B32;
	if (in->op == OP_lop3) {
		in->lut = (uint8_t)r[4].number;
		count = 4;
	}
	if (has_result) {
		in->operand[0] = ptx_result(p, r);
		in->second.base = BASE_NONE;
		if (r->has_second)
			in->second = r->second;
		r++;
		count--;
	}
	if (count >= OPERANDS)
		ptx_fail(p, "too many operands");
	for (; count-- > 0; at++, r++)
		in->operand[at] = source(p, in, r, at);
	for (; at < OPERANDS; at++)
		in->operand[at].base = BASE_NONE;
}

void
ptx_arguments(struct parser *p, struct ptx_instruction *in)
{
	struct raw r[RAW_PARTS];
	int count = 0;

	if (in->op == OP_call) {
		parse_call(p, in);
		return;
	}
	memset(r, 0, sizeof r);
	while (!ptx_take(p, ';')) {
		if (count == RAW_PARTS)
			ptx_fail(p, "too many operands");
		r[count++] = ptx_raw(p);
		ptx_take(p, ',');
	}
	in->operands = (uint8_t)count;
	if (!own_kind(p, in, r, count))
		common_kind(p, in, r, count);
}
