/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/ptx/decode.c -- one instruction: its guard and the words before its
 * operands, such as setp.lt.and.f32. */
#include "emulator/ptx/parse.h"

#include <stdlib.h>

/* One of the words after the first. */
static void
modifier(struct parser *p, struct ptx_instruction *in, const char *part,
    int *types)
{
	int value;

	if (ptx_matrix_word(p, in, part) || in->op == OP_createpolicy)
		return;
	if (in->op == OP_barrier && !strcmp(part, "cluster"))
		ptx_fail(p, "barriers of clusters");
	if ((value = ptx_find(ptx_type_words, part)) > 0) {
		if (value == T_B128)
			ptx_fail(p, "numbers of 128 bits");
		if (!(*types)++)
			in->type = (uint8_t)value;
		in->from = (uint8_t)value;
	} else if ((value = ptx_find(ptx_space_words, part)) >= 0) {
		in->space = (uint8_t)value;
	} else if (!strcmp(part, "v2") || !strcmp(part, "v4")) {
		in->vector = (uint8_t)(part[1] - '0');
	} else if ((in->op == OP_setp || in->op == OP_set) &&
	    (value = ptx_find(ptx_compare_words, part)) >= 0) {
		in->compare = (uint8_t)value;
	} else if ((value = ptx_find(ptx_round_words, part)) >= 0) {
		in->round = (uint8_t)value;
	} else if ((value = ptx_find(ptx_flag_words, part)) > 0) {
		in->flags |= (uint16_t)value;
	} else if ((value = ptx_find(ptx_mode_words, part)) > 0) {
		if (in->mode)
			in->combine = (uint8_t)value;
		else
			in->mode = (uint8_t)value;
	} else if (!ptx_is_idle(part)) {
		ptx_fail(p, "'.%s' is not known", part);
	}
}

static void
modifiers(struct parser *p, struct ptx_instruction *in, char *w)
{
	char *next = strchr(w, '.'), *part;
	int types = 0, op;

	if (next)
		*next++ = '\0';
	op = ptx_find(ptx_op_words, w);
	if (op < 0)
		ptx_fail(p, "instruction '%s' is not known", w);
	in->op = (uint16_t)op;
	while (next && *next) {
		part = next;
		next = strchr(part, '.');
		if (next)
			*next++ = '\0';
		modifier(p, in, part, &types);
	}
	if (in->op == OP_setp || in->op == OP_set)
		in->combine = in->mode;
}

static bool
is_texture(const char *name)
{
	static const char *const words[] = { "tex.", "tld4.", "txq.", "suld.",
		"sust.", "sured.", "suq." };

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (!strncmp(name, words[i], strlen(words[i])))
			return true;
	return false;
}

/* A kernel that reaches it ends there; other kernels of the module may run. */
static void
not_known(struct parser *p, const char *name)
{
	struct ptx_function *f = p->function;
	struct ptx_instruction *in = &f->code[f->count - 1];

	ptx_skip_statement(p);
	free(in->call);
	free(in->matrix);
	*in = (struct ptx_instruction){ .op = OP_unsupported,
		.line = in->line, .guarded = in->guarded, .guard = in->guard,
		.guard_inverted = in->guard_inverted,
		.call = calloc(1, sizeof *in->call) };
	if (in->call)
		snprintf(in->call->name, sizeof in->call->name, is_texture(name)
		    ? "textures are not emulated: %.90s"
		    : "%.90s is not emulated", name);
	while (p->fixes && p->fix[p->fixes - 1].instruction == f->count - 1)
		free(p->fix[--p->fixes].name);
	p->module->unsupported++;
}

/* @p or @!p; then reads the first word. */
static void
guard(struct parser *p, struct ptx_instruction *in)
{
	struct ptx_operand predicate;

	in->guard_inverted = ptx_take(p, '!');
	if (!ptx_register_of(p, ptx_word(p), &predicate))
		ptx_fail(p, "%s is not known", p->token);
	in->guarded = 1;
	in->guard = predicate.at;
	ptx_word(p);
}

void
ptx_instruction(struct parser *p, bool guarded)
{
	struct ptx_function *f = p->function;
	struct ptx_instruction *in = PUSH(p, f->code, f->count, f->room);
	char words[NAME_ROOM], name[NAME_ROOM];
	const char *volatile at;
	volatile uint32_t line;

	in->line = p->line;
	if (guarded)
		guard(p, in);
	strcpy(words, p->token);
	strcpy(name, words);
	at = p->s;
	line = p->line;
	p->in_instruction = true;
	if (!setjmp(p->inner)) {
		modifiers(p, in, words);
		ptx_arguments(p, in);
		p->in_instruction = false;
		return;
	}
	p->in_instruction = false;
	p->s = at;
	p->line = line;
	not_known(p, name);
}
