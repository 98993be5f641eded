/* SPDX-License-Identifier: Apache-2.0 */
/*
 * examples/scaler_loop.c -- the plain loop: scale, backward, step, update.
 *
 * The loss has a weight of 2^-20, as one of several losses might, or one that
 * is a mean over many elements. By the logits it has gradients of 2^-25 at
 * most (2^-20 / a batch of 32): FP16 stores each of them as 0. With a scale
 * they arrive; try --no-scaler. The rate is divided by the weight, so that the
 * steps are those of the plain loss.
 */
#include "scaler_tensors.h"

#include <stdlib.h>

static const float loss_weight = 0x1p-20f, first_rate = 0.2f;

struct optimizer {
	struct network *net;
	float rate;
};

/* Only called if no gradient is inf or NaN. */
static int
apply(void *user)
{
	const struct optimizer *optimizer = user;

	network_step(optimizer->net, optimizer->rate);
	return 0;
}

static void
train(struct scans *scans, struct network *net, autocast_scaler *scaler,
    const struct options *opt)
{
	autocast_group *group = group_of(scaler, net, "digits");
	const autocast_tensor seed = seed_of(net);
	const float weight = loss_weight * opt->loss_scale;
	struct optimizer optimizer = { net, first_rate / weight };
	double right = 0;

	for (int epoch = 0; epoch < opt->epochs; epoch++) {
		double loss = 0;

		scans_shuffle(scans, epoch);
		for (int i = 0; i < scans->batches; i++) {
			loss += network_loss(net, &scans->data,
			    scans->order + i * net->batch, weight);
			SCALER(autocast_scaler_scale(scaler, &seed, 1, NULL));
			network_backward(net, false);
			SCALER(autocast_scaler_step(scaler, group, apply,
			    &optimizer, NULL, NULL));
			SCALER(autocast_scaler_update(scaler, NULL));
		}
		right = scans_accuracy(scans, net);
		printf("epoch %2d  train loss %.4f  test accuracy %.4f\n",
		    epoch + 1, loss / scans->batches, right);
		fflush(stdout);
	}
	printf("%.1f %% of the gradients by the logits were flushed to 0\n",
	    100.0 * (double)net->flushed / (double)net->stored);
	printf("test accuracy %.4f\n", right);
}

int
main(int argc, char **argv)
{
	/* This training is short: try a larger scale every 20 steps. */
	autocast_scaler_options options = AUTOCAST_SCALER_OPTIONS;
	autocast_scaler *scaler;
	struct options opt;
	struct network net;
	struct scans scans;
	uint64_t state = 1;

	options.interval = 20;
	options.enabled = !take_flag(&argc, argv, "--no-scaler");
	opt = options_parse(argc, argv);
	scans = scans_load(&opt);
	network_init(&net, opt.batch, &state);
	SCALER(autocast_scaler_create(&options, &scaler));
	SCALER(autocast_scaler_prepare(scaler, 0, NULL));
	train(&scans, &net, scaler, &opt);
	if (options.enabled)
		print_scaler(scaler);
	if (opt.weights)
		save(opt.weights, net.values, net.parameters);
	autocast_scaler_destroy(scaler);
	network_fini(&net);
	scans_free(&scans);
	return EXIT_SUCCESS;
}
