/* SPDX-License-Identifier: Apache-2.0 */
/* policy/profit/tiles.c -- the tile model of tiles.h.
 *
 * Its constants were chosen to meet the times that were published of GH200 and
 * A100 (UCHINO-Yuki/GEMMul8_numerical_results) and one of GB200
 * (vllm-project/vllm, pull request 47973);
 * tests/unit/policy/test_profit_published.c has them, and those of other GPUs,
 * which nothing was chosen for. */
#include "policy/profit/tiles.h"

#include <math.h>
#include <stdint.h>

/* What cuBLAS has to cut a product into, by the share of the multiprocessor's
 * rate that it reaches: the large tile that fills it, and a small one for
 * products that have few tiles. Half the side is twice the operands for the
 * same multiplications, which Tensor Cores wait for. */
static const struct tile {
	bool   has_tensor_cores;
	double m, n, share;
} tiles[] = {
	{ false, 128, 64, 1 }, { false, 64, 32, 0.9 },
	{ true, 128, 128, 1 }, { true, 64, 64, 0.55 },
};

/* What filling the pipeline and storing the tile take, in steps of k. */
#define FILL_STEPS 128.0

/* Fewer than this a multiprocessor does not get of a k that is split: what was
 * published for 6144 is that of no split, for 16384 that of a split. */
#define SHORTEST_PART 6144.0
#define MOST_PARTS 16

/* One step of k takes no less, as operands must come: 20.1 us were published
 * for TF32 at 64 x 256 x 6144, 2.9 ns a step after one launch. */
#define SHORTEST_STEP 2.9e-9

/* The least whole number that is no less than `x`, which is not negative. The
 * preloaded library has no libm. */
static double
rounded_up(double x)
{
	const double down = x < 0x1p53 ? (double)(uint64_t)x : x;

	return down < x ? down + 1 : down;
}

static double
step_seconds(const struct ac_rates *rates, const struct ac_tiled *p,
    const struct tile *tile)
{
	/* A complex step multiplies four times. */
	const double flops = 2 * p->words * p->words * tile->m * tile->n;
	const double step = flops * rates->multiprocessors /
	    (p->rate * tile->share);

	return step > SHORTEST_STEP ? step : SHORTEST_STEP;
}

/* With k split into `parts`, whose sums are written, read and added. */
static double
cut_seconds(const struct ac_rates *rates, const struct ac_tiled *p,
    const struct tile *tile, double parts)
{
	const double count = rounded_up(p->m / tile->m) *
	    rounded_up(p->n / tile->n) * p->batch * parts;
	const double waves = rounded_up(count / rates->multiprocessors);
	const double sums = 8 * p->words * p->m * p->n * p->batch * parts;
	double steps = p->k / parts, seconds;

	if (parts > 1 && steps < SHORTEST_PART)
		steps = SHORTEST_PART;
	seconds = (waves * steps + FILL_STEPS) * step_seconds(rates, p, tile);
	return parts > 1 ? seconds + rates->launch + sums / rates->bandwidth :
	    seconds;
}

/* By the best way to cut it. */
static double
best_seconds(const struct ac_rates *rates, const struct ac_tiled *p)
{
	double best = (double)INFINITY, seconds;

	for (unsigned i = 0; i < sizeof(tiles) / sizeof(tiles[0]); i++)
		for (unsigned parts = 1; parts <= MOST_PARTS; parts *= 2) {
			if (tiles[i].has_tensor_cores != p->has_tensor_cores)
				continue;
			seconds = cut_seconds(rates, p, &tiles[i], parts);
			if (seconds < best)
				best = seconds;
		}
	return best;
}

double
ac_tiles_seconds(const struct ac_rates *rates, const struct ac_tiled *product)
{
	const double square = AC_LARGE * AC_LARGE;
	const double whole = 2 * square * AC_LARGE / product->rate;
	const double stored = whole - 4 * square / rates->bandwidth;
	struct ac_tiled large = *product;

	if (!(rates->multiprocessors > 0))
		return 2 * product->words * product->words * product->m *
		    product->n * product->k * product->batch / product->rate;
	large.m = large.n = large.k = AC_LARGE;
	large.batch = large.words = 1;
	/* No memory is slower than that. */
	return best_seconds(rates, product) / best_seconds(rates, &large) *
	    (stored > whole / 2 ? stored : whole / 2);
}
