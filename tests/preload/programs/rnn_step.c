/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/rnn_step.c -- a recurrent network of cuDNN's, as a
 * program sees it: rnn_step WORD=VALUE... prints what its descriptor says, what
 * a pass needs, then every output, and every gradient if it trains. With
 * churn=N it makes and ends N descriptors instead and prints what their getter
 * said, with alive=N how many of N at a time were wrong. With threads=N every
 * thread does both; a line each is printed. */
#include <cuda_runtime_api.h>
#include <cudnn.h>

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MUST(call) must((int)(call), #call)

static struct { const char *word; int value; } words[] = {
	{ "cell", CUDNN_LSTM }, { "math", 0 }, { "layers", 2 }, { "bi", 0 },
	{ "input", 8 }, { "hidden", 16 }, { "steps", 6 }, { "batch", 4 },
	{ "train", 1 }, { "threads", 1 }, { "churn", 0 }, { "sets", 1 },
	{ "half", 0 },      /* FP16 data */
	{ "early", 0 },     /* before anything else of CUDA */
	{ "alive", 0 },     /* as many at a time */
};
enum { WORDS = sizeof words / sizeof *words };

static int
word(const char *name)
{
	for (int i = 0; i < WORDS; i++)
		if (!strcmp(words[i].word, name))
			return words[i].value;
	abort();
}

static void
must(int status, const char *call)
{
	if (status) {
		printf("%s: %d\n", call, status);
		exit(1);
	}
}

/* ---- Descriptors ------------------------------------------------------- */

static int
set(cudnnRNNDescriptor_t rnn, int math, int layers)
{
	const cudnnDataType_t type = word("half") ? CUDNN_DATA_HALF
	    : CUDNN_DATA_FLOAT;

	return (int)cudnnSetRNNDescriptor_v8(rnn, CUDNN_RNN_ALGO_STANDARD,
	    (cudnnRNNMode_t)word("cell"), CUDNN_RNN_DOUBLE_BIAS, word("bi")
	    ? CUDNN_BIDIRECTIONAL : CUDNN_UNIDIRECTIONAL, CUDNN_LINEAR_INPUT,
	    type, CUDNN_DATA_FLOAT, (cudnnMathType_t)math, word("input"),
	    word("hidden"), word("hidden"), layers, NULL,
	    CUDNN_RNN_PADDED_IO_ENABLED);
}

/* -1: the getter failed, and wrote nothing; -2: it did write. */
static int
math_of(cudnnRNNDescriptor_t rnn)
{
	cudnnMathType_t math = (cudnnMathType_t)77;
	int32_t layers = 77;

	if (!cudnnGetRNNDescriptor_v8(rnn, NULL, NULL, NULL, NULL, NULL, NULL,
	    NULL, &math, NULL, NULL, NULL, &layers, NULL, NULL))
		return (int)math;
	return (int)math == 77 && layers == 77 ? -1 : -2;
}

/* Two at a time, set and set again, also wrongly, one ended where the next may
 * be. Returns how often the getter said something else than was set. */
static int
churn(int count, int quiet)
{
	int wrong = 0;

	for (int i = 0; i < count; i++) {
		cudnnRNNDescriptor_t first, second;
		int said[5], math = i % 4, other = (i / 4) % 4;

		MUST(cudnnCreateRNNDescriptor(&first));
		MUST(cudnnCreateRNNDescriptor(&second));
		said[0] = math_of(second);
		MUST(set(first, math, 1));
		MUST(set(second, other, 1));
		said[1] = math_of(first);
		said[2] = math_of(second);
		MUST(set(first, other, 1));
		if (!set(first, math, 0) || !set(first, 9, 1))
			wrong++;
		said[3] = math_of(first);
		MUST(cudnnDestroyRNNDescriptor(first));
		MUST(cudnnCreateRNNDescriptor(&first));
		said[4] = math_of(first);
		MUST(cudnnDestroyRNNDescriptor(first));
		MUST(cudnnDestroyRNNDescriptor(second));
		wrong += said[0] != -1 || said[1] != math || said[2] != other
		    || said[3] != other || said[4] != -1;
		if (!quiet)
			printf("%d %d: %d %d %d %d %d\n", math, other, said[0],
			    said[1], said[2], said[3], said[4]);
	}
	return wrong;
}

/* As many descriptors at a time, every third one ended and made again. */
static int
hold(int count)
{
	cudnnRNNDescriptor_t *all = calloc((size_t)count, sizeof *all);
	int wrong = 0;

	for (int turn = 0; all && turn < 2; turn++) {
		for (int i = 0; i < count; i++) {
			if (turn && i % 3)
				continue;
			if (turn)
				MUST(cudnnDestroyRNNDescriptor(all[i]));
			MUST(cudnnCreateRNNDescriptor(&all[i]));
			MUST(set(all[i], (i + turn) % 4, 1));
		}
		for (int i = 0; i < count; i++)
			wrong += math_of(all[i]) !=
			    (i + (i % 3 ? 0 : turn)) % 4;
	}
	for (int i = 0; i < count; i++)
		MUST(cudnnDestroyRNNDescriptor(all[i]));
	free(all);
	return printf("%d wrong of %d\n", wrong, count) < 0;
}

/* ---- One network ------------------------------------------------------- */

struct buffer {
	float *device, *host;
	size_t count;
};

static struct buffer
buffer(size_t count, float scale, uint64_t seed)
{
	struct buffer b = { .count = count,
		.host = malloc(count * sizeof(float)) };

	for (size_t i = 0; i < count; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		b.host[i] = scale * ((float)(seed >> 40) * 0x1p-23f - 1);
	}
	MUST(cudaMalloc((void **)&b.device, count * sizeof(float)));
	MUST(cudaMemcpy(b.device, b.host, count * sizeof(float),
	    cudaMemcpyHostToDevice));
	return b;
}

static void
fetch(struct buffer *b)
{
	MUST(cudaDeviceSynchronize());
	MUST(cudaMemcpy(b->host, b->device, b->count * sizeof(float),
	    cudaMemcpyDeviceToHost));
}

static void
print(const char *name, struct buffer *b)
{
	fetch(b);
	for (size_t i = 0; i < b->count; i++)
		printf("%s %.9g\n", name, (double)b->host[i]);
}

static uint64_t
hash(uint64_t h, struct buffer *b)
{
	fetch(b);
	for (size_t i = 0; i < b->count; i++) {
		uint32_t bits;

		memcpy(&bits, &b->host[i], sizeof bits);
		h = (h ^ bits) * 1099511628211u;
	}
	return h;
}

struct network {
	cudnnRNNDescriptor_t rnn;
	cudnnRNNDataDescriptor_t x_desc, y_desc;
	cudnnTensorDescriptor_t state;
	size_t weight_bytes, work_bytes, reserve_bytes;
	struct buffer weights, x, y, dy, dx, dw;
	void *work, *reserve;
};

static void
make(struct network *n, cudnnHandle_t handle)
{
	const int sides = word("bi") ? 2 : 1, batch = word("batch");
	const size_t rows = (size_t)(word("steps") * batch);
	const size_t width = (size_t)(sides * word("hidden"));
	int length[64];

	MUST(cudnnCreateRNNDescriptor(&n->rnn));
	MUST(cudnnCreateRNNDataDescriptor(&n->x_desc));
	MUST(cudnnCreateRNNDataDescriptor(&n->y_desc));
	MUST(cudnnCreateTensorDescriptor(&n->state));
	for (int i = 0; i < word("sets"); i++)
		MUST(set(n->rnn, word("math"), word("layers")));
	for (int i = 0; i < batch; i++)
		length[i] = word("steps");
	MUST(cudnnSetRNNDataDescriptor(n->x_desc, CUDNN_DATA_FLOAT,
	    CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_UNPACKED, word("steps"), batch,
	    word("input"), length, NULL));
	MUST(cudnnSetRNNDataDescriptor(n->y_desc, CUDNN_DATA_FLOAT,
	    CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_UNPACKED, word("steps"), batch,
	    (int)width, length, NULL));
	MUST(cudnnSetTensorNdDescriptorEx(n->state, CUDNN_TENSOR_NCHW,
	    CUDNN_DATA_FLOAT, 3, (int[]){ word("layers") * sides, batch,
	    word("hidden") }));
	MUST(cudnnGetRNNWeightSpaceSize(handle, n->rnn, &n->weight_bytes));
	MUST(cudnnGetRNNTempSpaceSizes(handle, n->rnn, word("train")
	    ? CUDNN_FWD_MODE_TRAINING : CUDNN_FWD_MODE_INFERENCE, n->x_desc,
	    &n->work_bytes, &n->reserve_bytes));
	MUST(cudaMalloc(&n->work, n->work_bytes + 1));
	MUST(cudaMalloc(&n->reserve, n->reserve_bytes + 1));
	/* No row's terms can add up to more than 1. */
	n->weights = buffer(n->weight_bytes / sizeof(float), 1.0f /
	    (float)(2 * word("hidden") + word("input")), 1);
	n->dw = buffer(n->weights.count, 0, 2);
	n->x = buffer(rows * (size_t)word("input"), 1, 3);
	n->dx = buffer(n->x.count, 0, 4);
	n->y = buffer(rows * width, 0, 5);
	n->dy = buffer(rows * width, 1, 6);
}

static void
run(struct network *n, cudnnHandle_t handle)
{
	const cudnnForwardMode_t mode = word("train")
	    ? CUDNN_FWD_MODE_TRAINING : CUDNN_FWD_MODE_INFERENCE;

	make(n, handle);
	MUST(cudnnRNNForward(handle, n->rnn, mode, NULL, n->x_desc,
	    n->x.device, n->y_desc, n->y.device, n->state, NULL, NULL,
	    n->state, NULL, NULL, n->weight_bytes, n->weights.device,
	    n->work_bytes, n->work, n->reserve_bytes, word("train")
	    ? n->reserve : NULL));
	if (!word("train"))
		return;
	MUST(cudnnRNNBackwardData_v8(handle, n->rnn, NULL, n->y_desc,
	    n->y.device, n->dy.device, n->x_desc, n->dx.device, n->state, NULL,
	    NULL, NULL, n->state, NULL, NULL, NULL, n->weight_bytes,
	    n->weights.device, n->work_bytes, n->work, n->reserve_bytes,
	    n->reserve));
	MUST(cudnnRNNBackwardWeights_v8(handle, n->rnn, CUDNN_WGRAD_MODE_ADD,
	    NULL, n->x_desc, n->x.device, n->state, NULL, n->y_desc,
	    n->y.device, n->weight_bytes, n->dw.device, n->work_bytes, n->work,
	    n->reserve_bytes, n->reserve));
}

/* ---- Threads ----------------------------------------------------------- */

struct result {
	uint64_t bits;
	int wrong, math;
};

static void *
work(void *result)
{
	struct result *r = result;
	cudnnHandle_t handle;
	struct network n;

	MUST(cudnnCreate(&handle));
	r->wrong = churn(word("churn"), 1);
	run(&n, handle);
	r->math = math_of(n.rnn);
	r->bits = hash(hash(hash(0, &n.y), &n.dx), &n.dw);
	MUST(cudnnDestroyRNNDescriptor(n.rnn));
	MUST(cudnnDestroy(handle));
	return NULL;
}

static int
crowd(int count)
{
	enum { MOST = 16 };
	pthread_t thread[MOST];
	struct result result[MOST];

	if (count > MOST)
		return 2;
	for (int i = 0; i < count; i++)
		if (pthread_create(&thread[i], NULL, work, &result[i]))
			return 3;
	for (int i = 0; i < count; i++) {
		pthread_join(thread[i], NULL);
		printf("%016llx wrong %d math %d\n",
		    (unsigned long long)result[i].bits, result[i].wrong,
		    result[i].math);
	}
	return 0;
}

int
main(int argc, char **argv)
{
	cudnnHandle_t handle;
	struct network n;

	for (int i = 1; i < argc; i++) {
		const char *is = strchr(argv[i], '=');
		int at = 0;

		while (at < WORDS && is && (strncmp(words[at].word, argv[i],
		    (size_t)(is - argv[i])) || words[at].word[is - argv[i]]))
			at++;
		if (!is || at == WORDS)
			return 2;
		words[at].value = atoi(is + 1);
	}
	if (word("threads") > 1)
		return crowd(word("threads"));
	if (!word("early"))
		MUST(cudnnCreate(&handle));
	if (word("churn"))
		return churn(word("churn"), 0) != 0;
	if (word("alive"))
		return hold(word("alive"));
	if (word("half") || word("early")) {
		MUST(cudnnCreateRNNDescriptor(&n.rnn));
		MUST(set(n.rnn, word("math"), word("layers")));
		return printf("math %d\n", math_of(n.rnn)) < 0;
	}
	run(&n, handle);
	printf("math %d\nsizes %zu %zu\n", math_of(n.rnn), n.work_bytes,
	    n.reserve_bytes);
	print("y", &n.y);
	print("dx", &n.dx);
	print("dw", &n.dw);
	return 0;
}
