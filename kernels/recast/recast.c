/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/recast/recast.c -- queues the kernels of a recast product with grids
 * that fit. The recipes call it; nothing here waits or allocates. */
#include "kernels/recast/recast_body.h"
#include "kernels/load/load.h"

enum {
	BLOCKS_PER_SM = 8,      /* of AC_CAST_BLOCK threads: a full SM */
	/* Of a pass, 2 are on an SM at a time, for it takes up to 128
	 * registers; grid.y is 2. All are there at once then: of settle, which
	 * mostly finds nothing to do, a second wave would cost as much as the
	 * first. */
	PASS_PER_SM = 1,
	WARPS = AC_CAST_BLOCK / 32,
	OUTPUT_SIDE = 64,       /* outputs of a block are 64 x 64 */
	/* Of finish: a block per sampled output where it is known that there is
	 * a sample; else, for samples that the device decides on, as many as
	 * there are SMs, mostly. */
	SAMPLE_BLOCKS = AC_SAMPLE_SIDE * AC_SAMPLE_SIDE,
	SPARE_BLOCKS = SAMPLE_BLOCKS / WARPS,
	SAMPLE_PER_SM = 2
};

/* Squares of `side` in `rows` x `cols` x batch; saturates. */
static inline uint64_t
squares(int64_t rows, int64_t cols, int64_t batch, uint64_t side)
{
	uint64_t count;

	if (!((uint64_t)(rows | cols | batch) >> 20)) /* mostly */
		return ((uint64_t)rows + side - 1) / side
		    * (((uint64_t)cols + side - 1) / side) * (uint64_t)batch;
	if (rows <= 0 || cols <= 0 || batch <= 0)
		return 0;
	if (__builtin_mul_overflow(((uint64_t)rows + side - 1) / side,
	    ((uint64_t)cols + side - 1) / side, &count)
	    || __builtin_mul_overflow(count, (uint64_t)batch, &count))
		return UINT64_MAX;
	return count;
}

/* Blocks that have a tile of such a matrix for each warp. */
static uint64_t
tile_blocks(int64_t rows, int64_t cols, int64_t batch)
{
	const uint64_t tiles = squares(rows, cols, batch, AC_TILE_SIDE);

	return tiles / WARPS + (tiles % WARPS != 0);
}

static unsigned
grid(uint64_t blocks, const struct ac_kernels *kernels, unsigned per_sm)
{
	const uint64_t cap = (uint64_t)(kernels->sm_count > 0
	    ? kernels->sm_count : 1) * per_sm;

	if (!blocks)
		return 1; /* the state is written even if no element is */
	return (unsigned)(blocks < cap ? blocks : cap);
}

static enum ac_kernels_status
launch(const struct ac_kernels *kernels, enum ac_kernel kernel,
    unsigned grid_x, unsigned grid_y, void **arguments, ac_cu_stream stream)
{
	return kernels->driver->cuLaunchKernel(kernels->function[kernel],
	    grid_x, grid_y, 1, AC_CAST_BLOCK, 1, 1, 0, stream, arguments, NULL)
	    ? AC_KERNELS_LAUNCH : AC_KERNELS_OK;
}

/* Both operands' blocks, in two rows. Never by programmatic dependent launch:
 * the product behind it reads alpha and beta from the state, and cuBLAS 13.1 to
 * 13.6 does so, on some GPUs, before it waits for the kernel ahead of it. */
static enum ac_kernels_status
launch_pass(const struct ac_kernels *kernels, enum ac_kernel kernel,
    const struct ac_recast *recast, ac_cu_stream stream)
{
	void *arguments[] = { (void *)(uintptr_t)recast };
	uint64_t blocks = 0;

	for (int i = 0; i < 2; i++) {
		const struct ac_recast_operand *o = &recast->operand[i];

		blocks += tile_blocks(o->ld_to, o->cols_to, o->batch);
	}
	return launch(kernels, kernel, grid(blocks / 2 + blocks % 2, kernels,
	    PASS_PER_SM), 2, arguments, stream);
}

enum ac_kernels_status
ac_recast_cast(const struct ac_kernels *kernels,
    const struct ac_recast *recast, ac_cu_stream stream)
{
	return launch_pass(kernels, AC_KERNEL_RECAST_CAST, recast, stream);
}

enum ac_kernels_status
ac_recast_settle(const struct ac_kernels *kernels,
    const struct ac_recast *recast, ac_cu_stream stream)
{
	return launch_pass(kernels, AC_KERNEL_RECAST_SETTLE, recast, stream);
}

static enum ac_kernels_status
launch_outputs(const struct ac_kernels *kernels, enum ac_kernel kernel,
    const struct ac_recast *recast, uint64_t least, unsigned per_sm,
    ac_cu_stream stream)
{
	void *arguments[] = { (void *)(uintptr_t)recast };
	uint64_t blocks = squares(recast->m, recast->n, recast->batch,
	    OUTPUT_SIDE);

	if (blocks < least)
		blocks = least;
	return launch(kernels, kernel, grid(blocks, kernels, per_sm), 1,
	    arguments, stream);
}

/* Blocks that a sample keeps busy: of a batch, a warp has a matrix. */
static uint64_t
sample_blocks(const struct ac_recast *recast)
{
	const uint64_t matrices = (uint64_t)(ac_recast_kept(recast->batch)
	    - AC_KEPT_LINES) / (AC_SAMPLE_DEEP + AC_PROBES_EACH);

	if (!recast->before)
		return 1;
	if (!recast->sampled)
		return SPARE_BLOCKS;
	return matrices / WARPS > SAMPLE_BLOCKS ? matrices / WARPS
	    : SAMPLE_BLOCKS;
}

/* Mostly there is nothing to do: few blocks, unless C is written or sampled. */
enum ac_kernels_status
ac_recast_finish(const struct ac_kernels *kernels,
    const struct ac_recast *recast, ac_cu_stream stream)
{
	const unsigned idle = recast->before && recast->sampled
	    ? SAMPLE_PER_SM : 1;

	return launch_outputs(kernels, AC_KERNEL_RECAST_FINISH, recast,
	    sample_blocks(recast), recast->output.write_through
	    ? BLOCKS_PER_SM : idle, stream);
}

enum ac_kernels_status
ac_recast_write(const struct ac_kernels *kernels,
    const struct ac_recast *recast, ac_cu_stream stream)
{
	return launch_outputs(kernels, AC_KERNEL_RECAST_WRITE, recast, 1,
	    BLOCKS_PER_SM, stream);
}

enum ac_kernels_status
ac_recast_ranges(const struct ac_kernels *kernels,
    const struct ac_recast *recast, uint64_t *counts, uint64_t *copy,
    ac_cu_stream stream)
{
	void *arguments[] = { (void *)(uintptr_t)recast, &counts, &copy };
	uint64_t most = 0;

	for (int i = 0; i < 2; i++) {
		const struct ac_recast_operand *o = &recast->operand[i];
		const uint64_t blocks = tile_blocks(o->rows, o->cols, o->batch);

		most = blocks > most ? blocks : most;
	}
	return launch(kernels, AC_KERNEL_RECAST_RANGES,
	    grid(most, kernels, BLOCKS_PER_SM), 2, arguments, stream);
}
