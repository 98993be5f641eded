/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/ptx/declare.c -- the declarations of a PTX text: registers,
 * variables, parameters; and which of them a name means. */
#include "emulator/ptx/parse.h"

#include <ctype.h>
#include <stdlib.h>

enum { MOST_REGISTERS = 1 << 20, MOST_REGISTER_BYTES = 1 << 28,
	MOST_FRAME = 1 << 22, MOST_ALIGN = 4096 };
enum { UNPLACED = -1 }; /* shared, and nobody has used it */
/* Of one variable, and of all global ones. */
#define MOST_BYTES (UINT64_C(1) << 31)

static uint64_t
size(struct parser *p)
{
	const uint64_t x = ptx_whole(p);

	if (x > MOST_BYTES)
		ptx_fail(p, "too large");
	return x;
}

static struct symbol *
symbol_new(struct parser *p, const char *name)
{
	struct symbol *s = PUSH(p, p->symbol, p->symbols, p->symbol_room);

	s->name = ptx_copy(p, name);
	s->length = strlen(name);
	return s;
}

bool
ptx_register_of(struct parser *p, const char *name, struct ptx_operand *out)
{
	size_t digits = strlen(name);
	const int special = ptx_find(ptx_special_words, name);
	unsigned n = 0;

	if (special >= 0) {
		*out = (struct ptx_operand){ .base = BASE_SPECIAL, .width = 4,
			.at = special >= S_SPECIALS ? -special
			    : special * SPECIAL_BYTES };
		return true;
	}
	while (digits && isdigit((unsigned char)name[digits - 1]))
		digits--;
	for (const char *c = name + digits; *c; c++)
		n = n * 10 + (unsigned)(*c - '0');
	for (size_t i = p->symbols; i-- > 0;) {
		const struct symbol *s = &p->symbol[i];
		const int lane = s->width ? s->width * LANES : 64;

		if (!s->is_register)
			continue;
		if (s->count ? s->length != digits || n >= s->count ||
		    memcmp(s->name, name, digits) || !name[digits]
		    : strcmp(s->name, name))
			continue;
		*out = (struct ptx_operand){ .base = BASE_FRAME,
			.width = s->width,
			.at = s->at + (s->count ? (int32_t)n * lane : 0) };
		return true;
	}
	return false;
}

static uint64_t
rounded(uint64_t value, uint64_t to)
{
	return (value + to - 1) / to * to;
}

/* Shared memory that no kernel owns alone. What does not fit is refused to the
 * function that uses it. */
static void
place_common(struct parser *p, struct ptx_variable *v)
{
	const uint64_t at = rounded(p->module->shared_bytes, v->align);

	if (at + v->bytes > SHARED_DYNAMIC - SHARED_COMMON) {
		p->in_instruction = false; /* it is all of the function */
		ptx_fail(p, "too much shared memory");
	}
	v->at = (int64_t)at + SHARED_COMMON;
	p->module->shared_bytes = at + v->bytes;
}

const struct ptx_variable *
ptx_variable_of(struct parser *p, const char *name)
{
	for (size_t i = p->symbols; i-- > 0;)
		if (!p->symbol[i].is_register &&
		    !strcmp(p->symbol[i].name, name))
			return &p->symbol[i].variable;
	for (size_t i = p->module->variables; i-- > 0;)
		if (!strcmp(p->module->variable[i].name, name)) {
			struct ptx_variable *const v = &p->module->variable[i];

			if (v->at == UNPLACED)
				place_common(p, v);
			return v;
		}
	return NULL;
}

static unsigned
hash_of(const char *name)
{
	uint32_t hash = 2166136261u;

	while (*name)
		hash = (hash ^ (unsigned char)*name++) * 16777619u;
	return hash % HASHES;
}

struct ptx_function *
ptx_function_of(struct parser *p, const char *name, bool make)
{
	struct ptx_function **const alike = &p->by_hash[hash_of(name)];
	struct ptx_function *f = *alike;

	while (f && strcmp(f->name, name))
		f = f->alike;
	if (f || !make)
		return f;
	if (p->functions++ == FUNCTIONS)
		ptx_fail(p, "too many functions");
	f = calloc(1, sizeof *f);
	if (!f)
		ptx_fail(p, "out of memory");
	f->name = ptx_copy(p, name);
	f->module = p->module;
	*p->module->last = f;
	p->module->last = &f->next;
	f->alike = *alike;
	*alike = f;
	return f;
}

