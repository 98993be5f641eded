/* SPDX-License-Identifier: Apache-2.0 */
/* tests/strangers/programs/half.cu -- __half and __nv_bfloat16 arithmetic, and
 * a product of 16-bit matrices by wmma, with tiles in shared memory. Small
 * integers: exact. */
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>
#include "user.h"

enum { SIZE = 64, COUNT = 1000 };

__global__ void
pairs(const __half2 *x, __half2 *y, __nv_bfloat16 *z, int count)
{
	const int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i >= count)
		return;
	y[i] = __hfma2(x[i], __float2half2_rn(2), __halves2half2(
	    __low2half(x[i]), __float2half(1)));
	z[i] = __hadd(__float2bfloat16(__low2float(x[i])),
	    __float2bfloat16(0.5f));
}

/* A warp per 16 x 16 tile of C. */
template <class T>
__global__ void
product(const T *a, const T *b, float *c)
{
	using namespace nvcuda;
	__shared__ T tile[16 * 16];
	wmma::fragment<wmma::matrix_a, 16, 16, 16, T, wmma::row_major> fa;
	wmma::fragment<wmma::matrix_b, 16, 16, 16, T, wmma::col_major> fb;
	wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;

	wmma::fill_fragment(fc, 0.0f);
	for (int k = 0; k < SIZE; k += 16) {
		for (int i = threadIdx.x; i < 256; i += 32)
			tile[i] = a[(blockIdx.y * 16 + i / 16) * SIZE + k +
			    i % 16];
		__syncwarp();
		wmma::load_matrix_sync(fa, tile, 16);
		wmma::load_matrix_sync(fb, b + blockIdx.x * 16 * SIZE + k,
		    SIZE);
		wmma::mma_sync(fc, fa, fb, fc);
		__syncwarp();
	}
	wmma::store_matrix_sync(c + blockIdx.y * 16 * SIZE + blockIdx.x * 16,
	    fc, SIZE, wmma::mem_row_major);
}

template <class T>
static void
multiply(const char *what)
{
	std::vector<float> a(SIZE * SIZE), b(SIZE * SIZE);
	std::vector<T> ha(SIZE * SIZE), hb(SIZE * SIZE);
	float *c, worst = 0;

	for (int i = 0; i < SIZE * SIZE; i++) {
		ha[i] = T(a[i] = rintf(8 * uniform()));
		hb[i] = T(b[i] = rintf(8 * uniform()));
	}
	CHECK(cudaMalloc(&c, SIZE * SIZE * 4));
	product<T><<<dim3(SIZE / 16, SIZE / 16), 32>>>(upload(ha), upload(hb),
	    c);
	const auto back = download(c, SIZE * SIZE);
	for (int i = 0; i < SIZE; i++)
		for (int j = 0; j < SIZE; j++) {
			float sum = 0;

			for (int k = 0; k < SIZE; k++)
				sum += a[i * SIZE + k] * b[j * SIZE + k];
			worst = fmaxf(worst, fabsf(sum - back[i * SIZE + j]));
		}
	expect(what, worst, 0);
}

int
main()
{
	std::vector<__half2> x(COUNT);
	__half2 *y;
	__nv_bfloat16 *z;
	double worst = 0;

	for (__half2 &p : x)
		p = __floats2half2_rn(rintf(100 * uniform()),
		    rintf(100 * uniform()));
	CHECK(cudaMalloc(&y, COUNT * sizeof *y));
	CHECK(cudaMalloc(&z, COUNT * sizeof *z));
	pairs<<<(COUNT + 127) / 128, 128>>>(upload(x), y, z, COUNT);
	const auto by = download(y, COUNT);
	const auto bz = download(z, COUNT);
	for (int i = 0; i < COUNT; i++) {
		worst = fmax(worst, fabs(__low2float(by[i]) - 3 *
		    __low2float(x[i])));
		worst = fmax(worst, fabs(__high2float(by[i]) - 2 *
		    __high2float(x[i]) - 1));
		worst = fmax(worst, fabs(__bfloat162float(bz[i]) -
		    __bfloat162float(__float2bfloat16(__low2float(x[i]) +
		    0.5f))));
	}
	expect("pairs", worst, 0);
	multiply<__half>("wmma of __half");
	multiply<__nv_bfloat16>("wmma of __nv_bfloat16");
	return wrong;
}
