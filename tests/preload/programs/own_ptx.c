/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/own_ptx.c -- a program with kernels of its own, which
 * run by their PTX: own_ptx PTX-FILE plain|lz4|zstd|several|sass|newer|damaged
 * WHAT..., with a line for each WHAT whose results are right. It registers and
 * launches them as nvcc's code does. The name of a kernel with an error is a
 * WHAT, too: its line says the status. */
#include "client.h"
#include "own_fatbin.h"

#include <math.h>

/* Of cuda_profiler_api.h, which not every set of headers has. */
cudaError_t cudaProfilerStart(void);
cudaError_t cudaProfilerStop(void);

enum { COUNT = 1000, ROWS = 5, COLUMNS = 200, KERNELS = 21 };
#define LONG "set_that_is_longer_than_the_longest_name_of_a_kernel_that_any_" \
	"template_library_makes_of_its_arguments_and_of_their_" \
	"arguments_in_turn_and_of_what_those_have_for_arguments_until_" \
	"it_does_not_fit_into_what_a_careful_reader_of_it_has_room_for"

static char names[KERNELS][256] = { "add", "reduce", "softmax", "layernorm",
	"histogram", "mirror", "difference", "descend", "many", LONG,
	"say", "twice", "beyond", "crooked", "unset", "racing", "apart", "absent",
	"stuck", "waits", "counts" };
static char stubs[KERNELS], table, counter;
static int *managed; /* the host's pointer to one */
static void **module;
static cudaStream_t stream;

/* ---- as nvcc's code does ------------------------------------------------- */

static char *
read_file(const char *path, size_t *bytes_out)
{
	FILE *in = fopen(path, "r");
	char *text = client_allocate(1, 1 << 20);

	client_expect(in, "the PTX is there");
	*bytes_out = fread(text, 1, (1 << 20) - 1, in) + 1;
	fclose(in);
	return text;
}

static void
fill(unsigned char *fat, const char *form, const char *text, size_t bytes)
{
	static const char old[] = ".version 9.0\n.target sm_30\n";

	if (!strcmp(form, "several")) {
		fatbin_add(fat, FATBIN_ELF, 90, 0, "ELF", 3);
		fatbin_add(fat, FATBIN_PTX, 30, 0, old, sizeof old);
		fatbin_add(fat, FATBIN_PTX, 75, FATBIN_LZ4, text, bytes);
		fatbin_add(fat, FATBIN_PTX, 120, 0, old, sizeof old);
	} else if (!strcmp(form, "sass")) {
		fatbin_add(fat, FATBIN_ELF, 75, 0, "ELF", 3);
		fatbin_add(fat, FATBIN_ELF, 86, 0, "ELF", 3);
	} else if (!strcmp(form, "newer")) {
		fatbin_add(fat, FATBIN_PTX, 120, 0, text, bytes);
	} else {
		fatbin_add(fat, FATBIN_PTX, 75, !strcmp(form, "lz4") ?
		    FATBIN_LZ4 : !strcmp(form, "zstd") ? FATBIN_ZSTD : 0,
		    text, bytes);
	}
	if (!strcmp(form, "damaged"))
		memset(fat + sizeof(struct fatbin_head) + 8, 0xff, 8);
}

static void
register_all(const char *path, const char *form)
{
	static struct fatbin_wrapper wrapper = { FATBIN_WRAPPER, 1, NULL,
		NULL };
	unsigned char *fat;
	size_t bytes;
	char *text = read_file(path, &bytes);

	fat = client_allocate(1, 2 * fatbin_room(bytes));
	fatbin_begin(fat);
	fill(fat, form, text, bytes);
	free(text);
	wrapper.data = fat;
	module = __cudaRegisterFatBinary(&wrapper);
	for (int i = 0; i < KERNELS; i++)
		__cudaRegisterFunction(module, &stubs[i], names[i], names[i],
		    -1, NULL, NULL, NULL, NULL, NULL);
	__cudaRegisterVar(module, &table, &table, "table", 0, 16, 1, 0);
	__cudaRegisterVar(module, &counter, &counter, "counter", 0, 4, 0, 0);
	__cudaRegisterManagedVar(module, (void **)(void *)&managed, NULL,
	    "shared_by_both", 0, 4, 0, 0);
	__cudaRegisterFatBinaryEnd(module);
}

static const char *
stub(const char *name)
{
	int i = 0;

	while (strcmp(names[i], name))
		i++;
	return &stubs[i];
}

