/* SPDX-License-Identifier: Apache-2.0 */
/* tests/aarch64/registers.h -- what a call carries, as the machine sees it.
 * Offsets, since one end of the call is written in assembler. */
#ifndef TESTS_AARCH64_REGISTERS_H
#define TESTS_AARCH64_REGISTERS_H

#define AT_X      128           /* x0-x8 */
#define AT_STACK  200           /* six words */
#define AT_RETURN 248           /* x30, sp, x29 */
#define AT_SP     256
#define AT_FRAME  264
#define AT_SAVED  272           /* x21-x28, which a call keeps */

#ifndef __ASSEMBLER__
#include <stdint.h>

struct registers {
	unsigned __int128 q[8];
	uint64_t x[9], stack[6], address, sp, frame, saved[8];
};

/* Call `function` with `in`; `out` is the frame that it should see, and what
 * x0, x1 and q0 are after it. */
void call_with(const struct registers *in, struct registers *out,
    void (*function)(void));
#endif
#endif
