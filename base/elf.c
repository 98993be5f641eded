/* SPDX-License-Identifier: Apache-2.0 */
/* base/elf.c -- our own symbol look-up over the loaded objects. Only here and
 * in base/elf_symbol.c are ELF structures of running code read. */
#include "base/elf_symbol.h"
#include "base/mapped.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

/* ---- Walking, and forks meanwhile -------------------------------------- */

/* dl_iterate_phdr() holds a lock of the loader's that fork() does not give back
 * in the child: a fork while another thread walks would leave a child that
 * waits for ever at its first walk. So a fork waits for walks to end, and new
 * ones for the fork. Neither waits for ever: the program may fork, or wait for
 * threads of its own, where we are in the way. */
enum { PATIENCE = 20000 };
static _Atomic unsigned walkers;
static _Atomic bool forking;

static void
before_fork(void)
{
	atomic_store(&forking, true);
	for (int i = 0; i < PATIENCE && atomic_load(&walkers); i++)
		(void)sched_yield();
}

static void
after_fork_in_parent(void)
{
	atomic_store(&forking, false);
}

static void
after_fork_in_child(void)
{
	atomic_store(&walkers, 0);
	atomic_store(&forking, false);
}

static void
enter(void)
{
	static atomic_flag handled = ATOMIC_FLAG_INIT;

	if (!atomic_flag_test_and_set(&handled))
		(void)pthread_atfork(before_fork, after_fork_in_parent,
		    after_fork_in_child);
	atomic_fetch_add(&walkers, 1);
	for (int i = 0; i < PATIENCE && atomic_load(&forking); i++) {
		atomic_fetch_sub(&walkers, 1);
		(void)sched_yield();
		atomic_fetch_add(&walkers, 1);
	}
}

static int
iterate(int (*step)(struct dl_phdr_info *, size_t, void *), void *data)
{
	int result;

	enter();
	result = dl_iterate_phdr(step, data);
	atomic_fetch_sub(&walkers, 1);
	return result;
}

static int
read_unloads(struct dl_phdr_info *info, size_t size, void *count_out)
{
	(void)size;
	*(unsigned long long *)count_out = info->dlpi_subs;
	return 1;
}

unsigned long long
ac_elf_unloads(void)
{
	unsigned long long count = 0;

	iterate(read_unloads, &count);
	return count;
}

/* ---- Objects ----------------------------------------------------------- */

struct extent {
	uintptr_t low, high;
	const ElfW(Dyn) *dynamic;
};

static struct extent
extent_of(const struct dl_phdr_info *info)
{
	struct extent extent = { UINTPTR_MAX, 0, NULL };

	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];
		const uintptr_t start = info->dlpi_addr + header->p_vaddr;

		if (header->p_type == PT_LOAD) {
			if (start < extent.low)
				extent.low = start;
			if (start + header->p_memsz > extent.high)
				extent.high = start + header->p_memsz;
		} else if (header->p_type == PT_DYNAMIC) {
			extent.dynamic = (const void *)start;
		}
	}
	return extent;
}

static bool
read_object(const struct dl_phdr_info *info, const struct extent *extent,
    struct ac_elf_object *object)
{
	if (!extent->dynamic || !ac_elf_read_dynamic(object, info->dlpi_addr,
	    extent->dynamic))
		return false;
	object->path = info->dlpi_name ? info->dlpi_name : "";
	object->low = extent->low;
	object->high = extent->high;
	return true;
}

struct walk {
	bool (*visit)(const struct ac_elf_object *, void *);
	void *context;
};

static int
walk_step(struct dl_phdr_info *info, size_t size, void *data)
{
	const struct walk *walk = data;
	const struct extent extent = extent_of(info);
	struct ac_elf_object object;

	(void)size;
	return read_object(info, &extent, &object)
	    && walk->visit(&object, walk->context);
}

bool
ac_elf_each(bool (*visit)(const struct ac_elf_object *, void *), void *context)
{
	struct walk walk = { visit, context };

	return iterate(walk_step, &walk) != 0;
}

struct search {
	uintptr_t address;
	const char *prefix;
	struct ac_elf_object *out;
};

/* Known by its extent alone, the rest is read of one object only: this is asked
 * for each new site, of processes that have hundreds of libraries. */
static int
holds_address(struct dl_phdr_info *info, size_t size, void *data)
{
	const struct search *search = data;
	const struct extent extent = extent_of(info);
	struct ac_elf_object object;

	(void)size;
	if (search->address < extent.low || search->address >= extent.high
	    || !read_object(info, &extent, &object))
		return 0;
	*search->out = object;
	return 1;
}

bool
ac_elf_object_at(const void *address, struct ac_elf_object *object_out)
{
	struct search search = { (uintptr_t)address, NULL, object_out };

	return iterate(holds_address, &search) != 0;
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
	uint32_t i = ac_elf_hashed(object, symbol, false);

	if (!object->versions || !object->needed)
		return NULL;
	if (i)
		return file_of_version(object, object->versions[i] & 0x7fff);
	if (!object->gnu_hash)
		return NULL;
	const uint32_t count = reference_count(object);

	for (i = 1; i < count; i++)
		if (!strcmp(object->strings + object->symbols[i].st_name,
			symbol))
			return file_of_version(object,
			    object->versions[i] & 0x7fff);
	return NULL;
}

bool
ac_elf_needs(const struct ac_elf_object *object, const char *soname)
{
	for (const ElfW(Dyn) *entry = object->dynamic; entry->d_tag != DT_NULL;
	    entry++)
		if (entry->d_tag == DT_NEEDED && !strcmp(object->strings
		    + entry->d_un.d_val, soname))
			return true;
	return false;
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

struct before_us {
	const char *name;
	const char *path; /* of what defines it; NULL: nothing does */
};

static bool
defines(const struct ac_elf_object *object, void *data)
{
	struct before_us *search = data;

	if (ac_elf_is_ours(object))
		return true;
	if (ac_elf_definition(object, search->name))
		search->path = object->path;
	return search->path != NULL;
}

const char *
ac_elf_definer_before_us(const char *name)
{
	struct before_us search = { name, NULL };

	ac_elf_each(defines, &search);
	return search.path;
}

/* ---- The program --------------------------------------------------------- */

const char *
ac_elf_program(void)
{
	static _Atomic(const char *) known;
	const char *image = atomic_load_explicit(&known, memory_order_acquire);
	char path[4096];
	ssize_t length;
	char *copy;

	if (image)
		return image;
	length = readlink("/proc/self/exe", path, sizeof path);
	if (length <= 0 || (size_t)length >= sizeof path)
		return "";
	copy = ac_mapped_take((size_t)length + 1);
	if (!copy)
		return "";
	memcpy(copy, path, (size_t)length);
	atomic_store_explicit(&known, copy, memory_order_release);
	return copy;
}
