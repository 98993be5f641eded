/* SPDX-License-Identifier: Apache-2.0 */
/* shim/bind/thunk.h -- the second entry point of every wrapper: what the
 * dlsym() hook hands out. The first, the exported symbol, is what the loader
 * binds; the provider is then found by who calls. A program that looked the
 * symbol up in one library means that library: it gets a thunk, one per
 * provider slot and wrapped function, which notes the slot and jumps into the
 * same wrapper. */
#ifndef AC_SHIM_THUNK_H
#define AC_SHIM_THUNK_H

#include "api/region.h"
#include "shim/bind/catalogue.h"

#include <stdint.h>

enum { AC_THUNK_SLOTS = 16 }; /* providers told apart; more are not wrapped */

/* In the lower half of the thread's mark: 0, or 1 + the slot of the thunk that
 * was jumped through and whose wrapper has not read it yet, shifted to where a
 * site's form has it. The upper half is the region, as a form has it, too. */
enum { AC_THUNK_SHIFT = 8 };
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
    "the thunks write the lower half of a word at its address");

/* The thunk of a wrapped `entry` (< ENTRY_WRAPPED) for `slot`; NULL where the
 * machine has none. */
ac_fn ac_thunk_of(unsigned slot, enum ac_entry entry);

#endif
