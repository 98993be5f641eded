/* SPDX-License-Identifier: Apache-2.0 */
/* tests/real/programs/conv_bad.c -- calls of cuDNN that are wrong, by tables:
 * conv_bad SONAME DEVICE.json. One line each: what, the status or the signal,
 * and how much of the outputs was written. What may crash does in a child. */
#include "conv_answers.h"

#include <sys/wait.h>
#include <unistd.h>

static void *library;

#define CALL(name) ((__typeof__(&name))look_up(#name))

static uintptr_t
look_up(const char *name)
{
	const uintptr_t found = (uintptr_t)dlsym(library, name);

	if (!found)
		exit(98);
	return found;
}

/* ---- the graph API: every descriptor, attribute, type and count -------- */

static const cudnnBackendAttributeName_t names[] = {
	CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_ATTR_TENSOR_DIMENSIONS,
	CUDNN_ATTR_TENSOR_STRIDES, CUDNN_ATTR_TENSOR_UNIQUE_ID,
	CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_ATTR_CONVOLUTION_DILATIONS,
	CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_ATTR_POINTWISE_MODE,
	CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
	CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
	CUDNN_ATTR_OPERATION_POINTWISE_XDESC, CUDNN_ATTR_OPERATIONGRAPH_OPS,
	CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH,
	CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_ATTR_ENGINE_OPERATION_GRAPH,
	CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE,
	CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES,
	CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG,
	CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE,
	(cudnnBackendAttributeName_t)9999, (cudnnBackendAttributeName_t)-1,
};
static const cudnnBackendAttributeType_t kinds[] = {
	CUDNN_TYPE_DATA_TYPE, CUDNN_TYPE_INT64, CUDNN_TYPE_FLOAT,
	CUDNN_TYPE_BACKEND_DESCRIPTOR, CUDNN_TYPE_HEUR_MODE,
	CUDNN_TYPE_NUMERICAL_NOTE, (cudnnBackendAttributeType_t)77,
};
static const int64_t counts[] = { -1, 0, 1, 2, 9, 1000 };

#define SIZE(table) (sizeof(table) / sizeof *(table))

enum { STEMS = 12 };

/* Of each kind one that is finalized, or one that is empty. */
static void
stems(int finished, descriptor_t on, descriptor_t *stem)
{
	static const cudnnBackendDescriptorType_t type[STEMS] = {
		CUDNN_BACKEND_TENSOR_DESCRIPTOR,
		CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR,
		CUDNN_BACKEND_POINTWISE_DESCRIPTOR,
		CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
		CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR,
		CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR,
		CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR,
		CUDNN_BACKEND_ENGINE_DESCRIPTOR,
		CUDNN_BACKEND_ENGINECFG_DESCRIPTOR,
		CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR,
		CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR,
	};
	const int64_t size[5] = { 1, 8, 8, 8 };
	struct wish wish = usual;
	int status = 0;

	/* What is left alone whatever the policy: beta is not 0. */
	wish.beta = 1;
	memset(stem, 0, STEMS * sizeof *stem);
	if (!finished) {
		for (int i = 0; i < STEMS - 1; i++)
			stem[i] = create(type[i]);
		return;
	}
	stem[0] = tensor(&wish, size, 't', CUDNN_DATA_FLOAT, 0);
	stem[1] = convolution(&wish);
	stem[3] = convolve(&wish, 0);
	stem[4] = step(&wish, CUDNN_POINTWISE_ADD, "c", "z", "y");
	stem[5] = graph(&wish);
	stem[6] = heuristics(&wish, stem[5], on);
	if (configurations(stem[6], 1, &stem[8]) == 1) {
		stem[7] = engine_of(stem[8]);
		stem[9] = plan_of(stem[8], on, &status);
	}
}

/* Whether this is the child, which ends with _exit(); the parent waits, and
 * says so if a signal ended it. Children write line by line. */
static int
child(const char *what)
{
	int how = 0;

	fflush(stdout);
	if (!fork()) {
		setvbuf(stdout, NULL, _IOLBF, 0);
		return 1;
	}
	wait(&how);
	if (WIFSIGNALED(how))
		printf("%s: signal %d\n", what, WTERMSIG(how));
	return 0;
}

static void
set_and_get(descriptor_t stem, size_t n, size_t k)
{
	static char values[4096], before[4096];

	for (size_t c = 0; c < SIZE(counts); c++) {
		int64_t count = -7;
		int status, null, nothing;
		size_t written = 0;

		memset(values, 0, sizeof values);
		memcpy(before, values, sizeof before);
		status = (int)api.cudnnBackendGetAttribute(stem, names[n],
		    kinds[k], counts[c], &count, values);
		for (size_t i = 0; i < sizeof values; i++)
			written += values[i] != before[i];
		null = (int)api.cudnnBackendGetAttribute(stem, names[n],
		    kinds[k], counts[c], NULL, NULL);
		printf("%d %d %" PRId64 ": get %d count %" PRId64
		    " written %zu, null %d", (int)names[n], (int)kinds[k],
		    counts[c], status, count, written, null);
		memset(values, 0, sizeof values);
		nothing = set(stem, names[n], kinds[k], counts[c], NULL);
		status = counts[c] > 64 ? -1
		    : set(stem, names[n], kinds[k], counts[c], values);
		printf(" set %d, null %d\n", status, nothing);
	}
}

