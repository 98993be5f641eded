/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/driver/graph.c -- the records of captures, the graphs that programs
 * hold, and the user objects that graphs hold. A body lives until its graph and
 * the last executable made of it are gone. Launches nothing. */
#include "emulator/driver/capture.h"
#include "emulator/driver/memory.h"
#include "emulator/driver/wait.h"

#include <limits.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct CUgraph_st *all, *unused;
static struct CUuserObject_st *objects;

/* Room for one more element of `size` bytes; the array, moved or not. */
static void *
grow(void *array, size_t used, size_t *room, size_t size)
{
	void *larger;

	if (used < *room)
		return array;
	*room = *room ? 2 * *room : 16;
	larger = realloc(array, *room * size);
	if (!larger)
		emu_out_of_host_memory();
	return larger;
}

void
emu_body_add(struct emu_recording *body, const struct emu_step *step)
{
	body->steps = grow(body->steps, body->steps_used, &body->steps_room,
	    sizeof *body->steps);
	body->steps[body->steps_used++] = *step;
	body->tasks += step->kind == EMU_STEP_TASK;
}

size_t
emu_body_add_point(struct emu_recording *body, const uint32_t *seen)
{
	struct emu_point *point;

	body->points = grow(body->points, body->points_used,
	    &body->points_room, sizeof *body->points);
	point = &body->points[body->points_used];
	point->waits = 0;
	for (int i = 0; i < EMU_LANES; i++)
		point->seen[i] = seen[i];
	return body->points_used++;
}

void
emu_body_add_memory(struct emu_recording *body, void *memory)
{
	body->memory = grow(body->memory, body->memory_used,
	    &body->memory_room, sizeof *body->memory);
	body->memory[body->memory_used++] = memory;
}

bool
emu_body_has_memory(const struct emu_recording *body, const void *memory)
{
	for (size_t i = 0; i < body->memory_used; i++)
		if (body->memory[i] == memory)
			return true;
	return false;
}

struct emu_recording *
emu_body_keep(struct emu_recording *body)
{
	pthread_mutex_lock(&lock);
	body->references++;
	pthread_mutex_unlock(&lock);
	return body;
}

/* ---- User objects -------------------------------------------------------- */

/* What NVIDIA's headers know as struct CUuserObject_st. */
struct CUuserObject_st {
	_Atomic uint32_t mark;
	_Atomic unsigned references;
	void           (*destroy)(void *);
	void            *data;
	struct CUuserObject_st *next_all;
};

static int
check_object(const struct CUuserObject_st *object, unsigned count)
{
	const uintptr_t value = (uintptr_t)object;

	if (!count || count > INT_MAX)
		return EMU_INVALID_VALUE;
	if (value >= 4096 && value % _Alignof(struct CUuserObject_st) == 0 &&
	    atomic_load_explicit(&object->mark, memory_order_relaxed) ==
	    EMU_MARK_OBJECT)
		return EMU_OK;
	emu_complain("user object %p does not exist (destroyed?)",
	    (const void *)object);
	return EMU_INVALID_VALUE;
}

void
emu_object_retain(struct CUuserObject_st *object, unsigned count)
{
	atomic_fetch_add_explicit(&object->references, count,
	    memory_order_relaxed);
}

/* No order but that all else comes before the end. */
static void
drop(struct CUuserObject_st *object, unsigned count)
{
	if (atomic_fetch_sub_explicit(&object->references, count,
	    memory_order_release) != count)
		return;
	(void)atomic_load_explicit(&object->references, memory_order_acquire);
	atomic_store(&object->mark, 0);
	if (emu_life() == EMU_LIFE_UP)
		object->destroy(object->data);
}

int
emu_object_create(void (*destroy)(void *), void *data, unsigned count,
    struct CUuserObject_st **object_out)
{
	struct CUuserObject_st *object;

	if (!destroy || !count || count > INT_MAX)
		return EMU_INVALID_VALUE;
	object = calloc(1, sizeof *object);
	if (!object)
		emu_out_of_host_memory();
	object->destroy = destroy;
	object->data = data;
	object->references = count;
	object->mark = EMU_MARK_OBJECT;
	pthread_mutex_lock(&lock);
	object->next_all = objects;
	objects = object;
	pthread_mutex_unlock(&lock);
	*object_out = object;
	return EMU_OK;
}

int
emu_object_release(struct CUuserObject_st *object, unsigned count)
{
	int status = check_object(object, count);

	if (!status && count > object->references) {
		emu_complain("user object %p has fewer references",
		    (void *)object);
		status = EMU_INVALID_VALUE;
	}
	if (!status)
		drop(object, count);
	return status;
}

