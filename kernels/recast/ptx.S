/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/recast/ptx.S -- the checked-in kernels, embedded as a C string `ac_ptx`.
 * The assembler finds kernels/cast.ptx along -I, which the driver passes on. */
	.section .rodata, "a", %progbits
	.balign 16
	.globl ac_ptx
	.hidden ac_ptx
	.type ac_ptx, %object
ac_ptx:
	.incbin "kernels/cast.ptx"
	.byte 0
	.size ac_ptx, . - ac_ptx
	.section .note.GNU-stack, "", %progbits
