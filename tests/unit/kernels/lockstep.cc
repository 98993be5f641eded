/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/kernels/lockstep.cc [TURNS [SEED]] -- the .cu files of kernels/recast
 * and kernels/conv on the CPU. */
#include "tests/unit/kernels/lockstep.h"

#include "tests/unit/kernels/lockstep_threads.h"

#include "kernels/recast/recast_block.cu"
#include "kernels/recast/recast_ranges.cu"
#include "kernels/recast/recast_symmetric.cu"
#include "kernels/conv/conv_check.cu"

static struct {
	struct ac_recast_ranges ranges;
	struct ac_recast_symmetric symmetric;
	struct ac_conv_job conv;
} arguments;

static void
run_kernel()
{
	if (!strcmp(running, "ac_conv_check"))
		ac_conv_check(arguments.conv);
	else if (!strcmp(running, "ac_recast_symmetric"))
		ac_recast_symmetric(arguments.symmetric);
	else
		ac_recast_ranges(arguments.ranges);
}

void
lockstep_run_ranges(const struct ac_recast_ranges *ranges, unsigned blocks)
{
	arguments.ranges = *ranges;
	run_grid("ac_recast_ranges", blocks, 2);
}

void
lockstep_run_symmetric(const struct ac_recast_symmetric *s)
{
	const unsigned side = (s->n + AC_SYMMETRIC_SIDE - 1)
	    / AC_SYMMETRIC_SIDE;

	arguments.symmetric = *s;
	run_grid("ac_recast_symmetric", side, side);
}

void
lockstep_run_conv(const struct ac_conv_check *check,
    const struct ac_conv_job *job, unsigned blocks)
{
	(void)check;
	arguments.conv = *job;
	run_grid("ac_conv_check", blocks, 1);
}

int
main(int argc, char **argv)
{
	const int turns = argc > 1 ? atoi(argv[1]) : 40;
	const uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	const bool same = lockstep_turns(turns, seed, "the .cu files");
	const bool verified = lockstep_verified_turns(turns, seed, 3,
	    "the .cu files");

	printf("1..3\n");
	return !same || !verified;
}