static int
launch(const char *name, unsigned grid, unsigned block, size_t shared,
    void **params)
{
	const dim3 blocks = { grid, 1, 1 }, threads = { block, 1, 1 };

	return cudaLaunchKernel(stub(name), blocks, threads, params, shared,
	    stream);
}
#define LAUNCH(name, grid, block, shared, ...) \
	CUDA(launch(name, grid, block, shared, (void *[]){ __VA_ARGS__ }))

/* ---- right programs ------------------------------------------------------ */

static void
adding(void)
{
	float host[COUNT], back[COUNT], *a, *b, *c;
	const float other[4] = { 10, 20, 30, 40 };
	float *at;
	int n = COUNT, hits = -1;
	size_t bytes = 0;

	for (int i = 0; i < n; i++)
		host[i] = (float)i;
	a = client_device(host, COUNT);
	b = client_device(host, COUNT);
	c = client_device(host, COUNT);
	LAUNCH("add", 4, 256, 0, &a, &b, &c, &n);
	client_host(back, c, COUNT);
	for (int i = 0; i < n; i++)
		client_expect(back[i] == (float)(2 * i + i % 4 + 1),
		    "add adds");
	CUDA(cudaMemcpyFromSymbol(&hits, &counter, 4, 0,
	    cudaMemcpyDeviceToHost));
	client_expect(hits == n, "a variable counts");
	CUDA(cudaMemcpyToSymbolAsync(&counter, &zero, 4, 0,
	    cudaMemcpyHostToDevice, stream));
	CUDA(cudaMemcpyToSymbol(&table, other + 1, 12, 4,
	    cudaMemcpyHostToDevice));
	LAUNCH("add", 4, 256, 0, &a, &b, &c, &n);
	client_host(back, c, COUNT);
	client_expect(back[4] == 9 && back[5] == 30 && back[7] == 54,
	    "a table is set in part");
	CUDA(cudaGetSymbolAddress((void **)&at, &table));
	CUDA(cudaGetSymbolSize(&bytes, &table));
	CUDA(cudaMemcpy(back, at, bytes, cudaMemcpyDeviceToHost));
	client_expect(bytes == 16 && back[0] == 1 && back[3] == 40,
	    "a symbol has an address and a size");
	CUDA(cudaMemcpyFromSymbolAsync(&hits, &counter, 4, 0,
	    cudaMemcpyDeviceToHost, stream));
	CUDA(cudaStreamSynchronize(stream));
	client_expect(hits == n, "a variable counts again");
	client_expect(cudaMemcpyToSymbol(&table, other, 16, 4,
	    cudaMemcpyHostToDevice) == cudaErrorInvalidValue,
	    "a symbol has an end");
	client_expect(cudaMemcpyToSymbol(&n, other, 4, 0,
	    cudaMemcpyHostToDevice) == cudaErrorInvalidSymbol,
	    "what is no symbol is none");
	client_expect(cudaFree(at) == cudaErrorInvalidValue,
	    "a symbol is not freed");
	(void)cudaGetLastError();
	CUDA(cudaFree(a));
	CUDA(cudaFree(b));
	CUDA(cudaFree(c));
}

/* Whole numbers below 2^24: sums in any order are exact. */
static void
reducing(void)
{
	float host[COUNT], back, wanted = 0, *x, *sum;
	int n = COUNT;

	for (int i = 0; i < n; i++)
		wanted += host[i] = (float)(i % 100);
	x = client_device(host, COUNT);
	sum = client_device(&zero, 1);
	LAUNCH("reduce", 4, 256, 256 * sizeof(float), &x, &sum, &n);
	client_host(&back, sum, 1);
	client_expect(back == wanted, "reduce adds up");
	CUDA(cudaFree(x));
	CUDA(cudaFree(sum));
}

/* The device's exp has 2 ulp, the sum of 200 terms at most 200 roundings:
 * 1e-4 is far from both. */
