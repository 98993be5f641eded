/* SPDX-License-Identifier: Apache-2.0 */
/* examples/scaler_network.h -- the network that the examples of
 * autocast_scaler.h train: 64-64-10, ReLU, softmax cross-entropy, SGD. Weights
 * and their gradients are FP32; whatever lies between layers, gradients among
 * it, is stored in FP16: below 2^-25 a gradient becomes 0, above 65504 an inf.
 * It knows nothing of autocast, and its results repeat bit for bit. */
#ifndef EXAMPLES_SCALER_NETWORK_H
#define EXAMPLES_SCALER_NETWORK_H

#include "digits_device.h"
#include "digits_input.h"

#include <stdbool.h>

enum { LAYERS = 2, HIDDEN = 64 };

typedef uint16_t half;

/* Offsets into the parameters; weights are out x in. */
struct layer {
	int    in, out;
	size_t weights, bias;
};

struct network {
	cublasHandle_t blas;
	struct layer layer[LAYERS];
	int    batch;
	size_t parameters;
	float *values, *gradient;      /* device, `parameters` each */
	half  *half_values;            /* device, for the products */
	half  *activation[LAYERS + 1]; /* device, width x batch */
	half  *delta[LAYERS + 1];      /* device, d loss / d activation */
	half  *ones;                   /* device, one per scan of a batch */
	float *sums;                   /* device, what a layer adds up */
	float *seed;                   /* device, d loss / d logits */
	float *host;                   /* parameters, or the widest layer */
	half  *host_half, *host_mask;
	size_t stored, flushed;        /* seeds in FP16; of those, now 0 */
};

/* For batches of `batch` scans, with random weights; fini frees it. */
void network_init(struct network *net, int batch, uint64_t *state);
void network_fini(struct network *net);

/* The mean loss of one batch. Leaves the gradient of `weight` times that, by
 * the logits, in net->seed. */
double network_loss(struct network *net, const struct dataset *data,
    const int *order, float weight);

/* From net->seed to net->gradient, or added to what is there. */
void network_backward(struct network *net, bool is_added);

/* Plain SGD: values -= rate * gradient. */
void network_step(struct network *net, float rate);

/* Of `count` scans, the share that is read right. */
double network_accuracy(struct network *net, const struct dataset *data,
    const int *order, int count);

/* What there is to train with: all but the last fifth of the shuffled scans. */
struct scans {
	struct dataset data;
	int *order;
	int  seen, batches; /* of `data.count`; whole batches in these */
};

/* Exits with status 2 if the data cannot be read. */
struct scans scans_load(const struct options *opt);
/* The order of epoch `epoch` depends on its number only. */
void scans_shuffle(struct scans *scans, int epoch);
double scans_accuracy(const struct scans *scans, struct network *net);
void scans_free(struct scans *scans);

/* Whether `flag` was among the arguments; it is removed from them. */
bool take_flag(int *argc, char **argv, const char *flag);

#endif
