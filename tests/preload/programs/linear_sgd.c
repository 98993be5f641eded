/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/linear_sgd.c -- two linear layers, trained on a mean
 * squared error by library calls alone: products, one cublasSscal of the error
 * (by 1/batch), one cublasSaxpy per layer that changes its weights. Prints the
 * weights' bits.
 *
 * usage: linear_sgd [VARIANT]
 * Every VARIANT but plain and wide does something that a scaled error does not
 * leave as it is; see variants[]. */
#include "client.h"

#define AUTOCAST_DYNAMIC
#include "include/autocast.h"

#include <math.h>

enum { BATCH = 16, IN = 12, HIDDEN = 10, OUT = 5, STEPS = 4 };
enum { FIRST = IN * HIDDEN, SECOND = HIDDEN * OUT, ERROR = BATCH * OUT };

struct net {
	cublasHandle_t handle;
	float *x, *y;                    /* column-major, one row a sample */
	float *w[2], *grad[2], *velocity[2];
	float *hidden, *error, *error_hidden;
	float *scalars;                  /* on the device: -rate */
	int step;
	float *wide;                     /* as weights, every other float; the
	                                  * others differ by process */
};

static const float rate = 0.05f;
static const size_t sizes[2] = { FIRST, SECOND };

/* ---- A step ----------------------------------------------------------- */

static void
multiply(struct net *net, cublasOperation_t ta, cublasOperation_t tb, int m,
    int n, int k, const float *a, int lda, const float *b, int ldb, float *c)
{
	BLAS(cublasSgemm(net->handle, ta, tb, m, n, k, &one, a, lda, b, ldb,
	    &zero, c, m));
}

static void
find_error(struct net *net)
{
	const float minus = -1;

	multiply(net, CUBLAS_OP_N, CUBLAS_OP_N, BATCH, HIDDEN, IN, net->x,
	    BATCH, net->w[0], IN, net->hidden);
	multiply(net, CUBLAS_OP_N, CUBLAS_OP_N, BATCH, OUT, HIDDEN,
	    net->hidden, BATCH, net->w[1], HIDDEN, net->error);
	BLAS(cublasSaxpy(net->handle, ERROR, &minus, net->y, 1, net->error,
	    1));
}

static void
find_gradients(struct net *net)
{
	multiply(net, CUBLAS_OP_T, CUBLAS_OP_N, HIDDEN, OUT, BATCH,
	    net->hidden, BATCH, net->error, BATCH, net->grad[1]);
	multiply(net, CUBLAS_OP_N, CUBLAS_OP_T, BATCH, HIDDEN, OUT, net->error,
	    BATCH, net->w[1], HIDDEN, net->error_hidden);
	multiply(net, CUBLAS_OP_T, CUBLAS_OP_N, IN, HIDDEN, BATCH, net->x,
	    BATCH, net->error_hidden, BATCH, net->grad[0]);
}

static void
move(struct net *net, int layer, float by, const float *along)
{
	BLAS(cublasSaxpy(net->handle, (int)sizes[layer], &by, along, 1,
	    net->w[layer], 1));
}

/* ---- Variants ------------------------------------------------------------ */

static void
seed(struct net *net)
{
	const float alpha = 1.0f / BATCH;

	BLAS(cublasSscal(net->handle, ERROR, &alpha, net->error, 1));
}

static void
update(struct net *net, int layer)
{
	move(net, layer, -rate, net->grad[layer]);
}

/* Velocities that a checkpoint left: not of scaled gradients. */
static void
update_momentum(struct net *net, int layer)
{
	const int n = (int)sizes[layer];
	const float mu = 0.9f;
	float host[FIRST], more[FIRST];

	client_host(host, net->velocity[layer], sizes[layer]);
	client_host(more, net->grad[layer], sizes[layer]);
	for (int i = 0; i < n; i++)
		host[i] = mu * host[i] + more[i];
	CUDA(cudaMemcpy(net->velocity[layer], host, sizeof *host * (size_t)n,
	    cudaMemcpyHostToDevice));
	move(net, layer, -rate, net->velocity[layer]);
}

/* The decay goes into the gradient, unscaled. */
static void
update_decay(struct net *net, int layer)
{
	const float decay = 0.01f;

	/* One element less: no line means it. */
	BLAS(cublasSaxpy(net->handle, (int)sizes[layer] - 1, &decay,
	    net->w[layer], 1, net->grad[layer], 1));
	update(net, layer);
}

