/* SPDX-License-Identifier: Apache-2.0 */
/* tests/aarch64/registers.S -- the two ends of a call: PROVIDER, a function of
 * cuDNN that writes down what reached it; else the caller. */
#include "registers.h"

#ifndef ANSWER
#define ANSWER 0x5001
#endif

	.text
#ifdef PROVIDER

	.globl	cublasCgemm3m
	.type	cublasCgemm3m, %function
cublasCgemm3m:
	adrp	x16, seen
	add	x16, x16, #:lo12:seen
	stp	q0, q1, [x16]
	stp	q2, q3, [x16, #32]
	stp	q4, q5, [x16, #64]
	stp	q6, q7, [x16, #96]
	stp	x0, x1, [x16, #AT_X]
	stp	x2, x3, [x16, #AT_X + 16]
	stp	x4, x5, [x16, #AT_X + 32]
	stp	x6, x7, [x16, #AT_X + 48]
	str	x8, [x16, #AT_X + 64]
	ldp	x9, x10, [sp]
	ldp	x11, x12, [sp, #16]
	ldp	x13, x14, [sp, #32]
	stp	x9, x10, [x16, #AT_STACK]
	stp	x11, x12, [x16, #AT_STACK + 16]
	stp	x13, x14, [x16, #AT_STACK + 32]
	mov	x9, sp
	stp	x30, x9, [x16, #AT_RETURN]
	str	x29, [x16, #AT_FRAME]
	mov	x0, #ANSWER
	mov	x1, #ANSWER + 1
	movi	v0.16b, #0x5a
	ret
	.size	cublasCgemm3m, . - cublasCgemm3m

	.globl	cudnnSeen
	.type	cudnnSeen, %function
cudnnSeen:
	adrp	x0, seen
	add	x0, x0, #:lo12:seen
	ret
	.size	cudnnSeen, . - cudnnSeen

	.local	seen
	.comm	seen, 512, 16

#else

	.globl	call_with
	.type	call_with, %function
call_with:
	.cfi_startproc
	stp	x29, x30, [sp, #-96]!
	.cfi_def_cfa_offset 96
	.cfi_offset x29, -96
	.cfi_offset x30, -88
	mov	x29, sp
	stp	x19, x20, [sp, #16]
	.cfi_offset x19, -80
	.cfi_offset x20, -72
	stp	x21, x22, [sp, #32]
	stp	x23, x24, [sp, #48]
	stp	x25, x26, [sp, #64]
	stp	x27, x28, [sp, #80]
	mov	x19, x1
	mov	x20, x0
	mov	x9, x2
	sub	sp, sp, #48
	.cfi_adjust_cfa_offset 48
	ldp	x10, x11, [x20, #AT_STACK]
	stp	x10, x11, [sp]
	ldp	x10, x11, [x20, #AT_STACK + 16]
	stp	x10, x11, [sp, #16]
	ldp	x10, x11, [x20, #AT_STACK + 32]
	stp	x10, x11, [sp, #32]
	adr	x10, 1f
	mov	x11, sp
	stp	x10, x11, [x19, #AT_RETURN]
	str	x29, [x19, #AT_FRAME]
	ldp	x21, x22, [x20, #AT_SAVED]
	ldp	x23, x24, [x20, #AT_SAVED + 16]
	ldp	x25, x26, [x20, #AT_SAVED + 32]
	ldp	x27, x28, [x20, #AT_SAVED + 48]
	ldp	q0, q1, [x20]
	ldp	q2, q3, [x20, #32]
	ldp	q4, q5, [x20, #64]
	ldp	q6, q7, [x20, #96]
	ldp	x0, x1, [x20, #AT_X]
	ldp	x2, x3, [x20, #AT_X + 16]
	ldp	x4, x5, [x20, #AT_X + 32]
	ldp	x6, x7, [x20, #AT_X + 48]
	ldr	x8, [x20, #AT_X + 64]
	blr	x9
1:	stp	x0, x1, [x19, #AT_X]
	str	q0, [x19]
	stp	x21, x22, [x19, #AT_SAVED]
	stp	x23, x24, [x19, #AT_SAVED + 16]
	stp	x25, x26, [x19, #AT_SAVED + 32]
	stp	x27, x28, [x19, #AT_SAVED + 48]
	mov	sp, x29
	.cfi_adjust_cfa_offset -48
	ldp	x19, x20, [sp, #16]
	ldp	x21, x22, [sp, #32]
	ldp	x23, x24, [sp, #48]
	ldp	x25, x26, [sp, #64]
	ldp	x27, x28, [sp, #80]
	ldp	x29, x30, [sp], #96
	ret
	.cfi_endproc
	.size	call_with, . - call_with

#endif
	.section .note.GNU-stack, "", %progbits
