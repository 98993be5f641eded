/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/runtime/cudart_ptsz.c -- entries for programs compiled with a
 * default stream per thread: the same calls, with stream 2 in place of stream
 * 0. */
#include "emulator/runtime/cudart.h"

#define OWN(stream) ((stream) ? (stream) : cudaStreamPerThread)
#define PTSZ(name, params, args)                                          \
cudaError_t name params;                                                  \
cudaError_t                                                               \
name params                                                               \
{                                                                         \
	return args;                                                      \
}

static cudaError_t
launch_ex(const cudaLaunchConfig_t *config, const void *host, void **params)
{
	cudaLaunchConfig_t own;

	if (!config)
		return cudaLaunchKernelExC(config, host, params);
	own = *config;
	own.stream = OWN(own.stream);
	return cudaLaunchKernelExC(&own, host, params);
}

#pragma GCC visibility push(default)
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block,
    void **params, size_t shared, cudaStream_t stream);
PTSZ(cudaLaunchKernelExC_ptsz, (const cudaLaunchConfig_t *config,
    const void *host, void **params), launch_ex(config, host, params))
PTSZ(cudaMemcpyAsync_ptsz, (void *to, const void *from, size_t bytes,
    enum cudaMemcpyKind kind, cudaStream_t stream),
    cudaMemcpyAsync(to, from, bytes, kind, OWN(stream)))
PTSZ(cudaMemcpy2DAsync_ptsz, (void *to, size_t to_pitch, const void *from,
    size_t from_pitch, size_t width, size_t height, enum cudaMemcpyKind kind,
    cudaStream_t stream), cudaMemcpy2DAsync(to, to_pitch, from, from_pitch,
    width, height, kind, OWN(stream)))
PTSZ(cudaMemsetAsync_ptsz, (void *to, int value, size_t bytes,
    cudaStream_t stream), cudaMemsetAsync(to, value, bytes, OWN(stream)))
PTSZ(cudaStreamSynchronize_ptsz, (cudaStream_t stream),
    cudaStreamSynchronize(OWN(stream)))
PTSZ(cudaStreamQuery_ptsz, (cudaStream_t stream),
    cudaStreamQuery(OWN(stream)))
PTSZ(cudaStreamWaitEvent_ptsz, (cudaStream_t stream, cudaEvent_t event,
    unsigned flags), cudaStreamWaitEvent(OWN(stream), event, flags))
PTSZ(cudaEventRecord_ptsz, (cudaEvent_t event, cudaStream_t stream),
    cudaEventRecord(event, OWN(stream)))
PTSZ(cudaMallocAsync_ptsz, (void **pointer, size_t bytes,
    cudaStream_t stream), cudaMallocAsync(pointer, bytes, OWN(stream)))
PTSZ(cudaFreeAsync_ptsz, (void *pointer, cudaStream_t stream),
    cudaFreeAsync(pointer, OWN(stream)))
PTSZ(cudaLaunchHostFunc_ptsz, (cudaStream_t stream, cudaHostFn_t function,
    void *data), cudaLaunchHostFunc(OWN(stream), function, data))
PTSZ(cudaLaunchKernel_ptsz, (const void *host, dim3 grid, dim3 block,
    void **params, size_t shared, cudaStream_t stream),
    cudaLaunchKernel(host, grid, block, params, shared, OWN(stream)))
PTSZ(__cudaLaunchKernel_ptsz, (cudaKernel_t kernel, dim3 grid, dim3 block,
    void **params, size_t shared, cudaStream_t stream),
    __cudaLaunchKernel(kernel, grid, block, params, shared, OWN(stream)))
PTSZ(cudaLaunchCooperativeKernel_ptsz, (const void *host, dim3 grid,
    dim3 block, void **params, size_t shared, cudaStream_t stream),
    cudaLaunchCooperativeKernel(host, grid, block, params, shared,
    OWN(stream)))
PTSZ(cudaMemcpyToSymbolAsync_ptsz, (const void *symbol, const void *from,
    size_t bytes, size_t offset, enum cudaMemcpyKind kind,
    cudaStream_t stream), cudaMemcpyToSymbolAsync(symbol, from, bytes, offset,
    kind, OWN(stream)))
PTSZ(cudaMemcpyFromSymbolAsync_ptsz, (void *to, const void *symbol,
    size_t bytes, size_t offset, enum cudaMemcpyKind kind,
    cudaStream_t stream), cudaMemcpyFromSymbolAsync(to, symbol, bytes, offset,
    kind, OWN(stream)))
PTSZ(cudaStreamIsCapturing_ptsz, (cudaStream_t stream,
    enum cudaStreamCaptureStatus *capturing),
    cudaStreamIsCapturing(OWN(stream), capturing))

PTSZ(cudaStreamBeginCapture_ptsz, (cudaStream_t stream,
    enum cudaStreamCaptureMode mode),
    cudaStreamBeginCapture(OWN(stream), mode))
PTSZ(cudaStreamEndCapture_ptsz, (cudaStream_t stream, cudaGraph_t *graph),
    cudaStreamEndCapture(OWN(stream), graph))
PTSZ(cudaStreamGetCaptureInfo_ptsz, (cudaStream_t stream,
    enum cudaStreamCaptureStatus *capturing, unsigned long long *id,
    cudaGraph_t *graph, const cudaGraphNode_t **dependencies,
    const cudaGraphEdgeData **edges, size_t *count),
    cudaStreamGetCaptureInfo(OWN(stream), capturing, id, graph, dependencies,
    edges, count))
PTSZ(cudaGraphInstantiateWithParams_ptsz, (cudaGraphExec_t *exec,
    cudaGraph_t graph, cudaGraphInstantiateParams *params),
    cudaGraphInstantiateWithParams(exec, graph, params))
PTSZ(cudaGraphLaunch_ptsz, (cudaGraphExec_t exec, cudaStream_t stream),
    cudaGraphLaunch(exec, OWN(stream)))
PTSZ(cudaGraphUpload_ptsz, (cudaGraphExec_t exec, cudaStream_t stream),
    cudaGraphUpload(exec, OWN(stream)))

/* Copies that wait: on the thread's own stream, then a wait for it. */
static cudaError_t
waited(cudaError_t status)
{
	return status ? status : cudaStreamSynchronize(cudaStreamPerThread);
}

PTSZ(cudaMemcpy_ptds, (void *to, const void *from, size_t bytes,
    enum cudaMemcpyKind kind), waited(cudaMemcpyAsync(to, from, bytes, kind,
    cudaStreamPerThread)))
PTSZ(cudaMemcpyToSymbol_ptds, (const void *symbol, const void *from,
    size_t bytes, size_t offset, enum cudaMemcpyKind kind),
    waited(cudaMemcpyToSymbolAsync(symbol, from, bytes, offset, kind,
    cudaStreamPerThread)))
PTSZ(cudaMemcpyFromSymbol_ptds, (void *to, const void *symbol, size_t bytes,
    size_t offset, enum cudaMemcpyKind kind),
    waited(cudaMemcpyFromSymbolAsync(to, symbol, bytes, offset, kind,
    cudaStreamPerThread)))
PTSZ(cudaMemset_ptds, (void *to, int value, size_t bytes),
    waited(cudaMemsetAsync(to, value, bytes, cudaStreamPerThread)))
#pragma GCC visibility pop
