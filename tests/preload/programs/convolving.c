/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/convolving.c -- one convolution of cuDNN's older
 * interface, made again and again: convolving WORD=VALUE... prints for each call
 * its status, a hash of the output's bits, a weighted sum of the output and the
 * root of the sum of the squares of its terms. */
#include "plugin.h"

#include <cuda_runtime_api.h>
#include <cudnn.h>

#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MUST(call) must((int)(call), #call)

static struct { const char *word; double value; } words[] = {
	{ "op", 0 },        /* 0 forward, 1 data, 2 filter, 3 fused */
	{ "n", 2 }, { "c", 32 }, { "k", 32 }, { "h", 14 }, { "r", 3 },
	{ "pad", 1 }, { "stride", 1 }, { "dilation", 1 }, { "groups", 1 },
	{ "nhwc", 0 }, { "space", 2 }, { "flip", 0 },
	{ "alpha", 1 }, { "beta", 0 }, { "math", 0 }, { "scale", 1 },
	{ "calls", 4 }, { "workspace", 1 }, { "alias", 0 }, { "relu", 1 },
	{ "handles", 1 },   /* one after the other */
	{ "threads", 1 }, { "offset", 0 },
	{ "capture", 0 },   /* 1: once more, into a graph; 2: another one */
	{ "shared", 0 },    /* one handle and one output, under a lock */
	{ "streams", 1 },   /* of one handle, each with an output of its own */
	{ "beside", 0 },    /* in a thread, while this one records a graph */
	{ "before", 0 },    /* what was in the output is printed first */
	{ "fork", 0 },      /* 1: before the first call; 2: after the last; 3:
	                     * where the child calls once more, and prints that */
};
enum { WORDS = sizeof words / sizeof *words };
#define FORWARD_ALGO CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM
#define DATA_ALGO CUDNN_CONVOLUTION_BWD_DATA_ALGO_1
#define FILTER_ALGO CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1

static double *
find(const char *name)
{
	for (int i = 0; i < WORDS; i++)
		if (!strcmp(words[i].word, name))
			return &words[i].value;
	abort();
}

static double
word(const char *name)
{
	return *find(name);
}

static int
whole(const char *name)
{
	return (int)word(name);
}

static void
must(int status, const char *call)
{
	if (status) {
		printf("%s: %d\n", call, status);
		exit(1);
	}
}

struct buffer {
	float *device, *host;
	size_t count;
};

static struct buffer
buffer(size_t count, float scale, unsigned seed)
{
	const size_t offset = (size_t)whole("offset");
	struct buffer b = { NULL, malloc(count * sizeof(float)), count };

	for (size_t i = 0; i < count; i++) {
		seed = seed * 1664525 + 1013904223;
		b.host[i] = scale * ((float)(seed >> 8) / (1 << 24) - 0.5f);
	}
	MUST(cudaMalloc((void **)&b.device, (count + offset) * sizeof(float)));
	b.device += offset;
	MUST(cudaMemcpy(b.device, b.host, count * sizeof(float),
	    cudaMemcpyHostToDevice));
	return b;
}

/* Of what hash() fetched. */
static void
print_sums(const struct buffer *b)
{
	double sum = 0, squares = 0;

	for (size_t i = 0; i < b->count; i++) {
		const double term = (double)(i % 7 + 1) * (double)b->host[i];

		sum += term;
		squares += term * term;
	}
	printf(" %.9g %.9g\n", sum, sqrt(squares));
}

static uint64_t
hash(struct buffer *b)
{
	uint64_t h = 1469598103934665603u;

	MUST(cudaMemcpy(b->host, b->device, b->count * sizeof(float),
	    cudaMemcpyDeviceToHost));
	for (size_t i = 0; i < b->count; i++) {
		uint32_t bits;

		memcpy(&bits, &b->host[i], sizeof bits);
		h = (h ^ bits) * 1099511628211u;
	}
	return h;
}

/* ---- One problem ------------------------------------------------------------ */

struct problem {
	cudnnTensorDescriptor_t x, y, bias_desc;
	cudnnFilterDescriptor_t w;
	cudnnConvolutionDescriptor_t conv;
	cudnnActivationDescriptor_t activation;
	struct buffer xs, ws, ys, zs, bias;
	void *workspace;
	size_t bytes;
	int y_dim[5];
};

