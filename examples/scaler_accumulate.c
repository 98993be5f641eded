/* SPDX-License-Identifier: Apache-2.0 */
/*
 * examples/scaler_accumulate.c -- gradients of four batches are added up, then
 * clipped, for one step.
 *
 * All batches of a window are scaled by the same scale: there is no update in
 * it. Gradients are unscaled at its end, because the largest norm that is
 * allowed is one of unscaled gradients; the step then does not unscale again.
 *
 * Linked with nothing of ours: without libautocast.so nothing is scaled, and it
 * clips by itself, as it did before.
 */
#define AUTOCAST_DYNAMIC
#include "scaler_tensors.h"

#include <stdlib.h>

enum { WINDOW = 4 };

static const float first_rate = 0.4f, max_norm = 0.5f;

static int
apply(void *user)
{
	network_step(user, first_rate);
	return 0;
}

/* Returns the norm before. */
static float
clip_ourselves(const struct network *net)
{
	const int count = (int)net->parameters;
	float norm, factor;

	BLAS(cublasSnrm2(net->blas, count, net->gradient, 1, &norm));
	factor = max_norm / (norm + 1e-6f);
	if (factor < 1)
		BLAS(cublasSscal(net->blas, count, &factor, net->gradient, 1));
	return norm;
}

static float
clip(const struct network *net, autocast_group *group, float *device_norm)
{
	const autocast_status status = autocast_group_clip(group, max_norm,
	    device_norm, NULL);
	float norm;

	if (status == AUTOCAST_E_ABSENT)
		return clip_ourselves(net);
	SCALER(status);
	download(&norm, device_norm, 1);
	return norm;
}

/* Returns the norm before clipping. */
static float
window(struct network *net, const struct dataset *data, const int *order,
    autocast_scaler *scaler, autocast_group *group, float *device_norm)
{
	const autocast_tensor seed = seed_of(net);
	float norm;

	for (int i = 0; i < WINDOW; i++) {
		network_loss(net, data, order + i * net->batch, 1.0f / WINDOW);
		SCALER(autocast_scaler_scale(scaler, &seed, 1, NULL));
		network_backward(net, i > 0);
	}
	SCALER(autocast_scaler_unscale(scaler, group, NULL));
	norm = clip(net, group, device_norm);
	SCALER(autocast_scaler_step(scaler, group, apply, net, NULL, NULL));
	SCALER(autocast_scaler_update(scaler, NULL));
	return norm;
}

static void
train(struct scans *scans, struct network *net, autocast_scaler *scaler,
    int epochs)
{
	autocast_group *group = group_of(scaler, net, "digits");
	float *device_norm = device_floats(1);
	double right = 0;

	for (int epoch = 0; epoch < epochs; epoch++) {
		int windows = 0, clipped = 0;

		scans_shuffle(scans, epoch);
		for (; (windows + 1) * WINDOW <= scans->batches; windows++)
			clipped += window(net, &scans->data, scans->order +
			    windows * WINDOW * net->batch, scaler, group,
			    device_norm) > max_norm;
		right = scans_accuracy(scans, net);
		printf("epoch %2d  steps %d  clipped %d  test accuracy %.4f\n",
		    epoch + 1, windows, clipped, right);
		fflush(stdout);
	}
	print_scaler(scaler);
	printf("test accuracy %.4f\n", right);
	CUDA(cudaFree(device_norm));
}

int
main(int argc, char **argv)
{
	const struct options opt = options_parse(argc, argv);
	autocast_scaler *scaler;
	struct network net;
	struct scans scans = scans_load(&opt);
	uint64_t state = 1;

	network_init(&net, opt.batch, &state);
	SCALER(autocast_scaler_create(NULL, &scaler));
	SCALER(autocast_scaler_prepare(scaler, 0, NULL));
	train(&scans, &net, scaler, opt.epochs);
	if (opt.weights)
		save(opt.weights, net.values, net.parameters);
	autocast_scaler_destroy(scaler);
	network_fini(&net);
	scans_free(&scans);
	return EXIT_SUCCESS;
}
