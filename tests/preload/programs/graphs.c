/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/graphs.c -- products in CUDA graphs:
 * graphs MODE TEST, the mode being global, thread or relaxed. What a replay
 * leaves behind must have the bits of the same calls made eagerly.
 *   replay     each spelling twice, the second one adding to the first
 *   moved      the same, once eager calls have made everything larger
 *   changed    the same, with other data, and with data 2^40 times as large
 *   graphs     two graphs of one stream on two streams at once
 *   fork       streams that join the capture and leave it
 *   destroyed  the handle is gone before the replay
 *   first      nothing was called before the capture: the bits may differ
 *   warm       the same, after eager calls, all with the same data
 *   alone      one product, without sums, after eager calls
 *   busy       an eager call of another stream still runs: so may these
 *   many       eighty graphs, each with a product
 * Prints what eager calls and the last replay left, as hashes. */
#include "client.h"

enum { SINGLE, STRIDED, POINTERS, FORMS };
enum { M = 67, N = 45, K = 131, BATCH = 3, LARGE = 400, GRAPHS = 80 };
enum { COUNT_A = M * K * BATCH, COUNT_B = K * N * BATCH,
	COUNT_C = M * N * BATCH, STREAMS = 3 };

/* Operands of all spellings; C of each. */
struct data {
	float *a, *b, *c[FORMS];
	const float **as, **bs;
	float **cs;
};

static cublasHandle_t handle;
static cudaStream_t stream[STREAMS];
static enum cudaStreamCaptureMode mode;
static float found[FORMS][COUNT_C], expected[FORMS][COUNT_C];

static struct data
make_data(uint64_t seed)
{
	struct data d = {
		.a = client_random_device(COUNT_A, 1, seed),
		.b = client_random_device(COUNT_B, 1, seed + 1),
	};
	const float *as[BATCH], *bs[BATCH];
	float *cs[BATCH];

	for (int f = 0; f < FORMS; f++)
		d.c[f] = client_random_device(COUNT_C, 1, 9);
	for (int i = 0; i < BATCH; i++) {
		as[i] = d.a + (size_t)i * M * K;
		bs[i] = d.b + (size_t)i * K * N;
		cs[i] = d.c[POINTERS] + (size_t)i * M * N;
	}
	d.as = client_bytes(as, sizeof as);
	d.bs = client_bytes(bs, sizeof bs);
	d.cs = client_bytes(cs, sizeof cs);
	CUDA(cudaDeviceSynchronize()); /* these streams wait for no upload */
	return d;
}

/* The one place that calls cuBLAS, so that a site is what it was before. */
static void
multiply(const struct data *d, int form, float beta)
{
	switch (form) {
	case SINGLE:
		BLAS(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, M, N, K,
		    &one, d->a, M, d->b, K, &beta, d->c[form], M));
		break;
	case STRIDED:
		BLAS(cublasSgemmStridedBatched(handle, CUBLAS_OP_N,
		    CUBLAS_OP_N, M, N, K, &one, d->a, M, M * K, d->b, K, K * N,
		    &beta, d->c[form], M, M * N, BATCH));
		break;
	default:
		BLAS(cublasSgemmBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, M, N,
		    K, &one, d->as, M, d->bs, K, &beta, d->cs, M, BATCH));
	}
}

/* C = A B, then C = A B + C. */
static void
multiply_all(const struct data *d)
{
	for (int f = 0; f < FORMS; f++) {
		multiply(d, f, 0);
		multiply(d, f, 1);
	}
}

static void
read_all(const struct data *d, float (*to)[COUNT_C])
{
	CUDA(cudaDeviceSynchronize());
	for (int f = 0; f < FORMS; f++)
		client_host(to[f], d->c[f], COUNT_C);
}

/* The streams are not ordered with the default one, where this runs. */
static void
spoil(const struct data *d)
{
	CUDA(cudaDeviceSynchronize());
	for (int f = 0; f < FORMS; f++)
		CUDA(cudaMemset(d->c[f], 0xff, sizeof found[f]));
	CUDA(cudaDeviceSynchronize());
}

