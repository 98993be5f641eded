/* SPDX-License-Identifier: Apache-2.0 */
/* tests/gpu/scaler_gpu.c -- the gradient scaler's kernels on the device against
 * their CPU twins, bit for bit: tensors, flags, norms, states; then the speed
 * of unscaling against a copy of the same bytes (not with -q). TAP; 77 without
 * a device. On the emulated GPU it proves nothing but itself. */
#include "kernels/scaler/scaler_body.h"
#include "tests/gpu/device.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct shape {
	enum ac_scaler_dtype dtype;
	uint64_t count;
	unsigned offset;        /* elements after a border of 16 bytes */
};

static const struct shape small[] = {
	{ AC_SCALER_F32, 0, 0 }, { AC_SCALER_F32, 1, 3 },
	{ AC_SCALER_F16, 5, 1 }, { AC_SCALER_BF16, 17, 7 },
	{ AC_SCALER_F64, 3, 1 }, { AC_SCALER_F64, 1029, 0 },
	{ AC_SCALER_F32, 4096, 0 }, { AC_SCALER_F32, 4097, 1 },
	{ AC_SCALER_F16, 2 * AC_SCALER_CHUNK - 1, 3 },
	{ AC_SCALER_BF16, AC_SCALER_CHUNK, 0 }, { AC_SCALER_F32, 0, 1 },
};
static const struct shape large[] = {
	{ AC_SCALER_F32, 40000001, 0 }, { AC_SCALER_F16, 30000003, 1 },
	{ AC_SCALER_BF16, 20000000, 0 }, { AC_SCALER_F64, 10000001, 1 },
	{ AC_SCALER_F32, 9999999, 2 },
};
enum { MANY = 5000 };
static struct shape many[MANY];

/* The same on both sides: number 0 is the host, 1 the device. */
struct pair {
	size_t   count;
	struct ac_scaler_tensor *tensor[2]; /* both lists on the host */
	void   **block;
	address *device_block;
	size_t  *bytes;
	struct ac_scaler_state *state;
	struct ac_scaler_words *words;
	double  *partials;
	address device_state, device_words, device_partials, device_list;
	struct ac_scaler_pass pass[2];
};

static uint64_t random_state = 1;

static uint64_t
next(void)
{
	random_state = random_state * UINT64_C(6364136223846793005) +
	    UINT64_C(1442695040888963407);
	return random_state >> 32 ^ random_state << 29;
}

/* Any bits, or none that are not finite: the top bit of exponents cleared. */
static void
fill(const struct shape *shape, bool finite, unsigned char *data)
{
	const size_t bytes = (size_t)shape->count
	    << ac_scaler_shift(shape->dtype);
	const uint64_t masks[] = { 0xbfffffffbfffffff, 0xbfffffffffffffff,
		0xbfffbfffbfffbfff, 0xbfffbfffbfffbfff };

	for (size_t at = 0; at < bytes; at += 8) {
		const uint64_t bits = next()
		    & (finite ? masks[shape->dtype] : UINT64_MAX);

		memcpy(data + at, &bits, bytes - at < 8 ? bytes - at : 8);
	}
}

static void *
take(size_t bytes)
{
	void *block = calloc(1, bytes ? bytes : 1);

	device_must(!block, "calloc");
	return block;
}

static void
tensor_make(const struct shape *shape, bool finite, size_t i, struct pair *p)
{
	const size_t offset = (size_t)shape->offset
	    << ac_scaler_shift(shape->dtype);

	p->bytes[i] = ((size_t)shape->count << ac_scaler_shift(shape->dtype))
	    + offset;
	p->block[i] = aligned_alloc(16, (p->bytes[i] + 16) / 16 * 16);
	device_must(!p->block[i], "aligned_alloc");
	memset(p->block[i], 0x5a, (p->bytes[i] + 16) / 16 * 16);
	fill(shape, finite, (unsigned char *)p->block[i] + offset);
	p->device_block[i] = device_upload(p->block[i], p->bytes[i]);
	for (int side = 0; side < 2; side++) {
		p->tensor[side][i].count = shape->count;
		p->tensor[side][i].dtype = shape->dtype;
	}
	p->tensor[0][i].data = (char *)p->block[i] + offset;
	p->tensor[1][i].data = (char *)device_at(p->device_block[i]) + offset;
}

static void
pair_make(const struct shape *shapes, size_t count, bool finite,
    struct pair *p)
{
	uint64_t chunks = 0;

