/* SPDX-License-Identifier: Apache-2.0 */
/* tests/gpu/recast_gpu.c [-q | -f] -- the kernels of a recast product on the
 * device against their CPU twins, bit for bit: what is cast, marked, counted,
 * repaired, sampled, posted, over four calls that remember each other; then
 * FP32 numbers, a case per 2^24 of them: one of 16 neighbours by default, all
 * with -f, none with -q, which leaves large sizes out, too. TAP; 77 without a
 * device. On the emulated GPU it proves nothing but itself. */
#include "kernels/recast/recast.h"
#include "tests/gpu/device.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum fill {
	FILL_NORMAL, FILL_TINY, FILL_LARGE, FILL_OUTLIER, FILL_ZERO,
	FILL_SOME_INF,   /* normal, an inf now and then */
	FILL_SOME_NAN, FILL_MIXED, FILL_ANY
};
enum form { SINGLE, STRIDED, SHARED /* B has stride 0 */, ARRAY };
enum way {
	TO_C,            /* the product is in C */
	THROUGH,         /* it is in `result`, finish writes C */
	LATER,           /* it is in `result`, write does */
	NO_CAST          /* library tactic */
};

struct recast_case {
	const char *name;
	int m, n, k, batch;
	int trans_a, trans_b, extra_ld;
	enum form form;
	enum way way;
	enum fill fill[2];
	enum ac_format format;
	bool scaled;
	float alpha, beta;
	bool large;      /* not with -q */
};

static const struct recast_case cases[] = {
	{ "nn", 64, 64, 64, 1, 0, 0, 0, SINGLE, TO_C,
	  { FILL_NORMAL, FILL_NORMAL }, AC_FORMAT_FP16, true, 1, 0, false },
	{ "tn, odd", 33, 65, 127, 1, 1, 0, 3, SINGLE, TO_C,
	  { FILL_NORMAL, FILL_OUTLIER }, AC_FORMAT_FP16, true, -2, 1, false },
	{ "nt, bf16, unscaled", 100, 7, 31, 1, 0, 1, 1, SINGLE, THROUGH,
	  { FILL_LARGE, FILL_TINY }, AC_FORMAT_BF16, false, 1, .5f, false },
	{ "tt, fp16, unscaled, overflowing", 70, 70, 70, 1, 1, 1, 0, SINGLE,
	  LATER, { FILL_LARGE, FILL_NORMAL }, AC_FORMAT_FP16, false, 1, 1,
	  false },
	{ "tiny", 40, 48, 56, 1, 0, 0, 5, SINGLE, THROUGH,
	  { FILL_TINY, FILL_TINY }, AC_FORMAT_FP16, true, 1e-20f, 0, false },
	{ "zero", 17, 19, 23, 1, 0, 0, 0, SINGLE, TO_C,
	  { FILL_ZERO, FILL_NORMAL }, AC_FORMAT_FP16, true, 1, 1, false },
	{ "vectors", 1, 513, 1, 1, 0, 0, 0, SINGLE, THROUGH,
	  { FILL_NORMAL, FILL_NORMAL }, AC_FORMAT_FP16, true, 1, 2, false },
	{ "inf in A", 50, 60, 70, 1, 0, 0, 0, SINGLE, TO_C,
	  { FILL_SOME_INF, FILL_NORMAL }, AC_FORMAT_FP16, true, 1, 1, false },
	{ "NaN in B", 50, 60, 70, 1, 1, 1, 2, SINGLE, THROUGH,
	  { FILL_NORMAL, FILL_SOME_NAN }, AC_FORMAT_FP16, true, 1, 0, false },
	{ "inf and NaN in both", 45, 77, 90, 1, 0, 1, 1, SINGLE, LATER,
	  { FILL_MIXED, FILL_MIXED }, AC_FORMAT_BF16, true, 3, -1, false },
	{ "any bits", 80, 80, 80, 1, 1, 0, 0, SINGLE, THROUGH,
	  { FILL_ANY, FILL_ANY }, AC_FORMAT_FP16, true, 1, 1, false },
	{ "strided", 30, 34, 38, 5, 0, 0, 1, STRIDED, TO_C,
	  { FILL_NORMAL, FILL_SOME_INF }, AC_FORMAT_FP16, true, 1, 1, false },
	{ "one B for all", 30, 34, 38, 7, 1, 0, 0, SHARED, THROUGH,
	  { FILL_MIXED, FILL_NORMAL }, AC_FORMAT_FP16, true, 1, 1, false },
	{ "pointer array", 20, 50, 60, 6, 0, 1, 2, ARRAY, THROUGH,
	  { FILL_NORMAL, FILL_MIXED }, AC_FORMAT_FP16, true, 1, .25f, false },
	{ "pointer array, bf16", 33, 33, 33, 4, 1, 1, 0, ARRAY, LATER,
	  { FILL_OUTLIER, FILL_NORMAL }, AC_FORMAT_BF16, true, 1, 0, false },
	{ "no cast", 90, 80, 70, 1, 0, 0, 0, SINGLE, NO_CAST,
	  { FILL_NORMAL, FILL_NORMAL }, AC_FORMAT_FP16, true, 1, 1, false },
	{ "large, nn", 1030, 2050, 777, 1, 0, 0, 0, SINGLE, TO_C,
	  { FILL_NORMAL, FILL_OUTLIER }, AC_FORMAT_FP16, true, 1, 1, true },
	{ "large, tn, some inf", 1500, 700, 2100, 1, 1, 0, 7, SINGLE, THROUGH,
	  { FILL_SOME_INF, FILL_NORMAL }, AC_FORMAT_FP16, true, 1, 1, true },
	{ "large, strided", 260, 130, 300, 40, 0, 1, 0, STRIDED, THROUGH,
	  { FILL_MIXED, FILL_NORMAL }, AC_FORMAT_BF16, true, 1, 1, true },
};

