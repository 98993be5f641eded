/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/scaled.c -- a product, then twelve turns of a gradient
 * scaler from 1024 on that grows after four clean ones; the sixth has an inf:
 * scaled step|async|read. step: the host is told of each; async: of none; read:
 * of none, but the state is read at the end. Prints what was read. */
#include "client.h"

#include <autocast_scaler.h>

#include <math.h>

enum { N = 16, TURNS = 12, BAD_TURN = 5 };

int
main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "step";
	autocast_scaler_options options = AUTOCAST_SCALER_OPTIONS;
	float *x = client_random_device(N * N, 1, 1);
	const float bad = INFINITY;
	autocast_tensor gradient = { x, N, AUTOCAST_F32, 0, "gradient" };
	autocast_scaler_counters c = { .size = sizeof c };
	autocast_scaler *scaler;
	autocast_group *group;
	cublasHandle_t handle;
	int stepped;

	BLAS(cublasCreate(&handle));
	BLAS(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, N, N, N, &one, x, N,
	    x, N, &one, x, N));
	options.init_scale = 1024;
	options.interval = 4;
	CUDA(autocast_scaler_create(&options, &scaler));
	CUDA(autocast_scaler_prepare(scaler, 0, NULL));
	CUDA(autocast_group_create(scaler, "all", &group));
	CUDA(autocast_group_set_gradients(group, &gradient, 1));
	for (int turn = 0; turn < TURNS; turn++) {
		CUDA(cudaMemcpy(x, turn == BAD_TURN ? &bad : &one, sizeof one,
		    cudaMemcpyHostToDevice));
		CUDA(autocast_scaler_scale(scaler, &gradient, 1, NULL));
		if (!strcmp(way, "step"))
			CUDA(autocast_scaler_step(scaler, group, NULL, NULL,
			    &stepped, NULL));
		else
			CUDA(autocast_scaler_step_async(scaler, group, NULL));
		CUDA(autocast_scaler_update(scaler, NULL));
	}
	if (strcmp(way, "read"))
		return 0;
	CUDA(autocast_scaler_get_counters(scaler, &c));
	printf("%llu %llu %llu %llu\n", (unsigned long long)c.updates,
	    (unsigned long long)c.overflows, (unsigned long long)c.growths,
	    (unsigned long long)c.backoffs);
	return 0;
}
