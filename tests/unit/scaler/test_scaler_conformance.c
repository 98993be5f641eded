/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/scaler/test_scaler_conformance.c -- the gradient scaler has the
 * rules and the bits of torch.amp.GradScaler: all rows of the conformance
 * table, K1 to K81 (doc/tests.md), as PyTorch (what PyTorch really gave is read
 * from tests/golden) and strict; then what PyTorch made of random sequences. */
#include "tests/unit/scaler/scaler_device.h"
#include "tests/unit/cases.h"
#include "tests/unit/scaler/scaler_rows.h"

#include <math.h>

static struct script_row *table;
static size_t table_count;
static struct device_end device;
static int passed[2];

struct numbered {
	int  number;
	bool strict;
};

/* As PyTorch on the default stream, strict on one of its own. */
static void
run(const struct script_row *row, bool strict)
{
	static cudaStream_t own;

	if (!own)
		assert_int_equal(cudaStreamCreateWithFlags(&own,
		    cudaStreamNonBlocking), 0);
	device.stream = strict ? own : NULL;
	rows_check(&device_script_end, &device, row, strict);
}

static void
numbered(void **state)
{
	const struct numbered *which = *state;
	const char *why;
	int rows = 0;

	for (size_t i = 0; i < table_count; i++)
		if (rows_number(&table[i]) == which->number) {
			run(&table[i], which->strict);
			rows_expected(&table[i], which->strict, &why);
			if (why)
				print_message("# %s: not PyTorch's answer: "
				    "%s\n", table[i].id, why);
			rows++;
		}
	for (size_t i = 0; i < rows_own_count; i++)
		if (rows_number(&rows_own[i]) == which->number)
			run(&rows_own[i], which->strict);
	assert_true(rows > 0);
	passed[which->strict]++;
}

/* Its name says how many there must be. */
static void
all(void **state)
{
	assert_int_equal(passed[*state != NULL], ROWS_NUMBERED);
}

static void
more(void **state)
{
	int rows = 0;

	for (size_t i = 0; i < table_count; i++)
		if (table[i].id[0] == 'X') {
			run(&table[i], false);
			run(&table[i], true);
			rows++;
		}
	assert_true(rows >= 30);
}

/* At a scale of 1 nothing is written: even NaNs keep their bits. */
static void
untouched(void **state)
{
	static const struct script_gradients g = { 'f', 4, { 0x7fc12345,
		0xff812345, 0x80000001, 0xff800000 } };
	autocast_scaler_options options = script_options("1,2,.5,2000");
	struct script_gradients after;
	int stepped;

	device.stream = NULL;
	assert_int_equal(device_script_end.create(&device, &options), 0);
	assert_int_equal(device_script_end.set(&device, 0, &g), 0);
	assert_int_equal(device_script_end.scale(&device), 0);
	assert_int_equal(device_script_end.step(&device, 0, &stepped), 0);
	device_script_end.show(&device, 0, &after);
	assert_memory_equal(after.words, g.words, sizeof g.words);
	device_script_end.destroy(&device);
}

/* X25 with an element on each device, and one of FP32, which has the
 * coefficient of its own type. */
static void
clipped_apart(void **state)
{
	static const double made[2] = { 1e39, 1e38 };
	static const uint64_t clipped[2] = { UINT64_C(0x3fefd7583bc82e29),
		UINT64_C(0x3fb9791363068b54) };
	const float one = 1;
	autocast_tensor list[3];
	float single;

	for (int i = 1; i >= 0; i--) {
		assert_int_equal(cudaSetDevice(i), 0);
		list[i] = (autocast_tensor){ NULL, 1, AUTOCAST_F64, i, NULL };
		assert_int_equal(cudaMalloc(&list[i].data, 8), 0);
		assert_int_equal(cudaMemcpy(list[i].data, &made[i], 8,
		    cudaMemcpyDefault), 0);
	}
	list[2] = (autocast_tensor){ device.seed, 1, AUTOCAST_F32, 0, NULL };
	assert_int_equal(cudaMemcpy(device.seed, &one, 4, cudaMemcpyDefault),
	    0);
	device.stream = NULL;
	assert_int_equal(device_script_end.create(&device,
	    &(autocast_scaler_options)AUTOCAST_SCALER_OPTIONS), 0);
	assert_int_equal(autocast_scaler_scale(device.scaler, NULL, 0, NULL),
	    0);
	assert_int_equal(autocast_scaler_update_to(device.scaler, 1, NULL), 0);
	assert_int_equal(autocast_group_set_gradients(device.groups[0], list,
	    3), 0);
	assert_int_equal(device_script_end.unscale(&device, 0), 0);
	assert_int_equal(device_script_end.norm(&device, 0, 2, 1, &single), 0);
	assert_true(single == INFINITY);
	for (int i = 0; i < 2; i++) {
		uint64_t bits = 0;

		assert_int_equal(cudaSetDevice(i), 0);
		assert_int_equal(cudaDeviceSynchronize(), 0);
		assert_int_equal(cudaMemcpy(&bits, list[i].data, 8,
		    cudaMemcpyDefault), 0);
		assert_true(bits == clipped[i]);
		assert_int_equal(cudaFree(list[i].data), 0);
	}
	assert_int_equal(cudaMemcpy(&single, device.seed, 4,
	    cudaMemcpyDefault), 0);
	assert_true(single == 0);
	assert_int_equal(cudaSetDevice(0), 0);
	device_script_end.destroy(&device);
}

static void
at_random(void **state)
{
	int rows = 0;

	for (size_t i = 0; i < table_count; i++)
		if (table[i].id[0] == 'R') {
			run(&table[i], false);
			rows++;
		}
	assert_int_equal(rows, 300);
}

static int
begin(void **state)
{
	table = script_table(&table_count);
	device_open(&device);
	return 0;
}

static int
end(void **state)
{
	device_close(&device);
	free(table);
	return 0;
}

int
main(void)
{
	static struct numbered which[2 * ROWS_NUMBERED];
	static char names[2 * ROWS_NUMBERED][32];
	static struct CMUnitTest tests[2 * ROWS_NUMBERED + 6] = {
		[2 * ROWS_NUMBERED] = { "as PyTorch: 81/81", all, NULL, NULL,
		    NULL },
		{ "strict: 81/81", all, NULL, NULL, &passed },
		{ "rows beyond the table", more, NULL, NULL, NULL },
		{ "a scale of 1 writes nothing", untouched, NULL, NULL, NULL },
		{ "FP64 is clipped in FP64 on each device", clipped_apart,
		    NULL, NULL, NULL },
		{ "300 random sequences as PyTorch", at_random, NULL, NULL,
		    NULL },
	};

	/* Two GPUs, as rows K46 and K47 want. */
	setenv("AUTOCAST_EMU_MODEL", "h200,t4", 1);
	for (int i = 0; i < 2 * ROWS_NUMBERED; i++) {
		which[i].number = i / 2 + 1;
		which[i].strict = i % 2;
		snprintf(names[i], sizeof names[i], "K%d %s", i / 2 + 1,
		    i % 2 ? "strict" : "as PyTorch");
		tests[i] = (struct CMUnitTest){ names[i], numbered, NULL, NULL,
			&which[i] };
	}
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, begin, end);
}
