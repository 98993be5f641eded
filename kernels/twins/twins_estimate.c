/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/twins/twins_estimate.c -- the estimate of a call's error on the CPU,
 * added up in recast_estimate.h's order. */
#include "kernels/recast/recast_estimate.h"
#include "kernels/recast/recast_sample.h"
#include "kernels/twins/twins_recast.h"

enum { WARPS = AC_CAST_BLOCK / AC_RECAST_LANES };

/* How many threads share a matrix. */
static int
threads_of(const struct ac_recast *r)
{
	return r->batch > 1 ? AC_RECAST_LANES : AC_CAST_BLOCK;
}

/* The sums of these, as they have them: lanes, then warps. */
static double
add_threads(const struct ac_recast *r, double sum[AC_CAST_BLOCK])
{
	double whole = 0;

	for (int w = 0; w < threads_of(r) / AC_RECAST_LANES; w++) {
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
add_bands(const float *bands, int64_t tiles, int warps, struct ac_meter *meter,
    double words[AC_RECAST_WORDS])
{
	enum { GROUPS = AC_RECAST_LANES / AC_RECAST_WORDS };
	double sum[WARPS][GROUPS][AC_RECAST_WORDS] = {0};

	for (int64_t i = 0; i < tiles; i++) {
		double *mine = sum[i / GROUPS % warps][i % GROUPS];
		const float *from = ac_read_run(meter,
		    bands + i * AC_RECAST_WORDS, AC_RECAST_WORDS);

		for (int w = 0; w < AC_RECAST_WORDS; w++)
			mine[w] = mine[w] + (double)from[w];
	}
	for (int w = 0; w < AC_RECAST_WORDS; w++) {
		words[w] = 0;
		for (int warp = 0; warp < warps; warp++)
			words[w] = words[w] + ((sum[warp][0][w]
			    + sum[warp][1][w]) + (sum[warp][2][w]
			    + sum[warp][3][w]));
	}
}

static void
store_part(const struct ac_recast *r, int64_t matrix, int64_t along,
    struct ac_meter *meter, double part[2])
{
	double words[2][AC_RECAST_WORDS], lost[AC_RECAST_BANDS];
	double all[AC_RECAST_BANDS];

	for (int i = 0; i < 2; i++) {
		const struct ac_recast_operand *o = &r->operand[i];

		add_bands(r->bands[i] + ac_recast_bands_at(o, matrix, along,
		    0), ac_recast_line_tiles(o), threads_of(r)
		    / AC_RECAST_LANES, meter, words[i]);
	}
	for (int b = 0; b < AC_RECAST_BANDS; b++) {
		const double width = ac_recast_width(r, along, b);
		const double *one = words[0], *two = words[1];

		lost[b] = (one[b] * two[b + AC_RECAST_BANDS]
		    + one[b + AC_RECAST_BANDS] * two[b]) / width;
		all[b] = one[b] * two[b] / width;
	}
	part[0] = (lost[0] + lost[1]) + (lost[2] + lost[3]);
	part[1] = (all[0] + all[1]) + (all[2] + all[3]);
	meter->written += 2 * sizeof *part;
}

void
ac_twin_add_parts(const struct ac_recast *r, struct ac_meter *meter)
{
	const int64_t all = ac_recast_tiles(r->k);

	for (int64_t number = 0; number < ac_recast_probed(r); number++)
		for (int64_t along = 0; along < all; along++)
			store_part(r, ac_recast_probed_at(r, number), along,
			    meter, r->parts + 2 * (number * all + along));
}

void
ac_twin_keep_probes(const struct ac_recast *r, struct ac_meter *meter)
{
	const int64_t count = ac_recast_probed(r) << ac_recast_probe_bits(r);

	for (int64_t i = 0; i < count; i++)
		ac_recast_probe_keep(r, i);
	meter->read += (uint64_t)count * sizeof(float);
}

static struct ac_recast_part
read_parts(const struct ac_recast *r, int64_t number, struct ac_meter *meter)
{
	const int64_t count = ac_recast_tiles(r->k);
	double lost[AC_CAST_BLOCK] = {0}, all[AC_CAST_BLOCK] = {0};

	for (int64_t i = 0; r->state->probe == AC_PROBE_ESTIMATE && i < count;
	    i++) {
		const int t = (int)(i % threads_of(r));

		lost[t] = lost[t] + r->parts[2 * (number * count + i)];
		all[t] = all[t] + r->parts[2 * (number * count + i) + 1];
		meter->read += 2 * sizeof *r->parts;
	}
	return (struct ac_recast_part){ add_threads(r, lost),
		add_threads(r, all) };
}

/* Of the number-th matrix that is looked at. */
static struct ac_recast_estimate
estimate_of(const struct ac_recast *r, int64_t number, struct ac_meter *meter)
{
	const struct ac_recast_part parts = read_parts(r, number, meter);
	const double most = ac_recast_most(r, &parts);
	double c[AC_CAST_BLOCK] = {0}, product[AC_CAST_BLOCK] = {0};
	struct ac_recast_weights weights = {0};

	for (int at = 0; at < 1 << ac_recast_probe_bits(r); at++) {
		const struct ac_recast_probe probe = ac_recast_probe_at(r,
		    number, at);
		const struct ac_recast_weight weight = ac_recast_weigh(r,
		    &probe, most);

		const int t = at % threads_of(r);

		c[t] = c[t] + weight.c;
		product[t] = product[t] + weight.product;
		weights.counted += weight.counts;
		weights.clear += weight.counts && !weight.drowns;
		meter->read += sizeof(float);
	}
	weights.c = add_threads(r, c);
	weights.product = add_threads(r, product);
	return ac_recast_estimate_of(r, &parts, &weights);
}

/* A matrix of a batch. */
static void
do_matrix(const struct ac_recast *r, int64_t number, bool probes, bool sample,
    struct ac_meter *meter)
{
	const bool kept = ac_cast_scalar_read(&r->beta) != 0;
	struct ac_recast_estimate estimate = {0};
	struct ac_recast_state *state = r->state;

	if (probes)
		estimate = estimate_of(r, number, meter);
	if (ac_cast_bits(estimate.value) > state->matrix_estimate)
		state->matrix_estimate = ac_cast_bits(estimate.value);
	if (estimate.shrunk)
		state->matrix_probed |= AC_PROBED_SHRUNK;
	if (estimate.suspect)
		state->matrix_probed |= AC_PROBED_SUSPECT;
	if (sample || estimate.suspect)
		ac_twin_sample_matrix(r, ac_recast_matrix_at(r, number),
		    ac_recast_kept_matrix(r, kept, number), estimate.suspect,
		    meter);
}

struct ac_recast_estimate
ac_twin_do_matrices(const struct ac_recast *r, bool probes, bool sample,
    struct ac_meter *meter)
{
	if (r->batch == 1)
		return probes ? estimate_of(r, 0, meter)
		    : (struct ac_recast_estimate){0};
	for (int64_t number = 0; number < ac_recast_matrices(r); number++)
		do_matrix(r, number, probes, sample, meter);
	return (struct ac_recast_estimate){0};
}
