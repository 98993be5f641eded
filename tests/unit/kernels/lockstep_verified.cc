/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/kernels/lockstep_verified.cc -- the .cu files of kernels/verified on
 * the CPU. */
#include "tests/unit/kernels/lockstep.h"

#include "tests/unit/kernels/lockstep_threads.h"

#include "kernels/verified/verified_probe.cu"
#include "kernels/verified/verified_bring.cu"
#include "kernels/verified/verified_cast.cu"
#include "kernels/verified/verified_verify.cu"
#include "kernels/verified/verified_apart.cu"
#include "kernels/verified/verified_tile.cu"
#include "kernels/verified/verified_mend.cu"

#include "tests/unit/kernels/verified_cases.h"

static struct ac_verified argument;

static void
run_kernel()
{
	if (!strcmp(running, "ac_verified_probe"))
		ac_verified_probe(argument);
	else if (!strcmp(running, "ac_verified_cast"))
		ac_verified_cast(argument);
	else if (!strcmp(running, "ac_verified_verify"))
		ac_verified_verify(argument);
	else
		ac_verified_mend(argument);
}

void
lockstep_run_verified(const char *name, const struct verified_data *data,
    unsigned blocks, unsigned of_block)
{
	argument = data->v;
	threads = (int)of_block;
	run_grid(name, blocks, 1);
	threads = THREADS;
}
