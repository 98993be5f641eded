/* SPDX-License-Identifier: Apache-2.0 */
/* tests/real/programs/convolution.c -- what cuDNN answers without a GPU:
 * convolution SONAME local|global|linked. A thin libcudnn.so.9 looks its own
 * public names up in its parts: whoever answers it with a wrapper of theirs
 * calls himself for ever. The names are cuDNN's C interface, resolved at run
 * time or, built with -DLINKED, by the linker. */
#include <cudnn.h>

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static const char *way;
static void *library;

#ifdef LINKED
#define FUNCTION(name) \
	(!strcmp(way, "linked") ? name : (__typeof__(&name))look_up(#name))
#else
#define FUNCTION(name) ((__typeof__(&name))look_up(#name))
#endif

static uintptr_t
look_up(const char *name)
{
	uintptr_t found = (uintptr_t)dlsym(!strcmp(way, "global")
	    ? RTLD_DEFAULT : library, name);

	if (!found)
		printf("%s: %s\n", name, dlerror());
	return found;
}

#define SAY(name, ...) say(#name, (int)FUNCTION(name)(__VA_ARGS__))

static void
say(const char *name, int status)
{
	char text[512] = "";

	FUNCTION(cudnnGetLastErrorString)(text, sizeof text);
	printf("%s %d %s | %s\n", name, status,
	    FUNCTION(cudnnGetErrorString)((cudnnStatus_t)status), text);
}

int
main(int argc, char **argv)
{
	const float one = 1, zero = 0;
	cudnnTensorDescriptor_t x = NULL, y = NULL;
	cudnnFilterDescriptor_t w = NULL;
	cudnnConvolutionDescriptor_t convolution = NULL;
	cudnnBackendDescriptor_t tensor = NULL;
	cudnnHandle_t handle = (cudnnHandle_t)0x5a;
	int n = 0, c = 0, height = 0, width = 0;
	size_t bytes = 0;

	if (argc != 3)
		return 2;
	way = argv[2];
	library = dlopen(argv[1], RTLD_NOW
	    | (!strcmp(way, "global") ? RTLD_GLOBAL : RTLD_LOCAL));
	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		return 77;
	}
	printf("version %zu\n", FUNCTION(cudnnGetVersion)());
	SAY(cudnnCreate, &handle);
	printf("handle %s\n",
	    handle == (cudnnHandle_t)0x5a ? "untouched" : "set");
	SAY(cudnnCreateTensorDescriptor, &x);
	SAY(cudnnCreateTensorDescriptor, &y);
	SAY(cudnnCreateFilterDescriptor, &w);
	SAY(cudnnCreateConvolutionDescriptor, &convolution);
	SAY(cudnnSetTensor4dDescriptor, x, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT,
	    32, 256, 28, 28);
	SAY(cudnnSetFilter4dDescriptor, w, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW,
	    64, 256, 3, 3);
	SAY(cudnnSetConvolution2dDescriptor, convolution, 1, 1, 1, 1, 1, 1,
	    CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT);
	SAY(cudnnGetConvolution2dForwardOutputDim, convolution, x, w, &n, &c,
	    &height, &width);
	printf("output %d %d %d %d\n", n, c, height, width);
	SAY(cudnnSetTensor4dDescriptor, y, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT,
	    n, c, height, width);
	SAY(cudnnGetTensorSizeInBytes, y, &bytes);
	printf("bytes %zu\n", bytes);
	SAY(cudnnConvolutionForward, NULL, &one, x, NULL, w, NULL, convolution,
	    CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, NULL, 0, &zero, y, NULL);
	SAY(cudnnConvolutionBackwardData, NULL, &one, w, NULL, y, NULL,
	    convolution, CUDNN_CONVOLUTION_BWD_DATA_ALGO_0, NULL, 0, &zero, x,
	    NULL);
	SAY(cudnnConvolutionBackwardFilter, NULL, &one, x, NULL, y, NULL,
	    convolution, CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0, NULL, 0, &zero, w,
	    NULL);
	SAY(cudnnGetConvolutionForwardWorkspaceSize, NULL, x, w, convolution, y,
	    CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, &bytes);
	SAY(cudnnBackendCreateDescriptor, CUDNN_BACKEND_TENSOR_DESCRIPTOR,
	    &tensor);
	SAY(cudnnBackendFinalize, tensor);
	SAY(cudnnBackendExecute, NULL, NULL, NULL);
#if CUDNN_VERSION >= 90500
	SAY(cudnnBackendPopulateCudaGraph, NULL, NULL, NULL, NULL);
	SAY(cudnnBackendUpdateCudaGraph, NULL, NULL, NULL, NULL);
#endif
	SAY(cudnnBackendDestroyDescriptor, tensor);
	SAY(cudnnDestroyConvolutionDescriptor, convolution);
	SAY(cudnnDestroyFilterDescriptor, w);
	SAY(cudnnDestroyTensorDescriptor, y);
	SAY(cudnnDestroyTensorDescriptor, x);
	SAY(cudnnDestroy, NULL);
	dlclose(library);
	return 0;
}
