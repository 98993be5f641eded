/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/lost.c -- a program whose own kernel ends the context:
 * lost FAULT BEFORE AFTER [held]. So many products, the fault,
 * `address` or `trap`, so many products more; a line with every status. Then it
 * resets the device and multiplies again. With `held` the stream comes to the
 * fault when the products behind it are queued. */
#include "client.h"

#include <dlfcn.h>

enum { N = 64 };

static const char head[] = ".version 6.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry bad()\n{ .reg .u64 %a; mov.u64 %a, 64;\n";

static cublasHandle_t handle;
static cudaStream_t stream;
static float *a, *c;

/* The driver, as programs that compile their kernels find it. */
static void *
driver(const char *name)
{
	static void *library;
	void *function;

	if (!library)
		library = dlopen("libcuda.so.1", RTLD_NOW);
	function = library ? dlsym(library, name) : NULL;
	client_expect(function, "the driver has its functions");
	return function;
}

static void
launch_fault(const char *fault)
{
	int (*load)(void **, const void *);
	int (*get)(void **, void *, const char *);
	int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned,
	    unsigned, unsigned, void *, void **, void **);
	void *module, *function;
	char text[512];

	*(void **)&load = driver("cuModuleLoadData");
	*(void **)&get = driver("cuModuleGetFunction");
	*(void **)&launch = driver("cuLaunchKernel");
	snprintf(text, sizeof text, "%s %s ret; }\n", head,
	    strcmp(fault, "trap") ? "st.global.u32 [%a], 1;" : "trap;");
	CUDA(load(&module, text));
	CUDA(get(&function, module, "bad"));
	CUDA(launch(function, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL));
}

static int
multiply(void)
{
	return (int)cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, N, N, N,
	    &one, a, N, a, N, &zero, c, N);
}

static void
begin(void)
{
	a = client_random_device(N * N, 1, 7);
	c = client_random_device(N * N, 1, 8);
	CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	CUDA(cudaDeviceSynchronize());
	BLAS(cublasCreate(&handle));
	BLAS(cublasSetStream(handle, stream));
}

/* The same status over and over is said once. */
static void
say(const char *what, int status)
{
	static const char *last;
	static int before = -1;

	if (what != last || status != before)
		printf(" %s=%d", what, status);
	last = what;
	before = status;
}

static void
see_statuses(void)
{
	void *more;

	say("sync", (int)cudaStreamSynchronize(stream));
	say("product", multiply());
	say("malloc", (int)cudaMalloc(&more, 64));
	say("device", (int)cudaDeviceSynchronize());
	say("last", (int)cudaGetLastError());
	say("last again", (int)cudaGetLastError());
	say("destroy", (int)cublasDestroy(handle));
	say("stream", (int)cudaStreamDestroy(stream));
	say("free", (int)cudaFree(a));
}

int
main(int argc, char **argv)
{
	static float host[N * N];
	uint64_t bits;

	if (argc < 4)
		return EXIT_USAGE;
	alarm(240); /* a call that waits for ever is a failure */
	begin();
	for (int i = atoi(argv[2]); i > 0; i--)
		BLAS(multiply());
	if (argc > 4)
		CUDA(cudaLaunchHostFunc(stream, client_hold, NULL));
	launch_fault(argv[1]);
	if (argc == 4)
		say("fault", (int)cudaStreamSynchronize(stream));
	for (int i = atoi(argv[3]); i > 0; i--)
		say("after", multiply());
	client_released = 1;
	see_statuses();
	say("reset", (int)cudaDeviceReset());
	(void)cudaGetLastError();
	begin();
	for (int i = 0; i < 300; i++)
		BLAS(multiply());
	CUDA(cudaStreamSynchronize(stream));
	client_host(host, c, N * N);
	bits = client_hash(0, host, sizeof host);
	printf(" bits=%" PRIx64 "\n", bits);
	BLAS(cublasDestroy(handle));
	return EXIT_SUCCESS;
}
