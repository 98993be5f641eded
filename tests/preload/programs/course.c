/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/course.c -- one product, call by call:
 * course [STREAM] [device] [beta] STEP..., STREAM legacy, own or thread (whose
 * stream it is). Steps: good:N, graded:N, cancelling:N are N calls on such
 * data; reset is cudaDeviceReset; fork leaves a child that ends at once.
 * device: scalars in device memory; beta: C is added to, from the same small
 * start at every call. Prints FIRST-LAST DATA HASH for calls with the same
 * bits, the numbers from 1.
 *   graded      along K: FP16 has not the range, TF32 has
 *   cancelling  no precision below FP32's is enough
 * */
#include "client.h"

#include <math.h>
#include <sys/wait.h>

enum { M = 64, N = 48, K = 96, BINADES = 45 };
enum { COUNT_A = M * K, COUNT_B = K * N, COUNT_C = M * N };

enum data { GOOD, GRADED, CANCELLING, KINDS };
static const char *const names[KINDS] = { "good", "graded", "cancelling" };

static struct state {
	enum { LEGACY, OWN, THREAD } which;
	bool device, adds;
	cublasHandle_t handle;
	cudaStream_t stream;
	float *a[KINDS], *b[KINDS], *c, *start, *scalars;
} s;

static struct {
	int first, last;
	enum data data;
	uint64_t hash;
} found;

/* Column-major A: column p is everything along K. */
static void
change(float *a, float *b, enum data kind, uint64_t seed)
{
	const int half = K / 2;

	for (int p = 0; p < K; p++) {
		const int up = (int)(client_uniform(&seed) * BINADES);

		for (int i = 0; kind == GRADED && i < M; i++)
			a[p * M + i] = ldexpf(a[p * M + i], -up);
		for (int j = 0; kind == GRADED && j < N; j++)
			b[j * K + p] = ldexpf(b[j * K + p], up);
		for (int i = 0; kind == CANCELLING && p >= half && i < M; i++)
			a[p * M + i] = -a[(p - half) * M + i];
		for (int j = 0; kind == CANCELLING && p >= half && j < N; j++)
			b[j * K + p] = b[j * K + p - half] *
			    (1 + 1e-5f * (float)client_uniform(&seed));
	}
}

static void
make_data(enum data kind)
{
	float a[COUNT_A], b[COUNT_B];
	uint64_t seed = 7;

	for (int i = 0; i < COUNT_A; i++)
		a[i] = (float)(2 * client_uniform(&seed) - 1);
	for (int i = 0; i < COUNT_B; i++)
		b[i] = (float)(2 * client_uniform(&seed) - 1);
	change(a, b, kind, seed);
	s.a[kind] = client_device(a, COUNT_A);
	s.b[kind] = client_device(b, COUNT_B);
}

static void
set_up(void)
{
	const float scalars[2] = { 1.5f, s.adds ? 0.25f : 0 };

	for (int kind = 0; kind < KINDS; kind++)
		make_data((enum data)kind);
	s.start = client_random_device(COUNT_C, 1e-3f, 3);
	s.c = client_random_device(COUNT_C, 1, 4);
	s.scalars = client_device(scalars, 2);
	s.stream = s.which == THREAD ? cudaStreamPerThread : NULL;
	if (s.which == OWN)
		CUDA(cudaStreamCreateWithFlags(&s.stream,
		    cudaStreamNonBlocking));
	BLAS(cublasCreate(&s.handle));
	BLAS(cublasSetStream(s.handle, s.stream));
	if (s.device)
		BLAS(cublasSetPointerMode(s.handle,
		    CUBLAS_POINTER_MODE_DEVICE));
	CUDA(cudaDeviceSynchronize());
}

static uint64_t
multiply(enum data kind)
{
	const float alpha = 1.5f, beta = s.adds ? 0.25f : 0;
	float host[COUNT_C];

	CUDA(cudaMemcpyAsync(s.c, s.start, sizeof host,
	    cudaMemcpyDeviceToDevice, s.stream));
	BLAS(cublasSgemm(s.handle, CUBLAS_OP_N, CUBLAS_OP_N, M, N, K,
	    s.device ? s.scalars : &alpha, s.a[kind], M, s.b[kind], K,
	    s.device ? s.scalars + 1 : &beta, s.c, M));
	CUDA(cudaStreamSynchronize(s.stream));
	client_host(host, s.c, COUNT_C);
	return client_hash(0, host, sizeof host);
}

static void
flush_found(void)
{
	if (found.first)
		printf("%d-%d %s %016" PRIx64 "\n", found.first, found.last,
		    names[found.data], found.hash);
	found.first = 0;
}

static void
run(enum data kind, int calls)
{
	for (int i = 0; i < calls; i++) {
		const uint64_t hash = multiply(kind);

		if (!found.first || hash != found.hash) {
			flush_found();
			found.first = found.last + 1;
			found.data = kind;
			found.hash = hash;
		}
		found.last++;
	}
}

static void
step(const char *word)
{
	const size_t length = strcspn(word, ":");

	if (!strcmp(word, "reset")) {
		CUDA(cudaDeviceReset());
		set_up();
		return;
	}
	if (!strcmp(word, "fork")) {
		const pid_t child = fork();
		int status;

		if (!child)
			_exit(0);
		client_expect(child > 0 && waitpid(child, &status, 0) == child
		    && !status, "a child ends well");
		return;
	}
	for (int kind = 0; kind < KINDS; kind++)
		if (!strncmp(word, names[kind], length) && word[length] &&
		    strlen(names[kind]) == length) {
			run((enum data)kind, atoi(word + length + 1));
			return;
		}
	exit(EXIT_USAGE);
}

int
main(int argc, char **argv)
{
	static const char *const streams[] = { "legacy", "own", "thread" };
	int at = 1;

	for (int i = 0; i < 3 && at < argc; i++)
		if (!strcmp(argv[at], streams[i])) {
			s.which = (__typeof__(s.which))i;
			at++;
			break;
		}
	s.device = at < argc && !strcmp(argv[at], "device");
	at += s.device;
	s.adds = at < argc && !strcmp(argv[at], "beta");
	at += s.adds;
	set_up();
	for (; at < argc; at++)
		step(argv[at]);
	flush_found();
	BLAS(cublasDestroy(s.handle));
	return EXIT_SUCCESS;
}
