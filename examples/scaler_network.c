/* SPDX-License-Identifier: Apache-2.0 */
/*
 * examples/scaler_network.c -- a small network whose gradients are stored in
 * FP16 on their way back. Products are cuBLAS calls; ReLU, softmax and the
 * conversions run on the host between copies, where a program of your own has
 * kernels.
 */
#include "scaler_network.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- FP16 -------------------------------------------------------------- */

/* The nearest FP16, ties to even; too large is infinite. */
static half
to_half(float value)
{
	union { float number; uint32_t bits; } v = { value };
	const uint32_t sign = v.bits >> 16 & 0x8000;

	v.bits &= 0x7fffffff;
	if (isnan(value))
		return 0x7e00;
	if (v.number >= 65520.0f)
		return (half)(sign | 0x7c00);
	if (v.number < 0x1p-14f) { /* 2^-24 is the last place of 0.5 */
		v.number += 0.5f;
		return (half)(sign | (v.bits - 0x3f000000));
	}
	v.bits += 0xfff + (v.bits >> 13 & 1) - (112u << 23);
	return (half)(sign | v.bits >> 13);
}

static half *
device_halves(size_t count)
{
	void *memory;

	CUDA(cudaMalloc(&memory, count * sizeof(half)));
	CUDA(cudaMemset(memory, 0, count * sizeof(half)));
	return memory;
}

/* Host FP32 to device FP16; returns how many became 0. */
static size_t
store(struct network *net, half *device, const float *values, size_t count)
{
	size_t flushed = 0;

	for (size_t i = 0; i < count; i++) {
		net->host_half[i] = to_half(values[i]);
		flushed += values[i] != 0 && !(net->host_half[i] & 0x7fff);
	}
	CUDA(cudaMemcpy(device, net->host_half, count * sizeof(half),
	    cudaMemcpyHostToDevice));
	return flushed;
}

/* ---- Setting up -------------------------------------------------------- */

static void
layers_init(struct network *net)
{
	static const int width[LAYERS + 1] = { PIXELS, HIDDEN, CLASSES };

	for (int i = 0; i < LAYERS; i++) {
		struct layer *l = &net->layer[i];

		l->in = width[i];
		l->out = width[i + 1];
		l->weights = net->parameters;
		l->bias = l->weights + (size_t)l->in * (size_t)l->out;
		net->parameters = l->bias + (size_t)l->out;
	}
}

void
network_init(struct network *net, int batch, uint64_t *state)
{
	const size_t widest = (size_t)PIXELS * (size_t)batch;
	size_t room;

	memset(net, 0, sizeof *net);
	net->batch = batch;
	layers_init(net);
	room = net->parameters > widest ? net->parameters : widest;
	net->host = allocate(room, sizeof(float));
	net->host_half = allocate(room, sizeof(half));
	net->host_mask = allocate(room, sizeof(half));
	BLAS(cublasCreate(&net->blas));
	net->values = device_floats(net->parameters);
	net->gradient = device_floats(net->parameters);
	net->half_values = device_halves(net->parameters);
	net->sums = device_floats(widest);
	net->seed = device_floats((size_t)CLASSES * (size_t)batch);
	for (int i = 0; i <= LAYERS; i++) {
		net->activation[i] = device_halves(widest);
		net->delta[i] = device_halves(widest);
	}
	for (int i = 0; i < LAYERS; i++) /* He et al. 2015; biases are 0 */
		for (size_t j = net->layer[i].weights; j < net->layer[i].bias;
		     j++)
			net->host[j] = sqrtf(6.0f / (float)net->layer[i].in) *
			    random_symmetric(state);
	upload(net->values, net->host, net->parameters);
	for (int i = 0; i < batch; i++)
		net->host[i] = 1.0f;
	net->ones = device_halves((size_t)batch);
	store(net, net->ones, net->host, (size_t)batch);
}