static void
run_eagerly(const struct data *d)
{
	spoil(d);
	multiply_all(d);
	read_all(d, expected);
}

static void
begin(cudaStream_t at)
{
	BLAS(cublasSetStream(handle, at));
	CUDA(cudaStreamBeginCapture(at, mode));
}

static cudaGraphExec_t
end(cudaStream_t at)
{
	cudaGraphExec_t exec;
	cudaGraph_t graph;

	CUDA(cudaStreamEndCapture(at, &graph));
	CUDA(cudaGraphInstantiate(&exec, graph, 0));
	CUDA(cudaGraphDestroy(graph));
	return exec;
}

static cudaGraphExec_t
capture(const struct data *d)
{
	begin(stream[0]);
	multiply_all(d);
	return end(stream[0]);
}

/* Twice: the second replay follows exponents that the first one left. */
static void
replay(cudaGraphExec_t exec, const struct data *d, const char *promise)
{
	for (int i = 0; i < 2; i++) {
		spoil(d);
		CUDA(cudaGraphLaunch(exec, stream[0]));
		read_all(d, found);
		client_expect(!memcmp(found, expected, sizeof found), promise);
	}
}

static void
scale(float *device, size_t count, float factor)
{
	float *host = client_allocate(count, sizeof *host);

	client_host(host, device, count);
	for (size_t i = 0; i < count; i++)
		host[i] *= factor;
	CUDA(cudaMemcpy(device, host, count * sizeof *host,
	    cudaMemcpyHostToDevice));
	free(host);
}

/* What a graph wants to have seen of its sites: calls on different data. */
static void
warm_up(const struct data *d)
{
	for (int i = 0; i < 3; i++) {
		scale(d->a, COUNT_A, 2);
		for (int f = 0; f < FORMS; f++)
			multiply(d, f, 0);
		CUDA(cudaDeviceSynchronize());
	}
	scale(d->a, COUNT_A, 1.f / 8);
}

/* ---- tests --------------------------------------------------------------- */

static void
test_replay(struct data *d)
{
	cudaGraphExec_t exec;

	warm_up(d);
	run_eagerly(d);
	exec = capture(d);
	replay(exec, d, "a replay has the bits of eager calls");
	CUDA(cudaGraphExecDestroy(exec));
}

/* Larger products, on this stream and on another one, and memory of the
 * program's own where ours may have been. */
static void
test_moved(struct data *d)
{
	enum { BLOCKS = 64, BYTES = 64 << 10 };
	const size_t count = (size_t)LARGE * LARGE;
	float *from = client_random_device(count, 1, 5);
	float *to = client_random_device(count, 1, 6);
	static unsigned char host[BYTES];
	unsigned char *block[BLOCKS];
	cudaGraphExec_t exec;

	warm_up(d);
	run_eagerly(d);
	exec = capture(d);
	CUDA(cudaDeviceSynchronize());
	for (int i = 0; i < 6; i++) {
		BLAS(cublasSetStream(handle, stream[i % 2]));
		BLAS(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, LARGE,
		    LARGE, LARGE, &one, from, LARGE, from, LARGE, &zero, to,
		    LARGE));
		CUDA(cudaStreamSynchronize(stream[i % 2]));
	}
	for (int i = 0; i < BLOCKS; i++) {
		CUDA(cudaMalloc((void **)&block[i], BYTES));
		CUDA(cudaMemset(block[i], 0xa5, BYTES));
	}
	replay(exec, d, "a replay has its bits when workspaces moved on");
	for (int i = 0; i < BLOCKS; i++) {
		CUDA(cudaMemcpy(host, block[i], BYTES, cudaMemcpyDeviceToHost));
		for (int j = 0; j < BYTES; j++)
			client_expect(host[j] == 0xa5,
			    "a replay leaves the program's memory alone");
	}
}