static void
tensor(cudnnTensorDescriptor_t *descriptor, const int *dim, size_t *count_out)
{
	MUST(cudnnCreateTensorDescriptor(descriptor));
	MUST(cudnnSetTensorNdDescriptorEx(*descriptor, word("nhwc")
	    ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT,
	    whole("space") + 2, dim));
	*count_out = 1;
	for (int i = 0; i < whole("space") + 2; i++)
		*count_out *= (size_t)dim[i];
}

static void
describe(struct problem *p, size_t count[3])
{
	const int h = whole("h"), r = whole("r"), c = whole("c");
	const int x[5] = { whole("n"), c, h, h, h };
	const int w[5] = { whole("k"), c / whole("groups"), r, r, r };
	const int one[5] = { 1, whole("k"), 1, 1, 1 };
	int pad[3], stride[3], dilation[3], space = whole("space");
	size_t unused;

	for (int i = 0; i < 3; i++) {
		pad[i] = whole("pad");
		stride[i] = whole("stride");
		dilation[i] = whole("dilation");
	}
	MUST(cudnnCreateFilterDescriptor(&p->w));
	MUST(cudnnCreateConvolutionDescriptor(&p->conv));
	MUST(cudnnCreateActivationDescriptor(&p->activation));
	tensor(&p->x, x, &count[0]);
	tensor(&p->bias_desc, one, &unused);
	MUST(cudnnSetFilterNdDescriptor(p->w, CUDNN_DATA_FLOAT, word("nhwc")
	    ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW, space + 2, w));
	MUST(cudnnSetConvolutionNdDescriptor(p->conv, space, pad, stride,
	    dilation, word("flip") ? CUDNN_CONVOLUTION
	    : CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT));
	MUST(cudnnSetConvolutionGroupCount(p->conv, whole("groups")));
	MUST(cudnnSetConvolutionMathType(p->conv,
	    (cudnnMathType_t)whole("math")));
	MUST(cudnnSetActivationDescriptor(p->activation, word("relu")
	    ? CUDNN_ACTIVATION_RELU : CUDNN_ACTIVATION_IDENTITY,
	    CUDNN_PROPAGATE_NAN, 0));
	MUST(cudnnGetConvolutionNdForwardOutputDim(p->conv, p->x, p->w,
	    space + 2, p->y_dim));
	tensor(&p->y, p->y_dim, &count[2]);
	count[1] = (size_t)w[0] * (size_t)w[1];
	for (int i = 0; i < space; i++)
		count[1] *= (size_t)r;
}

static void
make(struct problem *p, cudnnHandle_t handle)
{
	const float scale = (float)word("scale");
	size_t count[3];

	describe(p, count);
	p->xs = buffer(count[0], scale, 1);
	p->ws = buffer(count[1], 1, 2);
	p->ys = buffer(count[2], scale, 3);
	p->zs = buffer(count[2], scale, 4);
	p->bias = buffer((size_t)whole("k"), 1, 5);
	if (whole("op") == 1)
		MUST(cudnnGetConvolutionBackwardDataWorkspaceSize(handle, p->w,
		    p->y, p->conv, p->x, DATA_ALGO, &p->bytes));
	else if (whole("op") == 2)
		MUST(cudnnGetConvolutionBackwardFilterWorkspaceSize(handle,
		    p->x, p->y, p->conv, p->w, FILTER_ALGO, &p->bytes));
	else
		MUST(cudnnGetConvolutionForwardWorkspaceSize(handle, p->x, p->w,
		    p->conv, p->y, FORWARD_ALGO, &p->bytes));
	if (word("workspace") > 1)
		p->bytes = (size_t)word("workspace");
	MUST(cudaMalloc(&p->workspace, p->bytes + 1));
}

static struct buffer *
output(struct problem *p)
{
	return whole("op") == 1 ? &p->xs : whole("op") == 2 ? &p->ws : &p->ys;
}

