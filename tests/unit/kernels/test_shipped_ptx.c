/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/kernels/test_shipped_ptx.c [TURNS [SEED]] -- the PTX that ships is
 * run, by the interpreter of the emulated GPU, against the CPU twins: the same
 * bits in all that is written, and no finding. lockstep*.c have the cases. TAP.
 *
 * Each launch is checked: every address against what the kernels' headers
 * let them touch, alignment, shared memory, barriers, shuffles. Warps and
 * blocks change places at random, what nobody has set holds noise, and the
 * NaNs of arithmetic have any payload. With SHIPPED_MISSED set, the lines that
 * no launch has run are printed. SHIPPED_RECAST, SHIPPED_SCALER:
 * files with other texts (ptx_mutants.sh). */
#include "tests/unit/kernels/lockstep.h"
#include "tests/unit/kernels/shipped.h"
#include "tests/unit/kernels/verified_cases.h"

#include "kernels/load/packed.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* The texts as libautocast.so has them. */
extern const unsigned char ac_recast_ptx[], ac_recast_ptx_end[],
    ac_scaler_ptx[], ac_scaler_ptx_end[];

enum { SINGLES = 200, BLOCK = 256 };
/* Fewer where each access of the interpreter is checked: a turn takes far
 * longer. */
#ifdef __SANITIZE_ADDRESS__
enum { TURNS = 12 };
#else
enum { TURNS = 80 };
#endif
/* Of a block: a hundred times what the longest of them needs. */
enum { MOST_INSTRUCTIONS = 1 << 26 };
/* Percent of each text that so many turns run: the rest are sizes from 2^32 on,
 * jumps that are never taken, rare kinds of batches. */
enum { LEAST_RUN = 95, ENOUGH_TURNS = 80 };

static struct {
	const char *name;
	struct ptx_module *module;
} texts[] = { { "recast.ptx", NULL }, { "scaler.ptx", NULL } };
enum { TEXTS = sizeof texts / sizeof *texts };
static struct ptx_result total;
static uint64_t launches, seed;

uint64_t
shipped_any(void)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return seed >> 33;
}

static struct ptx_function *
kernel_of(const char *name)
{
	struct ptx_function *kernel = NULL;

	for (int i = 0; i < TEXTS && !kernel; i++)
		kernel = ptx_module_kernel(texts[i].module, name);
	return kernel;
}

void
shipped_launch(const char *name, const unsigned grid[3], unsigned threads,
    void **params)
{
	const unsigned block[3] = { threads, 1, 1 };
	struct ptx_options options = {
		.check = true, .count = true, .report = stdout,
		.spin_limit = MOST_INSTRUCTIONS,
		.schedule = shipped_any() % 4 ? shipped_any() + 1 : 0,
		.nans = shipped_any() % 2 ? shipped_any() + 1 : 0,
		.fill = shipped_any() % 4 ? shipped_any() + 1 : 0
	};
	struct ptx_result result = {0};

	options.region = shipped_regions(&options.region_count);
	if (!ptx_launch(kernel_of(name), grid, block, 0, params, &options,
	    &result)) {
		printf("Bail out! %s was ended\n", name);
		exit(1);
	}
	total.instructions += result.instructions;
	for (int i = 0; i < PTX_FINDINGS; i++)
		total.findings[i] += result.findings[i];
	launches++;
}

/* ---- What lockstep.c calls --------------------------------------------- */

void
lockstep_run_ranges(const struct ac_recast_ranges *ranges, unsigned blocks)
{
	const unsigned grid[3] = { blocks, 2, 1 };
	struct ac_recast_ranges r = *ranges;
	void *params[] = { &r };

	shipped_ranges_regions(ranges);
	shipped_launch("ac_recast_ranges", grid, BLOCK, params);
}

