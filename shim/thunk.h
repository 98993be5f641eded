/* SPDX-License-Identifier: Apache-2.0 */
/* shim/thunk.h -- the second door of every wrapper: what the dlsym() hook hands
 * out. The first door, the exported symbol, is what the loader binds; the
 * provider is then found by who calls. A program that looked the symbol up in
 * one library means that library: it gets a thunk, one per provider slot and
 * wrapped function, which notes the slot and jumps into the same wrapper. */
#ifndef AC_SHIM_THUNK_H
#define AC_SHIM_THUNK_H

#include "shim/catalogue.h"

#include <stdint.h>

enum { AC_THUNK_SLOTS = 16 }; /* providers told apart; more are not wrapped */

/* 0, or 1 + the slot of the thunk that was jumped through and whose wrapper
 * has not read it yet, shifted to where a site's form has it. */
enum { AC_THUNK_SHIFT = 8 };
extern __thread uint32_t ac_thunk_noted
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* The first thing a wrapper does: which door was it? */
static inline uint32_t
ac_thunk_take(void)
{
	const uint32_t via = ac_thunk_noted;

	if (__builtin_expect(via != 0, 0))
		ac_thunk_noted = 0;
	return via;
}

/* The thunk of a wrapped `entry` (< ENTRY_WRAPPED) for `slot`; NULL where the
 * machine has none. */
ac_fn ac_thunk_of(unsigned slot, enum ac_entry entry);

/* Under this name a wrapper is jumped to; the exported one may be another
 * library's. */
#define AC_WRAPPER_DOOR(symbol) \
	extern __typeof__(symbol) ac_wrapper_##symbol \
	    __attribute__((alias(#symbol), visibility("hidden")))

#endif
