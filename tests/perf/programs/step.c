/* SPDX-License-Identifier: Apache-2.0 */
/* tests/perf/programs/step.c PTX [BLOCKS [ROUNDS [THREADS]]] -- the kernels of
 * a training step, interpreted: GPT-2's sizes (124M), 4 x 64 tokens, products
 * left out. Of each grid at most BLOCKS blocks run (0: all), ROUNDS times.
 * Prints what the whole step has: instructions of warps, which are exact for a
 * number of blocks, and for information times. THREADS as of struct
 * ptx_options. */
#include "emulator/ptx/ptx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	BATCH = 4, LENGTH = 64, ROWS = BATCH * LENGTH, WIDTH = 768, HEADS = 12,
	LAYERS = 12, WORDS = 50257, STRIDE = 50304, COUNT = ROWS * WIDTH,
	ATTENTION = BATCH * HEADS * LENGTH, PARAMETERS = 124475904,
	TENSORS = 6, MOST = ROWS * STRIDE, PARAMS = 12, PATTERN = 99991,
	APART = 61
};

static float *tensor[TENSORS];
static int *ids;
static int batch = BATCH, length = LENGTH, rows = ROWS, width = WIDTH,
    heads = HEADS, head = WIDTH / HEADS, words = WORDS, stride = STRIDE,
    count = COUNT, count4 = 4 * COUNT, width3 = 3 * WIDTH, width4 = 4 * WIDTH,
    attention = ATTENTION, forward = 0, back = 1;
static long adapted = MOST;
static float scale = .125f, share = 1.f / ROWS, rate = 1e-4f, beta1 = .9f,
    beta2 = .999f, one = 1, tiny = 1e-8f, decay = .01f;

#define A &tensor[0]
#define B &tensor[1]
#define C &tensor[2]
#define D &tensor[3]
#define E &tensor[4]
#define F &tensor[5]

/* `launches` in a step. */
static const struct row {
	const char *kernel;
	unsigned blocks, blocks_y, threads, launches;
	size_t shared;
	void *params[PARAMS];
} all[] = {
	{ "embed", COUNT / 4 / 256, 1, 256, 1, 0, { A, &ids, B, C, &rows,
	    &length, &width } },
	{ "normalize", ROWS / 16, 1, 512, 2 * LAYERS + 1, 0, { A, B, C, D, E,
	    F, &rows, &width } },
	{ "part_heads", COUNT / 256, 1, 256, LAYERS, 0, { A, B, C, D, &batch,
	    &length, &heads, &head } },
	{ "attend", ATTENTION / 8, 1, 256, LAYERS, 0, { A, D, &scale,
	    &attention, &length } },
	{ "join_heads", COUNT / 256, 1, 256, LAYERS, 0, { A, D, &batch,
	    &length, &heads, &head, &forward } },
	{ "add", COUNT / 256, 1, 256, 2 * LAYERS, 0, { A, B, C, &count } },
	{ "gelu", 4 * COUNT / 128, 1, 128, LAYERS, 0, { A, D, &count4 } },
	{ "classify", ROWS, 1, 1024, 1, 0, { E, A, &ids, &words, &stride,
	    &share } },
	{ "gelu_back", 4 * COUNT / 128, 1, 128, LAYERS, 0, { A, B, D,
	    &count4 } },
	{ "bias_back", 3 * WIDTH / 32, 1, 1024, LAYERS, 0, { A, D, &rows,
	    &width3 } },
	{ "bias_back", 4 * WIDTH / 32, 1, 1024, LAYERS, 0, { A, D, &rows,
	    &width4 } },
	{ "bias_back", WIDTH / 32, 1, 1024, 2 * LAYERS, 0, { A, D, &rows,
	    &width } },
	{ "normalize_back", ROWS / 16, 1, 512, 2 * LAYERS + 1, 8 * WIDTH, { A,
	    B, C, D, E, F, F, F, &rows, &width } },
	{ "join_heads", COUNT / 256, 1, 256, LAYERS, 0, { A, D, &batch,
	    &length, &heads, &head, &back } },
	{ "attend_back", LENGTH, BATCH * HEADS, 256, LAYERS, 0, { A, D, E,
	    &scale, &length } },
	{ "part_heads_back", COUNT / 256, 1, 256, LAYERS, 0, { A, B, C, D,
	    &batch, &length, &heads, &head } },
	{ "embed_back", COUNT / 256, 1, 256, 1, 0, { A, B, D, &ids, &rows,
	    &length, &width } },
	{ "adamw", PARAMETERS / 512, 1, 512, 1, 0, { A, B, C, D, &adapted,
	    &rate, &beta1, &beta2, &one, &one, &tiny, &decay } },
};

