/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/twins/twins_conv.c -- the sample of a convolution on the CPU, in the
 * GPU's order. */
#include "kernels/conv/conv_body.h"
#include "kernels/twins/twins_inside.h"

static double
lane_sum(const struct ac_conv_job *job, uint32_t row, uint32_t col,
    uint32_t lane, struct ac_meter *meter)
{
	const struct ac_conv_line *position = &job->line[0][row];
	const struct ac_conv_line *channel = &job->line[1][col];
	const struct ac_conv_pair from = {
		position->a + channel->a, position->b + channel->b, true
	};
	const struct ac_conv_digits step = ac_conv_digits_of(job,
	    AC_CONV_LANES);
	struct ac_conv_digits digits = ac_conv_digits_of(job, lane);
	double sum = 0;

	for (int64_t i = lane; i < job->terms; i += AC_CONV_LANES) {
		const struct ac_conv_pair pair = ac_conv_pair_of(job, &from,
		    position->base, &digits);

		if (pair.is_inside)
			sum = sum + (double)ac_read_one(meter, job->a + pair.a)
			    * (double)ac_read_one(meter, job->b + pair.b);
		ac_conv_advance(job, &step, &digits);
	}
	return sum;
}

static double
dot_of(const struct ac_conv_job *job, uint32_t row, uint32_t col,
    struct ac_meter *meter)
{
	double sum[AC_CONV_LANES];

	if (!job->terms)
		return 0;
	for (uint32_t lane = 0; lane < AC_CONV_LANES; lane++)
		sum[lane] = lane_sum(job, row, col, lane, meter);
	for (int away = AC_CAST_LANES / 2; away; away /= 2)
		for (int lane = 0; lane < AC_CONV_LANES; lane++)
			if (lane % AC_CAST_LANES < away)
				sum[lane] = sum[lane] + sum[lane + away];
	for (int warp = 1; warp < AC_CONV_WARPS; warp++)
		sum[0] = sum[0] + sum[warp * AC_CAST_LANES];
	return sum[0];
}

static uint32_t
scan(const struct ac_conv_job *job, struct ac_meter *meter)
{
	uint32_t found = 0;

	for (int64_t i = 0; i < job->scan_count; i++)
		found |= ac_conv_found_in(ac_read_one(meter, job->out
		    + ac_conv_scan_offset(job, i)));
	return found;
}

void
ac_twin_conv_check(const struct emu_twin_launch *launch, void **params)
{
	const struct ac_conv_job *job = params[0];
	const unsigned mode = ac_float_mode_enter();
	struct ac_conv_norm norms[2 * AC_CONV_SIDE];
	const float energy[2] = {
		ac_conv_energy(job, 0), ac_conv_energy(job, 1)
	};
	struct ac_meter meter = {0};
	uint32_t found = 0;

	(void)launch;
	for (uint32_t col = 0; col < job->count[1]; col++)
		for (uint32_t row = 0; row < job->count[0]; row++)
			found |= ac_conv_compare(job, row, col,
			    dot_of(job, row, col, &meter));
	job->scratch->found |= found | scan(job, &meter);
	for (uint32_t line = 0; line < 2 * AC_CONV_SIDE; line++)
		norms[line] = ac_conv_norm_of(job, line);
	ac_conv_close(job, norms, energy);
	ac_float_mode_leave(mode);
	ac_meter_add(&meter);
}
