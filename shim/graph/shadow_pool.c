/* SPDX-License-Identifier: Apache-2.0 */
/* shim/graph/shadow_pool.c -- where shadows come from and go to: with the last
 * that holds them (shim/graph/shadow_note.h). Any thread. */
#include "shim/graph/shadow_note.h"

#include "base/lock.h"
#include "base/mapped.h"

#include <string.h>

/* Free ones are used again, and never given back. */
static struct {
	struct ac_lock lock;
	struct ac_shadow *shadow;
	struct ac_shadow_graph *graph;
	unsigned used;
} pool;

struct ac_shadow *
ac_shadow_take(void)
{
	struct ac_shadow *shadow;

	ac_lock_take(&pool.lock);
	shadow = pool.shadow;
	if (shadow)
		pool.shadow = shadow->next;
	else
		shadow = ac_mapped_take(sizeof *shadow);
	if (shadow)
		pool.used++;
	ac_lock_give(&pool.lock);
	if (shadow)
		memset(shadow, 0, sizeof *shadow);
	return shadow;
}

struct ac_shadow_graph *
ac_shadow_take_graph(void)
{
	struct ac_shadow_graph *graph;

	ac_lock_take(&pool.lock);
	graph = pool.graph;
	if (graph)
		pool.graph = graph->next;
	else
		graph = ac_mapped_take(sizeof *graph);
	ac_lock_give(&pool.lock);
	if (graph)
		memset(graph, 0, sizeof *graph);
	return graph;
}

static void
give_back(struct ac_shadow *shadow)
{
	ac_lock_take(&pool.lock);
	if (shadow->graph) {
		shadow->graph->next = pool.graph;
		pool.graph = shadow->graph;
	}
	shadow->next = pool.shadow;
	pool.shadow = shadow;
	pool.used--;
	ac_lock_give(&pool.lock);
}

void
ac_shadow_hold(struct ac_shadow *shadow)
{
	if (shadow)
		atomic_fetch_add_explicit(&shadow->holders, 1,
		    memory_order_relaxed);
}

/* As deep as descriptors are in one another: heuristics, graph, operation,
 * tensor. Under no lock. */
void
ac_shadow_let_go(struct ac_shadow *shadow)
{
	if (!shadow || atomic_fetch_sub_explicit(&shadow->holders, 1,
	    memory_order_acq_rel) != 1)
		return;
	for (unsigned i = 0; i < AC_SHADOW_CHILDREN; i++)
		ac_shadow_let_go(shadow->child[i]);
	give_back(shadow);
}

unsigned
ac_shadow_count(void)
{
	unsigned used;

	ac_lock_take(&pool.lock);
	used = pool.used;
	ac_lock_give(&pool.lock);
	return used;
}
