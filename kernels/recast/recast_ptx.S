/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/recast/recast_ptx.S -- recast.ptx as gzip packs it, from
 * `ac_recast_ptx` to `ac_recast_ptx_end`. The assembler finds it along -I, which
 * the driver passes on. */
	.section .rodata, "a", %progbits
	.globl ac_recast_ptx, ac_recast_ptx_end
	.hidden ac_recast_ptx, ac_recast_ptx_end
	.type ac_recast_ptx, %object
ac_recast_ptx:
	.incbin "kernels/recast.ptx.gz"
	.size ac_recast_ptx, . - ac_recast_ptx
ac_recast_ptx_end:
	.section .note.GNU-stack, "", %progbits
