/* SPDX-License-Identifier: Apache-2.0 */
/* shim/graph/shadow_note.h -- what a shadow holds; for shadow.c, by which they
 * are found, shadow_pool.c, which keeps them, and shadow_graph.c, which reads a
 * convolution from them. */
#ifndef AC_SHIM_SHADOW_NOTE_H
#define AC_SHIM_SHADOW_NOTE_H

#include "shim/graph/shadow.h"

#include <stdatomic.h>

enum { AC_SHADOW_CHILDREN = 4, AC_SHADOW_NUMBERS = 20, AC_SHADOW_REALS = 3 };

/* Where the attributes of each type are. Arrays: how many, then as many. */
enum ac_tensor_number {
	AC_TENSOR_TYPE, AC_TENSOR_UID, AC_TENSOR_ALIGNMENT, AC_TENSOR_VIRTUAL,
	AC_TENSOR_DIMS, AC_TENSOR_STRIDES = AC_TENSOR_DIMS + 1 + AC_CONV_DIMS
};
enum ac_convolution_number {
	AC_CONVOLUTION_TYPE, AC_CONVOLUTION_MODE, AC_CONVOLUTION_SPACE,
	AC_CONVOLUTION_PAD,
	AC_CONVOLUTION_POST_PAD = AC_CONVOLUTION_PAD + 1 + AC_CONV_SPACE,
	AC_CONVOLUTION_STRIDE = AC_CONVOLUTION_POST_PAD + 1 + AC_CONV_SPACE,
	AC_CONVOLUTION_DILATION = AC_CONVOLUTION_STRIDE + 1 + AC_CONV_SPACE
};
enum ac_pointwise_number { AC_POINTWISE_MODE, AC_POINTWISE_TYPE };
enum ac_pointwise_real { AC_POINTWISE_LOWER, AC_POINTWISE_UPPER,
	AC_POINTWISE_SLOPE };
/* An operation's children: its descriptor, then tensors. */
enum ac_operation_child { AC_CHILD_DESCRIPTOR, AC_CHILD_X, AC_CHILD_OTHER,
	AC_CHILD_Y };                   /* OTHER: w, or b of a pointwise one */
enum ac_operation_real { AC_REAL_ALPHA, AC_REAL_BETA }; /* or alpha1, alpha2 */
enum ac_graph_number { AC_GRAPH_OPERATIONS };
enum ac_plan_number { AC_PLAN_HANDLE, AC_PLAN_STORED };
/* Of heuristics, an engine, a configuration, a plan: all that is known. */
enum ac_follower_child { AC_CHILD_GRAPH };

/* What only a graph has. */
struct ac_shadow_graph {
	struct ac_shadow_graph *next;   /* while free */
	struct ac_conv conv;
	bool is_described;
};

/* Changed under the lock of its descriptor until it is frozen, then never
 * again. */
struct ac_shadow {
	struct ac_shadow *next;         /* in its row, or while free */
	cudnnBackendDescriptor_t descriptor;
	_Atomic uint32_t holders;
	uint8_t  type;                  /* cudnnBackendDescriptorType_t */
	bool     is_frozen;
	bool     is_strange;            /* something in it is not understood */
	uint8_t  reals;                 /* which are set, by bit */
	uint8_t  scalar_type;           /* cudnnDataType_t of reals */
	uint32_t numbers;               /* which are set, by bit */
	struct ac_shadow *child[AC_SHADOW_CHILDREN];
	struct ac_shadow_graph *graph;  /* of a graph's */
	int64_t number[AC_SHADOW_NUMBERS];
	double  real[AC_SHADOW_REALS];
};

/* Read the convolution from a finalized graph's shadow; false: it has none, or
 * something of it is not understood. Zero-fills *conv_out first. */
bool ac_shadow_describe(const struct ac_shadow *graph,
    struct ac_conv *conv_out);

/* Note one attribute of a shadow that is being set up; `child`: those its
 * descriptors have, held for the shadow (what it does not keep, or replaces, is
 * left there). */
void ac_shadow_note(struct ac_shadow *shadow, cudnnBackendAttributeName_t name,
    cudnnBackendAttributeType_t type, int64_t count, const void *values,
    struct ac_shadow **child);

/* A zeroed one, NULL without room; and what a graph's has besides. */
struct ac_shadow *ac_shadow_take(void);
struct ac_shadow_graph *ac_shadow_take_graph(void);

/* One holder more (NULL: none), or one less. */
void ac_shadow_hold(struct ac_shadow *shadow);
void ac_shadow_let_go(struct ac_shadow *shadow);

#endif
