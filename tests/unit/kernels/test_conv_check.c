/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/kernels/test_conv_check.c -- the sample of a convolution: what it
 * says of right and wrong outputs, what it looks at, what it reads.
 * ac_conv_check() is launched on a made-up GPU that runs the twin. */
#include "emulator/driver/twin.h"
#include "tests/unit/cases.h"
#include "tests/unit/kernels/conv_cases.h"

#include <math.h>
#include <stdatomic.h>

#include "kernels/conv/conv_body.h"
#include "kernels/load/load.h"
#include "kernels/twins/twins.h"

static struct {
	unsigned grid;
	int count;
	ac_cu_stream stream;
	ac_cu_result result;
} launched;

static ac_cu_result
kernel_launch(ac_cu_function function, unsigned gx, unsigned gy, unsigned gz,
    unsigned bx, unsigned by, unsigned bz, unsigned shared_bytes,
    ac_cu_stream stream, void **params, void **extra)
{
	const struct emu_twin_launch launch = { { gx, gy, gz },
		{ bx, by, bz } };

	assert_string_equal((const char *)function, "ac_conv_check");
	assert_int_equal(gy * gz * by * bz, 1);
	assert_int_equal(bx, AC_CAST_BLOCK);
	assert_int_equal(shared_bytes, 0);
	assert_null(extra);
	launched.grid = gx;
	launched.stream = stream;
	launched.count++;
	for (size_t i = 0; i < AC_TWINS && !launched.result; i++)
		if (!strcmp(ac_twins[i].name, "ac_conv_check"))
			ac_twins[i].run(&launch, params);
	return launched.result;
}

static const struct ac_kernels *
loaded(void)
{
	static const struct ac_driver driver = {
		.cuLaunchKernel = kernel_launch,
	};
	static struct ac_kernels kernels = { .driver = &driver, .sm_count = 4 };

	kernels.function[AC_KERNEL_CONV_CHECK] =
	    (ac_cu_function)(uintptr_t)"ac_conv_check";
	return &kernels;
}

/* More outputs than are sampled, and more terms than lanes. */
static const struct conv_case plain = {
	.operation = AC_CONV_FPROP, .n = 2, .groups = 1, .depth = 33,
	.features = 20, .size = { 1, 6, 7 }, .taps = { 1, 3, 3 },
	.stride = { 1, 1, 1 }, .dilation = { 1, 1, 1 }, .alpha = 1,
};

static void
check(struct conv_data *data)
{
	struct ac_conv_scratch scratch;

	memset(&data->post, 0xff, sizeof data->post);
	assert_int_equal(ac_conv_check(loaded(), &data->check, NULL),
	    AC_KERNELS_OK);
	assert_int_equal(data->post.number, data->check.number);
	memcpy(&scratch, data->scratch, sizeof scratch);
	assert_int_equal(scratch.arrived, 0);
	assert_int_equal(scratch.found, 0);
}

static void
assert_good(struct conv_data *data)
{
	/* What z and bias leave of a sum may be 2^12 below them, whose size its
	 * rounding has. */
	const bool adds = data->check.z.data || data->check.bias;

	check(data);
	assert_int_equal(data->post.verdict, 0);
	assert_true(data->post.error <= (adds ? 0x1p-12f : 0x1p-24f));
	assert_true(data->post.line_error <= 0x1p-24f);
	assert_true(data->post.exact == 0);
}

CASE(test_right)
{
	uint64_t seed = 1;

	for (int turn = 0; turn < 400; turn++) {
		const struct conv_case c = conv_case_random(&seed);
		struct conv_data data;

		conv_data_make(&c, (uint64_t)turn, &data);
		assert_good(&data);
		conv_data_free(&data);
	}
}

/* Where a sampled output is in memory. */
static int64_t
place_of(const struct ac_conv_check *c, int row, int col)
{
	struct ac_conv_job job;

	ac_conv_job_make(c, &job);
	return job.line[0][row].out + job.line[1][col].out;
}

