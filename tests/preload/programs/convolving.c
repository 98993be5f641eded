/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/convolving.c -- one convolution of cuDNN's older
 * interface, made again and again: convolving WORD=VALUE... prints for each
 * call its status, a hash of the output's bits, a weighted sum of the output
 * and the root of the sum of the squares of its terms. */
#include "conv_problem.h"
#include "plugin.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- The calls --------------------------------------------------------- */

/* How often the emulated GPU was called by that name. */
static int
counted(const char *name)
{
	uint64_t (*counter)(const char *);

	*(void **)&counter = dlsym(RTLD_DEFAULT, "emuCounter");
	return counter ? (int)counter(name) : 0;
}

/* Prints what the recording asked of cuDNN: engines, and things made. */
static void
replay(struct problem *p, cudnnHandle_t handle, cudaStream_t stream)
{
	cudaGraphExec_t exec;
	cudaGraph_t graph;
	int asked, made;

	if (whole("capture") == 2) {
		*find("flip") = 1;
		describe_convolution(p);
	}
	MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	asked = counted("cudnnBackendGetAttribute");
	made = counted("cudnnBackendFinalize");
	MUST(convolve(p, handle));
	asked = counted("cudnnBackendGetAttribute") - asked;
	made = counted("cudnnBackendFinalize") - made;
	MUST(cudaStreamEndCapture(stream, &graph));
	MUST(cudaGraphInstantiate(&exec, graph, 0));
	MUST(cudaMemsetAsync(p->ys.device, 0, p->ys.count * sizeof(float),
	    stream));
	MUST(cudaGraphLaunch(exec, stream));
	MUST(cudaStreamSynchronize(stream));
	printf("graph 0 %016llx asked=%d made=%d\n",
	    (unsigned long long)hash(output(p)), asked, made);
}

static void
dump(const struct buffer *b)
{
	for (size_t i = 0; i < b->count; i++)
		printf("= %.9g\n", (double)b->host[i]);
}

/* Both go on; the child's status is the parent's. */
static pid_t
split(void)
{
	pid_t child;
	int status = 1;

	fflush(stdout);
	child = fork();
	if (child > 0 && (waitpid(child, &status, 0) != child || status))
		exit(4);
	return child;
}

static void *
run(void *quiet)
{
	struct problem p = { .bytes = 0 };
	cudaStream_t stream;
	cudnnHandle_t handle;

	MUST(cudaStreamCreate(&stream));
	for (int i = 0; i < whole("handles"); i++) {
		MUST(cudnnCreate(&handle));
		MUST(cudnnSetStream(handle, stream));
		if (!p.workspace)
			make(&p, handle);
		if (word("before"))
			printf("0 0 %016llx\n",
			    (unsigned long long)hash(output(&p)));
		for (int j = 1; j <= whole("calls"); j++) {
			int status;

			p.alpha = (float)(word("alpha") +
			    (j - 1) * word("rise"));
			if (word("warm") && j <= 3)
				scale_input(&p, j == 1 ? 4 : 0.5f);
			status = (int)convolve(&p, handle);
			MUST(cudaStreamSynchronize(stream));
			if (quiet)
				continue;
			printf("%d %d %016llx", j, status,
			    (unsigned long long)hash(output(&p)));
			print_sums(output(&p));
		}
		if (whole("fork") == 3 && !split()) {
			printf("child %d\n", (int)convolve(&p, handle));
			exit(0);
		}
		if (word("dump"))
			dump(output(&p));
		if (word("capture"))
			replay(&p, handle, stream);
		for (int j = 0; j < whole("leave"); j++)
			MUST(convolve(&p, handle));
		if (word("leave"))
			return NULL;
		MUST(cudnnDestroy(handle));
	}
	if (quiet)
		*(uint64_t *)quiet = hash(output(&p));
	return NULL;
}

static void *
run_shared(void *bits_out)
{
	static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
	static cudnnHandle_t handle;
	static struct problem p;

	for (int i = 0; i < whole("calls"); i++) {
		pthread_mutex_lock(&turn);
		if (!handle) {
			MUST(cudnnCreate(&handle));
			make(&p, handle);
		}
		MUST(convolve(&p, handle));
		*(uint64_t *)bits_out = hash(output(&p));
		pthread_mutex_unlock(&turn);
	}
	return NULL;
}

