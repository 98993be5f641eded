/* SPDX-License-Identifier: Apache-2.0 */
/* base/elf_symbol.c -- one object's dynamic section, its symbol look-up, and
 * the walk that finds a function before libc can be called.
 * Everything here is EARLY (see the header). */
#include "base/elf_symbol.h"

/* Absent where the loader does not offer it; weak, since a strong reference
 * would make us need the loader's own file by name. */
#pragma weak _r_debug
extern struct r_debug _r_debug;

static AC_ELF_EARLY bool
is_same(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return *a == *b;
}

/* glibc relocates d_ptr in place; musl and the vDSO do not. */
static AC_ELF_EARLY uintptr_t
dynamic_address(uintptr_t base, ElfW(Addr) value)
{
	return value < base ? base + value : value;
}

_Static_assert(sizeof(struct ac_elf_object) % sizeof(uintptr_t) == 0,
    "clear() leaves nothing out");
static AC_ELF_EARLY void
clear(struct ac_elf_object *object)
{
	volatile uintptr_t *word = (volatile uintptr_t *)object;

	for (size_t i = 0; i < sizeof *object / sizeof *word; i++)
		word[i] = 0;
}

AC_ELF_EARLY bool
ac_elf_read_dynamic(struct ac_elf_object *object, uintptr_t base,
    const ElfW(Dyn) *entry)
{
	size_t soname = 0;
	bool has_soname = false;

	clear(object);
	object->base = base;
	object->dynamic = entry;
	for (; entry->d_tag != DT_NULL; entry++) {
		const uintptr_t at = dynamic_address(base, entry->d_un.d_ptr);

		switch (entry->d_tag) {
		case DT_STRTAB:     object->strings = (const char *)at; break;
		case DT_SYMTAB:     object->symbols = (const void *)at; break;
		case DT_GNU_HASH:   object->gnu_hash = (const void *)at; break;
		case DT_HASH:       object->hash = (const void *)at; break;
		case DT_VERSYM:     object->versions = (const void *)at; break;
		case DT_VERNEED:    object->needed = (const void *)at; break;
		case DT_VERNEEDNUM:
			object->needed_count = entry->d_un.d_val;
			break;
		case DT_VERDEF:     object->defines_versions = true; break;
		case DT_SONAME:
			soname = entry->d_un.d_val;
			has_soname = true;
			break;
		}
	}
	if (!object->strings || !object->symbols)
		return false;
	if (has_soname)
		object->soname = object->strings + soname;
	return true;
}

static AC_ELF_EARLY uint32_t
gnu_hash_of(const char *name)
{
	uint32_t hash = 5381;

	while (*name)
		hash = hash * 33 + (unsigned char)*name++;
	return hash;
}

/* The address of symbol `i`; an indirect function is asked for its choice. */
static AC_ELF_EARLY void *
symbol_address(const struct ac_elf_object *object, uint32_t i)
{
	const ElfW(Sym) *symbol = &object->symbols[i];
	const uintptr_t at = object->base + symbol->st_value;

	if (ELF64_ST_TYPE(symbol->st_info) == STT_GNU_IFUNC)
		return ((void *(*)(void))at)();
	return (void *)at;
}

/* Some references have a value, the program's own entry to a function whose
 * address it takes, and are hashed like definitions. */
static AC_ELF_EARLY bool
is_wanted(const struct ac_elf_object *object, uint32_t i, const char *name,
    bool defined)
{
	enum { HIDDEN_VERSION = 0x8000 };

	return (object->symbols[i].st_shndx != SHN_UNDEF) == defined
	    && !(defined && object->versions
	    && object->versions[i] & HIDDEN_VERSION)
	    && is_same(object->strings + object->symbols[i].st_name, name);
}

/* DT_GNU_HASH: bucket count, index of the first hashed symbol, Bloom words,
 * Bloom shift; then the Bloom filter, the buckets, and one word per symbol
 * whose lowest bit ends a chain. */
static AC_ELF_EARLY uint32_t
find_by_gnu_hash(const struct ac_elf_object *object, const char *name,
    bool defined)
{
	enum { WORD_BITS = 8 * sizeof(ElfW(Addr)) };
	const uint32_t *table = object->gnu_hash;
	const uint32_t hash = gnu_hash_of(name);

	if (!table[0] || !table[2])
		return 0;
	const ElfW(Addr) *bloom = (const void *)(table + 4);
	const uint32_t *buckets = (const void *)(bloom + table[2]);
	const uint32_t *chains = buckets + table[0];
	const ElfW(Addr) word = bloom[(hash / WORD_BITS) & (table[2] - 1)];

	if (!(word >> hash % WORD_BITS & word >> (hash >> table[3]) % WORD_BITS
	    & 1))
		return 0;
	for (uint32_t i = buckets[hash % table[0]]; i >= table[1] && i; i++) {
		const uint32_t chain = chains[i - table[1]];

		if ((chain | 1) == (hash | 1)
		    && is_wanted(object, i, name, defined))
			return i;
		if (chain & 1)
			break;
	}
	return 0;
}

/* DT_HASH: bucket count, symbol count, the buckets, and for each symbol the
 * next one of its bucket. Every symbol is in it, references too. */
static AC_ELF_EARLY uint32_t
find_by_hash(const struct ac_elf_object *object, const char *name,
    bool defined)
{
	const uint32_t *table = object->hash;
	const uint32_t *buckets = table + 2;
	uint32_t hash = 0;

	if (!table[0])
		return 0;
	for (const char *c = name; *c; c++) {
		hash = (hash << 4) + (unsigned char)*c;
		hash = (hash ^ (hash >> 24 & 0xf0)) & 0x0fffffff;
	}
	for (uint32_t i = buckets[hash % table[0]]; i && i < table[1];
	    i = buckets[table[0] + i])
		if (is_wanted(object, i, name, defined))
			return i;
	return 0;
}

AC_ELF_EARLY uint32_t
ac_elf_hashed(const struct ac_elf_object *object, const char *name,
    bool defined)
{
	if (object->gnu_hash)
		return find_by_gnu_hash(object, name, defined);
	return object->hash ? find_by_hash(object, name, defined) : 0;
}

AC_ELF_EARLY void *
ac_elf_definition(const struct ac_elf_object *object, const char *name)
{
	const uint32_t i = ac_elf_hashed(object, name, true);

	return i ? symbol_address(object, i) : NULL;
}

/* What is looked for lies in libc, or (before glibc 2.34) in libdl: objects
 * that were there from the start and stay, so the loader's lock is not needed.
 * Opened late, we come after them: then the last one before us is as good. */
AC_ELF_EARLY void *
ac_elf_next_early(const char *name)
{
	const struct link_map *map = &_r_debug ? _r_debug.r_map : NULL;
	bool past_us = false;
	void *before = NULL;

	for (; map; map = map->l_next) {
		struct ac_elf_object object;
		void *found;

		if (map->l_ld == _DYNAMIC) {
			past_us = true;
			continue;
		}
		if (!map->l_ld
		    || !ac_elf_read_dynamic(&object, map->l_addr, map->l_ld))
			continue;
		found = ac_elf_definition(&object, name);
		if (found && past_us)
			return found;
		if (found)
			before = found;
	}
	return before;
}
