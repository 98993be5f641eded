/* SPDX-License-Identifier: Apache-2.0 */
/* shim/bind/marker.S -- entries of the counted-only symbols, one per row of
 * its rows in entries.def. Each saves every argument register, asks marker.c for
 * NVIDIA's function, and leaves by a jump: no prototype is needed, and stack
 * arguments, return value and return address are the program's own. */

#if defined __x86_64__

	.text
	.set	ac_row, 0

	.macro	ENTRY symbol
	.p2align 4
	.globl	\symbol
	.type	\symbol, @function
	.globl	ac_wrapper_\symbol
	.hidden	ac_wrapper_\symbol
\symbol:
ac_wrapper_\symbol:
	.cfi_startproc
	endbr64
	movl	$ac_row, %r11d
	jmp	ac_marker_common
	.cfi_endproc
	.size	\symbol, . - \symbol
	.set	ac_row, ac_row + 1
	.endm

	.p2align 4
	.type	ac_marker_common, @function
ac_marker_common:
	.cfi_startproc
	pushq	%rdi
	.cfi_adjust_cfa_offset 8
	pushq	%rsi
	.cfi_adjust_cfa_offset 8
	pushq	%rdx
	.cfi_adjust_cfa_offset 8
	pushq	%rcx
	.cfi_adjust_cfa_offset 8
	pushq	%r8
	.cfi_adjust_cfa_offset 8
	pushq	%r9
	.cfi_adjust_cfa_offset 8
	subq	$136, %rsp		/* 8 vector registers, and alignment */
	.cfi_adjust_cfa_offset 136
	movups	%xmm0, (%rsp)
	movups	%xmm1, 16(%rsp)
	movups	%xmm2, 32(%rsp)
	movups	%xmm3, 48(%rsp)
	movups	%xmm4, 64(%rsp)
	movups	%xmm5, 80(%rsp)
	movups	%xmm6, 96(%rsp)
	movups	%xmm7, 112(%rsp)
	movl	%r11d, %edi
	movq	184(%rsp), %rsi		/* the program's return address */
	call	ac_marker_enter
	movq	%rax, %r11
	movups	(%rsp), %xmm0
	movups	16(%rsp), %xmm1
	movups	32(%rsp), %xmm2
	movups	48(%rsp), %xmm3
	movups	64(%rsp), %xmm4
	movups	80(%rsp), %xmm5
	movups	96(%rsp), %xmm6
	movups	112(%rsp), %xmm7
	addq	$136, %rsp
	.cfi_adjust_cfa_offset -136
	popq	%r9
	.cfi_adjust_cfa_offset -8
	popq	%r8
	.cfi_adjust_cfa_offset -8
	popq	%rcx
	.cfi_adjust_cfa_offset -8
	popq	%rdx
	.cfi_adjust_cfa_offset -8
	popq	%rsi
	.cfi_adjust_cfa_offset -8
	popq	%rdi
	.cfi_adjust_cfa_offset -8
	jmp	*%r11
	.cfi_endproc
	.size	ac_marker_common, . - ac_marker_common

#define MARKER(kind, symbol, provider) ENTRY symbol
#include "shim/bind/entries.def"

#elif defined __aarch64__

	.text
	.set	ac_row, 0

	.macro	ENTRY symbol
	.p2align 4
	.globl	\symbol
	.type	\symbol, %function
	.globl	ac_wrapper_\symbol
	.hidden	ac_wrapper_\symbol
\symbol:
ac_wrapper_\symbol:
	.cfi_startproc
	hint	#34			/* bti c */
	ldr	w16, 7f
	b	ac_marker_common
7:	.word	ac_row
	.cfi_endproc
	.size	\symbol, . - \symbol
	.set	ac_row, ac_row + 1
	.endm

	.p2align 4
	.type	ac_marker_common, %function
ac_marker_common:
	.cfi_startproc
	stp	x29, x30, [sp, #-224]!
	.cfi_adjust_cfa_offset 224
	.cfi_rel_offset x29, 0
	.cfi_rel_offset x30, 8
	mov	x29, sp
	stp	x0, x1, [sp, #16]
	stp	x2, x3, [sp, #32]
	stp	x4, x5, [sp, #48]
	stp	x6, x7, [sp, #64]
	str	x8, [sp, #80]
	stp	q0, q1, [sp, #96]
	stp	q2, q3, [sp, #128]
	stp	q4, q5, [sp, #160]
	stp	q6, q7, [sp, #192]
	mov	w0, w16
	mov	x1, x30			/* the program's return address */
	bl	ac_marker_enter
	mov	x16, x0
	ldp	x0, x1, [sp, #16]
	ldp	x2, x3, [sp, #32]
	ldp	x4, x5, [sp, #48]
	ldp	x6, x7, [sp, #64]
	ldr	x8, [sp, #80]
	ldp	q0, q1, [sp, #96]
	ldp	q2, q3, [sp, #128]
	ldp	q4, q5, [sp, #160]
	ldp	q6, q7, [sp, #192]
	ldp	x29, x30, [sp], #224
	.cfi_adjust_cfa_offset -224
	.cfi_restore x29
	.cfi_restore x30
	br	x16
	.cfi_endproc
	.size	ac_marker_common, . - ac_marker_common

#define MARKER(kind, symbol, provider) ENTRY symbol
#include "shim/bind/entries.def"

#endif

	.section .note.GNU-stack, "", %progbits
