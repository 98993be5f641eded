/* SPDX-License-Identifier: Apache-2.0 */
/* tests/trust/rhythm_judge.c -- how far a unit of rhythm is from pedantic
 * FP32. */
#include "tests/trust/rhythm.h"

#include <math.h>

/* C hides a product that is so many times smaller; a slope of an epilogue
 * below which the product does not show. */
enum { HIDES = 1 << 12 };
#define FLAT 0x1p-8

size_t
rhythm_count_c(const struct layer *l)
{
	return (size_t)rhythm.batch * (size_t)l->m * (size_t)rhythm.n;
}

size_t
rhythm_count_sums(const struct layer *l)
{
	return (size_t)rhythm.batch * (size_t)l->m;
}

bool
rhythm_counts(const struct layer *l)
{
	return rhythm_kind_counts(l->kind) || (l->kind == KIND_odd
	    && rhythm_kind_counts(rhythm.odd));
}

struct sums {
	double wrong, result, added;
	double wrong_added;
	long inexact;
};

/* `plain`: without what follows. */
static void
add_output(const struct unit *u, size_t at, const float *plain, double wanted,
    float c, struct sums *sums)
{
	const struct layer *l = u->layer;
	struct rhythm_through to = { wanted, fabs(wanted), 1, 0 };
	double before = l->start ? (double)l->start[at] : 0;
	double added = wanted - before;
	double wrong = fabs((double)c - wanted);

	if (rhythm.lt) {
		const double bias = l->tail.host_bias ? (double)l->tail
		    .host_bias[at / (size_t)(l->m * rhythm.n) * (size_t)l->m
		    + at % (size_t)l->m] : 0;
		const double x = (double)plain[at];

		before = l->beta != 0 ? before : 0;
		added = x - before;
		before += bias;
		to = rhythm_tail_at(&l->tail, at, x + bias);
		wrong = wrong > to.blur ? wrong - to.blur : wrong >= 0 ? 0
		    : wrong;
	}
	sums->wrong += wrong * wrong;
	sums->result += to.near * to.near;
	if (fabs(before) <= HIDES * fabs(added) && fabs(to.slope) >= FLAT) {
		sums->wrong_added += wrong * wrong;
		sums->added += added * added * to.slope * to.slope;
	}
	/* What DGELU scales is whole by chance only. */
	sums->inexact += wanted == rint(wanted) && wanted != 0
	    && rhythm_counts(l) && !rhythm_tail_scales(rhythm.lt)
	    && !(fabs((double)c - wanted) <= 1e-6 * fabs(wanted));
}

static double
ratio(double wrong, double size)
{
	if (!(wrong >= 0))
		return 1e9;
	return size > 0 ? sqrt(wrong / size) : sqrt(wrong);
}

/* AUX as the product and its bias, and a bias' gradient: how far off. */
static double
against(const struct unit *u, const float *plain)
{
	const struct layer *l = u->layer;
	const struct rhythm_tail *tail = &l->tail;
	const size_t count = rhythm_count_c(l), m = (size_t)l->m;
	struct sums aux = { 0 }, sums = { 0 };
	const size_t room = rhythm_tail_room(l->m, rhythm.n, rhythm.batch);
	float *x = client_allocate(room, sizeof *x);

	if (rhythm_tail_keeps(rhythm.lt))
		client_host(x, u->aux, room);
	for (size_t i = 0; rhythm_tail_keeps(rhythm.lt) && i < count; i++) {
		const double wanted = (double)plain[i] + (tail->host_bias
		    ? (double)tail->host_bias[i % m + i / (m * (size_t)rhythm.n)
		    * m] : 0);
		const double wrong = (double)x[i / m * (size_t)tail->aux_ld
		    + i % m] - wanted;

		aux.wrong += wrong * wrong;
		aux.result += wanted * wanted;
	}
	if (u->sums)
		client_host(x, u->sums, rhythm_count_sums(l));
	for (size_t i = 0; u->sums && !u->wanted && i < rhythm_count_sums(l);
	    i++) {
		const double wrong = (double)x[i] - (double)l->sums[i];

		sums.wrong += wrong * wrong;
		sums.result += (double)l->sums[i] * (double)l->sums[i];
	}
	free(x);
	return fmax(ratio(aux.wrong, aux.result), ratio(sums.wrong,
	    sums.result));
}

static float *
fetched(const float *device, float *otherwise, size_t count)
{
	float *host = otherwise;

	if (device) {
		host = client_allocate(count, sizeof *host);
		client_host(host, device, count);
	}
	return host;
}

void
rhythm_print(const struct unit *u, const char *how)
{
	const struct layer *l = u->layer;
	const size_t count = rhythm_count_c(l);
	const size_t each = count / (size_t)rhythm.batch;
	float *c = fetched(u->c, NULL, count);
	float *wanted = fetched(u->wanted, l->wanted, count);
	float *plain = fetched(u->plain, l->plain, count);
	double worst = rhythm.lt ? against(u, plain) : 0;
	long inexact = 0;

	for (size_t at = 0; at < count; at += each) {
		struct sums sums = { 0 };

		for (size_t i = at; i < at + each; i++)
			add_output(u, i, plain, (double)wanted[i], c[i],
			    &sums);
		worst = fmax(worst, fmax(ratio(sums.wrong, sums.result),
		    ratio(sums.wrong_added, sums.added)));
		inexact += sums.inexact;
	}
	printf("%ld %s %.3e %ld %d %d%s\n", u->number, rhythm_kinds[l->kind],
	    worst, inexact, !memcmp(c, wanted, count * sizeof *c), l->number,
	    how);
	if (wanted != l->wanted)
		free(wanted);
	if (plain != l->plain)
		free(plain);
	free(c);
}
