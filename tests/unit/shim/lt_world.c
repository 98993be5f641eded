/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/shim/lt_world.c -- in place of shim/bind/provider.c. */
#include "tests/unit/shim/lt_world.h"

#include "shim/lt/library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

struct ac_provider lt_providers[LT_PROVIDERS];
const char *lt_lacks;
static void *library;

void
lt_world_open(void)
{
	const char *path = getenv("LT_LIBRARY");

	library = dlopen(path ? path : "libcublasLt.so.13", RTLD_NOW);
	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		exit(99);
	}
	lt_world_clear();
	printf("# cublasLt %zu\n", LT(cublasLtGetVersion)());
}

void
lt_world_clear(void)
{
	for (int i = 0; i < LT_PROVIDERS; i++) {
		ac_lt_library_forget(&lt_providers[i]);
		memset(&lt_providers[i], 0, sizeof lt_providers[i]);
	}
	lt_lacks = NULL;
}

ac_fn
lt_function(const char *symbol)
{
	return (ac_fn)(uintptr_t)dlsym(library, symbol);
}

ac_fn
ac_provider_look_up(struct ac_provider *provider, enum ac_entry entry)
{
	const char *symbol = ac_entries[entry].symbol;
	const ac_fn found = lt_lacks && !strcmp(lt_lacks, symbol) ? NULL :
	    lt_function(symbol);

	atomic_store(&provider->real[entry], found ? found :
	    (ac_fn)(uintptr_t)AC_PROVIDER_ABSENT);
	return found;
}

unsigned
ac_provider_slot(const struct ac_provider *provider)
{
	return (unsigned)(provider - lt_providers);
}

bool
ac_provider_is_complete(struct ac_provider *provider)
{
	enum { OPTIONAL, NEEDED };
	static const struct { enum ac_entry entry; int need; } rows[] = {
#define COMPANION(symbol, provider, need) { ENTRY_##symbol, need },
#include "shim/bind/entries.def"
	};

	for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++)
		if (rows[i].need == NEEDED
		    && strstr(ac_entries[rows[i].entry].provider, "Lt")
		    && !ac_provider_get(provider, rows[i].entry))
			return false;
	return true;
}

/* ---- Descriptors --------------------------------------------------------- */

static void
matrix_init(union lt_matrix *matrix, uint64_t rows, uint64_t cols, int64_t ld)
{
	memset(matrix, LT_POISON, sizeof *matrix);
	if (LT(cublasLtMatrixLayoutInit_internal)(&matrix->opaque,
	    sizeof matrix->opaque, CUDA_R_32F, rows, cols, ld))
		abort();
}

void
lt_call_init(struct lt_call *call, size_t bytes)
{
	memset(&call->operation, LT_POISON, sizeof call->operation);
	if (LT(cublasLtMatmulDescInit_internal)(&call->operation.opaque,
	    bytes ? bytes : sizeof call->operation.opaque, CUBLAS_COMPUTE_32F,
	    CUDA_R_32F))
		abort();
	matrix_init(&call->a, 48, 32, 50);
	matrix_init(&call->b, 32, 16, 33);
	matrix_init(&call->c, 48, 16, 49);
	matrix_init(&call->d, 48, 16, 48);
	call->asked = (struct ac_lt_asked){ .provider = &lt_providers[0],
		.caller = call, .desc = &call->operation.opaque,
		.a = &call->a.opaque, .b = &call->b.opaque,
		.c = &call->c.opaque, .d = &call->d.opaque };
}

int
lt_set(struct lt_call *call, int attribute, const void *value, size_t bytes)
{
	return (int)LT(cublasLtMatmulDescSetAttribute)(call->asked.desc,
	    (cublasLtMatmulDescAttributes_t)attribute, value, bytes);
}

int
lt_set_layout(union lt_matrix *matrix, int attribute, const void *value,
    size_t bytes)
{
	return (int)LT(cublasLtMatrixLayoutSetAttribute)(&matrix->opaque,
	    (cublasLtMatrixLayoutAttribute_t)attribute, value, bytes);
}

size_t
lt_get(struct lt_call *call, int attribute, void *value_out)
{
	size_t bytes = 0, written;

	return !LT(cublasLtMatmulDescGetAttribute)(call->asked.desc,
	    (cublasLtMatmulDescAttributes_t)attribute, NULL, 0, &bytes)
	    && bytes <= 16
	    && !LT(cublasLtMatmulDescGetAttribute)(call->asked.desc,
	    (cublasLtMatmulDescAttributes_t)attribute, value_out, bytes,
	    &written) ? bytes : 0;
}
