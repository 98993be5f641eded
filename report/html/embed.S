/* SPDX-License-Identifier: Apache-2.0 */
/* report/html/embed.S -- style and script of the page, byte for byte, as
 * constant data. The assembler finds them through -I of the source folder. */

.macro text symbol, file
	.globl	\symbol
	.hidden	\symbol
	.type	\symbol, %object
\symbol:
	.incbin	"\file"
	.byte	0
	.size	\symbol, . - \symbol
.endm

	.section .rodata
	text	ac_html_style, "report/html/page.css"
	text	ac_html_script, "report/html/page.js"

	.section .note.GNU-stack, "", %progbits
