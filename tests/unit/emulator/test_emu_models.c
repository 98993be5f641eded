/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/emulator/test_emu_models.c -- every GPU that can be emulated: its
 * attributes, and the formats of its arithmetic. */
#include "test_emu_gemm.h"

#include <math.h>
#include <stdbool.h>

static const struct {
	const char *name;
	int capability, multiprocessors, shared, threads;
	double memory, bandwidth; /* 1e9 bytes, per second */
	bool formats;             /* TF32 and BF16 */
} models[] = {
	{ "NVIDIA H200 (emulated)", 90, 132, 227, 2048, 141, 4800, true },
	{ "NVIDIA H100 80GB HBM3 (emulated)", 90, 132, 227, 2048, 80, 3350,
	  true },
	{ "NVIDIA B200 (emulated)", 100, 148, 227, 2048, 180, 8000, true },
	{ "NVIDIA B300 SXM6 AC (emulated)", 103, 148, 227, 2048, 288, 8000,
	  true },
	{ "NVIDIA A100-SXM4-80GB (emulated)", 80, 108, 163, 2048, 80, 2039,
	  true },
	{ "NVIDIA L40S (emulated)", 89, 142, 99, 1536, 48, 864, true },
	{ "NVIDIA GeForce RTX 4090 (emulated)", 89, 128, 99, 1536, 24, 1008,
	  true },
	{ "NVIDIA GeForce RTX 5090 (emulated)", 120, 170, 99, 1536, 32, 1792,
	  true },
	{ "NVIDIA RTX PRO 6000 Blackwell Workstation Edition (emulated)", 120,
	  188, 99, 1536, 96, 1792, true },
	{ "Tesla T4 (emulated)", 75, 40, 64, 1024, 16, 320, false },
};
enum { COUNT = sizeof models / sizeof *models };

static bool
is_h100(int device)
{
	return strstr(models[device].name, "H100");
}

static int
attribute(int which, int device)
{
	int value = -1;

	OK(cudaDeviceGetAttribute(&value, (enum cudaDeviceAttr)which, device));
	return value;
}

/* The data sheet's figures; the bandwidth follows from bus and clock, two bits
 * per pin and cycle. GDDR6X counts cycles so that this holds. */
static void
attributes(void **state)
{
	struct cudaDeviceProp prop;
	int count;

	(void)state;
	OK(cudaGetDeviceCount(&count));
	assert_int_equal(count, COUNT);
	for (int d = 0; d < COUNT; d++) {
		double bandwidth;

		OK(cudaGetDeviceProperties(&prop, d));
		assert_string_equal(prop.name, models[d].name);
		assert_int_equal(10 * prop.major + prop.minor,
		    models[d].capability);
		assert_int_equal(prop.multiProcessorCount,
		    models[d].multiprocessors);
		assert_int_equal(prop.sharedMemPerBlockOptin,
		    models[d].shared * 1024);
		assert_int_equal(prop.maxThreadsPerMultiProcessor,
		    models[d].threads);
		assert_true((double)prop.totalGlobalMem ==
		    models[d].memory * 1e9);
		bandwidth = attribute(cudaDevAttrMemoryClockRate, d) * 1e3 *
		    2 / 8 * attribute(cudaDevAttrGlobalMemoryBusWidth, d);
		assert_true(bandwidth > models[d].bandwidth * 0.97e9 &&
		    bandwidth < models[d].bandwidth * 1.03e9);
	}
}

/* Turing has neither TF32 nor BF16: FP32 stays, BF16 matrices are refused. The
 * H100 is as measured: FAST_16F and FAST_16BF are TF32, with its range and its
 * bits; the others do as the names say. */
static void
formats(void **state)
{
	const float x = 1 + 0x1p-12f, fine = 1 + 0x1p-10f, one = 1, zero = 0;

	(void)state;
	for (int d = 0; d < COUNT; d++) {
		cublasHandle_t handle;
		void *a;

		OK(cudaSetDevice(d));
		OK(cublasCreate(&handle));
		a = test_device(256);
		assert_true((test_one_by_one(handle,
		    CUBLAS_COMPUTE_32F_FAST_TF32, x, 1) == 1) ==
		    models[d].formats);
		assert_true((test_one_by_one(handle,
		    CUBLAS_COMPUTE_32F_FAST_16BF, x, 1) == 1) ==
		    models[d].formats);
		assert_true(test_one_by_one(handle,
		    CUBLAS_COMPUTE_32F_FAST_16F, x, 1) == 1);
		assert_int_equal(isinf(test_one_by_one(handle,
		    CUBLAS_COMPUTE_32F_FAST_16F, 1e5f, 1)), !is_h100(d));
		assert_int_equal(test_one_by_one(handle,
		    CUBLAS_COMPUTE_32F_FAST_16F, 1e-30f, 1) == 0, !is_h100(d));
		assert_int_equal(test_one_by_one(handle,
		    CUBLAS_COMPUTE_32F_FAST_16BF, fine, 1) == fine,
		    is_h100(d) || !models[d].formats);
		assert_int_equal(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N,
		    1, 1, 1, &one, a, CUDA_R_16BF, 1, a, CUDA_R_16BF, 1, &zero,
		    a, CUDA_R_32F, 1, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
		    models[d].formats ? CUBLAS_STATUS_SUCCESS :
		    CUBLAS_STATUS_NOT_SUPPORTED);
		OK(cudaFree(a));
		OK(cublasDestroy(handle));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(attributes),
		cmocka_unit_test(formats),
	};

	setenv("AUTOCAST_EMU_MODEL", "h200,h100,b200,b300,a100,l40s,"
	    "rtx4090,rtx5090,rtxpro6000,t4", 1);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