/* ---- Declarations ------------------------------------------------------ */

/* .reg .b32 %r<5>, a; */
void
ptx_registers(struct parser *p)
{
	const char *w = ptx_word(p);
	int type, vector = 1;

	if (!strcmp(w, ".v2") || !strcmp(w, ".v4")) {
		vector = w[2] - '0';
		w = ptx_word(p);
	}
	type = ptx_find(ptx_type_words, w + 1);
	if (type < 0 || vector != 1)
		ptx_fail(p, "registers of type %s", w);
	do {
		struct symbol *s = symbol_new(p, ptx_word(p));
		const size_t lane = type == T_PRED ? 64
		    : (size_t)ptx_type_bytes[type] * LANES;

		s->is_register = true;
		s->width = ptx_type_bytes[type];
		s->at = (int32_t)rounded(p->function->register_bytes, 64);
		if (ptx_take(p, '<')) {
			s->count = (unsigned)size(p);
			ptx_want(p, '>');
		}
		if (s->count > MOST_REGISTERS ||
		    p->function->register_bytes > MOST_REGISTER_BYTES)
			ptx_fail(p, "too many registers");
		p->function->register_bytes = (size_t)s->at + lane *
		    (s->count ? s->count : 1);
	} while (ptx_take(p, ','));
	ptx_want(p, ';');
}

/* Not needed here. */
static bool
is_attribute(const char *w)
{
	static const char *const words[] = { ".global", ".const", ".shared",
		".local", ".attribute", ".noinit" };

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (!strcmp(w, words[i]))
			return true;
	return false;
}

/* After the parenthesis. */
static void
skip_attribute(struct parser *p)
{
	while (!ptx_take(p, ')')) {
		if (ptx_is_end(p))
			ptx_fail(p, "an attribute does not end");
		p->s++;
	}
}

/* [.align N] .TYPE [.ptr .SPACE .align N] NAME [[N]...], without its space. The
 * second .align is that of what a pointer points to. */
static struct ptx_variable
declaration(struct parser *p)
{
	struct ptx_variable v = { .align = 0 };
	uint64_t count = 1, align = 0;
	int vector = 1, type = -1;
	bool pointer = false;

	for (;;) {
		const char *w = ptx_word(p);

		if (!strcmp(w, ".ptr")) {
			pointer = true;
		} else if (!strcmp(w, ".align")) {
			const uint64_t is = ptx_whole(p);

			if (!pointer)
				align = is;
		} else if (!strcmp(w, ".v2") || !strcmp(w, ".v4")) {
			vector = w[2] - '0';
		} else if (is_attribute(w)) {
			if (ptx_take(p, '('))
				skip_attribute(p);
		} else if (w[0] == '.') {
			type = ptx_find(ptx_type_words, w + 1);
			if (!strcmp(w, ".texref") || !strcmp(w, ".surfref") ||
			    !strcmp(w, ".samplerref"))
				type = T_U64;
			if (type < 0)
				ptx_fail(p, "a variable of type %s", w);
		} else {
			v.name = p->half_name = ptx_copy(p, w);
			break;
		}
	}
	if (type < 0 || !ptx_type_bytes[type])
		ptx_fail(p, "%s has no type that memory can have", v.name);
	while (ptx_take(p, '[')) {
		if (ptx_peek(p) == ']')
			count = 0;
		else
			count *= size(p);
		if (count > MOST_BYTES)
			ptx_fail(p, "%s is too large", v.name);
		ptx_want(p, ']');
	}
	v.type = (uint8_t)type;
	v.bytes = (uint64_t)ptx_type_bytes[type] * (unsigned)vector * count;
	if (align & (align - 1) || align > MOST_ALIGN)
		ptx_fail(p, "%s is aligned to %llu", v.name,
		    (unsigned long long)align);
	v.align = align ? (uint32_t)align
	    : (uint32_t)ptx_type_bytes[type] * (unsigned)vector;
	return v;
}

