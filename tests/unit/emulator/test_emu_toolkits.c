/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/emulator/test_emu_toolkits.c -- the libraries of CUDA 12 and of
 * CUDA 13 in one process: one driver, one memory, handles that do not mix. */
#include "test_emu.h"

#include <cublasLt.h>
#include <dlfcn.h>

enum { N = 8, BYTES = N * N * 4 };
static const float one = 1, zero = 0;

/* Libraries of CUDA 12 as a plugin would load them. */
static struct {
	void *runtime, *blas;
	__typeof__(&cudaRuntimeGetVersion) get_version;
	__typeof__(&cudaMalloc) malloc;
	__typeof__(&cudaGetLastError) last_error;
	__typeof__(&cudaSetDevice) set_device;
	__typeof__(&cudaGetDevice) get_device;
	__typeof__(&cublasCreate_v2) create;
	__typeof__(&cublasDestroy_v2) destroy;
	__typeof__(&cublasGetVersion_v2) blas_version;
	__typeof__(&cublasGetProperty) property;
	__typeof__(&cublasSgemm_v2) sgemm;
} twelve;

#define FIND(library, field, name) \
	(*(void **)&twelve.field = dlsym(library, name))

static int
open_twelve(void **state)
{
	(void)state;
	twelve.blas = dlopen("libcublas.so.12", RTLD_NOW | RTLD_LOCAL);
	twelve.runtime = dlopen("libcudart.so.12", RTLD_NOW | RTLD_LOCAL);
	return !twelve.blas || !twelve.runtime ||
	    !FIND(twelve.runtime, get_version, "cudaRuntimeGetVersion") ||
	    !FIND(twelve.runtime, malloc, "cudaMalloc") ||
	    !FIND(twelve.runtime, last_error, "cudaGetLastError") ||
	    !FIND(twelve.runtime, set_device, "cudaSetDevice") ||
	    !FIND(twelve.runtime, get_device, "cudaGetDevice") ||
	    !FIND(twelve.blas, create, "cublasCreate_v2") ||
	    !FIND(twelve.blas, destroy, "cublasDestroy_v2") ||
	    !FIND(twelve.blas, blas_version, "cublasGetVersion_v2") ||
	    !FIND(twelve.blas, property, "cublasGetProperty") ||
	    !FIND(twelve.blas, sgemm, "cublasSgemm_v2");
}

/* Each reports its version; symbols carry its version node. */
static void
versions(void **state)
{
	int version, major;

	(void)state;
	OK(twelve.get_version(&version));
	assert_int_equal(version / 1000, 12);
	OK(cudaRuntimeGetVersion(&version));
	assert_int_equal(version / 1000, 13);
	OK(twelve.blas_version(NULL, &version));
	assert_int_equal(version / 10000, 12);
	OK(twelve.property(MAJOR_VERSION, &major));
	assert_int_equal(major, 12);
	OK(cublasGetVersion(NULL, &version));
	assert_int_equal(version / 10000, 13);
	assert_non_null(dlvsym(twelve.blas, "cublasSgemm_v2",
	    "libcublas.so.12"));
	assert_null(dlvsym(twelve.blas, "cublasSgemm_v2", "libcublas.so.13"));
	assert_true(twelve.sgemm != cublasSgemm);
}

/* A handle of one is invalid in the other. */
static void
handles(void **state)
{
	float *a = test_device(BYTES), *c = test_device(BYTES);
	cublasHandle_t of_12, of_13;

	(void)state;
	OK(cudaMemset(a, 0, BYTES));
	OK(twelve.create(&of_12));
	OK(cublasCreate(&of_13));
	assert_int_equal(cublasSgemm(of_12, CUBLAS_OP_N, CUBLAS_OP_N, N, N, N,
	    &one, a, N, a, N, &zero, c, N), CUBLAS_STATUS_NOT_INITIALIZED);
	assert_int_equal(twelve.sgemm(of_13, CUBLAS_OP_N, CUBLAS_OP_N, N, N,
	    N, &one, a, N, a, N, &zero, c, N), CUBLAS_STATUS_NOT_INITIALIZED);
	assert_int_equal(cublasDestroy(of_12), CUBLAS_STATUS_NOT_INITIALIZED);
	assert_int_equal(twelve.destroy(of_13),
	    CUBLAS_STATUS_NOT_INITIALIZED);
	OK(twelve.sgemm(of_12, CUBLAS_OP_N, CUBLAS_OP_N, N, N, N, &one, a, N,
	    a, N, &zero, c, N));
	OK(cublasSgemm(of_13, CUBLAS_OP_N, CUBLAS_OP_N, N, N, N, &one, a, N,
	    a, N, &zero, c, N));
	assert_int_equal(emuCounter("cublasSgemm_v2"), 4);
	OK(cublasDestroy(of_13));
	OK(twelve.destroy(of_12));
	OK(cudaFree(a));
	OK(cudaFree(c));
}

/* Both use one device: memory and the current device are shared, each runtime
 * has its own last error. */
static void
shared(void **state)
{
	float value = 5, back = 0;
	void *p, *mapped;
	int device;

	(void)state;
	OK(twelve.malloc(&p, sizeof value));
	OK(cudaMemcpy(p, &value, sizeof value, cudaMemcpyHostToDevice));
	OK(cudaMemcpy(&back, p, sizeof back, cudaMemcpyDeviceToHost));
	assert_true(back == value);
	OK(cudaFree(p));
	assert_int_equal(cudaHostGetDevicePointer(&mapped, &value, 0),
	    cudaErrorInvalidValue);
	OK(twelve.last_error());
	assert_int_equal(cudaGetLastError(), cudaErrorInvalidValue);
	OK(twelve.set_device(1));
	OK(cudaGetDevice(&device));
	assert_int_equal(device, 1);
	OK(cudaSetDevice(0));
	OK(twelve.get_device(&device));
	assert_int_equal(device, 0);
}

