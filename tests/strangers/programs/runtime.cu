/* SPDX-License-Identifier: Apache-2.0 */
/* tests/strangers/programs/runtime.cu -- what programs use of the runtime
 * beyond launches: streams and events, a captured graph with kernels and a
 * product, managed and constant memory, a kernel with a long name, printf,
 * device functions by pointer, assert. Integers, or FP32 in one order: exact.
 */
#include <cassert>
#include <cublas_v2.h>
#include "user.h"

enum { COUNT = 4096, PARTS = 4, N = 256 };

__constant__ float weights[3];
__managed__ int seen;
__device__ int table[8] = { 1, 2, 3, 5, 8, 13, 21, 34 };

__global__ void
smooth(const float *x, float *y, int count)
{
	const int i = blockIdx.x * blockDim.x + threadIdx.x;

	assert(count > 0);
	if (i < count)
		y[i] = weights[0] * x[i ? i - 1 : i] + weights[1] * x[i] +
		    weights[2] * x[i < count - 1 ? i + 1 : i];
}

template <class T, int WIDTH, class F, class... MORE>
struct outer {
	template <class U, int... LIST>
	struct inner {
		T value;
	};
};

template <class T>
__global__ void
add_one(T *x, int count)
{
	const int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < count)
		x[i].value += 1;
	if (!i)
		atomicAdd(&seen, 1);
}

__device__ int
twice(int x)
{
	return 2 * x;
}

__device__ int
squared(int x)
{
	return x * x;
}

__device__ int (*const functions[])(int) = { twice, squared };

__global__ void
call(int *out)
{
	out[threadIdx.x] = functions[blockIdx.x](table[threadIdx.x]) +
	    out[threadIdx.x];
	if (!threadIdx.x)
		printf("block %d of %s\n", blockIdx.x, "two");
}

__global__ void
scale(float *x, float by, int count)
{
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count;
	    i += gridDim.x * blockDim.x)
		x[i] *= by;
}

static void
in_streams()
{
	const float w[] = { 0.25f, 0.5f, 0.25f };
	const auto x = uniforms(COUNT * PARTS);
	std::vector<float> y(COUNT * PARTS);
	float *dx, *dy, *pinned, ms;
	cudaEvent_t begin, end, done[PARTS];
	cudaStream_t stream[PARTS];
	int bad = 0;

	/* It may return before the copy is done, and the streams below wait
	 * for nothing. */
	CHECK(cudaMemcpyToSymbol(weights, w, sizeof w));
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaMalloc(&dx, x.size() * 4));
	CHECK(cudaMalloc(&dy, x.size() * 4));
	CHECK(cudaMallocHost(&pinned, x.size() * 4));
	std::copy(x.begin(), x.end(), pinned);
	CHECK(cudaEventCreate(&begin));
	CHECK(cudaEventCreate(&end));
	for (int p = 0; p < PARTS; p++) {
		CHECK(cudaStreamCreateWithFlags(&stream[p],
		    cudaStreamNonBlocking));
		CHECK(cudaEventCreate(&done[p]));
		if (!p)
			CHECK(cudaEventRecord(begin, stream[0]));
		CHECK(cudaMemcpyAsync(dx + p * COUNT, pinned + p * COUNT,
		    COUNT * 4, cudaMemcpyHostToDevice, stream[p]));
		smooth<<<COUNT / 128, 128, 0, stream[p]>>>(dx + p * COUNT,
		    dy + p * COUNT, COUNT);
		CHECK(cudaEventRecord(done[p], stream[p]));
	}
	for (int p = 0; p < PARTS; p++)
		CHECK(cudaStreamWaitEvent(stream[0], done[p]));
	CHECK(cudaMemcpyAsync(pinned, dy, x.size() * 4, cudaMemcpyDeviceToHost,
	    stream[0]));
	CHECK(cudaEventRecord(end, stream[0]));
	CHECK(cudaStreamSynchronize(stream[0]));
	CHECK(cudaEventElapsedTime(&ms, begin, end));
	for (int p = 0; p < PARTS; p++)
		for (int i = 0; i < COUNT; i++) {
			const float *const a = &x[p * COUNT];
			const double wanted = 0.25 * a[i ? i - 1 : i] +
			    0.5 * a[i] + 0.25 * a[i < COUNT - 1 ? i + 1 : i];

			/* Three terms below 1/2, two roundings of the sum. */
			bad += fabs(pinned[p * COUNT + i] - wanted) > 0x1p-23;
		}
	expect("streams", bad, 0);
	expect("events", ms < 0, 0);
}

static void
in_graph()
{
	const auto a = uniforms(N * N), b = uniforms(N * N);
	float *da = upload(a), *db = upload(b), *dc;
	const float one = 1, zero = 0;
	double error = 0, norm = 0;
	cublasHandle_t blas;
	cudaStream_t stream;
	cudaGraphExec_t exec;
	cudaGraph_t graph;

	CHECK(cudaMalloc(&dc, N * N * 4));
	CHECK(cublasCreate(&blas));
	CHECK(cudaStreamCreate(&stream));
	CHECK(cublasSetStream(blas, stream));
	for (int turn = 0; turn < 5; turn++)
		CHECK(cublasSgemm(blas, CUBLAS_OP_N, CUBLAS_OP_N, N, N, N,
		    &one, da, N, db, N, &zero, dc, N));
	CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	scale<<<8, 128, 0, stream>>>(da, 2, N * N);
	CHECK(cublasSgemm(blas, CUBLAS_OP_N, CUBLAS_OP_N, N, N, N, &one, da, N,
	    db, N, &zero, dc, N));
	scale<<<8, 128, 0, stream>>>(dc, 0.5f, N * N);
	CHECK(cudaStreamEndCapture(stream, &graph));
	CHECK(cudaGraphInstantiate(&exec, graph, 0));
	for (int turn = 0; turn < 3; turn++)
		CHECK(cudaGraphLaunch(exec, stream));
	CHECK(cudaStreamSynchronize(stream));
	const auto c = download(dc, N * N);
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++) {
			double sum = 0;

			for (int k = 0; k < N; k++)
				sum += 4.0 * a[k * N + i] * b[j * N + k];
			error += pow(c[j * N + i] - sum, 2);
			norm += sum * sum;
		}
	expect("a graph of kernels and a product", sqrt(error / norm),
	    product_error());
}

int
main()
{
	typedef outer<int, 7, void (*)(float, double), char, short, long,
	    unsigned long long>::inner<outer<float, 3, int (*)()>, 1, 2, 3, 4,
	    5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20> cell;
	cell *cells;
	int *out, bad = 0;

	in_streams();
	in_graph();
	CHECK(cudaMallocManaged(&cells, 1000 * sizeof *cells));
	for (int i = 0; i < 1000; i++)
		cells[i].value = i;
	add_one<<<8, 128>>>(cells, 1000);
	CHECK(cudaDeviceSynchronize());
	for (int i = 0; i < 1000; i++)
		bad += cells[i].value != i + 1;
	expect("managed memory, a long name", bad + (seen != 1), 0);
	out = upload(std::vector<int>(8));
	call<<<1, 8>>>(out);
	CHECK(cudaDeviceSynchronize());
	const auto back = download(out, 8);
	expect("functions by pointer", back[7] != 68 || back[0] != 2, 0);
	return wrong;
}
