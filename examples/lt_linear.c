/* SPDX-License-Identifier: Apache-2.0 */
/*
 * examples/lt_linear.c -- train a perceptron of two layers, with GELU, to read
 * handwritten digits by cublasLt, as fused layers do (apex, llm.c).
 *
 * An ordinary FP32 CUDA program. Biases, GELU and their gradients are epilogues
 * of the products: GELU_AUX_BIAS and BIAS forward, BGRADB and DGELU_BGRAD
 * backward. Descriptors live on the stack; each call asks the heuristics.
 * Momentum and update are cuBLAS calls, softmax and loss run on the host. It
 * knows nothing of autocast, and its results repeat bit for bit.
 */
#include "digits_device.h"
#include "digits_input.h"

#include <cublasLt.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HIDDEN = 256, ASKED = 5, WORKSPACE = 4 << 20 };

static const float momentum = 0.9f, first_rate = 0.02f;

/* Offsets into the flat parameter arrays; weights are in x out. */
enum {
	WEIGHTS_1 = 0, BIAS_1 = PIXELS * HIDDEN,
	WEIGHTS_2 = BIAS_1 + HIDDEN, BIAS_2 = WEIGHTS_2 + HIDDEN * CLASSES,
	PARAMETERS = BIAS_2 + CLASSES
};

struct network {
	cublasHandle_t   blas;
	cublasLtHandle_t lt;
	void  *workspace;
	float *values, *gradient, *velocity; /* device, PARAMETERS each */
	/* Device, a column for each scan. `before` is what GELU is of; deltas
	 * are the gradients of it and of the scores. */
	float *scans, *before, *hidden, *scores, *delta_1, *delta_2;
	float *host_scans, *host_scores;
};

/* ---- one product --------------------------------------------------------- */

/* D (m x n) = op(A) op(B), k between them, and an epilogue: `vector` is a bias
 * or where its gradient goes, `aux` goes with GELU. All are packed. */
struct product {
	cublasOperation_t transa, transb;
	int m, n, k;
	const float *a, *b;
	float *d;
	cublasLtEpilogue_t epilogue;
	float *vector, *aux;
};

static void
set(cublasLtMatmulDesc_t operation, cublasLtMatmulDescAttributes_t attribute,
    const void *value, size_t bytes)
{
	BLAS(cublasLtMatmulDescSetAttribute(operation, attribute, value,
	    bytes));
}

#define SET(operation, attribute, value)                                  \
	set(operation, CUBLASLT_MATMUL_DESC_##attribute, &(value),        \
	    sizeof (value))

static void
describe(const struct product *p, cublasLtMatmulDesc_t operation,
    cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
    cublasLtMatrixLayout_t d)
{
	const uint64_t m = (uint64_t)p->m, n = (uint64_t)p->n;
	const uint64_t k = (uint64_t)p->k;
	const bool plain_a = p->transa == CUBLAS_OP_N;
	const bool plain_b = p->transb == CUBLAS_OP_N;
	const int64_t ld = p->m;

	BLAS(cublasLtMatmulDescInit(operation, CUBLAS_COMPUTE_32F,
	    CUDA_R_32F));
	SET(operation, TRANSA, p->transa);
	SET(operation, TRANSB, p->transb);
	SET(operation, EPILOGUE, p->epilogue);
	if (p->vector)
		SET(operation, BIAS_POINTER, p->vector);
	if (p->aux) {
		SET(operation, EPILOGUE_AUX_POINTER, p->aux);
		SET(operation, EPILOGUE_AUX_LD, ld);
	}
	BLAS(cublasLtMatrixLayoutInit(a, CUDA_R_32F, plain_a ? m : k,
	    plain_a ? k : m, (int64_t)(plain_a ? m : k)));
	BLAS(cublasLtMatrixLayoutInit(b, CUDA_R_32F, plain_b ? k : n,
	    plain_b ? n : k, (int64_t)(plain_b ? k : n)));
	BLAS(cublasLtMatrixLayoutInit(d, CUDA_R_32F, m, n, ld));
}

static void
multiply(struct network *net, const struct product *p)
{
	const float one = 1.0f, zero = 0.0f;
	const size_t bytes = WORKSPACE;
	cublasLtMatmulHeuristicResult_t found[ASKED];
	cublasLtMatmulPreferenceOpaque_t preference;
	cublasLtMatmulDescOpaque_t operation;
	cublasLtMatrixLayoutOpaque_t a, b, d;
	int count = 0;

	describe(p, &operation, &a, &b, &d);
	BLAS(cublasLtMatmulPreferenceInit(&preference));
	BLAS(cublasLtMatmulPreferenceSetAttribute(&preference,
	    CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &bytes, sizeof bytes));
	BLAS(cublasLtMatmulAlgoGetHeuristic(net->lt, &operation, &a, &b, &d,
	    &d, &preference, ASKED, found, &count));
	if (!count)
		fail("cublasLtMatmulAlgoGetHeuristic", "no algorithm");
	BLAS(cublasLtMatmul(net->lt, &operation, &one, p->a, &a, p->b, &b,
	    &zero, p->d, &d, p->d, &d, &found[0].algo, net->workspace,
	    WORKSPACE, NULL));
}

/* ---- the network --------------------------------------------------------- */

