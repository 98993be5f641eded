/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/lt_xla.c -- cublasLt as XLA calls it: a plan's
 * descriptors are made once and shared by threads under a lock, the pointers of
 * bias and AUX and AUX's strides are set just before each product, ORDER and
 * FAST_ACCUM always, C is NULL if beta is 0, one matrix may serve a batch.
 * Algorithms are asked for once, with a workspace's size only and before there
 * is a bias; each is tried, then the first is run once and captured on another
 * stream.
 *
 *   lt_xla [tries=N] [eager=N] [bits=N] [replays=N] [threads]
 * Lines: of the tuning, the number of algorithms and of different results; of
 * the plan, a checksum of what it computes eagerly and one of what replays do.
 * Exit status 1: an error is beyond its bound, or something was written that
 * must not be, or replays differ. */
#include "lt_client.h"

#include <pthread.h>

enum { MOST = 128, WORKSPACE = 4 << 20, PLANS = 4, THREADS = 4 };

struct plan {
	struct lt_problem    *problem;
	struct lt_descriptors shared;
	pthread_mutex_t       lock;
	cublasLtMatmulHeuristicResult_t algorithms[MOST];
	int                   count;
};

static cublasLtHandle_t handle;
static _Thread_local void *workspace;
static int bits = 24, tries = 3, eager = 1, replays = 3;

/* ---- a plan -------------------------------------------------------------- */

static void
describe(struct plan *plan)
{
	const struct lt_wanted *w = &plan->problem->w;
	const int32_t ta = w->turn_a ? CUBLAS_OP_T : CUBLAS_OP_N;
	const int32_t tb = w->turn_b ? CUBLAS_OP_T : CUBLAS_OP_N;
	const int32_t mode = CUBLASLT_POINTER_MODE_HOST;
	const int8_t fast = 0;
	cublasLtMatmulDesc_t operation;

	BLAS(cublasLtMatmulDescCreate(&operation, CUBLAS_COMPUTE_32F,
	    CUDA_R_32F));
	LT_SET(operation, POINTER_MODE, mode);
	LT_SET(operation, TRANSA, ta);
	LT_SET(operation, TRANSB, tb);
	LT_SET(operation, EPILOGUE, w->epilogue);
	LT_SET(operation, FAST_ACCUM, fast);
	plan->shared = (struct lt_descriptors){ operation,
		lt_layout(&plan->problem->a), lt_layout(&plan->problem->b),
		lt_layout(w->apart ? &plan->problem->c : &plan->problem->d),
		lt_layout(&plan->problem->d) };
}

/* Neither bias nor AUX is known yet. */
static void
ask(struct plan *plan)
{
	const uint64_t bytes = WORKSPACE;
	cublasLtMatmulPreference_t preference;

	BLAS(cublasLtMatmulPreferenceCreate(&preference));
	BLAS(cublasLtMatmulPreferenceSetAttribute(preference,
	    CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &bytes, sizeof bytes));
	BLAS(cublasLtMatmulAlgoGetHeuristic(handle, plan->shared.operation,
	    plan->shared.a, plan->shared.b, plan->shared.c, plan->shared.d,
	    preference, MOST, plan->algorithms, &plan->count));
	BLAS(cublasLtMatmulPreferenceDestroy(preference));
}

static cublasStatus_t
execute(struct plan *plan, struct lt_problem *p, int algorithm,
    cudaStream_t stream)
{
	cublasLtMatmulDesc_t operation = plan->shared.operation;
	cublasStatus_t status;

	pthread_mutex_lock(&plan->lock);
	if (p->vector.device)
		LT_SET(operation, BIAS_POINTER, p->vector.device);
	if (p->vector.device && p->w.batch > 1)
		LT_SET(operation, BIAS_BATCH_STRIDE, p->vector.stride);
	if (p->aux.device) {
		LT_SET(operation, EPILOGUE_AUX_POINTER, p->aux.device);
		LT_SET(operation, EPILOGUE_AUX_LD, p->aux_ld);
		LT_SET(operation, EPILOGUE_AUX_BATCH_STRIDE, p->aux_stride);
	}
	status = lt_multiply(handle, p, &plan->shared,
	    &plan->algorithms[algorithm].algo, workspace,
	    plan->algorithms[algorithm].workspaceSize, stream);
	pthread_mutex_unlock(&plan->lock);
	return status;
}

