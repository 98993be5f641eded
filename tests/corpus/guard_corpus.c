/* SPDX-License-Identifier: Apache-2.0 */
/* tests/corpus/guard_corpus.c -- does the guard see what goes wrong, and
 * nothing else? (doc/accuracy.md A4, A5)
 *
 *   guard_corpus                  600 fixed seeds, as TAP
 *   guard_corpus --all            3000 others
 *   guard_corpus --fresh SEED N   N seeds from SEED: counts, no verdict
 *
 * A case is bad if its relative Frobenius error is above the tolerance, and
 * line-bad if a row or a column is off by about four times that. The guard
 * alarms or not; it must never miss a bad one. Most calls are not sampled: what
 * the casts alone show of those is looked at as well. */
#include "tests/corpus/corpus.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct corpus_rung rungs[] = {
	{ "fp16", 1e-3, 4e-3, true, AC_FORMAT_FP16, true },
	{ "fp16 unscaled", 1e-3, 4e-3, true, AC_FORMAT_FP16, false },
	{ "bf16", 8e-3, 3e-2, true, AC_FORMAT_BF16, false },
	{ "tf32", 1e-3, 4e-3, false, AC_FORMAT_FP16, false },
};
enum { RUNGS = sizeof rungs / sizeof *rungs };

struct outcome {
	uint8_t family;
	bool bad[RUNGS], line_bad[RUNGS];
	uint8_t finding[RUNGS]; /* enum ac_finding */
	uint8_t without[RUNGS]; /* the same of a call that is not sampled */
};

/* Shared by the threads. */
struct work {
	uint64_t first;
	int64_t  count;
	_Atomic int64_t next;
	struct outcome *outcome;
};

struct desk {
	struct corpus_case c;
	double *roomy, *truth;
	float  *product;
	struct trial_room *room;
};

static void *
need(void *memory)
{
	if (!memory) {
		fprintf(stderr, "guard_corpus: out of memory\n");
		exit(99);
	}
	return memory;
}

static void
examine(uint64_t seed, struct desk *d, struct outcome *o)
{
	corpus_draw(seed, d->roomy, &d->c);
	corpus_product_double(d->c.a, d->c.b, d->c.k, d->roomy, d->truth);
	o->family = (uint8_t)d->c.family;
	for (int r = 0; r < RUNGS; r++) {
		struct ac_guard_facts facts = corpus_trial(&d->c, &rungs[r],
		    d->room, d->product);
		const struct corpus_error e = corpus_error(d->product,
		    d->truth);
		o->bad[r] = !(e.norm <= rungs[r].tol);
		o->line_bad[r] = !(e.line <= rungs[r].line_tol);
		o->finding[r] = (uint8_t)ac_guard_judge(&facts, rungs[r].tol);
		facts.error = facts.line_error = facts.exact = 0;
		o->without[r] = (uint8_t)ac_guard_judge(&facts, rungs[r].tol);
	}
}

static void *
run(void *argument)
{
	const size_t most = (size_t)CORPUS_SIDE * CORPUS_K_MAX;
	const size_t square = (size_t)CORPUS_SIDE * CORPUS_SIDE;
	struct work *w = argument;
	struct desk d = {
		.c.a = need(malloc(most * sizeof(float))),
		.c.b = need(malloc(most * sizeof(float))),
		.roomy = need(malloc(2 * most * sizeof(double))),
		.truth = need(malloc(square * sizeof(double))),
		.product = need(malloc(square * sizeof(float))),
		.room = need(trial_room_new()),
	};
	int64_t i;

	while ((i = atomic_fetch_add(&w->next, 1)) < w->count)
		examine(w->first + (uint64_t)i, &d, &w->outcome[i]);
	free(d.c.a);
	free(d.c.b);
	free(d.roomy);
	free(d.truth);
	free(d.product);
	trial_room_free(d.room);
	return NULL;
}

static struct outcome *
run_all(uint64_t first, int64_t count)
{
	struct work w = { .first = first, .count = count };
	pthread_t other;

	w.outcome = need(calloc((size_t)count, sizeof *w.outcome));
	if (pthread_create(&other, NULL, run, &w)) {
		run(&w);
		return w.outcome;
	}
	run(&w);
	pthread_join(other, NULL);
	return w.outcome;
}

