/* SPDX-License-Identifier: Apache-2.0 */
/* base/elf.h -- which objects are loaded, and what they define.
 *
 * Our own look-up, because dlsym() cannot do what an interposer needs: it
 * misses RTLD_LOCAL libraries, mixes versions, takes the loader's main lock
 * (a call from a library constructor's thread would deadlock), and sets
 * dlerror() under the program's feet. Nothing here allocates or locks beyond
 * dl_iterate_phdr(). */
#ifndef AC_BASE_ELF_H
#define AC_BASE_ELF_H

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A loaded object. Pointers lead into the object itself and are valid while
 * it stays loaded. */
struct ac_elf_object {
	const char       *path;      /* as the loader has it; "": the program */
	const char       *soname;    /* NULL if it has none */
	uintptr_t         base;      /* load address */
	uintptr_t         low, high; /* mapped range, [low, high) */
	const ElfW(Sym)  *symbols;
	const char       *strings;
	const uint32_t   *gnu_hash;
	const uint32_t   *hash;      /* what older linkers make instead */
	const ElfW(Dyn)  *dynamic;
	const ElfW(Half) *versions;  /* per symbol; NULL if unversioned */
	const ElfW(Verneed) *needed;
	size_t            needed_count;
	bool              defines_versions;
};

/* Visit every loaded object in link order until `visit` returns true; the
 * result says whether one did. */
bool ac_elf_each(bool (*visit)(const struct ac_elf_object *, void *),
    void *context);

/* How many objects were unloaded so far. */
unsigned long long ac_elf_unloads(void);

/* The object that holds `address`. */
bool ac_elf_object_at(const void *address, struct ac_elf_object *object_out);

/* The first object whose SONAME starts with `soname_prefix`. */
bool ac_elf_find_object(const char *soname_prefix,
    struct ac_elf_object *object_out);

/* The object's own default definition of `name`, NULL if it has none. */
void *ac_elf_definition(const struct ac_elf_object *object, const char *name);

/* Whether the object was linked to the library whose SONAME is `soname`. */
bool ac_elf_needs(const struct ac_elf_object *object, const char *soname);

/* The file ("libcublas.so.12") that the object's own reference to `symbol` is
 * versioned against; NULL if the reference has no version. */
const char *ac_elf_needed_file(const struct ac_elf_object *object,
    const char *symbol);

/* The first definition of `name` in an object after ours, in link order: a
 * library that was opened late, and may be closed, finds none. */
void *ac_elf_next(const char *name);

/* The same for a function of the C library, without a call into it: may run
 * before anything else does. The last definition before ours if there is none
 * after. */
void *ac_elf_next_early(const char *name);

/* Whether `object` is the one this code is part of. */
bool ac_elf_is_ours(const struct ac_elf_object *object);

/* The path of the first object before ours that defines `name`; NULL: none
 * does. "" is the program. Valid while that object stays loaded. */
const char *ac_elf_definer_before_us(const char *name);

/* The file that this process runs, its links followed; "" if that is not known.
 * The kernel is asked once. */
const char *ac_elf_program(void);

#endif