/* ---- Memory on both sides ---------------------------------------------- */

struct buffer {
	void   *host;
	address device;
	size_t  bytes;
};

enum { FROM, FROM_B, TO, TO_B, MARKS, MARKS_B, C, RESULT, STATE, HISTORY,
	BEFORE, SCALARS, POST, COUNTS, COPY, COMPARED,
	/* Addresses: each side has its own. */
	LIST = COMPARED, LIST_B, LIST_C, BUFFERS };
static const char *const names[COMPARED] = { "A", "B", "cast A", "cast B",
	"marks A", "marks B", "C", "result", "state", "history", "before",
	"scalars", "post", "counts", "copy" };

struct pair {
	const struct recast_case *c;
	struct buffer b[BUFFERS];
	struct ac_recast host, device;
	uint64_t random;
};

static uint32_t
next(struct pair *p)
{
	p->random = p->random * UINT64_C(6364136223846793005) +
	    UINT64_C(1442695040888963407);
	return (uint32_t)(p->random >> 32);
}

static float
any_float(uint32_t bits)
{
	float x;

	memcpy(&x, &bits, sizeof x);
	return x;
}

static float
element(struct pair *p, enum fill fill)
{
	const float x = ((float)next(p) - 0x1p31f) * 0x1p-30f;
	const uint32_t chance = next(p) % 997;

	switch (fill) {
	case FILL_NORMAL: return x;
	case FILL_TINY: return x * 1e-30f;
	case FILL_LARGE: return x * 1e6f;
	case FILL_OUTLIER: return chance ? x : x * 1e9f;
	case FILL_ZERO: return 0;
	case FILL_SOME_INF: return chance ? x : copysignf(INFINITY, x);
	case FILL_SOME_NAN: return chance ? x : NAN;
	case FILL_MIXED: return chance > 1 ? x : chance ? NAN : INFINITY;
	case FILL_ANY: return any_float(next(p));
	}
	return 0;
}

static void
allocate(struct pair *p, int which, size_t bytes)
{
	struct buffer *b = &p->b[which];

	b->bytes = bytes;
	b->host = aligned_alloc(64, (bytes + 64) / 64 * 64);
	device_must(!b->host, "aligned_alloc");
	memset(b->host, 0, bytes);
	b->device = device_upload(b->host, bytes);
}

