/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/kernels/test_recast_launch.c -- what recast.c queues on a made-up
 * driver: one launch of the right kernel on the caller's stream, and its
 * grid. */
#include "kernels/conv/conv_check.h"
#include "kernels/recast/recast_body.h"
#include "kernels/load/load.h"

#include "tests/unit/kernels/launch_driver.h"

#include <stdlib.h>

static struct {
	const char *kernel;
	unsigned grid[3], block[3];
	ac_cu_stream stream;
	void *arguments[3];
	int count;
} launched;
static int launch_result;

static ac_cu_result
module_load(ac_cu_module *out, const void *code, unsigned count, int *options,
    void **values)
{
	(void)count, (void)options, (void)values;
	assert_non_null(strstr(code, ".entry ac_recast_cast("));
	*out = (ac_cu_module)&launched;
	return 0;
}

static ac_cu_result
module_function(ac_cu_function *out, ac_cu_module module, const char *name)
{
	assert_ptr_equal(module, &launched);
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
	launched.kernel = (const char *)function;
	launched.grid[0] = gx;
	launched.grid[1] = gy;
	launched.grid[2] = gz;
	launched.block[0] = bx;
	launched.block[1] = by;
	launched.block[2] = bz;
	launched.stream = stream;
	launched.arguments[0] = params[0];
	for (int i = 1; i < 3 && strstr(launched.kernel, "ranges"); i++)
		memcpy(&launched.arguments[i], params[i], sizeof(void *));
	launched.count++;
	return launch_result;
}

static const ac_cu_stream stream = (ac_cu_stream)(uintptr_t)2;
static uint64_t counts[1], copy[1];

static enum ac_kernels_status
ranges(const struct ac_kernels *loaded, const struct ac_recast *recast,
    ac_cu_stream on)
{
	return ac_recast_ranges(loaded, recast, counts, copy, on);
}

static const struct {
	const char *kernel;
	enum ac_kernels_status (*queue)(const struct ac_kernels *loaded,
	    const struct ac_recast *recast, ac_cu_stream on);
	unsigned grid_y;
} kernels[] = {
	{ "ac_recast_cast", ac_recast_cast, 2 },
	{ "ac_recast_settle", ac_recast_settle, 2 },
	{ "ac_recast_finish", ac_recast_finish, 1 },
	{ "ac_recast_write", ac_recast_write, 1 },
	{ "ac_recast_ranges", ranges, 2 },
};
enum { KERNELS = sizeof kernels / sizeof *kernels };

static const struct ac_kernels *
loaded(void)
{
	const struct ac_kernels *found = NULL;

	assert_int_equal(ac_kernels_get(&ac_recast_module, &found),
	    AC_KERNELS_OK);
	return found;
}

static struct ac_recast
product(int64_t m, int64_t n, int64_t k, int64_t batch)
{
	struct ac_recast r = { .m = m, .n = n, .k = k, .batch = batch };

	for (int i = 0; i < 2; i++) {
		r.operand[i].rows = i ? k : m;
		r.operand[i].cols = i ? n : k;
		r.operand[i].batch = batch;
		r.operand[i].ld_to = (r.operand[i].rows + 7) / 8 * 8;
		r.operand[i].cols_to = r.operand[i].cols;
	}
	return r;
}

static void
test_one_launch(void **state)
{
	const struct ac_recast r = product(3, 4, 5, 1);

	(void)state;
	for (int i = 0; i < KERNELS; i++) {
		launched.count = 0;
		assert_int_equal(kernels[i].queue(loaded(), &r, stream),
		    AC_KERNELS_OK);
		assert_int_equal(launched.count, 1);
		assert_string_equal(launched.kernel, kernels[i].kernel);
		assert_ptr_equal(launched.stream, stream);
		assert_ptr_equal(launched.arguments[0], &r);
		assert_int_equal(launched.grid[0], 1);
		assert_int_equal(launched.grid[1], kernels[i].grid_y);
		assert_int_equal(launched.grid[2], 1);
		assert_int_equal(launched.block[0], AC_CAST_BLOCK);
		assert_int_equal(launched.block[1], 1);
		assert_int_equal(launched.block[2], 1);
		launch_result = 1;
		assert_int_equal(kernels[i].queue(loaded(), &r, stream),
		    AC_KERNELS_LAUNCH);
		launch_result = 0;
	}
	assert_ptr_equal(launched.arguments[1], counts);
	assert_ptr_equal(launched.arguments[2], copy);
}

/* Its grids are test_conv_check's. */
static void
test_convolution(void **state)
{
	const struct ac_conv_check check = { .groups = 1 };

	(void)state;
	assert_int_equal(ac_conv_check(loaded(), &check, stream),
	    AC_KERNELS_OK);
	assert_string_equal(launched.kernel, "ac_conv_check");
	assert_ptr_equal(launched.stream, stream);
	assert_int_equal(launched.grid[0], 1);
}

static unsigned
grid_of(int kernel, const struct ac_recast *r)
{
	assert_int_equal(kernels[kernel].queue(loaded(), r, stream),
	    AC_KERNELS_OK);
	return launched.grid[0];
}

/* A warp per tile of the operands, eight to a block: of a pass two rows of
 * blocks share them, no more than an SM holds two of; of the ranges each row
 * has those of the larger operand. An output square of 64 x 64 per block. Never
 * none. */
static void
test_grids(void **state)
{
	static const struct {
		int64_t m, n, k, batch;
		unsigned cast, finish, write, ranges;
	} rows[] = {
		{ 0, 0, 0, 0, 1, 1, 1, 1 },
		{ 1, 1, 1, 1, 1, 1, 1, 1 },
		{ 256, 64, 32, 1, 1, 4, 4, 1 },
		{ 257, 64, 32, 1, 2, 5, 5, 2 },
		{ 1024, 64, 32, 1, 3, 16, 16, 4 },
		{ 32, 65, 33, 4, 2, 8, 8, 3 },
		{ 8192, 8192, 8192, 1, 132, 132, 8 * 132, 8 * 132 },
		{ 8192, 8, 8192, 1, 132, 128, 128, 8 * 132 },
		{ INT64_C(1) << 40, INT64_C(1) << 40, 9, 9, 132, 132,
		  8 * 132, 8 * 132 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct ac_recast r = product(rows[i].m, rows[i].n, rows[i].k,
		    rows[i].batch);
		float before;

		assert_int_equal(grid_of(0, &r), rows[i].cast);
		assert_int_equal(grid_of(1, &r), rows[i].cast);
		assert_int_equal(grid_of(2, &r), rows[i].finish);
		assert_int_equal(grid_of(3, &r), rows[i].write);
		assert_int_equal(grid_of(4, &r), rows[i].ranges);
		/* A sample keeps 32 blocks busy; writing C, all of them. */
		r.before = &before;
		assert_int_equal(grid_of(2, &r), rows[i].finish < 32 ? 32
		    : rows[i].finish);
		r.output.write_through = 1;
		assert_int_equal(grid_of(2, &r), rows[i].write < 32 ? 32
		    : rows[i].write);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_launch),
		cmocka_unit_test(test_convolution),
		cmocka_unit_test(test_grids),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
