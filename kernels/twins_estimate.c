/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/twins_estimate.c -- the estimate of a call's error on the CPU, added
 * up in recast_estimate.h's order. */
#include "kernels/recast_estimate.h"
#include "kernels/twins_recast.h"

enum { WARPS = AC_CAST_BLOCK / AC_RECAST_LANES };

/* The sums of a block's threads, as it has them: lanes, then warps. */
static double
add_block(double sum[AC_CAST_BLOCK])
{
	double whole = 0;

	for (int w = 0; w < WARPS; w++) {
		double *lane = sum + w * AC_RECAST_LANES;

		for (int away = AC_RECAST_LANES / 2; away; away /= 2)
			for (int l = 0; l < away; l++)
				lane[l] = lane[l] + lane[l + away];
		whole = whole + lane[0];
	}
	return whole;
}

/* The words of a stretch of K of an operand. */
static void
add_bands(const float *bands, int64_t tiles, struct ac_meter *meter,
    double words[AC_RECAST_WORDS])
{
	enum { GROUPS = AC_RECAST_LANES / AC_RECAST_WORDS };
	double sum[WARPS][GROUPS][AC_RECAST_WORDS] = {0};

	for (int64_t i = 0; i < tiles; i++) {
		double *mine = sum[i / GROUPS % WARPS][i % GROUPS];
		const float *from = ac_read_run(meter,
		    bands + i * AC_RECAST_WORDS, AC_RECAST_WORDS);

		for (int w = 0; w < AC_RECAST_WORDS; w++)
			mine[w] = mine[w] + (double)from[w];
	}
	for (int w = 0; w < AC_RECAST_WORDS; w++) {
		words[w] = 0;
		for (int warp = 0; warp < WARPS; warp++)
			words[w] = words[w] + ((sum[warp][0][w]
			    + sum[warp][1][w]) + (sum[warp][2][w]
			    + sum[warp][3][w]));
	}
}

static void
store_part(const struct ac_recast *r, int64_t along, struct ac_meter *meter)
{
	double words[2][AC_RECAST_WORDS], lost[AC_RECAST_BANDS];
	double all[AC_RECAST_BANDS];

	for (int i = 0; i < 2; i++) {
		const struct ac_recast_operand *o = &r->operand[i];

		add_bands(r->bands[i] + ac_recast_bands_at(o, 0, along, 0),
		    ac_recast_line_tiles(o), meter, words[i]);
	}
	for (int b = 0; b < AC_RECAST_BANDS; b++) {
		const double width = ac_recast_width(r, along, b);
		const double *one = words[0], *two = words[1];

		lost[b] = (one[b] * two[b + AC_RECAST_BANDS]
		    + one[b + AC_RECAST_BANDS] * two[b]) / width;
		all[b] = one[b] * two[b] / width;
	}
	r->parts[2 * along] = (lost[0] + lost[1]) + (lost[2] + lost[3]);
	r->parts[2 * along + 1] = (all[0] + all[1]) + (all[2] + all[3]);
	meter->written += 2 * sizeof *r->parts;
}

void
ac_twin_add_parts(const struct ac_recast *r, struct ac_meter *meter)
{
	for (int64_t along = 0; along < ac_recast_tiles(r->k); along++)
		store_part(r, along, meter);
}

static struct ac_recast_part
read_parts(const struct ac_recast *r, struct ac_meter *meter)
{
	double lost[AC_CAST_BLOCK] = {0}, all[AC_CAST_BLOCK] = {0};

	for (int64_t i = 0; r->state->probe == AC_PROBE_ESTIMATE
	    && i < ac_recast_tiles(r->k); i++) {
		const int t = (int)(i % AC_CAST_BLOCK);

		lost[t] = lost[t] + r->parts[2 * i];
		all[t] = all[t] + r->parts[2 * i + 1];
		meter->read += 2 * sizeof *r->parts;
	}
	return (struct ac_recast_part){ add_block(lost), add_block(all) };
}

struct ac_recast_estimate
ac_twin_estimate(const struct ac_recast *r, struct ac_meter *meter)
{
	const struct ac_recast_part parts = read_parts(r, meter);
	const double most = ac_recast_most(r, &parts);
	double c[AC_RECAST_PROBES], product[AC_RECAST_PROBES];
	struct ac_recast_weights weights = {0};

	for (int at = 0; at < AC_RECAST_PROBES; at++) {
		const struct ac_recast_probe probe = ac_recast_probe_at(r, 0, at);
		const struct ac_recast_weight weight = ac_recast_weigh(r,
		    &probe, most);

		c[at] = weight.c;
		product[at] = weight.product;
		weights.counted += weight.counts;
		weights.clear += weight.counts && !weight.drowns;
		meter->read += sizeof(float);
	}
	weights.c = add_block(c);
	weights.product = add_block(product);
	return ac_recast_estimate_of(r, &parts, &weights);
}
