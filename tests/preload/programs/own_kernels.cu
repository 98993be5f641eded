/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/own_kernels.cu -- kernels as programs have them, for
 * own_ptx.c. own_kernels.ptx is made of it by
 *
 *     nvcc -arch=compute_75 -ptx own_kernels.cu
 *
 * Names are not mangled, but for one that is longer than any. */
#include <cooperative_groups.h>
#include <cstdio>

#define PASTE(a, b) a##b
#define JOIN(a, b) PASTE(a, b)
#define WORDS_1 _that_is_longer_than_the_longest_name_of_a_kernel_that_any_
#define WORDS_2 template_library_makes_of_its_arguments_and_of_their_
#define WORDS_3 arguments_in_turn_and_of_what_those_have_for_arguments_until_
#define WORDS_4 it_does_not_fit_into_what_a_careful_reader_of_it_has_room_for
#define LONG(name) \
	JOIN(JOIN(JOIN(JOIN(name, WORDS_1), WORDS_2), WORDS_3), WORDS_4)

__constant__ float table[4] = { 1, 2, 3, 4 };
__device__ int counter;
__managed__ int shared_by_both = 5;

/* A sum over a warp, in lane 0. */
static __device__ float
over_warp(float x)
{
	for (int distance = 16; distance; distance /= 2)
		x += __shfl_down_sync(0xffffffff, x, distance);
	return x;
}

/* A sum over a block of 128. */
static __device__ float
over_block(float x)
{
	__shared__ float part[4];

	x = over_warp(x);
	__syncthreads();
	if (threadIdx.x % 32 == 0)
		part[threadIdx.x / 32] = x;
	__syncthreads();
	return part[0] + part[1] + part[2] + part[3];
}

extern "C" {

__global__ void
add(const float *a, const float *b, float *c, int n)
{
	const int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n) {
		c[i] = a[i] + b[i] + table[i % 4];
		atomicAdd(&counter, 1);
	}
}

/* Each block's sum is added to *sum. */
__global__ void
reduce(const float *x, float *sum, int n)
{
	extern __shared__ float part[];
	const int i = blockIdx.x * blockDim.x + threadIdx.x;

	part[threadIdx.x] = i < n ? x[i] : 0;
	__syncthreads();
	for (int half = blockDim.x / 2; half >= 32; half /= 2) {
		if (threadIdx.x < half)
			part[threadIdx.x] += part[threadIdx.x + half];
		__syncthreads();
	}
	if (threadIdx.x < 32) {
		const float all = over_warp(part[threadIdx.x]);

		if (threadIdx.x == 0)
			atomicAdd(sum, all);
	}
}

/* A block of a warp for each row. */
__global__ void
softmax(const float *x, float *y, int n)
{
	const float *row = x + blockIdx.x * n;
	float most = -INFINITY, sum = 0;

	for (int i = threadIdx.x; i < n; i += 32)
		most = fmaxf(most, row[i]);
	for (int distance = 16; distance; distance /= 2)
		most = fmaxf(most, __shfl_xor_sync(0xffffffff, most,
		    distance));
	for (int i = threadIdx.x; i < n; i += 32)
		sum += expf(row[i] - most);
	sum = __shfl_sync(0xffffffff, over_warp(sum), 0);
	for (int i = threadIdx.x; i < n; i += 32)
		y[blockIdx.x * n + i] = expf(row[i] - most) / sum;
}

/* A block of 128 for each row. */
__global__ void
layernorm(const float *x, float *y, int n)
{
	const float *row = x + blockIdx.x * n;
	float sum = 0, squares = 0, mean;

	for (int i = threadIdx.x; i < n; i += 128)
		sum += row[i];
	mean = over_block(sum) / n;
	for (int i = threadIdx.x; i < n; i += 128)
		squares += (row[i] - mean) * (row[i] - mean);
	squares = over_block(squares) / n;
	for (int i = threadIdx.x; i < n; i += 128)
		y[blockIdx.x * n + i] = (row[i] - mean) *
		    rsqrtf(squares + 1e-5f);
}

__global__ void
histogram(const unsigned char *x, unsigned *bins, int n)
{
	__shared__ unsigned own[256];

	own[threadIdx.x] = 0;
	__syncthreads();
	for (int i = blockIdx.x * 256 + threadIdx.x; i < n;
	    i += gridDim.x * 256)
		atomicAdd(&own[x[i]], 1);
	__syncthreads();
	atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}

/* All blocks have stored before any of them loads. */
__global__ void
mirror(float *x, int n)
{
	const int i = blockIdx.x * blockDim.x + threadIdx.x;

	x[i] += 1;
	cooperative_groups::this_grid().sync();
	x[i + n] = x[n - 1 - i];
}

__global__ void
difference(const float *y, const float *wanted, float *d, int n)
{
	const int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		d[i] = y[i] - wanted[i];
}

__global__ void
descend(float *w, const float *gradient, float rate, int n)
{
	const int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		w[i] -= rate * gradient[i];
}

#define FOUR(x) int x##0, int x##1, int x##2, int x##3
#define SUM(x) (x##0 + x##1 + x##2 + x##3)
__global__ void
many(int *sum, FOUR(a), FOUR(b), FOUR(c), FOUR(d), FOUR(e), FOUR(f), FOUR(g),
    FOUR(h), FOUR(i), FOUR(j))
{
	*sum = SUM(a) + SUM(b) + SUM(c) + SUM(d) + SUM(e) + SUM(f) + SUM(g) +
	    SUM(h) + SUM(i) + 1000 * SUM(j);
}

__global__ void
LONG(set)(int *x)
{
	*x = 42;
}

__global__ void
say(int n)
{
	printf("%d of %*d: %c%5.2f|%-6s|%%|%lld|%x|%u|%hd\n",
	    (int)threadIdx.x, 4, n, 'c', 1.5f * n, "text", 1ll << 40, 255,
	    4000000000u, (short)-3);
}

__global__ void
twice(void)
{
	shared_by_both *= 2;
}

/* ---- with one error each ------------------------------------------------ */

__global__ void
beyond(float *x, int n)
{
	x[threadIdx.x + n] = 1;
}

__global__ void
crooked(char *x)
{
	*(float *)(x + 1) = 1;
}

__global__ void
unset(float *x)
{
	__shared__ float part[64];

	if (threadIdx.x < 32)
		part[threadIdx.x] = 1;
	__syncthreads();
	x[threadIdx.x] = part[threadIdx.x];
}

__global__ void
racing(float *x)
{
	__shared__ float part[64];

	part[threadIdx.x] = x[threadIdx.x];
	x[threadIdx.x] = part[63 - threadIdx.x];
}

__global__ void
apart(float *x)
{
	if (threadIdx.x < 16)
		__syncthreads();
	x[threadIdx.x] = 1;
}

__global__ void
absent(float *x)
{
	if (threadIdx.x < 16)
		x[threadIdx.x] = __shfl_down_sync(0xffff, x[threadIdx.x], 8);
}

/* Each half of the block waits at a barrier of its own for all. */
__global__ void
stuck(float *x)
{
	if (threadIdx.x < 32)
		asm volatile("barrier.sync 1, 64;");
	else
		asm volatile("barrier.sync 2, 64;");
	x[threadIdx.x] = 1;
}

/* Nobody writes what it waits for. */
__global__ void
waits(float *x)
{
	while (*(volatile int *)x != 0x5eed)
		;
}

/* Each round changes memory, so nobody can know that it never ends. */
__global__ void
counts(float *x)
{
	while (1)
		++*(volatile int *)x;
}

__global__ void
trapped(float *x)
{
	if (*x == 0)
		__trap();
}

}