static uint64_t
judged(struct lt_problem *p, cudaStream_t stream, const char *what)
{
	struct lt_error error;

	CUDA(cudaStreamSynchronize(stream));
	error = lt_check(p);
	if (!(error.worst <= lt_bound(p, bits))) {
		fprintf(stderr, "broken: %s: error %g, bound %g %s\n", what,
		    error.worst, lt_bound(p, bits),
		    error.broken ? error.broken : "");
		exit(EXIT_FAILURE);
	}
	return lt_hash(p);
}

/* ---- what XLA does with it ----------------------------------------------- */

/* Results that differ, of all algorithms; `sum` is of all that came out. */
static int
tune(struct plan *plan, cudaStream_t stream, uint64_t *sum)
{
	uint64_t seen[MOST];
	int clusters = 0;

	for (int i = 0; i < plan->count; i++)
		for (int t = 0; t < tries; t++) {
			uint64_t hash;
			int same = 0;

			lt_renew(plan->problem);
			BLAS(execute(plan, plan->problem, i, stream));
			hash = judged(plan->problem, stream, "tuning");
			*sum = client_hash(*sum, &hash, sizeof hash);
			while (same < clusters && seen[same] != hash)
				same++;
			if (same == clusters && clusters < MOST)
				seen[clusters++] = hash;
		}
	return clusters;
}

/* Steps on other data each. */
static uint64_t
run_eagerly(struct plan *plan, cudaStream_t stream)
{
	uint64_t hash = 0;

	for (int i = 0; i < eager; i++) {
		const float numbers[2] = { 1.0f / (float)(2 + i), 0.5f };

		lt_put(&plan->problem->a, 0, numbers, 2);
		lt_renew(plan->problem);
		BLAS(execute(plan, plan->problem, 0, stream));
		hash = judged(plan->problem, stream, "an eager call");
	}
	return hash;
}

/* Recorded by tracing on a stream of its own, run on the program's. */
static uint64_t
run_captured(struct plan *plan, struct lt_problem *p, cudaStream_t stream)
{
	cudaGraphExec_t exec;
	cudaStream_t trace;
	cudaGraph_t graph;
	uint64_t hash = 0;

	CUDA(cudaStreamCreateWithFlags(&trace, cudaStreamNonBlocking));
	CUDA(cudaStreamBeginCapture(trace, cudaStreamCaptureModeThreadLocal));
	BLAS(execute(plan, p, 0, trace));
	CUDA(cudaStreamEndCapture(trace, &graph));
	CUDA(cudaGraphInstantiate(&exec, graph, 0));
	for (int i = 0; i < replays; i++) {
		uint64_t now;

		lt_renew(p);
		CUDA(cudaGraphLaunch(exec, stream));
		now = judged(p, stream, "a replay");
		client_expect(!i || now == hash, "replays are equal");
		hash = now;
	}
	CUDA(cudaGraphExecDestroy(exec));
	CUDA(cudaGraphDestroy(graph));
	CUDA(cudaStreamDestroy(trace));
	return hash;
}

static struct plan *
plan_new(const struct lt_wanted *wanted, uint64_t seed)
{
	struct plan *plan = client_allocate(1, sizeof *plan);

	plan->problem = lt_make(wanted, seed);
	pthread_mutex_init(&plan->lock, NULL);
	describe(plan);
	ask(plan);
	return plan;
}

static void
plan_free(struct plan *plan)
{
	lt_undescribe(&plan->shared);
	pthread_mutex_destroy(&plan->lock);
	lt_drop(plan->problem);
	free(plan);
}

/* Buffers move: the same plan, recorded again for others. */
static void
run_plan(const struct lt_wanted *wanted, const char *name, uint64_t seed,
    cudaStream_t stream)
{
	struct plan *plan = plan_new(wanted, seed);
	struct lt_problem *moved = lt_make(wanted, seed);
	uint64_t tuned = 0, once, captured, again;
	int clusters = tune(plan, stream, &tuned);

	printf("%s algorithms=%d clusters=%d tuned=%016" PRIx64 "\n", name,
	    plan->count, clusters, tuned);
	once = run_eagerly(plan, stream);
	captured = run_captured(plan, plan->problem, stream);
	again = run_captured(plan, moved, stream);
	printf("%s eager=%016" PRIx64 " captured=%016" PRIx64 " again=%016"
	    PRIx64 "\n", name, once, captured, again);
	lt_drop(moved);
	plan_free(plan);
}

