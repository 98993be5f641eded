/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/scaler/test_scaler_launch.c -- what scaler.c queues on a made-up
 * driver: one launch of the right kernel on the caller's stream, its arguments,
 * its grid; and where chunks lie in tensors of any size. */
#include "kernels/load/load.h"
#include "kernels/scaler/scaler_body.h"
#include "kernels/twins/twins.h"

#include "tests/unit/kernels/launch_driver.h"

enum { MOST = 8 * 132 };

static struct {
	const char *kernel;
	unsigned grid, block;
	ac_cu_stream stream;
	int count;
} launched;
static int launch_result, loads;
static struct ac_scaler_product product;
static struct ac_scaler_close closing;

/* The scaler's own text, whole; no other is ever asked for. */
static ac_cu_result
module_load(ac_cu_module *out, const void *code, unsigned count, int *options,
    void **values)
{
	assert_non_null(strstr(code, ".entry ac_scaler_unscale("));
	assert_null(strstr(code, "ac_recast_ranges"));
	assert_int_equal(((const char *)code)[strlen(code) - 1], '\n');
	*out = (ac_cu_module)&launched;
	loads++;
	return 0;
}

/* Each has a twin. */
static ac_cu_result
module_function(ac_cu_function *out, ac_cu_module module, const char *name)
{
	bool found = false;

	assert_ptr_equal(module, &launched);
	for (size_t i = 0; i < AC_TWINS; i++)
		found |= !strcmp(ac_twins[i].name, name);
	assert_true(found);
	*out = (ac_cu_function)(uintptr_t)name;
	return 0;
}

static ac_cu_result
kernel_launch(ac_cu_function function, unsigned gx, unsigned gy, unsigned gz,
    unsigned bx, unsigned by, unsigned bz, unsigned shared_bytes,
    ac_cu_stream stream, void **params, void **extra)
{
	assert_int_equal(shared_bytes, 0);
	assert_null(extra);
	assert_true(gy == 1 && gz == 1 && by == 1 && bz == 1);
	launched.kernel = (const char *)function;
	launched.grid = gx;
	launched.block = bx;
	launched.stream = stream;
	launched.count++;
	if (!strcmp(launched.kernel, "ac_scaler_multiply"))
		memcpy(&product, params[0], sizeof product);
	if (!strcmp(launched.kernel, "ac_scaler_close"))
		memcpy(&closing, params[0], sizeof closing);
	return launch_result;
}

static const ac_cu_stream stream = (ac_cu_stream)(uintptr_t)2;
static struct ac_scaler_state state_here;
static struct ac_scaler_words words;
static const struct ac_scaler_rule rule;

/* Queues the kernel of that name for `chunks` chunks, and one element more
 * than that many blocks take of a sum. */
static enum ac_kernels_status
queue(const char *kernel, uint64_t chunks)
{
	const struct ac_scaler_pass pass = { .chunk_count = chunks };
	const struct ac_scaler_sum sum = { .count = chunks * 4096 };
	const struct ac_scaler_set set = {0};
	struct ac_scaler_tensor t = { .count = chunks * AC_SCALER_CHUNK };

	switch (kernel[10]) {
	case 'm': return ac_scaler_multiply(&t, 1, &state_here, stream);
	case 'n': return ac_scaler_norm_pass(&pass, 2, stream);
	case 'f': return ac_scaler_fold(&words, &state_here, NULL, 0, stream);
	case 'a': return ac_scaler_guarded_sum(&sum, stream);
	case 's': return ac_scaler_set_state(&state_here, &set, stream);
	default: break;
	}
	if (!strcmp(kernel, "ac_scaler_clip"))
		return ac_scaler_clip_pass(&pass, stream);
	if (!strcmp(kernel, "ac_scaler_unscale"))
		return ac_scaler_unscale_pass(&pass, stream);
	if (!strcmp(kernel, "ac_scaler_update"))
		return ac_scaler_update_state(&state_here, &rule, stream);
	assert_string_equal(kernel, "ac_scaler_close");
	return ac_scaler_norm_close(&words, NULL, 3, 1, 2.5f, NULL, stream);
}

static const struct {
	const char *name;
	bool large;             /* its grid follows the elements */
} kernels[] = {
	{ "ac_scaler_multiply", true }, { "ac_scaler_unscale", true },
	{ "ac_scaler_fold", false }, { "ac_scaler_norm", true },
	{ "ac_scaler_close", false }, { "ac_scaler_clip", true },
	{ "ac_scaler_add", true }, { "ac_scaler_update", false },
	{ "ac_scaler_set", false },
};
enum { KERNELS = sizeof kernels / sizeof *kernels };