static void
fill(struct pair *p, int which, enum fill how)
{
	float *x = p->b[which].host;

	for (size_t i = 0; i < p->b[which].bytes / sizeof *x; i++)
		x[i] = element(p, how);
	device_copy_in(p->b[which].device, x, p->b[which].bytes);
}

/* Addresses of the matrices of buffer `of`, those of one side in each copy. A
 * matrix may occur twice in an operand, never in C. */
static void
list(struct pair *p, int which, int of, size_t stride, bool repeated)
{
	const int batch = p->c->batch;
	float **host, **device;

	allocate(p, which, (size_t)batch * sizeof *host);
	host = p->b[which].host;
	device = malloc((size_t)batch * sizeof *device);
	device_must(!device, "malloc");
	for (int i = 0; i < batch; i++) {
		const size_t at = (size_t)(repeated && i == 2 ? 0 : i) * stride;

		host[i] = (float *)p->b[of].host + at;
		device[i] = (float *)device_at(p->b[of].device) + at;
	}
	device_copy_in(p->b[which].device, device,
	    (size_t)batch * sizeof *device);
	free(device);
}

static void *
place(const struct pair *p, int which, bool on_device)
{
	const struct buffer *b = &p->b[which];

	if (!b->bytes)
		return NULL;
	return on_device ? device_at(b->device) : b->host;
}

/* ---- One case ---------------------------------------------------------- */

static void
operand_make(struct pair *p, int i)
{
	const struct recast_case *c = p->c;
	const bool trans = i ? c->trans_b : c->trans_a;
	const int op_rows = i ? c->k : c->m, op_cols = i ? c->n : c->k;
	struct ac_recast_operand *o = &p->host.operand[i];
	const bool shared = i && c->form == SHARED;
	size_t size;

	o->rows = trans ? op_cols : op_rows;
	o->cols = trans ? op_rows : op_cols;
	o->ld = o->rows + c->extra_ld;
	o->batch = shared ? 1 : c->batch;
	size = (size_t)(o->ld * o->cols) + 5;
	o->stride = shared || c->batch == 1 ? 0 : (int64_t)size;
	o->lines_are_cols = (i == 1) != trans;
	o->ld_to = (o->rows + 7) / 8 * 8;
	o->cols_to = (o->cols + 7) / 8 * 8;
	allocate(p, FROM + i, size * (size_t)o->batch * sizeof(float));
	fill(p, FROM + i, c->fill[i]);
	if (c->form == ARRAY)
		list(p, LIST + i, FROM + i, size, true);
	if (c->way == NO_CAST)
		return;
	allocate(p, TO + i, (size_t)(o->ld_to * o->cols_to * o->batch) *
	    sizeof(uint16_t));
	allocate(p, MARKS + i, ((size_t)((o->lines_are_cols ? o->cols :
	    o->rows) * o->batch) + 15) / 16 * sizeof(uint32_t));
}

static void
outputs_make(struct pair *p)
{
	const struct recast_case *c = p->c;
	struct ac_recast_output *o = &p->host.output;
	const size_t size = (size_t)(c->m + c->extra_ld) * (size_t)c->n + 3;
	const float scalars[2] = { c->alpha, c->beta };

	o->ld = c->m + c->extra_ld;
	o->stride = c->batch > 1 ? (int64_t)size : 0;
	o->write_through = c->way == THROUGH;
	allocate(p, C, size * (size_t)c->batch * sizeof(float));
	if (c->form == ARRAY)
		list(p, LIST_C, C, size, false);
	if (c->way == THROUGH || c->way == LATER)
		allocate(p, RESULT, (size_t)c->m * (size_t)c->n *
		    (size_t)c->batch * sizeof(float));
	allocate(p, STATE, sizeof(struct ac_recast_state));
	allocate(p, HISTORY, sizeof(struct ac_recast_history));
	allocate(p, BEFORE, AC_SAMPLE_SIDE * AC_SAMPLE_SIDE * sizeof(float));
	allocate(p, SCALARS, sizeof scalars);
	memcpy(p->b[SCALARS].host, scalars, sizeof scalars);
	device_copy_in(p->b[SCALARS].device, scalars, sizeof scalars);
	allocate(p, POST, sizeof(struct ac_recast_post));
	allocate(p, COUNTS, 2 * AC_RANGE_BINS * sizeof(uint64_t));
	allocate(p, COPY, 2 * AC_RANGE_BINS * sizeof(uint64_t));
}

