/* SPDX-License-Identifier: Apache-2.0 */
/* report/read/parse.h -- JSON as a tree, of bytes that may be anything. */
#ifndef AC_REPORT_PARSE_H
#define AC_REPORT_PARSE_H

#include "base/text.h"

#include <stddef.h>
#include <stdint.h>

enum ac_node_kind {
	AC_NODE_NULL, AC_NODE_FALSE, AC_NODE_TRUE, AC_NODE_NUMBER,
	AC_NODE_STRING, AC_NODE_ARRAY, AC_NODE_OBJECT
};

enum {
	AC_PARSE_DEPTH = 16,         /* of what holds what */
	AC_PARSE_BYTES = 1 << 28,    /* of all */
	AC_PARSE_NODES = 1 << 25     /* a site has a hundred */
};

/* A value. What it holds stands behind it: the first at node + 1, the next one
 * at that + its span, up to node + span. */
struct ac_node {
	const char *name;            /* in an object, else NULL */
	const char *text;            /* of strings and numbers; no NUL inside */
	uint32_t    span;            /* itself and all it holds */
	uint32_t    kind;            /* enum ac_node_kind */
};

/* Read `count` bytes and a NUL behind them, which are overwritten and must live
 * as long as the tree: free() ends it. NULL and one line in `why` if they are
 * no JSON, or too much. */
struct ac_node *ac_parse(char *bytes, size_t count, struct ac_text *why);

/* The member of that name and kind, NULL if `object` is none or has none. */
const struct ac_node *ac_node_member(const struct ac_node *object,
    const char *name, enum ac_node_kind kind);

/* Each element of an array. */
#define AC_NODE_EACH(node, array) \
	for (const struct ac_node *node = (array) + 1; \
	    node < (array) + (array)->span; node += node->span)

#endif
