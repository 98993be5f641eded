/* SPDX-License-Identifier: Apache-2.0 */
/* shim/graph/shadow.c -- shadows by the address of their descriptor
 * (shim/graph/shadow.h). */
#include "shim/graph/shadow_note.h"

#include "base/lock.h"

#include <string.h>

enum { SHARDS = 64, ROWS = 1024 }; /* powers of two */

static struct {
	struct ac_lock lock;
	_Atomic(struct ac_shadow *) row[ROWS]; /* changed under the lock */
} shards[SHARDS];

/* ---- By address ---------------------------------------------------------- */

struct place {
	struct ac_lock *lock;
	_Atomic(struct ac_shadow *) *row;
};

static struct place
place_of(cudnnBackendDescriptor_t descriptor)
{
	const uint64_t hash = (uint64_t)(uintptr_t)descriptor
	    * UINT64_C(0x9E3779B97F4A7C15);
	const unsigned shard = (unsigned)(hash >> 58) & (SHARDS - 1);

	return (struct place){ &shards[shard].lock,
		&shards[shard].row[hash >> 48 & (ROWS - 1)] };
}

/* What is of no type that is noted, a variant pack for one, is seldom in a row
 * with something that is: then there is nothing to do, and no lock to take. */
static bool
is_empty(struct place place)
{
	return !atomic_load_explicit(place.row, memory_order_acquire);
}

/* Under the place's lock. */
static struct ac_shadow *
find(struct place place, cudnnBackendDescriptor_t descriptor)
{
	struct ac_shadow *shadow = *place.row;

	while (shadow && shadow->descriptor != descriptor)
		shadow = shadow->next;
	return shadow;
}

/* Out of the row, still held for it; NULL if it is not there. */
static struct ac_shadow *
unlink_from(struct place place, cudnnBackendDescriptor_t descriptor)
{
	struct ac_shadow *shadow = *place.row, *before = NULL;

	for (; shadow && shadow->descriptor != descriptor;
	    shadow = shadow->next)
		before = shadow;
	if (shadow && before)
		before->next = shadow->next;
	else if (shadow)
		*place.row = shadow->next;
	return shadow;
}

/* The frozen shadow of `descriptor`, held; NULL. */
static struct ac_shadow *
find_frozen(cudnnBackendDescriptor_t descriptor)
{
	const struct place place = place_of(descriptor);
	struct ac_shadow *shadow;

	if (is_empty(place))
		return NULL;
	ac_lock_take(place.lock);
	shadow = find(place, descriptor);
	if (shadow && !shadow->is_frozen)
		shadow = NULL;
	ac_shadow_hold(shadow);
	ac_lock_give(place.lock);
	return shadow;
}

/* ---- What the program does ----------------------------------------------- */

static bool
is_noted(cudnnBackendDescriptorType_t type)
{
	switch (type) {
	case CUDNN_BACKEND_TENSOR_DESCRIPTOR:
	case CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR:
	case CUDNN_BACKEND_POINTWISE_DESCRIPTOR:
	case CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR:
	case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR:
	case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR:
	case CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR:
	case CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR:
	case CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR:
	case CUDNN_BACKEND_ENGINE_DESCRIPTOR:
	case CUDNN_BACKEND_ENGINECFG_DESCRIPTOR:
	case CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR:
		return true;
	default:
		return false;
	}
}

/* Also when it is of no type that is noted: the address may have been one's
 * that was destroyed behind our back. */
void
ac_shadow_create(cudnnBackendDescriptor_t descriptor,
    cudnnBackendDescriptorType_t type)
{
	const struct place place = place_of(descriptor);
	struct ac_shadow *shadow = is_noted(type) ? ac_shadow_take() : NULL,
			 *stale;

	if (shadow) {
		shadow->descriptor = descriptor;
		shadow->type = (uint8_t)type;
		atomic_store_explicit(&shadow->holders, 1,
		    memory_order_relaxed);
	}
	if (!shadow && is_empty(place))
		return;
	ac_lock_take(place.lock);
	stale = unlink_from(place, descriptor);
	if (shadow) {
		shadow->next = *place.row;
		*place.row = shadow;
	}
	ac_lock_give(place.lock);
	ac_shadow_let_go(stale);
}

void
ac_shadow_destroy(cudnnBackendDescriptor_t descriptor)
{
	const struct place place = place_of(descriptor);
	struct ac_shadow *shadow;

	if (is_empty(place))
		return;
	ac_lock_take(place.lock);
	shadow = unlink_from(place, descriptor);
	ac_lock_give(place.lock);
	ac_shadow_let_go(shadow);
}

/* Of these it only matters of which graph they are. */
static bool
is_follower(const struct ac_shadow *shadow)
{
	return shadow->type == CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR
	    || shadow->type == CUDNN_BACKEND_ENGINE_DESCRIPTOR
	    || shadow->type == CUDNN_BACKEND_ENGINECFG_DESCRIPTOR
	    || shadow->type == CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR;
}

