/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/emulator/test_emu_touch.c -- what products of the emulated cuBLAS
 * touch: the bytes they move, the alignment they need, the types they read. */
#include "test_emu.h"

#include "emulator/cublas/cublas_touch.h"

#include <stdbool.h>

enum { M = 12, N = 20, K = 24, BATCH = 3, ROOM = 4096 };
static cublasHandle_t handle;

/* Bytes that one product moved. */
static uint64_t
moved(cudaDataType in, cudaDataType out, cublasComputeType_t compute,
    float beta, cublasOperation_t ta)
{
	const float one = 1;
	void *a = test_device(ROOM), *b = test_device(ROOM);
	void *c = test_device(ROOM);

	OK(cudaMemset(a, 0, ROOM));
	OK(cudaMemset(b, 0, ROOM));
	OK(cudaMemset(c, 0, ROOM));
	emuCountersReset();
	OK(cublasGemmEx(handle, ta, CUBLAS_OP_N, M, N, K, &one, a, in,
	    ta == CUBLAS_OP_N ? M + 3 : K + 1, b, in, K + 5, &beta, c, out,
	    M + 1, compute, CUBLAS_GEMM_DEFAULT));
	OK(cudaDeviceSynchronize());
	OK(cudaFree(a));
	OK(cudaFree(b));
	OK(cudaFree(c));
	return emuCounter("gemm_bytes");
}

/* Each element of A and B is read once, each of C is written once, and read if
 * beta is not 0, in every way of computing. */
static int
check_bytes(void)
{
	static const struct {
		cudaDataType in, out;
		unsigned in_bytes, out_bytes;
		cublasComputeType_t compute;
	} cases[] = {
		{ CUDA_R_32F, CUDA_R_32F, 4, 4, CUBLAS_COMPUTE_32F },
		{ CUDA_R_32F, CUDA_R_32F, 4, 4, CUBLAS_COMPUTE_32F_FAST_TF32 },
		{ CUDA_R_16F, CUDA_R_32F, 2, 4, CUBLAS_COMPUTE_32F },
		{ CUDA_R_16BF, CUDA_R_16BF, 2, 2, CUBLAS_COMPUTE_32F },
		{ CUDA_R_8I, CUDA_R_32F, 1, 4, CUBLAS_COMPUTE_32F },
	};
	int wrong = 0;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
	for (int beta = 0; beta < 2; beta++)
	for (int ta = 0; ta < 2; ta++) {
		const uint64_t want = (M * K + K * N) * cases[i].in_bytes +
		    (uint64_t)(M * N) * (beta ? 2 : 1) * cases[i].out_bytes;
		const uint64_t got = moved(cases[i].in, cases[i].out,
		    cases[i].compute, (float)beta, (cublasOperation_t)ta);

		if (got != want)
			fprintf(stderr, "case %zu: %llu, not %llu bytes\n", i,
			    (unsigned long long)got, (unsigned long long)want);
		wrong += got != want;
	}
	return wrong;
}

static void
bytes(void **state)
{
	static char text[4096];

	(void)state;
	assert_int_equal(check_bytes(), 0);
	assert_int_equal(test_again("bytes", "AUTOCAST_EMU_SUMS", "exact",
	    text, sizeof text), 0);
	assert_int_equal(test_again("bytes", "AUTOCAST_EMU_SUMS", "reference",
	    text, sizeof text), 0);
}

/* The test would notice a product that reads its operand twice. */
static void
second_read(void **state)
{
	static const uint16_t data[M * K];
	const struct emu_operand o = { .type = CUDA_R_16F, .ld = M };
	struct emu_touched touched = { 0 };
	float c = 0;

	(void)state;
	free(emu_pack(&touched, data, &o, M, K, EMU_FP16));
	assert_int_equal(touched.bytes, sizeof data);
	free(emu_pack(&touched, data, &o, M, K, EMU_FP16));
	assert_int_equal(touched.bytes, 2 * sizeof data);
	emu_read_all(&touched, data, &o, M, K);
	assert_int_equal(touched.bytes, 3 * sizeof data);
	emu_store(&touched, &c, CUDA_R_32F, 0,
	    emu_load(&touched, data, CUDA_R_16F, 1));
	assert_int_equal(touched.bytes, 3 * sizeof data + 6);
}

struct layout {
	cudaDataType type;
	cublasComputeType_t compute;
	int k;
	size_t offset[3]; /* in bytes, of the second A, B and C */
};