void
lockstep_run_symmetric(const struct ac_recast_symmetric *s)
{
	const unsigned side = (unsigned)((s->n + AC_SYMMETRIC_SIDE - 1)
	    / AC_SYMMETRIC_SIDE);
	const unsigned grid[3] = { side, side, 1 };
	struct ac_recast_symmetric copy = *s;
	void *params[] = { &copy };

	shipped_symmetric_regions(s);
	shipped_launch("ac_recast_symmetric", grid, BLOCK, params);
}

void
lockstep_run_conv(const struct ac_conv_check *check,
    const struct ac_conv_job *job, unsigned blocks)
{
	const unsigned grid[3] = { blocks, 1, 1 };
	void *params[] = { (void *)(uintptr_t)job };

	shipped_conv_regions(check);
	shipped_region(job->scratch, sizeof *job->scratch, false, "scratch");
	shipped_region(job->post, sizeof *job->post, false, "the post");
	shipped_launch("ac_conv_check", grid, BLOCK, params);
}

void
lockstep_run_verified(const char *name, const struct verified_data *data,
    unsigned blocks, unsigned threads)
{
	const unsigned grid[3] = { blocks, 1, 1 };
	struct ac_verified v = data->v;
	void *params[] = { &v };

	shipped_verified_regions(data);
	shipped_launch(name, grid, threads, params);
}

static void
sum_regions(const struct ac_scaler_sum *s)
{
	const struct ac_scaler_tensor x = { (void *)(uintptr_t)s->x, s->count,
		0, s->x_dtype, 0 };
	const struct ac_scaler_tensor y = { s->y, s->count, 0, s->y_dtype, 0 };

	shipped_tensor_regions(&x, 1, true);
	shipped_tensor_regions(&y, 1, false);
	shipped_region(s->found_inf, sizeof *s->found_inf, true, "found_inf");
	shipped_region(s->alpha.device, sizeof(float), true, "alpha");
}

static void
pass_regions(const struct ac_scaler_pass *p, bool read_only)
{
	shipped_region(p->tensors, p->tensor_count * sizeof *p->tensors, true,
	    "the table");
	shipped_tensor_regions(p->tensors, p->tensor_count, read_only);
	shipped_region(p->state, sizeof *p->state, false, "the state");
	shipped_region(p->words, sizeof *p->words, false, "the words");
	shipped_region(p->partials, p->chunk_count * sizeof *p->partials,
	    false, "partials");
}

void
lockstep_run_scaler(const char *name, void **params, unsigned blocks)
{
	const unsigned grid[3] = { blocks, 1, 1 };
	const struct ac_scaler_product *product = params[0];
	const struct ac_scaler_pass *pass = params[0];

	if (!strcmp(name, "ac_scaler_multiply")) {
		shipped_tensor_regions(product->tensor, product->tensor_count,
		    false);
		shipped_region(product->state, sizeof *product->state, true,
		    "the state");
	} else if (!strcmp(name, "ac_scaler_add")) {
		sum_regions(params[0]);
	} else {
		pass_regions(pass, !strcmp(name, "ac_scaler_norm")
		    || (!strcmp(name, "ac_scaler_unscale")
		    && pass->flags & AC_SCALER_PASS_CHECK_ONLY));
	}
	shipped_launch(name, grid, BLOCK, params);
}

/* ---- The cases of this file -------------------------------------------- */

/* What the host forgets to pass is found: here the word in which blocks are
 * counted. */
static bool
finds_null_word(void)
{
	static const float x[64];
	static uint64_t counts[2 * AC_RANGE_BINS], copy[2 * AC_RANGE_BINS];
	const struct ac_recast_matrices operand = { .from = x, .rows = 8,
		.cols = 8, .ld = 8, .batch = 1 };
	struct ac_recast_ranges r = { .operand = { operand, operand },
		.counts = counts, .copy = copy };
	void *params[] = { &r };
	const unsigned grid[3] = { 1, 2, 1 }, block[3] = { BLOCK, 1, 1 };
	struct ptx_options options = { .check = true };
	struct ptx_result result = {0};

	shipped_ranges_regions(&r);
	options.region = shipped_regions(&options.region_count);
	(void)ptx_launch(kernel_of("ac_recast_ranges"), grid, block, 0,
	    params, &options, &result);
	return result.findings[PTX_OUTSIDE] > 0;
}