/* The same product, with the addresses of one side. */
static void
bind(const struct pair *p, bool on_device, bool scalars, struct ac_recast *r)
{
	const bool array = p->c->form == ARRAY;
	const float *at = scalars ? place(p, SCALARS, on_device) : NULL;

	*r = p->host;
	for (int i = 0; i < 2; i++) {
		r->operand[i].from = array ? NULL :
		    place(p, FROM + i, on_device);
		r->operand[i].array = place(p, LIST + i, on_device);
		r->operand[i].to = place(p, TO + i, on_device);
		r->operand[i].marks = place(p, MARKS + i, on_device);
	}
	r->output.c = array ? NULL : place(p, C, on_device);
	r->output.array = place(p, LIST_C, on_device);
	r->output.result = place(p, RESULT, on_device);
	r->alpha = (struct ac_cast_scalar){ p->c->alpha, 0, at };
	r->beta = (struct ac_cast_scalar){ p->c->beta, 0, at ? at + 1 : NULL };
	r->state = place(p, STATE, on_device);
	r->history = place(p, HISTORY, on_device);
	r->before = place(p, BEFORE, on_device);
	r->post = place(p, POST, on_device);
}

static void
pair_make(const struct recast_case *c, struct pair *p)
{
	memset(p, 0, sizeof *p);
	p->c = c;
	p->random = 1; /* the same numbers every time */
	p->host.m = c->m;
	p->host.n = c->n;
	p->host.k = c->k;
	p->host.batch = c->batch;
	p->host.trans[0] = (uint32_t)c->trans_a;
	p->host.trans[1] = (uint32_t)c->trans_b;
	p->host.format = (uint32_t)c->format;
	p->host.scaled = c->scaled;
	for (int i = 0; i < 2; i++)
		operand_make(p, i);
	outputs_make(p);
}

static void
pair_free(struct pair *p)
{
	for (int i = 0; i < BUFFERS; i++)
		if (p->b[i].bytes) {
			free(p->b[i].host);
			device_free(p->b[i].device);
		}
}

/* What differs is said; marks, sums and casts after each launch. */
static bool
is_same(const struct pair *p, const char *when, int call)
{
	bool same = true;

	device_wait();
	for (int i = 0; i < COMPARED; i++) {
		if (device_is_same(p->b[i].device, p->b[i].host,
		    p->b[i].bytes))
			continue;
		printf("# %s, call %d, after %s: %s differs\n", p->c->name,
		    call, when, names[i]);
		same = false;
	}
	return same;
}

static bool
step(struct pair *p, const char *twin,
    enum ac_kernels_status (*launch)(const struct ac_kernels *,
	const struct ac_recast *, ac_cu_stream),
    int call)
{
	void *arguments[] = { &p->host };

	run_twin(twin, arguments);
	MUST(launch(device_kernels, &p->device, device_stream));
	return is_same(p, twin, call);
}

static bool
ranges(struct pair *p)
{
	uint64_t *counts = p->b[COUNTS].host, *copy = p->b[COPY].host;
	void *arguments[] = { &p->host, &counts, &copy };

	run_twin("ac_recast_ranges", arguments);
	MUST(ac_recast_ranges(device_kernels, &p->device,
	    device_at(p->b[COUNTS].device), device_at(p->b[COPY].device),
	    device_stream));
	return is_same(p, "ac_recast_ranges", 0);
}

/* The next call's operand: by a power of two off the exponent remembered. */
static void
grow(struct pair *p, float factor)
{
	float *x = p->b[FROM].host;

	for (size_t i = 0; i < p->b[FROM].bytes / sizeof *x; i++)
		x[i] *= factor;
	device_copy_in(p->b[FROM].device, x, p->b[FROM].bytes);
}

