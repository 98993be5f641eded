/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/graph_steps.c -- convolutions of cuDNN's graph
 * interface in the shape of PyTorch: graph_steps [key=value...]. Layers like a
 * small ResNet's, step after step; a cache of plans by layer, filled by the
 * heuristics' first that can be made, or with benchmark=1 by the fastest of
 * all; engines noted DOWN_CONVERT_INPUTS are dropped, with tf32=0 those noted
 * TENSOR_CORE, too; a new variant pack for each execution.
 *   steps=COUNT  (20) passes through all layers
 *   layers=COUNT (all) the first of them
 *   op=fprop|dgrad|wgrad, layout=nchw|nhwc, fusion=add-bias-relu|...
 *   alias=1      z is y, as of cudnn_convolution_relu
 *   threads=N    each with a handle, a stream and plans of its own
 *   uids=1       and with unique ids of its own
 *   cached=0     a new plan for each execution
 *   capture=1    a step more is captured and replayed
 *   replays=N    so often (3)
 *   shift=BYTES  between the start of the workspaces and what plans are given
 *   override=1   packs name a tensor whose sizes are to be overridden, without
 *                another size
 *   sync=1       waits for the device after each step
 *   vary=1       each step but the last has other data
 *   scale=X      of the data
 *   width=N      so many times as many channels
 * Prints a line per layer and thread: the engine, a hash of the last output's
 * bits, a weighted sum of it and the root of its squares' sum. */
#include "tests/real/programs/conv_answers.h"

#include <cuda_runtime_api.h>

#include <math.h>
#include <pthread.h>

#define MUST(call) must((int)(call), #call)

enum { LAYERS = 5, CONFIGS = 16, THREADS = 8,
	OVERRIDE_UNIQUE_IDS = 1010 }; /* cuDNN 9.10 has a name for it */

static const struct { int64_t c, h, k, filter, pad, stride; }
layers[LAYERS] = {
	{ 3, 32, 16, 7, 3, 2 }, { 16, 16, 16, 3, 1, 1 },
	{ 16, 16, 32, 1, 0, 1 }, { 32, 16, 32, 3, 1, 2 },
	{ 32, 8, 64, 3, 1, 1 },
};

static struct {
	struct wish wish;
	int steps, layers, benchmark, tf32, alias, threads, cached, capture;
	int width, vary, uids, replays, shift, override, sync;
	double scale;
} options = { .steps = 20, .layers = LAYERS, .tf32 = 1, .threads = 1,
	.cached = 1, .scale = 1, .width = 1, .replays = 3 };

static void
must(int status, const char *call)
{
	if (status) {
		printf("%.*s: %d\n", (int)strcspn(call, "("), call, status);
		exit(EXIT_FAILURE);
	}
}

struct layer {
	struct wish wish;
	descriptor_t plan;
	int64_t engine, bytes;
	float *at[5];           /* x, w, y, z, b */
	size_t count[5];
	void *workspace;
};

struct thread {
	pthread_t thread;
	cudnnHandle_t handle;
	cudaStream_t stream;
	int number;             /* 0: as all, without uids=1 */
	struct layer layer[LAYERS];
};

/* ---- Memory -------------------------------------------------------------- */

static void
fill(float *device, size_t count, uint32_t seed, double scale)
{
	float *host = malloc(count * sizeof *host);

	for (size_t i = 0; i < count; i++) {
		seed = seed * 1664525 + 1013904223;
		host[i] = (float)(scale * ((seed >> 8) / 16777216.0 - 0.5));
	}
	MUST(cudaMemcpy(device, host, count * sizeof *host,
	    cudaMemcpyHostToDevice));
	free(host);
}

static void
describe(struct layer *layer, int i)
{
	int64_t size[3][5];

	layer->wish = options.wish;
	layer->wish.n = 4;
	layer->wish.c = layers[i].c * (i ? options.width : 1);
	layer->wish.h = layer->wish.w = layers[i].h;
	layer->wish.k = layers[i].k * options.width;
	layer->wish.filter = layers[i].filter;
	layer->wish.pad = layers[i].pad;
	layer->wish.stride = layers[i].stride;
	sizes(&layer->wish, size[0], size[1], size[2]);
	for (int j = 0; j < 3; j++) {
		layer->count[j] = 1;
		for (int d = 0; d < 4; d++)
			layer->count[j] *= (size_t)size[j][d];
	}
	layer->count[3] = layer->count[2];
	layer->count[4] = (size_t)layer->wish.k;
	for (int j = 0; j < 5; j++) {
		MUST(cudaMalloc((void **)&layer->at[j],
		    layer->count[j] * sizeof(float)));
		fill(layer->at[j], layer->count[j], (uint32_t)(5 * i + j),
		    options.scale);
	}
	if (options.alias)
		layer->at[3] = layer->at[2];
}

