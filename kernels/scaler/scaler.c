/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/scaler/scaler.c -- queues the kernels of the gradient scaler with
 * grids that fit. The scaler calls it; nothing here waits or allocates. */
#include "kernels/load/load.h"
#include "kernels/scaler/scaler_body.h"

enum {
	BLOCKS_PER_SM = 8,      /* of AC_CAST_BLOCK threads: a full SM */
	ADDED = 4096            /* elements of a guarded sum for a block */
};

enum kernel {
	MULTIPLY, UNSCALE, FOLD, NORM, CLOSE, CLIP, ADD, UPDATE, SET, KERNELS
};
static const char *const names[KERNELS] = {
	"ac_scaler_multiply", "ac_scaler_unscale", "ac_scaler_fold",
	"ac_scaler_norm", "ac_scaler_close", "ac_scaler_clip",
	"ac_scaler_add", "ac_scaler_update", "ac_scaler_set"
};
static_assert((int)KERNELS <= (int)AC_KERNELS_MOST, "they fit a module");

extern const unsigned char ac_scaler_ptx[], ac_scaler_ptx_end[]
    __attribute__((visibility("hidden")));
static struct ac_kernels_table table;
static const struct ac_kernels_module module = {
	.packed = { ac_scaler_ptx, ac_scaler_ptx_end },
	.image = AC_KERNELS_IMAGE_OF("scaler"),
	.refused = "no gradient scaling",
	.names = names,
	.count = KERNELS,
	.asks_again = true,
	.table = &table,
};

enum ac_kernels_status
ac_scaler_kernels_load(void)
{
	const struct ac_kernels *kernels;

	return ac_kernels_get(&module, &kernels);
}

/* `blocks` blocks at most, and no more than the device holds at a time: they
 * take what there is in turn. */
static enum ac_kernels_status
launch(enum kernel kernel, uint64_t blocks, unsigned threads, void **arguments,
    ac_cu_stream stream)
{
	const struct ac_kernels *kernels;
	enum ac_kernels_status failed = ac_kernels_get(&module, &kernels);
	uint64_t most;

	if (failed)
		return failed;
	most = (uint64_t)(kernels->sm_count > 0 ? kernels->sm_count : 1)
	    * BLOCKS_PER_SM;
	if (blocks > most)
		blocks = most;
	return kernels->driver->cuLaunchKernel(kernels->function[kernel],
	    blocks ? (unsigned)blocks : 1, 1, 1, threads, 1, 1, 0, stream,
	    arguments, NULL) ? AC_KERNELS_LAUNCH : AC_KERNELS_OK;
}

/* What one thread does. */
static enum ac_kernels_status
launch_one(enum kernel kernel, void **arguments, ac_cu_stream stream)
{
	return launch(kernel, 1, 1, arguments, stream);
}

enum ac_kernels_status
ac_scaler_multiply(const struct ac_scaler_tensor *list, size_t count,
    const struct ac_scaler_state *state, ac_cu_stream stream)
{
	struct ac_scaler_product product = { .state = state,
		.tensor_count = count };
	void *arguments[] = { &product };

	if (count > AC_SCALER_INLINE)
		return AC_KERNELS_LAUNCH;
	if (count) {
		const struct ac_scaler_tensor *last = &list[count - 1];

		memcpy(product.tensor, list, count * sizeof *list);
		product.chunk_count = last->first_chunk
		    + ac_scaler_chunks(last->count);
	}
	return launch(MULTIPLY, product.chunk_count, AC_CAST_BLOCK, arguments,
	    stream);
}

static enum ac_kernels_status
launch_pass(enum kernel kernel, const struct ac_scaler_pass *pass, uint32_t p,
    ac_cu_stream stream)
{
	void *arguments[] = { (void *)(uintptr_t)pass, &p };

	return launch(kernel, pass->chunk_count, AC_CAST_BLOCK, arguments,
	    stream);
}

enum ac_kernels_status
ac_scaler_unscale_pass(const struct ac_scaler_pass *pass, ac_cu_stream stream)
{
	return launch_pass(UNSCALE, pass, 0, stream);
}

enum ac_kernels_status
ac_scaler_norm_pass(const struct ac_scaler_pass *pass, uint32_t p,
    ac_cu_stream stream)
{
	return launch_pass(NORM, pass, p, stream);
}

enum ac_kernels_status
ac_scaler_clip_pass(const struct ac_scaler_pass *pass, ac_cu_stream stream)
{
	return launch_pass(CLIP, pass, 0, stream);
}

enum ac_kernels_status
ac_scaler_fold(struct ac_scaler_words *words, struct ac_scaler_state *state,
    const float *flags, uint64_t count, ac_cu_stream stream)
{
	void *arguments[] = { &words, &state, &flags, &count };

	return launch_one(FOLD, arguments, stream);
}

enum ac_kernels_status
ac_scaler_norm_close(struct ac_scaler_words *words, const double *sums,
    uint64_t count, uint32_t p, float max_norm, float *norm_out,
    ac_cu_stream stream)
{
	struct ac_scaler_close close = { .words = words, .sums = sums,
		.count = count, .norm_out = norm_out, .max_norm = max_norm,
		.p = p };
	void *arguments[] = { &close };

	return launch_one(CLOSE, arguments, stream);
}

enum ac_kernels_status
ac_scaler_guarded_sum(const struct ac_scaler_sum *sum, ac_cu_stream stream)
{
	void *arguments[] = { (void *)(uintptr_t)sum };

	return launch(ADD, sum->count / ADDED + 1, AC_CAST_BLOCK, arguments,
	    stream);
}

enum ac_kernels_status
ac_scaler_update_state(struct ac_scaler_state *state,
    const struct ac_scaler_rule *rule, ac_cu_stream stream)
{
	void *arguments[] = { &state, (void *)(uintptr_t)rule };

	return launch_one(UPDATE, arguments, stream);
}

enum ac_kernels_status
ac_scaler_set_state(struct ac_scaler_state *state,
    const struct ac_scaler_set *set, ac_cu_stream stream)
{
	void *arguments[] = { &state, (void *)(uintptr_t)set };

	return launch_one(SET, arguments, stream);
}
