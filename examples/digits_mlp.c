/* SPDX-License-Identifier: Apache-2.0 */
/*
 * examples/digits_mlp.c -- train a small network to read handwritten digits.
 *
 * An ordinary FP32 CUDA program, written with cuBLAS alone: 64-256-256-10 (or
 * --width), ReLU, softmax cross-entropy, SGD with momentum. Products, biases,
 * momentum and update are cuBLAS calls; ReLU, softmax and loss run on the host
 * between copies. It knows nothing of autocast, and its results repeat bit for
 * bit.
 */
#include "digits_device.h"
#include "digits_input.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LAYERS = 3 };

static int width[LAYERS + 1] = { PIXELS, 256, 256, CLASSES };
static const float momentum = 0.9f;

/* Offsets into the flat parameter arrays; weights are out x in. */
struct layer {
	int    in, out;
	size_t weights, bias;
};

struct network {
	cublasHandle_t blas;
	struct layer layer[LAYERS];
	size_t parameters;
	float *values, *gradient, *velocity; /* device, `parameters` each */
	float *ones;                         /* device, one per scan */
	float *activation[LAYERS + 1];       /* device, width x batch */
	float *delta[LAYERS + 1];            /* device, d loss / d activation */
	float *host[LAYERS + 1];             /* activations, after ReLU */
	float *scratch;                      /* host, widest layer x batch */
	int    is_timed;                     /* products, from now on */
	double milliseconds;                 /* of GPU time, in them */
	cudaEvent_t before, after;
};

static void
network_init(struct network *net, int batch, uint64_t *state)
{
	float *initial;
	int widest = 0;

	memset(net, 0, sizeof *net);
	for (int i = 0; i < LAYERS; i++) {
		struct layer *l = &net->layer[i];
		l->in = width[i];
		l->out = width[i + 1];
		l->weights = net->parameters;
		l->bias = l->weights + (size_t)l->in * (size_t)l->out;
		net->parameters = l->bias + (size_t)l->out;
	}
	initial = allocate(net->parameters, sizeof *initial);
	for (int i = 0; i < LAYERS; i++) { /* He et al. 2015; biases are 0 */
		const struct layer *l = &net->layer[i];
		for (size_t j = l->weights; j < l->bias; j++)
			initial[j] = sqrtf(6.0f / (float)l->in) *
			    random_symmetric(state);
	}
	BLAS(cublasCreate(&net->blas));
	CUDA(cudaEventCreate(&net->before));
	CUDA(cudaEventCreate(&net->after));
	net->values = device_floats(net->parameters);
	net->gradient = device_floats(net->parameters);
	net->velocity = device_floats(net->parameters);
	upload(net->values, initial, net->parameters);
	free(initial);
	for (int i = 0; i <= LAYERS; i++) {
		const size_t count = (size_t)width[i] * (size_t)batch;
		net->activation[i] = device_floats(count);
		net->delta[i] = device_floats(count);
		net->host[i] = allocate(count, sizeof(float));
		widest = width[i] > widest ? width[i] : widest;
	}
	net->scratch = allocate((size_t)widest * (size_t)batch, sizeof(float));
	net->ones = device_floats((size_t)batch);
	for (int i = 0; i < batch; i++)
		net->scratch[i] = 1.0f;
	upload(net->ones, net->scratch, (size_t)batch);
}

static void
network_fini(struct network *net)
{
	for (int i = 0; i <= LAYERS; i++) {
		CUDA(cudaFree(net->activation[i]));
		CUDA(cudaFree(net->delta[i]));
		free(net->host[i]);
	}
	free(net->scratch);
	CUDA(cudaFree(net->ones));
	CUDA(cudaFree(net->velocity));
	CUDA(cudaFree(net->gradient));
	CUDA(cudaFree(net->values));
	CUDA(cudaEventDestroy(net->before));
	CUDA(cudaEventDestroy(net->after));
	BLAS(cublasDestroy(net->blas));
}

/* C = A B, m x n; a matrix that is not transposed has its rows as its leading
 * dimension. Inlined, so that profilers tell forward and backward apart. */
static inline __attribute__((always_inline)) void
multiply(struct network *net, cublasOperation_t ta, cublasOperation_t tb,
    int m, int n, int k, const float *a, const float *b, float *c)
{
	const float one = 1.0f, zero = 0.0f;
	float milliseconds;

	if (net->is_timed)
		CUDA(cudaEventRecord(net->before, NULL));
	BLAS(cublasSgemm(net->blas, ta, tb, m, n, k, &one, a,
	    ta == CUBLAS_OP_N ? m : k, b, tb == CUBLAS_OP_N ? k : n, &zero, c,
	    m));
	if (!net->is_timed)
		return;
	CUDA(cudaEventRecord(net->after, NULL));
	CUDA(cudaEventSynchronize(net->after));
	CUDA(cudaEventElapsedTime(&milliseconds, net->before, net->after));
	net->milliseconds += (double)milliseconds;
}

/* Leaves the logits in host[LAYERS]. */
static void
forward(struct network *net, const struct dataset *data, const int *order,
    int count)
{
	const float one = 1.0f;

	for (int i = 0; i < count; i++)
		memcpy(net->host[0] + (size_t)i * PIXELS, data->pixels +
		    (size_t)order[i] * PIXELS, PIXELS * sizeof(float));
	upload(net->activation[0], net->host[0], (size_t)count * PIXELS);
	for (int i = 0; i < LAYERS; i++) {
		const struct layer *l = &net->layer[i];
		const size_t size = (size_t)l->out * (size_t)count;
		float *next = net->activation[i + 1];
		float *seen = net->host[i + 1];

		multiply(net, CUBLAS_OP_N, CUBLAS_OP_N, l->out, count, l->in,
		    net->values + l->weights, net->activation[i], next);
		BLAS(cublasSger(net->blas, l->out, count, &one,
		    net->values + l->bias, 1, net->ones, 1, next, l->out));
		download(seen, next, size);
		if (i == LAYERS - 1)
			break;
		for (size_t j = 0; j < size; j++)
			seen[j] = seen[j] > 0 ? seen[j] : 0.0f;
		upload(next, seen, size);
	}
}

