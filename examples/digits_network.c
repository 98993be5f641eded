/* SPDX-License-Identifier: Apache-2.0 */
/* examples/digits_network.c -- sets up and frees the network of digits_cnn;
 * computes nothing with it. */
#include "digits_network.h"

#include "digits_input.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FILTER = 3, ALGORITHMS = 8 };

static const int channels[STAGES + 1] = { 1, 16, 32 };

void
check_dnn(cudnnStatus_t status, const char *call)
{
	if (status != CUDNN_STATUS_SUCCESS)
		fail(call, cudnnGetErrorString(status));
}

static cudnnTensorDescriptor_t
tensor(int count, int depth, int side)
{
	cudnnTensorDescriptor_t shape;

	DNN(cudnnCreateTensorDescriptor(&shape));
	DNN(cudnnSetTensor4dDescriptor(shape, CUDNN_TENSOR_NCHW,
	    CUDNN_DATA_FLOAT, count, depth, side, side));
	return shape;
}

static void
layers_init(struct network *net)
{
	DNN(cudnnCreateConvolutionDescriptor(&net->convolution));
	DNN(cudnnSetConvolution2dDescriptor(net->convolution, 1, 1, 1, 1, 1, 1,
	    CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT));
	DNN(cudnnCreateActivationDescriptor(&net->relu));
	DNN(cudnnSetActivationDescriptor(net->relu, CUDNN_ACTIVATION_RELU,
	    CUDNN_NOT_PROPAGATE_NAN, 0));
	DNN(cudnnCreatePoolingDescriptor(&net->pooling));
	DNN(cudnnSetPooling2dDescriptor(net->pooling,
	    CUDNN_POOLING_MAX_DETERMINISTIC, CUDNN_NOT_PROPAGATE_NAN, 2, 2, 0,
	    0, 2, 2));
}

static void
stage_init(struct network *net, int index)
{
	struct stage *s = &net->stage[index];
	const size_t batch = (size_t)net->batch;
	size_t points;

	s->in = channels[index];
	s->out = channels[index + 1];
	s->side = SIDE >> index;
	s->weights = net->parameters;
	s->bias = s->weights + (size_t)(s->out * s->in * FILTER * FILTER);
	net->parameters = s->bias + (size_t)s->out;
	DNN(cudnnCreateFilterDescriptor(&s->filter));
	DNN(cudnnSetFilter4dDescriptor(s->filter, CUDNN_DATA_FLOAT,
	    CUDNN_TENSOR_NCHW, s->out, s->in, FILTER, FILTER));
	s->bias_shape = tensor(1, s->out, 1);
	s->shape = tensor(net->batch, s->out, s->side);
	s->pooled_shape = tensor(net->batch, s->out, s->side / 2);
	points = batch * (size_t)(s->out * s->side * s->side);
	s->values = device_floats(points);
	s->delta = device_floats(points);
	s->pooled = device_floats(points / 4);
	s->pooled_delta = device_floats(points / 4);
}

cudnnTensorDescriptor_t
input_of(const struct network *net, int index)
{
	return index ? net->stage[index - 1].pooled_shape : net->input_shape;
}

static void
need_workspace(struct network *net, size_t bytes)
{
	if (bytes > net->workspace_bytes)
		net->workspace_bytes = bytes;
}

/* The first algorithm that repeats bit for bit. */
#define CHOOSE(kind, found, count, algorithm) do {                        \
	int best_ = 0;                                                    \
	while (best_ < (count) && ((found)[best_].status                  \
	    || (found)[best_].determinism != CUDNN_DETERMINISTIC))        \
		best_++;                                                  \
	if (best_ == (count))                                             \
		fail("cudnnGetConvolution" kind "Algorithm_v7",           \
		    "no deterministic algorithm");                        \
	*(algorithm) = (found)[best_].algo;                               \
} while (0)

static void
choose_forward(struct network *net, int index)
{
	struct stage *s = &net->stage[index];
	cudnnConvolutionFwdAlgoPerf_t found[ALGORITHMS];
	size_t bytes;
	int count;

	DNN(cudnnGetConvolutionForwardAlgorithm_v7(net->dnn,
	    input_of(net, index), s->filter, net->convolution, s->shape,
	    ALGORITHMS, &count, found));
	CHOOSE("Forward", found, count, &s->forward);
	DNN(cudnnGetConvolutionForwardWorkspaceSize(net->dnn,
	    input_of(net, index), s->filter, net->convolution, s->shape,
	    s->forward, &bytes));
	need_workspace(net, bytes);
}

