/* SPDX-License-Identifier: Apache-2.0 */
/* tests/strangers/programs/compiled.cu -- the driver API with NVRTC: a kernel
 * compiled at run time to PTX, loaded with options, chosen a block size by
 * occupancy, launched with its arguments in one buffer. */
#include <cuda.h>
#include <nvrtc.h>

#include <string>

#include "user.h"

static const char source[] =
    "template <class T> __device__ T clamp(T x, T low, T high)\n"
    "{ return x < low ? low : x > high ? high : x; }\n"
    "extern \"C\" __global__ void clamped(const float *x, float *y, float low,\n"
    "    float high, int count)\n"
    "{\n"
    "	extern __shared__ float part[];\n"
    "	const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "	part[threadIdx.x] = i < count ? x[i] : 0;\n"
    "	__syncthreads();\n"
    "	if (i < count)\n"
    "		y[i] = clamp(part[threadIdx.x], low, high);\n"
    "}\n";

static std::string
compile(int capability)
{
	const std::string architecture = "--gpu-architecture=compute_" +
	    std::to_string(capability);
	const char *options[] = { architecture.c_str(), "--std=c++17" };
	nvrtcProgram program;
	std::string text;
	size_t bytes;

	CHECK(nvrtcCreateProgram(&program, source, "clamped.cu", 0, NULL,
	    NULL));
	CHECK(nvrtcCompileProgram(program, 2, options));
	CHECK(nvrtcGetPTXSize(program, &bytes));
	text.resize(bytes);
	CHECK(nvrtcGetPTX(program, &text[0]));
	CHECK(nvrtcDestroyProgram(&program));
	return text;
}

int
main()
{
	const int count = 1000;
	const auto x = uniforms(count);
	char log[1024] = "";
	CUjit_option options[] = { CU_JIT_ERROR_LOG_BUFFER,
		CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES };
	void *values[] = { log, (void *)sizeof log };
	std::vector<float> y(count);
	int major, minor, grid, block, bad = 0;
	CUfunction function;
	CUcontext context;
	CUdevice device;
	CUmodule module;
	CUdeviceptr dx, dy;

	CHECK(cuInit(0));
	CHECK(cuDeviceGet(&device, 0));
	CHECK(cuDeviceGetAttribute(&major,
	    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
	CHECK(cuDeviceGetAttribute(&minor,
	    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device));
	CHECK(cuDevicePrimaryCtxRetain(&context, device));
	CHECK(cuCtxPushCurrent(context));
	CHECK(cuModuleLoadDataEx(&module, compile(major * 10 +
	    minor).c_str(), 2, options, values));
	CHECK(cuModuleGetFunction(&function, module, "clamped"));
	CHECK(cuOccupancyMaxPotentialBlockSize(&grid, &block, function,
	    [](int threads) { return threads * sizeof(float); }, 0, 256));
	CHECK(cuMemAlloc(&dx, count * 4));
	CHECK(cuMemAlloc(&dy, count * 4));
	CHECK(cuMemcpyHtoD(dx, x.data(), count * 4));
	struct {
		CUdeviceptr x, y;
		float low, high;
		int count;
	} arguments = { dx, dy, -0.25f, 0.5f, count };
	size_t bytes = sizeof arguments;
	void *extra[] = { CU_LAUNCH_PARAM_BUFFER_POINTER, &arguments,
		CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END };
	CHECK(cuLaunchKernel(function, (count + block - 1) / block, 1, 1, block,
	    1, 1, block * sizeof(float), NULL, NULL, extra));
	CHECK(cuCtxSynchronize());
	CHECK(cuMemcpyDtoH(y.data(), dy, count * 4));
	for (int i = 0; i < count; i++)
		bad += y[i] != fminf(fmaxf(x[i], -0.25f), 0.5f);
	expect("a kernel of NVRTC", bad, 0);
	CHECK(cuMemFree(dx));
	CHECK(cuMemFree(dy));
	CHECK(cuModuleUnload(module));
	CHECK(cuDevicePrimaryCtxRelease(device));
	return wrong;
}
