/* SPDX-License-Identifier: Apache-2.0 */
/* tests/gpu/verified_gpu.c [-q] -- the kernels of a verified product on the
 * device against their CPU twins, bit for bit in all they write: every family
 * of data, plain and apart, in batches, by addresses, of sizes that -q leaves
 * out; and the counting of exponents. TAP; 77 without a device. On the emulated
 * GPU it proves nothing but itself, unless AUTOCAST_EMU_KERNELS=ptx runs the
 * kernels' own text: minutes. */
#include "kernels/recast/recast_ranges.h"
#include "tests/gpu/device.h"
#include "tests/unit/kernels/verified_cases.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 40, BATCH = 3, LARGE = 2 /* families, for the host's sake */ };

static const struct shape {
	const char *name;
	int m, n, k;
	struct verified_case c;
	float alpha, beta;
	bool large;             /* not with -q */
} shapes[] = {
	{ "plain", 70, 66, 130, { .extra = 1 }, 1, 0, false },
	{ "tn, by 16 bytes", 128, 64, 64, { .trans = { true, false } }, 1.5f,
	  0, false },
	{ "nt, BF16", 33, 65, 127, { .trans = { false, true }, .extra = 3,
	  .format = AC_FORMAT_BF16, .tol = 1e-2f }, -2, 0, false },
	{ "three matrices by addresses", 40, 50, 60, { .batch = BATCH,
	  .array = true }, 1, 0, false },
	{ "GELU, bias, aux", 64, 96, 100, { .place = VERIFIED_APART,
	  .activation = AC_ACTIVATION_GELU, .bias = ROW_BIAS, .aux = true },
	  1, 0.5f, false },
	{ "gradient of ReLU, sums of rows", 100, 70, 90, { .place
	  = VERIFIED_IN_C, .activation = AC_ACTIVATION_DRELU, .sums = true,
	  .on_device = true }, 1, 1, false },
	{ "two parts of one operand", 60, 50, 1030, { .trans = { true, false },
	  .format = AC_FORMAT_FP16X2, .tol = 1e-5f }, 1, 0, false },
	{ "three terms, two chunks", 70, 66, 1000, { .extra = 1,
	  .format = AC_FORMAT_BF16X3, .tol = 1e-5f }, 1.5f, 0, false },
	{ "six terms, apart", 33, 65, 530, { .trans = { false, true },
	  .format = AC_FORMAT_BF16X6, .tol = 1e-5f, .place = VERIFIED_APART },
	  1, -0.3f, false },
	{ "large", 1030, 777, 650, { .trans = { true, true } }, 1, 0, true },
	{ "large, apart", 700, 900, 2100, { .place = VERIFIED_IN_D, .bias
	  = COL_BIAS }, 1, -0.3f, true },
};

/* ---- Memory on both sides ---------------------------------------------- */

static struct piece {
	const char *name;       /* NULL: differs, as addresses do, and scratch
	                         * that the twins have no use for */
	const void *host;
	address device;
	size_t bytes;
	bool any_nan;           /* sums of the program's numbers: nobody reads
	                         * a NaN's payload */
} pieces[MOST];
static int count;

/* Where the device has a copy of it. */
static void *
mirror(const char *name, const void *host, size_t bytes, bool any_nan)
{
	struct piece *p = &pieces[count++];

	if (!host) {
		count--;
		return NULL;
	}
	device_must(count > MOST, "room for pieces");
	*p = (struct piece){ name, host, device_upload(host, bytes), bytes,
		any_nan };
	return device_at(p->device);
}

/* The addresses of matrices in `base`, of which the device has `copy`. */
static void *
list(const float *const *from, const float *base, float *copy, int64_t batch)
{
	const float *there[8];

	for (int64_t b = 0; b < batch; b++)
		there[b] = copy + (from[b] - base);
	return mirror(NULL, there, (size_t)batch * sizeof *there, false);
}

static bool
is_nan(uint32_t bits)
{
	return (bits & 0x7fffffff) > 0x7f800000;
}

/* The first word that differs, and how it does, in `said` if one does. */
static bool
is_alike(const struct piece *p, char *said, size_t size)
{
	uint32_t *there = malloc(p->bytes + 4);
	const uint32_t *here = p->host;
	size_t i = 0, words = p->bytes / 4;

	device_must(!there, "malloc");
	device_copy_out(there, p->device, p->bytes);
	while (i < words && (there[i] == here[i] || (p->any_nan
	    && is_nan(there[i]) && is_nan(here[i]))))
		i++;
	if (i < words)
		snprintf(said, size, "word %zu: %08x, twin %08x", i, there[i],
		    here[i]);
	else if (memcmp((const char *)there + 4 * words,
	    (const char *)here + 4 * words, p->bytes % 4))
		snprintf(said, size, "last bytes");
	else
		said = NULL;
	free(there);
	return !said;
}