	memset(p, 0, sizeof *p);
	p->count = count;
	p->block = take(count * sizeof *p->block);
	p->device_block = take(count * sizeof *p->device_block);
	p->bytes = take(count * sizeof *p->bytes);
	for (int side = 0; side < 2; side++)
		p->tensor[side] = take(count * sizeof *p->tensor[side]);
	for (size_t i = 0; i < count; i++)
		tensor_make(&shapes[i], finite, i, p);
	for (int side = 0; side < 2; side++)
		chunks = ac_scaler_number_chunks(p->tensor[side], count);
	p->state = take(sizeof *p->state);
	p->words = take(sizeof *p->words);
	p->partials = take((size_t)chunks * sizeof *p->partials);
	p->device_state = device_upload(p->state, sizeof *p->state);
	p->device_words = device_upload(p->words, sizeof *p->words);
	p->device_partials = device_upload(p->partials, (size_t)chunks
	    * sizeof *p->partials);
	p->device_list = device_upload(p->tensor[1], count
	    * sizeof *p->tensor[1]);
	p->pass[0] = (struct ac_scaler_pass){ p->tensor[0], count, chunks,
		p->state, p->words, p->partials, 0, 0 };
	p->pass[1] = (struct ac_scaler_pass){ device_at(p->device_list), count,
		chunks, device_at(p->device_state), device_at(p->device_words),
		device_at(p->device_partials), 0, 0 };
}

static void
pair_free(struct pair *p)
{
	for (size_t i = 0; i < p->count; i++) {
		free(p->block[i]);
		device_free(p->device_block[i]);
	}
	free(p->block);
	free(p->device_block);
	free(p->bytes);
	free(p->tensor[0]);
	free(p->tensor[1]);
	free(p->state);
	free(p->words);
	free(p->partials);
	device_free(p->device_state);
	device_free(p->device_words);
	device_free(p->device_partials);
	device_free(p->device_list);
}

static bool
is_same(const struct pair *p, const char *after)
{
	bool same = true;

	device_wait();
	for (size_t i = 0; i < p->count; i++)
		if (!device_is_same(p->device_block[i], p->block[i],
		    p->bytes[i])) {
			printf("# after %s: tensor %zu differs\n", after, i);
			same = false;
		}
	if (!device_is_same(p->device_state, p->state, sizeof *p->state)
	    || !device_is_same(p->device_words, p->words, sizeof *p->words)
	    || !device_is_same(p->device_partials, p->partials,
	    (size_t)p->pass[0].chunk_count * sizeof *p->partials)) {
		printf("# after %s: state, words or partial sums differ\n",
		    after);
		same = false;
	}
	return same;
}

/* ---- Kernels ----------------------------------------------------------- */

static bool
set_scale(struct pair *p, float scale)
{
	struct ac_scaler_set set = { AC_SCALER_SET_SCALE, scale, 0, 0 };
	void *arguments[] = { &p->state, &set };

	run_twin("ac_scaler_set", arguments);
	MUST(ac_scaler_set_state(p->pass[1].state, &set, device_stream));
	return is_same(p, "set");
}

static bool
unscale(struct pair *p, uint32_t flags)
{
	void *arguments[] = { &p->pass[0] };

	p->pass[0].flags = p->pass[1].flags = flags;
	run_twin("ac_scaler_unscale", arguments);
	MUST(ac_scaler_unscale_pass(&p->pass[1], device_stream));
	return is_same(p, "unscale");
}

/* As many tensors at a time as go with a launch. */
static bool
multiply(struct pair *p)
{
	struct ac_scaler_product product = { .state = p->state };
	void *arguments[] = { &product };

	for (size_t at = 0; at < p->count; at += AC_SCALER_INLINE) {
		const size_t left = p->count - at, count =
		    left < AC_SCALER_INLINE ? left : AC_SCALER_INLINE;
		struct ac_scaler_tensor list[AC_SCALER_INLINE];

		memcpy(list, p->tensor[1] + at, count * sizeof *list);
		ac_scaler_number_chunks(list, count);
		MUST(ac_scaler_multiply(list, count, p->pass[1].state,
		    device_stream));
		memcpy(product.tensor, p->tensor[0] + at, count
		    * sizeof *list);
		product.tensor_count = count;
		product.chunk_count = ac_scaler_number_chunks(product.tensor,
		    count);
		run_twin("ac_scaler_multiply", arguments);
	}
	return is_same(p, "multiply");
}

static bool
norm(struct pair *p, uint32_t kind)
{
	void *arguments[] = { &p->pass[0], &kind };
	struct ac_scaler_close close = { p->words, &p->words->sum, 1, NULL,
		1.5f, kind };
	void *closing[] = { &close };
	bool same;

	run_twin("ac_scaler_norm", arguments);
	MUST(ac_scaler_norm_pass(&p->pass[1], kind, device_stream));
	same = is_same(p, "norm");
	run_twin("ac_scaler_close", closing);
	MUST(ac_scaler_norm_close(p->pass[1].words, &p->pass[1].words->sum, 1,
	    kind, 1.5f, NULL, device_stream));
	return same & is_same(p, "close");
}