static void
normalizing(void)
{
	static float host[ROWS * COLUMNS], soft[ROWS * COLUMNS],
	    norm[ROWS * COLUMNS];
	float *x, *y, *z;
	int n = COLUMNS;

	for (int i = 0; i < ROWS * COLUMNS; i++)
		host[i] = (float)(i * 7 % 31) / 8;
	x = client_device(host, ROWS * COLUMNS);
	y = client_device(host, ROWS * COLUMNS);
	z = client_device(host, ROWS * COLUMNS);
	LAUNCH("softmax", ROWS, 32, 0, &x, &y, &n);
	LAUNCH("layernorm", ROWS, 128, 0, &x, &z, &n);
	client_host(soft, y, ROWS * COLUMNS);
	client_host(norm, z, ROWS * COLUMNS);
	for (int r = 0; r < ROWS; r++) {
		double sum = 0, total = 0, spread = 0;

		for (int i = 0; i < n; i++) {
			sum += exp(host[r * n + i]);
			total += host[r * n + i] / n;
		}
		for (int i = 0; i < n; i++)
			spread += pow(host[r * n + i] - total, 2) / n;
		for (int i = 0; i < n; i++) {
			client_expect(fabs(soft[r * n + i] - exp(host[r * n +
			    i]) / sum) < 1e-4, "softmax");
			client_expect(fabs(norm[r * n + i] - (host[r * n + i] -
			    total) / sqrt(spread + 1e-5)) < 1e-4,
			    "layernorm");
		}
	}
	CUDA(cudaFree(x));
	CUDA(cudaFree(y));
	CUDA(cudaFree(z));
}

static void
counting(void)
{
	unsigned char host[COUNT], *x;
	unsigned bins[256], *device;
	int n = COUNT;

	for (int i = 0; i < n; i++)
		host[i] = (unsigned char)(i * i);
	CUDA(cudaMalloc((void **)&x, sizeof host));
	CUDA(cudaMalloc((void **)&device, sizeof bins));
	CUDA(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
	CUDA(cudaMemset(device, 0, sizeof bins));
	LAUNCH("histogram", 3, 256, 0, &x, &device, &n);
	CUDA(cudaMemcpy(bins, device, sizeof bins, cudaMemcpyDeviceToHost));
	for (int i = 0; i < n; i++)
		bins[host[i]]--;
	for (int i = 0; i < 256; i++)
		client_expect(!bins[i], "histogram");
	CUDA(cudaFree(x));
	CUDA(cudaFree(device));
}

static void
together(void)
{
	float host[1024] = { 0 }, *x;
	const dim3 grid = { 8, 1, 1 }, block = { 64, 1, 1 };
	const dim3 large = { 100000, 1, 1 };
	int n = 512;
	void *params[] = { &x, &n };

	for (int i = 0; i < n; i++)
		host[i] = (float)i;
	x = client_device(host, 1024);
	CUDA(cudaLaunchCooperativeKernel(stub("mirror"), grid, block, params,
	    0, stream));
	client_host(host, x, 1024);
	for (int i = 0; i < n; i++)
		client_expect(host[i] == (float)i + 1 && host[n + i] ==
		    (float)(n - i), "all blocks wait for each other");
	client_expect(cudaLaunchCooperativeKernel(stub("mirror"), large, block,
	    params, 0, stream) == cudaErrorCooperativeLaunchTooLarge,
	    "a grid that does not fit is refused");
	(void)cudaGetLastError();
	CUDA(cudaFree(x));
}

/* What programs ask and set. */
static void
asking(void)
{
	struct cudaFuncAttributes f;
	int blocks = 0, n = 0, sum = 0, *device;
	float *x = client_device((float[1]){ 0 }, 1);
	cudaLaunchConfig_t config = { .gridDim = { 1, 1, 1 },
		.blockDim = { 1, 1, 1 } };
	int v[40];
	void *params[41] = { &device }, *alone[] = { &device };
	void *none[] = { &x, &x, &n };

	CUDA(cudaProfilerStart());
	CUDA(cudaFuncGetAttributes(&f, stub("histogram")));
	client_expect(f.ptxVersion == 75 && f.binaryVersion == 90 &&
	    f.sharedSizeBytes == 1024 && f.maxThreadsPerBlock == 1024 &&
	    f.maxDynamicSharedSizeBytes == 48 * 1024 - 1024,
	    "what the PTX says is known");
	CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks,
	    stub("reduce"), 256, 1024));
	client_expect(blocks == 8, "2048 threads hold 8 blocks of 256");
	CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks,
	    stub("reduce"), 256, 1 << 16, 0));
	client_expect(blocks == 3, "228 KB hold 3 blocks of 65 KB");
	client_expect(launch("reduce", 1, 256, 1 << 16, none) ==
	    cudaErrorInvalidValue, "more than 48 KB are asked for first");
	CUDA(cudaFuncSetAttribute(stub("reduce"),
	    cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 16));
	CUDA(launch("reduce", 1, 256, 1 << 16, none));
	client_expect(cudaFuncSetAttribute(stub("reduce"),
	    cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 18) ==
	    cudaErrorInvalidValue, "no GPU has 256 KB");
	client_expect(launch("reduce", 1, 2048, 0, none) ==
	    cudaErrorInvalidConfiguration, "no block has 2048 threads");
	(void)cudaGetLastError();
	CUDA(cudaMalloc((void **)&device, sizeof *device));
	for (int i = 0; i < 40; i++) {
		v[i] = i;
		params[i + 1] = &v[i];
	}
	config.stream = stream;
	CUDA(cudaLaunchKernelExC(&config, stub("many"), params));
	CUDA(cudaMemcpy(&sum, device, 4, cudaMemcpyDeviceToHost));
	client_expect(sum == 35 * 36 / 2 + 1000 * (36 + 37 + 38 + 39),
	    "40 arguments arrive");
	CUDA(cudaLaunchKernelExC(&config, stub(LONG), alone));
	CUDA(cudaMemcpy(&sum, device, 4, cudaMemcpyDeviceToHost));
	client_expect(sum == 42, "a long name is found");
	CUDA(cudaProfilerStop());
	CUDA(cudaFree(device));
	CUDA(cudaFree(x));
}

