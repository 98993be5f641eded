/* SPDX-License-Identifier: Apache-2.0 */
/* shim/start/nvtx.c -- the client's side of NVTX 3, of two functions: we load
 * the profiler's library and hand it a table of what we call; it puts its own
 * functions there, or leaves NULL. Source of the numbers and types:
 * nvtx3/nvtxDetail/nvtxTypes.h of the CUDA toolkit. */
#include "shim/start/nvtx.h"

#include "base/elf.h"
#include "base/env.h"
#include "base/text.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

enum { MODULE_CORE = 1, TABLE_CALLBACKS = 1, CORE_PUSH = 9, CORE_POP = 11,
	CORE_COUNT = 16 };

typedef void (*function)(void);

struct callbacks {
	size_t size;
	int (*functions)(int module, function ***table_out,
	    unsigned *count_out);
};

_Atomic bool ac_nvtx_wanted;

/* Set by the profiler's library while it starts. */
static int (*push)(const char *);
static int (*pop)(void);

static int
functions(int module, function ***table_out, unsigned *count_out)
{
	static function ignored;
	static function *core[CORE_COUNT];

	if (module != MODULE_CORE)
		return 0;
	for (unsigned i = 1; i < CORE_COUNT; i++)
		core[i] = &ignored;
	core[CORE_PUSH] = (function *)(void *)&push;
	core[CORE_POP] = (function *)(void *)&pop;
	*table_out = core;
	*count_out = CORE_COUNT;
	return 1;
}

static const void *
table(uint32_t id)
{
	static const struct callbacks callbacks = { sizeof callbacks,
		functions };

	return id == TABLE_CALLBACKS ? &callbacks : NULL;
}

/* glibc 2.34 moved both into libc: found at run time, no version is needed. */
static bool
load(void)
{
	void *(*open)(const char *, int), *(*look)(void *, const char *);
	void *opens = ac_elf_next_early("dlopen"), *library, *address;
	void *looks = ac_elf_next_early("dlsym");
	int (*start)(const void *(*)(uint32_t));

	if (!opens || !looks)
		return false;
	memcpy(&open, &opens, sizeof open);
	memcpy(&look, &looks, sizeof look);
	library = open(ac_env(AC_ENV_NVTX), RTLD_LAZY);
	address = library ? look(library, "InitializeInjectionNvtx2") : NULL;
	memcpy(&start, &address, sizeof start);
	return start && start(table) && push && pop;
}

/* Those that come while another thread is at it have no range. */
static bool
is_loaded(void)
{
	static _Atomic int state; /* 0: nobody was here, 1: loading, 2: done */
	int now = atomic_load_explicit(&state, memory_order_acquire);
	int saved;

	if (now || !atomic_compare_exchange_strong(&state, &now, 1))
		return now == 2;
	saved = errno;
	if (!load())
		atomic_store(&ac_nvtx_wanted, false);
	atomic_store_explicit(&state, 2, memory_order_release);
	errno = saved;
	return ac_nvtx_wanted;
}

bool
ac_nvtx_push(enum ac_rung rung, uint32_t site)
{
	char name[64];
	struct ac_text text;

	if (!is_loaded())
		return false;
	ac_text_init(&text, name, sizeof name);
	ac_text_addf(&text, "autocast %s site=%08x", ac_rung_names[rung], site);
	(void)push(name);
	return true;
}

void
ac_nvtx_pop(void)
{
	(void)pop();
}