static int
with_pointers(const struct layout *l)
{
	const float one = 1, zero = 0;
	char *room = test_device(BATCH * 3 * ROOM);
	void *host[3][BATCH], **device[3];
	int status;

	OK(cudaMemset(room, 0, BATCH * 3 * ROOM));
	for (int i = 0; i < 3; i++) {
		for (int z = 0; z < BATCH; z++)
			host[i][z] = room + (i * BATCH + z) * ROOM +
			    (z == 1 ? l->offset[i] : 0);
		device[i] = test_upload(host[i], sizeof host[i]);
	}
	OK(cublasGemmBatchedEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, M, N, l->k,
	    &one, (const void *const *)device[0], l->type, M,
	    (const void *const *)device[1], l->type, l->k, &zero,
	    (void *const *)device[2], CUDA_R_32F, M, BATCH, l->compute,
	    CUBLAS_GEMM_DEFAULT));
	status = cudaDeviceSynchronize();
	if (status) {
		OK(cudaDeviceReset());
		OK(cublasDestroy(handle));
		OK(cublasCreate(&handle));
		return status;
	}
	OK(cudaFree(room));
	for (int i = 0; i < 3; i++)
		OK(cudaFree(device[i]));
	return status;
}

/* Fast kernels need 16 bytes, or 4, depending on k; plain FP32 ones nothing. */
static void
alignment(void **state)
{
	static const struct {
		struct layout layout;
		bool fine;
	} cases[] = {
		{ { CUDA_R_16F, CUBLAS_COMPUTE_32F, 24, { 0, 0, 0 } }, true },
		{ { CUDA_R_16F, CUBLAS_COMPUTE_32F, 24, { 16, 32, 48 } },
		  true },
		{ { CUDA_R_16F, CUBLAS_COMPUTE_32F, 24, { 2, 0, 0 } }, false },
		{ { CUDA_R_16F, CUBLAS_COMPUTE_32F, 24, { 0, 8, 0 } }, false },
		{ { CUDA_R_16F, CUBLAS_COMPUTE_32F, 24, { 0, 0, 4 } }, false },
		{ { CUDA_R_16BF, CUBLAS_COMPUTE_32F, 22, { 4, 8, 12 } }, true },
		{ { CUDA_R_16BF, CUBLAS_COMPUTE_32F, 22, { 2, 0, 0 } }, false },
		{ { CUDA_R_16F, CUBLAS_COMPUTE_32F, 23, { 2, 6, 4 } }, true },
		{ { CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32, 24,
		  { 4, 0, 0 } }, false },
		{ { CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_16F, 12,
		  { 0, 4, 0 } }, false },
		{ { CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_16BF, 13,
		  { 4, 4, 4 } }, true },
		{ { CUDA_R_32F, CUBLAS_COMPUTE_32F, 24, { 4, 8, 12 } }, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		emuCountersReset();
		assert_int_equal(with_pointers(&cases[i].layout),
		    cases[i].fine ? 0 : cudaErrorMisalignedAddress);
		assert_int_equal(emuCounter("complaints") > 0,
		    !cases[i].fine);
	}
	assert_string_equal(cudaGetErrorString(cudaErrorMisalignedAddress),
	    "misaligned address");
}

/* Matrices of small types, the result in FP32. */
static void
types(void **state)
{
	static const int8_t bytes_in[4] = { -128, 3, 127, -5 };
	static const uint16_t halves[4] = { 0xd800, 0x4200, 0x57f0, 0xc500 };
	static const uint16_t brains[4] = { 0xc300, 0x4040, 0x42fe, 0xc0a0 };
	static const float want[4] = { 16765, -399, -16891, 406 };
	static const struct {
		cudaDataType type;
		const void *data;
		size_t bytes;
	} cases[] = {
		{ CUDA_R_8I, bytes_in, sizeof bytes_in },
		{ CUDA_R_16F, halves, sizeof halves },
		{ CUDA_R_16BF, brains, sizeof brains },
	};
	const float one = 1, zero = 0;
	float *c = test_device(16), got[4];

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		void *a = test_upload(cases[i].data, cases[i].bytes);

		OK(cublasSgemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2,
		    &one, a, cases[i].type, 2, a, cases[i].type, 2, &zero, c,
		    CUDA_R_32F, 2));
		OK(cudaMemcpy(got, c, sizeof got, cudaMemcpyDeviceToHost));
		assert_memory_equal(got, want, sizeof got);
		OK(cudaFree(a));
	}
	assert_int_equal(cublasSgemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2,
	    2, &one, c, CUDA_R_8I, 2, c, CUDA_R_8I, 2, &zero, c, CUDA_R_8I, 2),
	    CUBLAS_STATUS_NOT_SUPPORTED);
	OK(cudaFree(c));
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes),
		cmocka_unit_test(second_read),
		cmocka_unit_test(types),
		cmocka_unit_test(alignment),
	};
	int failed;

	(void)argv;
	setenv("AUTOCAST_LOG", "off", 1); /* complaints are provoked */
	if (cublasCreate(&handle))
		return 1;
	if (argc > 1)
		return check_bytes();
	cmocka_set_message_output(CM_OUTPUT_TAP);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	cublasDestroy(handle);
	return failed;
}
