/* SPDX-License-Identifier: Apache-2.0 */
/* shim/bind/catalogue.c -- the rows of entries.def as one table. */
#include "shim/bind/catalogue.h"

#include "policy/op.h"

enum {
#define SHAPE(id, operation, has_recipe, arguments, fate) \
	OPERATION_##id = AC_OP_##operation, HAS_RECIPE_##id = has_recipe,
#include "shim/bind/entries.def"
};

const struct ac_entry_row ac_entries[ENTRY_COUNT] = {
#define GEMM(shape, symbol, index) [ENTRY_##symbol] = { #symbol, \
	"libcublas.so", OPERATION_##shape, HAS_RECIPE_##shape },
#define MATMUL(shape, symbol, provider) [ENTRY_##symbol] = { #symbol, \
	provider, OPERATION_##shape, HAS_RECIPE_##shape },
#define WRAPPED(kind, symbol, provider) \
	[ENTRY_##symbol] = { #symbol, provider, -1, false },
#define COMPANION(symbol, provider, need) \
	[ENTRY_##symbol] = { #symbol, provider, -1, false },
#include "shim/bind/entries.def"
};
