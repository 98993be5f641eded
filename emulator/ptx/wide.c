/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/ptx/wide.c -- the loops of quick.h, for processors with AVX2 and
 * fused products. */
#include "emulator/ptx/number.h"
#include "emulator/ptx/run.h"

#ifdef __x86_64__
bool
ptx_is_wide(void)
{
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2,fma"))), \
	apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma")
#endif
#define QUICK ptx_wide_loop
#include "emulator/ptx/quick_choose.h"
#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#else
bool
ptx_is_wide(void)
{
	return false;
}

ptx_quick
ptx_wide_loop(const struct ptx_instruction *in)
{
	(void)in;
	return NULL;
}
#endif