void
emu_body_hold(struct emu_recording *body, const struct emu_hold *hold, long at)
{
	emu_object_retain(hold->object, hold->count);
	body->holds = grow(body->holds, body->holds_used, &body->holds_room,
	    sizeof *body->holds);
	body->holds[body->holds_used] = *hold;
	body->holds[body->holds_used++].at = at;
}

void
emu_body_release(struct emu_recording *body)
{
	int left;

	pthread_mutex_lock(&lock);
	left = --body->references;
	pthread_mutex_unlock(&lock);
	if (left)
		return;
	for (size_t i = 0; i < body->steps_used; i++)
		emu_task_drop(body->steps[i].task);
	for (size_t i = 0; i < body->memory_used; i++)
		emu_memory_free_captured(body->memory[i], body->capture);
	for (size_t i = 0; i < body->holds_used; i++)
		drop(body->holds[i].object, body->holds[i].count);
	free(body->holds);
	free(body->steps);
	free(body->points);
	free(body->memory);
	free(body);
}

struct CUgraph_st *
emu_graph_new(uint64_t capture)
{
	struct emu_recording *body = calloc(1, sizeof *body);
	struct CUgraph_st *graph;

	pthread_mutex_lock(&lock);
	graph = unused;
	if (graph) {
		unused = graph->next_free;
	} else {
		graph = calloc(1, sizeof *graph);
		if (!graph)
			emu_out_of_host_memory();
		graph->next_all = all;
		all = graph;
	}
	pthread_mutex_unlock(&lock);
	if (!body)
		emu_out_of_host_memory();
	body->references = 1;
	body->open = true;
	body->capture = capture;
	graph->body = body;
	atomic_store(&graph->mark, EMU_MARK_GRAPH);
	return graph;
}

void
emu_graph_discard(struct CUgraph_st *graph)
{
	struct emu_recording *body = graph->body;

	pthread_mutex_lock(&lock);
	atomic_store(&graph->mark, 0);
	graph->body = NULL;
	emu_graph_drop_nodes(graph);
	graph->next_free = unused;
	unused = graph;
	pthread_mutex_unlock(&lock);
	emu_body_release(body);
}

static int
check_graph(const struct CUgraph_st *graph)
{
	const uintptr_t value = (uintptr_t)graph;

	if (value >= 4096 && value % _Alignof(struct CUgraph_st) == 0 &&
	    atomic_load_explicit(&graph->mark, memory_order_relaxed) ==
	    EMU_MARK_GRAPH)
		return EMU_OK;
	emu_complain("graph %p does not exist (destroyed?)",
	    (const void *)graph);
	return EMU_INVALID_VALUE;
}

int
emu_graph_check(const struct CUgraph_st *graph)
{
	const int status = check_graph(graph);

	if (status)
		return status;
	if (graph->body->open) {
		emu_complain("graph %p is still being captured",
		    (const void *)graph);
		return EMU_ILLEGAL_STATE;
	}
	return EMU_OK;
}

/* What executables and clones share with it cannot change any more here; on a
 * GPU it can, of the graph alone. Lock held. */
static int
check_holder(const struct CUgraph_st *graph)
{
	if (graph->body->references == 1)
		return EMU_OK;
	emu_complain("graph %p shares what it holds", (const void *)graph);
	return EMU_NOT_SUPPORTED;
}

int
emu_graph_retain(struct CUgraph_st *graph, struct CUuserObject_st *object,
    unsigned count, bool moved)
{
	const struct emu_hold hold = { object, count, EMU_OWN };
	int status = check_object(object, count);

	if (!status)
		status = check_graph(graph);
	if (status)
		return status;
	pthread_mutex_lock(&lock);
	status = check_holder(graph);
	if (!status)
		emu_body_hold(graph->body, &hold, EMU_OWN);
	pthread_mutex_unlock(&lock);
	if (!status && moved)
		drop(object, count);
	return status;
}

int
emu_graph_nodes(struct CUgraph_st *graph, size_t *count_out)
{
	const int status = emu_graph_check(graph);

	if (!status)
		*count_out = graph->body->tasks;
	return status;
}

int
emu_graph_destroy(struct CUgraph_st *graph)
{
	const int status = emu_graph_check(graph);

	if (!status)
		emu_graph_discard(graph);
	return status;
}

void
emu_graphs_release(void)
{
	emu_executables_release();
	emu_captures_release();
	unused = NULL;
	while (all) {
		struct CUgraph_st *graph = all;

		all = graph->next_all;
		if (graph->body)
			emu_body_release(graph->body);
		emu_graph_drop_nodes(graph);
		free(graph);
	}
	while (objects) {
		struct CUuserObject_st *object = objects;

		objects = object->next_all;
		free(object);
	}
}