/* All at once: nothing is waited for before the end. */
static void
run_streams(int count)
{
	cudaStream_t stream[16];
	struct problem p[16] = { { .bytes = 0 } };
	cudnnHandle_t handle;

	MUST(cudnnCreate(&handle));
	for (int i = 0; i < count; i++) {
		MUST(cudaStreamCreateWithFlags(&stream[i],
		    cudaStreamNonBlocking));
		make(&p[i], handle);
	}
	MUST(cudaDeviceSynchronize());
	for (int i = 0; i < whole("calls") * count; i++) {
		MUST(cudnnSetStream(handle, stream[i % count]));
		MUST(convolve(&p[i % count], handle));
	}
	for (int i = 0; i < count; i++) {
		MUST(cudaStreamSynchronize(stream[i]));
		printf("%016llx\n", (unsigned long long)hash(output(&p[i])));
	}
	MUST(cudnnDestroy(handle));
}

/* Of the other thread of run_beside(). */
struct meanwhile {
	struct problem p;
	cudnnHandle_t handle;
};

static void *
convolve_beside(void *meanwhile)
{
	struct meanwhile *b = meanwhile;

	for (int i = 0; i < whole("calls"); i++)
		MUST(convolve(&b->p, b->handle));
	return NULL;
}

/* What another thread does must not end a capture, in the mode that forbids
 * most. The program's own calls are all allowed. */
static void
run_beside(void)
{
	struct meanwhile b = { .handle = NULL };
	cudaStream_t stream[2];
	pthread_t thread;
	cudaGraph_t graph;

	for (int i = 0; i < 2; i++)
		MUST(cudaStreamCreateWithFlags(&stream[i],
		    cudaStreamNonBlocking));
	MUST(cudnnCreate(&b.handle));
	MUST(cudnnSetStream(b.handle, stream[1]));
	make(&b.p, b.handle);
	MUST(cudaDeviceSynchronize());
	MUST(cudaStreamBeginCapture(stream[0], cudaStreamCaptureModeGlobal));
	MUST(cudaMemsetAsync(b.p.zs.device, 0, b.p.zs.count * sizeof(float),
	    stream[0]));
	MUST(pthread_create(&thread, NULL, convolve_beside, &b));
	MUST(pthread_join(thread, NULL));
	MUST(cudaStreamEndCapture(stream[0], &graph));
	MUST(cudaStreamSynchronize(stream[1]));
	printf("%016llx\n", (unsigned long long)hash(output(&b.p)));
}

static int
run_threads(int count)
{
	pthread_t thread[16];
	uint64_t bits[16];

	for (int i = 0; i < count; i++)
		if (pthread_create(&thread[i], NULL, word("shared")
		    ? run_shared : run, &bits[i]))
			return 3;
	for (int i = 0; i < count; i++) {
		pthread_join(thread[i], NULL);
		printf("%016llx\n", (unsigned long long)bits[i]);
	}
	return 0;
}

/* For plugin_host. */
uint64_t
plugin_multiply(int calls)
{
	uint64_t bits = 0;

	for (int i = 0; i < calls; i++)
		run(&bits);
	return bits;
}

/* Nothing is waited for before the end, nor is anything made. */
static void
run_timed(void)
{
	struct problem p = { .bytes = 0 };
	cudaEvent_t begun, ended;
	cudnnHandle_t handle;
	float ms;

	MUST(cudnnCreate(&handle));
	make(&p, handle);
	MUST(cudaEventCreate(&begun));
	MUST(cudaEventCreate(&ended));
	MUST(cudaEventRecord(begun, NULL));
	for (int i = 0; i < whole("calls"); i++)
		MUST(convolve(&p, handle));
	MUST(cudaEventRecord(ended, NULL));
	MUST(cudaEventSynchronize(ended));
	MUST(cudaEventElapsedTime(&ms, begun, ended));
	printf("%.3f\n", (double)ms * 1e3);
	MUST(cudnnDestroy(handle));
}

int
main(int argc, char **argv)
{
	int status = 0;

	if (!parse(argc, argv) || whole("threads") > 16
	    || whole("streams") > 16)
		return 2;
	if (whole("fork") == 1)
		split();
	if (whole("streams") > 1)
		run_streams(whole("streams"));
	else if (whole("meanwhile"))
		run_beside();
	else if (whole("took"))
		run_timed();
	else if (whole("threads") > 1)
		status = run_threads(whole("threads"));
	else
		run(NULL);
	if (whole("fork") == 2)
		split();
	return status;
}
