/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/driver/regraph.c -- graphs made of graphs: clones, child graphs, and
 * executables that are updated. Launches nothing. What differs too much for an
 * update follows NVIDIA's manual, cudaGraphExecUpdate(): the number of nodes,
 * their types, their order; here all kernels are of one type, those of cuBLAS
 * and cuDNN, too. */
#include "emulator/driver/capture.h"
#include "emulator/driver/wait.h"

#include <stdlib.h>
#include <string.h>

/* A child in its graph: the node is a handle for it, and only for it. */
struct CUgraphNode_st {
	uint32_t mark;
	size_t   first, count;      /* of its steps */
	struct CUgraphNode_st *next;
};

void
emu_graph_drop_nodes(struct CUgraph_st *graph)
{
	while (graph->nodes) {
		struct CUgraphNode_st *node = graph->nodes;

		graph->nodes = node->next;
		free(node);
	}
}

/* Memory that a graph allocates is that graph's alone: CUDA refuses, too. */
static int
check_source(const struct CUgraph_st *graph)
{
	const int status = emu_graph_check(graph);

	if (status || !graph->body->memory_used)
		return status;
	emu_complain("graph %p allocates memory: it cannot be cloned or be a "
	    "child", (const void *)graph);
	return EMU_NOT_SUPPORTED;
}

int
emu_graph_create(struct CUgraph_st **graph_out)
{
	struct CUgraph_st *graph = emu_graph_new(0);
	struct emu_recording *body = graph->body;

	body->lanes = 1;
	body->lane[0].context = emu_context_current();
	body->lane[0].context_id = emu_context_id(body->lane[0].context);
	body->open = false;
	*graph_out = graph;
	return EMU_OK;
}

/* What was recorded never changes: both go by it. */
int
emu_graph_clone(const struct CUgraph_st *graph, struct CUgraph_st **clone_out)
{
	const int status = check_source(graph);
	struct CUgraph_st *clone;

	if (status)
		return status;
	clone = emu_graph_new(0);
	emu_body_release(clone->body);
	clone->body = emu_body_keep(graph->body);
	*clone_out = clone;
	return EMU_OK;
}

/* ---- Child graphs -------------------------------------------------------- */

static void
add_copy(struct emu_recording *body, const struct emu_step *step)
{
	struct emu_step copy = *step;

	copy.task = step->kind == EMU_STEP_TASK ? emu_task_copy(step->task)
	    : NULL;
	emu_body_add(body, &copy);
}

/* What a child holds goes with it. The steps behind it are not there yet. */
static void
splice_holds(struct emu_recording *body, const struct emu_recording *from,
    size_t first, size_t next, const struct emu_recording *child)
{
	for (size_t i = 0; i < from->holds_used; i++) {
		const struct emu_hold *hold = &from->holds[i];

		if (hold->at < (long)first)
			emu_body_hold(body, hold, hold->at);
		else if (hold->at >= (long)next)
			emu_body_hold(body, hold, hold->at - (long)next
			    + (long)body->steps_used);
	}
	for (size_t i = 0; i < child->holds_used; i++)
		emu_body_hold(body, &child->holds[i], (long)first);
}

/* As the first lane of a new body: steps [0, first) of `from`, the tasks of
 * `child` and the steps from `next` on. */
static struct emu_recording *
splice(const struct emu_recording *from, size_t first, size_t next,
    const struct emu_recording *child)
{
	struct CUgraph_st *graph = emu_graph_new(0);
	struct emu_recording *body = emu_body_keep(graph->body);

	emu_graph_discard(graph);
	body->open = false;
	body->lanes = 1;
	body->lane[0] = from->lane[0];
	for (size_t i = 0; i < first; i++)
		add_copy(body, &from->steps[i]);
	for (size_t i = 0; i < child->steps_used; i++) {
		struct emu_step step = child->steps[i];

		step.lane = 0;
		if (step.kind == EMU_STEP_TASK)
			add_copy(body, &step);
	}
	splice_holds(body, from, first, next, child);
	for (size_t i = next; i < from->steps_used; i++)
		add_copy(body, &from->steps[i]);
	return body;
}

/* The children of a graph run one after the other. That is one of the orders
 * that its edges allow, whatever they are. */
int
emu_graph_add_child(struct CUgraph_st *graph, struct CUgraph_st *child,
    struct CUgraphNode_st **node_out)
{
	struct CUgraphNode_st *node;
	struct emu_recording *body;
	int status = emu_graph_check(graph);

	if (!status)
		status = check_source(child);
	if (status)
		return status;
	body = graph->body;
	for (int i = 0; i < child->body->lanes; i++)
		if (body->lanes != 1 || child->body->lane[i].context
		    != body->lane[0].context)
			return EMU_NOT_SUPPORTED;
	node = calloc(1, sizeof *node);
	if (!node)
		emu_out_of_host_memory();
	node->mark = EMU_MARK_NODE;
	node->first = body->steps_used;
	node->count = child->body->tasks;
	node->next = graph->nodes;
	graph->nodes = node;
	graph->body = splice(body, body->steps_used, body->steps_used,
	    child->body);
	emu_body_release(body);
	*node_out = node;
	return EMU_OK;
}

/* ---- Updates ------------------------------------------------------------- */

static enum emu_likeness
compare(const struct emu_recording *one, const struct emu_recording *other)
{
	if (one->lanes != other->lanes || one->steps_used != other->steps_used)
		return EMU_OTHER_TOPOLOGY;
	for (size_t i = 0; i < one->steps_used; i++) {
		const struct emu_step *a = &one->steps[i],
		    *b = &other->steps[i];

		if (a->kind != b->kind || a->lane != b->lane
		    || a->point != b->point)
			return EMU_OTHER_TOPOLOGY;
		if (a->kind == EMU_STEP_TASK
		    && !emu_task_is_like(a->task, b->task))
			return EMU_OTHER_NODES;
	}
	for (int i = 0; i < one->lanes; i++)
		if (one->lane[i].context != other->lane[i].context)
			return EMU_OTHER_NODES;
	return EMU_ALIKE;
}

int
emu_graph_exec_update(struct CUgraphExec_st *exec, struct CUgraph_st *graph,
    enum emu_likeness *likeness_out)
{
	int status = emu_graph_exec_check(exec);

	if (!status)
		status = emu_graph_check(graph);
	if (status)
		return status;
	*likeness_out = compare(emu_graph_exec_body(exec), graph->body);
	if (*likeness_out == EMU_ALIKE)
		emu_graph_exec_replace(exec, emu_body_keep(graph->body));
	return EMU_OK;
}

int
emu_graph_exec_set_child(struct CUgraphExec_st *exec,
    const struct CUgraphNode_st *node, struct CUgraph_st *child)
{
	struct emu_recording *body, *made;
	int status = emu_graph_exec_check(exec);

	if (!status)
		status = check_source(child);
	if (status)
		return status;
	body = emu_graph_exec_body(exec);
	if (!node || node->mark != EMU_MARK_NODE
	    || node->first + node->count > body->steps_used)
		return EMU_INVALID_VALUE;
	made = splice(body, node->first, node->first + node->count,
	    child->body);
	if (compare(body, made) != EMU_ALIKE) {
		emu_body_release(made);
		return EMU_INVALID_VALUE;
	}
	emu_graph_exec_replace(exec, made);
	return EMU_OK;
}
