/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/ptx/initial.c -- what variables hold before the first launch. */
#include "emulator/ptx/parse.h"

#include <ctype.h>

/* A number, or the address of a variable or a function. */
static uint64_t
initial_value(struct parser *p, int bytes)
{
	const struct ptx_variable *other;
	struct ptx_function *f;
	char name[NAME_ROOM];
	int is_float = 0;
	uint64_t value;

	if (isdigit(ptx_peek(p)) || ptx_peek(p) == '-') {
		value = ptx_number(p, &is_float);
		return ptx_as_type(value, is_float, bytes == 4 ? T_F32 : T_F64);
	}
	strcpy(name, ptx_word(p));
	if (!strcmp(name, "generic")) {
		ptx_want(p, '(');
		strcpy(name, ptx_word(p));
		ptx_want(p, ')');
	}
	other = ptx_variable_of(p, name);
	f = other ? NULL : ptx_function_of(p, name, false);
	if (!other && !f)
		ptx_fail(p, "%s is not known", name);
	value = other ? (uint64_t)other->at : (uint64_t)(uintptr_t)f;
	if (ptx_take(p, '+'))
		value += ptx_whole(p);
	return value;
}

/* Of the widest types the upper half is zero, as the memory is. */
static void
store(unsigned char *to, uint64_t value, int bytes)
{
	memcpy(to, &value, bytes < (int)sizeof value ? (size_t)bytes
	    : sizeof value);
}

/* The values in inner braces follow each other. */
void
ptx_initial(struct parser *p, const struct ptx_variable *v, unsigned char *at)
{
	const int bytes = ptx_type_bytes[v->type];
	const unsigned char *const end = at + v->bytes;
	size_t depth = 0;

	do {
		if (ptx_take(p, '{')) {
			depth++;
		} else if (ptx_take(p, '}')) {
			depth--;
		} else {
			const uint64_t value = initial_value(p, bytes);

			if (bytes > end - at)
				ptx_fail(p, "%s has too many values", v->name);
			store(at, value, bytes);
			at += bytes;
		}
		if (depth)
			ptx_take(p, ',');
	} while (depth);
}
