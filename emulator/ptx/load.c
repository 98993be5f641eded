/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/ptx/load.c -- a whole PTX text: everything outside of bodies. */
#include "emulator/ptx/parse.h"

#include <ctype.h>
#include <stdlib.h>

static void
forget_symbols(struct parser *p, size_t kept)
{
	while (p->symbols > kept)
		free(p->symbol[--p->symbols].name);
}

/* .maxntid 256, 1, 1 and the like. */
static void
directives(struct parser *p)
{
	while (ptx_peek(p) == '.') {
		const char *const word = ptx_word(p);
		const bool is_size = !strcmp(word, ".maxntid") ||
		    !strcmp(word, ".reqntid");
		uint64_t threads = 1;

		if (!strcmp(word, ".pragma")) {
			ptx_skip_statement(p);
			continue;
		}
		while (isdigit(ptx_peek(p))) {
			threads *= (uint64_t)ptx_whole(p) & 0xffff;
			ptx_take(p, ',');
		}
		if (is_size)
			p->function->most_threads = (unsigned)threads;
	}
}

/* What is wrong in a function refuses that function only: a launch of it ends
 * there, with what is said here. */
static void
refuse(struct parser *p, const char *from, uint32_t line)
{
	struct ptx_function *f = p->function;
	struct ptx_instruction *in;

	ptx_forget_names(p);
	ptx_forget_half(p);
	p->s = from;
	p->line = line;
	while (ptx_peek(p) != '{' && !ptx_is_end(p))
		p->s++;
	ptx_skip_braces(p);
	ptx_forget_code(f);
	in = PUSH(p, f->code, f->count, f->room);
	in->op = OP_unsupported;
	in->line = line;
	in->call = calloc(1, sizeof *in->call);
	if (in->call)
		snprintf(in->call->name, sizeof in->call->name, "%.120s",
		    p->message);
	PUSH(p, f->code, f->count, f->room)->op = OP_ret;
	f->defined = true;
	p->module->unsupported++;
}

static void
after_name(struct parser *p)
{
	const char *const volatile from = p->s;
	const volatile uint32_t line = p->line;
	const volatile int depth = p->depth;

	if (!setjmp(p->function_out)) {
		p->in_function = true;
		if (ptx_take(p, '('))
			ptx_parameters(p, p->function, false);
		directives(p);
		if (ptx_take(p, '{'))
			ptx_body(p);
		else
			ptx_take(p, ';');
		p->in_function = false;
		return;
	}
	p->in_function = false;
	p->depth = depth;
	p->scope = 0;
	refuse(p, from, line);
}

/* After .entry or .func. It may have been declared before. */
static void
function(struct parser *p, bool kernel)
{
	struct ptx_function *const before = &p->before, *f;
	const size_t symbols = p->symbols;

	*before = (struct ptx_function){ .kernel = kernel };
	p->function = before;
	if (ptx_take(p, '('))
		ptx_parameters(p, before, true);
	f = ptx_function_of(p, ptx_word(p), true);
	if (f->defined)
		ptx_fail(p, "%s comes twice", f->name);
	for (size_t i = 0; i < f->parameters + f->results; i++)
		free(f->parameter[i].name);
	before->name = f->name;
	before->next = f->next;
	before->alike = f->alike;
	before->module = p->module;
	*f = *before;
	before->results = 0;
	p->function = f;
	after_name(p);
	forget_symbols(p, symbols);
	p->function = NULL;
}

static bool
is_one_of(const char *w, const char *const *words)
{
	while (*words && strcmp(*words, w))
		words++;
	return *words != NULL;
}

static void
top(struct parser *p)
{
	static const char *const lines[] = { ".version", ".target", ".file",
		".address_size", ".loc", NULL };
	static const char *const linkage[] = { ".visible", ".weak", ".extern",
		".common", NULL };

	while (!ptx_is_end(p)) {
		const char *w = ptx_directive(p);

		if (!*w && ptx_take(p, ';'))
			continue;
		if (is_one_of(w, linkage))
			continue;
		if (is_one_of(w, lines)) {
			ptx_skip_line(p);
		} else if (!strcmp(w, ".entry") || !strcmp(w, ".func")) {
			function(p, !strcmp(w, ".entry"));
		} else if (!strcmp(w, ".section")) {
			ptx_word(p);
			ptx_skip_braces(p);
		} else if (*w == '.' && ptx_find(ptx_space_words, w + 1) > 0) {
			ptx_variables(p, ptx_find(ptx_space_words, w + 1));
		} else if (!strcmp(w, ".pragma") || !strcmp(w, ".alias")) {
			ptx_skip_statement(p);
		} else {
			ptx_fail(p, "what is '%.20s'", *w ? w : p->s);
		}
	}
}

struct ptx_module *
ptx_module_load(const char *text, size_t length, char *message,
    size_t message_size)
{
	struct parser *p = calloc(1, sizeof *p);
	struct ptx_module *const volatile m = calloc(1, sizeof *m);
	bool good;

	if (!p || !m)
		abort();
	p->text = calloc(1, length + AFTER_TEXT);
	if (!p->text)
		abort();
	memcpy(p->text, text, length);
	p->s = p->text;
	p->end = p->text + length;
	p->line = 1;
	p->module = m;
	p->message = message;
	p->message_size = message_size;
	m->last = &m->functions;
	good = !setjmp(p->out);
	if (good)
		top(p);
	forget_symbols(p, 0);
	ptx_forget_half(p);
	while (p->before.results)
		free(p->before.parameter[--p->before.results].name);
	free(p->text);
	free(p->symbol);
	free(p->label);
	free(p->fix);
	free(p);
	if (good)
		return m;
	ptx_module_free(m);
	return NULL;
}
