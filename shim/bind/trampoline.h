/* SPDX-License-Identifier: Apache-2.0 */
/* shim/bind/trampoline.h -- libraries that define NVIDIA's names and pass the
 * calls on to the one that they open at the first call, as TensorFlow's do.
 *
 * They look like a copy of cuBLAS; a handle tells them apart. The program calls
 * cublasCreate_v2() and reaches no provider; inside that call a provider's
 * cublasCreate_v2() is called by way of us, and what it made is what the
 * program is given. From then on all that this library defines of the
 * provider's family leads there. */
#ifndef AC_SHIM_TRAMPOLINE_H
#define AC_SHIM_TRAMPOLINE_H

#include "shim/bind/wrapper.h"

/* Before the original call of a wrapper that creates a handle. */
__attribute__((cold))
void ac_trampoline_begin(const struct ac_wrapped *call);

/* After it; `handle` is NULL if it made none. Returns the provider that made
 * it; NULL if none is known, or if the call is not the program's own. */
__attribute__((cold))
struct ac_provider *ac_trampoline_maker(const struct ac_wrapped *call,
    enum ac_entry entry, const void *handle);

/* Where `function`, somebody else's `entry`, leads; NULL: nowhere that is
 * known. */
__attribute__((cold))
struct ac_provider *ac_trampoline_leads(ac_fn function, enum ac_entry entry);

/* `provider` was unloaded (NULL: none was): forget what led to it, and what
 * libraries that are gone led to. */
__attribute__((cold))
void ac_trampoline_forget(const struct ac_provider *provider);

#endif
