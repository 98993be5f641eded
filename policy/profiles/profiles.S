/* SPDX-License-Identifier: Apache-2.0 */
/* policy/profiles/profiles.S -- the shipped profile files, byte for byte, as constant
 * data. The assembler finds them through -I of the source folder. */

.macro profile symbol, file
	.globl	\symbol
	.hidden	\symbol
	.type	\symbol, %object
\symbol:
	.incbin	"\file"
	.byte	0
	.size	\symbol, . - \symbol
.endm

	.section .rodata
	profile	ac_profile_off, "policy/profiles/off.policy"
	profile	ac_profile_tf32, "policy/profiles/tf32.policy"
	profile	ac_profile_fp16, "policy/profiles/fp16.policy"
	profile	ac_profile_bf16, "policy/profiles/bf16.policy"
	profile	ac_profile_accurate, "policy/profiles/accurate.policy"
	profile	ac_profile_amp, "policy/profiles/amp.policy"

	.section .note.GNU-stack, "", %progbits
