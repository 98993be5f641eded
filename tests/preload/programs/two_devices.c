/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/two_devices.c -- products on two GPUs:
 * two_devices one|sizes|threads|migrate|reuse|stream|elsewhere|far|foreign.
 * The matrices hold small integers, different ones on each device, so that
 * every arithmetic gives the one right result.
 * one: a handle on each, by turns; sizes: smaller products on the second;
 * threads: a thread per device; migrate: one handle's memory moves to the other
 * device while both threads multiply; reuse: a destroyed handle's pointer comes
 * back on the other device; stream: streams destroyed before their handle;
 * elsewhere: a handle used while the other device is current, which reaches it;
 * far: which does not; foreign: a handle with a stream of the other device. */
#include "client.h"

#include <pthread.h>

enum { DEVICES = 2, N = 48, COUNT = N * N, TURNS = 6, SPARES = 8 };

struct place {
	int            device, n; /* n x n of the N x N */
	cublasHandle_t handle;
	float         *a, *b, *c;
	float          expected[COUNT];
};

static struct place places[DEVICES];

static void
fill(float *x, unsigned seed)
{
	uint64_t state = seed;

	for (int i = 0; i < COUNT; i++)
		x[i] = (float)((int)(client_random(&state) % 17) - 8);
}

static void
place_init(struct place *p, int device)
{
	static float a[COUNT], b[COUNT];

	p->device = device;
	p->n = N;
	CUDA(cudaSetDevice(device));
	BLAS(cublasCreate(&p->handle));
	fill(a, 1 + (unsigned)device);
	fill(b, 11 + (unsigned)device);
	p->a = client_device(a, COUNT);
	p->b = client_device(b, COUNT);
	p->c = client_device(a, COUNT);
	CUDA(cudaDeviceSynchronize()); /* copies may be on their way still */
	for (int j = 0; j < N; j++)
		for (int i = 0; i < N; i++) {
			float sum = 0;

			for (int k = 0; k < N; k++)
				sum += a[k * N + i] * b[j * N + k];
			p->expected[j * N + i] = sum;
		}
}

/* The calling module, line and sizes are those of one site. */
__attribute__((noinline))
static int
multiply(cublasHandle_t handle, const struct place *p)
{
	return cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, p->n, p->n, N,
	    &one, p->a, N, p->b, N, &zero, p->c, N);
}

static void
expect_right(const struct place *p)
{
	float host[COUNT];

	CUDA(cudaDeviceSynchronize());
	client_host(host, p->c, COUNT);
	for (int j = 0; j < p->n; j++)
		client_expect(!memcmp(&host[j * N], &p->expected[j * N],
		    (size_t)p->n * sizeof *host),
		    "each device gets its own product");
	CUDA(cudaMemset(p->c, 0xff, sizeof host));
	CUDA(cudaDeviceSynchronize());
}

static void
turn(const struct place *p)
{
	CUDA(cudaSetDevice(p->device));
	BLAS(multiply(p->handle, p));
	expect_right(p);
}

static void
by_turns(void)
{
	for (int i = 0; i < TURNS; i++)
		for (int d = 0; d < DEVICES; d++)
			turn(&places[d]);
}

static void *
work(void *place)
{
	for (int i = 0; i < 4 * TURNS; i++)
		turn(place);
	return NULL;
}

/* A handle is made and destroyed for every product: its memory goes from one
 * device to the other as it comes. */
static void *
work_anew(void *place)
{
	struct place *p = place;

	CUDA(cudaSetDevice(p->device));
	for (int i = 0; i < 4 * TURNS; i++) {
		BLAS(cublasCreate(&p->handle));
		turn(p);
		BLAS(cublasDestroy(p->handle));
	}
	return NULL;
}

static void
in_threads(void *(*run)(void *))
{
	pthread_t thread[DEVICES];

	for (int d = 0; d < DEVICES; d++)
		client_expect(!pthread_create(&thread[d], NULL, run,
		    &places[d]), "a thread starts");
	for (int d = 0; d < DEVICES; d++)
		pthread_join(thread[d], NULL);
}

