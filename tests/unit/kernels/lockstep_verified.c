/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/kernels/lockstep_verified.c -- random verified products: the
 * kernels' text against the twins, bit for bit in all they write. */
#include "tests/unit/kernels/lockstep.h"
#include "tests/unit/kernels/verified_cases.h"

#include "kernels/twins/twins.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 3 };
static uint64_t seed;
static unsigned differences;

static uint32_t
any(uint32_t count)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % count;
}

/* ---- What differs ------------------------------------------------------ */

static void
same(const char *what, int turn, const void *one, const void *two,
    size_t bytes)
{
	const uint32_t *a = one, *b = two;
	size_t word = 0;

	if (!one || !memcmp(one, two, bytes))
		return;
	while (word < bytes / 4 && a[word] == b[word])
		word++;
	if (differences++ < 20 && word < bytes / 4)
		printf("# turn %d: %s differs at byte %zu: %08x %08x\n", turn,
		    what, 4 * word, (unsigned)a[word], (unsigned)b[word]);
}

/* Sums of the program's numbers: nobody reads a NaN's payload. */
static void
same_sums(const char *what, int turn, const float *one, const float *two,
    size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!isnan(one[i]) || !isnan(two[i]))
			same(what, turn, one + i, two + i, sizeof *one);
}

/* With an alpha of 0 a word may have a NaN, too. */
static void
same_words(int turn, const struct ac_verified_word *one,
    const struct ac_verified_word *two, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const size_t rest = offsetof(struct ac_verified_word, line);

		if (!isnan(one[i].d2) || !isnan(two[i].d2))
			same("d2", turn, &one[i].d2, &two[i].d2, 8);
		if (!isnan(one[i].e2) || !isnan(two[i].e2))
			same("e2", turn, &one[i].e2, &two[i].e2, 8);
		same("words", turn, &one[i].line, &two[i].line,
		    sizeof one[i] - rest);
	}
}

/* Their memory lies elsewhere. */
static void
same_cancelled(int turn, const struct verified_data *one,
    const struct verified_data *two)
{
	same("noted", turn, &one->cancelled.count, &two->cancelled.count, 4);
	for (uint32_t i = 0; i < one->cancelled.count
	    && i < AC_VERIFIED_CANCELLED; i++) {
		const uint64_t bytes[2] = {
			one->cancelled.to[i] - one->cancelled.from[i],
			two->cancelled.to[i] - two->cancelled.from[i]
		};

		same("what is noted", turn, &bytes[0], &bytes[1], 8);
	}
}

static void
compare_operand(int turn, const struct verified_data *one,
    const struct verified_data *two, int side)
{
	const struct ac_verified *v = &one->v;
	const struct ac_verified_operand *o = &one->v.operand[side];
	const struct ac_verified_operand *p = &two->v.operand[side];
	const size_t words = (size_t)(ac_verified_words(o->lines) * v->batch);

	same("a cast", turn, o->to, p->to, one->to_count[side] * 2);
	same("sums", turn, o->sums, p->sums, (size_t)(AC_VERIFIED_VECTORS
	    * v->k * v->batch) * sizeof *o->sums);
	same_sums("parts", turn, o->parts, p->parts, one->part_count[side]);
	same("flags", turn, o->flags, p->flags, words * sizeof *o->flags);
	same_words(turn, o->words, p->words, words);
}

static void
compare(int turn, const struct verified_data *one,
    const struct verified_data *two)
{
	const struct ac_verified *v = &one->v;
	const struct ac_verified_tail *t = &v->output.tail;

	same("state", turn, &one->state, &two->state, sizeof one->state);
	same("record", turn, &one->record, &two->record, sizeof one->record);
	same("post", turn, &one->post, &two->post, sizeof one->post);
	same_cancelled(turn, one, two);
	compare_operand(turn, one, two, 0);
	compare_operand(turn, one, two, 1);
	same("the product", turn, one->c, two->c, one->c_count * 4);
	same("D", turn, one->d, two->d, one->d_count * 4);
	same("aux", turn, one->aux, two->aux, one->aux_count * 4);
	same("sums of rows", turn, one->sums, two->sums, t->sums
	    ? (size_t)(t->sums_stride * v->batch) * 4 : 0);
	same("arrived", turn, t->arrived, two->v.output.tail.arrived,
	    one->arrived_count * 4);
	same("arrived of mend", turn, v->arrived, two->v.arrived,
	    two->spread_words * 4);
}

/* ---- Products ---------------------------------------------------------- */

static struct verified_case
any_case(int turn)
{
	return (struct verified_case){ .trans = { any(2), any(2) },
		.extra = (int)any(4), .batch = any(3) ? 1 : 1 + (int)any(BATCH),
		.array = !any(3), .format = any(7),
		.tol = any(2) ? 1e-3f : 1e-2f,
		.place = (enum verified_place)any(5),
		.activation = (uint32_t)turn % 5, .bias = any(3),
		.aux = any(2), .sums = any(2), .on_device = any(2) };
}

/* Any numbers in C, and some that are none. */
static void
fill_c(struct verified_problem *p)
{
	static const float bad[] = { -1e9f, -INFINITY, NAN, INFINITY };
	static const float betas[] = { 0, 1, -0.3f };
	const uint32_t rare = any(3) ? 0 : 1 + any(40);

	for (int64_t i = 0; i < (int64_t)p->m * p->n; i++)
		p->c[i] = rare && !any(rare) ? bad[any(4)]
		    : ((float)any(1 << 20) * 0x1p-18f - 2);
	p->beta = betas[any(3)];
	p->alpha = any(8) ? 1.5f : any(2) ? 0 : -1e-30f;
}

