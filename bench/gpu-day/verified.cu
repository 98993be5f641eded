/* SPDX-License-Identifier: Apache-2.0 */
/* bench/gpu-day/verified.cu -- the kernels of verified products by themselves,
 * on a real GPU.
 *
 *   verified check [M N K [SEEDS]]   families of data against FP64 and SGEMM
 *   verified time [M N K [N|T [BATCH]]]  what each launch takes; TN, or NN
 *
 * Not part of a build; from the top folder, with CUDA:
 *   nvcc -O3 -fmad=false -Xcompiler -ffp-contract=off,-fno-math-errno \
 *       -arch=sm_90 -I. -o verified bench/gpu-day/verified.cu \
 *       tests/unit/kernels/verified_families.c \
 *       kernels/twins/twins_verified*.c -lcublas */
#include "kernels/verified/verified_probe.cu"
#include "kernels/verified/verified_bring.cu"
#include "kernels/verified/verified_cast.cu"
#include "kernels/verified/verified_verify.cu"
#include "kernels/verified/verified_apart.cu"
#include "kernels/verified/verified_tile.cu"
#include "kernels/verified/verified_mend.cu"
#include "tests/unit/kernels/verified_families.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <vector>

#define MUST(call) must((int)(call), #call)

static const float tol = 1e-3f;
static cublasHandle_t handle;
static int sm_count;

static void
must(int failed, const char *what)
{
	if (!failed)
		return;
	fprintf(stderr, "%s failed: %d\n", what, failed);
	exit(1);
}

static void *
zeros(size_t bytes)
{
	void *device;

	MUST(cudaMalloc(&device, bytes + 256));
	MUST(cudaMemset(device, 0, bytes + 256));
	return device;
}

/* ---- One product on the device ----------------------------------------- */

struct product {
	struct ac_verified v;
	cublasOperation_t trans[2];
	std::vector<void *> memory;

	template <class type> type *
	get(size_t count)
	{
		memory.push_back(zeros(count * sizeof(type)));
		return (type *)memory.back();
	}
};

/* `trans`: what is stored is op(X) transposed. */
static void
operand_make(product &p, int side, const float *from, bool trans)
{
	struct ac_verified &v = p.v;
	struct ac_verified_operand &o = v.operand[side];
	const int64_t lines = side ? v.n : v.m;

	o.from = from;
	o.lines = lines;
	o.lines_are_cols = trans != (side == 1);
	o.ld = o.lines_are_cols ? v.k : lines;
	o.ld_to = (o.ld + 7) / 8 * 8;
	o.stride = lines * v.k;
	o.to = p.get<uint16_t>(v.batch * o.ld_to * (o.lines_are_cols ? lines
	    : v.k));
	o.sums = p.get<double>(v.batch * AC_VERIFIED_VECTORS * v.k);
	o.parts = p.get<float>(v.batch * ac_verified_slices(&v)
	    * AC_VERIFIED_VALUES * lines);
	o.flags = p.get<uint32_t>(v.batch * ac_verified_words(lines));
	o.words = p.get<ac_verified_word>(v.batch * ac_verified_words(lines));
	p.trans[side] = trans ? CUBLAS_OP_T : CUBLAS_OP_N;
}

static void
product_make(product &p, int64_t m, int64_t n, int64_t k, int64_t batch,
    float alpha, const float *a, const float *b, float *c, bool ta, bool tb)
{
	struct ac_verified &v = p.v;

	v = {};
	v.m = m, v.n = n, v.k = k, v.batch = batch;
	v.slice = ac_verified_slice(m, n, k, batch);
	v.format = AC_FORMAT_FP16;
	v.tol = tol;
	v.alpha.value = alpha;
	v.output.product = c;
	v.output.ld = m;
	v.output.stride = m * n;
	v.state = p.get<struct ac_verified_state>(1);
	v.record = p.get<struct ac_verified_record>(1);
	v.spread = p.get<float>(ac_verified_spread(m, n));
	v.arrived = p.get<uint32_t>((m + n) / AC_VERIFIED_SIDE + 2);
	operand_make(p, 0, a, ta);
	operand_make(p, 1, b, tb);
}

static void
product_free(product &p)
{
	for (void *device : p.memory)
		MUST(cudaFree(device));
	p.memory.clear();
}

static void
probe(const product &p)
{
	ac_verified_probe<<<(unsigned)ac_verified_probe_blocks(&p.v),
	    AC_CAST_BLOCK>>>(p.v);
}