/* Turns the logits into the gradient of the mean loss, times `scale`;
 * returns the loss summed over the batch. */
static double
softmax_loss(struct network *net, const struct dataset *data, const int *order,
    int count, float scale)
{
	double loss = 0;

	for (int i = 0; i < count; i++) {
		float *p = net->host[LAYERS] + (size_t)i * CLASSES;
		const int label = data->labels[order[i]];
		float top = p[0], sum = 0;

		for (int c = 1; c < CLASSES; c++)
			top = p[c] > top ? p[c] : top;
		loss -= (double)p[label] - (double)top;
		for (int c = 0; c < CLASSES; c++)
			sum += p[c] = expf(p[c] - top);
		loss += log((double)sum);
		for (int c = 0; c < CLASSES; c++)
			p[c] = (p[c] / sum - (float)(c == label)) * scale /
			    (float)count;
	}
	upload(net->delta[LAYERS], net->host[LAYERS], (size_t)count * CLASSES);
	return loss;
}

static void
backward(struct network *net, int count)
{
	const float one = 1.0f, zero = 0.0f;

	for (int i = LAYERS - 1; i >= 0; i--) {
		const struct layer *l = &net->layer[i];
		const size_t size = (size_t)l->in * (size_t)count;
		const float *delta = net->delta[i + 1];

		multiply(net, CUBLAS_OP_N, CUBLAS_OP_T, l->out, l->in, count,
		    delta, net->activation[i], net->gradient + l->weights);
		BLAS(cublasSgemv(net->blas, CUBLAS_OP_N, l->out, count, &one,
		    delta, l->out, net->ones, 1, &zero,
		    net->gradient + l->bias, 1));
		if (i == 0)
			break;
		multiply(net, CUBLAS_OP_T, CUBLAS_OP_N, l->in, count, l->out,
		    net->values + l->weights, delta, net->delta[i]);
		download(net->scratch, net->delta[i], size);
		for (size_t j = 0; j < size; j++)
			if (!(net->host[i][j] > 0))
				net->scratch[j] = 0.0f;
		upload(net->delta[i], net->scratch, size);
	}
}

static void
update(struct network *net, float rate)
{
	const int count = (int)net->parameters;
	const float one = 1.0f, step = -rate;

	BLAS(cublasSscal(net->blas, count, &momentum, net->velocity, 1));
	BLAS(cublasSaxpy(net->blas, count, &one, net->gradient, 1,
	    net->velocity, 1));
	BLAS(cublasSaxpy(net->blas, count, &step, net->velocity, 1,
	    net->values, 1));
}

static double
accuracy(struct network *net, const struct dataset *data, const int *order,
    int count, int batch)
{
	int right = 0;

	for (int first = 0; first < count; first += batch) {
		int size = count - first < batch ? count - first : batch;

		forward(net, data, order + first, size);
		right += dataset_right(data, order + first, size,
		    net->host[LAYERS]);
	}
	return (double)right / count;
}

static void
train(struct network *net, const struct dataset *data, int *order,
    const struct options *opt, uint64_t *state)
{
	const int seen = data->count / 5 * 4 + data->count % 5 * 4 / 5;
	const int held = data->count - seen;
	double right = 0;

	shuffle(order, data->count, state);
	for (int epoch = 0; epoch < opt->epochs; epoch++) {
		/* falls to zero in a straight line, so that the end is calm */
		const float rate = opt->rate *
		    (float)(opt->epochs - epoch) / (float)opt->epochs;
		double loss = 0;

		net->is_timed = opt->is_timed && epoch == opt->epochs - 1;
		shuffle(order, seen, state);
		for (int first = 0; first < seen; first += opt->batch) {
			const int rest = seen - first;
			const int size = rest < opt->batch ? rest : opt->batch;

			forward(net, data, order + first, size);
			loss += softmax_loss(net, data, order + first, size,
			    opt->loss_scale);
			backward(net, size);
			update(net, rate / opt->loss_scale);
		}
		right = accuracy(net, data, order + seen, held, opt->batch);
		printf("epoch %2d  train loss %.4f  test accuracy %.4f\n",
		    epoch + 1, loss / seen, right);
		fflush(stdout);
	}
	if (opt->is_timed)
		printf("GPU time of the last epoch's products %.0f us\n",
		    net->milliseconds * 1000);
	printf("test accuracy %.4f\n", right);
}

int
main(int argc, char **argv)
{
	const struct options opt = options_parse_mlp(argc, argv);
	uint64_t state = 1;
	struct dataset data;
	struct network net;
	int *order;

	if (dataset_load(opt.data, &data))
		return EXIT_BAD_INPUT;
	width[1] = width[2] = opt.width;
	order = allocate((size_t)data.count, sizeof *order);
	for (int i = 0; i < data.count; i++)
		order[i] = i;
	network_init(&net, opt.batch, &state);
	train(&net, &data, order, &opt, &state);
	if (opt.weights)
		save(opt.weights, net.values, net.parameters);
	network_fini(&net);
	dataset_free(&data);
	free(order);
	return EXIT_SUCCESS;
}