static void
network_init(struct network *net, int batch, uint64_t *state)
{
	const size_t count = (size_t)batch;
	float *initial = allocate(PARAMETERS, sizeof *initial);

	for (int i = WEIGHTS_1; i < BIAS_1; i++) /* He et al. 2015 */
		initial[i] = sqrtf(6.0f / PIXELS) * random_symmetric(state);
	for (int i = WEIGHTS_2; i < BIAS_2; i++)
		initial[i] = sqrtf(6.0f / HIDDEN) * random_symmetric(state);
	BLAS(cublasCreate(&net->blas));
	BLAS(cublasLtCreate(&net->lt));
	CUDA(cudaMalloc(&net->workspace, WORKSPACE));
	net->values = device_floats(PARAMETERS);
	net->gradient = device_floats(PARAMETERS);
	net->velocity = device_floats(PARAMETERS);
	upload(net->values, initial, PARAMETERS);
	free(initial);
	net->scans = device_floats(count * PIXELS);
	net->before = device_floats(count * HIDDEN);
	net->hidden = device_floats(count * HIDDEN);
	net->scores = device_floats(count * CLASSES);
	net->delta_1 = device_floats(count * HIDDEN);
	net->delta_2 = device_floats(count * CLASSES);
	net->host_scans = allocate(count * PIXELS, sizeof(float));
	net->host_scores = allocate(count * CLASSES, sizeof(float));
}

static void
network_fini(struct network *net)
{
	float *const device[] = { net->values, net->gradient, net->velocity,
		net->scans, net->before, net->hidden, net->scores,
		net->delta_1, net->delta_2 };

	for (size_t i = 0; i < sizeof device / sizeof *device; i++)
		CUDA(cudaFree(device[i]));
	CUDA(cudaFree(net->workspace));
	free(net->host_scans);
	free(net->host_scores);
	BLAS(cublasLtDestroy(net->lt));
	BLAS(cublasDestroy(net->blas));
}

/* Leaves the scores in host_scores. */
static void
forward(struct network *net, const struct dataset *data, const int *order,
    int count)
{
	const struct product first = { CUBLAS_OP_T, CUBLAS_OP_N, HIDDEN, count,
		PIXELS, net->values + WEIGHTS_1, net->scans, net->hidden,
		CUBLASLT_EPILOGUE_GELU_AUX_BIAS, net->values + BIAS_1,
		net->before };
	const struct product second = { CUBLAS_OP_T, CUBLAS_OP_N, CLASSES,
		count, HIDDEN, net->values + WEIGHTS_2, net->hidden,
		net->scores, CUBLASLT_EPILOGUE_BIAS, net->values + BIAS_2,
		NULL };

	for (int i = 0; i < count; i++)
		memcpy(net->host_scans + (size_t)i * PIXELS, data->pixels +
		    (size_t)order[i] * PIXELS, PIXELS * sizeof(float));
	upload(net->scans, net->host_scans, (size_t)count * PIXELS);
	multiply(net, &first);
	multiply(net, &second);
	download(net->host_scores, net->scores, (size_t)count * CLASSES);
}

/* Makes of the scores the gradient of the mean loss, times `scale`; returns
 * the loss summed over the batch. */
static double
softmax_loss(struct network *net, const struct dataset *data, const int *order,
    int count, float scale)
{
	double loss = 0;

	for (int i = 0; i < count; i++) {
		float *p = net->host_scores + (size_t)i * CLASSES;
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
	upload(net->delta_2, net->host_scores, (size_t)count * CLASSES);
	return loss;
}

/* The bias gradients: of layer 2 the sums of B, of layer 1 those of D. */
static void
backward(struct network *net, int count)
{
	const struct product weights_2 = { CUBLAS_OP_N, CUBLAS_OP_T, HIDDEN,
		CLASSES, count, net->hidden, net->delta_2,
		net->gradient + WEIGHTS_2, CUBLASLT_EPILOGUE_BGRADB,
		net->gradient + BIAS_2, NULL };
	const struct product through = { CUBLAS_OP_N, CUBLAS_OP_N, HIDDEN,
		count, CLASSES, net->values + WEIGHTS_2, net->delta_2,
		net->delta_1, CUBLASLT_EPILOGUE_DGELU_BGRAD,
		net->gradient + BIAS_1, net->before };
	const struct product weights_1 = { CUBLAS_OP_N, CUBLAS_OP_T, PIXELS,
		HIDDEN, count, net->scans, net->delta_1,
		net->gradient + WEIGHTS_1, CUBLASLT_EPILOGUE_DEFAULT, NULL,
		NULL };

	multiply(net, &weights_2);
	multiply(net, &through);
	multiply(net, &weights_1);
}

static void
update(struct network *net, float rate)
{
	const float one = 1.0f, step = -rate;

	BLAS(cublasSscal(net->blas, PARAMETERS, &momentum, net->velocity, 1));
	BLAS(cublasSaxpy(net->blas, PARAMETERS, &one, net->gradient, 1,
	    net->velocity, 1));
	BLAS(cublasSaxpy(net->blas, PARAMETERS, &step, net->velocity, 1,
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
		    net->host_scores);
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
		const float rate = first_rate *
		    (float)(opt->epochs - epoch) / (float)opt->epochs;
		double loss = 0;

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
	printf("test accuracy %.4f\n", right);
}

int
main(int argc, char **argv)
{
	const struct options opt = options_parse(argc, argv);
	struct network net = { 0 };
	uint64_t state = 1;
	struct dataset data;
	int *order;

	if (dataset_load(opt.data, &data))
		return EXIT_BAD_INPUT;
	order = allocate((size_t)data.count, sizeof *order);
	for (int i = 0; i < data.count; i++)
		order[i] = i;
	network_init(&net, opt.batch, &state);
	train(&net, &data, order, &opt, &state);
	if (opt.weights)
		save(opt.weights, net.values, PARAMETERS);
	network_fini(&net);
	dataset_free(&data);
	free(order);
	return EXIT_SUCCESS;
}
