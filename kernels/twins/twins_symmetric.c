/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/twins/twins_symmetric.c -- a symmetric matrix written whole, on the
 * CPU. */
#include "kernels/recast/recast_symmetric.h"
#include "kernels/twins/twins_inside.h"

void
ac_twin_recast_symmetric(const struct emu_twin_launch *launch, void **params)
{
	const struct ac_recast_symmetric *s = params[0];
	struct ac_meter meter = {0};

	(void)launch;
	for (int64_t j = 0; j < s->n; j++)
		for (int64_t i = j; i < s->n; i++) {
			const int64_t row = s->is_lower ? i : j;
			const int64_t col = s->is_lower ? j : i;
			const float value = ac_read_one(&meter,
			    s->from + col * s->ld + row);

			s->to[j * s->ld_to + i] = value;
			s->to[i * s->ld_to + j] = value;
		}
	meter.written = (uint64_t)(s->n * s->n) * sizeof *s->to;
	ac_meter_add(&meter);
}