/* Cases of one family, or of all; `of` what `are`. */
struct share {
	int64_t are, of;
};

struct tally {
	struct share missed;      /* of the bad */
	struct share missed_line; /* of the line-bad */
	struct share alarms;      /* of those that are neither */
	/* Without a sample, where the casts can show it: */
	struct share unseen, unseen_line;
};

static bool
is_one_of(int family, const char *const *names)
{
	while (*names && strcmp(corpus_families[family], *names))
		names++;
	return *names;
}

/* What an innocent product looks like. */
static const char *const innocent[] = {
	"scale", "posit", "softmax", "sparse", NULL
};
/* What no statistic of the operands shows, only the outputs do. */
static const char *const only_outputs[] = { "rowgr", "kgr", "cancel", NULL };

static void
share_add(struct share *s, bool belongs, bool is)
{
	s->of += belongs;
	s->are += belongs && is;
}

static void
tally_add(struct tally *t, const struct outcome *o, int rung)
{
	const bool alarm = o->finding[rung] != AC_FINDING_NONE;

	share_add(&t->missed, o->bad[rung], !alarm);
	share_add(&t->missed_line, o->line_bad[rung], !alarm);
	share_add(&t->alarms, !o->bad[rung] && !o->line_bad[rung], alarm);
	if (!rungs[rung].cast || is_one_of(o->family, only_outputs))
		return;
	share_add(&t->unseen, o->bad[rung], !o->without[rung]);
	share_add(&t->unseen_line, o->line_bad[rung], !o->without[rung]);
}

struct tallies {
	struct tally all, family[CORPUS_FAMILIES];
};

static struct tallies
tally_all(const struct outcome *outcome, int64_t count, int rung)
{
	struct tallies t;

	memset(&t, 0, sizeof t);
	for (int64_t i = 0; i < count; i++) {
		tally_add(&t.all, &outcome[i], rung);
		tally_add(&t.family[outcome[i].family], &outcome[i], rung);
	}
	return t;
}

/* ---- What is said ------------------------------------------------------ */

static void
print_families(const struct outcome *outcome, int64_t count, int rung,
    const struct tally family[CORPUS_FAMILIES])
{
	printf("#   %-10s %11s %12s %14s  alarms by\n", "family",
	    "missed bad", "missed line", "false alarms");
	for (int f = 0; f < CORPUS_FAMILIES; f++) {
		const struct tally *t = &family[f];
		int64_t by[AC_FINDING_COUNT] = {0};

		for (int64_t i = 0; i < count; i++)
			by[outcome[i].finding[rung]] +=
			    outcome[i].family == f;
		printf("#   %-10s %5lld/%-5lld %6lld/%-5lld %7lld/%-6lld",
		    corpus_families[f], (long long)t->missed.are,
		    (long long)t->missed.of, (long long)t->missed_line.are,
		    (long long)t->missed_line.of, (long long)t->alarms.are,
		    (long long)t->alarms.of);
		for (int i = 1; i < AC_FINDING_COUNT; i++)
			if (by[i])
				printf(" %s %lld", ac_finding_names[i],
				    (long long)by[i]);
		putchar('\n');
	}
}

/* P(X <= are) for `of` trials with probability p. */
static double
binomial_below(int64_t are, int64_t of, double p)
{
	double sum = 0;

	for (int64_t i = 0; i <= are; i++)
		sum += exp(lgamma((double)of + 1) - lgamma((double)i + 1) -
		    lgamma((double)(of - i) + 1) + (double)i * log(p) +
		    (double)(of - i) * log1p(-p));
	return sum;
}

/* Clopper and Pearson: with a probability above it, so few had a chance of
 * less than 2.5 %. */
static double
upper_bound(struct share s)
{
	double low = 0, high = 1;

	if (s.are >= s.of)
		return 1;
	for (int i = 0; i < 60; i++) {
		const double p = (low + high) / 2;
		if (binomial_below(s.are, s.of, p) > 0.025)
			low = p;
		else
			high = p;
	}
	return high;
}

