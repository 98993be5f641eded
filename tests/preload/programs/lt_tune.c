/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/lt_tune.c -- cublasLt as PyTorch's TunableOp calls it:
 * all algorithms that there are, made by hand from their ids and capabilities
 * and checked; each is warmed up, then timed by events; a file gets the fastest
 * of each product, which is then used.
 *
 *   lt_tune FILE [bits=N] [warm=N] [reps=N] [uses=N] [turns=N]
 * turns: that many algorithms are used in turn, the fastest and the next (1).
 * A line for each algorithm: its id, the shortest time and the mean in
 * nanoseconds, a checksum of all its results; a line for each winner: of its
 * last result. Exit status 1: an error is beyond its bound, or something was
 * written that must not be. */
#include "lt_client.h"

enum { IDS = 64, WORKSPACE = 4 << 20 };

static cublasLtHandle_t handle;
static cudaStream_t stream;
static void *workspace;
static int bits = 24, warm = 1, reps = 5, uses = 20, turns = 1;

struct timed {
	cublasLtMatmulAlgo_t algorithm;
	int32_t id;
	float shortest, mean; /* ms */
};

static uint64_t
judged(struct lt_problem *p)
{
	struct lt_error error = lt_check(p);

	if (!(error.worst <= lt_bound(p, bits))) {
		fprintf(stderr, "broken: error %g, bound %g %s\n", error.worst,
		    lt_bound(p, bits), error.broken ? error.broken : "");
		exit(EXIT_FAILURE);
	}
	return lt_hash(p);
}

/* The first tile and number of stages that it can do. */
static void
configure(cublasLtMatmulAlgo_t *algorithm)
{
	static const struct {
		cublasLtMatmulAlgoCapAttributes_t can;
		cublasLtMatmulAlgoConfigAttributes_t set;
	} lists[] = {
		{ CUBLASLT_ALGO_CAP_TILE_IDS, CUBLASLT_ALGO_CONFIG_TILE_ID },
		{ CUBLASLT_ALGO_CAP_STAGES_IDS,
		    CUBLASLT_ALGO_CONFIG_STAGES_ID }
	};
	const int32_t parts = 1;
	const uint32_t none = 0;

	for (int i = 0; i < 2; i++) {
		uint32_t ids[IDS];
		size_t written = 0;

		BLAS(cublasLtMatmulAlgoCapGetAttribute(algorithm, lists[i].can,
		    ids, sizeof ids, &written));
		if (written >= sizeof *ids)
			BLAS(cublasLtMatmulAlgoConfigSetAttribute(algorithm,
			    lists[i].set, ids, sizeof *ids));
	}
	BLAS(cublasLtMatmulAlgoConfigSetAttribute(algorithm,
	    CUBLASLT_ALGO_CONFIG_SPLITK_NUM, &parts, sizeof parts));
	BLAS(cublasLtMatmulAlgoConfigSetAttribute(algorithm,
	    CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME, &none, sizeof none));
}

static int
candidates(const struct lt_problem *p, const struct lt_descriptors *d,
    struct timed *out)
{
	const struct lt_kind *kind = p->w.kind;
	cublasLtMatmulHeuristicResult_t result;
	int ids[IDS], found = 0, count = 0;

	BLAS(cublasLtMatmulAlgoGetIds(handle, kind->compute, kind->scale,
	    kind->in, kind->in, kind->out, kind->out, IDS, ids, &found));
	for (int i = 0; i < found; i++) {
		struct timed *t = &out[count];

		t->id = ids[i];
		if (cublasLtMatmulAlgoInit(handle, kind->compute, kind->scale,
		    kind->in, kind->in, kind->out, kind->out, ids[i],
		    &t->algorithm))
			continue;
		configure(&t->algorithm);
		count += !cublasLtMatmulAlgoCheck(handle, d->operation, d->a,
		    d->b, d->c, d->d, &t->algorithm, &result) &&
		    result.workspaceSize <= WORKSPACE;
	}
	return count;
}

