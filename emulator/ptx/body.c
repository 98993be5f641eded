/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/ptx/body.c -- bodies of functions: scopes, labels, branches. Labels
 * that come later in the text are resolved at the end of each body. */
#include "emulator/ptx/number.h"
#include "emulator/ptx/parse.h"

#include <stdlib.h>

/* ---- Names ------------------------------------------------------------- */

void
ptx_fix_later(struct parser *p, const char *name, struct ptx_target *target,
    size_t index)
{
	struct fix *f = PUSH(p, p->fix, p->fixes, p->fix_room);

	f->instruction = p->function->count - 1;
	f->name = ptx_copy(p, name);
	f->scope = p->scope;
	f->target = target;
	f->index = index;
}

static void
open_scope(struct parser *p)
{
	if (p->depth == DEPTH - 1 || p->scopes == SCOPES - 1)
		ptx_fail(p, "too many braces");
	p->scope_symbols[p->depth] = p->symbols;
	p->scope_stack[p->depth++] = p->scope;
	p->parent[++p->scopes] = p->scope;
	p->scope = p->scopes;
}

static void
close_scope(struct parser *p)
{
	p->depth--;
	while (p->symbols > p->scope_symbols[p->depth])
		free(p->symbol[--p->symbols].name);
	p->scope = p->scope_stack[p->depth];
}

static void
label(struct parser *p, const char *name)
{
	struct ptx_label *l = PUSH(p, p->label, p->labels, p->label_room);

	l->name = ptx_copy(p, name);
	l->scope = p->scope;
	l->pc = (int64_t)p->function->count;
}

/* By name, then by scope: generated texts have many thousand labels. */
static int
label_order(const void *one, const void *two)
{
	const struct ptx_label *a = one, *b = two;
	const int order = strcmp(a->name, b->name);

	return order ? order : (a->scope > b->scope) - (a->scope < b->scope);
}

/* They are sorted. */
static const struct ptx_label *
label_of(struct parser *p, char *name, int scope)
{
	struct ptx_label wanted = { .name = name };
	const struct ptx_label *found;

	for (;; scope = p->parent[scope]) {
		wanted.scope = scope;
		found = p->labels ? bsearch(&wanted, p->label, p->labels,
		    sizeof wanted, label_order) : NULL;
		if (found || !scope)
			return found;
	}
}

/* ---- Statements -------------------------------------------------------- */

/* After "name:": .branchtargets a, b; makes a list that a brx names. */
static void
branch_targets(struct parser *p, const char *name)
{
	struct ptx_target *t;

	if (p->lists == LISTS)
		ptx_fail(p, "too many targets");
	t = calloc(1, sizeof *t);
	if (!t)
		ptx_fail(p, "out of memory");
	t->next = p->module->target;
	p->module->target = t;
	t->pc = calloc(TARGETS, sizeof *t->pc);
	if (!t->pc)
		ptx_fail(p, "out of memory");
	p->list[p->lists].name = ptx_copy(p, name);
	p->list[p->lists++].target = t;
	do
		ptx_fix_later(p, ptx_word(p), t, t->count++);
	while (ptx_take(p, ',') && t->count < TARGETS);
	ptx_want(p, ';');
}

/* After a name and its colon. */
static void
named(struct parser *p, const char *name)
{
	if (ptx_peek(p) == '.' && !strncmp(p->s, ".branch", 7)) {
		ptx_word(p);
		branch_targets(p, name);
	} else if (ptx_peek(p) == '.' && !strncmp(p->s, ".call", 5)) {
		ptx_skip_statement(p);
	} else {
		label(p, name);
	}
}

static void
statement(struct parser *p)
{
	char first[NAME_ROOM];

	if (ptx_take(p, ';'))
		return;
	if (ptx_take(p, '@')) {
		ptx_instruction(p, true);
		return;
	}
	strcpy(first, ptx_directive(p));
	if (!*first)
		ptx_fail(p, "what is '%.20s'", p->s);
	if (!strcmp(first, ".reg"))
		ptx_registers(p);
	else if (!strcmp(first, ".loc") || !strcmp(first, ".file"))
		ptx_skip_line(p);
	else if (!strcmp(first, ".param"))
		ptx_variables(p, SPACE_ARGUMENT);
	else if (*first == '.' && ptx_find(ptx_space_words, first + 1) > 0)
		ptx_variables(p, ptx_find(ptx_space_words, first + 1));
	else if (*first == '.')
		ptx_skip_statement(p);
	else if (ptx_take(p, ':'))
		named(p, first);
	else
		ptx_instruction(p, false);
}

/* ---- The end of a body ------------------------------------------------- */

static struct ptx_target *
list_of(struct parser *p, const char *name)
{
	for (size_t i = 0; i < p->lists; i++)
		if (!strcmp(p->list[i].name, name))
			return p->list[i].target;
	ptx_fail(p, "targets %s are not known", name);
}

static void
apply(struct parser *p, const struct fix *x)
{
	struct ptx_instruction *in = &p->function->code[x->instruction];
	const struct ptx_label *l;

	p->line = in->line;
	if (in->op == OP_brx && !x->target) {
		in->target = list_of(p, x->name);
		return;
	}
	l = label_of(p, x->name, x->scope);
	if (!l)
		ptx_fail(p, "label %s is not known", x->name);
	if (x->target)
		x->target->pc[x->index] = l->pc;
	else
		in->offset = l->pc;
}

void
ptx_forget_names(struct parser *p)
{
	while (p->lists)
		free(p->list[--p->lists].name);
	while (p->fixes)
		free(p->fix[--p->fixes].name);
	while (p->labels)
		free(p->label[--p->labels].name);
}

/* Whether other results come out when blocks run in another order, or at the
 * same time: sums that round, compare and swap, by which programs make such
 * sums; lines that are printed. */
static bool
shows_order(const struct ptx_instruction *in)
{
	if (in->op == OP_call)
		return !strcmp(in->call->name, "vprintf");
	if ((in->op != OP_atom && in->op != OP_red) ||
	    in->space > SPACE_GLOBAL)
		return false;
	return in->mode == MODE_CAS || (in->mode == MODE_ADD &&
	    (is_float(in->type) || in->type == T_F16X2 ||
	    in->type == T_BF16X2));
}

static void
prepare(struct ptx_function *f, struct ptx_instruction *in)
{
	/* Generic addresses of these spaces are their addresses. */
	if (in->op == OP_cvta && in->space <= SPACE_CONST)
		in->op = OP_mov;
	in->quick = ptx_quick_of(in);
	f->ordered |= shows_order(in);
}

void
ptx_body(struct parser *p)
{
	struct ptx_function *f = p->function;
	const int outside = p->depth;
	uint32_t line;

	open_scope(p);
	while (p->depth > outside)
		if (ptx_take(p, '{'))
			open_scope(p);
		else if (ptx_take(p, '}'))
			close_scope(p);
		else
			statement(p);
	/* Every body ends as with ret. */
	PUSH(p, f->code, f->count, f->room)->op = OP_ret;
	line = p->line;
	if (p->labels)
		qsort(p->label, p->labels, sizeof *p->label, label_order);
	for (size_t i = 0; i < p->fixes; i++)
		apply(p, &p->fix[i]);
	for (size_t i = 0; i < f->count; i++)
		prepare(f, &f->code[i]);
	p->line = line;
	ptx_forget_names(p);
	f->defined = true;
}
