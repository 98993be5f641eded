/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/verified/verified_ptx.S -- verified.ptx, embedded as a C string `ac_verified_ptx`.
 * The assembler finds kernels/verified.ptx along -I, which the driver passes on. */
	.section .rodata, "a", %progbits
	.balign 16
	.globl ac_verified_ptx
	.hidden ac_verified_ptx
	.type ac_verified_ptx, %object
ac_verified_ptx:
	.incbin "kernels/verified.ptx"
	.byte 0
	.size ac_verified_ptx, . - ac_verified_ptx
	.section .note.GNU-stack, "", %progbits