/* The properties in the layout of CUDA 12's headers: 1032 bytes. */
static void
properties(void **state)
{
	int (*get)(void *properties, int device);
	unsigned char p[1040];
	int number;

	(void)state;
	*(void **)&get = dlsym(twelve.runtime, "cudaGetDeviceProperties_v2");
	assert_non_null(get);
	memset(p, 0xee, sizeof p);
	OK(get(p, 1));
	assert_string_equal((char *)p, "Tesla T4 (emulated)");
	memcpy(&number, p + 360, sizeof number);
	assert_int_equal(number, 7);
	memcpy(&number, p + 388, sizeof number);
	assert_int_equal(number, 40);
	assert_true(p[1031] == 0 && p[1032] == 0xee);
}

/* The capture of a stream by the names of both: 12's carry the version of the
 * form, 13's are plain; 0 means the thread's own stream in _ptsz ones. */
static void
capture(void **state)
{
	static const char *const names[] = { "cudaStreamGetCaptureInfo_v3_ptsz",
		"cudaStreamGetCaptureInfo_v3" };
	int (*of_12)(cudaStream_t, enum cudaStreamCaptureStatus *,
	    unsigned long long *, cudaGraph_t *, const cudaGraphNode_t **,
	    size_t *);
	__typeof__(&cudaStreamGetCaptureInfo) newer[2];
	int (*begin)(cudaStream_t, enum cudaStreamCaptureMode);
	enum cudaStreamCaptureStatus status;
	unsigned long long id, same;
	cudaGraph_t graph;

	(void)state;
	*(void **)&begin = dlsym(twelve.runtime,
	    "cudaStreamBeginCapture_ptsz");
	*(void **)&of_12 = dlsym(twelve.runtime,
	    "cudaStreamGetCaptureInfo_v2");
	assert_true(begin && of_12);
	OK(begin(NULL, cudaStreamCaptureModeRelaxed));
	OK(cudaStreamGetCaptureInfo(cudaStreamPerThread, &status, &id, NULL,
	    NULL, NULL, NULL));
	assert_int_equal(status, cudaStreamCaptureStatusActive);
	OK(of_12(cudaStreamPerThread, &status, &same, &graph, NULL, NULL));
	assert_true(same == id && graph);
	for (int i = 0; i < 2; i++) {
		*(void **)&newer[i] = dlsym(twelve.runtime, names[i]);
		assert_non_null(newer[i]);
		OK(newer[i](i ? cudaStreamPerThread : NULL, &status, &same,
		    NULL, NULL, NULL, NULL));
		assert_true(same == id);
	}
	OK(cudaStreamEndCapture(cudaStreamPerThread, &graph));
	OK(cudaGraphDestroy(graph));
}

/* A library that is unloaded takes nothing along that is needed later. */
static void
unload(void **state)
{
	(void)state;
	dlclose(twelve.blas);
	dlclose(twelve.runtime);
	OK(cudaDeviceSynchronize());
	assert_int_equal(emuCounter("cublasSgemm_v2"), 4);
}

/* A copy of cublasLt has its version, and takes its own handles only. */
static cublasLtHandle_t
lt_of(const char *name, int major, __typeof__(&cublasLtDestroy) *destroy_out)
{
	void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
	cublasLtHandle_t handle;
	__typeof__(&cublasLtGetVersion) version;
	__typeof__(&cublasLtCreate) create;

	assert_non_null(library);
	*(void **)&version = dlsym(library, "cublasLtGetVersion");
	*(void **)&create = dlsym(library, "cublasLtCreate");
	*(void **)destroy_out = dlsym(library, "cublasLtDestroy");
	assert_int_equal(version() / 10000, major);
	OK(create(&handle));
	return handle;
}

static void
light(void **state)
{
	__typeof__(&cublasLtDestroy) destroy_12, destroy_13;
	cublasLtHandle_t lt_12 = lt_of("libcublasLt.so.12", 12, &destroy_12);
	cublasLtHandle_t lt_13 = lt_of("libcublasLt.so.13", 13, &destroy_13);

	(void)state;
	assert_int_equal(destroy_12(lt_13), CUBLAS_STATUS_INVALID_VALUE);
	assert_int_equal(destroy_13(lt_12), CUBLAS_STATUS_INVALID_VALUE);
	OK(destroy_12(lt_12));
	OK(destroy_13(lt_13));
}

static void
channel(void **state)
{
	const struct cudaChannelFormatDesc got = cudaCreateChannelDesc(32, 16,
	    8, 4, cudaChannelFormatKindFloat);

	(void)state;
	assert_int_equal(got.x, 32);
	assert_int_equal(got.y, 16);
	assert_int_equal(got.z, 8);
	assert_int_equal(got.w, 4);
	assert_int_equal(got.f, cudaChannelFormatKindFloat);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(versions),
		cmocka_unit_test(handles),
		cmocka_unit_test(shared),
		cmocka_unit_test(properties),
		cmocka_unit_test(capture),
		cmocka_unit_test(unload),
		cmocka_unit_test(light),
		cmocka_unit_test(channel),
	};

	setenv("AUTOCAST_EMU_MODEL", "h200,t4", 1);
	setenv("AUTOCAST_LOG", "off", 1); /* complaints are provoked */
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, open_twelve, NULL);
}
