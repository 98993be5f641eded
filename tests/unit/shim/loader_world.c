/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/shim/loader_world.c -- base/elf.h over objects that are made
 * up. */
#include "tests/unit/shim/loader_world.h"

#include "base/elf.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { CODE = 256 };

struct made_up objects[OBJECTS];
_Atomic unsigned walks, definitions;

static uintptr_t
base_of(unsigned number)
{
	return ((uintptr_t)number + 1) * SPAN;
}

const void *
in(unsigned number, unsigned at)
{
	return (const void *)(base_of(number) + SPAN / 2 + at);
}

ac_fn
own(unsigned number, enum ac_entry entry)
{
	return (ac_fn)(base_of(number) + CODE + 4 * (unsigned)entry);
}

static const struct made_up *
there(const struct ac_elf_object *object)
{
	return &objects[object->base / SPAN - 1];
}

static struct ac_elf_object
seen(unsigned number)
{
	const char *soname = objects[number].soname;

	return (struct ac_elf_object){
		.soname = *soname ? soname : NULL, .path = "",
		.base = base_of(number),
		.symbols = (const ElfW(Sym) *)(base_of(number) + 8),
		.defines_versions = objects[number].is_versioned,
	};
}

bool
ac_elf_each(bool (*visit)(const struct ac_elf_object *, void *), void *context)
{
	walks++;
	for (unsigned i = 0; i < OBJECTS; i++) {
		const struct ac_elf_object object = objects[i].soname
		    ? seen(i) : (struct ac_elf_object){ .base = 0 };

		if (object.base && visit(&object, context))
			return true;
	}
	return false;
}

bool
ac_elf_object_at(const void *address, struct ac_elf_object *object_out)
{
	uintptr_t number = (uintptr_t)address / SPAN - 1;

	if (number && number < OBJECTS && objects[number - 1].is_wide)
		number--;
	if (number >= OBJECTS || !objects[number].soname)
		return false;
	*object_out = seen((unsigned)number);
	return true;
}

void *
ac_elf_definition(const struct ac_elf_object *object, const char *name)
{
	const struct made_up *one = there(object);
	unsigned entry = 0;

	definitions++;
	while (entry < ENTRY_COUNT && strcmp(ac_entries[entry].symbol, name))
		entry++;
	return one->soname && one->defines && entry < ENTRY_COUNT
	    && !strncmp(name, one->defines, strlen(one->defines))
	    && (!one->lacks || strcmp(name, one->lacks))
	    ? (void *)(uintptr_t)own((unsigned)(one - objects),
	    (enum ac_entry)entry) : NULL;
}

bool
ac_elf_needs(const struct ac_elf_object *object, const char *soname)
{
	const char *needs = there(object)->needs;

	return needs && !strcmp(needs, soname);
}

const char *
ac_elf_needed_file(const struct ac_elf_object *object, const char *symbol)
{
	(void)symbol;
	return there(object)->file;
}

bool
ac_elf_is_ours(const struct ac_elf_object *object)
{
	return there(object)->is_ours;
}
