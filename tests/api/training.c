/* SPDX-License-Identifier: Apache-2.0 */
/* tests/api/training.c -- a program that trains one layer with a scaler, and
 * says whose functions it called, the scale, and the weights bit by bit. All
 * its numbers stay normal whatever the scale is, so that a power of two must
 * not change a bit.
 *
 *   training [LIBRARY]   opens LIBRARY, for everybody, before the first call */
#include "autocast_scaler.h"

#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

enum { IN = 12, OUT = 5, BATCH = 8, STEPS = 7 };

struct layer {
	cublasHandle_t blas;
	float *weights, *inputs, *targets, *errors, *gradients; /* device */
};

static int
complain(const char *what, autocast_status status)
{
	if (status == AUTOCAST_OK)
		return 0;
	printf("%s: %s: %s\n", what, autocast_status_string(status),
	    autocast_last_error());
	return 1;
}

/* The file that holds what `name` is found as. */
static void
print_home(const char *name)
{
	void *const address = dlsym(RTLD_DEFAULT, name);
	const char *slash;
	Dl_info info;

	if (address == NULL || !dladdr(address, &info)) {
		printf("%s: nowhere\n", name);
		return;
	}
	slash = strrchr(info.dli_fname, '/');
	printf("%s: %s\n", name, slash == NULL ? info.dli_fname : slash + 1);
}

#ifndef AUTOCAST_DYNAMIC
/* The file that the program itself was bound to. */
static void
print_bound(void)
{
	autocast_status (*const bound)(autocast_scaler *, double *, int32_t *) =
	    autocast_scaler_get;
	void *address;
	const char *slash;
	Dl_info info;

	memcpy(&address, &bound, sizeof(address));
	if (!dladdr(address, &info))
		return;
	slash = strrchr(info.dli_fname, '/');
	printf("bound to %s\n", slash == NULL ? info.dli_fname : slash + 1);
}
#endif

static float *
make(size_t count, unsigned seed)
{
	float host[IN * OUT + IN * BATCH + OUT * BATCH], *device;
	size_t i;

	for (i = 0; i < count; i++) {
		seed = seed * 1664525 + 1013904223;
		host[i] = (float)(seed >> 24) / 256 - 0.375f;
	}
	if (cudaMalloc((void **)&device, count * sizeof(*device))
	    || cudaMemcpy(device, host, count * sizeof(*device),
	    cudaMemcpyHostToDevice))
		return NULL;
	return device;
}

/* errors = weights inputs - targets */
static int
forward(const struct layer *l)
{
	const float one = 1, less = -1, zero = 0;

	return cublasSgemm(l->blas, CUBLAS_OP_N, CUBLAS_OP_N, OUT, BATCH, IN,
	    &one, l->weights, OUT, l->inputs, IN, &zero, l->errors, OUT)
	    || cublasSaxpy(l->blas, OUT * BATCH, &less, l->targets, 1,
	    l->errors, 1);
}

/* gradients = errors inputs^T */
static int
backward(const struct layer *l)
{
	const float one = 1, zero = 0;

	return cublasSgemm(l->blas, CUBLAS_OP_N, CUBLAS_OP_T, OUT, IN, BATCH,
	    &one, l->errors, OUT, l->inputs, IN, &zero, l->gradients, OUT);
}

static int
apply(void *user)
{
	const struct layer *const l = (const struct layer *)user;
	const float rate = -0.03125f;

	return cublasSaxpy(l->blas, OUT * IN, &rate, l->gradients, 1,
	    l->weights, 1);
}

static int
iterate(struct layer *l, autocast_scaler *scaler, autocast_group *group)
{
	const autocast_tensor seed = {
		l->errors, OUT * BATCH, AUTOCAST_F32, AUTOCAST_DEVICE_ANY,
		"errors"
	};
	int stepped = 0;

	return forward(l)
	    || complain("scale", autocast_scaler_scale(scaler, &seed, 1, NULL))
	    || backward(l)
	    || complain("step", autocast_scaler_step(scaler, group, apply,
	    l, &stepped, NULL))
	    || complain("update", autocast_scaler_update(scaler, NULL))
	    || !stepped;
}

static int
train(struct layer *l)
{
	const autocast_tensor gradients = {
		l->gradients, OUT * IN, AUTOCAST_F32, 0, "gradients"
	};
	autocast_scaler_options options = AUTOCAST_SCALER_OPTIONS;
	autocast_scaler *scaler;
	autocast_group *group;
	int32_t tracker = -1;
	double scale = -1;
	int i, failed;

	options.interval = 3;
	failed = complain("create",
		     autocast_scaler_create(&options, &scaler)) ||
	    complain("prepare", autocast_scaler_prepare(scaler, 0, NULL)) ||
	    complain("group", autocast_group_create(scaler, "layer", &group)) ||
	    complain("set", autocast_group_set_gradients(group, &gradients, 1));
	for (i = 0; i < STEPS && !failed; i++)
		failed = iterate(l, scaler, group);
	failed = failed
	    || complain("get", autocast_scaler_get(scaler, &scale, &tracker));
	printf("scale %g, tracker %d\n", scale, (int)tracker);
	if (!failed)
		autocast_scaler_destroy(scaler);
	return failed;
}

int
main(int argc, char **argv)
{
	float weights[OUT * IN];
	struct layer l = { 0 };
	int i;

	if (argc > 1 && dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL) == NULL) {
		puts(dlerror());
		return 1;
	}
	print_home("autocast_functions_get");
#ifndef AUTOCAST_DYNAMIC
	print_bound();
#endif
	l.weights = make(OUT * IN, 1);
	l.inputs = make(IN * BATCH, 2);
	l.targets = make(OUT * BATCH, 3);
	l.errors = make(OUT * BATCH, 4);
	l.gradients = make(OUT * IN, 5);
	if (cublasCreate(&l.blas) || l.gradients == NULL || train(&l)
	    || cudaMemcpy(weights, l.weights, sizeof(weights),
	    cudaMemcpyDeviceToHost))
		return 1;
	for (i = 0; i < OUT * IN; i++)
		printf("%a\n", weights[i]);
	return cublasDestroy(l.blas) != CUBLAS_STATUS_SUCCESS;
}
