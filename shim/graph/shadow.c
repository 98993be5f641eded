/* SPDX-License-Identifier: Apache-2.0 */
/* shim/graph/shadow.c -- shadows by the address of their descriptor
 * (shim/graph/shadow.h). */
#include "shim/graph/shadow_note.h"

#include "base/lock.h"

#include <string.h>

enum { SHARDS = 64, ROWS = 64 }; /* powers of two */

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
	case CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR:
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
		if (type == CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR)
			shadow->number[AC_PROPERTIES_ORDINAL] = -1;
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

static bool
has_engine(const struct ac_shadow *shadow)
{
	return shadow->type == CUDNN_BACKEND_ENGINE_DESCRIPTOR
	    || shadow->type == CUDNN_BACKEND_ENGINECFG_DESCRIPTOR
	    || shadow->type == CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR;
}

/* Give `to`, an engine, a configuration or a plan, the engine that `from`,
 * another of them, has now: perhaps none that we know. */
static void
copy_engine(cudnnBackendDescriptor_t from, cudnnBackendDescriptor_t to)
{
	struct place place = place_of(from);
	struct ac_shadow *shadow, *graph = NULL;
	int64_t index = 0;

	ac_lock_take(place.lock);
	shadow = find(place, from);
	if (shadow) {
		graph = ac_shadow_hold(shadow->child[AC_CHILD_GRAPH]);
		index = shadow->number[AC_ENGINE_INDEX];
	}
	ac_lock_give(place.lock);
	place = place_of(to);
	ac_lock_take(place.lock);
	shadow = find(place, to);
	if (shadow && has_engine(shadow)) {
		struct ac_shadow *replaced = shadow->child[AC_CHILD_GRAPH];

		shadow->child[AC_CHILD_GRAPH] = graph;
		shadow->number[AC_ENGINE_INDEX] = index;
		graph = replaced;
	}
	ac_lock_give(place.lock);
	ac_shadow_let_go(graph);
}

void
ac_shadow_read(cudnnBackendDescriptor_t config, cudnnBackendDescriptor_t engine)
{
	copy_engine(config, engine);
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
	if ((name == CUDNN_ATTR_ENGINECFG_ENGINE
	    || name == CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG) && values
	    && count == 1) {
		copy_engine(*children, descriptor);
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
	else if (shadow && shadow->type != CUDNN_BACKEND_ENGINECFG_DESCRIPTOR
	    && shadow->type != CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR)
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

bool
ac_shadow_ask(cudnnBackendDescriptor_t heuristics,
    struct ac_shadow_question *question)
{
	struct ac_shadow *shadow = find_frozen(heuristics), *graph = NULL;
	const struct ac_shadow *properties;

	if (shadow && shadow->type == CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR
	    && !shadow->is_strange)
		graph = shadow->child[AC_CHILD_GRAPH];
	if (!graph || !graph->graph || !graph->graph->is_described) {
		ac_shadow_let_go(shadow);
		return false;
	}
	memset(question, 0, sizeof *question);
	question->graph = ac_shadow_hold(graph);
	question->conv = &graph->graph->conv;
	question->handle = (cudnnHandle_t)(intptr_t)
	    graph->number[AC_GRAPH_HANDLE];
	question->mode = (cudnnBackendHeurMode_t)
	    shadow->number[AC_HEURISTICS_MODE];
	question->sm_count = shadow->number[AC_HEURISTICS_SM_COUNT];
	question->ordinal = -1;
	properties = shadow->child[AC_CHILD_PROPERTIES];
	if (properties) {
		question->has_properties = true;
		question->properties_handle = (cudnnHandle_t)(intptr_t)
		    properties->number[AC_PROPERTIES_HANDLE];
		question->ordinal = properties->number[AC_PROPERTIES_ORDINAL];
		question->sm = (int)properties->number[AC_PROPERTIES_SM];
		question->properties_key =
		    (uint64_t)properties->number[AC_PROPERTIES_KEY];
	}
	ac_shadow_let_go(shadow);
	return true;
}

void
ac_shadow_assign(struct ac_shadow *graph, int64_t index,
    cudnnBackendDescriptor_t config)
{
	const struct place place = place_of(config);
	struct ac_shadow *shadow, *replaced = NULL;

	ac_lock_take(place.lock);
	shadow = find(place, config);
	if (shadow && shadow->type == CUDNN_BACKEND_ENGINECFG_DESCRIPTOR
	    && !shadow->is_frozen) {
		replaced = shadow->child[AC_CHILD_GRAPH];
		shadow->child[AC_CHILD_GRAPH] = ac_shadow_hold(graph);
		shadow->number[AC_ENGINE_INDEX] = index;
		shadow->is_frozen = true;
	}
	ac_lock_give(place.lock);
	ac_shadow_let_go(replaced);
}

struct ac_shadow *
ac_shadow_graph_of(cudnnBackendDescriptor_t descriptor,
    cudnnBackendDescriptorType_t type, int64_t *index_out)
{
	const struct place place = place_of(descriptor);
	struct ac_shadow *shadow, *graph = NULL;

	if (is_empty(place))
		return NULL;
	ac_lock_take(place.lock);
	shadow = find(place, descriptor);
	if (shadow && shadow->type == (uint8_t)type) {
		graph = ac_shadow_hold(shadow->child[AC_CHILD_GRAPH]);
		*index_out = shadow->number[AC_ENGINE_INDEX];
	}
	ac_lock_give(place.lock);
	return graph;
}
