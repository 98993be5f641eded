/* SPDX-License-Identifier: Apache-2.0 */
/* examples/graph_conv.c -- an FP32 convolution by cuDNN's graph interface, as
 * frameworks make it:
 *     graph_conv [bias|relu] [HANDLES] [ask=COUNT] [skip=COUNT] [runs=COUNT]
 *         [json|json=FILE|save=FILE]
 * It asks the heuristics for so many configurations, skips the first so many,
 * drops the engines that are noted to convert their inputs down, and runs the
 * first plan that can be made so many times; with json, a plan made from the
 * JSON of that one, or from a file's; save writes the text to a file. Prints,
 * of each handle, the engine chosen, its notes, the workspace, a hash of the
 * output's bits, a weighted sum of the output and the root of the sum of the
 * squares of its terms. */
#include "graph_stored.h"

#include <cuda_runtime_api.h>
#include <cudnn.h>

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MUST(call) must((int)(call), #call)
#define SET(d, name, type, count, values) \
	MUST(cudnnBackendSetAttribute(d, CUDNN_ATTR_##name, \
	    CUDNN_TYPE_##type, count, values))

typedef cudnnBackendDescriptor_t descriptor_t;

enum {
	N = 2, C = 32, K = 32, H = 14, R = 3,
	CONFIGS = 16, NOTES = 16,
	MADE = 128, /* descriptors of a graph that outlive its making */
};
enum uid { X = 'x', W = 'w', Y = 'y', B = 'b', V1 = 1, V2 = 2 };

static const int64_t x_size[4] = { N, C, H, H }, w_size[4] = { K, C, R, R },
	y_size[4] = { N, K, H, H }, b_size[4] = { 1, K, 1, 1 };

static struct {
	descriptor_t made[MADE];
	int count;
} pool;

static void
must(int status, const char *call)
{
	if (status) {
		printf("%.*s: %d\n", (int)strcspn(call, "("), call, status);
		exit(EXIT_FAILURE);
	}
}

static descriptor_t
create(cudnnBackendDescriptorType_t type)
{
	descriptor_t d;

	if (pool.count == MADE)
		abort();
	MUST(cudnnBackendCreateDescriptor(type, &d));
	pool.made[pool.count++] = d;
	return d;
}

static void
destroy_all(void)
{
	while (pool.count)
		MUST(cudnnBackendDestroyDescriptor(pool.made[--pool.count]));
}

/* ---- The graph ----------------------------------------------------------- */

/* N, C, H, W; as NHWC lies in memory. */
static descriptor_t
tensor(int64_t id, const int64_t sizes[4])
{
	const descriptor_t d = create(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
	const cudnnDataType_t type = CUDNN_DATA_FLOAT;
	const bool is_virtual = id == V1 || id == V2;
	const int64_t alignment = 16, strides[4] = {
		sizes[1] * sizes[2] * sizes[3], 1, sizes[1] * sizes[3],
		sizes[1] };

	SET(d, TENSOR_DATA_TYPE, DATA_TYPE, 1, &type);
	SET(d, TENSOR_DIMENSIONS, INT64, 4, sizes);
	SET(d, TENSOR_STRIDES, INT64, 4, strides);
	SET(d, TENSOR_UNIQUE_ID, INT64, 1, &id);
	SET(d, TENSOR_BYTE_ALIGNMENT, INT64, 1, &alignment);
	SET(d, TENSOR_IS_VIRTUAL, BOOLEAN, 1, &is_virtual);
	MUST(cudnnBackendFinalize(d));
	return d;
}

static descriptor_t
convolution(void)
{
	const descriptor_t d = create(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
	const cudnnDataType_t compute = CUDNN_DATA_FLOAT;
	const cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
	const int64_t dimensions = 2, ones[2] = { 1, 1 };

	SET(d, CONVOLUTION_COMP_TYPE, DATA_TYPE, 1, &compute);
	SET(d, CONVOLUTION_CONV_MODE, CONVOLUTION_MODE, 1, &mode);
	SET(d, CONVOLUTION_SPATIAL_DIMS, INT64, 1, &dimensions);
	SET(d, CONVOLUTION_PRE_PADDINGS, INT64, 2, ones);
	SET(d, CONVOLUTION_POST_PADDINGS, INT64, 2, ones);
	SET(d, CONVOLUTION_DILATIONS, INT64, 2, ones);
	SET(d, CONVOLUTION_FILTER_STRIDES, INT64, 2, ones);
	MUST(cudnnBackendFinalize(d));
	return d;
}

static descriptor_t
forward(descriptor_t y)
{
	const descriptor_t d = create(
	    CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);
	const descriptor_t x = tensor(X, x_size), w = tensor(W, w_size);
	const descriptor_t how = convolution();
	const float one = 1, zero = 0;

	SET(d, OPERATION_CONVOLUTION_FORWARD_X, BACKEND_DESCRIPTOR, 1, &x);
	SET(d, OPERATION_CONVOLUTION_FORWARD_W, BACKEND_DESCRIPTOR, 1, &w);
	SET(d, OPERATION_CONVOLUTION_FORWARD_Y, BACKEND_DESCRIPTOR, 1, &y);
	SET(d, OPERATION_CONVOLUTION_FORWARD_CONV_DESC, BACKEND_DESCRIPTOR, 1,
	    &how);
	SET(d, OPERATION_CONVOLUTION_FORWARD_ALPHA, FLOAT, 1, &one);
	SET(d, OPERATION_CONVOLUTION_FORWARD_BETA, FLOAT, 1, &zero);
	MUST(cudnnBackendFinalize(d));
	return d;
}

/* `other` NULL: a step of one input. */
static descriptor_t
step(cudnnPointwiseMode_t mode, descriptor_t in, descriptor_t other,
    descriptor_t out)
{
	const descriptor_t how = create(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
	const descriptor_t d = create(
	    CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
	const cudnnDataType_t compute = CUDNN_DATA_FLOAT;

	SET(how, POINTWISE_MODE, POINTWISE_MODE, 1, &mode);
	SET(how, POINTWISE_MATH_PREC, DATA_TYPE, 1, &compute);
	MUST(cudnnBackendFinalize(how));
	SET(d, OPERATION_POINTWISE_PW_DESCRIPTOR, BACKEND_DESCRIPTOR, 1, &how);
	SET(d, OPERATION_POINTWISE_XDESC, BACKEND_DESCRIPTOR, 1, &in);
	if (other)
		SET(d, OPERATION_POINTWISE_BDESC, BACKEND_DESCRIPTOR, 1,
		    &other);
	SET(d, OPERATION_POINTWISE_YDESC, BACKEND_DESCRIPTOR, 1, &out);
	MUST(cudnnBackendFinalize(d));
	return d;
}

/* A convolution and so many steps behind it: none, a bias, a bias and ReLU. */
static descriptor_t
operation_graph(cudnnHandle_t handle, int steps)
{
	const descriptor_t y = tensor(Y, y_size);
	const descriptor_t v1 = steps > 0 ? tensor(V1, y_size) : y;
	const descriptor_t v2 = steps > 1 ? tensor(V2, y_size) : y;
	descriptor_t operations[3] = { forward(v1) }, graph;

	if (steps > 0)
		operations[1] = step(CUDNN_POINTWISE_ADD, v1,
		    tensor(B, b_size), v2);
	if (steps > 1)
		operations[2] = step(CUDNN_POINTWISE_RELU_FWD, v2, NULL, y);
	graph = create(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
	SET(graph, OPERATIONGRAPH_OPS, BACKEND_DESCRIPTOR, 1 + steps,
	    operations);
	SET(graph, OPERATIONGRAPH_HANDLE, HANDLE, 1, &handle);
	MUST(cudnnBackendFinalize(graph));
	return graph;
}

/* ---- The plan ------------------------------------------------------------ */

/* Whether cuDNN wrote a configuration there. */
static bool
is_filled(descriptor_t config)
{
	descriptor_t engine = create(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
	int64_t count = 0;

	return !cudnnBackendGetAttribute(config, CUDNN_ATTR_ENGINECFG_ENGINE,
	    CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &count, &engine);
}

/* Engine configurations, best first: how many. No more than asked for. */
static int64_t
configurations(descriptor_t graph, int64_t asked, descriptor_t configs[CONFIGS])
{
	const descriptor_t heuristic = create(
	    CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
	const cudnnBackendHeurMode_t mode = CUDNN_HEUR_MODE_A;
	int64_t count = 0;

	SET(heuristic, ENGINEHEUR_OPERATION_GRAPH, BACKEND_DESCRIPTOR, 1,
	    &graph);
	SET(heuristic, ENGINEHEUR_MODE, HEUR_MODE, 1, &mode);
	MUST(cudnnBackendFinalize(heuristic));
	for (int i = 0; i < CONFIGS; i++)
		configs[i] = create(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
	MUST(cudnnBackendGetAttribute(heuristic, CUDNN_ATTR_ENGINEHEUR_RESULTS,
	    CUDNN_TYPE_BACKEND_DESCRIPTOR, asked, &count, configs));
	for (int64_t i = asked; i < CONFIGS; i++)
		if (is_filled(configs[i]))
			must(-1, "more is filled than was asked for");
	if (count > asked)
		count = asked;
	for (int64_t i = 0; i < count; i++)
		if (!is_filled(configs[i]))
			must(-1, "less is filled than was counted");
	return count;
}

/* The numerical notes as bits: the count first, then as many as it says. */
static unsigned
notes_of(descriptor_t engine)
{
	cudnnBackendNumericalNote_t note[NOTES];
	int64_t count = 0, found = 0;
	unsigned bits = 0;

	MUST(cudnnBackendGetAttribute(engine, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE,
	    CUDNN_TYPE_NUMERICAL_NOTE, 0, &count, NULL));
	if (count > NOTES)
		abort();
	if (count)
		MUST(cudnnBackendGetAttribute(engine,
		    CUDNN_ATTR_ENGINE_NUMERICAL_NOTE,
		    CUDNN_TYPE_NUMERICAL_NOTE, count, &found, note));
	for (int64_t i = 0; i < count; i++)
		bits |= 1u << note[i];
	return bits;
}

/* Prints what it is. NULL: to be dropped, or no plan can be made. */
static descriptor_t
plan_of(cudnnHandle_t handle, descriptor_t config)
{
	descriptor_t engine = create(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
	descriptor_t plan;
	int64_t index = -1, count = 0;
	unsigned notes;

	MUST(cudnnBackendGetAttribute(config, CUDNN_ATTR_ENGINECFG_ENGINE,
	    CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &count, &engine));
	notes = notes_of(engine);
	if (notes & 1u << CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS)
		return NULL;
	MUST(cudnnBackendGetAttribute(engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX,
	    CUDNN_TYPE_INT64, 1, &count, &index));
	plan = create(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
	SET(plan, EXECUTION_PLAN_HANDLE, HANDLE, 1, &handle);
	SET(plan, EXECUTION_PLAN_ENGINE_CONFIG, BACKEND_DESCRIPTOR, 1, &config);
	if (cudnnBackendFinalize(plan))
		return NULL;
	printf("engine=%" PRId64 " notes=%#x", index, notes);
	return plan;
}

/* ---- Its run ------------------------------------------------------------- */

static float *
input(int64_t id, const int64_t size[4])
{
	const size_t count = (size_t)(size[0] * size[1] * size[2] * size[3]);
	float *host = malloc(count * sizeof *host);
	uint32_t seed = (uint32_t)id;
	void *device;

	if (!host)
		abort();
	for (size_t i = 0; i < count; i++) {
		seed = seed * 1664525 + 1013904223;
		host[i] = (float)(seed >> 8) / (1 << 24) - 0.5f;
	}
	MUST(cudaMalloc(&device, count * sizeof *host));
	MUST(cudaMemcpy(device, host, count * sizeof *host,
	    cudaMemcpyHostToDevice));
	free(host);
	return device;
}

static void
print_output(const float *device)
{
	static float host[N * K * H * H];
	uint64_t hash = 1469598103934665603u;
	double sum = 0, squares = 0;

	MUST(cudaDeviceSynchronize());
	MUST(cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost));
	for (size_t i = 0; i < sizeof host / sizeof *host; i++) {
		const double term = (double)(i % 7 + 1) * (double)host[i];
		uint32_t bits;

		memcpy(&bits, &host[i], sizeof bits);
		hash = (hash ^ bits) * 1099511628211u;
		sum += term;
		squares += term * term;
	}
	printf(" hash=%016" PRIx64 " %.9g %.9g\n", hash, sum, sqrt(squares));
}

static void
run(cudnnHandle_t handle, descriptor_t plan, int steps, int runs)
{
	const descriptor_t pack = create(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
	const int64_t ids[4] = { X, W, Y, B };
	void *at[4] = { input(X, x_size), input(W, w_size), input(Y, y_size),
		input(B, b_size) }, *workspace = NULL;
	int64_t bytes = 0, count;

	MUST(cudnnBackendGetAttribute(plan,
	    CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1,
	    &count, &bytes));
	printf(" workspace=%" PRId64, bytes);
	if (bytes)
		MUST(cudaMalloc(&workspace, (size_t)bytes));
	SET(pack, VARIANT_PACK_UNIQUE_IDS, INT64, steps ? 4 : 3, ids);
	SET(pack, VARIANT_PACK_DATA_POINTERS, VOID_PTR, steps ? 4 : 3, at);
	SET(pack, VARIANT_PACK_WORKSPACE, VOID_PTR, 1, &workspace);
	MUST(cudnnBackendFinalize(pack));
	for (int i = 0; i < runs; i++)
		MUST(cudnnBackendExecute(handle, plan, pack));
	print_output(at[2]);
	for (int i = 0; i < 4; i++)
		MUST(cudaFree(at[i]));
	MUST(cudaFree(workspace));
}

int
main(int argc, char **argv)
{
	int steps = 0, handles = 1, asked = CONFIGS, runs = 1, skipped = 0;
	const char *json = NULL, *saved = NULL;

	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], "bias"))
			steps = 1;
		else if (!strcmp(argv[i], "relu"))
			steps = 2;
		else if (!strncmp(argv[i], "ask=", 4))
			asked = atoi(argv[i] + 4);
		else if (!strncmp(argv[i], "runs=", 5))
			runs = atoi(argv[i] + 5);
		else if (!strncmp(argv[i], "skip=", 5))
			skipped = atoi(argv[i] + 5);
		else if (!strncmp(argv[i], "save=", 5))
			saved = argv[i] + 5;
		else if (!strncmp(argv[i], "json", 4))
			json = argv[i] + (argv[i][4] ? 5 : 4);
		else
			handles = atoi(argv[i]);
	if (asked < 1 || asked > CONFIGS)
		return EXIT_FAILURE;
	for (int i = 0; i < handles; i++) {
		descriptor_t configs[CONFIGS], plan = NULL;
		cudnnHandle_t handle;
		int64_t count;

		MUST(cudnnCreate(&handle));
		count = configurations(operation_graph(handle, steps),
		    asked, configs);
		for (int64_t j = skipped; j < count && !plan; j++)
			plan = plan_of(handle, configs[j]);
		if (!plan) {
			puts("no plan");
			return EXIT_FAILURE;
		}
		if (saved)
			stored_save(plan, saved);
		if (json)
			plan = stored_load(handle, plan, json, create(
			    CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR));
		if (!plan)
			return EXIT_FAILURE;
		run(handle, plan, steps, runs);
		destroy_all();
		MUST(cudnnDestroy(handle));
	}
	return EXIT_SUCCESS;
}