/* ---- threads that share a plan ------------------------------------------- */

static const struct lt_wanted layer = { .kind = &lt_kinds[LT_FP32], .m = 64,
	.n = 32, .k = 48, .batch = 1,
	.epilogue = CUBLASLT_EPILOGUE_GELU_AUX_BIAS, .alpha = 1 };

static void *
share(void *argument)
{
	struct plan *plan = argument;
	/* Equal numbers: all threads' results are equal. */
	struct lt_problem *p = lt_make(&layer, 5);
	cudaStream_t stream;
	uint64_t *hash = client_allocate(1, sizeof *hash);

	CUDA(cudaMalloc(&workspace, WORKSPACE));
	CUDA(cudaStreamCreate(&stream));
	for (int i = 0; i < 40; i++) {
		lt_renew(p);
		BLAS(execute(plan, p, 0, stream));
		*hash = judged(p, stream, "a thread's product");
	}
	CUDA(cudaStreamDestroy(stream));
	CUDA(cudaFree(workspace));
	lt_drop(p);
	return hash;
}

static void
run_threads(void)
{
	struct plan *plan = plan_new(&layer, 5);
	pthread_t threads[THREADS];
	void *hash;

	for (int i = 0; i < THREADS; i++)
		client_expect(!pthread_create(&threads[i], NULL, share, plan),
		    "a thread starts");
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], &hash);
		printf("thread %016" PRIx64 "\n", *(uint64_t *)hash);
		free(hash);
	}
	plan_free(plan);
}

int
main(int argc, char **argv)
{
	static const struct {
		const char *name;
		struct lt_wanted wanted;
	} plans[PLANS] = {
		{ "dot", { .kind = &lt_kinds[LT_FP32], .m = 40, .n = 32,
		    .k = 56, .batch = 1, .turn_a = true,
		    .epilogue = CUBLASLT_EPILOGUE_DEFAULT, .alpha = 1,
		    .no_c = true } },
		{ "layer", { .kind = &lt_kinds[LT_FP32], .m = 64, .n = 32,
		    .k = 48, .batch = 1,
		    .epilogue = CUBLASLT_EPILOGUE_GELU_AUX_BIAS, .alpha = 1,
		    .no_c = true } },
		{ "batch", { .kind = &lt_kinds[LT_FP32], .m = 32, .n = 24,
		    .k = 40, .batch = 4, .turn_b = true, .broadcast_b = true,
		    .epilogue = CUBLASLT_EPILOGUE_RELU_BIAS, .alpha = 1,
		    .beta = 1, .apart = true } },
		{ "sum", { .kind = &lt_kinds[LT_FP32], .m = 48, .n = 40,
		    .k = 32, .batch = 1,
		    .epilogue = CUBLASLT_EPILOGUE_BIAS, .alpha = 0.5f,
		    .beta = 1 } }
	};
	bool threads = false;
	cudaStream_t stream;

	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], "threads"))
			threads = true;
		else if (sscanf(argv[i], "tries=%d", &tries) != 1 &&
		    sscanf(argv[i], "eager=%d", &eager) != 1 &&
		    sscanf(argv[i], "replays=%d", &replays) != 1 &&
		    sscanf(argv[i], "bits=%d", &bits) != 1)
			return EXIT_USAGE;
	BLAS(cublasLtCreate(&handle));
	CUDA(cudaMalloc(&workspace, WORKSPACE));
	CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	if (threads)
		run_threads();
	for (int i = 0; !threads && i < PLANS; i++)
		run_plan(&plans[i].wanted, plans[i].name, (uint64_t)i + 1,
		    stream);
	CUDA(cudaStreamDestroy(stream));
	CUDA(cudaFree(workspace));
	BLAS(cublasLtDestroy(handle));
	return EXIT_SUCCESS;
}
