/* SPDX-License-Identifier: Apache-2.0 */
/* examples/scaler_before.c -- a loop whose gradients are stored in FP16, as it
 * was. scaler_after.c is the same loop with a scaler. */
#include "scaler_network.h"

#include <stdio.h>
#include <stdlib.h>

static const float rate = 0.2f;

int
main(int argc, char **argv)
{
	const struct options opt = options_parse(argc, argv);
	const float weight = opt.loss_scale;
	uint64_t state = 1;
	struct network net;
	struct scans scans = scans_load(&opt);

	network_init(&net, opt.batch, &state);
	for (int epoch = 0; epoch < opt.epochs; epoch++) {
		scans_shuffle(&scans, epoch);
		for (int i = 0; i < scans.batches; i++) {
			network_loss(&net, &scans.data,
			    scans.order + i * net.batch, weight);
			network_backward(&net, false);
			network_step(&net, rate / weight);
		}
	}
	printf("test accuracy %.4f\n", scans_accuracy(&scans, &net));
	if (opt.weights)
		save(opt.weights, net.values, net.parameters);
	network_fini(&net);
	scans_free(&scans);
	return EXIT_SUCCESS;
}
