/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/scaler/scaler_ptx.S -- scaler.ptx, embedded as a C string `ac_scaler_ptx`.
 * The assembler finds kernels/scaler.ptx along -I, which the driver passes on. */
	.section .rodata, "a", %progbits
	.balign 16
	.globl ac_scaler_ptx
	.hidden ac_scaler_ptx
	.type ac_scaler_ptx, %object
ac_scaler_ptx:
	.incbin "kernels/scaler.ptx"
	.byte 0
	.size ac_scaler_ptx, . - ac_scaler_ptx
	.section .note.GNU-stack, "", %progbits