/* A kernel's own begin at 0; those of functions, of the module and the dynamic
 * part get offsets beyond those of any kernel. The module's wait for a function
 * that uses them. */
static void
place_shared(struct parser *p, struct ptx_variable *v)
{
	uint64_t at;

	if (!v->bytes) {
		v->at = SHARED_DYNAMIC;
	} else if (!p->function) {
		v->at = UNPLACED;
	} else if (!p->function->kernel) {
		place_common(p, v);
	} else {
		at = rounded(p->function->shared_bytes, v->align);
		if (at + v->bytes > SHARED_COMMON)
			ptx_fail(p, "too much shared memory");
		v->at = (int64_t)at;
		p->function->shared_bytes = at + v->bytes;
	}
}

static void
place_global(struct parser *p, struct ptx_variable *v)
{
	const uint64_t align = v->align < 256 ? 256 : v->align;
	const uint64_t room = rounded(v->bytes + 64, align);
	unsigned char *memory;

	p->global_bytes += room;
	if (p->global_bytes > MOST_BYTES)
		ptx_fail(p, "too much global memory");
	memory = aligned_alloc(align, room);
	if (!memory)
		ptx_fail(p, "out of memory");
	p->half_memory = memory;
	memset(memory, 0, room);
	v->at = (int64_t)(uintptr_t)memory;
	if (ptx_take(p, '='))
		ptx_initial(p, v, memory);
}

/* In a frame: `bytes` is its size so far. */
static void
place_in_frame(struct parser *p, struct ptx_variable *v, size_t *bytes,
    uint64_t align)
{
	*bytes = rounded(*bytes, align);
	v->at = (int64_t)*bytes;
	*bytes += v->bytes;
	if (*bytes > MOST_FRAME)
		ptx_fail(p, "too much memory of a thread");
}

static void
enter(struct parser *p, const struct ptx_variable *v, bool of_module)
{
	if (of_module) {
		*PUSH(p, p->module->variable, p->module->variables,
		    p->module->variable_room) = *v;
		p->half_memory = p->half_name = NULL;
		return;
	}
	symbol_new(p, v->name)->variable = *v;
	ptx_forget_half(p);
}

void
ptx_forget_half(struct parser *p)
{
	free(p->half_name);
	free(p->half_memory);
	p->half_memory = p->half_name = NULL;
}

void
ptx_variables(struct parser *p, int space)
{
	do {
		struct ptx_variable v = declaration(p);

		v.space = (uint8_t)space;
		if (!p->function && space != SPACE_SHARED &&
		    space != SPACE_GLOBAL && space != SPACE_CONST)
			ptx_fail(p, "%s outside of a function", v.name);
		switch (space) {
		case SPACE_SHARED:
			place_shared(p, &v);
			break;
		case SPACE_GLOBAL:
		case SPACE_CONST:
			place_global(p, &v);
			break;
		case SPACE_LOCAL:
			place_in_frame(p, &v, &p->function->local_bytes,
			    v.align);
			break;
		default:
			v.space = SPACE_ARGUMENT;
			place_in_frame(p, &v, &p->function->argument_bytes,
			    16);
			break;
		}
		enter(p, &v, space == SPACE_GLOBAL || space == SPACE_CONST ||
		    (space == SPACE_SHARED && !p->function));
	} while (ptx_take(p, ','));
	ptx_want(p, ';');
}

void
ptx_parameters(struct parser *p, struct ptx_function *f, bool results)
{
	while (!ptx_take(p, ')')) {
		const char *w = ptx_word(p);
		struct ptx_variable v;

		if (!strcmp(w, ".reg"))
			ptx_fail(p, "a function with arguments in registers");
		v = declaration(p);
		v.space = f->kernel ? SPACE_PARAM : SPACE_ARGUMENT;
		place_in_frame(p, &v, f->kernel ? &f->parameter_bytes
		    : &f->argument_bytes, f->kernel ? v.align : 16);
		if (f->parameters + f->results == MOST_PARAMETERS)
			ptx_fail(p, "too many parameters");
		f->parameter[f->parameters + f->results] = v;
		p->half_name = NULL;
		if (results)
			f->results++;
		else
			f->parameters++;
		symbol_new(p, v.name)->variable = v;
		ptx_take(p, ',');
	}
}
