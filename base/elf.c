/* SPDX-License-Identifier: Apache-2.0 */
/* base/elf.c -- our own symbol look-up over the loaded objects.
 * The only place that reads ELF structures of running code. */
#include "base/elf.h"

#include <string.h>

/* glibc relocates d_ptr in place; musl and the vDSO do not. */
static uintptr_t
dynamic_address(const struct ac_elf_object *object, ElfW(Addr) value)
{
	return value < object->base ? object->base + value : value;
}

static bool
read_dynamic(struct ac_elf_object *object, const ElfW(Dyn) *entry)
{
	size_t soname = 0;
	bool has_soname = false;

	for (; entry->d_tag != DT_NULL; entry++) {
		const uintptr_t at = dynamic_address(object, entry->d_un.d_ptr);

		switch (entry->d_tag) {
		case DT_STRTAB:     object->strings = (const char *)at; break;
		case DT_SYMTAB:     object->symbols = (const void *)at; break;
		case DT_GNU_HASH:   object->gnu_hash = (const void *)at; break;
		case DT_VERSYM:     object->versions = (const void *)at; break;
		case DT_VERNEED:    object->needed = (const void *)at; break;
		case DT_VERNEEDNUM: object->needed_count = entry->d_un.d_val; break;
		case DT_VERDEF:     object->defines_versions = true; break;
		case DT_SONAME:     soname = entry->d_un.d_val; has_soname = true; break;
		}
	}
	if (!object->strings || !object->symbols)
		return false;
	if (has_soname)
		object->soname = object->strings + soname;
	return true;
}

static bool
read_object(const struct dl_phdr_info *info, struct ac_elf_object *object)
{
	const ElfW(Dyn) *dynamic = NULL;

	memset(object, 0, sizeof *object);
	object->path = info->dlpi_name ? info->dlpi_name : "";
	object->base = info->dlpi_addr;
	object->low = UINTPTR_MAX;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];
		const uintptr_t start = object->base + header->p_vaddr;

		if (header->p_type == PT_LOAD) {
			if (start < object->low)
				object->low = start;
			if (start + header->p_memsz > object->high)
				object->high = start + header->p_memsz;
		} else if (header->p_type == PT_DYNAMIC) {
			dynamic = (const void *)start;
		}
	}
	return dynamic && read_dynamic(object, dynamic);
}

struct walk {
	bool (*visit)(const struct ac_elf_object *, void *);
	void *context;
};

static int
walk_step(struct dl_phdr_info *info, size_t size, void *data)
{
	const struct walk *walk = data;
	struct ac_elf_object object;

	(void)size;
	return read_object(info, &object) && walk->visit(&object, walk->context);
}

bool
ac_elf_each(bool (*visit)(const struct ac_elf_object *, void *), void *context)
{
	struct walk walk = { visit, context };

	return dl_iterate_phdr(walk_step, &walk) != 0;
}

struct search {
	uintptr_t address;
	const char *prefix;
	struct ac_elf_object *out;
};

static bool
holds_address(const struct ac_elf_object *object, void *data)
{
	const struct search *search = data;

	if (search->address < object->low || search->address >= object->high)
		return false;
	*search->out = *object;
	return true;
}

bool
ac_elf_object_at(const void *address, struct ac_elf_object *object_out)
{
	struct search search = { (uintptr_t)address, NULL, object_out };

	return ac_elf_each(holds_address, &search);
}

static bool
has_soname(const struct ac_elf_object *object, void *data)
{
	const struct search *search = data;

	if (!object->soname || strncmp(object->soname, search->prefix,
	    strlen(search->prefix)))
		return false;
	*search->out = *object;
	return true;
}

bool
ac_elf_find_object(const char *soname_prefix, struct ac_elf_object *object_out)
{
	struct search search = { 0, soname_prefix, object_out };

	return ac_elf_each(has_soname, &search);
}

static uint32_t
gnu_hash_of(const char *name)
{
	uint32_t hash = 5381;

	while (*name)
		hash = hash * 33 + (unsigned char)*name++;
	return hash;
}

/* The address of symbol `i`; an indirect function is asked for its choice. */
static void *
symbol_address(const struct ac_elf_object *object, uint32_t i)
{
	const ElfW(Sym) *symbol = &object->symbols[i];
	const uintptr_t at = object->base + symbol->st_value;

	if (ELF64_ST_TYPE(symbol->st_info) == STT_GNU_IFUNC)
		return ((void *(*)(void))at)();
	return (void *)at;
}

