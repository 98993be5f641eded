/* SPDX-License-Identifier: Apache-2.0 */
/* shim/graph/shadow_engine.c -- whose engines configurations, engines and plans
 * of a graph have, ours or cuDNN's own (shim/graph/shadow.h). */
#include "shim/graph/shadow_note.h"

#include "base/lock.h"

static bool
has_injected(const struct ac_shadow *graph, int64_t index)
{
	const unsigned count = graph && graph->graph ? atomic_load_explicit(
	    &graph->graph->injected, memory_order_acquire) : 0;

	for (unsigned i = 0; i < count && i < AC_SHADOW_INJECTED; i++)
		if (atomic_load_explicit(&graph->graph->index[i],
		    memory_order_relaxed) == index)
			return true;
	return false;
}

void
ac_shadow_answer(struct ac_shadow *graph, cudnnBackendDescriptor_t config)
{
	ac_shadow_assign(graph, -1, config);
}

void
ac_shadow_inject(struct ac_shadow *graph, int64_t index,
    cudnnBackendDescriptor_t config)
{
	static struct ac_lock injecting;

	ac_lock_take(&injecting);
	if (!has_injected(graph, index)) {
		const unsigned at = graph->graph->injected;

		if (at < AC_SHADOW_INJECTED) {
			atomic_store_explicit(&graph->graph->index[at], index,
			    memory_order_relaxed);
			atomic_store_explicit(&graph->graph->injected, at + 1,
			    memory_order_release);
		}
	}
	ac_lock_give(&injecting);
	ac_shadow_assign(graph, index, config);
}

void
ac_shadow_count_for(struct ac_shadow *graph, struct ac_site_record *record,
    enum ac_reason reason)
{
	atomic_store_explicit(&graph->graph->reason, (uint32_t)reason,
	    memory_order_relaxed);
	atomic_store_explicit(&graph->graph->record, record,
	    memory_order_release);
}

bool
ac_shadow_plan(cudnnBackendDescriptor_t plan,
    struct ac_site_record **record_out, enum ac_reason *reason_out)
{
	int64_t index = 0;
	struct ac_shadow *graph = ac_shadow_graph_of(plan,
	    CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, &index);
	struct ac_site_record *record = graph && graph->graph
	    ? atomic_load_explicit(&graph->graph->record, memory_order_acquire)
	    : NULL;

	if (record) {
		const enum ac_reason reason = (enum ac_reason)
		    atomic_load_explicit(&graph->graph->reason,
		    memory_order_relaxed);

		*record_out = record;
		*reason_out = has_injected(graph, index) ? AC_REASON_NONE
		    : reason != AC_REASON_NONE ? reason : AC_REASON_DECLINED;
	}
	ac_shadow_let_go(graph);
	return record != NULL;
}

bool
ac_shadow_is_injected(cudnnBackendDescriptor_t engine)
{
	int64_t index = 0;
	struct ac_shadow *graph = ac_shadow_graph_of(engine,
	    CUDNN_BACKEND_ENGINE_DESCRIPTOR, &index);
	bool is_ours;

	is_ours = has_injected(graph, index);
	ac_shadow_let_go(graph);
	return is_ours;
}