static void
every_attribute(int finished, int which, descriptor_t on)
{
	descriptor_t stem[STEMS];

	stems(finished, on, stem);
	for (size_t n = 0; n < SIZE(names); n++) {
		printf("stem %d %d\n", finished, which);
		if (!child("attribute"))
			continue;
		for (size_t k = 0; k < SIZE(kinds); k++)
			set_and_get(stem[which], n, k);
		printf("finalize: %d\n",
		    (int)api.cudnnBackendFinalize(stem[which]));
		_exit(0);
	}
	for (int i = 0; i < STEMS; i++)
		destroy(stem[i]);
}

/* ---- parents of what is not finished, or is not there ------------------ */

static void
unfinished_children(descriptor_t on)
{
	static const struct {
		int parent, kind;
		cudnnBackendAttributeName_t name;
	} rows[] = {
		{ 3, 0, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X },
		{ 3, 1, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC },
		{ 4, 2, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR },
		{ 5, 3, CUDNN_ATTR_OPERATIONGRAPH_OPS },
		{ 6, 5, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH },
		{ 7, 5, CUDNN_ATTR_ENGINE_OPERATION_GRAPH },
		{ 8, 7, CUDNN_ATTR_ENGINECFG_ENGINE },
		{ 9, 8, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG },
	};
	descriptor_t parent[STEMS], young[2][STEMS];

	stems(0, on, young[0]);
	stems(1, on, young[1]);
	for (size_t r = 0; r < SIZE(rows); r++)
		for (int how = 0; how < 3; how++) {
		descriptor_t it = how == 2 ? NULL : young[how][rows[r].kind];

		if (!child("child"))
			continue;
		stems(0, on, parent);
		printf("child %d %d of %d:", how, rows[r].kind, rows[r].parent);
		printf(" %d", set_descriptor(parent[rows[r].parent],
		    rows[r].name, it));
		printf(" finalize %d\n",
		    (int)api.cudnnBackendFinalize(parent[rows[r].parent]));
		_exit(0);
	}
	for (int i = 0; i < STEMS; i++) {
		destroy(young[0][i]);
		destroy(young[1][i]);
	}
	for (int type = -1; type < 60; type++) {
		descriptor_t made = (descriptor_t)0x5a;

		if (!child("create"))
			continue;
		printf("create %d: %d", type,
		    (int)api.cudnnBackendCreateDescriptor(
			(cudnnBackendDescriptorType_t)type, &made));
		printf(" %s\n",
		    made == (descriptor_t)0x5a ? "untouched" : "set");
		_exit(0);
	}
	if (child("create null")) {
		printf("create null: %d\n",
		    (int)api.cudnnBackendCreateDescriptor(
			CUDNN_BACKEND_TENSOR_DESCRIPTOR, NULL));
		_exit(0);
	}
	printf("destroy null: %d\n",
	    (int)api.cudnnBackendDestroyDescriptor(NULL));
}

/* ---- a child each: what may crash -------------------------------------- */

static cudnnTensorDescriptor_t x, y;
static cudnnFilterDescriptor_t w;
static cudnnConvolutionDescriptor_t c;
static cudnnActivationDescriptor_t act;
static const float one = 1;
static int found = -7;
static size_t bytes = 77;

#define FORWARD CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM
#define DATA CUDNN_CONVOLUTION_BWD_DATA_ALGO_0
#define FILTER CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0

#define ROWS(row) \
	row(Forward, NULL, &one, x, &x, w, &w, c, FORWARD, NULL, 0, &one, y, \
	    &y) \
	row(Forward, NULL, NULL, x, NULL, w, NULL, c, FORWARD, NULL, 0, NULL, \
	    y, NULL) \
	row(Forward, NULL, &one, NULL, &x, NULL, &w, NULL, FORWARD, NULL, 0, \
	    &one, NULL, &y) \
	row(Forward, NULL, &one, x, &x, w, &w, c, \
	    (cudnnConvolutionFwdAlgo_t)99, NULL, 1, &one, y, &y) \
	row(BackwardData, NULL, &one, w, &w, y, &y, c, DATA, NULL, 0, &one, x, \
	    &x) \
	row(BackwardData, NULL, NULL, NULL, NULL, NULL, NULL, NULL, DATA, \
	    NULL, 0, NULL, NULL, NULL) \
	row(BackwardFilter, NULL, &one, x, &x, y, &y, c, FILTER, NULL, 0, \
	    &one, w, &w) \
	row(BackwardFilter, NULL, NULL, NULL, NULL, NULL, NULL, NULL, FILTER, \
	    NULL, 0, NULL, NULL, NULL) \
	row(BiasActivationForward, NULL, &one, x, &x, w, &w, c, FORWARD, NULL, \
	    0, &one, y, &y, y, &y, act, y, &y) \
	row(BiasActivationForward, NULL, NULL, NULL, NULL, NULL, NULL, NULL, \
	    FORWARD, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)