static bool
are_alike(const char *name, const char *when)
{
	bool same = true;
	char said[64];

	device_wait();
	for (int i = 0; i < count; i++) {
		if (!pieces[i].name || is_alike(&pieces[i], said, sizeof said))
			continue;
		printf("# %s: after %s %s (piece %d) differs, %s\n", name,
		    when, pieces[i].name, i, said);
		same = false;
	}
	return same;
}

static void
forget_pieces(void)
{
	while (count)
		device_free(pieces[--count].device);
}

/* ---- Products ---------------------------------------------------------- */

static void
mirror_operand(const struct verified_data *d, int side, struct ac_verified *v)
{
	const struct ac_verified_operand *o = &d->v.operand[side];
	const size_t words = (size_t)(ac_verified_words(o->lines) * v->batch);
	struct ac_verified_operand *p = &v->operand[side];
	float *from = mirror("an operand", d->from[side], (size_t)(o->stride
	    * v->batch) * sizeof *from, false);

	p->from = o->from ? from : NULL;
	p->array = list(d->pointers[side], d->from[side], from, v->batch);
	p->to = mirror("a cast", o->to, d->to_count[side] * sizeof *o->to,
	    false);
	p->sums = mirror("sums", o->sums, (size_t)(AC_VERIFIED_VECTORS * v->k
	    * v->batch) * sizeof *o->sums, true);
	p->parts = mirror("parts", o->parts, d->part_count[side]
	    * sizeof *o->parts, true);
	p->flags = mirror("flags", o->flags, words * sizeof *o->flags, false);
	p->words = mirror("words", o->words, words * sizeof *o->words, true);
}

static void
mirror_tail(const struct verified_data *d, struct ac_verified *v)
{
	const struct ac_verified_tail *t = &d->v.output.tail;
	struct ac_verified_tail *u = &v->output.tail;

	u->bias = mirror("the bias", t->bias, (size_t)(t->bias_stride
	    * v->batch) * sizeof *t->bias, false);
	u->aux = mirror("aux", t->aux, d->aux_count * sizeof *d->aux, false);
	u->sums = mirror("sums of rows", t->sums, (size_t)(t->sums_stride
	    * v->batch) * sizeof *t->sums, false);
	u->partials = mirror(NULL, t->partials, d->partial_count
	    * sizeof *t->partials, true);
	u->arrived = mirror("arrived", t->arrived, d->arrived_count
	    * sizeof *t->arrived, false);
}

static void
mirror_output(const struct verified_data *d, struct ac_verified *v)
{
	const struct ac_verified_output *o = &d->v.output;
	struct ac_verified_output *p = &v->output;
	float *c = mirror("the product", d->c, d->c_count * sizeof *c, false);
	float *apart = d->d ? mirror("D", d->d, d->d_count * sizeof *apart,
	    false) : c;
	float *added;

	p->product = o->product ? c : NULL;
	p->array = list((const float *const *)d->pointers_c, d->c, c,
	    v->batch);
	if (!o->d && !o->d_array)
		return;
	p->d = o->d ? apart : NULL;
	p->d_array = d->d ? list((const float *const *)d->pointers_d, d->d,
	    apart, v->batch) : p->array;
	added = mirror("C", d->added, (size_t)(o->c_stride * v->batch)
	    * sizeof *added, false);
	if (o->c_array == d->pointers_old) {
		p->c = o->c ? added : NULL;
		p->c_array = list(d->pointers_old, d->added, added, v->batch);
	} else { /* it is D */
		p->c = p->d;
		p->c_array = (const float *const *)p->d_array;
	}
	mirror_tail(d, v);
}

/* The same product with the device's addresses. */
static struct ac_verified
mirror_product(const struct verified_data *d)
{
	struct ac_verified v = d->v;
	const float *scalars = mirror("scalars", d->scalars, sizeof d->scalars,
	    false);

	mirror_operand(d, 0, &v);
	mirror_operand(d, 1, &v);
	mirror_output(d, &v);
	if (v.alpha.device)
		v.alpha.device = scalars;
	if (v.output.beta.device)
		v.output.beta.device = scalars + 1;
	v.state = mirror("the state", d->v.state, sizeof *v.state, false);
	v.record = mirror("the record", d->v.record, sizeof *v.record, false);
	v.post = mirror("the post", d->v.post, sizeof *v.post, false);
	v.spread = mirror(NULL, d->v.spread, d->spread_count
	    * sizeof *v.spread, true);
	v.arrived = mirror("arrived of mend", d->v.arrived, d->spread_words
	    * sizeof *v.arrived, false);
	return v;
}

