/* SPDX-License-Identifier: Apache-2.0 */
/* shim/bind/catalogue.c -- the rows of entries.def as one table. */
#include "shim/bind/catalogue.h"

#include "policy/op.h"

#include <string.h>

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

/* What answers where there is no provider: a program that asks whether a weak
 * symbol is there finds ours, and may call it. */
static int
missing(void)
{
	return CUBLAS_STATUS_NOT_INITIALIZED; /* of cublasLt, cuSOLVER, too */
}

static int
missing_cudnn(void)
{
	return 1001; /* CUDNN_STATUS_NOT_INITIALIZED */
}

ac_fn
ac_entry_missing(enum ac_entry entry)
{
	return strcmp(ac_entries[entry].provider, "libcudnn.so")
	    ? (ac_fn)missing : (ac_fn)missing_cudnn;
}