static void
update_clip(struct net *net, int layer)
{
	const float most = 0.5f;
	float norm, by = -rate;

	BLAS(cublasSnrm2(net->handle, (int)sizes[layer], net->grad[layer], 1,
	    &norm));
	if (norm > most)
		by *= most / norm;
	move(net, layer, by, net->grad[layer]);
}

/* The direction of the gradient on the host, not its size. */
static void
update_adam(struct net *net, int layer)
{
	float host[FIRST];

	client_host(host, net->grad[layer], sizes[layer]);
	for (size_t i = 0; i < sizes[layer]; i++)
		host[i] /= fabsf(host[i]) + 1e-8f;
	CUDA(cudaMemcpy(net->grad[layer], host, sizeof *host * sizes[layer],
	    cudaMemcpyHostToDevice));
	update(net, layer);
}

/* Only the last step's second layer, by a scalar on the device. */
static void
update_device(struct net *net, int layer)
{
	if (layer == 0 || net->step < STEPS - 1) {
		update(net, layer);
		return;
	}
	BLAS(cublasSetPointerMode(net->handle, CUBLAS_POINTER_MODE_DEVICE));
	BLAS(cublasSaxpy(net->handle, (int)sizes[layer], net->scalars,
	    net->grad[layer], 1, net->w[layer], 1));
	BLAS(cublasSetPointerMode(net->handle, CUBLAS_POINTER_MODE_HOST));
}

static void
update_host(struct net *net, int layer)
{
	float w[FIRST], grad[FIRST];

	client_host(w, net->w[layer], sizes[layer]);
	client_host(grad, net->grad[layer], sizes[layer]);
	for (size_t i = 0; i < sizes[layer]; i++)
		w[i] -= rate * grad[i];
	CUDA(cudaMemcpy(net->w[layer], w, sizeof *w * sizes[layer],
	    cudaMemcpyHostToDevice));
}

/* A step is left out when the error is large. */
static void
update_now_and_then(struct net *net, int layer)
{
	float size;

	BLAS(cublasSasum(net->handle, ERROR, net->error, 1, &size));
	if (size < 100)
		update(net, layer);
}

/* Another rate in each process. */
static void
update_noise(struct net *net, int layer)
{
	uint64_t state = (uint64_t)getpid();

	move(net, layer, -rate * (float)client_uniform(&state),
	    net->grad[layer]);
}

/* The same elements through a vector with gaps, backwards. */
static void
update_wide(struct net *net, int layer)
{
	const int n = (int)sizes[layer];
	const float by = -rate;

	BLAS(cublasScopy(net->handle, n, net->w[layer], 1, net->wide, -2));
	BLAS(cublasSaxpy(net->handle, n, &by, net->grad[layer], 1, net->wide,
	    -2));
	BLAS(cublasScopy(net->handle, n, net->wide, -2, net->w[layer], 1));
}

/* By a graph, which holds the scalar. */
static void
update_graph(struct net *net, int layer)
{
	cudaGraphExec_t run;
	cudaGraph_t graph;
	cudaStream_t stream;

	CUDA(cudaDeviceSynchronize());
	CUDA(cudaStreamCreate(&stream));
	BLAS(cublasSetStream(net->handle, stream));
	CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	update(net, layer);
	CUDA(cudaStreamEndCapture(stream, &graph));
	CUDA(cudaGraphInstantiateWithFlags(&run, graph, 0));
	CUDA(cudaGraphLaunch(run, stream));
	CUDA(cudaStreamSynchronize(stream));
	CUDA(cudaGraphExecDestroy(run));
	CUDA(cudaGraphDestroy(graph));
	BLAS(cublasSetStream(net->handle, NULL));
	CUDA(cudaStreamDestroy(stream));
}

/* In a region, next to a call that is like it but for that. */
static void
update_region(struct net *net, int layer)
{
	move(net, layer, -1e-3f, net->w[layer]);
	(void)autocast_region_push("update", 1, NULL);
	update(net, layer);
	(void)autocast_region_pop();
}

/* Momentum from rest, by library calls. */
static void
update_velocity(struct net *net, int layer)
{
	const float mu = 0.9f, one_more = 1;
	const int n = (int)sizes[layer];

	if (!net->step)
		CUDA(cudaMemset(net->velocity[layer], 0,
		    sizes[layer] * sizeof(float)));
	BLAS(cublasSscal(net->handle, n, &mu, net->velocity[layer], 1));
	BLAS(cublasSaxpy(net->handle, n, &one_more, net->grad[layer], 1,
	    net->velocity[layer], 1));
	move(net, layer, -rate, net->velocity[layer]);
}