static bool
is_default_definition(const struct ac_elf_object *object, uint32_t i,
    const char *name)
{
	enum { HIDDEN_VERSION = 0x8000 };

	return object->symbols[i].st_shndx != SHN_UNDEF
	    && !(object->versions && object->versions[i] & HIDDEN_VERSION)
	    && !strcmp(object->strings + object->symbols[i].st_name, name);
}

/* DT_GNU_HASH: bucket count, index of the first hashed symbol, Bloom words,
 * Bloom shift; then the Bloom filter, the buckets, and one word per symbol
 * whose lowest bit ends a chain. */
void *
ac_elf_definition(const struct ac_elf_object *object, const char *name)
{
	enum { WORD_BITS = 8 * sizeof(ElfW(Addr)) };
	const uint32_t *table = object->gnu_hash;
	const uint32_t hash = gnu_hash_of(name);

	if (!table || !table[0] || !table[2])
		return NULL;
	const ElfW(Addr) *bloom = (const void *)(table + 4);
	const uint32_t *buckets = (const void *)(bloom + table[2]);
	const uint32_t *chains = buckets + table[0];
	const ElfW(Addr) word = bloom[(hash / WORD_BITS) & (table[2] - 1)];

	if (!(word >> hash % WORD_BITS & word >> (hash >> table[3]) % WORD_BITS
	    & 1))
		return NULL;
	for (uint32_t i = buckets[hash % table[0]]; i >= table[1] && i; i++) {
		const uint32_t chain = chains[i - table[1]];

		if ((chain | 1) == (hash | 1)
		    && is_default_definition(object, i, name))
			return symbol_address(object, i);
		if (chain & 1)
			break;
	}
	return NULL;
}

static const char *
file_of_version(const struct ac_elf_object *object, unsigned version)
{
	const ElfW(Verneed) *need = object->needed;

	for (size_t i = 0; i < object->needed_count; i++) {
		const ElfW(Vernaux) *aux =
		    (const void *)((const char *)need + need->vn_aux);

		for (unsigned j = 0; j < need->vn_cnt; j++) {
			if ((aux->vna_other & 0x7fff) == version)
				return object->strings + need->vn_file;
			aux = (const void *)((const char *)aux + aux->vna_next);
		}
		need = (const void *)((const char *)need + need->vn_next);
	}
	return NULL;
}

/* How many symbols may be references: they sit below the first hashed one. An
 * object that defines nothing (most programs) says 1 there, whatever it
 * refers to; its string table then follows the symbols, as every linker in
 * use lays them out. */
static uint32_t
reference_count(const struct ac_elf_object *object)
{
	const uint32_t *table = object->gnu_hash;
	const uint32_t *buckets = (const void *)((const ElfW(Addr) *)
	    (const void *)(table + 4) + table[2]);
	const uintptr_t first = (uintptr_t)object->symbols;
	const uintptr_t others[] = { (uintptr_t)object->strings,
		(uintptr_t)object->gnu_hash, (uintptr_t)object->versions,
		(uintptr_t)object->needed, object->high };
	uintptr_t end = UINTPTR_MAX;

	for (uint32_t i = 0; i < table[0]; i++)
		if (buckets[i])
			return table[1];
	for (unsigned i = 0; i < sizeof others / sizeof *others; i++)
		if (others[i] > first && others[i] < end)
			end = others[i];
	return (uint32_t)((end - first) / sizeof *object->symbols);
}

const char *
ac_elf_needed_file(const struct ac_elf_object *object, const char *symbol)
{
	if (!object->versions || !object->needed || !object->gnu_hash)
		return NULL;
	const uint32_t count = reference_count(object);

	for (uint32_t i = 1; i < count; i++)
		if (!strcmp(object->strings + object->symbols[i].st_name, symbol))
			return file_of_version(object,
			    object->versions[i] & 0x7fff);
	return NULL;
}

bool
ac_elf_is_ours(const struct ac_elf_object *object)
{
	static const char anchor;
	const uintptr_t here = (uintptr_t)&anchor;

	return here >= object->low && here < object->high;
}

struct next {
	const char *name;
	void *found;
	bool past_us;
};

static bool
next_definition(const struct ac_elf_object *object, void *data)
{
	struct next *next = data;

	if (ac_elf_is_ours(object)) {
		next->past_us = true;
		return false;
	}
	if (next->past_us)
		next->found = ac_elf_definition(object, next->name);
	return next->found != NULL;
}

void *
ac_elf_next(const char *name)
{
	struct next next = { name, NULL, false };

	ac_elf_each(next_definition, &next);
	return next.found;
}
