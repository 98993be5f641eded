/* SPDX-License-Identifier: Apache-2.0 */
/* shim/bind/wrapper.h -- how every wrapper begins and ends. In between it makes
 * the original call, with the program's own arguments in sight:
 *
 *	AC_WRAPPER(cudnnStatus_t CUDNNWINAPI, cudnnCreate)(cudnnHandle_t *to)
 *	{
 *		const struct ac_wrapped call = AC_ENTER(cudnnCreate);
 *		const cudnnStatus_t status = ORIGINAL(call, cudnnCreate)(to);
 *
 *		if (call.outermost)
 *			...
 *		ac_wrapper_leave(&call);
 *		return status;
 *	} */
#ifndef AC_SHIM_WRAPPER_H
#define AC_SHIM_WRAPPER_H

#include "base/in_call.h"
#include "shim/bind/provider.h"
#include "shim/bind/thunk.h"

struct ac_wrapped {
	const void       *caller;    /* where the call returns to */
	uint64_t          via;       /* the thread's mark: shim/bind/thunk.h */
	bool              outermost; /* the program's own, no library's */
	struct ac_binding binding;
};

/* The first thing a wrapper does: who calls, by which way, in which region?
 * Expands in the wrapper's own frame. Leaves the call unbound: for products,
 * whose sites know their bindings. */
static inline __attribute__((always_inline)) struct ac_wrapped
ac_wrapper_enter(const void *caller)
{
	const uint64_t mark = ac_region_mark;

	if (__builtin_expect((uint32_t)mark != 0, 0))
		ac_region_mark = mark & ~(uint64_t)UINT32_MAX;
	return (struct ac_wrapped){ .caller = caller, .via = mark,
		.outermost = ac_in_call_enter() };
}

static inline __attribute__((always_inline)) struct ac_wrapped
ac_wrapper_bound(struct ac_wrapped call, enum ac_entry entry)
{
	call.binding = ac_provider_bind(entry, call.caller, (uint32_t)call.via);
	return call;
}

static inline __attribute__((always_inline)) void
ac_wrapper_leave(const struct ac_wrapped *call)
{
	if (call->outermost)
		ac_in_call_leave();
}

/* Entered and bound, as all wrappers but those of products begin. */
#define AC_ENTER(symbol) ac_wrapper_bound( \
	ac_wrapper_enter(__builtin_return_address(0)), ENTRY_##symbol)

/* What the program's call reaches, typed by NVIDIA's own prototype. */
#define ORIGINAL(call, symbol) ((__typeof__(&symbol))(call).binding.next)

/* Of a wrapper whose frame holds no array, before its result: nothing there
 * needs the stack protector. Where that is the compiler's default, as Ubuntu's,
 * a kept call would cost 16 instructions more, and cublasLtMatmul() copies its
 * arguments. */
#if defined __has_attribute
#if __has_attribute(no_stack_protector)
#define AC_NO_ARRAY __attribute__((no_stack_protector))
#endif
#endif
#ifndef AC_NO_ARRAY
#define AC_NO_ARRAY
#endif

/* The head of a wrapper: exported, and under another name for the thunks, since
 * the exported one may be another library's. */
#define AC_WRAPPER(result, symbol) \
extern __typeof__(symbol) ac_wrapper_##symbol \
    __attribute__((alias(#symbol), visibility("hidden"))); \
AC_EXPORT result symbol

#endif
