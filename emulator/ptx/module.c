/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/ptx/module.c -- questions about a parsed text. */
#include "emulator/ptx/inside.h"

#include <stdlib.h>

const uint8_t ptx_type_bytes[T_TYPES] = {
	[T_B8] = 1, [T_U8] = 1, [T_S8] = 1, [T_B16] = 2, [T_U16] = 2,
	[T_S16] = 2, [T_F16] = 2, [T_BF16] = 2, [T_B32] = 4, [T_U32] = 4,
	[T_S32] = 4, [T_F32] = 4, [T_F16X2] = 4, [T_BF16X2] = 4, [T_B64] = 8,
	[T_U64] = 8, [T_S64] = 8, [T_F64] = 8, [T_B128] = 16,
	[T_TF32] = 4, [T_U16X2] = 4, [T_S16X2] = 4
};

void
ptx_forget_code(struct ptx_function *f)
{
	while (f->count) {
		f->count--;
		free(f->code[f->count].call);
		free(f->code[f->count].matrix);
	}
}

static void
free_function(struct ptx_function *f)
{
	ptx_forget_code(f);
	for (size_t i = 0; i < f->parameters + f->results; i++)
		free(f->parameter[i].name);
	free(f->code);
	free(f->name);
	free(f);
}

void
ptx_module_free(struct ptx_module *m)
{
	while (m->functions) {
		struct ptx_function *f = m->functions;

		m->functions = f->next;
		free_function(f);
	}
	while (m->target) {
		struct ptx_target *t = m->target;

		m->target = t->next;
		free(t->pc);
		free(t);
	}
	for (size_t i = 0; i < m->variables; i++) {
		const struct ptx_variable *v = &m->variable[i];

		if (v->space != SPACE_SHARED)
			free((void *)(uintptr_t)v->at);
		free(v->name);
	}
	free(m->variable);
	free(m->pool);
	free(m);
}

struct ptx_function *
ptx_module_kernel(struct ptx_module *module, const char *name)
{
	struct ptx_function *f = module->functions;

	while (f && (!f->kernel || strcmp(f->name, name)))
		f = f->next;
	return f;
}

struct ptx_function *
ptx_module_kernel_at(struct ptx_module *module, size_t i)
{
	struct ptx_function *f = module->functions;

	for (; f; f = f->next)
		if (f->kernel && f->defined && !i--)
			return f;
	return NULL;
}

const char *
ptx_kernel_name(const struct ptx_function *kernel)
{
	return kernel->name;
}

size_t
ptx_kernel_parameters(const struct ptx_function *kernel)
{
	return kernel->parameters;
}

size_t
ptx_kernel_parameter_bytes(const struct ptx_function *kernel, size_t i)
{
	return kernel->parameter[i].bytes;
}

size_t
ptx_kernel_parameter_align(const struct ptx_function *kernel, size_t i)
{
	return kernel->parameter[i].align;
}

void *
ptx_module_variable(struct ptx_module *module, const char *name,
    size_t *bytes_out)
{
	for (size_t i = 0; i < module->variables; i++) {
		const struct ptx_variable *v = &module->variable[i];

		if (v->space == SPACE_SHARED || strcmp(v->name, name))
			continue;
		if (bytes_out)
			*bytes_out = v->bytes;
		return (void *)(uintptr_t)v->at;
	}
	return NULL;
}

bool
ptx_module_variable_at(const struct ptx_module *module, size_t i,
    void **address_out, size_t *bytes_out)
{
	for (size_t k = 0; k < module->variables; k++) {
		const struct ptx_variable *v = &module->variable[k];

		if (v->space == SPACE_SHARED || i--)
			continue;
		*address_out = (void *)(uintptr_t)v->at;
		*bytes_out = v->bytes;
		return true;
	}
	return false;
}

size_t
ptx_kernel_shared(const struct ptx_function *kernel)
{
	return kernel->shared_bytes;
}

size_t
ptx_kernel_local(const struct ptx_function *kernel)
{
	return kernel->local_bytes;
}

unsigned
ptx_kernel_threads(const struct ptx_function *kernel)
{
	return kernel->most_threads;
}

size_t
ptx_module_unsupported(const struct ptx_module *module, FILE *out)
{
	size_t count = 0;

	for (const struct ptx_function *f = module->functions; f; f = f->next)
		for (size_t i = 0; i < f->count; i++) {
			if (f->code[i].op != OP_unsupported)
				continue;
			count++;
			if (out)
				fprintf(out, "%s: line %u: %s\n", f->name,
				    f->code[i].line, f->code[i].call
				    ? f->code[i].call->name : "");
		}
	return count;
}

size_t
ptx_module_coverage(const struct ptx_module *module, FILE *out,
    size_t *total_out)
{
	size_t missed = 0, total = 0;

	for (const struct ptx_function *f = module->functions; f; f = f->next)
		for (size_t i = 0; i + 1 < f->count; i++) {
			total++;
			if (f->code[i].hits)
				continue;
			missed++;
			if (out)
				fprintf(out, "%s: line %u\n", f->name,
				    f->code[i].line);
		}
	*total_out = total;
	return missed;
}
