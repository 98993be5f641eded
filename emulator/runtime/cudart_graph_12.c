/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/runtime/cudart_graph_12.c -- CUDA 12's names of calls that CUDA 13
 * renamed; in libcudart.so.12 only. */
#include "emulator/runtime/cudart.h"

#define OWN(stream) ((stream) ? (stream) : cudaStreamPerThread)

/* Before 12.3, and since; _ptsz as in cudart_ptsz.c. */
#define INFO(suffix, STREAM)                                              \
cudaError_t cudaStreamGetCaptureInfo_v2##suffix(cudaStream_t stream,      \
    enum cudaStreamCaptureStatus *capturing, unsigned long long *id,      \
    cudaGraph_t *graph, const cudaGraphNode_t **dependencies,             \
    size_t *count);                                                       \
cudaError_t                                                               \
cudaStreamGetCaptureInfo_v2##suffix(cudaStream_t stream,                  \
    enum cudaStreamCaptureStatus *capturing, unsigned long long *id,      \
    cudaGraph_t *graph, const cudaGraphNode_t **dependencies,             \
    size_t *count)                                                        \
{                                                                         \
	return cudaStreamGetCaptureInfo(STREAM, capturing, id, graph,     \
	    dependencies, NULL, count);                                   \
}                                                                         \
cudaError_t cudaStreamGetCaptureInfo_v3##suffix(cudaStream_t stream,      \
    enum cudaStreamCaptureStatus *capturing, unsigned long long *id,      \
    cudaGraph_t *graph, const cudaGraphNode_t **dependencies,             \
    const cudaGraphEdgeData **edges, size_t *count);                      \
cudaError_t                                                               \
cudaStreamGetCaptureInfo_v3##suffix(cudaStream_t stream,                  \
    enum cudaStreamCaptureStatus *capturing, unsigned long long *id,      \
    cudaGraph_t *graph, const cudaGraphNode_t **dependencies,             \
    const cudaGraphEdgeData **edges, size_t *count)                       \
{                                                                         \
	return cudaStreamGetCaptureInfo(STREAM, capturing, id, graph,     \
	    dependencies, edges, count);                                  \
}

#pragma GCC visibility push(default)
INFO(, stream)
INFO(_ptsz, OWN(stream))
#pragma GCC visibility pop
