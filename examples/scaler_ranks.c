/* SPDX-License-Identifier: Apache-2.0 */
/*
 * examples/scaler_ranks.c -- several processes train one network, each on its
 * share of the scans, and agree on every skip.
 *
 *     mpirun -np 2 examples/scaler_ranks digits.csv
 *
 * The hook takes the largest of all ranks' flags. Without it a rank that alone
 * finds an inf would skip the step, in which the others wait for its gradients.
 * Here the last rank finds one in its fifth iteration.
 */
/* Open MPI's C++ parts are deprecated, and not wanted. */
#define OMPI_SKIP_MPICXX 1
#include <mpi.h>

#include "scaler_tensors.h"

#include <math.h>
#include <stdlib.h>

enum { INF_AT = 5 };

static const float rate = 0.2f;

struct rank {
	struct network net;
	int number, count;
	float *sum; /* host, one per parameter */
};

/* The hook: called inside step, on every rank. */
static int
agree(float *flag, int device, struct CUstream_st *stream, void *user)
{
	float mine, largest;

	(void)device;
	(void)user;
	CUDA(cudaMemcpyAsync(&mine, flag, sizeof mine, cudaMemcpyDeviceToHost,
	    stream));
	CUDA(cudaStreamSynchronize(stream));
	if (MPI_Allreduce(&mine, &largest, 1, MPI_FLOAT, MPI_MAX,
	    MPI_COMM_WORLD))
		return -1;
	CUDA(cudaMemcpyAsync(flag, &largest, sizeof largest,
	    cudaMemcpyHostToDevice, stream));
	CUDA(cudaStreamSynchronize(stream));
	return 0;
}

/* The step: all ranks' gradients are added up. */
static int
apply(void *user)
{
	struct rank *rank = user;
	struct network *net = &rank->net;

	download(net->host, net->gradient, net->parameters);
	if (MPI_Allreduce(net->host, rank->sum, (int)net->parameters,
	    MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD))
		return -1;
	upload(net->gradient, rank->sum, net->parameters);
	network_step(net, rate / (float)rank->count);
	return 0;
}

static void
train(struct scans *scans, struct rank *rank, autocast_scaler *scaler,
    int epochs)
{
	struct network *net = &rank->net;
	autocast_group *group = group_of(scaler, net, "digits");
	const autocast_tensor seed = seed_of(net);
	const int steps = scans->batches / rank->count;
	const float inf = INFINITY;
	int iteration = 0;

	for (int epoch = 0; epoch < epochs; epoch++) {
		scans_shuffle(scans, epoch);
		for (int i = 0; i < steps; i++) {
			const int batch = i * rank->count + rank->number;

			network_loss(net, &scans->data,
			    scans->order + batch * net->batch, 1);
			SCALER(autocast_scaler_scale(scaler, &seed, 1, NULL));
			network_backward(net, false);
			if (++iteration == INF_AT &&
			    rank->number == rank->count - 1)
				upload(net->gradient, &inf, 1);
			SCALER(autocast_scaler_step(scaler, group, apply, rank,
			    NULL, NULL));
			SCALER(autocast_scaler_update(scaler, NULL));
		}
	}
}

/* The first rank prints a line for each. */
static void
report(struct rank *rank, struct scans *scans, autocast_scaler *scaler)
{
	enum { RIGHT, SCALE, STEPS, SKIPS, FACTS };
	autocast_scaler_counters counters = { .size = sizeof counters };
	double mine[FACTS], *all = allocate((size_t)rank->count, sizeof mine);

	SCALER(autocast_scaler_get(scaler, &mine[SCALE], NULL));
	SCALER(autocast_scaler_get_counters(scaler, &counters));
	mine[RIGHT] = scans_accuracy(scans, &rank->net);
	mine[STEPS] = (double)counters.steps;
	mine[SKIPS] = (double)counters.skips;
	MPI_Gather(mine, FACTS, MPI_DOUBLE, all, FACTS, MPI_DOUBLE, 0,
	    MPI_COMM_WORLD);
	for (int i = 0; i < rank->count && rank->number == 0; i++) {
		const double *fact = all + i * FACTS;

		printf("rank %d: scale %.0f  steps %.0f  skips %.0f  "
		    "test accuracy %.4f\n", i, fact[SCALE], fact[STEPS],
		    fact[SKIPS], fact[RIGHT]);
	}
	free(all);
}

int
main(int argc, char **argv)
{
	autocast_scaler *scaler;
	struct options opt;
	struct scans scans;
	struct rank rank;
	uint64_t state = 1;
	char path[4096];

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank.number);
	MPI_Comm_size(MPI_COMM_WORLD, &rank.count);
	opt = options_parse(argc, argv);
	scans = scans_load(&opt);
	network_init(&rank.net, opt.batch, &state);
	rank.sum = allocate(rank.net.parameters, sizeof(float));
	SCALER(autocast_scaler_create(NULL, &scaler));
	SCALER(autocast_scaler_prepare(scaler, 0, NULL));
	SCALER(autocast_scaler_set_reduce(scaler, agree, NULL));
	train(&scans, &rank, scaler, opt.epochs);
	report(&rank, &scans, scaler);
	if (opt.weights) {
		snprintf(path, sizeof path, "%s.%d", opt.weights, rank.number);
		save(path, rank.net.values, rank.net.parameters);
	}
	autocast_scaler_destroy(scaler);
	free(rank.sum);
	network_fini(&rank.net);
	scans_free(&scans);
	MPI_Finalize();
	return EXIT_SUCCESS;
}
