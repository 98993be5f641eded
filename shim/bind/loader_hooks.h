/* SPDX-License-Identifier: Apache-2.0 */
/* shim/bind/loader_hooks.h -- dlsym(), dlvsym(), dlopen() and dlclose() as the
 * program sees them. Whoever looks up a wrapped function gets our thunk of it;
 * everybody else notices nothing: the hooks leave by a jump, since glibc goes
 * by the return address (RTLD_NEXT, RTLD_DEFAULT, $ORIGIN, namespaces).
 *
 * Left alone: RTLD_NEXT, callers inside libcudnn* and libcublas* (they look
 * their own functions up, for ever if we answered), pointers that do not lead
 * into an NVIDIA library. dlopen() is passed on as it is, but for RTLD_DEEPBIND
 * under `set deepbind=on`. */
#ifndef AC_SHIM_LOADER_HOOKS_H
#define AC_SHIM_LOADER_HOOKS_H

#include <stdatomic.h>
#include <stdint.h>

/* Look-ups of providers' functions that got no thunk, in this process: there
 * are more providers than slots. */
extern _Atomic uint64_t ac_loader_left;

#endif