void
network_fini(struct network *net)
{
	for (int i = 0; i <= LAYERS; i++) {
		CUDA(cudaFree(net->activation[i]));
		CUDA(cudaFree(net->delta[i]));
	}
	CUDA(cudaFree(net->ones));
	CUDA(cudaFree(net->seed));
	CUDA(cudaFree(net->sums));
	CUDA(cudaFree(net->half_values));
	CUDA(cudaFree(net->gradient));
	CUDA(cudaFree(net->values));
	BLAS(cublasDestroy(net->blas));
	free(net->host_mask);
	free(net->host_half);
	free(net->host);
}

/* ---- Forward ----------------------------------------------------------- */

/* C = A B + beta C, with A and B in FP16. */
static void
product(struct network *net, cublasOperation_t ta, cublasOperation_t tb, int m,
    int n, int k, const half *a, int lda, const half *b, int ldb, float beta,
    void *c, cudaDataType type)
{
	const float one = 1.0f;

	BLAS(cublasGemmEx(net->blas, ta, tb, m, n, k, &one, a, CUDA_R_16F, lda,
	    b, CUDA_R_16F, ldb, &beta, c, type, m, CUBLAS_COMPUTE_32F,
	    CUBLAS_GEMM_DEFAULT));
}

/* Leaves the logits in net->host. */
static void
forward(struct network *net, const struct dataset *data, const int *order,
    int count)
{
	float biases[LAYERS][HIDDEN];

	download(net->host, net->values, net->parameters);
	for (int i = 0; i < LAYERS; i++)
		memcpy(biases[i], net->host + net->layer[i].bias,
		    (size_t)net->layer[i].out * sizeof(float));
	store(net, net->half_values, net->host, net->parameters);
	for (int i = 0; i < count; i++)
		memcpy(net->host + (size_t)i * PIXELS, data->pixels +
		    (size_t)order[i] * PIXELS, PIXELS * sizeof(float));
	store(net, net->activation[0], net->host, (size_t)count * PIXELS);
	for (int i = 0; i < LAYERS; i++) {
		const struct layer *l = &net->layer[i];
		const size_t size = (size_t)l->out * (size_t)count;

		product(net, CUBLAS_OP_N, CUBLAS_OP_N, l->out, count, l->in,
		    net->half_values + l->weights, l->out, net->activation[i],
		    l->in, 0, net->sums, CUDA_R_32F);
		download(net->host, net->sums, size);
		for (size_t j = 0; j < size; j++)
			net->host[j] += biases[i][j % (size_t)l->out];
		if (i == LAYERS - 1)
			break;
		for (size_t j = 0; j < size; j++)
			net->host[j] = net->host[j] > 0 ? net->host[j] : 0.0f;
		store(net, net->activation[i + 1], net->host, size);
	}
}

/* Turns one scan's logits into the gradient of `weight` times its loss. */
static double
cross_entropy(float *p, int label, float weight)
{
	float top = p[0], sum = 0;
	double loss;

	for (int c = 1; c < CLASSES; c++)
		top = p[c] > top ? p[c] : top;
	loss = (double)top - (double)p[label];
	for (int c = 0; c < CLASSES; c++)
		sum += p[c] = expf(p[c] - top);
	for (int c = 0; c < CLASSES; c++)
		p[c] = (p[c] / sum - (float)(c == label)) * weight;
	return loss + log((double)sum);
}

double
network_loss(struct network *net, const struct dataset *data, const int *order,
    float weight)
{
	double loss = 0;

	forward(net, data, order, net->batch);
	for (int i = 0; i < net->batch; i++)
		loss += cross_entropy(net->host + i * CLASSES,
		    data->labels[order[i]], weight / (float)net->batch);
	upload(net->seed, net->host, (size_t)net->batch * CLASSES);
	return loss / net->batch;
}

/* ---- Backward ---------------------------------------------------------- */

