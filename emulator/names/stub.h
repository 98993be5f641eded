/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/names/stub.h -- the functions of a library that are not built:
 * stubs.awk writes one STUB row for each name of the library's list. A function
 * that is built replaces its stub, which is weak; `nm -D` shows which is which.
 *
 * Includes no header of NVIDIA's: the rows have no argument lists. */
#ifndef AC_EMULATOR_STUB_H
#define AC_EMULATOR_STUB_H

#include "emulator/driver/emu.h"
#include "emulator/names/keep.h"
#include "emulator/names/names.h"

#pragma weak emu_stub_keep

static void
stub_enter(struct emu_call *entry, atomic_bool *said, int status,
    const char *word)
{
	const struct emu_family family = { status, status };

	emu_call_enter(entry, &family);
	if (word && !atomic_exchange(said, true))
		emu_complain("is not built: %s", word);
	if (emu_stub_keep)
		emu_stub_keep(status);
}

/* A function that is not there: counted like any other, says so once (without a
 * word: never), and returns `value`. */
#define STUB(type, symbol, value, status, word)                           \
__attribute__((weak, visibility("default"))) type symbol(void);           \
type                                                                      \
symbol(void)                                                              \
{                                                                         \
	static struct emu_call entry = { .name = #symbol };               \
	static atomic_bool said;                                          \
	stub_enter(&entry, &said, status, word);                          \
	return value;                                                     \
}

/* The row of a name in the table of all names of the driver; emulator/names/
 * names.h has the table. */
#define NAME(symbol) { #symbol, (void (*)(void))symbol },

#endif