static void
cast(const product &p)
{
	ac_verified_cast<<<(unsigned)ac_verified_cast_blocks(&p.v),
	    AC_CAST_BLOCK>>>(p.v);
}

static int64_t
cast_stride(const struct ac_verified &v, int side)
{
	const struct ac_verified_operand &o = v.operand[side];

	return o.ld_to * (o.lines_are_cols ? o.lines : v.k);
}

static void
multiply_casts(const product &p)
{
	const struct ac_verified &v = p.v;

	MUST(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE));
	MUST(cublasGemmStridedBatchedEx(handle, p.trans[0], p.trans[1],
	    (int)v.m, (int)v.n, (int)v.k, &v.state->alpha, v.operand[0].to,
	    CUDA_R_16F, (int)v.operand[0].ld_to, cast_stride(v, 0),
	    v.operand[1].to, CUDA_R_16F, (int)v.operand[1].ld_to,
	    cast_stride(v, 1), &v.state->zero, v.output.product, CUDA_R_32F,
	    (int)v.output.ld, v.output.stride, (int)v.batch,
	    CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
}

static void
verify(const product &p)
{
	ac_verified_verify<<<(unsigned)ac_verified_verify_blocks(&p.v),
	    AC_CAST_BLOCK>>>(p.v);
}

static void
mend(const product &p)
{
	ac_verified_mend<<<3 * sm_count, MEND_BLOCK>>>(p.v);
}

static void
run_all(const product &p)
{
	probe(p);
	cast(p);
	multiply_casts(p);
	verify(p);
	mend(p);
}

static void
sgemm(const product &p, float *c)
{
	const float alpha = p.v.alpha.value, beta = 0;

	MUST(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST));
	MUST(cublasSgemmStridedBatched(handle, p.trans[0], p.trans[1],
	    (int)p.v.m, (int)p.v.n, (int)p.v.k, &alpha, p.v.operand[0].from,
	    (int)p.v.operand[0].ld, p.v.operand[0].stride,
	    p.v.operand[1].from, (int)p.v.operand[1].ld,
	    p.v.operand[1].stride, &beta, c, (int)p.v.m, p.v.output.stride,
	    (int)p.v.batch));
}

#include "bench/gpu-day/verified_check.h"
#include "bench/gpu-day/verified_time.h"

int
main(int argc, char **argv)
{
	static const int sizes[][3] = { { 317, 289, 203 }, { 1000, 33, 130 },
		{ 64, 64, 64 }, { 129, 1, 300 }, { 150, 140, 8192 },
		{ 1000, 900, 1000 } };
	static const int64_t times[][3] = { { 1024, 1024, 1024 },
		{ 2048, 2048, 2048 }, { 4096, 4096, 4096 },
		{ 128, 4096, 4096 }, { 2304, 8192, 768 },
		{ 8192, 8192, 8192 } };
	const bool given = argc > 4;
	totals total = {};

	MUST(cublasCreate(&handle));
	MUST(cudaDeviceGetAttribute(&sm_count,
	    cudaDevAttrMultiProcessorCount, 0));
	if (argc > 1 && argv[1][0] == 't' && given) {
		time_size(atoi(argv[2]), atoi(argv[3]), atoi(argv[4]),
		    argc > 6 ? atoi(argv[6]) : 1, argc == 5
		    || *argv[5] == 'T', false);
		return 0;
	}
	if (argc > 1 && argv[1][0] == 't') {
		for (const int64_t (&t)[3] : times) {
			time_size(t[0], t[1], t[2], 1, false, false);
			time_size(t[0], t[1], t[2], 1, true, false);
		}
		return 0;
	}
	for (const int (&s)[3] : sizes) {
		const int own[3] = { given ? atoi(argv[2]) : s[0],
			given ? atoi(argv[3]) : s[1],
			given ? atoi(argv[4]) : s[2] };

		for (int f = 0; f < VERIFIED_FAMILIES; f++)
			for (int i = 0; i < (argc > 5 ? atoi(argv[5]) : 1); i++)
				check(f, own, f + i, total);
		if (given)
			break;
	}
	printf("total: bad %d, missed %d, needlessly %d; classes differ in %d; "
	    "all %d times; worse than 1.5 SGEMM %d times; the twins differ "
	    "%d times; hash %016llx\n", total.bad, total.missed, total.vain,
	    total.classes, total.alls, total.worse, total.differ, total.hash);
	return 0;
}