/* Where ReLU let nothing through, nothing comes back. */
static void
relu_backward(struct network *net, int index, size_t count)
{
	CUDA(cudaMemcpy(net->host_mask, net->activation[index], count *
	    sizeof(half), cudaMemcpyDeviceToHost));
	CUDA(cudaMemcpy(net->host_half, net->delta[index], count *
	    sizeof(half), cudaMemcpyDeviceToHost));
	for (size_t i = 0; i < count; i++)
		if (!net->host_mask[i])
			net->host_half[i] = 0;
	CUDA(cudaMemcpy(net->delta[index], net->host_half, count *
	    sizeof(half), cudaMemcpyHostToDevice));
}

void
network_backward(struct network *net, bool is_added)
{
	const size_t seeds = (size_t)net->batch * CLASSES;
	const float beta = is_added ? 1.0f : 0.0f;

	download(net->host, net->seed, seeds);
	net->flushed += store(net, net->delta[LAYERS], net->host, seeds);
	net->stored += seeds;
	for (int i = LAYERS - 1; i >= 0; i--) {
		const struct layer *l = &net->layer[i];

		product(net, CUBLAS_OP_N, CUBLAS_OP_T, l->out, l->in,
		    net->batch, net->delta[i + 1], l->out, net->activation[i],
		    l->in, beta, net->gradient + l->weights, CUDA_R_32F);
		product(net, CUBLAS_OP_N, CUBLAS_OP_N, l->out, 1, net->batch,
		    net->delta[i + 1], l->out, net->ones, net->batch, beta,
		    net->gradient + l->bias, CUDA_R_32F);
		if (i == 0)
			break;
		product(net, CUBLAS_OP_T, CUBLAS_OP_N, l->in, net->batch,
		    l->out, net->half_values + l->weights, l->out,
		    net->delta[i + 1], l->out, 0, net->delta[i], CUDA_R_16F);
		relu_backward(net, i, (size_t)l->in * (size_t)net->batch);
	}
}

void
network_step(struct network *net, float rate)
{
	const float step = -rate;

	BLAS(cublasSaxpy(net->blas, (int)net->parameters, &step,
	    net->gradient, 1, net->values, 1));
}

/* ---- Measuring --------------------------------------------------------- */

double
network_accuracy(struct network *net, const struct dataset *data,
    const int *order, int count)
{
	int right = 0;

	for (int first = 0; first < count; first += net->batch) {
		const int rest = count - first;
		const int size = rest < net->batch ? rest : net->batch;

		forward(net, data, order + first, size);
		right += dataset_right(data, order + first, size, net->host);
	}
	return (double)right / count;
}

/* ---- Data and options -------------------------------------------------- */

struct scans
scans_load(const struct options *opt)
{
	struct scans scans;
	uint64_t state = 1;

	if (dataset_load(opt->data, &scans.data))
		exit(EXIT_BAD_INPUT);
	scans.order = allocate((size_t)scans.data.count, sizeof(int));
	for (int i = 0; i < scans.data.count; i++)
		scans.order[i] = i;
	shuffle(scans.order, scans.data.count, &state);
	scans.seen = scans.data.count - scans.data.count / 5;
	scans.batches = scans.seen / opt->batch;
	if (!scans.batches)
		fail("training", "the batch is larger than the data");
	return scans;
}

static int
by_number(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

void
scans_shuffle(struct scans *scans, int epoch)
{
	uint64_t state = (uint64_t)epoch + 2;

	qsort(scans->order, (size_t)scans->seen, sizeof(int), by_number);
	shuffle(scans->order, scans->seen, &state);
}

double
scans_accuracy(const struct scans *scans, struct network *net)
{
	return network_accuracy(net, &scans->data, scans->order + scans->seen,
	    scans->data.count - scans->seen);
}

void
scans_free(struct scans *scans)
{
	dataset_free(&scans->data);
	free(scans->order);
}

bool
take_flag(int *argc, char **argv, const char *flag)
{
	for (int i = 1; i < *argc; i++)
		if (!strcmp(argv[i], flag)) {
			memmove(argv + i, argv + i + 1,
			    (size_t)(*argc - i) * sizeof *argv);
			--*argc;
			return true;
		}
	return false;
}
