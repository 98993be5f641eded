/* SPDX-License-Identifier: Apache-2.0 */
/*
 * examples/scaler_two_models.c -- two models, two losses, two optimizers, and
 * one scaler.
 *
 * Each optimizer has a group. A group whose gradients are not finite skips its
 * step; the other one steps all the same. There is one update at the end of
 * the iteration, which looks at both. The second loss weighs 64 times as much
 * as the first, so that its gradients are the first to leave FP16's range.
 */
#include "scaler_tensors.h"

#include <stdlib.h>

enum { MODELS = 2 };

struct model {
	struct network net;
	autocast_group *group;
	float loss_weight;
	int   steps, skips;
};

static const float first_rate = 0.2f;

static int
apply(void *user)
{
	struct model *model = user;

	network_step(&model->net, first_rate / model->loss_weight);
	return 0;
}

static void
iteration(struct model *models, const struct dataset *data, const int *order,
    autocast_scaler *scaler)
{
	for (struct model *m = models; m < models + MODELS; m++) {
		const autocast_tensor seed = seed_of(&m->net);

		network_loss(&m->net, data, order, m->loss_weight);
		SCALER(autocast_scaler_scale(scaler, &seed, 1, NULL));
		network_backward(&m->net, false);
	}
	for (struct model *m = models; m < models + MODELS; m++) {
		int stepped;

		SCALER(autocast_scaler_step(scaler, m->group, apply, m,
		    &stepped, NULL));
		m->steps += stepped;
		m->skips += !stepped;
	}
	SCALER(autocast_scaler_update(scaler, NULL));
}

static void
train(struct scans *scans, struct model *models, autocast_scaler *scaler,
    int epochs)
{
	for (int epoch = 0; epoch < epochs; epoch++) {
		scans_shuffle(scans, epoch);
		for (int i = 0; i < scans->batches; i++)
			iteration(models, &scans->data, scans->order + i *
			    models->net.batch, scaler);
		printf("epoch %2d  test accuracy %.4f, %.4f\n", epoch + 1,
		    scans_accuracy(scans, &models[0].net),
		    scans_accuracy(scans, &models[1].net));
		fflush(stdout);
	}
	for (int i = 0; i < MODELS; i++)
		printf("model %d: steps %d  skips %d\n", i + 1,
		    models[i].steps, models[i].skips);
	print_scaler(scaler);
}

int
main(int argc, char **argv)
{
	const struct options opt = options_parse(argc, argv);
	struct model models[MODELS] = { { .loss_weight = 1 },
	    { .loss_weight = 64 } };
	autocast_scaler_options options = AUTOCAST_SCALER_OPTIONS;
	autocast_scaler *scaler;
	struct scans scans = scans_load(&opt);
	uint64_t state = 1;

	options.interval = 20;
	SCALER(autocast_scaler_create(&options, &scaler));
	SCALER(autocast_scaler_prepare(scaler, 0, NULL));
	for (int i = 0; i < MODELS; i++) {
		network_init(&models[i].net, opt.batch, &state);
		models[i].group = group_of(scaler, &models[i].net,
		    i ? "second" : "first");
	}
	train(&scans, models, scaler, opt.epochs);
	autocast_scaler_destroy(scaler);
	for (int i = 0; i < MODELS; i++)
		network_fini(&models[i].net);
	scans_free(&scans);
	return EXIT_SUCCESS;
}