/* Two threads print, when somebody waits. */
static void
saying(void)
{
	int n = -2;

	printf("before\n");
	LAUNCH("say", 1, 2, 0, &n);
	CUDA(cudaStreamSynchronize(stream));
}

/* What nvcc makes of a managed variable. */
static void
sharing(void)
{
	client_expect(!managed, "it is there when it is used");
	client_expect(__cudaInitModule(module) == 1 && managed,
	    "the host has a pointer to it");
	client_expect(*managed == 5, "it begins as it was written");
	*managed = 21;
	CUDA(launch("twice", 1, 1, 0, NULL));
	CUDA(cudaStreamSynchronize(stream));
	client_expect(*managed == 42, "host and device share it");
}

/* What nvcc's code calls with --default-stream per-thread. */
cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 grid,
    dim3 block, void **params, size_t shared, cudaStream_t own);
cudaError_t cudaLaunchCooperativeKernel_ptsz(const void *host, dim3 grid,
    dim3 block, void **params, size_t shared, cudaStream_t own);
cudaError_t cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t *config,
    const void *host, void **params);
cudaError_t cudaMemcpyToSymbol_ptds(const void *symbol, const void *from,
    size_t bytes, size_t offset, enum cudaMemcpyKind kind);
cudaError_t cudaMemcpyFromSymbol_ptds(void *to, const void *symbol,
    size_t bytes, size_t offset, enum cudaMemcpyKind kind);
cudaError_t cudaMemcpyToSymbolAsync_ptsz(const void *symbol, const void *from,
    size_t bytes, size_t offset, enum cudaMemcpyKind kind, cudaStream_t own);
cudaError_t cudaMemcpyFromSymbolAsync_ptsz(void *to, const void *symbol,
    size_t bytes, size_t offset, enum cudaMemcpyKind kind, cudaStream_t own);

static void
on_own_stream(void)
{
	const cudaLaunchConfig_t config = { .gridDim = { 1, 1, 1 },
		.blockDim = { 32, 1, 1 } };
	const dim3 single = { 1, 1, 1 }, warp = { 32, 1, 1 };
	float *x = client_device((float[64]){ 0 }, 64);
	int n = 32, hits = 100;
	void *params[] = { &x, &x, &x, &n }, *mirrored[] = { &x, &n };

	CUDA(cudaMemcpyToSymbol_ptds(&counter, &hits, 4, 0,
	    cudaMemcpyHostToDevice));
	CUDA(__cudaLaunchKernel_ptsz((cudaKernel_t)(uintptr_t)stub("add"),
	    single, warp, params, 0, NULL));
	CUDA(cudaLaunchKernelExC_ptsz(&config, stub("add"), params));
	CUDA(cudaLaunchCooperativeKernel_ptsz(stub("mirror"), single, warp,
	    mirrored, 0, NULL));
	CUDA(cudaMemcpyFromSymbol_ptds(&hits, &counter, 4, 0,
	    cudaMemcpyDeviceToHost));
	client_expect(hits == 164, "two launches of 32 threads count");
	hits = 7;
	CUDA(cudaMemcpyToSymbolAsync_ptsz(&counter, &hits, 4, 0,
	    cudaMemcpyHostToDevice, NULL));
	CUDA(cudaMemcpyFromSymbolAsync_ptsz(&n, &counter, 4, 0,
	    cudaMemcpyDeviceToHost, NULL));
	CUDA(cudaStreamSynchronize(cudaStreamPerThread));
	client_expect(n == 7, "copies of the own stream come in order");
	CUDA(cudaFree(x));
}

