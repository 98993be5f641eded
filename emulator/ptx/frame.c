/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/ptx/frame.c -- frames of functions: registers and arguments of a
 * warp's lanes. */
#include "emulator/ptx/run.h"

void
ptx_push(struct warp *w, struct ptx_function *function, uint32_t mask,
    const struct ptx_instruction *call)
{
	struct launch *l = w->block->launch;
	struct host_thread *r = w->block->worker;
	struct frame **link = &r->spare, *f;

	while (*link && (*link)->function != function)
		link = &(*link)->caller;
	f = *link;
	if (f) {
		*link = f->caller;
	} else {
		const size_t bytes = function->register_bytes + 64 +
		    function->argument_bytes * LANES;

		f = ptx_memory(r, sizeof *f);
		f->function = function;
		f->registers = ptx_memory(r, bytes);
		f->arguments = f->registers + function->register_bytes;
		ptx_noise(l, f->registers, bytes);
	}
	if (l->options->fill)
		ptx_noise(l, f->registers, function->register_bytes);
	f->caller = w->top;
	f->call = call;
	f->local_at = w->top ? w->top->local_at +
	    (int64_t)((w->top->function->local_bytes + 15) & ~(size_t)15) : 0;
	f->entered = mask;
	f->groups = 1;
	f->favoured = -1;
	f->turns = 0;
	f->group[0] = (struct group){ .pc = 0, .mask = mask };
	w->top = f;
}

void
ptx_bases(struct warp *w, struct frame *f, unsigned char *base[4])
{
	static unsigned char nothing[LANES * 16];

	base[BASE_FRAME] = f->registers;
	base[BASE_POOL] = w->block->launch->kernel->module->pool;
	base[BASE_SPECIAL] = w->special;
	base[BASE_NONE] = nothing;
}

void
ptx_pop(struct warp *w)
{
	struct frame *f = w->top, *caller = f->caller;
	const struct ptx_call *call = f->call ? f->call->call : NULL;

	w->top = caller;
	if (caller)
		for (size_t r = 0; r < call->results &&
		    r < f->function->results; r++)
			for (int i = 0; i < LANES; i++)
				if (f->entered >> i & 1)
					memcpy(caller->arguments + (size_t)i *
					    caller->function->argument_bytes +
					    call->result[r].at, f->arguments +
					    (size_t)i *
					    f->function->argument_bytes +
					    f->function->parameter[r].at,
					    (size_t)call->result[r].bytes);
	f->caller = w->block->worker->spare;
	w->block->worker->spare = f;
}

static bool
built_in(struct warp *w, struct frame *f, const struct ptx_instruction *in,
    uint32_t mask)
{
	const struct ptx_call *c = in->call;

	for (int i = 0; i < LANES && !strcmp(c->name, "vprintf"); i++) {
		unsigned char *at = f->arguments + (size_t)i *
		    f->function->argument_bytes;
		const char *format;
		const void *values;

		if (!(mask >> i & 1) || !w->block->launch->options->print)
			continue;
		memcpy(&format, at + c->argument[0].at, sizeof format);
		memcpy(&values, at + c->argument[1].at, sizeof values);
		w->block->launch->options->print(format, values);
		w->rounds.changed = true;
	}
	return !strcmp(c->name, "vprintf");
}

/* What __assertfail(text, file, line, function, 1) says of its first lane, as a
 * GPU does; it does not return. */
static _Noreturn void
fail_assert(struct warp *w, struct frame *f, const struct ptx_instruction *in,
    int lane)
{
	const unsigned char *const at = f->arguments + (size_t)lane *
	    f->function->argument_bytes;
	const struct ptx_call *c = in->call;
	const char *word[4] = { "?", "?", "?", "?" };
	unsigned line = 0;

	for (size_t i = 0; i < c->arguments && i < 4; i++)
		if (i == 2)
			memcpy(&line, at + c->argument[i].at, sizeof line);
		else
			memcpy(&word[i], at + c->argument[i].at,
			    sizeof word[i]);
	ptx_found(w, in, lane, PTX_ASSERT, "%s:%u: %s: Assertion `%s` failed.",
	    word[1], line, word[3], word[0]);
	ptx_stop(w->block->worker);
}

void
ptx_call(struct warp *w, struct frame *f, const struct ptx_instruction *in,
    unsigned char *const base[4], uint32_t mask)
{
	const struct ptx_call *c = in->call;
	struct launch *l = w->block->launch;
	struct ptx_function *callee = c->callee;

	if (c->indirect) {
		const int first = __builtin_ctz(mask);

		callee = (struct ptx_function *)(uintptr_t)lane_value(base,
		    &in->operand[0], first);
		for (int i = 0; i < LANES; i++)
			if (mask >> i & 1 && lane_value(base, &in->operand[0],
			    i) != (uint64_t)(uintptr_t)callee) {
				ptx_found(w, in, i, PTX_UNSUPPORTED, "lanes "
				    "call different functions");
				ptx_stop(w->block->worker);
			}
	}
	if (!callee || !callee->defined) {
		if (built_in(w, f, in, mask))
			return;
		if (!strcmp(c->name, "__assertfail"))
			fail_assert(w, f, in, __builtin_ctz(mask));
		ptx_found(w, in, __builtin_ctz(mask), PTX_UNSUPPORTED,
		    "call of %s", c->name);
		ptx_stop(w->block->worker);
	}
	for (const struct frame *of = f; of; of = of->caller)
		if (of->function == callee) {
			ptx_found(w, in, __builtin_ctz(mask), PTX_UNSUPPORTED,
			    "%s is called by itself: recursion is not "
			    "emulated", callee->name);
			ptx_stop(w->block->worker);
		}
	ptx_push(w, callee, mask, in);
	if (w->top->local_at + (int64_t)callee->local_bytes >
	    (int64_t)l->local_bytes) {
		ptx_found(w, in, 0, PTX_UNSUPPORTED, "the stack is full");
		ptx_stop(w->block->worker);
	}
	for (size_t a = 0; a < c->arguments && a < callee->parameters; a++)
		for (int i = 0; i < LANES; i++)
			if (mask >> i & 1)
				memcpy(w->top->arguments + (size_t)i *
				    callee->argument_bytes + callee->parameter[
				    callee->results + a].at, f->arguments +
				    (size_t)i * f->function->argument_bytes +
				    c->argument[a].at,
				    (size_t)c->argument[a].bytes);
}
