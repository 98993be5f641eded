/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/test_scaler_conformance.c -- the gradient scaler has the rules and
 * the bits of torch.amp.GradScaler: all rows of the conformance table, K1 to
 * K81, as PyTorch (what PyTorch really gave is read from tests/golden) and
 * strict; then what PyTorch made of random sequences. */
#include "tests/unit/scaler_device.h"
#include "tests/unit/scaler_rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

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

	(void)state;
	for (size_t i = 0; i < table_count; i++)
		if (table[i].id[0] == 'X') {
			run(&table[i], false);
			run(&table[i], true);
			rows++;
		}
	assert_true(rows >= 24);
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

	(void)state;
	device.stream = NULL;
	assert_int_equal(device_script_end.create(&device, &options), 0);
	assert_int_equal(device_script_end.set(&device, 0, &g), 0);
	assert_int_equal(device_script_end.scale(&device), 0);
	assert_int_equal(device_script_end.step(&device, 0, &stepped), 0);
	device_script_end.show(&device, 0, &after);
	assert_memory_equal(after.words, g.words, sizeof g.words);
	device_script_end.destroy(&device);
}

static void
at_random(void **state)
{
	int rows = 0;

	(void)state;
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
	(void)state;
	table = script_table(&table_count);
	device_open(&device);
	return 0;
}

static int
end(void **state)
{
	(void)state;
	device_close(&device);
	free(table);
	return 0;
}

int
main(void)
{
	static struct numbered which[2 * ROWS_NUMBERED];
	static char names[2 * ROWS_NUMBERED][32];
	static struct CMUnitTest tests[2 * ROWS_NUMBERED + 5] = {
		[2 * ROWS_NUMBERED] = { "as PyTorch: 81/81", all, NULL, NULL,
		    NULL },
		{ "strict: 81/81", all, NULL, NULL, &passed },
		{ "rows beyond the table", more, NULL, NULL, NULL },
		{ "a scale of 1 writes nothing", untouched, NULL, NULL, NULL },
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
