/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/driver/api/cuda_capture.c -- driver calls: stream capture. Contracts
 * are NVIDIA's. */
#include "emulator/driver/api/cuda.h"

CUresult
cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *capturing)
{
	struct emu_capture_facts facts;
	int status;

	DRIVER_ENTER();
	status = emu_capture_facts(stream, &facts);
	if (!status && !capturing)
		status = CUDA_ERROR_INVALID_VALUE;
	if (!status)
		*capturing = (CUstreamCaptureStatus)facts.status;
	return status;
}

CUresult
cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode mode)
{
	DRIVER_ENTER();
	return emu_capture_begin(stream, mode);
}

CUresult
cuStreamEndCapture(CUstream stream, CUgraph *graph)
{
	DRIVER_ENTER();
	if (!graph)
		return CUDA_ERROR_INVALID_VALUE;
	*graph = NULL;
	return emu_capture_end(stream, graph);
}

CUresult
cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
	EMU_ENTER(&emu_driver);
	if (!mode || (unsigned)*mode > CU_STREAM_CAPTURE_MODE_RELAXED)
		return CUDA_ERROR_INVALID_VALUE;
	*mode = emu_capture_swap_mode(*mode);
	return CUDA_SUCCESS;
}

/* ---- the capture of a stream, in the forms of three versions ------------ */

/* Reports no dependencies: nodes have no handles. */
CUresult
cuStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus *capturing,
    cuuint64_t *id, CUgraph *graph, const CUgraphNode **dependencies,
    const CUgraphEdgeData **edges, size_t *count)
{
	struct emu_capture_facts facts;
	int status;

	DRIVER_ENTER();
	status = emu_capture_facts(stream, &facts);
	if (!status && !capturing)
		status = CUDA_ERROR_INVALID_VALUE;
	if (status)
		return status;
	*capturing = (CUstreamCaptureStatus)facts.status;
	if (id)
		*id = facts.id;
	if (graph)
		*graph = facts.graph;
	if (dependencies)
		*dependencies = NULL;
	if (edges)
		*edges = NULL;
	if (count)
		*count = 0;
	return CUDA_SUCCESS;
}

CUresult
cuStreamGetCaptureInfo_v2(CUstream stream, CUstreamCaptureStatus *capturing,
    cuuint64_t *id, CUgraph *graph, const CUgraphNode **dependencies,
    size_t *count)
{
	return cuStreamGetCaptureInfo(stream, capturing, id, graph,
	    dependencies, NULL, count);
}

CUresult
cuStreamGetCaptureInfo_v1(CUstream stream, CUstreamCaptureStatus *capturing,
    cuuint64_t *id)
{
	return cuStreamGetCaptureInfo(stream, capturing, id, NULL, NULL, NULL,
	    NULL);
}