static bool
makes_follow(cudnnBackendAttributeName_t name)
{
	return name == CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH
	    || name == CUDNN_ATTR_ENGINE_OPERATION_GRAPH
	    || name == CUDNN_ATTR_ENGINECFG_ENGINE
	    || name == CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG;
}

/* The graph that `descriptor` is, or is of, held; NULL. */
static struct ac_shadow *
graph_of(cudnnBackendDescriptor_t descriptor)
{
	const struct place place = place_of(descriptor);
	struct ac_shadow *shadow, *graph = NULL;

	ac_lock_take(place.lock);
	shadow = find(place, descriptor);
	if (shadow && shadow->graph)
		graph = shadow;
	else if (shadow && is_follower(shadow))
		graph = shadow->child[AC_CHILD_GRAPH];
	ac_shadow_hold(graph);
	ac_lock_give(place.lock);
	return graph;
}

void
ac_shadow_read(cudnnBackendDescriptor_t from, cudnnBackendDescriptor_t to)
{
	const struct place place = place_of(to);
	struct ac_shadow *graph = graph_of(from), *shadow;

	ac_lock_take(place.lock);
	shadow = find(place, to);
	if (shadow && is_follower(shadow)) {
		struct ac_shadow *replaced = shadow->child[AC_CHILD_GRAPH];

		shadow->child[AC_CHILD_GRAPH] = graph;
		graph = replaced;
	}
	ac_lock_give(place.lock);
	ac_shadow_let_go(graph);
}

void
ac_shadow_set(cudnnBackendDescriptor_t descriptor,
    cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
    int64_t count, const void *values)
{
	const struct place place = place_of(descriptor);
	cudnnBackendDescriptor_t const *children = values;
	struct ac_shadow *child[AC_SHADOW_CHILDREN] = { NULL };
	struct ac_shadow *shadow, *stale = NULL;

	if (is_empty(place))
		return;
	if (makes_follow(name) && values && count == 1) {
		ac_shadow_read(*children, descriptor);
		return;
	}
	if (type == CUDNN_TYPE_BACKEND_DESCRIPTOR && values)
		for (int64_t i = 0; i < count && i < AC_SHADOW_CHILDREN; i++)
			child[i] = find_frozen(children[i]);
	ac_lock_take(place.lock);
	shadow = find(place, descriptor);
	/* cuDNN changes nothing that is finalized, or we know it no more. */
	if (shadow && shadow->is_frozen)
		stale = unlink_from(place, descriptor);
	else if (shadow)
		ac_shadow_note(shadow, name, type, count, values, child);
	ac_lock_give(place.lock);
	ac_shadow_let_go(stale);
	for (unsigned i = 0; i < AC_SHADOW_CHILDREN; i++)
		ac_shadow_let_go(child[i]);
}

void
ac_shadow_finalize(cudnnBackendDescriptor_t descriptor)
{
	const struct place place = place_of(descriptor);
	struct ac_shadow *shadow;

	if (is_empty(place))
		return;
	ac_lock_take(place.lock);
	shadow = find(place, descriptor);
	if (shadow && !shadow->is_frozen) {
		if (shadow->type == CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR
		    && (shadow->graph = ac_shadow_take_graph()))
			shadow->graph->is_described = ac_shadow_describe(shadow,
			    &shadow->graph->conv);
		shadow->is_frozen = true;
	}
	ac_lock_give(place.lock);
}

/* ---- What follows from it ------------------------------------------------ */

static cudnnHandle_t
handle_of(const struct ac_shadow *plan)
{
	return (cudnnHandle_t)(intptr_t)plan->number[AC_PLAN_HANDLE];
}

static bool
is_stored(const struct ac_shadow *shadow)
{
	return shadow && shadow->type == CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR
	    && shadow->numbers >> AC_PLAN_STORED & 1;
}

/* A plan that was given JSON and a configuration is neither's. */
bool
ac_shadow_plan(cudnnBackendDescriptor_t plan, struct ac_conv *conv_out,
    cudnnHandle_t *handle_out)
{
	struct ac_shadow *shadow = find_frozen(plan);
	const struct ac_shadow_graph *graph = NULL;
	bool is_described;

	if (shadow && shadow->type == CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR
	    && shadow->child[AC_CHILD_GRAPH] && !is_stored(shadow))
		graph = shadow->child[AC_CHILD_GRAPH]->graph;
	is_described = graph && graph->is_described;
	if (is_described) {
		*conv_out = graph->conv;
		*handle_out = handle_of(shadow);
	}
	ac_shadow_let_go(shadow);
	return is_described;
}

bool
ac_shadow_is_stored(cudnnBackendDescriptor_t plan, cudnnHandle_t *handle_out)
{
	struct ac_shadow *shadow = find_frozen(plan);
	const bool is_it = is_stored(shadow) && !shadow->child[AC_CHILD_GRAPH];

	if (is_it)
		*handle_out = handle_of(shadow);
	ac_shadow_let_go(shadow);
	return is_it;
}