static bool
one_call(struct pair *p, int call)
{
	static const float factors[] = { 1, 1, 512, 0x1p-20f };
	const enum way way = p->c->way;
	const struct ac_recast shared = p->host;
	bool same = true;

	grow(p, factors[call]);
	fill(p, C, FILL_NORMAL);
	p->host.sampled = call != 1;
	p->host.seed = (uint64_t)call * 12345 + 7;
	p->host.number = (uint64_t)call + 1;
	bind(p, true, call % 2, &p->device);
	bind(p, false, call % 2, &p->host);
	if (way != NO_CAST)
		same &= step(p, "ac_recast_cast", ac_recast_cast, call);
	same &= step(p, "ac_recast_settle", ac_recast_settle, call);
	/* Any product will do: it is the same on both sides. */
	fill(p, p->b[RESULT].bytes ? RESULT : C, FILL_NORMAL);
	same &= step(p, "ac_recast_finish", ac_recast_finish, call);
	if (way == LATER)
		same &= step(p, "ac_recast_write", ac_recast_write, call);
	same &= ranges(p);
	p->host = shared;
	return same;
}

enum { PART = 1 << 24, NEIGHBOURS = 16 };

/* The `index`-th number: with `all` its bits are the index, else it is one of
 * the 16 neighbours from 16 `index` on, which one varies. */
static float
number(uint32_t index, bool all)
{
	return any_float(all ? index : index * NEIGHBOURS +
	    (index * UINT32_C(0x9e3779b9) >> 28));
}

/* Part `part` of the numbers, cast in one pass: unscaled, under the least
 * exponent, below no limit. */
static bool
part_is_same(struct pair *pair, uint32_t part, bool all)
{
	const struct ac_recast_history history = { .known = 3,
		.exponent = { -113, -113 } };
	float *x = pair->b[FROM].host;
	bool same;

	for (uint32_t k = 0; k < PART; k++)
		x[k] = number(part * PART + k, all);
	device_copy_in(pair->b[FROM].device, x, PART * sizeof *x);
	memcpy(pair->b[HISTORY].host, &history, sizeof history);
	device_copy_in(pair->b[HISTORY].device, &history, sizeof history);
	same = step(pair, "ac_recast_cast", ac_recast_cast, (int)part);
	return step(pair, "ac_recast_settle", ac_recast_settle, (int)part) &&
	    same;
}

static void
numbers(enum ac_format format, bool all)
{
	static struct recast_case c = { "numbers", 1 << 12, 1, 1 << 12, 1,
		0, 0, 0, SINGLE, TO_C, { FILL_ZERO, FILL_ZERO },
		AC_FORMAT_FP16, false, 1, 0, true };
	const uint32_t parts = (uint32_t)((UINT64_C(1) << 32) / PART /
	    (all ? 1 : NEIGHBOURS));
	struct pair pair;
	char name[80];

	c.format = format;
	pair_make(&c, &pair);
	bind(&pair, true, false, &pair.device);
	bind(&pair, false, false, &pair.host);
	for (uint32_t part = 0; part < parts; part++) {
		snprintf(name, sizeof name, "%s number to %s, part %u of %u",
		    all ? "every" : "every 16th",
		    format == AC_FORMAT_FP16 ? "FP16" : "BF16", part + 1,
		    parts);
		ok(part_is_same(&pair, part, all), name);
	}
	pair_free(&pair);
}

int
main(int argc, char **argv)
{
	const bool quick = argc > 1 && !strcmp(argv[1], "-q");
	const bool all = argc > 1 && !strcmp(argv[1], "-f");

	device_start();
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct pair pair;
		bool same = true;

		if (quick && cases[i].large)
			continue;
		pair_make(&cases[i], &pair);
		for (int call = 0; call < 4; call++)
			same &= one_call(&pair, call);
		ok(same, cases[i].name);
		pair_free(&pair);
	}
	if (!quick) {
		numbers(AC_FORMAT_FP16, all);
		numbers(AC_FORMAT_BF16, all);
	}
	return done();
}