/* The text of the file that the variable names, if it is set. */
static const char *
instead(const char *variable, const struct ac_packed *packed)
{
	enum { ROOM = 4 << 20 };
	const char *path = getenv(variable);
	FILE *file = path ? fopen(path, "r") : NULL;
	char *other = file ? calloc(1, ROOM) : NULL;
	struct ac_unpacked unpacked;

	if (other)
		other[fread(other, 1, ROOM - 1, file)] = '\0';
	if (file)
		fclose(file);
	return other ? other : ac_packed_open(packed, &unpacked)
	    ? unpacked.text : "";
}

static bool
load(int i, const char *text)
{
	char message[256];

	texts[i].module = ptx_module_load(text, strlen(text), message,
	    sizeof message);
	if (texts[i].module && !ptx_module_unsupported(texts[i].module, stdout))
		return true;
	printf("Bail out! %s: %s\n", texts[i].name, texts[i].module
	    ? "some instructions are not known" : message);
	return false;
}

static uint64_t
say_findings(void)
{
	uint64_t sum = 0;

	for (int i = 0; i < PTX_FINDINGS; i++) {
		sum += total.findings[i];
		if (total.findings[i])
			printf("# %s: %llu\n", ptx_finding_name[i],
			    (unsigned long long)total.findings[i]);
	}
	return sum;
}

/* Of the text of which least was run, in percent. */
static double
say_coverage(void)
{
	double least = 100;
	FILE *out = getenv("SHIPPED_MISSED") ? stdout : NULL;

	printf("# %llu launches, %llu instructions of warps\n",
	    (unsigned long long)launches,
	    (unsigned long long)total.instructions);
	for (int i = 0; i < TEXTS; i++) {
		size_t all, missed = ptx_module_coverage(texts[i].module, out,
		    &all);

		printf("# %s: %zu of %zu instructions were run\n",
		    texts[i].name, all - missed, all);
		least = fmin(least, 100. * (double)(all - missed) /
		    (double)all);
		ptx_module_free(texts[i].module);
	}
	return least;
}

int
main(int argc, char **argv)
{
	const struct ac_packed recast = { ac_recast_ptx, ac_recast_ptx_end };
	const struct ac_packed scaler = { ac_scaler_ptx, ac_scaler_ptx_end };
	const int turns = argc > 1 ? atoi(argv[1]) : TURNS;
	const uint64_t start = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	bool good, verified, finds, covers;
	unsigned single;
	uint64_t findings;

	setvbuf(stdout, NULL, _IOLBF, 0);
	seed = start + 99;
	if (!load(0, instead("SHIPPED_RECAST", &recast)) ||
	    !load(1, instead("SHIPPED_SCALER", &scaler)))
		return 1;
	good = lockstep_turns(turns, start, "the shipped PTX");
	single = shipped_single(SINGLES * (unsigned)turns);
	printf("%sok 3 - %d launches of one thread: the shipped PTX and the "
	    "twins agree\n", single ? "not " : "", SINGLES * turns);
	verified = lockstep_verified_turns(turns, start, 4, "the shipped PTX");
	findings = say_findings();
	printf("%sok 5 - no launch has touched, read or waited for what it "
	    "must not\n", findings ? "not " : "");
	finds = finds_null_word();
	printf("%sok 6 - a launch without its word is found\n", finds ? ""
	    : "not ");
	covers = say_coverage() >= LEAST_RUN || turns < ENOUGH_TURNS;
	printf("%sok 7 - nearly all instructions were run\n1..7\n", covers
	    ? "" : "not ");
	return !good || !verified || single || findings || !finds || !covers;
}
