/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/contexts.c -- products in contexts that the driver API
 * created next to the primary one: contexts pair|turns|again|stream|handle.
 * pair: one in each, then both; turns: by turns on one thread, on two
 * devices if there are two; again: contexts that come and go, at one address;
 * stream: a handle whose stream is of another context of its device; handle: a
 * handle of another context of the device, on the default stream.
 * Small integers: every arithmetic gives the one right result. */
#include "client.h"

#include <dlfcn.h>

/* More lives of a context than a preload keeps rooms for. */
enum { N = 40, COUNT = N * N, TURNS = 5, LIVES = 40 };

struct context;
static int (*create)(struct context **context, unsigned flags, int device);
static int (*destroy)(struct context *context);
static int (*set_current)(struct context *context);
static int (*get_current)(struct context **context);
static int (*retain)(struct context **context, int device);

static float host_a[COUNT], host_b[COUNT], expected[COUNT];

static void *
find(void *driver, const char *name)
{
	void *function = dlsym(driver, name);

	client_expect(function, name);
	return function;
}

static void
load(void)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW);

	client_expect(driver, "there is a driver");
	*(void **)&create = find(driver, "cuCtxCreate_v2");
	*(void **)&destroy = find(driver, "cuCtxDestroy_v2");
	*(void **)&set_current = find(driver, "cuCtxSetCurrent");
	*(void **)&get_current = find(driver, "cuCtxGetCurrent");
	*(void **)&retain = find(driver, "cuDevicePrimaryCtxRetain");
}

static void
prepare(void)
{
	uint64_t state = 5;

	for (int i = 0; i < COUNT; i++) {
		host_a[i] = (float)((int)(client_random(&state) % 15) - 7);
		host_b[i] = (float)((int)(client_random(&state) % 15) - 7);
	}
	for (int j = 0; j < N; j++)
		for (int i = 0; i < N; i++)
			for (int k = 0; k < N; k++)
				expected[j * N + i] += host_a[k * N + i] *
				    host_b[j * N + k];
}

/* One product in the current context, with this handle. */
static int
multiply(cublasHandle_t handle)
{
	float *a = client_device(host_a, COUNT);
	float *b = client_device(host_b, COUNT);
	float *c = client_device(host_a, COUNT), host[COUNT];
	int status;

	CUDA(cudaDeviceSynchronize());
	status = cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, N, N, N, &one,
	    a, N, b, N, &zero, c, N);
	CUDA(cudaDeviceSynchronize());
	client_host(host, c, COUNT);
	if (!status)
		client_expect(!memcmp(host, expected, sizeof host),
		    "the product is right");
	CUDA(cudaFree(a));
	CUDA(cudaFree(b));
	CUDA(cudaFree(c));
	return status;
}

static void
make_current(struct context *context)
{
	CUDA(set_current(context));
}

/* Handles in `count` contexts, used by turns. */
static void
turns(struct context **context, int count)
{
	cublasHandle_t handle[4];

	for (int i = 0; i < count; i++) {
		make_current(context[i]);
		BLAS(cublasCreate(&handle[i]));
	}
	for (int t = 0; t < TURNS; t++)
		for (int i = 0; i < count; i++) {
			make_current(context[i]);
			BLAS(multiply(handle[i]));
		}
	for (int i = 0; i < count; i++) {
		make_current(context[i]);
		BLAS(cublasDestroy(handle[i]));
	}
}

static void
again(struct context *primary, bool destroy_handle)
{
	struct context *context, *first = NULL;
	cublasHandle_t handle;
	int same = 0;

	for (int t = 0; t < LIVES; t++) {
		CUDA(create(&context, 0, 0));
		if (!t)
			first = context;
		same += context == first;
		BLAS(cublasCreate(&handle));
		BLAS(multiply(handle));
		if (destroy_handle)
			BLAS(cublasDestroy(handle));
		CUDA(destroy(context));
		make_current(primary);
	}
	printf("again same=%d of %d\n", same, LIVES);
}

static void
foreign(struct context *primary, struct context *made, bool with_stream)
{
	cublasHandle_t handle;
	cudaStream_t stream;

	make_current(made);
	CUDA(cudaStreamCreate(&stream));
	if (with_stream)
		make_current(primary);
	BLAS(cublasCreate(&handle));
	make_current(primary);
	if (with_stream)
		BLAS(cublasSetStream(handle, stream));
	printf("foreign status=%d\n", multiply(handle));
	BLAS(cublasDestroy(handle));
}

int
main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	struct context *context[4];
	int devices;

	prepare();
	CUDA(cudaFree(NULL));
	load();
	CUDA(cudaGetDeviceCount(&devices));
	CUDA(get_current(&context[0]));
	CUDA(create(&context[1], 0, 0));
	CUDA(create(&context[2], 0, devices - 1));
	CUDA(retain(&context[3], devices - 1));
	make_current(context[0]);
	if (!strcmp(mode, "pair"))
		turns(context, 2);
	else if (!strcmp(mode, "turns"))
		turns(context, 4);
	else if (!strcmp(mode, "again")) {
		again(context[0], true);
		again(context[0], false);
	} else if (!strcmp(mode, "stream") || !strcmp(mode, "handle"))
		foreign(context[0], context[1], *mode == 's');
	else
		return EXIT_USAGE;
	printf("contexts %s\n", mode);
	return EXIT_SUCCESS;
}
