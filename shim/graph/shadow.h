/* SPDX-License-Identifier: Apache-2.0 */
/* shim/graph/shadow.h -- what a program's graph descriptors are made of, which
 * cuDNN does not tell again: noted as the program makes them.
 *
 * A shadow is found by its descriptor's address, and overwritten when an
 * address is used again. What was set into another descriptor lives as long as
 * that one, as cuDNN's own copies do: children may be destroyed early. Every
 * function may be called by any thread, takes a lock for as long as it touches
 * notes of ours, and never calls cuDNN. Where there is no room, or where
 * something is set that is not understood, a graph is just not described. */
#ifndef AC_SHIM_SHADOW_H
#define AC_SHIM_SHADOW_H

#include "shim/conv/conv.h"

#include <cudnn.h>

/* ---- What the program did, and cuDNN accepted ---------------------------- */

void ac_shadow_create(cudnnBackendDescriptor_t descriptor,
    cudnnBackendDescriptorType_t type);
void ac_shadow_set(cudnnBackendDescriptor_t descriptor,
    cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
    int64_t count, const void *values);
void ac_shadow_finalize(cudnnBackendDescriptor_t descriptor);
/* Before cuDNN frees it: after, the address may be another thread's. */
void ac_shadow_destroy(cudnnBackendDescriptor_t descriptor);

/* ---- What follows from it ------------------------------------------------ */

struct ac_shadow; /* of a graph, held */

/* A question to the heuristics about a graph that is one convolution. */
struct ac_shadow_question {
	struct ac_shadow *graph;
	const struct ac_conv *conv;     /* as long as the graph is held */
	cudnnHandle_t handle;           /* the graph's; NULL: it has none */
	cudnnBackendHeurMode_t mode;
	int64_t sm_count;               /* 0: not set */
	bool has_properties;            /* a DEVICEPROP was set: */
	cudnnHandle_t properties_handle; /* of this handle's device, */
	int64_t ordinal;                /* or this device; -1: neither */
	int sm;                         /* or one described; 0: unknown */
	uint64_t properties_key;        /* tells descriptions apart */
};

/* True if `heuristics` is a finalized ENGINEHEUR of such a graph: to be ended
 * with ac_shadow_let_go(). */
bool ac_shadow_ask(cudnnBackendDescriptor_t heuristics,
    struct ac_shadow_question *question_out);
void ac_shadow_let_go(struct ac_shadow *graph);

/* Engine `index` was put among the graph's: into `config`. */
void ac_shadow_inject(struct ac_shadow *graph, int64_t index,
    cudnnBackendDescriptor_t config);

/* cuDNN wrote an engine of its own for the graph into `config`. */
void ac_shadow_answer(struct ac_shadow *graph, cudnnBackendDescriptor_t config);

struct ac_site_record;

/* What plans of the graph count for: recast, or if the plan has no engine of
 * ours or `reason` is not AC_REASON_NONE, kept. */
void ac_shadow_count_for(struct ac_shadow *graph, struct ac_site_record *record,
    enum ac_reason reason);

/* True if `plan` is a finalized plan of a graph for which something counts. */
bool ac_shadow_plan(cudnnBackendDescriptor_t plan,
    struct ac_site_record **record_out, enum ac_reason *reason_out);

/* cuDNN wrote config's engine into `engine`. */
void ac_shadow_read(cudnnBackendDescriptor_t config,
    cudnnBackendDescriptor_t engine);

/* Whether the program has `engine`, or could have, from us. */
bool ac_shadow_is_injected(cudnnBackendDescriptor_t engine);

/* Shadows there are, for tests. */
unsigned ac_shadow_count(void);

#endif
