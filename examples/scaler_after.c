/* SPDX-License-Identifier: Apache-2.0 */
/* examples/scaler_after.c -- the loop of scaler_before.c with a scaler.
 * Linked with nothing of ours: without libautocast.so nothing is scaled, and
 * it does what it did before. */
#define AUTOCAST_DYNAMIC
#include "scaler_tensors.h"

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
	autocast_scaler *scaler;
	autocast_group *group;
	autocast_tensor seed;
	int is_finite;

	network_init(&net, opt.batch, &state);
	SCALER(autocast_scaler_create(NULL, &scaler));
	SCALER(autocast_scaler_prepare(scaler, 0, NULL));
	group = group_of(scaler, &net, "digits");
	seed = seed_of(&net);
	for (int epoch = 0; epoch < opt.epochs; epoch++) {
		scans_shuffle(&scans, epoch);
		for (int i = 0; i < scans.batches; i++) {
			network_loss(&net, &scans.data,
			    scans.order + i * net.batch, weight);
			SCALER(autocast_scaler_scale(scaler, &seed, 1, NULL));
			network_backward(&net, false);
			SCALER(autocast_scaler_step(scaler, group, NULL, NULL,
			    &is_finite, NULL));
			if (is_finite)
				network_step(&net, rate / weight);
			SCALER(autocast_scaler_update(scaler, NULL));
		}
	}
	printf("test accuracy %.4f\n", scans_accuracy(&scans, &net));
	if (opt.weights)
		save(opt.weights, net.values, net.parameters);
	autocast_scaler_destroy(scaler);
	network_fini(&net);
	scans_free(&scans);
	return EXIT_SUCCESS;
}