static bool
clip(struct pair *p)
{
	void *arguments[] = { &p->pass[0] };

	run_twin("ac_scaler_clip", arguments);
	MUST(ac_scaler_clip_pass(&p->pass[1], device_stream));
	return is_same(p, "clip");
}

static bool
fold_and_update(struct pair *p, const struct ac_scaler_rule *rule)
{
	struct ac_scaler_rule copy = *rule;
	const float *flags = &p->words->found_inf;
	uint64_t count = 1;
	void *folding[] = { &p->words, &p->state, &flags, &count };
	void *arguments[] = { &p->state, &copy };

	run_twin("ac_scaler_fold", folding);
	MUST(ac_scaler_fold(p->pass[1].words, p->pass[1].state,
	    &p->pass[1].words->found_inf, 1, device_stream));
	run_twin("ac_scaler_update", arguments);
	MUST(ac_scaler_update_state(p->pass[1].state, rule, device_stream));
	return is_same(p, "update");
}

/* Number `x` into number `y`, of the types that fit. */
static bool
guarded_sum(struct pair *p, size_t x, size_t y)
{
	struct ac_scaler_sum sum[2];
	void *arguments[] = { &sum[0] };

	for (int side = 0; side < 2; side++) {
		const struct ac_scaler_tensor *t = p->tensor[side];

		sum[side] = (struct ac_scaler_sum){ t[x].data, t[y].data,
			t[x].count < t[y].count ? t[x].count : t[y].count,
			t[x].dtype, t[y].dtype, &p->pass[side].words->found_inf,
			{ -1.75f, 0, NULL } };
	}
	run_twin("ac_scaler_add", arguments);
	MUST(ac_scaler_guarded_sum(&sum[1], device_stream));
	return is_same(p, "guarded sum");
}

/* ---- Cases ------------------------------------------------------------- */

static void
all_kernels(const struct shape *shapes, size_t count, bool finite,
    const char *name)
{
	static const float scales[] = { 65536, 3, 1, 0x1p-149f, 1e38f };
	const struct ac_scaler_rule rule = { 1.1, .7, 0, INFINITY, 2, 2, 0 };
	bool same = true;
	struct pair p;

	pair_make(shapes, count, finite, &p);
	for (uint32_t i = 0; i < 5; i++) {
		same &= set_scale(&p, scales[i]);
		same &= unscale(&p, AC_SCALER_PASS_CHECK_ONLY);
		same &= multiply(&p);
		same &= unscale(&p, i % 2 ? AC_SCALER_PASS_CHECK_AFTER
		    | AC_SCALER_PASS_FOLD : 0);
		same &= norm(&p, i % 3);
		same &= clip(&p);
		same &= fold_and_update(&p, &rule);
	}
	ok(same, name);
	pair_free(&p);
}

static void
one_bad_element(void)
{
	bool same = true;
	struct pair p;

	for (size_t i = 0; i < sizeof small / sizeof *small; i++) {
		const uint64_t bits = UINT64_C(0x7ff07c007f800000);
		const size_t size = (size_t)1
		    << ac_scaler_shift(small[i].dtype);
		/* inf of the type is in some bytes of those, from the top. */
		const size_t from[] = { 0, 0, 4, 2 };
		uint64_t infinity = bits;

		if (!small[i].count)
			continue;
		if (small[i].dtype == AC_SCALER_F64)
			infinity = UINT64_C(0x7ff0000000000000);
		pair_make(small, sizeof small / sizeof *small, true, &p);
		memcpy((char *)p.tensor[0][i].data + (small[i].count - 1)
		    * size, (char *)&infinity + from[small[i].dtype], size);
		device_copy_in(p.device_block[i], p.block[i], p.bytes[i]);
		same &= set_scale(&p, 2) & unscale(&p, 0);
		same &= p.words->found_inf == 1;
		pair_free(&p);
	}
	pair_make(small, sizeof small / sizeof *small, true, &p);
	same &= set_scale(&p, 2) & unscale(&p, 0) & (p.words->found_inf == 0);
	pair_free(&p);
	ok(same, "an inf in any tensor's last element");
}

