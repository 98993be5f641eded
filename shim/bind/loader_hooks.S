/* SPDX-License-Identifier: Apache-2.0 */
/* shim/bind/loader_hooks.S -- the entry points of dlsym(), dlvsym() and dlopen().
 * Each asks loader_hooks.c when the call may concern us (a name that starts
 * with "cu", a flag RTLD_DEEPBIND) and otherwise jumps to the real function
 * with every register as it came. A null real function answers 0. */

#define RTLD_DEEPBIND 8

	.text

#if defined __x86_64__

/* The program's three arguments are saved across a call of ours. */
	.macro	SAVE
	pushq	%rdi
	.cfi_adjust_cfa_offset 8
	pushq	%rsi
	.cfi_adjust_cfa_offset 8
	pushq	%rdx
	.cfi_adjust_cfa_offset 8
	.endm

	.macro	RESTORE
	popq	%rdx
	.cfi_adjust_cfa_offset -8
	popq	%rsi
	.cfi_adjust_cfa_offset -8
	popq	%rdi
	.cfi_adjust_cfa_offset -8
	.endm

/* A jump to *\real, which is looked up when it is null. */
	.macro	LEAVE real
	movq	\real(%rip), %rax
	testq	%rax, %rax
	jne	8f
	SAVE
	call	ac_loader_find
	RESTORE
	movq	\real(%rip), %rax
	testq	%rax, %rax
	jne	8f
	ret
8:	jmp	*%rax
	.endm

/* \version: how the fourth argument of ac_loader_look_up() is made. */
	.macro	LOOK_UP symbol, real, version:vararg
	.p2align 4
	.globl	\symbol
	.type	\symbol, @function
\symbol:
	.cfi_startproc
	endbr64
	cmpb	$'c', (%rsi)
	jne	1f
	cmpb	$'u', 1(%rsi)
	jne	1f
	SAVE
	\version
	movq	24(%rsp), %rdx		/* the program's return address */
	call	ac_loader_look_up
	movq	%rdx, %rcx		/* final? */
	RESTORE
	testq	%rcx, %rcx
	je	1f
	ret
1:	LEAVE	\real
	.cfi_endproc
	.size	\symbol, . - \symbol
	.endm

	LOOK_UP	dlsym, ac_real_dlsym, xorl %ecx, %ecx
	LOOK_UP	dlvsym, ac_real_dlvsym, movq %rdx, %rcx

	.p2align 4
	.globl	dlopen
	.type	dlopen, @function
dlopen:
	.cfi_startproc
	endbr64
	testb	$RTLD_DEEPBIND, %sil
	je	1f
	SAVE
	call	ac_loader_deepbind
	RESTORE
	andl	%eax, %esi
1:	LEAVE	ac_real_dlopen
	.cfi_endproc
	.size	dlopen, . - dlopen

#elif defined __aarch64__

	.macro	SAVE
	stp	x29, x30, [sp, #-48]!
	.cfi_adjust_cfa_offset 48
	.cfi_rel_offset x29, 0
	.cfi_rel_offset x30, 8
	mov	x29, sp
	stp	x0, x1, [sp, #16]
	str	x2, [sp, #32]
	.endm

	.macro	RESTORE
	ldp	x0, x1, [sp, #16]
	ldr	x2, [sp, #32]
	ldp	x29, x30, [sp], #48
	.cfi_adjust_cfa_offset -48
	.cfi_restore x29
	.cfi_restore x30
	.endm

	.macro	LEAVE real
	adrp	x16, \real
	ldr	x16, [x16, #:lo12:\real]
	cbnz	x16, 8f
	SAVE
	bl	ac_loader_find
	RESTORE
	adrp	x16, \real
	ldr	x16, [x16, #:lo12:\real]
	cbnz	x16, 8f
	mov	x0, #0
	ret
8:	br	x16
	.endm

	.macro	LOOK_UP symbol, real, version:vararg
	.p2align 4
	.globl	\symbol
	.type	\symbol, %function
\symbol:
	.cfi_startproc
	hint	#34			/* bti c */
	ldrb	w16, [x1]
	cmp	w16, #'c'
	b.ne	1f
	ldrb	w16, [x1, #1]
	cmp	w16, #'u'
	b.ne	1f
	SAVE
	\version
	mov	x2, x30
	bl	ac_loader_look_up
	mov	x16, x0
	mov	x17, x1			/* final? */
	RESTORE
	cbz	x17, 1f
	mov	x0, x16
	ret
1:	LEAVE	\real
	.cfi_endproc
	.size	\symbol, . - \symbol
	.endm

	LOOK_UP	dlsym, ac_real_dlsym, mov x3, #0
	LOOK_UP	dlvsym, ac_real_dlvsym, mov x3, x2

	.p2align 4
	.globl	dlopen
	.type	dlopen, %function
dlopen:
	.cfi_startproc
	hint	#34
	tbz	w1, #3, 1f		/* RTLD_DEEPBIND */
	SAVE
	bl	ac_loader_deepbind
	mov	w16, w0
	RESTORE
	and	w1, w1, w16
1:	LEAVE	ac_real_dlopen
	.cfi_endproc
	.size	dlopen, . - dlopen

#endif

	.section .note.GNU-stack, "", %progbits