/* The sums of squares of a line of the sample: 0 .. 15 of positions. */
static struct ac_conv_norm
norm_of(const struct conv_data *data, int line)
{
	struct ac_conv_norm norm = {0};

	for (int i = 0; i < AC_CONV_SIDE; i++) {
		const int64_t at = line < AC_CONV_SIDE
		    ? place_of(&data->check, line, i)
		    : place_of(&data->check, i, line - AC_CONV_SIDE);
		const double exact = data->exact[at];
		const double lost = (double)data->out[at] - exact;

		norm.lost += lost * lost;
		norm.all += exact * exact;
	}
	return norm;
}

static void
assert_errors(struct conv_data *data)
{
	double lost = 0, all = 0, line = 0;

	for (int i = 0; i < 2 * AC_CONV_SIDE; i++) {
		const struct ac_conv_norm norm = norm_of(data, i);

		line = fmax(line, sqrt(norm.lost / norm.all));
		if (i >= AC_CONV_SIDE)
			continue;
		lost += norm.lost;
		all += norm.all;
	}
	check(data);
	assert_true(sqrt(lost / all) > 1e-5 && line > 1e-4);
	assert_true(fabs((double)data->post.error - sqrt(lost / all))
	    <= 0x1p-23 * sqrt(lost / all));
	assert_true(fabs((double)data->post.line_error - line)
	    <= 0x1p-23 * line);
}

CASE(test_planted)
{
	for (int turn = 0; turn < 48; turn++) {
		struct conv_case c = plain;
		struct conv_data data;
		int64_t at;

		c.operation = (enum ac_conv_operation)(turn % 3);
		conv_data_make(&c, (uint64_t)turn, &data);
		assert_good(&data);
		assert_int_equal(data.post.samples, 1);
		at = place_of(&data.check, turn / 3, turn * 7 % 16);
		data.out[at] += 0.02f;
		assert_errors(&data);
		conv_data_free(&data);
	}
}

static bool
is_sampled(const struct ac_conv_check *c, int64_t at)
{
	for (int i = 0; i < AC_CONV_SIDE * AC_CONV_SIDE; i++)
		if (place_of(c, i % AC_CONV_SIDE, i / AC_CONV_SIDE) == at)
			return true;
	return false;
}

static uint32_t
verdict_with(struct conv_data *data, int64_t at, float value)
{
	const float kept = data->out[at];

	data->out[at] = value;
	check(data);
	data->out[at] = kept;
	return data->post.verdict;
}

/* Every output of every layout counts, and nothing between them. */
CASE(test_large)
{
	static const float fit[] = { 32752, -32752, 0x1p-149f };
	static const float large[] = { 32753, -32753, 0x1.ffc002p14f, 1e30f,
		NAN, INFINITY, -INFINITY };

	for (int turn = 0; turn < 9; turn++) {
		struct conv_case c = plain;
		struct conv_data data;
		unsigned i = 0, gaps = 0;

		c.operation = (enum ac_conv_operation)(turn % 3);
		c.layout = (enum conv_layout)(turn / 3);
		c.depth = c.features = 3;
		c.groups = 2;
		c.alpha = 0; /* the sample costs nothing */
		conv_data_make(&c, 5, &data);
		for (size_t at = 0; at < data.out_count; at++, i++) {
			const bool gap = isnan(data.exact[at]);

			gaps += gap;
			assert_int_equal(verdict_with(&data, (int64_t)at,
			    large[i % 7]), gap ? 0 : AC_VERDICT_LARGE);
			assert_int_equal(verdict_with(&data, (int64_t)at,
			    fit[i % 3]), 0);
		}
		assert_int_equal(gaps > 0, c.layout == CONV_GAPS);
		conv_data_free(&data);
	}
}

