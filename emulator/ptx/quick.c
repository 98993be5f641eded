/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/ptx/quick.c -- the loops of quick.h for any processor; chooses
 * between them and those of wide.c. */
#include "emulator/ptx/number.h"
#include "emulator/ptx/run.h"

#define QUICK plain_loop
static ptx_quick QUICK(const struct ptx_instruction *in);
#include "emulator/ptx/quick_choose.h"

uint32_t
ptx_compared(int type, int compare, const void *x, const void *y)
{
	switch (type) {
	case T_B16: case T_U16: return compared_U16(compare, x, y);
	case T_S16: return compared_S16(compare, x, y);
	case T_B32: case T_U32: return compared_U32(compare, x, y);
	case T_S32: return compared_S32(compare, x, y);
	case T_B64: case T_U64: return compared_U64(compare, x, y);
	case T_S64: return compared_S64(compare, x, y);
	case T_F32: return compared_F32(compare, x, y);
	case T_F64: return compared_F64(compare, x, y);
	default: return 0;
	}
}

ptx_quick
ptx_quick_of(const struct ptx_instruction *in)
{
	return ptx_is_wide() ? ptx_wide_loop(in) : plain_loop(in);
}