/* Whole numbers in A or in B, so that cast looks for those. */
static void
make_whole(struct verified_problem *p)
{
	const bool of_b = any(2);
	float *x = of_b ? p->b : p->a;

	for (int64_t i = 0; i < (int64_t)(of_b ? p->n : p->m) * p->k; i++)
		x[i] = rintf(4 * x[i]);
}

/* So small next to another of its batch that all it adds up is 0, or -0. */
static void
make_faint(struct verified_problem *p)
{
	for (int64_t i = 0; i < (int64_t)p->m * p->k; i++)
		p->a[i] *= 0x1p-100f;
	for (int64_t i = 0; i < (int64_t)p->n * p->k; i++)
		p->b[i] *= 0x1p-100f;
}

static void
run(const char *name, int turn, unsigned blocks, unsigned threads,
    struct verified_data *data)
{
	verified_run(name, &data[0]);
	lockstep_run_verified(name, &data[1], blocks, threads);
	compare(turn, &data[0], &data[1]);
}

static void
take_call(int turn, struct verified_data *data)
{
	const struct ac_verified *v = &data[0].v;

	run("ac_verified_probe", turn, (unsigned)ac_verified_probe_blocks(v),
	    256, data);
	run("ac_verified_cast", turn, (unsigned)ac_verified_cast_blocks(v),
	    256, data);
	verified_multiply(&data[0]);
	verified_multiply(&data[1]);
	run("ac_verified_verify", turn, (unsigned)ac_verified_verify_blocks(v),
	    256, data);
	run("ac_verified_mend", turn, 1 + any(7), 128, data);
}

static void
set_rest(struct verified_data *data)
{
	const uint32_t slice = 64u << any(4), guarded = any(8);
	const bool posts = any(2), spreads = any(2);

	for (int i = 0; i < 2; i++) {
		struct ac_verified *v = &data[i].v;

		v->slice = slice; /* no bigger than the parts have room for */
		v->tol = guarded ? v->tol : 0;
		v->post = posts ? &data[i].post : NULL;
		if (spreads)
			verified_data_spread(&data[i]);
	}
}

/* Sums that have cancelled, the last one in what is written, or behind it. */
static void
note_cancelled(struct verified_data *data)
{
	const uint32_t count = any(600), heeds = any(2);
	const uint64_t behind = any(3) ? 4 : 0;

	for (int i = 0; i < 2; i++) {
		struct verified_data *d = &data[i];
		const uint64_t at = (uint64_t)(uintptr_t)(d->d_count ? d->d
		    + d->v.m - 1 : d->c + d->v.m - 1);

		d->v.heeds_cancelled = heeds;
		d->cancelled.count = count;
		for (uint32_t n = 0; n < count; n++) {
			d->cancelled.from[n] = n ? 8 * n : at + behind;
			d->cancelled.to[n] = d->cancelled.from[n] + 4;
		}
	}
}

/* Two calls after one another, the second with an operand times 3. */
static void
take_turn(int turn)
{
	struct verified_case c = any_case(turn);
	const bool large = !any(6), deep = !any(4), turned = any(2);
	const bool whole = any(2), faint = !(turn % 8);
	int m = large ? 512 + (int)any(40) : 1 + (int)any(150);
	int n = large ? 1 + (int)any(20) : 1 + (int)any(150);
	int k = large ? 1 + (int)any(40) : deep ? 257 + (int)any(900)
	    : 1 + (int)any(100);
	struct verified_problem p[BATCH];
	struct verified_data data[2];

	if (faint)
		c.batch = BATCH, k = 61;
	else if (any(2)) { /* 16 bytes at a time */
		m = (m + 3) / 4 * 4, n = (n + 3) / 4 * 4, k = (k + 3) / 4 * 4;
		c.extra = 0;
	}
	for (int b = 0; b < BATCH; b++) {
		verified_problem_make((int)any(VERIFIED_FAMILIES), turned ? n
		    : m, turned ? m : n, k, any(1000), &p[b]);
		if (whole)
			make_whole(&p[b]);
		if (b && faint)
			make_faint(&p[b]);
		fill_c(&p[b]);
		p[b].alpha = p[0].alpha;
	}
	for (int i = 0; i < 2; i++)
		verified_data_make(&c, p, &data[i]);
	set_rest(data);
	if (turn % 3 == 0)
		note_cancelled(data);
	take_call(turn, data);
	for (int i = 0; i < 2; i++)
		for (int64_t l = 0; l < data[i].v.m; l++)
			*verified_at(&data[i], 0, 0, l, 0) *= 3;
	take_call(turn, data);
	for (int i = 0; i < 2; i++)
		verified_data_free(&data[i]);
	for (int b = 0; b < BATCH; b++)
		verified_problem_free(&p[b]);
}

bool
lockstep_verified_turns(int turns, uint64_t start, int number,
    const char *text)
{
	seed = start;
	for (int turn = 0; turn < turns; turn++)
		take_turn(turn);
	printf("%sok %d - %d verified products: %s and the twins agree\n",
	    differences ? "not " : "", number, turns, text);
	return !differences;
}
