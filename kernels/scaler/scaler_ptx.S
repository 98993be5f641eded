/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/scaler/scaler_ptx.S -- scaler.ptx as gzip packs it, from
 * `ac_scaler_ptx` to `ac_scaler_ptx_end`. The assembler finds it along -I, which
 * the driver passes on. */
	.section .rodata, "a", %progbits
	.globl ac_scaler_ptx, ac_scaler_ptx_end
	.hidden ac_scaler_ptx, ac_scaler_ptx_end
	.type ac_scaler_ptx, %object
ac_scaler_ptx:
	.incbin "kernels/scaler.ptx.gz"
	.size ac_scaler_ptx, . - ac_scaler_ptx
ac_scaler_ptx_end:
	.section .note.GNU-stack, "", %progbits