static void
migrate(void)
{
	for (int d = 0; d < DEVICES; d++)
		BLAS(cublasDestroy(places[d].handle));
	in_threads(work_anew);
}

/* The pointer of a handle that was destroyed on 0 is given out on 1, at the
 * latest when what a preload kept for itself is used up. */
static void
reuse(void)
{
	const cublasHandle_t old = places[0].handle;
	cublasHandle_t spare[SPARES];
	int used = 0;

	turn(&places[0]);
	turn(&places[1]);
	CUDA(cudaSetDevice(0));
	BLAS(cublasDestroy(old));
	CUDA(cudaSetDevice(1));
	do
		BLAS(cublasCreate(&spare[used++]));
	while (spare[used - 1] != old && used < SPARES);
	BLAS(cublasDestroy(places[1].handle));
	places[1].handle = spare[--used];
	printf("reuse %s\n", places[1].handle == old ? "same" : "another");
	turn(&places[1]);
	CUDA(cudaSetDevice(0));
	BLAS(cublasCreate(&places[0].handle));
	by_turns();
	CUDA(cudaSetDevice(1));
	while (used)
		BLAS(cublasDestroy(spare[--used]));
}

static void
streams(void)
{
	for (int i = 0; i < TURNS; i++)
		for (int d = 0; d < DEVICES; d++) {
			cudaStream_t stream;

			CUDA(cudaSetDevice(d));
			CUDA(cudaStreamCreateWithFlags(&stream,
			    cudaStreamNonBlocking));
			BLAS(cublasSetStream(places[d].handle, stream));
			turn(&places[d]);
			CUDA(cudaStreamDestroy(stream));
		}
}

/* Device 1 is current, the handle is of device 0, and so is the memory. */
static void
elsewhere(bool within_reach)
{
	int status;

	turn(&places[0]);
	CUDA(cudaSetDevice(1));
	if (within_reach)
		CUDA(cudaDeviceEnablePeerAccess(0, 0));
	status = multiply(places[0].handle, &places[0]);
	printf("elsewhere status=%d\n", status);
	if (!status)
		expect_right(&places[0]);
}

static void
foreign(void)
{
	cudaStream_t stream;

	CUDA(cudaSetDevice(1));
	CUDA(cudaStreamCreate(&stream));
	CUDA(cudaSetDevice(0));
	BLAS(cublasSetStream(places[0].handle, stream));
	printf("foreign status=%d\n", multiply(places[0].handle, &places[0]));
	CUDA(cudaDeviceSynchronize());
	BLAS(cublasSetStream(places[0].handle, NULL));
	turn(&places[0]);
}

int
main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";

	for (int d = 0; d < DEVICES; d++)
		place_init(&places[d], d);
	if (!strcmp(mode, "sizes"))
		places[1].n = N / 2;
	if (!strcmp(mode, "one") || !strcmp(mode, "sizes"))
		by_turns();
	else if (!strcmp(mode, "threads"))
		in_threads(work);
	else if (!strcmp(mode, "migrate"))
		migrate();
	else if (!strcmp(mode, "reuse"))
		reuse();
	else if (!strcmp(mode, "stream"))
		streams();
	else if (!strcmp(mode, "elsewhere") || !strcmp(mode, "far"))
		elsewhere(*mode == 'e');
	else if (!strcmp(mode, "foreign"))
		foreign();
	else
		return EXIT_USAGE;
	for (int d = 0; strcmp(mode, "migrate") && d < DEVICES; d++) {
		CUDA(cudaSetDevice(d));
		BLAS(cublasDestroy(places[d].handle));
	}
	for (int d = 0; d < DEVICES; d++) {
		CUDA(cudaFree(places[d].a));
		CUDA(cudaFree(places[d].b));
		CUDA(cudaFree(places[d].c));
	}
	printf("two_devices %s\n", mode);
	return EXIT_SUCCESS;
}
