/* SPDX-License-Identifier: Apache-2.0 */
/* tests/strangers/programs/mlp.cu -- a training loop: a perceptron with one
 * hidden layer, by cublasSgemm() and kernels of its own, with softmax and
 * cross-entropy by reductions in shared memory, and SGD with momentum. Each
 * third step is compared with FP64 on the CPU, of the parameters as they are
 * then; the loss must fall. */
#include <cublas_v2.h>
#include "user.h"

enum { BATCH = 128, IN = 128, HIDDEN = 256, OUT = 16, STEPS = 24 };

static cublasHandle_t blas;

/* Row-major C (m x n) = op(A) op(B), as users of row-major data call it. */
static void
matmul(bool ta, bool tb, int m, int n, int k, const float *a, const float *b,
    float *c)
{
	const float one = 1, zero = 0;

	CHECK(cublasSgemm(blas, tb ? CUBLAS_OP_T : CUBLAS_OP_N,
	    ta ? CUBLAS_OP_T : CUBLAS_OP_N, n, m, k, &one, b, tb ? k : n, a,
	    ta ? m : k, &zero, c, n));
}

__global__ void
bias_relu(float *x, const float *bias, int rows, int cols)
{
	const int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < rows * cols)
		x[i] = fmaxf(x[i] + bias[i % cols], 0);
}

__global__ void
relu_backward(float *g, const float *x, int count)
{
	const int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < count && x[i] <= 0)
		g[i] = 0;
}

/* A block per row: probabilities minus the wanted ones, over the batch. */
__global__ void
softmax_loss(const float *x, const int *label, float *g, float *loss, int cols)
{
	__shared__ float part[64];
	const int t = threadIdx.x, row = blockIdx.x;
	float v = t < cols ? x[row * cols + t] : -INFINITY, e;

	part[t] = v;
	__syncthreads();
	for (int s = blockDim.x / 2; s; s /= 2) {
		if (t < s)
			part[t] = fmaxf(part[t], part[t + s]);
		__syncthreads();
	}
	v -= part[0];
	__syncthreads();
	e = t < cols ? expf(v) : 0;
	part[t] = e;
	__syncthreads();
	for (int s = blockDim.x / 2; s; s /= 2) {
		if (t < s)
			part[t] += part[t + s];
		__syncthreads();
	}
	if (t < cols)
		g[row * cols + t] = (e / part[0] - (t == label[row])) /
		    gridDim.x;
	if (t == label[row])
		atomicAdd(loss, -(v - logf(part[0])) / gridDim.x);
}

__global__ void
column_sums(const float *g, float *sum, int rows, int cols)
{
	const int c = blockIdx.x * blockDim.x + threadIdx.x;
	float s = 0;

	if (c >= cols)
		return;
	for (int r = 0; r < rows; r++)
		s += g[r * cols + c];
	sum[c] = s;
}

__global__ void
momentum(float *w, float *v, const float *g, float rate, float keep, int count)
{
	const int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < count) {
		v[i] = keep * v[i] + g[i];
		w[i] -= rate * v[i];
	}
}

#define FOR(count) ((count) + 255) / 256, 256

struct layer {
	float *w, *b, *vw, *vb, *gw, *gb; /* weights, bias */
	int in, out;
};

static layer
make(int in, int out)
{
	layer l = { 0, 0, 0, 0, 0, 0, in, out };
	std::vector<float> w = uniforms(in * out);

	for (float &x : w)
		x *= sqrtf(3.0f / in);
	l.w = upload(w);
	l.gw = upload(w);
	l.b = upload(std::vector<float>(out));
	l.gb = upload(std::vector<float>(out));
	l.vw = upload(std::vector<float>(in * out));
	l.vb = upload(std::vector<float>(out));
	return l;
}

static void
update(const layer &l, float rate)
{
	momentum<<<FOR(l.in * l.out)>>>(l.w, l.vw, l.gw, rate, 0.9f,
	    l.in * l.out);
	momentum<<<FOR(l.out)>>>(l.b, l.vb, l.gb, rate, 0.9f, l.out);
}

/* The gradient of the hidden layer's weights and the loss, in FP64; and how
 * much an error of the logits is amplified: their norm over that of the
 * softmax's gradient. Which ReLUs let through is what `hidden` says: one that
 * is near zero may be switched by any error, and then its whole gradient is. */