/* ---- Plans --------------------------------------------------------------- */

static void
execute(struct thread *thread, struct layer *layer, descriptor_t plan)
{
	const int64_t more = layer->wish.uids;
	const int64_t ids[5] = { 'x' + more, 'w' + more, 'y' + more, 'z' + more,
		'b' + more };
	const int count = strcmp(layer->wish.fusion, "none") ? 5 : 3;
	descriptor_t pack = create(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
	void *workspace = (char *)layer->workspace + options.shift;

	set(pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR,
	    count, layer->at);
	set(pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, count,
	    ids);
	set(pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1,
	    &workspace);
	if (options.override)
		set(pack, (cudnnBackendAttributeName_t)OVERRIDE_UNIQUE_IDS,
		    CUDNN_TYPE_INT64, 1, ids);
	MUST(api.cudnnBackendFinalize(pack));
	MUST(cudnnBackendExecute(thread->handle, plan, pack));
	destroy(pack);
}

static descriptor_t
make_plan(struct thread *thread, descriptor_t config)
{
	descriptor_t plan = create(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);

	set(plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1,
	    &thread->handle);
	set_descriptor(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config);
	return finish(plan);
}

static float
time_of(struct thread *thread, struct layer *layer, descriptor_t plan)
{
	cudaEvent_t event[2];
	float took;

	MUST(cudaEventCreate(&event[0]));
	MUST(cudaEventCreate(&event[1]));
	execute(thread, layer, plan); /* to warm up */
	MUST(cudaEventRecord(event[0], thread->stream));
	execute(thread, layer, plan);
	MUST(cudaEventRecord(event[1], thread->stream));
	MUST(cudaEventSynchronize(event[1]));
	MUST(cudaEventElapsedTime(&took, event[0], event[1]));
	return took;
}

static int
is_dropped(descriptor_t config, int64_t *index_out)
{
	descriptor_t engine = engine_of(config);
	const unsigned notes = notes_by_count(engine);

	*index_out = index_of(engine);
	destroy(engine);
	return (notes >> CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS & 1)
	    || (!options.tf32 && notes >> CUDNN_NUMERICAL_NOTE_TENSOR_CORE & 1);
}

/* All that is made for it but the plan is destroyed at once. */
static void
choose_plan(struct thread *thread, struct layer *layer)
{
	descriptor_t of = graph(&layer->wish), config[CONFIGS];
	descriptor_t asked = heuristics(&layer->wish, of, NULL);
	const int64_t count = configurations(asked, CONFIGS, config);
	float best = INFINITY;

	layer->plan = NULL;
	for (int64_t i = 0; i < count; i++) {
		descriptor_t plan = NULL;
		float took = 0;
		int64_t index;

		if (!is_dropped(config[i], &index)
		    && (options.benchmark || !layer->plan))
			plan = make_plan(thread, config[i]);
		destroy(config[i]);
		if (!plan)
			continue;
		if (workspace_of(plan) > layer->bytes) {
			layer->bytes = workspace_of(plan);
			MUST(cudaFree(layer->workspace));
			MUST(cudaMalloc(&layer->workspace,
			    (size_t)layer->bytes + (size_t)options.shift));
		}
		if (options.benchmark)
			took = time_of(thread, layer, plan);
		if (took >= best) {
			destroy(plan);
			continue;
		}
		best = took;
		destroy(layer->plan);
		layer->plan = plan;
		layer->engine = index;
	}
	destroy(asked);
	destroy(of);
	if (!layer->plan)
		must(-1, "no plan");
}

/* ---- Steps --------------------------------------------------------------- */

static void
step_through(struct thread *thread)
{
	for (int i = 0; i < options.layers; i++) {
		struct layer *layer = &thread->layer[i];

		if (layer->plan && !options.cached) {
			destroy(layer->plan);
			layer->plan = NULL;
		}
		if (!layer->plan)
			choose_plan(thread, layer);
		execute(thread, layer, layer->plan);
	}
}

static void
replay(struct thread *thread)
{
	cudaGraphExec_t exec;
	cudaGraph_t recorded;

	MUST(cudaStreamBeginCapture(thread->stream,
	    cudaStreamCaptureModeThreadLocal));
	step_through(thread);
	MUST(cudaStreamEndCapture(thread->stream, &recorded));
	MUST(cudaGraphInstantiate(&exec, recorded, 0));
	for (int i = 0; i < options.layers; i++)
		MUST(cudaMemsetAsync(thread->layer[i].at[2], 0,
		    thread->layer[i].count[2] * sizeof(float),
		    thread->stream));
	for (int i = 0; i < options.replays; i++)
		MUST(cudaGraphLaunch(exec, thread->stream));
}

static void *
run(void *argument)
{
	struct thread *thread = argument;

	MUST(cudnnCreate(&thread->handle));
	MUST(cudaStreamCreate(&thread->stream));
	MUST(cudnnSetStream(thread->handle, thread->stream));
	for (int i = 0; i < options.layers; i++) {
		describe(&thread->layer[i], i);
		thread->layer[i].wish.uids = 1000 * thread->number;
	}
	MUST(cudaDeviceSynchronize());
	for (int i = options.steps; i > 0; i--) {
		/* Twice as large, three times as large, ... */
		for (int j = 0; options.vary && j < options.layers; j++) {
			MUST(cudaStreamSynchronize(thread->stream));
			fill(thread->layer[j].at[0], thread->layer[j].count[0],
			    (uint32_t)(5 * j), options.scale * i);
		}
		step_through(thread);
		if (options.sync)
			MUST(cudaStreamSynchronize(thread->stream));
	}
	if (options.capture)
		replay(thread);
	MUST(cudaStreamSynchronize(thread->stream));
	return NULL;
}

static void
print(const struct layer *layer, int i)
{
	const int out = *options.wish.op == 'd' ? 0 : *options.wish.op == 'w'
	    ? 1 : 2;
	float *host = malloc(layer->count[out] * sizeof *host);
	uint64_t hash = 1469598103934665603u;
	double sum = 0, squares = 0;

	MUST(cudaMemcpy(host, layer->at[out], layer->count[out] * sizeof *host,
	    cudaMemcpyDeviceToHost));
	for (size_t j = 0; j < layer->count[out]; j++) {
		const double term = (double)(j % 7 + 1) * (double)host[j];
		uint32_t bits;

		memcpy(&bits, &host[j], sizeof bits);
		hash = (hash ^ bits) * 1099511628211u;
		sum += term;
		squares += term * term;
	}
	printf("%d engine=%" PRId64 " %016" PRIx64 " %.9g %.9g\n", i,
	    layer->engine, hash, sum, sqrt(squares));
	free(host);
}

int
main(int argc, char **argv)
{
	static struct thread threads[THREADS];
	const struct { const char *key; int *value; } numbers[] = {
		{ "steps", &options.steps }, { "layers", &options.layers },
		{ "benchmark", &options.benchmark }, { "tf32", &options.tf32 },
		{ "alias", &options.alias }, { "threads", &options.threads },
		{ "uids", &options.uids }, { "cached", &options.cached },
		{ "width", &options.width }, { "replays", &options.replays },
		{ "sync", &options.sync }, { "shift", &options.shift },
		{ "override", &options.override },
		{ "capture", &options.capture }, { "vary", &options.vary },
	};

	options.wish = usual;
	for (int i = 1; i < argc; i++) {
		const char *value = strchr(argv[i], '=');
		size_t j = 0;

		while (value && j < sizeof numbers / sizeof *numbers
		    && strncmp(argv[i], numbers[j].key,
		    (size_t)(value - argv[i])))
			j++;
		if (value && j < sizeof numbers / sizeof *numbers)
			*numbers[j].value = atoi(value + 1);
		else if (!strncmp(argv[i], "scale=", 6))
			options.scale = atof(argv[i] + 6);
		else if (!wish_parse(&options.wish, argv[i]))
			return 99;
	}
	reach("libcudnn.so.9:local");
	for (int i = 0; i < options.threads; i++) {
		threads[i].number = options.uids * i;
		MUST(pthread_create(&threads[i].thread, NULL, run,
		    &threads[i]));
	}
	for (int i = 0; i < options.threads; i++)
		MUST(pthread_join(threads[i].thread, NULL));
	for (int i = 0; i < options.threads; i++)
		for (int j = 0; j < options.layers; j++)
			print(&threads[i].layer[j], j);
	return EXIT_SUCCESS;
}
