/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/steps.c -- captured steps of twelve equal layers:
 * steps DOOR TEST MODE. DOOR: sgemm, ex (cublasGemmEx), large (sgemm with more
 * than 2^24 operations), or what the program was built with (steps.h). MODE:
 * global, thread, relaxed. TEST:
 *   first    a capture before all else
 *   replay   four steps on data of their own, a capture, a thousand replays
 *   zeros    eight steps on zeros, a capture; then data, some that cancel
 *   clone    the same of a clone of the graph, which is destroyed
 *   child    as a child of another graph
 *   relaunch launched into the capture of another graph
 *   update   captured again with other buffers: that updates the executable
 *   updates  the same 70 times
 *   again    70 times: captured, replayed, destroyed
 *   second   two executables of one graph, one after the other
 *   xla      one step; then each layer is captured alone on another stream, a
 *            child of one graph; with other buffers each child is replaced
 *   bad      the same, and the fifth layer cancels
 * A replay has the bits that eager calls had just before, but where nothing was
 * recast before the capture: first, xla, bad.
 * Prints what was asked for and made in captures, how many updates held, and
 * hashes of the fifth layer and of all after the last replay. */
#include "steps.h"

#include <dlfcn.h>

enum { LAYERS = 12, BAD = 4, EDGE = 96, LONG = 1024, SETS = 2 };

typedef float results[LAYERS][STEPS_MOST];

static const struct door *door;
static cublasHandle_t handle;
static cudaStream_t stream, trace;
static enum cudaStreamCaptureMode mode;
static struct layer layers[SETS][LAYERS]; /* the same data at other places */
static results eager, found;
static int asked, made, updated = -1;

/* ---- Doors --------------------------------------------------------------- */

static void
follow_blas(cudaStream_t at)
{
	BLAS(cublasSetStream(handle, at));
}

static void
open_blas(cudaStream_t at)
{
	BLAS(cublasCreate(&handle));
	follow_blas(at);
}

/* All from one place. */
static void
multiply(const struct layer *l, int k)
{
	BLAS(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, EDGE, EDGE, k, &one,
	    l->a, EDGE, l->b, k, &zero, l->c, EDGE));
}

static void
run_sgemm(const struct layer *l)
{
	multiply(l, EDGE);
}

static void
run_large(const struct layer *l)
{
	multiply(l, LONG);
}

