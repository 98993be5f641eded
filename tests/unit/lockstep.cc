/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/lockstep.cc [TURNS [SEED]] -- the .cu files of cast.ptx on the
 * CPU. */
#include "tests/unit/lockstep.h"

#include "tests/unit/lockstep_threads.h"

#include "kernels/recast_block.cu"
#include "kernels/recast.cu"
#include "kernels/recast_finish.cu"
#include "kernels/conv_check.cu"

static struct {
	struct ac_recast recast;
	struct ac_conv_job conv;
	counter *counts, *copy;
} arguments;

static void
run_kernel()
{
	const struct ac_recast &r = arguments.recast;

	if (!strcmp(running, "ac_recast_cast"))
		ac_recast_cast(r);
	else if (!strcmp(running, "ac_recast_settle"))
		ac_recast_settle(r);
	else if (!strcmp(running, "ac_recast_finish"))
		ac_recast_finish(r);
	else if (!strcmp(running, "ac_recast_write"))
		ac_recast_write(r);
	else if (!strcmp(running, "ac_conv_check"))
		ac_conv_check(arguments.conv);
	else
		ac_recast_ranges(r, arguments.counts, arguments.copy);
}

void
lockstep_run(const char *name, const struct ac_recast *recast,
    unsigned blocks, uint64_t *counts, uint64_t *copy)
{
	const bool both = strcmp(name, "ac_recast_finish")
	    && strcmp(name, "ac_recast_write");

	arguments.recast = *recast;
	arguments.counts = (counter *)counts;
	arguments.copy = (counter *)copy;
	run_grid(name, blocks, both ? 2 : 1);
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
	const bool same = lockstep_turns(argc > 1 ? atoi(argv[1]) : 40,
	    argc > 2 ? strtoull(argv[2], NULL, 0) : 1, "the .cu files");

	printf("1..2\n");
	return !same;
}
