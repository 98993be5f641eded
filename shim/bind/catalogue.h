/* SPDX-License-Identifier: Apache-2.0 */
/* shim/bind/catalogue.h -- every NVIDIA function the shim knows, as one number.
 * The rows are in entries.def; this header turns them into an enum. */
#ifndef AC_SHIM_CATALOGUE_H
#define AC_SHIM_CATALOGUE_H

#include <stdbool.h>

/* Never cublas_v2.h: its macros would rename our rows. */
#include <cublas_api.h>
#include <cublasLt.h>

/* What the program sees of the library: NVIDIA's names, unversioned. */
#define AC_EXPORT __attribute__((visibility("default")))

enum ac_entry {
#define WRAPPED(kind, symbol, provider) ENTRY_##symbol,
#include "shim/bind/entries.def"
	ENTRY_WRAPPED, /* those before are exported, those after only called */
	ENTRY_FIRST_COMPANION = ENTRY_WRAPPED - 1,
#define COMPANION(symbol, provider, need) ENTRY_##symbol,
#include "shim/bind/entries.def"
	ENTRY_COUNT
};

/* A function of NVIDIA's whose type its row knows. */
typedef void (*ac_fn)(void);

struct ac_entry_row {
	/* In place: the loader has no addresses to fill in. */
	char symbol[48];
	char provider[16];    /* what its SONAME starts with */
	signed char operation; /* of a product: enum ac_operation; else -1 */
	bool rewritable;      /* a product that a recipe exists for */
};
extern const struct ac_entry_row ac_entries[ENTRY_COUNT];

/* What answers a call of `entry` that reaches nothing: its library's status
 * NOT_INITIALIZED. */
ac_fn ac_entry_missing(enum ac_entry entry);

#endif