/* With a bad input that the sample meets, bad outputs are nobody's fault. */
CASE(test_bad_inputs)
{
	struct conv_data data;
	size_t at = 0;

	conv_data_make(&plain, 3, &data);
	data.memory[0][0] = NAN;
	data.memory[1][7] = INFINITY;
	conv_data_compute(&data);
	check(&data);
	assert_int_equal(data.post.verdict, AC_VERDICT_NONFINITE);
	assert_true(data.post.error <= 0x1p-24f);
	assert_true(data.post.line_error <= 0x1p-24f);
	while (is_sampled(&data.check, (int64_t)at) || isnan(data.out[at]))
		at++;
	assert_int_equal(verdict_with(&data, (int64_t)at, NAN),
	    AC_VERDICT_NONFINITE);
	assert_int_equal(verdict_with(&data, (int64_t)at, 40000),
	    AC_VERDICT_NONFINITE | AC_VERDICT_LARGE);
	conv_data_free(&data);
}

/* A reference that is not finite wants its like, a finite one a finite one. */
CASE(test_kinds)
{
	static const struct {
		float input, output;
		bool right;
	} rows[] = {
		{ NAN, NAN, true }, { NAN, INFINITY, false },
		{ NAN, 1, false }, { INFINITY, INFINITY, true },
		{ INFINITY, -INFINITY, false }, { INFINITY, NAN, false },
		{ 0.5f, INFINITY, false }, { 0.5f, NAN, false },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct conv_case c = plain;
		struct conv_data data;
		int64_t at;

		c.depth = 1;
		c.taps[1] = c.taps[2] = 1;
		conv_data_make(&c, i, &data);
		at = place_of(&data.check, 3, 4);
		/* One input for one output: that of feature 0. */
		for (size_t e = 0; e < data.count[1]; e++)
			data.memory[1][e] = 1;
		data.memory[0][at / 840 * 42 + at % 42] = rows[i].input;
		conv_data_compute(&data);
		data.out[at] = rows[i].output;
		check(&data);
		assert_int_equal(isinf(data.post.error), !rows[i].right);
		assert_int_equal(isinf(data.post.line_error), !rows[i].right);
		assert_int_equal(data.post.verdict, i < 6
		    ? AC_VERDICT_NONFINITE : AC_VERDICT_LARGE);
		conv_data_free(&data);
	}
}

/* All where there are few; no output, no sample. */
CASE(test_few)
{
	for (int n = 0; n < 2; n++) {
		struct conv_case c = plain;
		struct conv_data data;

		c.n = n;
		c.size[1] = c.size[2] = 4;
		c.features = 3;
		conv_data_make(&c, 1, &data);
		check(&data);
		assert_int_equal(data.post.samples, n);
		assert_int_equal(data.post.verdict, 0);
		for (size_t at = 0; at < 12 && n; at++) {
			data.out[at] += 0.5f;
			check(&data);
			assert_true(data.post.error > 1e-3f);
			data.out[at] -= 0.5f;
		}
		conv_data_free(&data);
	}
}

/* Each position and channel has its turn, none twice a time. */
CASE(test_choice)
{
	enum { CHANNELS = 20, POSITIONS = 40, TURNS = 400 };
	int turns[POSITIONS * CHANNELS] = {0};
	struct conv_case c = plain;
	struct conv_data data;

	conv_data_make(&c, 1, &data); /* 2 images of 20 channels of 4 x 5 */
	for (int turn = 0; turn < TURNS; turn++) {
		bool seen[POSITIONS * CHANNELS] = {false};

		data.check.seed = (uint64_t)turn;
		for (int i = 0; i < AC_CONV_SIDE * AC_CONV_SIDE; i++) {
			const int64_t at = place_of(&data.check,
			    i % AC_CONV_SIDE, i / AC_CONV_SIDE);

			assert_in_range(at, 0, POSITIONS * CHANNELS - 1);
			assert_false(seen[at]);
			seen[at] = true;
			turns[at]++;
		}
	}
	/* On average 128; of two or three, then of one or two. */
	for (int at = 0; at < POSITIONS * CHANNELS; at++)
		assert_in_range(turns[at], 30, 300);
	conv_data_free(&data);
}