/* Linear regression: W goes to the weights that made the targets. `graph`: each
 * step is a launch of one that was captured. */
static void
step(cublasHandle_t handle, int n, float *w, float *x, float *y, float *wanted,
    float *d, float *gradient)
{
	float rate = 0.5f / (float)n;
	int all = n * n;
	const unsigned grid = (unsigned)(all + 255) / 256;

	BLAS(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, w, n,
	    x, n, &zero, y, n));
	LAUNCH("difference", grid, 256, 0, &y, &wanted, &d, &all);
	BLAS(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_T, n, n, n, &one, d, n,
	    x, n, &zero, gradient, n));
	LAUNCH("descend", grid, 256, 0, &w, &gradient, &rate, &all);
}

static void
training(bool graph)
{
	enum { N = 64, STEPS = 60 };
	static float back[N * N];
	float *w = client_random_device(N * N, 0, 1), *x, *y, *wanted, *d, *g;
	double loss[2] = { 0 };
	cublasHandle_t handle;
	cudaGraphExec_t exec;
	cudaGraph_t captured;
	float *truth = client_random_device(N * N, 1, 2);

	x = client_random_device(N * N, 1, 3);
	y = client_random_device(N * N, 0, 4);
	d = client_random_device(N * N, 0, 5);
	g = client_random_device(N * N, 0, 6);
	wanted = client_random_device(N * N, 0, 7);
	BLAS(cublasCreate(&handle));
	BLAS(cublasSetStream(handle, stream));
	BLAS(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, N, N, N, &one,
	    truth, N, x, N, &zero, wanted, N));
	step(handle, N, w, x, y, wanted, d, g);
	CUDA(cudaStreamSynchronize(stream));
	if (graph) {
		CUDA(cudaStreamBeginCapture(stream,
		    cudaStreamCaptureModeGlobal));
		step(handle, N, w, x, y, wanted, d, g);
		CUDA(cudaStreamEndCapture(stream, &captured));
		CUDA(cudaGraphInstantiate(&exec, captured, 0));
	}
	for (int i = 0; i < STEPS; i++) {
		if (graph)
			CUDA(cudaGraphLaunch(exec, stream));
		else
			step(handle, N, w, x, y, wanted, d, g);
		CUDA(cudaStreamSynchronize(stream));
		if (i > 0 && i < STEPS - 1)
			continue;
		client_host(back, d, N * N);
		for (int k = 0; k < N * N; k++)
			loss[i > 0] += back[k] * back[k];
	}
	/* Half the loss of one step is gone after 60, by far. */
	client_expect(loss[1] < loss[0] / 2, "the loss falls");
	BLAS(cublasDestroy(handle));
}

/* ---- wrong ones ---------------------------------------------------------- */

static int
bug(const char *name)
{
	float *x = client_device((float[64]){ 0 }, 64);
	int n = 64;
	void *params[] = { &x, &n };
	int status = launch(name, 1, !strcmp(name, "crooked") ? 1 :
	    !strcmp(name, "apart") || !strcmp(name, "absent") ? 32 : 64, 0,
	    params);

	if (!status)
		status = cudaStreamSynchronize(stream);
	if (!status)
		CUDA(cudaFree(x));
	return status;
}

static bool
run(const char *what)
{
	if (!strcmp(what, "add"))
		adding();
	else if (!strcmp(what, "reduce"))
		reducing();
	else if (!strcmp(what, "normalize"))
		normalizing();
	else if (!strcmp(what, "count"))
		counting();
	else if (!strcmp(what, "together"))
		together();
	else if (!strcmp(what, "ask"))
		asking();
	else if (!strcmp(what, "share"))
		sharing();
	else if (!strcmp(what, "own"))
		on_own_stream();
	else if (!strcmp(what, "say"))
		saying();
	else if (!strcmp(what, "train"))
		training(false);
	else if (!strcmp(what, "graph"))
		training(true);
	else
		return false;
	return true;
}

int
main(int argc, char **argv)
{
	if (argc < 4)
		return EXIT_USAGE;
	register_all(argv[1], argv[2]);
	CUDA(cudaStreamCreate(&stream));
	for (int i = 3; i < argc; i++)
		if (run(argv[i]))
			printf("%s: right\n", argv[i]);
		else
			printf("%s: status %d\n", argv[i], bug(argv[i]));
	__cudaUnregisterFatBinary(module);
	return EXIT_SUCCESS;
}