static void
run_ex(const struct layer *l)
{
	BLAS(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, EDGE, EDGE, EDGE,
	    &one, l->a, CUDA_R_32F, EDGE, l->b, CUDA_R_32F, EDGE, &zero, l->c,
	    CUDA_R_32F, EDGE, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
}

/* The second half of K takes nearly all of the first away again. */
static void
cancel(float *a, float *b)
{
	const int k = (int)door->a / EDGE, half = k / 2;

	memcpy(a + half * EDGE, a, (size_t)half * EDGE * sizeof *a);
	for (int j = 0; j < EDGE; j++)
		for (int i = 0; i < half; i++)
			b[j * k + half + i] = 1e-4f * b[j * k + half + i]
			    - b[j * k + i];
}

#define BLAS_DOOR(name, k, replays, run) \
	{ name, EDGE * (k), EDGE * (k), EDGE * EDGE, replays, open_blas, \
	    follow_blas, run, cancel }
static const struct door doors[] = {
	BLAS_DOOR("sgemm", EDGE, 200, run_sgemm),
	BLAS_DOOR("ex", EDGE, 200, run_ex),
	BLAS_DOOR("large", LONG, 20, run_large)
};

/* ---- Layers -------------------------------------------------------------- */

static void
draw(float *to, size_t count, uint64_t seed)
{
	for (size_t i = 0; i < count; i++)
		to[i] = (float)(2 * client_uniform(&seed) - 1);
}

static void
put(float *device, const float *host, size_t count)
{
	CUDA(cudaMemcpy(device, host, count * sizeof *host,
	    cudaMemcpyHostToDevice));
}

/* Data of step `step`, in all sets. */
static void
fill(int step, bool with_bad)
{
	static float a[STEPS_MOST], b[STEPS_MOST];

	for (int i = 0; i < LAYERS; i++) {
		draw(a, door->a, (uint64_t)(1000 * step + 2 * i + 1));
		draw(b, door->b, (uint64_t)(1000 * step + 2 * i + 2));
		if (with_bad && i == BAD)
			door->cancel(a, b);
		for (int set = 0; set < SETS; set++) {
			put(layers[set][i].a, a, door->a);
			put(layers[set][i].b, b, door->b);
		}
	}
	CUDA(cudaDeviceSynchronize()); /* streams here wait for no upload */
}

static void
step(int set)
{
	for (int i = 0; i < LAYERS; i++)
		door->run(&layers[set][i]);
}

static void
take(int set, results to)
{
	CUDA(cudaDeviceSynchronize());
	for (int i = 0; i < LAYERS; i++) {
		client_host(to[i], layers[set][i].c, door->c);
		CUDA(cudaMemset(layers[set][i].c, 0xff,
		    door->c * sizeof(float)));
	}
	CUDA(cudaDeviceSynchronize());
}

/* Four steps on data of their own, and one more on the last ones. */
static void
warm_up(void)
{
	for (int i = 1; i <= 4; i++) {
		fill(i, false);
		step(0);
		CUDA(cudaDeviceSynchronize());
	}
	step(0);
	take(0, eager);
}

/* ---- Captures ------------------------------------------------------------ */

/* How often the emulated GPU was called by that name. */
static int
counted(const char *name)
{
	uint64_t (*counter)(const char *);

	*(void **)&counter = dlsym(RTLD_DEFAULT, "emuCounter");
	return counter ? (int)counter(name) : 0;
}

static void
count(int sign)
{
	static const char *const asks[] = {
		"cudnnBackendGetAttribute", "cublasLtMatmulAlgoGetHeuristic",
		"cudnnGetConvolutionForwardAlgorithm_v7"
	};
	static const char *const makes[] = {
		"cudnnBackendFinalize", "cublasCreate_v2", "cublasLtCreate",
		"cudnnCreate", "cuEventCreate", "cuStreamCreate",
		"cuLibraryLoadData", "cuMemAllocFromPoolAsync",
		"cuMemHostRegister", "cuMemHostAlloc", "cuMemAlloc"
	};

	for (size_t i = 0; i < sizeof asks / sizeof *asks; i++)
		asked += sign * counted(asks[i]);
	for (size_t i = 0; i < sizeof makes / sizeof *makes; i++)
		made += sign * counted(makes[i]);
}

static void
begin(cudaStream_t at)
{
	door->follow(at);
	CUDA(cudaStreamBeginCapture(at, mode));
	count(-1);
}

static cudaGraph_t
end(cudaStream_t at)
{
	cudaGraph_t graph;

	count(1);
	CUDA(cudaStreamEndCapture(at, &graph));
	return graph;
}

static cudaGraph_t
capture(int set)
{
	begin(trace);
	step(set);
	return end(trace);
}

static cudaGraphExec_t
instantiate(cudaGraph_t graph)
{
	cudaGraphExec_t exec;

	CUDA(cudaGraphInstantiate(&exec, graph, 0));
	return exec;
}

static void
replay(cudaGraphExec_t exec, int set, int times)
{
	for (int i = 0; i < times; i++) {
		CUDA(cudaGraphLaunch(exec, stream));
		if (i % 50 && i < times - 1)
			continue;
		take(set, found);
		client_expect(!memcmp(found, eager, sizeof found),
		    "a replay has the bits of eager calls");
	}
}

/* ---- Tests --------------------------------------------------------------- */

static void
test_first(void)
{
	fill(1, false);
	CUDA(cudaGraphLaunch(instantiate(capture(0)), stream));
	take(0, found);
}

static void
test_replay(void)
{
	warm_up();
	replay(instantiate(capture(0)), 0, door->replays);
}

/* Calls on zeros lose nothing in any precision. */
static void
test_zeros(void)
{
	cudaGraphExec_t exec;

	for (int i = 0; i < LAYERS; i++) {
		CUDA(cudaMemset(layers[0][i].a, 0, door->a * sizeof(float)));
		CUDA(cudaMemset(layers[0][i].b, 0, door->b * sizeof(float)));
	}
	CUDA(cudaDeviceSynchronize());
	for (int i = 0; i < 8; i++) {
		step(0);
		CUDA(cudaDeviceSynchronize());
	}
	exec = instantiate(capture(0));
	CUDA(cudaGraphLaunch(exec, stream));
	CUDA(cudaStreamSynchronize(stream));
	fill(1, true);
	CUDA(cudaGraphLaunch(exec, stream));
	take(0, found);
}

static void
test_clone(void)
{
	cudaGraph_t graph, clone;

	warm_up();
	graph = capture(0);
	CUDA(cudaGraphClone(&clone, graph));
	CUDA(cudaGraphDestroy(graph));
	replay(instantiate(clone), 0, 10);
}

static void
test_child(void)
{
	cudaGraphNode_t node;
	cudaGraph_t parent;

	warm_up();
	CUDA(cudaGraphCreate(&parent, 0));
	CUDA(cudaGraphAddChildGraphNode(&node, parent, NULL, 0, capture(0)));
	replay(instantiate(parent), 0, 10);
}

static void
test_relaunch(void)
{
	cudaGraphExec_t inner;

	warm_up();
	inner = instantiate(capture(0));
	begin(stream);
	CUDA(cudaGraphLaunch(inner, stream));
	replay(instantiate(end(stream)), 0, 10);
}

/* Eager calls between the captures have the lane that the next one takes. */
static void
update(int times)
{
	cudaGraphExecUpdateResultInfo result;
	cudaGraphExec_t exec;

	warm_up();
	exec = instantiate(capture(0));
	replay(exec, 0, 2);
	door->follow(stream);
	step(0);
	take(0, found);
	updated = 0;
	for (int i = 1; i <= times; i++) {
		const cudaGraph_t graph = capture(i % SETS);

		updated += !cudaGraphExecUpdate(exec, graph, &result);
		CUDA(cudaGraphDestroy(graph));
		replay(exec, i % SETS, 2);
		door->follow(stream);
		step(0);
		take(0, found);
	}
}

static void
test_update(void)
{
	update(3);
}

static void
test_updates(void)
{
	update(70);
}

/* Nothing runs eagerly in between. */
static void
test_again(void)
{
	warm_up();
	for (int i = 0; i < 70; i++) {
		const cudaGraph_t graph = capture(i % SETS);
		const cudaGraphExec_t exec = instantiate(graph);

		replay(exec, i % SETS, 1); /* counted once, too */
		CUDA(cudaGraphExecDestroy(exec));
		CUDA(cudaGraphDestroy(graph));
	}
}

static void
test_second(void)
{
	cudaGraph_t graph;
	cudaGraphExec_t first, two;

	warm_up();
	graph = capture(0);
	first = instantiate(graph);
	two = instantiate(graph);
	for (int i = 0; i < 10; i++)
		replay(i % 2 ? first : two, 0, 1);
}

static cudaGraph_t
capture_layer(int set, int i)
{
	begin(trace);
	door->run(&layers[set][i]);
	return end(trace);
}

static void
record_alone(bool with_bad)
{
	cudaGraphNode_t node[LAYERS];
	cudaGraphExec_t exec;
	cudaGraph_t parent;

	fill(1, with_bad);
	step(0);
	CUDA(cudaDeviceSynchronize());
	CUDA(cudaGraphCreate(&parent, 0));
	for (int i = 0; i < LAYERS; i++)
		CUDA(cudaGraphAddChildGraphNode(&node[i], parent,
		    i ? &node[i - 1] : NULL, i > 0, capture_layer(0, i)));
	exec = instantiate(parent);
	CUDA(cudaGraphLaunch(exec, stream));
	take(0, eager); /* of the first record: the next ones are like it */
	replay(exec, 0, door->replays);
	updated = 0;
	for (int again = 1; again < 4; again++) {
		for (int i = 0; i < LAYERS; i++)
			updated += !cudaGraphExecChildGraphNodeSetParams(exec,
			    node[i], capture_layer(again % SETS, i));
		replay(exec, again % SETS, 2);
	}
}

static void
test_xla(void)
{
	record_alone(false);
}

static void
test_bad(void)
{
	record_alone(true);
}

static const struct test {
	const char *name;
	void (*run)(void);
} tests[] = {
	{ "first", test_first },
	{ "replay", test_replay }, { "zeros", test_zeros },
	{ "clone", test_clone },
	{ "child", test_child }, { "relaunch", test_relaunch },
	{ "update", test_update }, { "updates", test_updates },
	{ "again", test_again }, { "second", test_second },
	{ "xla", test_xla }, { "bad", test_bad }
};

/* ---- The program --------------------------------------------------------- */

static void
prepare(void)
{
	CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	CUDA(cudaStreamCreateWithFlags(&trace, cudaStreamNonBlocking));
	for (int set = 0; set < SETS; set++)
		for (int i = 0; i < LAYERS; i++)
			layers[set][i] = (struct layer){
				client_random_device(door->a, 1, 1),
				client_random_device(door->b, 1, 1),
				client_random_device(door->c, 1, 1)
			};
	door->open(stream);
}

int
main(int argc, char **argv)
{
	static const char *const modes[] = { "global", "thread", "relaxed" };
	const struct test *test = NULL;

	for (size_t i = 0; argc == 4 && i < sizeof doors / sizeof *doors; i++)
		if (!strcmp(argv[1], doors[i].name))
			door = &doors[i];
	if (argc == 4 && !door && steps_door)
		door = steps_door();
	for (size_t i = 0; argc == 4 && i < sizeof tests / sizeof *tests; i++)
		if (!strcmp(argv[2], tests[i].name))
			test = &tests[i];
	if (!test || !door)
		return EXIT_USAGE;
	for (int i = 0; i < 3; i++)
		if (!strcmp(argv[3], modes[i]))
			mode = (enum cudaStreamCaptureMode)i;
	prepare();
	test->run();
	printf("asked=%d made=%d updated=%d fifth=%016" PRIx64 " replay=%016"
	    PRIx64 "\n", asked, made, updated, client_hash(0, found[BAD],
	    sizeof *found), client_hash(0, found, sizeof found));
	return EXIT_SUCCESS;
}