static double
now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static struct ptx_module *
load(const char *path)
{
	static char text[1 << 20], message[256];
	FILE *file = fopen(path, "r");
	struct ptx_module *m;
	size_t size;

	if (!file) {
		perror(path);
		exit(99);
	}
	size = fread(text, 1, sizeof text, file);
	fclose(file);
	m = ptx_module_load(text, size, message, sizeof message);
	if (!m) {
		printf("# %s\n", message);
		exit(99);
	}
	return m;
}

/* Small numbers, a multiple of 2^-23 each; second moments are not negative. */
static void
fill(struct ptx_region *regions)
{
	uint32_t seed = 7;

	ids = calloc(ROWS, sizeof *ids);
	for (int i = 0; i < ROWS && ids; i++)
		ids[i] = i * 7919 % (MOST / WIDTH);
	for (int k = 0; k < TENSORS; k++) {
		float *x = aligned_alloc(64, sizeof *x * MOST);

		if (!x || !ids)
			exit(99);
		for (size_t i = 0; i < PATTERN; i++) {
			seed = seed * 1664525 + 1013904223;
			x[i] = (float)(seed >> 9) / (1 << 23) - (k == 3 ? 0
			    : .5f);
		}
		for (size_t i = PATTERN; i < MOST; i += PATTERN)
			memcpy(x + i, x, sizeof *x * (MOST - i < PATTERN
			    ? MOST - i : PATTERN));
		tensor[k] = x;
		regions[k] = (struct ptx_region){ (uintptr_t)x,
			(uintptr_t)(x + MOST), false, "tensor" };
	}
	regions[TENSORS] = (struct ptx_region){ (uintptr_t)ids,
		(uintptr_t)(ids + ROWS), false, "ids" };
}

/* Of a part of all tensors: the same arithmetic has the same. */
static uint64_t
digest(void)
{
	uint64_t sum = 0;

	for (int k = 0; k < TENSORS; k++)
		for (size_t i = 0; i < MOST; i += APART) {
			uint32_t bits;

			memcpy(&bits, &tensor[k][i], sizeof bits);
			sum = (sum ^ bits) * 0x9e3779b97f4a7c15;
			sum ^= sum >> 29;
		}
	return sum;
}

static int
by_address(const void *a, const void *b)
{
	const struct ptx_region *x = a, *y = b;

	return x->low < y->low ? -1 : x->low > y->low;
}

int
main(int argc, char **argv)
{
	const unsigned most = argc > 2 ? (unsigned)atoi(argv[2]) : 64;
	const int rounds = argc > 3 ? atoi(argv[3]) : 1;
	struct ptx_module *m = load(argc > 1 ? argv[1] : "");
	struct ptx_region regions[TENSORS + 1];
	const struct ptx_options options = { .report = stdout, .bounds = true,
		.region = regions, .region_count = TENSORS + 1,
		.threads = argc > 4 ? (unsigned)atoi(argv[4]) : 0 };
	double instructions = 0, seconds = 0, walls = 0;
	uint64_t ran = 0;

	fill(regions);
	qsort(regions, TENSORS + 1, sizeof *regions, by_address);
	for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
		const struct row *r = &all[k];
		const unsigned part = most && r->blocks > most ? most
		    : r->blocks;
		const unsigned grid[3] = { part, r->blocks_y, 1 };
		const unsigned block[3] = { r->threads, 1, 1 };
		const double times = (double)r->blocks / part * r->launches;
		struct ptx_result result = {0};
		double t = now(CLOCK_PROCESS_CPUTIME_ID);
		double wall = now(CLOCK_MONOTONIC);
		bool good = true;

		for (int i = 0; i < rounds; i++)
			good &= ptx_launch(ptx_module_kernel(m, r->kernel),
			    grid, block, r->shared, (void **)(uintptr_t)
			    r->params, &options, &result);
		t = now(CLOCK_PROCESS_CPUTIME_ID) - t;
		walls += (now(CLOCK_MONOTONIC) - wall) / rounds * times;
		for (int i = 0; i < PTX_FINDINGS; i++)
			good &= !result.findings[i];
		if (!good) {
			printf("# %s: failed\n", r->kernel);
			return 1;
		}
		ran += result.instructions;
		instructions += (double)result.instructions / rounds * times;
		seconds += t / rounds * times;
		printf("# %-16s %8.2f M instructions of warps, %6.1f M/s, "
		    "%6.3f s\n", r->kernel, (double)result.instructions /
		    rounds * times / 1e6, (double)result.instructions / t /
		    1e6, t / rounds * times);
	}
	printf("# a step: %.1f M instructions of warps, %.2f s of processors, "
	    "%.2f s\nran %llu\ndigest %016llx\n", instructions / 1e6,
	    seconds, walls, (unsigned long long)ran,
	    (unsigned long long)digest());
	ptx_module_free(m);
	return 0;
}