static void
print_share(const char *what, struct share s)
{
	printf("#   %s: %lld of %lld, at most %.2f %% (97.5 %% sure)\n", what,
	    (long long)s.are, (long long)s.of, 100 * upper_bound(s));
}

static void
print_rung(const struct outcome *outcome, int64_t count, int rung)
{
	const struct tallies t = tally_all(outcome, count, rung);

	printf("# %s\n", rungs[rung].name);
	print_share("missed bad", t.all.missed);
	print_share("missed line-bad", t.all.missed_line);
	print_share("false alarms", t.all.alarms);
	print_share("missed bad without a sample", t.all.unseen);
	print_share("missed line-bad without a sample", t.all.unseen_line);
	print_families(outcome, count, rung, t.family);
}

/* ---- What is asserted -------------------------------------------------- */

static int cases, failures;

/* A corpus without bad products would prove nothing. */
static void
at_least(int64_t hundredths, const char *rung, const char *what, int64_t are,
    int64_t of)
{
	const bool good = 100 * are >= hundredths * of;

	failures += !good;
	printf("%sok %d - %s: %lld of %lld %s\n", good ? "" : "not ",
	    ++cases, rung, (long long)are, (long long)of, what);
}

/* At most `hundredths` of the share; or one where that is less than one. */
static void
at_most(int64_t hundredths, const char *rung, const char *what,
    struct share s)
{
	const bool good = 100 * s.are <= hundredths * s.of ||
	    (hundredths && s.are <= 1);

	failures += !good;
	printf("%sok %d - %s: %lld of %lld %s\n", good ? "" : "not ",
	    ++cases, rung, (long long)s.are, (long long)s.of, what);
}

static void
assert_rung(const struct outcome *outcome, int64_t count, int rung)
{
	const struct tallies t = tally_all(outcome, count, rung);
	const char *name = rungs[rung].name;

	at_least(3, name, "are bad", t.all.missed.of, count);
	at_most(0, name, "bad ones missed", t.all.missed);
	at_most(3, name, "with a bad row or column missed", t.all.missed_line);
	if (rungs[rung].cast && rungs[rung].format == AC_FORMAT_FP16) {
		at_most(0, name, "bad ones missed without a sample",
		    t.all.unseen);
		at_most(3, name, "with a bad row or column missed without one",
		    t.all.unseen_line);
		if (!rungs[rung].scaled)
			return; /* alarms easily: nobody runs it so */
	}
	at_most(3, name, "good ones with a false alarm", t.all.alarms);
	for (int f = 0; f < CORPUS_FAMILIES; f++)
		if (is_one_of(f, innocent))
			at_most(0, name, corpus_families[f],
			    t.family[f].alarms);
}

/* Ten times slower there: a few cases, for the sake of what is looked for. */
static int
run_sanitized(void)
{
	free(run_all(0, 30));
	printf("1..0 # SKIP 600 cases take minutes under a sanitizer\n");
	return 0;
}

int
main(int argc, char **argv)
{
	const char *sanitizers = getenv("SANITIZERS");
	const bool fresh = argc == 4 && !strcmp(argv[1], "--fresh");
	const bool all = argc == 2 && !strcmp(argv[1], "--all");
	const uint64_t first = fresh ? strtoull(argv[2], NULL, 0) :
	    all ? 100000 : 0;
	const int64_t count = fresh ? atoll(argv[3]) : all ? 3000 : 600;
	struct outcome *outcome;

	if ((argc != 1 && !fresh && !all) || count <= 0) {
		fprintf(stderr, "usage: %s [--all | --fresh SEED N]\n",
		    argv[0]);
		return 2;
	}
	if (argc == 1 && sanitizers && *sanitizers)
		return run_sanitized();
	outcome = run_all(first, count);
	for (int r = 0; r < RUNGS; r++) {
		print_rung(outcome, count, r);
		if (!fresh)
			assert_rung(outcome, count, r);
	}
	if (!fresh)
		printf("1..%d\n", cases);
	free(outcome);
	return failures > 0;
}
