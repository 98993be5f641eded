/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/kernels/lockstep.cc [TURNS [SEED]] -- the .cu files of cast.ptx on the
 * CPU. */
#include "tests/unit/kernels/lockstep.h"

#include "tests/unit/kernels/lockstep_threads.h"

#include "kernels/recast/recast_block.cu"
#include "kernels/recast/recast_sums.cu"
#include "kernels/recast/recast_sample.cu"
#include "kernels/recast/recast_estimate.cu"
#include "kernels/recast/recast.cu"
#include "kernels/recast/recast_finish.cu"
#include "kernels/conv/conv_check.cu"

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

/* How many of twice as many blocks cast the first operand; 0 if they do not
 * agree on it. */
static unsigned
share_of(const struct ac_recast &r, unsigned blocks)
{
	unsigned found[2] = { 0, 0 }, claimed[2] = { 0, 0 };

	gridDim.x = blocks;
	gridDim.y = 2;
	for (unsigned i = 0; i < 2 * blocks; i++) {
		blockIdx.x = i % blocks;
		blockIdx.y = i / blocks;
		const struct crew crew = crew_of(r);

		if (crew.number != found[crew.operand]++)
			return 0;
		claimed[crew.operand] = crew.count;
	}
	return found[0] == claimed[0] && found[1] == claimed[1] ? found[0] : 0;
}

/* Both operands have blocks, and as many as their share of the tiles, to within
 * one. */
static bool
are_shared_out()
{
	static const double tiles[] = { 0, 1, 2, 9, 64, 1000, 65536, 1e9 };
	struct ac_recast r = {};
	bool good = true;

	for (unsigned i = 0; i < 64; i++)
		for (unsigned blocks = 1; blocks < 200; blocks = 2 * blocks + 1) {
			const double both = tiles[i / 8] + tiles[i % 8];
			const double share = both > 0
			    ? 2 * blocks * tiles[i / 8] / both : 1;
			double first;

			for (int o = 0; o < 2; o++) {
				r.operand[o].ld_to = AC_TILE_SIDE;
				r.operand[o].cols_to = AC_TILE_SIDE
				    * (int64_t)tiles[o ? i % 8 : i / 8];
				r.operand[o].batch = 1;
			}
			first = share_of(r, blocks);
			good &= first >= 1 && first <= 2 * blocks - 1
			    && first - share <= 1 && share - first <= 1;
		}
	return good;
}

int
main(int argc, char **argv)
{
	const int turns = argc > 1 ? atoi(argv[1]) : 40;
	const uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	const bool same = lockstep_turns(turns, seed, "the .cu files");
	const bool shared_out = are_shared_out();
	bool verified;

	printf("%sok 3 - an operand has blocks by its tiles\n",
	    shared_out ? "" : "not ");
	verified = lockstep_verified_turns(turns, seed, 4, "the .cu files");
	printf("1..4\n");
	return !same || !shared_out || !verified;
}
