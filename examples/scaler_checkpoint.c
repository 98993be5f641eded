/* SPDX-License-Identifier: Apache-2.0 */
/*
 * examples/scaler_checkpoint.c -- stop, and go on as if nothing had happened.
 *
 * Trains for --epochs and writes a checkpoint, --weights FILE: the number of
 * epochs so far, the weights, the scaler's state as text. If that file exists
 * it goes on from there, and ends with the same bytes as a run without a stop.
 */
#include "scaler_tensors.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { STATE_ROOM = 1024 };

static const float rate = 0.2f;

static void
need(int is_fine, const char *what, const char *path)
{
	if (!is_fine)
		fail(what, path);
}

static void
write_checkpoint(const char *path, const struct network *net,
    autocast_scaler *scaler, int epochs)
{
	char text[STATE_ROOM];
	size_t size = sizeof text;
	FILE *file = fopen(path, "wb");

	need(file != NULL, "writing", path);
	SCALER(autocast_scaler_save(scaler, text, &size));
	download(net->host, net->values, net->parameters);
	need(fprintf(file, "epochs %d\n", epochs) > 0 &&
	    fwrite(net->host, sizeof(float), net->parameters, file) ==
	    net->parameters && fwrite(text, 1, size, file) == size &&
	    !fclose(file), "writing", path);
}

/* Returns how many epochs it had; 0 if there is no such file. */
static int
read_checkpoint(const char *path, const struct network *net,
    autocast_scaler *scaler)
{
	char text[STATE_ROOM];
	FILE *file = fopen(path, "rb");
	int epochs = 0;

	if (!file && errno == ENOENT)
		return 0;
	need(file != NULL, "reading", path);
	need(fscanf(file, "epochs %d", &epochs) == 1 && fgetc(file) == '\n' &&
	    fread(net->host, sizeof(float), net->parameters, file) ==
	    net->parameters, "reading", path);
	upload(net->values, net->host, net->parameters);
	SCALER(autocast_scaler_load(scaler, text,
	    fread(text, 1, sizeof text, file)));
	fclose(file);
	return epochs;
}

static int
apply(void *user)
{
	network_step(user, rate);
	return 0;
}

static void
train(struct scans *scans, struct network *net, autocast_scaler *scaler,
    int first, int last)
{
	autocast_group *group = group_of(scaler, net, "digits");
	const autocast_tensor seed = seed_of(net);

	for (int epoch = first; epoch < last; epoch++) {
		scans_shuffle(scans, epoch);
		for (int i = 0; i < scans->batches; i++) {
			network_loss(net, &scans->data, scans->order + i *
			    net->batch, 1);
			SCALER(autocast_scaler_scale(scaler, &seed, 1, NULL));
			network_backward(net, false);
			SCALER(autocast_scaler_step(scaler, group, apply, net,
			    NULL, NULL));
			SCALER(autocast_scaler_update(scaler, NULL));
		}
		printf("epoch %2d  test accuracy %.4f\n", epoch + 1,
		    scans_accuracy(scans, net));
		fflush(stdout);
	}
	print_scaler(scaler);
}

int
main(int argc, char **argv)
{
	const struct options opt = options_parse(argc, argv);
	const char *path = opt.weights ? opt.weights : "digits.checkpoint";
	/* 20: so that a checkpoint falls between two changes of the scale */
	autocast_scaler_options options = AUTOCAST_SCALER_OPTIONS;
	autocast_scaler *scaler;
	struct network net;
	struct scans scans = scans_load(&opt);
	uint64_t state = 1;
	int done;

	options.interval = 20;
	network_init(&net, opt.batch, &state);
	SCALER(autocast_scaler_create(&options, &scaler));
	SCALER(autocast_scaler_prepare(scaler, 0, NULL));
	done = read_checkpoint(path, &net, scaler);
	train(&scans, &net, scaler, done, done + opt.epochs);
	write_checkpoint(path, &net, scaler, done + opt.epochs);
	autocast_scaler_destroy(scaler);
	network_fini(&net);
	scans_free(&scans);
	return EXIT_SUCCESS;
}
