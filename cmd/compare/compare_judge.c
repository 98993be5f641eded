/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/compare/compare_judge.c -- from pairs of times to a ratio and a verdict.
 *
 * Were the programs equal, every pair's ratio would be as likely above 1 as
 * below, whatever the machine does: no assumption about the noise is needed.
 * The ratio is the Hodges-Lehmann estimate (the median of all pairwise means
 * of the logarithms), the interval is what Wilcoxon's signed-rank test cannot
 * reject. Pairs one after the other, the first of each the second of the next
 * (ABBA), keep a drift of the machine out of it. */
#include "cmd/compare/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MEANS = AC_COMPARE_PAIRS * (AC_COMPARE_PAIRS + 1) / 2 };

static const double risk_at_most = 0.025; /* of each end */
static const double mad_to_deviation = 1.4826; /* of a normal distribution */
static const double apart_to_deviation = 1.0484; /* the same */

static double pairwise[MEANS];

size_t
ac_compare_turn(size_t columns, size_t pair, size_t nth)
{
	return pair % 2 ? columns - 1 - nth : nth;
}

static int
ascending(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double
median_of_sorted(const double *values, size_t n)
{
	return n % 2 ? values[n / 2]
	    : values[n / 2 - 1] / 2 + values[n / 2] / 2;
}

double
ac_compare_median(const double *values, size_t n)
{
	double sorted[AC_COMPARE_PAIRS];

	memcpy(sorted, values, n * sizeof *values);
	qsort(sorted, n, sizeof *sorted, ascending);
	return median_of_sorted(sorted, n);
}

double
ac_compare_spread(const double *values, size_t n)
{
	const double median = ac_compare_median(values, n);
	double distances[AC_COMPARE_PAIRS];

	for (size_t i = 0; i < n; i++)
		distances[i] = fabs(values[i] - median);
	return mad_to_deviation * ac_compare_median(distances, n);
}

size_t
ac_compare_outliers(const double *values, size_t n)
{
	const double median = ac_compare_median(values, n);
	const double most = 3 * ac_compare_spread(values, n);
	size_t outliers = 0;

	if (n < 5)
		return 0;
	for (size_t i = 0; i < n; i++)
		outliers += fabs(values[i] - median) > most;
	return outliers;
}

/* The largest c for which a sum of `n` signed ranks is at most c no oftener
 * than the risk allows, that probability to *risk_out; -1 if there is none. */
static int
critical(size_t n, double *risk_out)
{
	static double chance[MEANS + 1];
	double sum = 0;

	memset(chance, 0, (n * (n + 1) / 2 + 1) * sizeof *chance);
	chance[0] = 1;
	for (size_t rank = 1; rank <= n; rank++)
		for (size_t w = rank * (rank + 1) / 2 + 1; w-- > 0;)
			chance[w] = (chance[w] +
			    (w >= rank ? chance[w - rank] : 0)) / 2;
	for (size_t w = 0; w <= n * (n + 1) / 2; w++) {
		if (sum + chance[w] > risk_at_most) {
			*risk_out = sum;
			return (int)w - 1;
		}
		sum += chance[w];
	}
	return -1; /* n is 0 */
}

static enum ac_speed
speed(const struct ac_judgement *j, double limit)
{
	if (j->low > 1 + limit)
		return AC_SPEED_TOO_SLOW;
	if (j->low > 1)
		return AC_SPEED_SLOWER;
	return j->high < 1 ? AC_SPEED_FASTER : AC_SPEED_SAME;
}

/* From the median distance of two of `logs`, n >= 2: a few outliers do not
 * sway it. */
static double
deviation(const double *logs, size_t n)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < i; k++)
			pairwise[count++] = fabs(logs[i] - logs[k]);
	qsort(pairwise, count, sizeof *pairwise, ascending);
	return apart_to_deviation * median_of_sorted(pairwise, count);
}

/* Of normal noise the test finds a mean in four of five comparisons by
 * (1.96 + 0.84)^2 * pi / 3 = 8.2 times (deviation / mean)^2 pairs where that
 * is many; where it is few, it takes three more (test_pairs_needed). */
static size_t
pairs_needed(const double *logs, size_t n)
{
	const double ratio = deviation(logs, n) / log1p(AC_COMPARE_SOUGHT);
	const double pairs = ceil(8.2 * ratio * ratio) + 3;

	if (!(pairs <= AC_COMPARE_PAIRS)) /* nan of times of 0 */
		return AC_COMPARE_PAIRS + 1;
	return pairs < AC_COMPARE_FEWEST ? AC_COMPARE_FEWEST : (size_t)pairs;
}

void
ac_compare_judge(const double *plain, const double *recast, size_t n,
    double limit, struct ac_judgement *judgement_out)
{
	struct ac_judgement j = { .high = HUGE_VAL };
	double logs[AC_COMPARE_PAIRS];
	size_t count = 0;
	int c;

	for (size_t i = 0; i < n; i++)
		logs[i] = log(recast[i] / plain[i]);
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k <= i; k++)
			pairwise[count++] = (logs[i] + logs[k]) / 2;
	qsort(pairwise, count, sizeof *pairwise, ascending);
	j.ratio = exp(median_of_sorted(pairwise, count));
	c = critical(n, &j.risk);
	if (c >= 0) {
		j.low = exp(pairwise[c]);
		j.high = exp(pairwise[count - 1 - (size_t)c]);
		j.speed = speed(&j, limit);
		j.needed = pairs_needed(logs, n);
	}
	*judgement_out = j;
}
