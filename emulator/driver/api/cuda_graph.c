/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/driver/api/cuda_graph.c -- driver calls: captured graphs. Contracts
 * are NVIDIA's. */
#include "emulator/driver/api/cuda.h"
#include "emulator/driver/capture.h"

/* Only flags that change nothing here. */
static CUresult
instantiate(CUgraphExec *exec, CUgraph graph, unsigned long long flags)
{
	if (!exec)
		return CUDA_ERROR_INVALID_VALUE;
	if (flags & ~(unsigned long long)(
	    CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH |
	    CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD |
	    CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY))
		return CUDA_ERROR_NOT_SUPPORTED;
	return emu_graph_instantiate(graph, exec);
}

/* Also cuGraphInstantiate since CUDA 12. */
CUresult
cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph,
    unsigned long long flags)
{
	DRIVER_ENTER();
	return instantiate(exec, graph, flags);
}

CUresult
cuGraphInstantiateWithParams(CUgraphExec *exec, CUgraph graph,
    CUDA_GRAPH_INSTANTIATE_PARAMS *params)
{
	CUresult status;

	DRIVER_ENTER();
	if (!params)
		return CUDA_ERROR_INVALID_VALUE;
	status = instantiate(exec, graph, params->flags);
	params->hErrNode_out = NULL;
	params->result_out = status ? CUDA_GRAPH_INSTANTIATE_ERROR :
	    CUDA_GRAPH_INSTANTIATE_SUCCESS;
	return status;
}

CUresult
cuGraphInstantiate_v2(CUgraphExec *exec, CUgraph graph, CUgraphNode *node,
    char *text, size_t bytes)
{
	DRIVER_ENTER();
	if (node)
		*node = NULL;
	if (text && bytes)
		*text = '\0';
	return instantiate(exec, graph, 0);
}

CUresult
cuGraphInstantiate_v1(CUgraphExec *exec, CUgraph graph, CUgraphNode *node,
    char *text, size_t bytes)
{
	return cuGraphInstantiate_v2(exec, graph, node, text, bytes);
}

CUresult
cuGraphLaunch(CUgraphExec exec, CUstream stream)
{
	DRIVER_ENTER();
	return emu_graph_launch(exec, stream);
}

/* Nothing to upload: everything is in host memory. */
CUresult
cuGraphUpload(CUgraphExec exec, CUstream stream)
{
	struct CUstream_st *found;
	int status;

	DRIVER_ENTER();
	status = emu_graph_exec_check(exec);
	return status ? status : emu_stream_find_work(stream, &found);
}

CUresult
cuGraphDestroy(CUgraph graph)
{
	DRIVER_ENTER();
	return emu_graph_destroy(graph);
}

CUresult
cuGraphExecDestroy(CUgraphExec exec)
{
	DRIVER_ENTER();
	return emu_graph_exec_destroy(exec);
}

/* Which node it is that differs is not said. */
CUresult
cuGraphExecUpdate(CUgraphExec exec, CUgraph graph,
    CUgraphExecUpdateResultInfo *result)
{
	static const CUgraphExecUpdateResult results[] = {
		[EMU_ALIKE] = CU_GRAPH_EXEC_UPDATE_SUCCESS,
		[EMU_OTHER_TOPOLOGY] =
		    CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED,
		[EMU_OTHER_NODES] =
		    CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED
	};
	enum emu_likeness likeness;
	int status;

	DRIVER_ENTER();
	status = emu_graph_exec_update(exec, graph, &likeness);
	if (status)
		return status;
	if (result)
		*result = (CUgraphExecUpdateResultInfo){
			.result = results[likeness]
		};
	return likeness ? CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE : CUDA_SUCCESS;
}

/* ---- User objects -------------------------------------------------------- */

CUresult
cuUserObjectCreate(CUuserObject *object, void *data, CUhostFn destroy,
    unsigned count, unsigned flags)
{
	DRIVER_ENTER();
	return object && flags == CU_USER_OBJECT_NO_DESTRUCTOR_SYNC ?
	    (CUresult)emu_object_create(destroy, data, count, object) :
	    CUDA_ERROR_INVALID_VALUE;
}

CUresult
cuUserObjectRelease(CUuserObject object, unsigned count)
{
	DRIVER_ENTER();
	return emu_object_release(object, count);
}

CUresult
cuGraphRetainUserObject(CUgraph graph, CUuserObject object, unsigned count,
    unsigned flags)
{
	DRIVER_ENTER();
	if (flags & ~(unsigned)CU_GRAPH_USER_OBJECT_MOVE)
		return CUDA_ERROR_INVALID_VALUE;
	return emu_graph_retain(graph, object, count, flags != 0);
}

/* ---- Graphs made of graphs ----------------------------------------------- */

CUresult
cuGraphCreate(CUgraph *graph, unsigned flags)
{
	DRIVER_ENTER();
	return graph && !flags ? (CUresult)emu_graph_create(graph) :
	    CUDA_ERROR_INVALID_VALUE;
}

CUresult
cuGraphClone(CUgraph *clone, CUgraph graph)
{
	DRIVER_ENTER();
	return clone ? (CUresult)emu_graph_clone(graph, clone) :
	    CUDA_ERROR_INVALID_VALUE;
}

/* All children are in one order, so that edges are of no matter. */
CUresult
cuGraphAddChildGraphNode(CUgraphNode *node, CUgraph graph,
    const CUgraphNode *dependencies, size_t count, CUgraph child)
{
	DRIVER_ENTER();
	if (!node || (count && !dependencies))
		return CUDA_ERROR_INVALID_VALUE;
	return emu_graph_add_child(graph, child, node);
}

CUresult
cuGraphExecChildGraphNodeSetParams(CUgraphExec exec, CUgraphNode node,
    CUgraph child)
{
	DRIVER_ENTER();
	return emu_graph_exec_set_child(exec, node, child);
}

/* Only their number: nodes have no handles. */
CUresult
cuGraphGetNodes(CUgraph graph, CUgraphNode *nodes, size_t *count)
{
	DRIVER_ENTER();
	if (nodes)
		return CUDA_ERROR_NOT_SUPPORTED;
	return count ? (CUresult)emu_graph_nodes(graph, count) :
	    CUDA_ERROR_INVALID_VALUE;
}
