/* SPDX-License-Identifier: Apache-2.0 */
/* shim/lt/library.c -- learns the attributes of a libcublasLt. */
#include "shim/lt/library.h"

#include "base/lock.h"
#include "shim/bind/thunk.h"
#include "shim/lt/proof.h"

#include <stdatomic.h>
#include <string.h>

enum { FRESH_WORDS = 128 }; /* of the largest descriptor, and more */

enum { UNKNOWN, LEARNT, UNREADABLE };

const uint8_t ac_lt_pointer_numbers[AC_LT_POINTERS] = {
	[AC_LT_BIAS] = CUBLASLT_MATMUL_DESC_BIAS_POINTER,
	[AC_LT_AUX] = CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER,
	[AC_LT_AUX_LD] = CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD,
	[AC_LT_AUX_STRIDE] = CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE
};

static struct {
	_Atomic int state;
	struct ac_lt_library library;
} slots[AC_THUNK_SLOTS];
static struct ac_lock lock;

/* Its size is asked for with a size of 0. False: the library failed; an
 * attribute that it does not know it calls invalid. */
static bool
learn_attribute(struct ac_lt_library *library, cublasLtMatmulDesc_t fresh,
    int number)
{
	const cublasLtMatmulDescAttributes_t attribute =
	    (cublasLtMatmulDescAttributes_t)number;
	struct ac_lt_attribute *const to =
	    &library->attributes[library->count];
	size_t bytes = 0, written;
	const cublasStatus_t status = library->get(fresh, attribute, NULL, 0,
	    &bytes);

	if (status)
		return status == CUBLAS_STATUS_INVALID_VALUE;
	if (bytes > sizeof to->fresh) {
		library->is_larger = true;
		return true;
	}
	if (library->get(fresh, attribute, to->fresh, bytes, &written))
		return false;
	to->number = (uint8_t)number;
	to->bytes = (uint8_t)bytes;
	library->count++;
	return true;
}

/* What it is from now on; UNKNOWN: try again. */
static int
learn(struct ac_lt_library *library, struct ac_provider *provider)
{
	union {
		cublasLtMatmulDescOpaque_t opaque;
		uint64_t words[FRESH_WORDS];
	} fresh = { .words = { 0 } };

	if (!ac_provider_is_complete(provider))
		return UNREADABLE;
	library->get = PROVIDER(provider, cublasLtMatmulDescGetAttribute);
	library->get_layout = PROVIDER(provider,
	    cublasLtMatrixLayoutGetAttribute);
	library->count = 0;
	library->is_larger = false;
	if (PROVIDER(provider, cublasLtMatmulDescInit_internal)(&fresh.opaque,
	    sizeof fresh, CUBLAS_COMPUTE_32F, CUDA_R_32F))
		return UNKNOWN;
	for (int i = 0; i < AC_LT_ATTRIBUTES; i++)
		if (!learn_attribute(library, &fresh.opaque, i))
			return UNKNOWN;
	ac_lt_prove(provider, library, &library->proof);
	return LEARNT;
}

const struct ac_lt_library *
ac_lt_library_of(struct ac_provider *provider)
{
	const unsigned slot = ac_provider_slot(provider);
	int state = atomic_load_explicit(&slots[slot].state,
	    memory_order_acquire);

	if (state == UNKNOWN) {
		ac_lock_take(&lock);
		state = atomic_load_explicit(&slots[slot].state,
		    memory_order_relaxed);
		if (state == UNKNOWN) {
			state = learn(&slots[slot].library, provider);
			atomic_store_explicit(&slots[slot].state, state,
			    memory_order_release);
		}
		ac_lock_give(&lock);
	}
	return state == LEARNT ? &slots[slot].library : NULL;
}

void
ac_lt_library_forget(const struct ac_provider *provider)
{
	const unsigned slot = ac_provider_slot(provider);
	struct ac_lt_proof *proof = &slots[slot].library.proof;

	for (unsigned i = 0; i < AC_LT_VERSIONS; i++)
		atomic_store(&proof->version[i].id, 0);
	atomic_store(&slots[slot].state, UNKNOWN);
}