/* The output once, and the factors of what is sampled: here all of it. */
CASE(test_bytes)
{
	for (int turn = 0; turn < 12; turn++) {
		struct conv_case c = plain;
		struct conv_data data;
		uint64_t outputs = 1;

		c.operation = (enum ac_conv_operation)(turn % 3);
		c.depth = c.features = turn % 3 == 2 ? 1 : 5;
		c.pad[2] = turn / 3 % 2;
		c.stride[1] = 2;
		c.n = 1;
		c.size[1] = c.size[2] = 4;
		c.alpha = turn / 6 ? 1 : 0;
		conv_data_make(&c, (uint64_t)turn, &data);
		for (int d = 0; d < 5; d++)
			outputs *= (uint64_t)data.output->dim[d];
		assert_true(outputs <= 16 * (uint64_t)(c.operation
		    == AC_CONV_WGRAD ? c.features : 5));
		if (c.alpha == 0) /* as the convolution: nothing is read */
			*(c.operation == AC_CONV_DGRAD ? &data.check.w.data
			    : &data.check.x.data) = NULL;
		atomic_store(&ac_twin_bytes_read, 0);
		atomic_store(&ac_twin_bytes_written, 0);
		check(&data);
		assert_int_equal(atomic_load(&ac_twin_bytes_read), 4 * outputs
		    + (c.alpha != 0 ? 8 * (uint64_t)data.products : 0));
		assert_int_equal(atomic_load(&ac_twin_bytes_written), 0);
		conv_data_free(&data);
	}
}

/* What is packed in whatever order is looked through in memory's order, and
 * lanes read neighbours where there are any. */
CASE(test_order)
{
	for (int turn = 0; turn < 9; turn++) {
		struct conv_case c = plain;
		struct conv_data data;
		struct ac_conv_job job;

		c.operation = (enum ac_conv_operation)(turn % 3);
		c.layout = (enum conv_layout)(turn / 3);
		conv_data_make(&c, 1, &data);
		ac_conv_job_make(&data.check, &job);
		if (c.layout != CONV_GAPS) {
			assert_int_equal(job.scan_axes, 1);
			assert_int_equal(job.scan_stride[0], 1);
		}
		for (uint32_t i = 1; i < job.scan_axes; i++)
			assert_true(job.scan_stride[i]
			    > job.scan_stride[i - 1]);
		if (c.layout == CONV_NCHW) /* the last dim of space */
			assert_int_equal(job.axis[0].a, 1);
		else if (c.layout == CONV_NHWC && turn % 3 < 2)
			assert_true(job.axis[0].a == 1 || job.axis[1].a == 1);
		conv_data_free(&data);
	}
}

/* One launch, on the caller's stream; blocks for the sample at least, for the
 * output as many as the GPU holds. */
CASE(test_launch)
{
	const ac_cu_stream stream = (ac_cu_stream)(uintptr_t)2;
	struct conv_case c = plain;
	struct conv_data data;

	c.features = 1;
	conv_data_make(&c, 1, &data);
	launched.count = 0;
	assert_int_equal(ac_conv_check(loaded(), &data.check, stream),
	    AC_KERNELS_OK);
	assert_int_equal(launched.count, 1);
	assert_ptr_equal(launched.stream, stream);
	assert_int_equal(launched.grid, 16);
	launched.result = 1;
	data.check.y.dim[0] = 409;  /* 8180 outputs: nobody reads them here */
	assert_int_equal(ac_conv_check(loaded(), &data.check, stream),
	    AC_KERNELS_LAUNCH);
	assert_int_equal(launched.grid, 16);
	data.check.y.dim[0] = 2048; /* 40960: 2048 for each block */
	(void)ac_conv_check(loaded(), &data.check, stream);
	assert_int_equal(launched.grid, 21);
	data.check.y.dim[0] = 1 << 30;
	(void)ac_conv_check(loaded(), &data.check, stream);
	assert_int_equal(launched.grid, 8 * 4);
	launched.result = 0;
	assert_int_equal(launched.count, 4);
	conv_data_free(&data);
}

CASES_RUN(NULL, NULL)
