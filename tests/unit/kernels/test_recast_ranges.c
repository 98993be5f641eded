/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/kernels/test_recast_ranges.c -- the counting of exponents: what is
 * queued on a made-up driver, by which the twin runs, its grid, and what it
 * counts. */
#include "emulator/driver/twin.h"
#include "kernels/load/load.h"
#include "kernels/recast/cast.h"
#include "kernels/recast/recast_ranges.h"
#include "kernels/twins/twins.h"

#include "tests/unit/kernels/launch_driver.h"

#include <math.h>

static struct {
	unsigned grid[3];
	ac_cu_stream stream;
	int count;
} launched;
static int launch_result;
static bool is_run;

static ac_cu_result
module_load(ac_cu_module *out, const void *code, unsigned count, int *options,
    void **values)
{
	assert_non_null(strstr(code, ".entry ac_recast_ranges("));
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
	const struct emu_twin_launch launch = { { gx, gy, gz },
		{ bx, by, bz } };

	assert_int_equal(shared_bytes, 0);
	assert_null(extra);
	assert_string_equal((const char *)function, "ac_recast_ranges");
	assert_int_equal(bx, AC_CAST_BLOCK);
	assert_int_equal(by * bz, 1);
	launched.grid[0] = gx;
	launched.grid[1] = gy;
	launched.grid[2] = gz;
	launched.stream = stream;
	launched.count++;
	for (size_t i = 0; i < AC_TWINS && is_run; i++)
		if (!strcmp(ac_twins[i].name, "ac_recast_ranges"))
			ac_twins[i].run(&launch, params);
	return launch_result;
}

static const ac_cu_stream stream = (ac_cu_stream)(uintptr_t)2;

static enum ac_kernels_status
queue(const struct ac_recast_ranges *ranges)
{
	const struct ac_kernels *found = NULL;

	assert_int_equal(ac_kernels_get(&ac_recast_module, &found),
	    AC_KERNELS_OK);
	return ac_recast_ranges(found, ranges, stream);
}

/* One launch, on the caller's stream. */
CASE(test_one_launch)
{
	const struct ac_recast_ranges none = { .counts = NULL };

	launched.count = 0;
	assert_int_equal(queue(&none), AC_KERNELS_OK);
	assert_int_equal(launched.count, 1);
	assert_ptr_equal(launched.stream, stream);
	launch_result = 1;
	assert_int_equal(queue(&none), AC_KERNELS_LAUNCH);
	launch_result = 0;
}

/* Two rows of blocks, as many as the larger operand has work for, a full GPU at
 * most, never none. */
CASE(test_grids)
{
	static const struct {
		int64_t rows, cols, batch;
		unsigned grid;
	} rows[] = {
		{ 0, 0, 0, 1 }, { 1, 1, 1, 1 }, { 256, 32, 1, 1 },
		{ 257, 32, 1, 2 }, { 1024, 33, 4, 17 }, { 1, 8192, 1, 256 },
		{ 8192, 8192, 1, 8 * 132 },
		{ INT64_C(1) << 40, INT64_C(1) << 40, 9, 8 * 132 },
	};

	for (size_t i = 0; i < 2 * sizeof rows / sizeof *rows; i++) {
		struct ac_recast_ranges r = { .counts = NULL };

		r.operand[i % 2].rows = rows[i / 2].rows;
		r.operand[i % 2].cols = rows[i / 2].cols;
		r.operand[i % 2].batch = rows[i / 2].batch;
		assert_int_equal(queue(&r), AC_KERNELS_OK);
		assert_int_equal(launched.grid[0], rows[i / 2].grid);
		assert_int_equal(launched.grid[1], 2);
		assert_int_equal(launched.grid[2], 1);
	}
}

/* Every element once, by its exponent; nothing that lies between columns and
 * matrices; the counts go on from call to call. */
CASE(test_counts)
{
	static const float values[] = { 1, -1.5f, 0, 0x1p-149f, INFINITY, NAN,
		0x1p-126f, 0x1.fffffep127f };
	static const unsigned bins[] = { 127, 127, 0, 0, 255, 255, 1, 254 };
	static uint64_t counts[2 * AC_RANGE_BINS], copy[2 * AC_RANGE_BINS];
	uint64_t wanted[2 * AC_RANGE_BINS] = {0};
	const float *array[2];
	float a[2 * 20], b[2 * 20];
	uint32_t arrived = 0;
	struct ac_recast_ranges r = { .counts = counts, .copy = copy,
		.arrived = &arrived, .operand = {
		{ .from = a, .rows = 3, .cols = 4, .ld = 5, .stride = 20,
		    .batch = 2 },
		{ .array = array, .rows = 4, .cols = 3, .ld = 5, .batch = 2 }
	} };

	for (int i = 0; i < 2 * 20; i++) {
		const bool in_a = i % 5 < 3, in_b = i % 5 < 4 && i % 20 < 15;

		a[i] = in_a ? values[i % 8] : 8;
		b[i] = in_b ? values[(i + 3) % 8] : 8;
		wanted[bins[i % 8]] += 2 * in_a;
		wanted[AC_RANGE_BINS + bins[(i + 3) % 8]] += 2 * in_b;
	}
	array[0] = b + 20;
	array[1] = b;
	is_run = true;
	assert_int_equal(queue(&r), AC_KERNELS_OK);
	assert_int_equal(queue(&r), AC_KERNELS_OK);
	is_run = false;
	assert_memory_equal(counts, wanted, sizeof wanted);
	assert_memory_equal(copy, wanted, sizeof wanted);
	assert_int_equal(arrived, 0);
}

CASES_RUN(NULL, NULL)
