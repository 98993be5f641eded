/* SPDX-License-Identifier: Apache-2.0 */
/* examples/digits_network.h -- the convolutional network of digits_cnn: its
 * shapes, its memory, and which of cuDNN's algorithms it takes. */
#ifndef EXAMPLES_DIGITS_NETWORK_H
#define EXAMPLES_DIGITS_NETWORK_H

#include "digits_device.h"

#include <cudnn.h>

enum { STAGES = 2, SIDE = 8 };

/* Convolution, bias and ReLU, in place, then pooling, which halves the side. */
struct stage {
	int    in, out, side;
	size_t weights, bias; /* offsets into the parameters */
	cudnnFilterDescriptor_t filter;
	cudnnTensorDescriptor_t bias_shape, shape, pooled_shape;
	cudnnConvolutionFwdAlgo_t       forward;
	cudnnConvolutionBwdDataAlgo_t   backward_data;
	cudnnConvolutionBwdFilterAlgo_t backward_filter;
	float *values, *pooled;    /* device */
	float *delta, *pooled_delta;
};

struct network {
	cudnnHandle_t  dnn;
	cublasHandle_t blas;
	int batch, features;
	cudnnTensorDescriptor_t      input_shape, logit_shape, bias_shape;
	cudnnConvolutionDescriptor_t convolution;
	cudnnActivationDescriptor_t  relu;
	cudnnPoolingDescriptor_t     pooling;
	struct stage stage[STAGES];
	size_t weights, bias, parameters;  /* of the fully connected layer */
	float *values, *gradient;          /* device, `parameters` each */
	float *input, *logits, *chances, *delta;
	float *host;                       /* pixels, then chances */
	void  *workspace;
	size_t workspace_bytes;
};

#define DNN(call) check_dnn((call), #call)

/* As check_cuda. */
void check_dnn(cudnnStatus_t status, const char *call);

/* What stage `index` reads: the pixels, or what the stage before it pooled. */
cudnnTensorDescriptor_t input_of(const struct network *net, int index);

/* For batches of `batch` scans, with random weights; ends the program if that
 * fails. network_fini frees all of it. */
void network_init(struct network *net, int batch, uint64_t *state);
void network_fini(struct network *net);

#endif
