/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/recast/recast_ptx.S -- recast.ptx, embedded as a C string
 * `ac_recast_ptx`. The assembler finds kernels/recast.ptx along -I, which the
 * driver passes on. */
	.section .rodata, "a", %progbits
	.balign 16
	.globl ac_recast_ptx
	.hidden ac_recast_ptx
	.type ac_recast_ptx, %object
ac_recast_ptx:
	.incbin "kernels/recast.ptx"
	.byte 0
	.size ac_recast_ptx, . - ac_recast_ptx
	.section .note.GNU-stack, "", %progbits
