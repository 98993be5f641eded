/* SPDX-License-Identifier: Apache-2.0 */
/* base/in_call.h -- tells a call of the program from a call that NVIDIA's
 * libraries make while serving it.
 *
 * The guard is the frame address of the outermost wrapper on this thread, not
 * a depth: after a siglongjmp() out of a wrapped call a depth would stay stuck
 * for ever, while a stale frame address is replaced by the next call from a
 * frame no deeper than the lost one. (Deeper ones pass through until then.) */
#ifndef AC_BASE_IN_CALL_H
#define AC_BASE_IN_CALL_H

#include <stdbool.h>
#include <stdint.h>

/* Initial-exec: the library is preloaded, so its few TLS bytes always fit. */
extern __thread uintptr_t ac_in_call_frame
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* True if this is the outermost wrapper; then call ac_in_call_leave(). Expands
 * in the wrapper's own frame, whose address it takes. */
static inline __attribute__((always_inline)) bool
ac_in_call_enter(void)
{
	const uintptr_t frame = (uintptr_t)__builtin_frame_address(0);

	if (ac_in_call_frame && frame < ac_in_call_frame)
		return false;
	ac_in_call_frame = frame;
	return true;
}

static inline __attribute__((always_inline)) void
ac_in_call_leave(void)
{
	ac_in_call_frame = 0;
}

#endif
