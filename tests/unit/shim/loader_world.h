/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/shim/loader_world.h -- a loader that is made up: objects in link
 * order, SPAN bytes each, in place of base/elf.c. */
#ifndef TESTS_LOADER_WORLD_H
#define TESTS_LOADER_WORLD_H

#include "shim/bind/catalogue.h"

#include <stdbool.h>

enum { OBJECTS = 24, SPAN = 1 << 16 };

/* An object with a name that `defines` begins to tell; NULL: none is there. */
struct made_up {
	const char *soname;     /* "": it has none */
	const char *defines;    /* symbols that begin so; NULL: none */
	const char *lacks;      /* but for this one */
	const char *needs;      /* the library that it was linked to */
	const char *file;       /* its references are versioned against */
	bool        is_ours, is_versioned;
	bool        is_wide;    /* takes the place of the next one, too */
};

extern struct made_up objects[OBJECTS];

/* How often all objects were visited, and one asked for a definition. */
extern _Atomic unsigned walks, definitions;

/* Code of an object: the `at`-th call in it, below SPAN / 2. */
const void *in(unsigned number, unsigned at);

/* Where an object has its own `entry`. */
ac_fn own(unsigned number, enum ac_entry entry);

#endif