static void
test_changed(struct data *d)
{
	const struct data other = make_data(77);
	cudaGraphExec_t exec;

	warm_up(d);
	run_eagerly(d);
	exec = capture(d);
	CUDA(cudaMemcpy(d->a, other.a, COUNT_A * sizeof *d->a,
	    cudaMemcpyDeviceToDevice));
	run_eagerly(d);
	replay(exec, d, "a replay reads the data as they are then");
	/* No eager call sees these first: the graph settles by itself. */
	for (int step = 0; step < 4; step++) {
		const float factor = step % 2 ? 0x1p-40f : 0x1p40f;

		scale(step < 2 ? d->a : d->b, step < 2 ? COUNT_A : COUNT_B,
		    factor);
		for (int f = 0; f < FORMS; f++)
			for (int i = 0; i < COUNT_C; i++)
				expected[f][i] *= factor;
		replay(exec, d, "2^40 is all the difference");
	}
	run_eagerly(d);
	replay(exec, d, "and it is back");
}

static void
test_graphs(struct data *d)
{
	enum { ROUNDS = 6, ROOM = sizeof found };
	static float first[FORMS][COUNT_C], second[FORMS][COUNT_C];
	struct data other = make_data(33);
	cudaGraphExec_t exec[2];

	scale(other.a, COUNT_A, 0x1p20f);
	warm_up(&other);
	run_eagerly(&other);
	memcpy(second, expected, ROOM);
	run_eagerly(d);
	memcpy(first, expected, ROOM);
	exec[0] = capture(d);
	run_eagerly(d); /* who warms up before each capture gets both */
	exec[1] = capture(&other);
	for (int i = 0; i < ROUNDS; i++) {
		spoil(d);
		spoil(&other);
		CUDA(cudaGraphLaunch(exec[0], stream[1]));
		CUDA(cudaGraphLaunch(exec[1], stream[2]));
		read_all(d, found);
		client_expect(!memcmp(found, first, ROOM),
		    "one of two graphs of a stream has its bits");
		read_all(&other, found);
		client_expect(!memcmp(found, second, ROOM),
		    "so has the other");
	}
}

/* The origin, and two streams that follow it: each with products of its own,
 * twice. */
static void
test_fork(struct data *d)
{
	struct data all[STREAMS] = { *d, make_data(11), make_data(22) };
	static float alone[STREAMS][FORMS][COUNT_C];
	cudaEvent_t forked, joined[STREAMS];
	cudaGraphExec_t exec;

	CUDA(cudaEventCreate(&forked));
	warm_up(d);
	for (int s = 0; s < STREAMS; s++) {
		CUDA(cudaEventCreate(&joined[s]));
		BLAS(cublasSetStream(handle, stream[s]));
		run_eagerly(&all[s]);
		run_eagerly(&all[s]);
		memcpy(alone[s], expected, sizeof expected);
	}
	begin(stream[0]);
	for (int round = 0; round < 2; round++) {
		CUDA(cudaEventRecord(forked, stream[0]));
		for (int s = 0; s < STREAMS; s++) {
			BLAS(cublasSetStream(handle, stream[s]));
			CUDA(cudaStreamWaitEvent(stream[s], forked, 0));
			multiply_all(&all[s]);
			CUDA(cudaEventRecord(joined[s], stream[s]));
		}
		for (int s = 1; s < STREAMS; s++)
			CUDA(cudaStreamWaitEvent(stream[0], joined[s], 0));
	}
	exec = end(stream[0]);
	for (int i = 0; i < 8; i++) {
		for (int s = 0; s < STREAMS; s++)
			spoil(&all[s]);
		CUDA(cudaGraphLaunch(exec, stream[0]));
		for (int s = 0; s < STREAMS; s++) {
			read_all(&all[s], found);
			client_expect(!memcmp(found, alone[s], sizeof found),
			    "streams that join a capture have their bits");
		}
	}
}

static void
test_destroyed(struct data *d)
{
	cudaGraphExec_t exec;

	warm_up(d);
	run_eagerly(d);
	exec = capture(d);
	BLAS(cublasDestroy(handle));
	replay(exec, d, "a replay does without the handle");
	BLAS(cublasCreate(&handle));
	BLAS(cublasSetStream(handle, stream[0]));
	run_eagerly(d);
	replay(exec, d, "and another handle changes nothing");
}