/* A rate of zero hides the decay. */
static void
update_still(struct net *net, int layer)
{
	const float decay = 0.01f;

	BLAS(cublasSaxpy(net->handle, (int)sizes[layer] - 1, &decay,
	    net->w[layer], 1, net->grad[layer], 1));
	move(net, layer, 0, net->grad[layer]);
}

/* Something else learns of the same gradient, but of an element less. */
static void
update_apart(struct net *net, int layer)
{
	const float by = -rate;

	BLAS(cublasSaxpy(net->handle, (int)sizes[layer] - 1, &by,
	    net->grad[layer], 1, net->velocity[layer], 1));
	update(net, layer);
}

static void
seed_zero(struct net *net)
{
	CUDA(cudaMemset(net->error, 0, ERROR * sizeof *net->error));
	seed(net);
}

static void
seed_nothing(struct net *net)
{
	(void)net;
}

static const struct {
	const char *name;
	void      (*seed)(struct net *);
	void      (*update)(struct net *, int layer);
} variants[] = {
	{ "plain", seed, update },
	{ "wide", seed, update_wide },
	{ "momentum", seed, update_momentum },
	{ "velocity", seed, update_velocity },
	{ "decay", seed, update_decay },
	{ "clip", seed, update_clip },
	{ "adam", seed, update_adam },
	{ "device", seed, update_device },
	{ "host", seed, update_host },
	{ "sometimes", seed, update_now_and_then },
	{ "noise", seed, update_noise },
	{ "region", seed, update_region },
	{ "graph", seed, update_graph },
	{ "still", seed, update_still },
	{ "apart", seed, update_apart },
	{ "once", seed, update },
	{ "zero", seed_zero, update },
	{ "seedless", seed_nothing, update },
};
enum { VARIANTS = sizeof variants / sizeof *variants };

/* ---- The run ----------------------------------------------------------- */

static void
begin(struct net *net)
{
	const float minus_rate = -rate;

	BLAS(cublasCreate(&net->handle));
	net->x = client_random_device((size_t)BATCH * IN, 1, 1);
	net->y = client_random_device(ERROR, 1, 2);
	for (int i = 0; i < 2; i++) {
		net->w[i] = client_random_device(sizes[i], 0.5f,
		    3 + (uint64_t)i);
		net->velocity[i] = client_random_device(sizes[i], 1e-2f,
		    5 + (uint64_t)i);
		net->grad[i] = client_random_device(sizes[i], 1, 7);
	}
	net->hidden = client_random_device((size_t)BATCH * HIDDEN, 1, 8);
	net->error_hidden = client_random_device((size_t)BATCH * HIDDEN, 1, 8);
	net->error = client_random_device(ERROR, 1, 8);
	net->wide = client_random_device(2 * FIRST, 1, (uint64_t)getpid());
	net->scalars = client_device(&minus_rate, 1);
}

static void
end(struct net *net)
{
	float w[FIRST];
	uint64_t hash = 0;

	for (int i = 0; i < 2; i++) {
		client_host(w, net->w[i], sizes[i]);
		hash = client_hash(hash, w, sizeof *w * sizes[i]);
		CUDA(cudaFree(net->w[i]));
		CUDA(cudaFree(net->velocity[i]));
		CUDA(cudaFree(net->grad[i]));
	}
	CUDA(cudaFree(net->scalars));
	CUDA(cudaFree(net->wide));
	CUDA(cudaFree(net->error));
	CUDA(cudaFree(net->error_hidden));
	CUDA(cudaFree(net->hidden));
	CUDA(cudaFree(net->y));
	CUDA(cudaFree(net->x));
	BLAS(cublasDestroy(net->handle));
	printf("linear_sgd weights=%016" PRIx64 "\n", hash);
}

int
main(int argc, char **argv)
{
	struct net net = { .step = 0 };
	int v = 0, steps = STEPS;

	while (argc > 1 && v < VARIANTS && strcmp(argv[1], variants[v].name))
		v++;
	if (v == VARIANTS) {
		fprintf(stderr, "usage: linear_sgd [VARIANT]\n");
		return EXIT_USAGE;
	}
	begin(&net);
	if (!strcmp(variants[v].name, "once"))
		steps = 1;
	for (net.step = 0; net.step < steps; net.step++) {
		find_error(&net);
		variants[v].seed(&net);
		find_gradients(&net);
		for (int layer = 0; layer < 2; layer++)
			variants[v].update(&net, layer);
	}
	end(&net);
	return EXIT_SUCCESS;
}
