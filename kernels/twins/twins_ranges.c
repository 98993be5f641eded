/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/twins/twins_ranges.c -- the counting of exponents on the CPU. */
#include "kernels/recast/recast_ranges.h"
#include "kernels/twins/twins_inside.h"

static void
count_operand(const struct ac_recast_matrices *m, struct ac_meter *meter,
    uint64_t *counts)
{
	for (int64_t b = 0; b < m->batch; b++)
		for (int64_t j = 0; j < m->cols; j++) {
			const float *x = (m->array ? m->array[b]
			    : m->from + b * m->stride) + j * m->ld;

			meter->read += (uint64_t)m->rows * sizeof *x;
			for (int64_t i = 0; i < m->rows; i++)
				counts[ac_cast_bits(x[i]) >> 23 & 0xff]++;
		}
}

void
ac_twin_recast_ranges(const struct emu_twin_launch *launch, void **params)
{
	const struct ac_recast_ranges *r = params[0];
	struct ac_meter meter = {0};

	(void)launch;
	for (int i = 0; i < 2; i++)
		count_operand(&r->operand[i], &meter,
		    r->counts + i * AC_RANGE_BINS);
	memcpy(r->copy, r->counts, 2 * AC_RANGE_BINS * sizeof *r->copy);
	*r->arrived = 0;
	ac_meter_add(&meter);
}