#define GETTERS(row) \
	row(GetConvolutionForwardWorkspaceSize, NULL, x, w, c, y, FORWARD, \
	    &bytes) \
	row(GetConvolutionForwardWorkspaceSize, NULL, NULL, NULL, NULL, NULL, \
	    FORWARD, NULL) \
	row(GetConvolutionBackwardDataWorkspaceSize, NULL, w, y, c, x, DATA, \
	    &bytes) \
	row(GetConvolutionBackwardFilterWorkspaceSize, NULL, x, y, c, w, \
	    FILTER, &bytes) \
	row(GetConvolutionForwardAlgorithmMaxCount, NULL, &found) \
	row(GetConvolutionForwardAlgorithm_v7, NULL, x, w, c, y, 1, &found, \
	    &forward) \
	row(GetConvolutionForwardAlgorithm_v7, NULL, NULL, NULL, NULL, NULL, \
	    0, NULL, NULL) \
	row(GetConvolutionBackwardDataAlgorithm_v7, NULL, w, y, c, x, 1, \
	    &found, &data) \
	row(GetConvolutionBackwardFilterAlgorithm_v7, NULL, x, y, c, w, 1, \
	    &found, &filter) \
	row(FindConvolutionForwardAlgorithm, NULL, x, w, c, y, 1, &found, \
	    &forward) \
	row(FindConvolutionBackwardDataAlgorithm, NULL, w, y, c, x, 1, &found, \
	    &data) \
	row(FindConvolutionBackwardFilterAlgorithm, NULL, x, y, c, w, 1, \
	    &found, &filter) \
	row(BackendExecute, NULL, NULL, NULL) \
	row(BackendExecute, NULL, \
	    tensor(&usual, size, 1, CUDNN_DATA_FLOAT, 0), NULL) \
	row(BackendPopulateCudaGraph, NULL, NULL, NULL, NULL) \
	row(SetStream, NULL, NULL)

static void
describe(void)
{
	CALL(cudnnCreateTensorDescriptor)(&x);
	CALL(cudnnCreateTensorDescriptor)(&y);
	CALL(cudnnCreateFilterDescriptor)(&w);
	CALL(cudnnCreateConvolutionDescriptor)(&c);
	CALL(cudnnCreateActivationDescriptor)(&act);
	CALL(cudnnSetTensor4dDescriptor)(x, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT,
	    32, 256, 28, 28);
	CALL(cudnnSetTensor4dDescriptor)(y, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT,
	    32, 256, 28, 28);
	CALL(cudnnSetFilter4dDescriptor)(w, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW,
	    256, 256, 3, 3);
	CALL(cudnnSetConvolution2dDescriptor)(c, 1, 1, 1, 1, 1, 1,
	    CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT);
}

static void
in_children(void)
{
	const int64_t size[5] = { 1, 8, 8, 8 };
	cudnnConvolutionFwdAlgoPerf_t forward = { .time = -1 };
	cudnnConvolutionBwdDataAlgoPerf_t data = { .time = -1 };
	cudnnConvolutionBwdFilterAlgoPerf_t filter = { .time = -1 };
	int number = 0;

#define ROW(name, ...) \
	number++; \
	if (child(#name)) { \
		const int status = (int)CALL(cudnn##name)(__VA_ARGS__); \
 \
		printf("%d " #name ": %d found %d bytes %zu times %g %g %g\n", \
		    number, status, found, bytes, (double)forward.time, \
		    (double)data.time, (double)filter.time); \
		_exit(0); \
	}
#define CONVOLUTION(name, ...) ROW(Convolution##name, __VA_ARGS__)
	ROWS(CONVOLUTION)
	GETTERS(ROW)
}

int
main(int argc, char **argv)
{
	char way[128];
	descriptor_t on;

	if (argc < 3)
		return 99;
	snprintf(way, sizeof way, "%s:local", argv[1]);
	reach(way);
	library = dlopen(argv[1], RTLD_NOW);
	on = device(argv[2]);
	if (!library || !on)
		return 77;
	for (int finished = 0; finished < 2; finished++)
		for (int which = 0; which < STEMS; which++)
			every_attribute(finished, which, on);
	unfinished_children(on);
	describe();
	in_children();
	destroy(on);
	return 0;
}