static uint64_t
run(struct lt_problem *p, const struct lt_descriptors *d,
    const cublasLtMatmulAlgo_t *algorithm, float *ms_out)
{
	cudaEvent_t begin, end;

	lt_renew(p);
	CUDA(cudaEventCreate(&begin));
	CUDA(cudaEventCreate(&end));
	CUDA(cudaEventRecord(begin, stream));
	BLAS(lt_multiply(handle, p, d, algorithm, workspace, WORKSPACE,
	    stream));
	CUDA(cudaEventRecord(end, stream));
	CUDA(cudaEventSynchronize(end));
	CUDA(cudaEventElapsedTime(ms_out, begin, end));
	CUDA(cudaEventDestroy(begin));
	CUDA(cudaEventDestroy(end));
	return judged(p);
}

static void
measure(struct lt_problem *p, const struct lt_descriptors *d,
    const char *name, struct timed *t)
{
	uint64_t sum = 0;
	float ms;

	for (int i = 0; i < warm; i++)
		(void)run(p, d, &t->algorithm, &ms);
	for (int i = 0; i < reps; i++) {
		const uint64_t hash = run(p, d, &t->algorithm, &ms);

		sum = client_hash(sum, &hash, sizeof hash);
		t->shortest = !i || ms < t->shortest ? ms : t->shortest;
		t->mean += ms / (float)reps;
	}
	printf("%s id=%d ns=%.0f mean=%.0f hash=%016" PRIx64 "\n", name,
	    t->id, (double)t->shortest * 1e6, (double)t->mean * 1e6, sum);
}

static void
tune(const struct lt_wanted *wanted, const char *name, FILE *file)
{
	struct lt_problem *p = lt_make(wanted, 3);
	struct timed all[IDS] = { 0 };
	struct lt_descriptors d;
	uint64_t hash = 0;
	int best = 0, count;
	float ms;

	lt_describe(p, &d);
	count = candidates(p, &d, all);
	client_expect(count > 0, "there is an algorithm");
	for (int i = 0; i < count; i++) {
		measure(p, &d, name, &all[i]);
		best = all[i].mean < all[best].mean ? i : best;
	}
	fprintf(file, "%s,algorithm_%d\n", name, all[best].id);
	for (int i = 0; i < uses; i++)
		hash = run(p, &d, &all[(best + i % turns) % count].algorithm,
		    &ms);
	printf("%s winner=%d ns=%.0f last=%016" PRIx64 "\n", name,
	    all[best].id, (double)ms * 1e6, hash);
	lt_undescribe(&d);
	lt_drop(p);
}

int
main(int argc, char **argv)
{
	static const struct {
		const char *name;
		struct lt_wanted wanted;
	} products[] = {
		{ "GemmTunableOp_float_TN", { .kind = &lt_kinds[LT_FP32],
		    .m = 64, .n = 48, .k = 96, .batch = 1, .turn_a = true,
		    .epilogue = CUBLASLT_EPILOGUE_DEFAULT, .alpha = 1 } },
		{ "GemmAndBiasTunableOp_float_NN", {
		    .kind = &lt_kinds[LT_FP32], .m = 64, .n = 32, .k = 64,
		    .batch = 1, .epilogue = CUBLASLT_EPILOGUE_RELU_BIAS,
		    .alpha = 1 } },
		{ "GemmTunableOp_tf32_NT", { .kind = &lt_kinds[LT_FAST_TF32],
		    .m = 64, .n = 64, .k = 64, .batch = 1, .turn_b = true,
		    .epilogue = CUBLASLT_EPILOGUE_DEFAULT, .alpha = 1 } }
	};
	FILE *file = argc > 1 ? fopen(argv[1], "w") : NULL;

	if (!file)
		return EXIT_USAGE;
	for (int i = 2; i < argc; i++)
		if (sscanf(argv[i], "bits=%d", &bits) != 1 &&
		    sscanf(argv[i], "warm=%d", &warm) != 1 &&
		    sscanf(argv[i], "reps=%d", &reps) != 1 &&
		    sscanf(argv[i], "uses=%d", &uses) != 1 &&
		    (sscanf(argv[i], "turns=%d", &turns) != 1 || turns < 1))
			return EXIT_USAGE;
	BLAS(cublasLtCreate(&handle));
	CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	CUDA(cudaMalloc(&workspace, WORKSPACE));
	for (size_t i = 0; i < sizeof products / sizeof *products; i++)
		tune(&products[i].wanted, products[i].name, file);
	client_expect(!fclose(file), "the file was written");
	CUDA(cudaFree(workspace));
	CUDA(cudaStreamDestroy(stream));
	BLAS(cublasLtDestroy(handle));
	return EXIT_SUCCESS;
}
