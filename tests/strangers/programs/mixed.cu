/* SPDX-License-Identifier: Apache-2.0 */
/* tests/strangers/programs/mixed.cu -- a small network's forward pass, several
 * times: a convolution by cuDNN, its bias and ReLU by a kernel, a product by
 * cublasLt with a bias and ReLU, a product by cuBLAS; each against FP64, of
 * what went into it. */
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cudnn.h>
#include "user.h"

enum { BATCH = 32, CHANNELS = 16, FILTERS = 32, SIDE = 12, WIDTH = 256,
	CLASSES = 64, FLAT = FILTERS * SIDE * SIDE, TURNS = 6 };

__global__ void
bias_relu(float *x, const float *bias, int count)
{
	const int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < count)
		x[i] = fmaxf(x[i] + bias[i / (SIDE * SIDE) % FILTERS], 0);
}

static double
distance(const std::vector<float> &a, const std::vector<double> &b)
{
	double error = 0, norm = 0;

	for (size_t i = 0; i < a.size(); i++) {
		error += pow(a[i] - b[i], 2);
		norm += b[i] * b[i];
	}
	return sqrt(error / norm);
}

static std::vector<double>
convolved(const std::vector<float> &x, const std::vector<float> &w,
    const std::vector<float> &bias)
{
	std::vector<double> y(BATCH * FLAT);

	for (int n = 0; n < BATCH; n++)
		for (int f = 0; f < FILTERS; f++)
			for (int at = 0; at < SIDE * SIDE; at++) {
				double sum = 0;

				for (int c = 0; c < CHANNELS; c++)
					for (int t = 0; t < 9; t++) {
						const int r = at / SIDE + t / 3
						    - 1, s = at % SIDE + t % 3
						    - 1;

						if (r >= 0 && s >= 0 && r <
						    SIDE && s < SIDE)
							sum += (double)x[((n *
							    CHANNELS + c) * SIDE
							    + r) * SIDE + s] *
							    w[(f * CHANNELS +
							    c) * 9 + t];
					}
				y[(n * FILTERS + f) * SIDE * SIDE + at] =
				    fmax(sum + bias[f], 0);
			}
	return y;
}

/* Column-major C (m x n) = A^T B. */
static std::vector<double>
multiplied(const std::vector<float> &a, const std::vector<float> &b, int m,
    int n, int k)
{
	std::vector<double> c((size_t)m * n);

	for (int j = 0; j < n; j++)
		for (int i = 0; i < m; i++) {
			double sum = 0;

			for (int l = 0; l < k; l++)
				sum += (double)a[(size_t)i * k + l] *
				    b[(size_t)j * k + l];
			c[(size_t)j * m + i] = sum;
		}
	return c;
}

struct network {
	cudnnHandle_t dnn;
	cudnnTensorDescriptor_t in, out;
	cudnnFilterDescriptor_t filter;
	cudnnConvolutionDescriptor_t convolution;
	cublasLtHandle_t lt;
	cublasLtMatmulDesc_t matmul;
	cublasLtMatrixLayout_t a, b, c;
	cublasHandle_t blas;
};

