/* SPDX-License-Identifier: Apache-2.0 */
/* shim/rnn/rnn_site.h -- the decision for each distinct recurrent network, made
 * where its descriptor is set: what cuDNN computes with is part of it. As
 * shim/site/site.h for products. How long sequences are is not known there, so
 * that a site has no sizes of products, nor a prediction. */
#ifndef AC_SHIM_RNN_SITE_H
#define AC_SHIM_RNN_SITE_H

#include "policy/policy.h"
#include "report/report.h"
#include "shim/bind/provider.h"
#include "shim/site/sites.h"

/* What tells a site from the next: the call and cuDNN's own numbers for what
 * was set. Zero-filled before its fields are set. */
struct ac_rnn_query {
	uint64_t caller;             /* where the call returns to */
	uint64_t provider;           /* its address */
	int32_t  device;             /* CUDA ordinal of the current; -1 */
	int32_t  math;               /* cudnnMathType_t */
	int32_t  type, precision;    /* cudnnDataType_t */
	int32_t  cell, direction;
	int32_t  input, hidden, projection, layers; /* elements; layers */
	uint32_t region;             /* its number; 0: none */
	uint32_t reserved;
};

struct ac_rnn_site {
	struct ac_table_entry  entry;
	struct ac_rnn_query    query;
	struct ac_site_record *record;
	struct ac_decision     decision; /* keep, or FP16 or TF32 by cuDNN */
};

/* The site of `query`, decided if it is new, and again once a module was
 * unloaded; never freed. NULL: there is no room for it, the call is the
 * program's affair. Any thread. */
const struct ac_rnn_site *ac_rnn_site_of(const struct ac_rnn_query *query);

#endif