static double
reference(const std::vector<float> &x, const std::vector<int> &label,
    const layer &a, const layer &b, const std::vector<float> &hidden,
    std::vector<double> &gradient, double &amplify)
{
	const auto w = download(a.w, IN * HIDDEN), u = download(b.w, HIDDEN *
	    OUT), p = download(a.b, HIDDEN), q = download(b.b, OUT);
	double loss = 0, logits = 0, errors = 0;

	gradient.assign(IN * HIDDEN, 0);
	for (int r = 0; r < BATCH; r++) {
		double h[HIDDEN], y[OUT], top = -INFINITY, sum = 0;

		for (int j = 0; j < HIDDEN; j++) {
			h[j] = p[j];
			for (int i = 0; i < IN; i++)
				h[j] += (double)x[r * IN + i] *
				    w[i * HIDDEN + j];
			h[j] = fmax(h[j], 0);
		}
		for (int k = 0; k < OUT; k++) {
			y[k] = q[k];
			for (int j = 0; j < HIDDEN; j++)
				y[k] += h[j] * u[j * OUT + k];
			top = fmax(top, y[k]);
			logits += y[k] * y[k];
		}
		for (int k = 0; k < OUT; k++)
			sum += exp(y[k] - top);
		loss -= (y[label[r]] - top - log(sum)) / BATCH;
		for (int k = 0; k < OUT; k++) {
			y[k] = exp(y[k] - top) / sum - (k == label[r]);
			errors += y[k] * y[k];
			y[k] /= BATCH;
		}
		for (int j = 0; j < HIDDEN; j++) {
			double g = 0;

			for (int k = 0; k < OUT; k++)
				g += y[k] * u[j * OUT + k];
			for (int i = 0; i < IN && hidden[r * HIDDEN + j] > 0;
			    i++)
				gradient[i * HIDDEN + j] +=
				    x[r * IN + i] * g;
		}
	}
	amplify = sqrt(logits / errors);
	return loss;
}

int
main()
{
	const auto x = uniforms(BATCH * IN), teacher = uniforms(IN * OUT);
	std::vector<int> label(BATCH);
	std::vector<double> gradient;
	layer a = make(IN, HIDDEN), b = make(HIDDEN, OUT);
	float *in = upload(x), *hidden, *out, *g, *gh, *loss, first = 0, now;
	double off = 0, worst = 0;
	int *labels;

	for (int r = 0; r < BATCH; r++) {
		float best = -INFINITY;

		for (int k = 0; k < OUT; k++) {
			float s = 0;

			for (int i = 0; i < IN; i++)
				s += x[r * IN + i] * teacher[i * OUT + k];
			if (s > best) {
				best = s;
				label[r] = k;
			}
		}
	}
	labels = upload(label);
	CHECK(cublasCreate(&blas));
	CHECK(cudaMalloc(&hidden, BATCH * HIDDEN * sizeof *hidden));
	CHECK(cudaMalloc(&gh, BATCH * HIDDEN * sizeof *gh));
	CHECK(cudaMalloc(&out, BATCH * OUT * sizeof *out));
	CHECK(cudaMalloc(&g, BATCH * OUT * sizeof *g));
	CHECK(cudaMalloc(&loss, sizeof *loss));
	for (int step = 0; step < STEPS; step++) {
		const bool compare = step % 3 == 2;
		double error = 0, norm = 0, amplify = 0;

		CHECK(cudaMemsetAsync(loss, 0, sizeof *loss));
		matmul(false, false, BATCH, HIDDEN, IN, in, a.w, hidden);
		bias_relu<<<FOR(BATCH * HIDDEN)>>>(hidden, a.b, BATCH, HIDDEN);
		matmul(false, false, BATCH, OUT, HIDDEN, hidden, b.w, out);
		softmax_loss<<<BATCH, 64>>>(out, labels, g, loss, OUT);
		matmul(true, false, HIDDEN, OUT, BATCH, hidden, g, b.gw);
		matmul(false, true, BATCH, HIDDEN, OUT, g, b.w, gh);
		relu_backward<<<FOR(BATCH * HIDDEN)>>>(gh, hidden, BATCH *
		    HIDDEN);
		matmul(true, false, IN, HIDDEN, BATCH, in, gh, a.gw);
		column_sums<<<FOR(HIDDEN)>>>(gh, a.gb, BATCH, HIDDEN);
		CHECK(cudaMemcpy(&now, loss, sizeof now,
		    cudaMemcpyDeviceToHost));
		if (!step)
			first = now;
		if (compare) {
			const auto back = download(a.gw, IN * HIDDEN);
			const double wanted = reference(x, label, a, b,
			    download(hidden, BATCH * HIDDEN), gradient,
			    amplify);

			for (int i = 0; i < IN * HIDDEN; i++) {
				error += pow(back[i] - gradient[i], 2);
				norm += pow(gradient[i], 2);
			}
			/* Three products follow one another; two errors of
			 * the logits come through the softmax, by half (its
			 * Lipschitz constant). */
			worst = fmax(worst, sqrt(error / norm) /
			    (product_error() * (3 + amplify)));
			/* A loss changes by at most the largest change of
			 * two logits of its row. */
			off = fmax(off, fabs(now - wanted) / (4 *
			    product_error() * amplify * 2));
		}
		update(a, 0.2f);
		update(b, 0.2f);
	}
	CHECK(cudaGetLastError());
	CHECK(cudaDeviceSynchronize());
	expect("gradient of the first layer, of its bound", worst, 1);
	expect("loss, of its bound", off, 1);
	expect("loss fell to a half", now, first / 2);
	return wrong;
}
