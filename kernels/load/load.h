/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/load/load.h -- a module's kernels as functions of one context. For
 * the files that launch them, and for those that ask what is known of a
 * context. Each module is described in a file of its own, so that its PTX is
 * linked only where something launches it. */
#ifndef AC_KERNELS_LOAD_H
#define AC_KERNELS_LOAD_H

#include "base/lock.h"
#include "kernels/load/kernels.h"
#include "kernels/load/packed.h"

#include <stdatomic.h>
#include <stdbool.h>

/* Of ac_recast_module. */
enum ac_kernel {
	AC_KERNEL_VERIFIED_PROBE, AC_KERNEL_VERIFIED_CAST,
	AC_KERNEL_VERIFIED_VERIFY, AC_KERNEL_VERIFIED_MEND,
	AC_KERNEL_RECAST_RANGES, AC_KERNEL_RECAST_SYMMETRIC,
	AC_KERNEL_CONV_CHECK, AC_KERNEL_COUNT
};

enum {
	AC_KERNELS_MOST = 16,      /* of a module */
	AC_KERNELS_CONTEXTS = 64   /* that a module remembers at a time */
};

struct ac_kernels {
	enum ac_kernels_status status;  /* OK, or NO_MODULE: no functions */
	const struct ac_driver *driver;
	ac_cu_context      context;
	uint64_t           id;          /* of the context, 0 before CUDA 12 */
	int                sm_count;    /* that its work may run on */
	ac_cu_function     function[AC_KERNELS_MOST];
};

enum ac_kernels_form { AC_KERNELS_IMAGE, AC_KERNELS_TEXT, AC_KERNELS_FORMS };

/* Where a module is loaded. Zero at first; load.c's own. */
struct ac_kernels_table {
	/* What is pointed to never changes and is never freed, so readers take
	 * no lock and may keep it. */
	_Atomic(const struct ac_kernels *) entry[AC_KERNELS_CONTEXTS];
	/* The process's, from CUDA 12 on. */
	_Atomic(ac_cu_library) library[AC_KERNELS_FORMS];
	_Atomic(const char *)  log;     /* of the compiler of the last one
	                                 * that was loaded, or NULL */
	unsigned       added;           /* under the lock */
	struct ac_lock adding;
};

#ifdef AC_WITH_IMAGES
#define AC_KERNELS_IMAGE_OF(name) name
#else
#define AC_KERNELS_IMAGE_OF(name) NULL
#endif

/* PTX that is loaded whole, or what was made of it. */
struct ac_kernels_module {
	struct ac_packed   packed;
	const char        *image;       /* of this name is machine code of it;
	                                 * NULL: there is none */
	const char        *refused;     /* what follows if no driver takes it */
	const char *const *names;       /* of its kernels */
	int                count;       /* <= AC_KERNELS_MOST */
	bool               asks_again;  /* a refusal is not remembered */
	struct ac_kernels_table *table;
};

extern const struct ac_kernels_module ac_recast_module;

/* What is known of the module in a context, be it that it was refused; NULL:
 * nothing yet. Asks the driver nothing. Thread-safe. */
const struct ac_kernels *ac_kernels_known(
    const struct ac_kernels_module *module, ac_cu_context context, uint64_t id);

/* The module's kernels in the current context, which is `context` with this
 * id: loaded if they are not yet, as ac_kernels_load() says, but for
 * `asks_again`. Thread-safe. */
enum ac_kernels_status ac_kernels_find(const struct ac_kernels_module *module,
    const struct ac_driver *driver, ac_cu_context context, uint64_t id,
    const struct ac_kernels **kernels_out);

/* The same for a caller that does not know which context is current. */
enum ac_kernels_status ac_kernels_get(const struct ac_kernels_module *module,
    const struct ac_kernels **kernels_out);

#endif