static void
sums(void)
{
	static const struct shape shapes[] = {
		{ AC_SCALER_F32, 100003, 0 }, { AC_SCALER_F32, 100001, 1 },
		{ AC_SCALER_F16, 100002, 0 }, { AC_SCALER_BF16, 99999, 3 },
		{ AC_SCALER_F64, 50001, 0 }, { AC_SCALER_F64, 50000, 1 },
		{ AC_SCALER_F32, 100000, 0 },
	};
	bool same = true;
	struct pair p;

	pair_make(shapes, sizeof shapes / sizeof *shapes, false, &p);
	for (int found = 0; found < 2; found++) {
		p.words->found_inf = (float)found;
		device_copy_in(p.device_words, p.words, sizeof *p.words);
		same &= guarded_sum(&p, 0, 6) & guarded_sum(&p, 0, 1);
		same &= guarded_sum(&p, 2, 6) & guarded_sum(&p, 3, 1);
		same &= guarded_sum(&p, 4, 5);
	}
	pair_free(&p);
	ok(same, "guarded sums");
}

/* ---- Speed ------------------------------------------------------------- */

enum { TURNS = 20 };
static const size_t speed_bytes = (size_t)1 << 30;

/* Milliseconds of a turn. `copy`: of that, else of unscaling. */
static float
turns(const struct ac_scaler_pass *pass, ac_cu_result (*copy)(address, address,
    size_t, ac_cu_stream), address to, address from)
{
	const struct ac_driver *driver = ac_driver_get();
	ac_cu_event event[2];
	float ms = 0;

	for (int i = 0; i < 2; i++)
		MUST(driver->cuEventCreate(&event[i], 0));
	for (int turn = -3; turn < TURNS; turn++) {
		if (!turn)
			MUST(driver->cuEventRecord(event[0], device_stream));
		if (copy)
			MUST(copy(to, from, speed_bytes, device_stream));
		else
			MUST(ac_scaler_unscale_pass(pass, device_stream));
	}
	MUST(driver->cuEventRecord(event[1], device_stream));
	MUST(driver->cuEventSynchronize(event[1]));
	MUST(driver->cuEventElapsedTime(&ms, event[0], event[1]));
	for (int i = 0; i < 2; i++)
		MUST(driver->cuEventDestroy(event[i]));
	return ms / TURNS;
}

static void
speed(enum ac_scaler_dtype dtype, const char *name)
{
	const struct shape shape = { dtype, speed_bytes
		>> ac_scaler_shift(dtype), 0 };
	ac_cu_result (*copy)(address, address, size_t, ac_cu_stream);
	void *found = dlsym(dlopen("libcuda.so.1", RTLD_NOW),
	    "cuMemcpyDtoDAsync_v2");
	float ours, theirs;
	address other;
	struct pair p;

	device_must(!found, "cuMemcpyDtoDAsync");
	memcpy(&copy, &found, sizeof copy);
	pair_make(&shape, 1, true, &p);
	set_scale(&p, 1.0000001f);
	other = device_upload(p.block[0], speed_bytes);
	theirs = turns(NULL, copy, other, p.device_block[0]);
	ours = turns(&p.pass[1], NULL, 0, 0);
	printf("# %s: unscaling %.0f GB/s, a copy %.0f GB/s, ratio %.3f\n",
	    name, 2e-6 * (double)speed_bytes / (double)ours,
	    2e-6 * (double)speed_bytes / (double)theirs,
	    (double)(theirs / ours));
	ok(theirs / ours >= 0.85f, name);
	device_free(other);
	pair_free(&p);
}

static bool
is_emulated(void)
{
	char name[256] = "";
	int device;

	MUST(ac_driver_get()->cuCtxGetDevice(&device));
	MUST(ac_driver_get()->cuDeviceGetName(name, sizeof name, device));
	return strstr(name, "(emulated)") != NULL;
}

int
main(int argc, char **argv)
{
	const bool quick = argc > 1 && !strcmp(argv[1], "-q");

	device_start();
	for (int i = 0; i < MANY; i++)
		many[i] = (struct shape){ i % AC_SCALER_DTYPES,
		    (uint64_t)(i % 7 * (i % 31)), (unsigned)i % 8 };
	all_kernels(small, sizeof small / sizeof *small, true, "finite");
	all_kernels(small, sizeof small / sizeof *small, false, "any bits");
	all_kernels(small, 0, true, "no tensors");
	all_kernels(many, quick ? 300 : MANY, true, "many tensors");
	one_bad_element();
	sums();
	if (!quick && !is_emulated()) {
		/* The twins of the large ones take longest: last. */
		speed(AC_SCALER_F32, "FP32 at 0.85 of a copy's speed");
		speed(AC_SCALER_F16, "FP16 at 0.85 of a copy's speed");
		all_kernels(large, sizeof large / sizeof *large, true,
		    "large, finite");
		all_kernels(large, sizeof large / sizeof *large, false,
		    "large, any bits");
	}
	return done();
}
