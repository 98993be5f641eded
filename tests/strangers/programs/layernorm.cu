/* SPDX-License-Identifier: Apache-2.0 */
/* tests/strangers/programs/layernorm.cu -- layer normalization forward and
 * backward, with float4 loads, shuffles in warps, and atomics for the gradients
 * of its weights, against FP64 on the CPU. */
#include "user.h"

enum { ROWS = 200, COLS = 512, WARPS = 4 };

template <int WIDTH>
__device__ __forceinline__ float
warp_sum(float x)
{
#pragma unroll
	for (int d = WIDTH / 2; d; d /= 2)
		x += __shfl_down_sync(0xffffffffu, x, d, WIDTH);
	return __shfl_sync(0xffffffffu, x, 0, WIDTH);
}

__global__ void __launch_bounds__(WARPS * 32)
forward(const float4 *__restrict__ x, const float *w, const float *b,
    float4 *y, float *mean, float *scale)
{
	const int row = blockIdx.x * WARPS + threadIdx.y, lane = threadIdx.x;
	float4 v[COLS / 128];
	float sum = 0, square = 0;

	for (int i = 0; i < COLS / 128; i++) {
		v[i] = __ldg(&x[row * COLS / 4 + i * 32 + lane]);
		sum += v[i].x + v[i].y + v[i].z + v[i].w;
	}
	sum = warp_sum<32>(sum) / COLS;
	for (int i = 0; i < COLS / 128; i++) {
		v[i].x -= sum, v[i].y -= sum, v[i].z -= sum, v[i].w -= sum;
		square += v[i].x * v[i].x + v[i].y * v[i].y + v[i].z * v[i].z +
		    v[i].w * v[i].w;
	}
	square = rsqrtf(warp_sum<32>(square) / COLS + 1e-5f);
	if (!lane) {
		mean[row] = sum;
		scale[row] = square;
	}
	for (int i = 0; i < COLS / 128; i++) {
		const int at = (i * 32 + lane) * 4;

		y[row * COLS / 4 + i * 32 + lane] = make_float4(
		    v[i].x * square * w[at] + b[at],
		    v[i].y * square * w[at + 1] + b[at + 1],
		    v[i].z * square * w[at + 2] + b[at + 2],
		    v[i].w * square * w[at + 3] + b[at + 3]);
	}
}

__global__ void
backward(const float *x, const float *w, const float *g, const float *mean,
    const float *scale, float *gx, float *gw, float *gb)
{
	const int row = blockIdx.x * WARPS + threadIdx.y, lane = threadIdx.x;
	float one = 0, two = 0;

	for (int c = lane; c < COLS; c += 32) {
		const float n = (x[row * COLS + c] - mean[row]) * scale[row];
		const float d = g[row * COLS + c];

		one += d * w[c];
		two += d * w[c] * n;
		atomicAdd(&gw[c], d * n);
		atomicAdd(&gb[c], d);
	}
	one = warp_sum<32>(one) / COLS;
	two = warp_sum<32>(two) / COLS;
	for (int c = lane; c < COLS; c += 32) {
		const float n = (x[row * COLS + c] - mean[row]) * scale[row];

		gx[row * COLS + c] = scale[row] * (g[row * COLS + c] * w[c] -
		    one - n * two);
	}
}

static double
largest(const std::vector<float> &a, const std::vector<double> &b)
{
	double worst = 0;

	for (size_t i = 0; i < a.size(); i++)
		worst = fmax(worst, fabs(a[i] - b[i]));
	return worst;
}

int
main()
{
	const auto x = uniforms(ROWS * COLS), w = uniforms(COLS),
	    b = uniforms(COLS), g = uniforms(ROWS * COLS);
	std::vector<double> y(ROWS * COLS), gx(ROWS * COLS), gw(COLS),
	    gb(COLS);
	float *dx = upload(x), *dw = upload(w), *db = upload(b), *dg =
	    upload(g), *dy, *dgx, *mean, *scale;
	float *dgw = upload(std::vector<float>(COLS));
	float *dgb = upload(std::vector<float>(COLS));
	const double u = 0x1p-24;

	for (int r = 0; r < ROWS; r++) {
		double m = 0, s = 0, one = 0, two = 0;

		for (int c = 0; c < COLS; c++)
			m += x[r * COLS + c] / (double)COLS;
		for (int c = 0; c < COLS; c++)
			s += pow(x[r * COLS + c] - m, 2) / COLS;
		s = 1 / sqrt(s + 1e-5f);
		for (int c = 0; c < COLS; c++) {
			const double n = (x[r * COLS + c] - m) * s;

			y[r * COLS + c] = n * w[c] + b[c];
			one += g[r * COLS + c] * (double)w[c] / COLS;
			two += g[r * COLS + c] * w[c] * n / COLS;
			gw[c] += g[r * COLS + c] * n;
			gb[c] += g[r * COLS + c];
		}
		for (int c = 0; c < COLS; c++)
			gx[r * COLS + c] = s * (g[r * COLS + c] * (double)w[c] -
			    one - (x[r * COLS + c] - m) * s * two);
	}
	CHECK(cudaMalloc(&dy, y.size() * 4));
	CHECK(cudaMalloc(&dgx, y.size() * 4));
	CHECK(cudaMalloc(&mean, ROWS * 4));
	CHECK(cudaMalloc(&scale, ROWS * 4));
	forward<<<ROWS / WARPS, dim3(32, WARPS)>>>((float4 *)dx, dw, db,
	    (float4 *)dy, mean, scale);
	backward<<<ROWS / WARPS, dim3(32, WARPS)>>>(dx, dw, dg, mean, scale,
	    dgx, dgw, dgb);
	CHECK(cudaDeviceSynchronize());
	/* |x - mean| scale < 2.1 and |g w| < 1 here. A row's sum has 16 steps
	 * in a lane and 5 in the warp, a column's ROWS; 8 more operations. */
	expect("forward", largest(download(dy, y.size()), y), 29 * u * 4);
	expect("backward", largest(download(dgx, y.size()), gx), 58 * u * 8);
	expect("weights", largest(download(dgw, COLS), gw), (ROWS + 29) * u *
	    2.1 * ROWS);
	expect("biases", largest(download(dgb, COLS), gb), ROWS * u * ROWS);
	return wrong;
}