static cudnnStatus_t
convolve(const struct problem *p, cudnnHandle_t handle)
{
	const float alpha = (float)word("alpha"), beta = (float)word("beta");

	switch (whole("op")) {
	case 1:
		return cudnnConvolutionBackwardData(handle, &alpha, p->w,
		    p->ws.device, p->y, p->ys.device, p->conv, DATA_ALGO,
		    p->workspace, p->bytes, &beta, p->x, p->xs.device);
	case 2:
		return cudnnConvolutionBackwardFilter(handle, &alpha, p->x,
		    p->xs.device, p->y, p->ys.device, p->conv, FILTER_ALGO,
		    p->workspace, p->bytes, &beta, p->w, p->ws.device);
	case 3:
		return cudnnConvolutionBiasActivationForward(handle, &alpha,
		    p->x, p->xs.device, p->w, p->ws.device, p->conv, FORWARD_ALGO,
		    p->workspace, p->bytes, &beta, p->y, word("alias")
		    ? p->ys.device : p->zs.device, p->bias_desc,
		    p->bias.device, p->activation, p->y, p->ys.device);
	default:
		return cudnnConvolutionForward(handle, &alpha, p->x,
		    p->xs.device, p->w, p->ws.device, p->conv, FORWARD_ALGO,
		    p->workspace, p->bytes, &beta, p->y, word("alias")
		    ? p->xs.device : p->ys.device);
	}
}

/* ---- The calls -------------------------------------------------------------- */

/* How often the emulated GPU was called by that name. */
static int
counted(const char *name)
{
	uint64_t (*counter)(const char *);

	*(void **)&counter = dlsym(RTLD_DEFAULT, "emuCounter");
	return counter ? (int)counter(name) : 0;
}

/* Prints what the recording asked of cuDNN: engines, and things made. */
static void
replay(struct problem *p, cudnnHandle_t handle, cudaStream_t stream)
{
	cudaGraphExec_t exec;
	cudaGraph_t graph;
	int asked, made;

	if (whole("capture") == 2)
		*find("alpha") *= 2;
	MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	asked = counted("cudnnBackendGetAttribute");
	made = counted("cudnnBackendFinalize");
	MUST(convolve(p, handle));
	asked = counted("cudnnBackendGetAttribute") - asked;
	made = counted("cudnnBackendFinalize") - made;
	MUST(cudaStreamEndCapture(stream, &graph));
	MUST(cudaGraphInstantiate(&exec, graph, 0));
	MUST(cudaMemsetAsync(p->ys.device, 0, p->ys.count * sizeof(float),
	    stream));
	MUST(cudaGraphLaunch(exec, stream));
	MUST(cudaStreamSynchronize(stream));
	printf("graph 0 %016llx asked=%d made=%d\n",
	    (unsigned long long)hash(output(p)), asked, made);
}

/* Both go on; the child's status is the parent's. */
static pid_t
split(void)
{
	pid_t child;
	int status = 1;

	fflush(stdout);
	child = fork();
	if (child > 0 && (waitpid(child, &status, 0) != child || status))
		exit(4);
	return child;
}

static void *
run(void *quiet)
{
	struct problem p = { .bytes = 0 };
	cudaStream_t stream;
	cudnnHandle_t handle;

	MUST(cudaStreamCreate(&stream));
	for (int i = 0; i < whole("handles"); i++) {
		MUST(cudnnCreate(&handle));
		MUST(cudnnSetStream(handle, stream));
		if (!p.workspace)
			make(&p, handle);
		if (word("before"))
			printf("0 0 %016llx\n",
			    (unsigned long long)hash(output(&p)));
		for (int j = 1; j <= whole("calls"); j++) {
			const int status = (int)convolve(&p, handle);

			MUST(cudaStreamSynchronize(stream));
			if (quiet)
				continue;
			printf("%d %d %016llx", j, status,
			    (unsigned long long)hash(output(&p)));
			print_sums(output(&p));
		}
		if (whole("fork") == 3 && !split()) {
			printf("child %d\n", (int)convolve(&p, handle));
			exit(0);
		}
		if (word("capture"))
			replay(&p, handle, stream);
		MUST(cudnnDestroy(handle));
	}
	if (quiet)
		*(uint64_t *)quiet = hash(output(&p));
	return NULL;
}

