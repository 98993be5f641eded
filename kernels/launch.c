/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/launch.c -- queues the kernels with a grid that fits.
 * The recipes call it; nothing here waits or allocates. */
#include "kernels/cast.h"
#include "kernels/load.h"

#include <stddef.h>

/* The largest number of blocks of an operand that are of use at once: a full
 * H200 or A100 SM holds eight of them (2048 threads). */
enum { BLOCKS_PER_SM = 8 };

/* Chunks in `rows` x `cols` x batch, one thread's work each; saturates. */
static uint64_t
chunks(int64_t rows, int64_t cols, int64_t batch)
{
	uint64_t count = ((uint64_t)rows + AC_CAST_CHUNK - 1) / AC_CAST_CHUNK;

	if (rows <= 0 || cols <= 0 || batch <= 0)
		return 0;
	if (__builtin_mul_overflow(count, (uint64_t)cols, &count)
	    || __builtin_mul_overflow(count, (uint64_t)batch, &count))
		return UINT64_MAX;
	return count;
}

static unsigned
grid_x(uint64_t first, uint64_t second, int sm_count)
{
	const uint64_t most = first > second ? first : second;
	const uint64_t blocks = most / AC_CAST_BLOCK
	    + (most % AC_CAST_BLOCK != 0);
	const uint64_t cap =
	    (uint64_t)(sm_count > 0 ? sm_count : 1) * BLOCKS_PER_SM;

	if (!blocks)
		return 1; /* the state is written even if no element is */
	return (unsigned)(blocks < cap ? blocks : cap);
}

static enum ac_kernels_status
launch(const struct ac_kernels *kernels, enum ac_kernel kernel, unsigned grid,
    const struct ac_cast_params *params, ac_cu_stream stream)
{
	void *arguments[] = { (void *)(uintptr_t)params };

	return kernels->driver->cuLaunchKernel(kernels->function[kernel],
	    grid, 2, 1, AC_CAST_BLOCK, 1, 1, 0, stream, arguments, NULL)
	    ? AC_KERNELS_LAUNCH : AC_KERNELS_OK;
}

enum ac_kernels_status
ac_kernels_amax(const struct ac_cast_operand operand[2],
    struct ac_cast_state *state, ac_cu_stream stream)
{
	const struct ac_cast_operand *a = &operand[0], *b = &operand[1];
	const struct ac_cast_params params = {
		.operand = { *a, *b }, .state = state,
	};
	const struct ac_kernels *kernels;
	enum ac_kernels_status failed = ac_kernels_get(&kernels);

	if (failed)
		return failed;
	return launch(kernels, AC_KERNEL_AMAX,
	    grid_x(chunks(a->rows, a->cols, a->batch),
	    chunks(b->rows, b->cols, b->batch), kernels->sm_count),
	    &params, stream);
}

enum ac_kernels_status
ac_kernels_cast(const struct ac_cast_operand operand[2], enum ac_format format,
    bool scaled, struct ac_cast_scalar alpha, struct ac_cast_scalar beta,
    struct ac_cast_state *state, ac_cu_stream stream)
{
	const struct ac_cast_operand *a = &operand[0], *b = &operand[1];
	const struct ac_cast_params params = {
		.operand = { *a, *b }, .alpha = alpha, .beta = beta,
		.state = state, .format = format, .scaled = scaled,
	};
	const struct ac_kernels *kernels;
	enum ac_kernels_status failed = ac_kernels_get(&kernels);

	if (failed)
		return failed;
	return launch(kernels, AC_KERNEL_CAST,
	    grid_x(chunks(a->ld_to, a->cols_to, a->batch),
	    chunks(b->ld_to, b->cols_to, b->batch), kernels->sm_count),
	    &params, stream);
}
