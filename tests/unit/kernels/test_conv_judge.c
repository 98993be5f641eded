/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/kernels/test_conv_judge.c -- what the sample of a convolution
 * holds against it: exact numbers that changed, errors of what is added. By the
 * twin. */
#include "emulator/driver/twin.h"
#include "tests/unit/cases.h"
#include "tests/unit/kernels/conv_cases.h"

#include "kernels/conv/conv_body.h"
#include "kernels/twins/twins.h"

/* More outputs than are sampled, and more terms than lanes. */
static const struct conv_case plain = {
	.operation = AC_CONV_FPROP, .n = 2, .groups = 1, .depth = 33,
	.features = 20, .size = { 1, 6, 7 }, .taps = { 1, 3, 3 },
	.stride = { 1, 1, 1 }, .dilation = { 1, 1, 1 }, .alpha = 1,
};

static void
check(struct conv_data *data)
{
	const struct emu_twin_launch launch = { { 1, 1, 1 }, { 256, 1, 1 } };
	struct ac_conv_job job;
	void *arguments[] = { &job };

	ac_conv_job_make(&data->check, &job);
	memset(&data->post, 0xff, sizeof data->post);
	for (size_t i = 0; i < AC_TWINS; i++)
		if (!strcmp(ac_twins[i].name, "ac_conv_check"))
			ac_twins[i].run(&launch, arguments);
}

/* One input makes each output: whole numbers, off by 2^-12. */
CASE(test_exact)
{
	for (int turn = 0; turn < 3; turn++) {
		struct conv_case c = plain;
		struct conv_data data;
		uint64_t seed = 1;

		c.depth = 1;
		c.taps[1] = c.taps[2] = 1;
		c.alpha = turn == 1 ? 0.1f : 1;
		conv_data_make(&c, 1, &data);
		for (size_t e = 0; e < data.count[1]; e++)
			data.memory[1][e] = 1;
		for (size_t e = 0; e < data.count[0]; e++)
			data.memory[0][e] = (float)conv_any(&seed, 1 << 24);
		conv_data_compute(&data);
		check(&data);
		assert_true(data.post.exact == 0);
		for (size_t e = 0; e < data.out_count && turn < 2; e++)
			data.out[e] *= 1 + 0x1p-12f;
		check(&data);
		assert_true(turn == 0 ? data.post.exact > 0x1.fp-13f
		    && data.post.exact < 0x1.1p-12f : data.post.exact == 0);
		conv_data_free(&data);
	}
}

/* An error of what is added counts as that, until z hides it; where nothing is
 * added, or relu cuts it off, nothing is proved. */
CASE(test_added)
{
	static const struct {
		float alpha, z; bool relu; float low, high; unsigned samples;
	} rows[] = {
		{ 1, 1000, false, 0.009f, 0.011f, 1 },
		{ 1, 1e9f, false, 0, 1e-6f, 1 },   /* hidden */
		{ 1, -1e9f, true, 0, 0, 0 },
		{ 0, 1000, false, 0, 1e-6f, 0 },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct conv_case c = plain;
		struct conv_data data;

		c.alpha = rows[i].alpha;
		c.alpha2 = 1;
		c.relu = rows[i].relu;
		conv_data_make(&c, i, &data);
		for (size_t e = 0; e < data.count[3]; e++)
			data.memory[3][e] = rows[i].z;
		conv_data_compute(&data);
		for (size_t e = 0; e < data.out_count; e++)
			if (data.out[e] != 0 && rows[i].alpha != 0)
				data.out[e] += 0.01f * (data.out[e]
				    - rows[i].z);
		check(&data);
		assert_int_equal(data.post.samples, rows[i].samples);
		assert_true(data.post.error >= rows[i].low
		    && data.post.error <= rows[i].high);
		conv_data_free(&data);
	}
}

/* Graphs are made of calls whose data were seen to vary: equal data have equal
 * energies, whatever the seed, and others' are others. An operand that is a
 * power of two as large has its square of the energy, to the last bit. */
CASE(test_energies)
{
	for (int turn = 0; turn < 3; turn++) {
		struct conv_case c = plain;
		struct conv_data data;
		struct ac_conv_job job;
		float energy[2];

		c.operation = (enum ac_conv_operation)turn;
		conv_data_make(&c, 1, &data);
		check(&data);
		memcpy(energy, data.post.energy, sizeof energy);
		assert_true(energy[0] > 0 && energy[1] > 0);
		data.check.seed += 77;
		check(&data);
		assert_memory_equal(energy, data.post.energy, sizeof energy);
		ac_conv_job_make(&data.check, &job);
		for (uint32_t i = 0; i < job.probes[0]; i++)
			*((float *)(uintptr_t)job.a + job.probe[0][i]) *= 4;
		check(&data);
		assert_true(data.post.energy[0] == 16 * energy[0]);
		assert_true(data.post.energy[1] == energy[1]);
		conv_data_free(&data);
	}
}

/* Behind ReLU a line of which little is left says little of the errors, nothing
 * with fewer than four outputs, all with 16. Three positions: lines of channels
 * say nothing. */
CASE(test_shown)
{
	static const struct { int shown; bool relu; float wanted; } rows[] = {
		{ 16, true, 0.01f }, { 8, false, 0.01f },
		{ 8, true, 0.01f * 4 / 9 },     /* (16 / 24)^2 of it */
		{ 4, true, 0.01f * 4 / 25 },    /* (8 / 20)^2 */
		{ 3, true, 0 }, { 0, true, 0 },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct conv_case c = plain;
		struct conv_data data;

		c.n = c.depth = c.taps[1] = c.taps[2] = c.size[1] = 1;
		c.size[2] = 3;
		c.features = 16;
		c.relu = rows[i].relu;
		conv_data_make(&c, 1, &data);
		for (size_t e = 0; e < data.count[0]; e++)
			data.memory[0][e] = 1;
		for (int e = 0; e < 16; e++)
			data.memory[1][e] = e < rows[i].shown ? 1 : -1;
		conv_data_compute(&data);
		for (size_t e = 0; e < data.out_count; e++)
			data.out[e] *= 1.01f;
		check(&data);
		assert_float_equal(data.post.line_error, rows[i].wanted, 1e-6);
		conv_data_free(&data);
	}
}

CASES_RUN(NULL, NULL)
