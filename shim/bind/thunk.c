/* SPDX-License-Identifier: Apache-2.0 */
/* shim/bind/thunk.c -- one thunk per provider slot and wrapped function, in the
 * order of enum ac_entry (shim/bind/thunk.h): registers, stack and return
 * address stay the caller's, so it is a few lines of assembler. */
#include "shim/bind/thunk.h"

#include <stddef.h>

enum { THUNK_BYTES = 32 };

_Static_assert(AC_THUNK_SHIFT == 8, "the thunks shift by as much");

#if defined __x86_64__

__asm__(
	".macro THUNK slot, symbol\n"
	"	.p2align 5\n"
	"	.hidden ac_wrapper_\\symbol\n"
	"	endbr64\n"
	"	movq ac_region_mark@gottpoff(%rip), %r11\n"
	"	movl $((\\slot + 1) << 8), %fs:(%r11)\n"
	"	jmp ac_wrapper_\\symbol\n"
	".endm\n");
#define HAVE_THUNKS

#elif defined __aarch64__

__asm__(
	".macro THUNK slot, symbol\n"
	"	.p2align 5\n"
	"	.hidden ac_wrapper_\\symbol\n"
	"	hint #34\n"		/* bti c */
	"	adrp x16, :gottprel:ac_region_mark\n"
	"	ldr x16, [x16, #:gottprel_lo12:ac_region_mark]\n"
	"	mrs x17, tpidr_el0\n"
	"	add x16, x16, x17\n"
	"	mov w17, #((\\slot + 1) << 8)\n"
	"	str w17, [x16]\n"
	"	b ac_wrapper_\\symbol\n"
	".endm\n");
#define HAVE_THUNKS

#endif

#ifdef HAVE_THUNKS

/* The slots listed are 0 to AC_THUNK_SLOTS - 1. To an unwinder they are
 * one function, since none touches the stack: each would take 24 bytes more. */
__asm__(
	".pushsection .text.ac_thunks, \"ax\", %progbits\n"
	".p2align 5\n"
	".hidden ac_thunks\n"
	".type ac_thunks, %object\n"
	".globl ac_thunks\n"
	"ac_thunks:\n"
	".cfi_startproc\n"
	".irp slot, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n"
#define WRAPPED(kind, symbol, provider) "THUNK \\slot, " #symbol "\n"
#include "shim/bind/entries.def"
	".endr\n"
	".p2align 5\n"
	".cfi_endproc\n"
	".size ac_thunks, . - ac_thunks\n"
	".popsection\n");

extern const unsigned char ac_thunks[] __attribute__((visibility("hidden")));

ac_fn
ac_thunk_of(unsigned slot, enum ac_entry entry)
{
	return (ac_fn)(uintptr_t)(ac_thunks
	    + (slot * (size_t)ENTRY_WRAPPED + entry) * THUNK_BYTES);
}

#else

/* dlsym() then answers what it always did. */
ac_fn
ac_thunk_of(unsigned slot, enum ac_entry entry)
{
	(void)slot, (void)entry;
	return NULL;
}

#endif
