/* SPDX-License-Identifier: Apache-2.0 */
/* shim/device/handle.h -- the handles of cuBLAS and cuDNN that the program
 * holds. A handle tells which provider made it and on which device it lives;
 * both are learnt when it is created. Handles are never changed by us. */
#ifndef AC_SHIM_HANDLE_H
#define AC_SHIM_HANDLE_H

#include "shim/bind/provider.h"

#include <stdatomic.h>
#include <stdint.h>

struct ac_handle {
	struct ac_provider *provider;  /* NULL: we did not see it created */
	int device;                    /* CUDA ordinal; -1 if unknown */
	unsigned long long context;    /* its id; 0 if unknown */
	__typeof__(&cublasGetMathMode) get_math_mode; /* of cuBLAS's; never
	                                * NULL; may leave its output alone */
};

/* The last look-up of this thread: one hot handle is the rule. Good within one
 * generation, which changes whenever a handle comes or goes. */
struct ac_handle_cache {
	uintptr_t key;
	const struct ac_handle *record;
	uint32_t generation;
};
extern __thread struct ac_handle_cache ac_handle_last
    __attribute__((tls_model("initial-exec"), visibility("hidden")));
extern _Atomic uint32_t ac_handle_generation
    __attribute__((visibility("hidden")));

const struct ac_handle *ac_handle_search(const void *handle);

/* What is known of `handle`; never NULL. Calls on one that we did not see
 * created pass through untouched. Lock-free. The record is valid until the
 * handle is destroyed. */
static inline const struct ac_handle *
ac_handle_find(const void *handle)
{
	if (ac_handle_last.key == (uintptr_t)handle
	    && ac_handle_last.generation == atomic_load_explicit(
	    &ac_handle_generation, memory_order_acquire))
		return ac_handle_last.record;
	return ac_handle_search(handle);
}

/* A handle of `provider`, cuBLAS's or cuDNN's, was created; is to be destroyed:
 * returns whether it was the provider's last one in its context. */
void ac_handle_remember(const void *handle, struct ac_provider *provider);
bool ac_handle_forget(const void *handle, struct ac_handle *record_out);

/* What to call where the program has waited for its device: after a handle of
 * cuBLAS was destroyed. NULL: nothing. To read times, and to hear findings. */
enum { AC_WAITED_TIMES, AC_WAITED_FINDINGS, AC_WAITED_COUNT };
extern void (*_Atomic ac_handle_waited[AC_WAITED_COUNT])(void);

/* `provider` was unloaded: forget every handle it made. */
void ac_handle_forget_all(const struct ac_provider *provider);

#endif
