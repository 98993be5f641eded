/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/runtime/cudart_graph.c -- runtime calls: stream capture and captured
 * graphs. Contracts are NVIDIA's. */
#include "emulator/runtime/cudart.h"

cudaError_t
cudaStreamIsCapturing(cudaStream_t stream,
    enum cudaStreamCaptureStatus *capturing)
{
	struct emu_capture_facts facts;
	int status;

	RUNTIME_ENTER();
	status = emu_capture_facts(stream, &facts);
	if (!status && !capturing)
		status = cudaErrorInvalidValue;
	if (!status)
		*capturing = (enum cudaStreamCaptureStatus)facts.status;
	return emu_runtime_keep(status);
}

cudaError_t
cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
	RUNTIME_ENTER();
	return emu_runtime_keep(emu_capture_begin(stream, (unsigned)mode));
}

cudaError_t
cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
	RUNTIME_ENTER();
	if (!graph)
		return emu_runtime_keep(cudaErrorInvalidValue);
	*graph = NULL;
	return emu_runtime_keep(emu_capture_end(stream, graph));
}

cudaError_t
cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode)
{
	RUNTIME_COUNT();
	if (!mode || (unsigned)*mode > cudaStreamCaptureModeRelaxed)
		return emu_runtime_keep(cudaErrorInvalidValue);
	*mode = (enum cudaStreamCaptureMode)emu_capture_swap_mode(
	    (unsigned)*mode);
	return cudaSuccess;
}

/* Reports no dependencies: nodes have no handles. */
cudaError_t
cudaStreamGetCaptureInfo(cudaStream_t stream,
    enum cudaStreamCaptureStatus *capturing, unsigned long long *id,
    cudaGraph_t *graph, const cudaGraphNode_t **dependencies,
    const cudaGraphEdgeData **edges, size_t *count)
{
	struct emu_capture_facts facts;
	int status;

	RUNTIME_ENTER();
	status = emu_capture_facts(stream, &facts);
	if (!status && !capturing)
		status = cudaErrorInvalidValue;
	if (status)
		return emu_runtime_keep(status);
	*capturing = (enum cudaStreamCaptureStatus)facts.status;
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
	return cudaSuccess;
}

/* ---- graphs ------------------------------------------------------------ */

/* Only flags that change nothing here. */
static int
instantiate(cudaGraphExec_t *exec, cudaGraph_t graph,
    unsigned long long flags)
{
	if (!exec)
		return cudaErrorInvalidValue;
	if (flags & ~(unsigned long long)(
	    cudaGraphInstantiateFlagAutoFreeOnLaunch |
	    cudaGraphInstantiateFlagUpload |
	    cudaGraphInstantiateFlagUseNodePriority))
		return cudaErrorNotSupported;
	return emu_graph_instantiate(graph, exec);
}

cudaError_t
cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph,
    unsigned long long flags)
{
	RUNTIME_ENTER();
	return emu_runtime_keep(instantiate(exec, graph, flags));
}

cudaError_t
cudaGraphInstantiateWithFlags(cudaGraphExec_t *exec, cudaGraph_t graph,
    unsigned long long flags)
{
	RUNTIME_ENTER();
	return emu_runtime_keep(instantiate(exec, graph, flags));
}

cudaError_t
cudaGraphInstantiateWithParams(cudaGraphExec_t *exec, cudaGraph_t graph,
    cudaGraphInstantiateParams *params)
{
	int status;

	RUNTIME_ENTER();
	if (!params)
		return emu_runtime_keep(cudaErrorInvalidValue);
	status = instantiate(exec, graph, params->flags);
	params->errNode_out = NULL;
	params->result_out = status ? cudaGraphInstantiateError :
	    cudaGraphInstantiateSuccess;
	return emu_runtime_keep(status);
}

cudaError_t
cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream)
{
	RUNTIME_ENTER();
	return emu_runtime_keep(emu_graph_launch(exec, stream));
}

/* Nothing to upload: everything is in host memory. */
cudaError_t
cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream)
{
	struct CUstream_st *found;
	int status;

	RUNTIME_ENTER();
	status = emu_graph_exec_check(exec);
	return emu_runtime_keep(status ? status :
	    emu_stream_find_work(stream, &found));
}

cudaError_t
cudaGraphDestroy(cudaGraph_t graph)
{
	RUNTIME_ENTER();
	return emu_runtime_keep(emu_graph_destroy(graph));
}

cudaError_t
cudaGraphExecDestroy(cudaGraphExec_t exec)
{
	RUNTIME_ENTER();
	return emu_runtime_keep(emu_graph_exec_destroy(exec));
}

/* Which node it is that differs is not said. */
cudaError_t
cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
    cudaGraphExecUpdateResultInfo *result)
{
	static const enum cudaGraphExecUpdateResult results[] = {
		[EMU_ALIKE] = cudaGraphExecUpdateSuccess,
		[EMU_OTHER_TOPOLOGY] =
		    cudaGraphExecUpdateErrorTopologyChanged,
		[EMU_OTHER_NODES] = cudaGraphExecUpdateErrorNodeTypeChanged
	};
	enum emu_likeness likeness;
	int status;

	RUNTIME_ENTER();
	status = emu_graph_exec_update(exec, graph, &likeness);
	if (status)
		return emu_runtime_keep(status);
	if (result)
		*result = (cudaGraphExecUpdateResultInfo){
			.result = results[likeness]
		};
	return emu_runtime_keep(likeness ?
	    (int)cudaErrorGraphExecUpdateFailure : 0);
}

cudaError_t
cudaGraphCreate(cudaGraph_t *graph, unsigned flags)
{
	RUNTIME_ENTER();
	return emu_runtime_keep(graph && !flags ? emu_graph_create(graph) :
	    (int)cudaErrorInvalidValue);
}

cudaError_t
cudaGraphClone(cudaGraph_t *clone, cudaGraph_t graph)
{
	RUNTIME_ENTER();
	return emu_runtime_keep(clone ? emu_graph_clone(graph, clone) :
	    (int)cudaErrorInvalidValue);
}

/* All children are in one order, so that edges are of no matter. */
cudaError_t
cudaGraphAddChildGraphNode(cudaGraphNode_t *node, cudaGraph_t graph,
    const cudaGraphNode_t *dependencies, size_t count, cudaGraph_t child)
{
	RUNTIME_ENTER();
	return emu_runtime_keep(node && (!count || dependencies) ?
	    emu_graph_add_child(graph, child, node) :
	    (int)cudaErrorInvalidValue);
}

cudaError_t
cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t exec,
    cudaGraphNode_t node, cudaGraph_t child)
{
	RUNTIME_ENTER();
	return emu_runtime_keep(emu_graph_exec_set_child(exec, node, child));
}

/* Only their number: nodes have no handles. */
cudaError_t
cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count)
{
	RUNTIME_ENTER();
	if (nodes)
		return emu_runtime_keep(cudaErrorNotSupported);
	return emu_runtime_keep(count ? emu_graph_nodes(graph, count) :
	    (int)cudaErrorInvalidValue);
}
