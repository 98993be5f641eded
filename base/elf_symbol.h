/* SPDX-License-Identifier: Apache-2.0 */
/* base/elf_symbol.h -- reading one object's dynamic section and symbols; for
 * base/elf.c and for the look-up that runs before anything else. */
#ifndef AC_BASE_ELF_SYMBOL_H
#define AC_BASE_ELF_SYMBOL_H

#include "base/elf.h"

/* The first dlsym() of a process can come from a sanitizer that is still
 * looking for strcmp() and memset(): code marked EARLY calls no function of
 * libc, nor does the compiler make it do so behind our back. For
 * definitions. */
#if defined __clang__
#define AC_ELF_EARLY __attribute__((no_builtin, \
	no_sanitize("address", "thread", "undefined")))
#else
#define AC_ELF_EARLY __attribute__(( \
	optimize("no-tree-loop-distribute-patterns"), \
	no_sanitize("address", "thread", "undefined")))
#endif

/* The number of the symbol `name` that the object defines by default, or (not
 * `defined`) that it refers to and its hash table knows; 0: there is none. */
uint32_t ac_elf_hashed(const struct ac_elf_object *object, const char *name,
    bool defined);

/* An object of which only base and dynamic section are known: everything but
 * path, low and high is filled. False if it has no symbols. */
bool ac_elf_read_dynamic(struct ac_elf_object *object,
    uintptr_t base, const ElfW(Dyn) *entry);

#endif