static void
test_first(struct data *d)
{
	cudaGraphExec_t exec = capture(d);

	run_eagerly(d);
	spoil(d);
	CUDA(cudaGraphLaunch(exec, stream[0]));
	read_all(d, found);
}

static void
test_warm(struct data *d)
{
	run_eagerly(d);
	run_eagerly(d);
	test_first(d);
}

/* One spelling, of which nothing adds up; what it prints is of the replay. */
static void
test_alone(struct data *d)
{
	warm_up(d);
	multiply(d, SINGLE, 0);
	spoil(d); /* waits: the lane is free again */
	begin(stream[0]);
	multiply(d, SINGLE, 0);
	CUDA(cudaGraphLaunch(end(stream[0]), stream[0]));
	read_all(d, found);
}

static void
test_busy(struct data *d)
{
	cudaGraphExec_t exec;

	alarm(240); /* a deadlock is a failure */
	warm_up(d);
	run_eagerly(d);
	CUDA(cudaLaunchHostFunc(stream[0], client_hold, NULL));
	multiply_all(d);
	begin(stream[1]);
	multiply_all(d);
	exec = end(stream[1]);
	client_released = 1;
	CUDA(cudaDeviceSynchronize());
	spoil(d);
	CUDA(cudaGraphLaunch(exec, stream[1]));
	read_all(d, found);
}

static void
test_many(struct data *d)
{
	cudaGraphExec_t exec[GRAPHS];
	static float once[COUNT_C];

	run_eagerly(d);
	multiply(d, SINGLE, 0);
	CUDA(cudaDeviceSynchronize());
	client_host(once, d->c[SINGLE], COUNT_C);
	for (int i = 0; i < GRAPHS; i++) {
		begin(stream[0]);
		multiply(d, SINGLE, 0);
		exec[i] = end(stream[0]);
		multiply(d, SINGLE, 0);
		CUDA(cudaDeviceSynchronize());
	}
	for (int i = 0; i < GRAPHS; i++) {
		CUDA(cudaGraphLaunch(exec[i], stream[0]));
		CUDA(cudaStreamSynchronize(stream[0]));
		CUDA(cudaGraphExecDestroy(exec[i]));
	}
	multiply(d, SINGLE, 0);
	CUDA(cudaDeviceSynchronize());
	client_host(found[0], d->c[SINGLE], COUNT_C);
	client_expect(!memcmp(found[0], once, sizeof once),
	    "after many graphs an eager call has its bits");
}

static const struct test {
	const char *name;
	void (*run)(struct data *d);
} tests[] = {
	{ "replay", test_replay }, { "moved", test_moved },
	{ "changed", test_changed }, { "graphs", test_graphs },
	{ "fork", test_fork }, { "destroyed", test_destroyed },
	{ "first", test_first }, { "warm", test_warm }, { "alone", test_alone },
	{ "busy", test_busy }, { "many", test_many },
};

int
main(int argc, char **argv)
{
	static const char *const modes[] = {
		[cudaStreamCaptureModeGlobal] = "global",
		[cudaStreamCaptureModeThreadLocal] = "thread",
		[cudaStreamCaptureModeRelaxed] = "relaxed"
	};
	const struct test *test = NULL;
	struct data d;

	for (int i = 0; argc == 3 && i < 3; i++)
		if (!strcmp(argv[1], modes[i]))
			mode = (enum cudaStreamCaptureMode)i;
	for (size_t i = 0; argc == 3 && i < sizeof tests / sizeof *tests; i++)
		if (!strcmp(argv[2], tests[i].name))
			test = &tests[i];
	if (!test)
		return EXIT_USAGE;
	for (int i = 0; i < STREAMS; i++)
		CUDA(cudaStreamCreateWithFlags(&stream[i],
		    cudaStreamNonBlocking));
	BLAS(cublasCreate(&handle));
	BLAS(cublasSetStream(handle, stream[0]));
	d = make_data(1);
	test->run(&d);
	BLAS(cublasDestroy(handle));
	printf("eager=%016" PRIx64 " replay=%016" PRIx64 "\n",
	    client_hash(0, expected, sizeof expected),
	    client_hash(0, found, sizeof found));
	return EXIT_SUCCESS;
}