static void
choose_backward(struct network *net, int index)
{
	struct stage *s = &net->stage[index];
	const cudnnTensorDescriptor_t input = input_of(net, index);
	cudnnConvolutionBwdFilterAlgoPerf_t filter[ALGORITHMS];
	cudnnConvolutionBwdDataAlgoPerf_t data[ALGORITHMS];
	size_t bytes;
	int count;

	DNN(cudnnGetConvolutionBackwardFilterAlgorithm_v7(net->dnn, input,
	    s->shape, net->convolution, s->filter, ALGORITHMS, &count,
	    filter));
	CHOOSE("BackwardFilter", filter, count, &s->backward_filter);
	DNN(cudnnGetConvolutionBackwardFilterWorkspaceSize(net->dnn, input,
	    s->shape, net->convolution, s->filter, s->backward_filter,
	    &bytes));
	need_workspace(net, bytes);
	DNN(cudnnGetConvolutionBackwardDataAlgorithm_v7(net->dnn, s->filter,
	    s->shape, net->convolution, input, ALGORITHMS, &count, data));
	CHOOSE("BackwardData", data, count, &s->backward_data);
	DNN(cudnnGetConvolutionBackwardDataWorkspaceSize(net->dnn, s->filter,
	    s->shape, net->convolution, input, s->backward_data, &bytes));
	need_workspace(net, bytes);
}

/* He et al. 2015; biases are 0. */
static void
values_init(struct network *net, uint64_t *state)
{
	float *initial = allocate(net->parameters, sizeof *initial);

	for (int i = 0; i < STAGES; i++)
		for (size_t j = net->stage[i].weights;
		    j < net->stage[i].bias; j++)
			initial[j] = random_symmetric(state) * sqrtf(6.0f /
			    (float)(net->stage[i].in * FILTER * FILTER));
	for (size_t j = net->weights; j < net->bias; j++)
		initial[j] = random_symmetric(state) *
		    sqrtf(6.0f / (float)net->features);
	net->values = device_floats(net->parameters);
	net->gradient = device_floats(net->parameters);
	upload(net->values, initial, net->parameters);
	free(initial);
}

void
network_init(struct network *net, int batch, uint64_t *state)
{
	const int side = SIDE >> STAGES;
	const size_t count = (size_t)batch;

	memset(net, 0, sizeof *net);
	net->batch = batch;
	net->features = channels[STAGES] * side * side;
	DNN(cudnnCreate(&net->dnn));
	BLAS(cublasCreate(&net->blas));
	layers_init(net);
	net->input_shape = tensor(batch, 1, SIDE);
	net->logit_shape = tensor(batch, CLASSES, 1);
	net->bias_shape = tensor(1, CLASSES, 1);
	for (int i = 0; i < STAGES; i++) {
		stage_init(net, i);
		choose_forward(net, i);
		choose_backward(net, i);
	}
	net->weights = net->parameters;
	net->bias = net->weights + (size_t)(CLASSES * net->features);
	net->parameters = net->bias + CLASSES;
	values_init(net, state);
	net->input = device_floats(count * PIXELS);
	net->logits = device_floats(count * CLASSES);
	net->chances = device_floats(count * CLASSES);
	net->delta = device_floats(count * CLASSES);
	net->host = allocate(count * PIXELS, sizeof(float));
	if (net->workspace_bytes)
		CUDA(cudaMalloc(&net->workspace, net->workspace_bytes));
}

static void
stage_fini(struct stage *s)
{
	CUDA(cudaFree(s->values));
	CUDA(cudaFree(s->pooled));
	CUDA(cudaFree(s->delta));
	CUDA(cudaFree(s->pooled_delta));
	DNN(cudnnDestroyTensorDescriptor(s->bias_shape));
	DNN(cudnnDestroyTensorDescriptor(s->shape));
	DNN(cudnnDestroyTensorDescriptor(s->pooled_shape));
	DNN(cudnnDestroyFilterDescriptor(s->filter));
}

void
network_fini(struct network *net)
{
	void *const memory[] = { net->values, net->gradient, net->input,
		net->logits, net->chances, net->delta, net->workspace };

	for (int i = 0; i < STAGES; i++)
		stage_fini(&net->stage[i]);
	for (size_t i = 0; i < sizeof memory / sizeof *memory; i++)
		CUDA(cudaFree(memory[i]));
	free(net->host);
	DNN(cudnnDestroyTensorDescriptor(net->input_shape));
	DNN(cudnnDestroyTensorDescriptor(net->logit_shape));
	DNN(cudnnDestroyTensorDescriptor(net->bias_shape));
	DNN(cudnnDestroyConvolutionDescriptor(net->convolution));
	DNN(cudnnDestroyActivationDescriptor(net->relu));
	DNN(cudnnDestroyPoolingDescriptor(net->pooling));
	BLAS(cublasDestroy(net->blas));
	DNN(cudnnDestroy(net->dnn));
}
