/* SPDX-License-Identifier: Apache-2.0 */
/*
 * examples/digits_cnn.c -- train a small convolutional network to read
 * handwritten digits.
 *
 * An ordinary FP32 CUDA program, written with cuDNN's legacy interface and
 * cuBLAS: twice a 3x3 convolution, bias, ReLU and max pooling, then one fully
 * connected layer and softmax; plain SGD. The loss is taken on the host. It
 * knows nothing of autocast, and its results repeat bit for bit.
 */
#include "digits_device.h"
#include "digits_input.h"
#include "digits_network.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const float first_rate = 0.2f, one = 1.0f, zero = 0.0f;

/* Leaves the chance of each digit in `host`; a batch that is not full keeps
 * what was in its other places. */
static void
forward(struct network *net, const struct dataset *data, const int *order,
    int count)
{
	const float *input = net->input;

	for (int i = 0; i < count; i++)
		memcpy(net->host + (size_t)i * PIXELS, data->pixels +
		    (size_t)order[i] * PIXELS, PIXELS * sizeof(float));
	upload(net->input, net->host, (size_t)count * PIXELS);
	for (int i = 0; i < STAGES; i++) {
		struct stage *s = &net->stage[i];

		DNN(cudnnConvolutionForward(net->dnn, &one, input_of(net, i),
		    input, s->filter, net->values + s->weights,
		    net->convolution, s->forward, net->workspace,
		    net->workspace_bytes, &zero, s->shape, s->values));
		DNN(cudnnAddTensor(net->dnn, &one, s->bias_shape, net->values +
		    s->bias, &one, s->shape, s->values));
		DNN(cudnnActivationForward(net->dnn, net->relu, &one, s->shape,
		    s->values, &zero, s->shape, s->values));
		DNN(cudnnPoolingForward(net->dnn, net->pooling, &one, s->shape,
		    s->values, &zero, s->pooled_shape, s->pooled));
		input = s->pooled;
	}
	BLAS(cublasSgemm(net->blas, CUBLAS_OP_N, CUBLAS_OP_N, CLASSES,
	    net->batch, net->features, &one, net->values + net->weights,
	    CLASSES, input, net->features, &zero, net->logits, CLASSES));
	DNN(cudnnAddTensor(net->dnn, &one, net->bias_shape, net->values +
	    net->bias, &one, net->logit_shape, net->logits));
	DNN(cudnnSoftmaxForward(net->dnn, CUDNN_SOFTMAX_ACCURATE,
	    CUDNN_SOFTMAX_MODE_INSTANCE, &one, net->logit_shape, net->logits,
	    &zero, net->logit_shape, net->chances));
	download(net->host, net->chances, (size_t)net->batch * CLASSES);
}

/* Turns the chances into the gradient of the mean loss, times `scale`;
 * returns the loss summed over the batch. */
static double
cross_entropy(struct network *net, const struct dataset *data,
    const int *order, float scale)
{
	double loss = 0;

	for (int i = 0; i < net->batch; i++) {
		float *p = net->host + (size_t)i * CLASSES;
		const int label = data->labels[order[i]];

		loss -= log(fmax((double)p[label], 1e-30));
		for (int c = 0; c < CLASSES; c++)
			p[c] = (p[c] - (float)(c == label)) * scale /
			    (float)net->batch;
	}
	upload(net->delta, net->host, (size_t)net->batch * CLASSES);
	return loss;
}

static void
stage_backward(struct network *net, int index)
{
	const struct stage *s = &net->stage[index];
	const struct stage *before = index ? s - 1 : NULL;

	DNN(cudnnPoolingBackward(net->dnn, net->pooling, &one, s->pooled_shape,
	    s->pooled, s->pooled_shape, s->pooled_delta, s->shape, s->values,
	    &zero, s->shape, s->delta));
	DNN(cudnnActivationBackward(net->dnn, net->relu, &one, s->shape,
	    s->values, s->shape, s->delta, s->shape, s->values, &zero,
	    s->shape, s->delta));
	DNN(cudnnConvolutionBackwardBias(net->dnn, &one, s->shape, s->delta,
	    &zero, s->bias_shape, net->gradient + s->bias));
	DNN(cudnnConvolutionBackwardFilter(net->dnn, &one,
	    input_of(net, index), before ? before->pooled : net->input,
	    s->shape, s->delta, net->convolution, s->backward_filter,
	    net->workspace, net->workspace_bytes, &zero, s->filter,
	    net->gradient + s->weights));
	if (before)
		DNN(cudnnConvolutionBackwardData(net->dnn, &one, s->filter,
		    net->values + s->weights, s->shape, s->delta,
		    net->convolution, s->backward_data, net->workspace,
		    net->workspace_bytes, &zero, before->pooled_shape,
		    before->pooled_delta));
}

static void
backward(struct network *net)
{
	const struct stage *last = &net->stage[STAGES - 1];

	BLAS(cublasSgemm(net->blas, CUBLAS_OP_N, CUBLAS_OP_T, CLASSES,
	    net->features, net->batch, &one, net->delta, CLASSES, last->pooled,
	    net->features, &zero, net->gradient + net->weights, CLASSES));
	DNN(cudnnConvolutionBackwardBias(net->dnn, &one, net->logit_shape,
	    net->delta, &zero, net->bias_shape, net->gradient + net->bias));
	BLAS(cublasSgemm(net->blas, CUBLAS_OP_T, CUBLAS_OP_N, net->features,
	    net->batch, CLASSES, &one, net->values + net->weights, CLASSES,
	    net->delta, CLASSES, &zero, last->pooled_delta, net->features));
	for (int i = STAGES - 1; i >= 0; i--)
		stage_backward(net, i);
}

static double
accuracy(struct network *net, const struct dataset *data, const int *order,
    int count)
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

/* Every batch is full: what is left of an epoch is not seen in it. */
static void
train(struct network *net, const struct dataset *data, int *order,
    const struct options *opt, uint64_t *state)
{
	const int seen = data->count / 5 * 4 + data->count % 5 * 4 / 5;
	const int steps = seen / net->batch;
	double right = 0;

	shuffle(order, data->count, state);
	for (int epoch = 0; epoch < opt->epochs; epoch++) {
		/* falls to zero in a straight line, so that the end is calm */
		const float step = -first_rate / opt->loss_scale *
		    (float)(opt->epochs - epoch) / (float)opt->epochs;
		double loss = 0;

		shuffle(order, seen, state);
		for (int i = 0; i < steps; i++) {
			const int *batch = order + i * net->batch;

			forward(net, data, batch, net->batch);
			loss += cross_entropy(net, data, batch,
			    opt->loss_scale);
			backward(net);
			BLAS(cublasSaxpy(net->blas, (int)net->parameters,
			    &step, net->gradient, 1, net->values, 1));
		}
		right = accuracy(net, data, order + seen, data->count - seen);
		printf("epoch %2d  train loss %.4f  test accuracy %.4f\n",
		    epoch + 1, loss / (steps * net->batch), right);
		fflush(stdout);
	}
	printf("test accuracy %.4f\n", right);
}

int
main(int argc, char **argv)
{
	struct options opt = options_parse(argc, argv);
	uint64_t state = 1;
	struct dataset data;
	struct network net;
	int *order;

	if (dataset_load(opt.data, &data))
		return EXIT_BAD_INPUT;
	if (opt.batch > data.count / 2)
		opt.batch = data.count / 2;
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