static bool
step(const char *name, const char *twin,
    enum ac_kernels_status (*launch)(const struct ac_kernels *,
	const struct ac_verified *, ac_cu_stream),
    struct verified_data *host, const struct ac_verified *device)
{
	verified_run(twin, host);
	MUST(launch(device_kernels, device, device_stream));
	return are_alike(name, twin);
}

/* The casts' product of the host serves both; `off` of its outputs are wrong,
 * which verify is to see and mend to mend. */
static bool
one_call(const char *name, struct verified_data *host,
    const struct ac_verified *device, int off)
{
	bool same = step(name, "ac_verified_probe", ac_verified_probe, host,
	    device);

	same &= step(name, "ac_verified_cast", ac_verified_cast, host,
	    device);
	verified_multiply(host);
	for (int i = 0; i < off; i++)
		*verified_c_at(host, 0, i * 7 % device->m, i) *= 3;
	for (int i = 0; i < count; i++)
		if (pieces[i].host == host->c)
			device_copy_in(pieces[i].device, host->c,
			    pieces[i].bytes);
	same &= step(name, "ac_verified_verify", ac_verified_verify, host,
	    device);
	return same & step(name, "ac_verified_mend", ac_verified_mend, host,
	    device);
}

static bool
take_shape(const struct shape *s, int family)
{
	struct verified_problem p[BATCH];
	struct verified_data host;
	struct ac_verified device;
	char name[96];
	bool same = true;

	snprintf(name, sizeof name, "%s, %s", s->name,
	    verified_family_names[family]);
	for (int b = 0; b < BATCH; b++) {
		verified_problem_make((family + b) % VERIFIED_FAMILIES, s->m,
		    s->n, s->k, (uint64_t)(family + 1), &p[b]);
		p[b].alpha = s->alpha;
		p[b].beta = s->beta;
	}
	verified_data_make(&s->c, p, &host);
	host.v.post = &host.post;
	verified_data_spread(&host);
	device = mirror_product(&host);
	for (int call = 0; call < 2; call++)
		same &= one_call(name, &host, &device, 2 * call);
	forget_pieces();
	verified_data_free(&host);
	for (int b = 0; b < BATCH; b++)
		verified_problem_free(&p[b]);
	return same;
}

/* ---- Exponents --------------------------------------------------------- */

static bool
ranges(void)
{
	enum { SIDE = 700, LD = 703 };
	static float x[SIDE * LD];
	static uint64_t counts[2 * AC_RANGE_BINS], copy[2 * AC_RANGE_BINS];
	uint32_t arrived = 0, bits = 1;
	struct ac_recast_matrices m = { .from = x, .rows = SIDE, .cols = SIDE,
		.ld = LD, .batch = 1 };
	struct ac_recast_ranges host = { { m, m }, counts, copy, &arrived };
	struct ac_recast_ranges device = host;
	void *arguments[] = { &host };
	bool same;

	for (int i = 0; i < SIDE * LD; i++) {
		bits = bits * 1664525u + 1013904223u;
		memcpy(&x[i], &bits, sizeof bits);
	}
	m.from = mirror("an operand", x, sizeof x, false);
	device.operand[0] = device.operand[1] = m;
	device.counts = mirror("counts", counts, sizeof counts, false);
	device.copy = mirror("their copy", copy, sizeof copy, false);
	device.arrived = mirror("the word", &arrived, sizeof arrived, false);
	run_twin("ac_recast_ranges", arguments);
	MUST(ac_recast_ranges(device_kernels, &device, device_stream));
	same = are_alike("exponents", "counting");
	forget_pieces();
	return same;
}

int
main(int argc, char **argv)
{
	const bool quick = argc > 1 && !strcmp(argv[1], "-q");

	device_start();
	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
		bool same = true;

		if (shapes[i].large && quick)
			continue;
		for (int f = 0; f < (shapes[i].large ? LARGE
		    : (int)VERIFIED_FAMILIES); f++)
			same &= take_shape(&shapes[i], f);
		ok(same, shapes[i].name);
	}
	ok(ranges(), "exponents are counted");
	return done();
}