CASE(test_one_launch)
{
	assert_int_equal(ac_scaler_kernels_load(), AC_KERNELS_OK);
	assert_int_equal(loads, 1);
	for (int i = 0; i < KERNELS; i++) {
		launched.count = 0;
		assert_int_equal(queue(kernels[i].name, 0), AC_KERNELS_OK);
		assert_int_equal(launched.count, 1);
		assert_string_equal(launched.kernel, kernels[i].name);
		assert_ptr_equal(launched.stream, stream);
		assert_int_equal(launched.grid, 1);
		assert_int_equal(launched.block, kernels[i].large
		    ? AC_CAST_BLOCK : 1);
		launch_result = 1;
		assert_int_equal(queue(kernels[i].name, 9), AC_KERNELS_LAUNCH);
		launch_result = 0;
	}
	assert_int_equal(loads, 1);
}

/* A block per chunk; never none, never more than the GPU holds. */
CASE(test_grids)
{
	static const uint64_t chunks[] = { 1, 2, MOST - 1, MOST, MOST + 1,
		UINT64_C(1) << 40 };

	for (int i = 0; i < KERNELS; i++)
		for (size_t c = 0; c < 6; c++) {
			const uint64_t blocks = chunks[c]
			    + (kernels[i].name[10] == 'a');

			queue(kernels[i].name, chunks[c]);
			assert_int_equal(launched.grid, !kernels[i].large ? 1
			    : blocks < MOST ? blocks : MOST);
		}
}

CASE(test_arguments)
{
	struct ac_scaler_tensor list[AC_SCALER_INLINE + 1] = {{ .count = 0 }};
	float norm;

	for (size_t i = 0; i <= AC_SCALER_INLINE; i++) {
		list[i].data = &list[i];
		list[i].count = i % 3 * 20000;
	}
	for (size_t count = 0; count <= AC_SCALER_INLINE; count += 32) {
		const uint64_t chunks = ac_scaler_number_chunks(list, count);

		assert_int_equal(ac_scaler_multiply(list, count, &state_here,
		    stream), AC_KERNELS_OK);
		assert_ptr_equal(product.state, &state_here);
		assert_int_equal(product.tensor_count, count);
		assert_int_equal(product.chunk_count, chunks);
		assert_memory_equal(product.tensor, list,
		    count * sizeof *list);
	}
	launched.count = 0;
	assert_int_equal(ac_scaler_multiply(list, AC_SCALER_INLINE + 1,
	    &state_here, stream), AC_KERNELS_LAUNCH);
	assert_int_equal(launched.count, 0);
	assert_int_equal(ac_scaler_norm_close(&words, &words.sum, 7, 1, 2.5f,
	    &norm, stream), AC_KERNELS_OK);
	assert_ptr_equal(closing.words, &words);
	assert_ptr_equal(closing.sums, &words.sum);
	assert_ptr_equal(closing.norm_out, &norm);
	assert_true(closing.count == 7 && closing.p == 1
	    && closing.max_norm == 2.5f);
}

/* ---- Chunks ------------------------------------------------------------ */

static const uint64_t counts[] = { 0, 0, 5, AC_SCALER_CHUNK, 0,
	AC_SCALER_CHUNK + 1, 1, 0, (UINT64_C(1) << 32) + 5,
	(UINT64_C(1) << 40) - 1, 0, 0, 3 * AC_SCALER_CHUNK, 2, 0 };
enum { COUNTS = sizeof counts / sizeof *counts };

static void
assert_spot(const struct ac_scaler_tensor *list, uint64_t chunk,
    uint64_t tensor, uint64_t first)
{
	const uint64_t left = counts[tensor] - first;
	const struct ac_scaler_slice spot = ac_scaler_slice_of(list, COUNTS,
	    chunk);

	assert_int_equal(spot.tensor, tensor);
	assert_int_equal(spot.first, first);
	assert_int_equal(spot.count, left < AC_SCALER_CHUNK ? left
	    : AC_SCALER_CHUNK);
}

/* Every chunk of small tensors, the ends and the 32-bit borders of large
 * ones. */
CASE(test_spots)
{
	struct ac_scaler_tensor list[COUNTS] = {{ .count = 0 }};
	uint64_t chunks, next = 0;

	for (int i = 0; i < COUNTS; i++)
		list[i].count = counts[i];
	chunks = ac_scaler_number_chunks(list, COUNTS);
	for (uint64_t k = 0; k < COUNTS; k++) {
		const uint64_t own = (counts[k] + AC_SCALER_CHUNK - 1)
		    / AC_SCALER_CHUNK;

		assert_int_equal(list[k].first_chunk, next);
		for (uint64_t c = 0; c < own; c++) {
			assert_spot(list, next + c, k, c * AC_SCALER_CHUNK);
			if (c == 2 && own > 300000)
				c = UINT64_C(262142); /* of 2^32 elements */
			if (c == 262145)
				c = own - 3;
		}
		next += own;
	}
	assert_int_equal(chunks, next);
	assert_int_equal(ac_scaler_number_chunks(list, 0), 0);
}

CASES_RUN(NULL, NULL)
