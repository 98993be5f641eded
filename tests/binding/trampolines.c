/* SPDX-License-Identifier: Apache-2.0 */
/* tests/binding/trampolines.c -- a framework's library: defines names of
 * NVIDIA's, looks each up at its first call in the library that it opens then,
 * and jumps there, stack and registers as they were. NAMES is a file of rows
 * TRAMPOLINE(symbol, FILE); FLAGS are dlopen()'s. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static const struct row {
	const char *symbol, *file;
} rows[] = {
#define TRAMPOLINE(symbol, file) { #symbol, file },
#include NAMES
#undef TRAMPOLINE
};

void *trampoline_find(unsigned row) __attribute__((visibility("hidden")));

void *
trampoline_find(unsigned row)
{
	static void *found[sizeof rows / sizeof *rows];

	if (!found[row]) {
		void *library = dlopen(rows[row].file, FLAGS);

		found[row] = library ? dlsym(library, rows[row].symbol) : NULL;
	}
	if (!found[row]) {
		fprintf(stderr, "%s is not there\n", rows[row].symbol);
		abort();
	}
	return found[row];
}

__asm__(
	".text\n"
	".type trampoline_common, @function\n"
	"trampoline_common:\n"
	"	push %rdi; push %rsi; push %rdx\n"
	"	push %rcx; push %r8; push %r9\n"
	"	sub $24, %rsp\n"
	"	movups %xmm0, (%rsp)\n"
	"	mov %r11d, %edi\n"
	"	call trampoline_find\n"
	"	mov %rax, %r11\n"
	"	movups (%rsp), %xmm0\n"
	"	add $24, %rsp\n"
	"	pop %r9; pop %r8; pop %rcx\n"
	"	pop %rdx; pop %rsi; pop %rdi\n"
	"	jmp *%r11\n"
	".size trampoline_common, . - trampoline_common\n"
	".set trampoline_row, 0\n");

#define TRAMPOLINE(symbol, file) __asm__( \
	".globl " #symbol "\n" \
	".type " #symbol ", @function\n" \
	#symbol ":\n" \
	"	movl $trampoline_row, %r11d\n" \
	"	jmp trampoline_common\n" \
	".size " #symbol ", . - " #symbol "\n" \
	".set trampoline_row, trampoline_row + 1\n");
#include NAMES