static void
prepare(network *n, const float *bias)
{
	const cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_RELU_BIAS;
	const cublasOperation_t transposed = CUBLAS_OP_T;

	CHECK(cudnnCreate(&n->dnn));
	CHECK(cudnnCreateTensorDescriptor(&n->in));
	CHECK(cudnnCreateTensorDescriptor(&n->out));
	CHECK(cudnnCreateFilterDescriptor(&n->filter));
	CHECK(cudnnCreateConvolutionDescriptor(&n->convolution));
	CHECK(cudnnSetTensor4dDescriptor(n->in, CUDNN_TENSOR_NCHW,
	    CUDNN_DATA_FLOAT, BATCH, CHANNELS, SIDE, SIDE));
	CHECK(cudnnSetTensor4dDescriptor(n->out, CUDNN_TENSOR_NCHW,
	    CUDNN_DATA_FLOAT, BATCH, FILTERS, SIDE, SIDE));
	CHECK(cudnnSetFilter4dDescriptor(n->filter, CUDNN_DATA_FLOAT,
	    CUDNN_TENSOR_NCHW, FILTERS, CHANNELS, 3, 3));
	CHECK(cudnnSetConvolution2dDescriptor(n->convolution, 1, 1, 1, 1, 1, 1,
	    CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT));
	CHECK(cublasLtCreate(&n->lt));
	CHECK(cublasLtMatmulDescCreate(&n->matmul, CUBLAS_COMPUTE_32F,
	    CUDA_R_32F));
	CHECK(cublasLtMatmulDescSetAttribute(n->matmul,
	    CUBLASLT_MATMUL_DESC_TRANSA, &transposed, sizeof transposed));
	CHECK(cublasLtMatmulDescSetAttribute(n->matmul,
	    CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue));
	CHECK(cublasLtMatmulDescSetAttribute(n->matmul,
	    CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof bias));
	CHECK(cublasLtMatrixLayoutCreate(&n->a, CUDA_R_32F, FLAT, WIDTH, FLAT));
	CHECK(cublasLtMatrixLayoutCreate(&n->b, CUDA_R_32F, FLAT, BATCH, FLAT));
	CHECK(cublasLtMatrixLayoutCreate(&n->c, CUDA_R_32F, WIDTH, BATCH,
	    WIDTH));
	CHECK(cublasCreate(&n->blas));
}

int
main()
{
	const auto x = uniforms(BATCH * CHANNELS * SIDE * SIDE),
	    w1 = uniforms(FILTERS * CHANNELS * 9), b1 = uniforms(FILTERS),
	    w2 = uniforms(WIDTH * FLAT), b2 = uniforms(WIDTH),
	    w3 = uniforms(CLASSES * WIDTH);
	float *dx = upload(x), *dw1 = upload(w1), *db1 = upload(b1),
	    *dw2 = upload(w2), *db2 = upload(b2), *dw3 = upload(w3), *y1, *y2,
	    *y3;
	const float one = 1, zero = 0;
	network n;

	CHECK(cudaMalloc(&y1, BATCH * FLAT * 4));
	CHECK(cudaMalloc(&y2, BATCH * WIDTH * 4));
	CHECK(cudaMalloc(&y3, BATCH * CLASSES * 4));
	prepare(&n, db2);
	for (int turn = 0; turn < TURNS; turn++) {
		CHECK(cudnnConvolutionForward(n.dnn, &one, n.in, dx, n.filter,
		    dw1, n.convolution,
		    CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, NULL, 0, &zero,
		    n.out, y1));
		bias_relu<<<(BATCH * FLAT + 255) / 256, 256>>>(y1, db1, BATCH *
		    FLAT);
		CHECK(cublasLtMatmul(n.lt, n.matmul, &one, dw2, n.a, y1, n.b,
		    &zero, y2, n.c, y2, n.c, NULL, NULL, 0, 0));
		CHECK(cublasSgemm(n.blas, CUBLAS_OP_T, CUBLAS_OP_N, CLASSES,
		    BATCH, WIDTH, &one, dw3, WIDTH, y2, WIDTH, &zero, y3,
		    CLASSES));
	}
	CHECK(cudaDeviceSynchronize());
	const auto h1 = download(y1, BATCH * FLAT), h2 = download(y2, BATCH *
	    WIDTH), h3 = download(y3, BATCH * CLASSES);
	/* A ReLU takes half of the product's norm away, and no error adds
	 * to it: sqrt(2), and a bias that is small. */
	expect("convolution", distance(h1, convolved(x, w1, b1)),
	    1.5 * product_error());
	auto wanted = multiplied(w2, h1, WIDTH, BATCH, FLAT);
	for (int i = 0; i < WIDTH * BATCH; i++)
		wanted[i] = fmax(wanted[i] + b2[i % WIDTH], 0);
	expect("cublasLt", distance(h2, wanted), 1.5 * product_error());
	expect("cuBLAS", distance(h3, multiplied(w3, h2, CLASSES, BATCH,
	    WIDTH)), product_error());
	return wrong;
}