static void *
run_shared(void *bits_out)
{
	static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
	static cudnnHandle_t handle;
	static struct problem p;

	for (int i = 0; i < whole("calls"); i++) {
		pthread_mutex_lock(&turn);
		if (!handle) {
			MUST(cudnnCreate(&handle));
			make(&p, handle);
		}
		MUST(convolve(&p, handle));
		*(uint64_t *)bits_out = hash(output(&p));
		pthread_mutex_unlock(&turn);
	}
	return NULL;
}

/* All at once: nothing is waited for before the end. */
static void
run_streams(int count)
{
	cudaStream_t stream[16];
	struct problem p[16] = { { .bytes = 0 } };
	cudnnHandle_t handle;

	MUST(cudnnCreate(&handle));
	for (int i = 0; i < count; i++) {
		MUST(cudaStreamCreateWithFlags(&stream[i],
		    cudaStreamNonBlocking));
		make(&p[i], handle);
	}
	MUST(cudaDeviceSynchronize());
	for (int i = 0; i < whole("calls") * count; i++) {
		MUST(cudnnSetStream(handle, stream[i % count]));
		MUST(convolve(&p[i % count], handle));
	}
	for (int i = 0; i < count; i++) {
		MUST(cudaStreamSynchronize(stream[i]));
		printf("%016llx\n", (unsigned long long)hash(output(&p[i])));
	}
	MUST(cudnnDestroy(handle));
}

/* Of the other thread of run_beside(). */
struct beside {
	struct problem p;
	cudnnHandle_t handle;
};

static void *
convolve_beside(void *beside)
{
	struct beside *b = beside;

	for (int i = 0; i < whole("calls"); i++)
		MUST(convolve(&b->p, b->handle));
	return NULL;
}

/* What another thread does must not end a capture, in the mode that forbids
 * most. The program's own calls are all allowed. */
static void
run_beside(void)
{
	struct beside b = { .handle = NULL };
	cudaStream_t stream[2];
	pthread_t thread;
	cudaGraph_t graph;

	for (int i = 0; i < 2; i++)
		MUST(cudaStreamCreateWithFlags(&stream[i],
		    cudaStreamNonBlocking));
	MUST(cudnnCreate(&b.handle));
	MUST(cudnnSetStream(b.handle, stream[1]));
	make(&b.p, b.handle);
	MUST(cudaDeviceSynchronize());
	MUST(cudaStreamBeginCapture(stream[0], cudaStreamCaptureModeGlobal));
	MUST(cudaMemsetAsync(b.p.zs.device, 0, b.p.zs.count * sizeof(float),
	    stream[0]));
	MUST(pthread_create(&thread, NULL, convolve_beside, &b));
	MUST(pthread_join(thread, NULL));
	MUST(cudaStreamEndCapture(stream[0], &graph));
	MUST(cudaStreamSynchronize(stream[1]));
	printf("%016llx\n", (unsigned long long)hash(output(&b.p)));
}

static int
run_threads(int count)
{
	pthread_t thread[16];
	uint64_t bits[16];

	for (int i = 0; i < count; i++)
		if (pthread_create(&thread[i], NULL, word("shared")
		    ? run_shared : run, &bits[i]))
			return 3;
	for (int i = 0; i < count; i++) {
		pthread_join(thread[i], NULL);
		printf("%016llx\n", (unsigned long long)bits[i]);
	}
	return 0;
}

static int
parse(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		const char *is = strchr(argv[i], '=');
		int at = 0;

		while (at < WORDS && is && (strncmp(words[at].word, argv[i],
		    (size_t)(is - argv[i])) || words[at].word[is - argv[i]]))
			at++;
		if (!is || at == WORDS)
			return 0;
		words[at].value = atof(is + 1);
	}
	return whole("threads") <= 16 && whole("streams") <= 16;
}

/* For plugin_host. */
uint64_t
plugin_multiply(int calls)
{
	uint64_t bits = 0;

	for (int i = 0; i < calls; i++)
		run(&bits);
	return bits;
}

int
main(int argc, char **argv)
{
	int status = 0;

	if (!parse(argc, argv))
		return 2;
	if (whole("fork") == 1)
		split();
	if (whole("streams") > 1)
		run_streams(whole("streams"));
	else if (whole("beside"))
		run_beside();
	else if (whole("threads") > 1)
		status = run_threads(whole("threads"));
	else
		run(NULL);
	if (whole("fork") == 2)
		split();
	return status;
}
