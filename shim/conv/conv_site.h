/* SPDX-License-Identifier: Apache-2.0 */
/* shim/conv/conv_site.h -- the decision for each distinct convolution, made
 * once, whichever of cuDNN's interfaces it came by. As shim/site/site.h for
 * products, but in a table of its own, since what tells two convolutions apart
 * is longer. */
#ifndef AC_SHIM_CONV_SITE_H
#define AC_SHIM_CONV_SITE_H

#include "policy/policy.h"
#include "report/report.h"
#include "shim/conv/conv.h"
#include "shim/bind/provider.h"
#include "shim/site/sites.h"
#include "shim/trial/trial.h"

#include <cudnn.h>

struct ac_conv_plan;
struct ac_conv_steady;

/* In place of a math type: the call's descriptors were not read. */
enum { AC_CONV_UNREAD = -1 };

/* What tells a site from the next, except for the convolution's scalars and its
 * unique ids; zero-filled before its fields are set. */
struct ac_conv_query {
	const void *caller;          /* where the call returns to */
	struct ac_provider *provider;
	uint32_t entry;              /* enum ac_entry */
	int32_t  device;             /* CUDA ordinal; -1: unknown */
	uint32_t region;             /* its number; 0: none */
	int32_t  math;               /* cudnnMathType_t of the descriptor, or
	                              * AC_CONV_UNREAD: what follows is not set,
	                              * but for conv's operation */
	int32_t  algo;               /* of the older interface: as asked for */
	int32_t  reserved;
	struct ac_conv conv;         /* alignments as they are, uids roles */
	struct ac_conv_uids uids;    /* of who asked first: tells nothing
	                              * apart, but plans have these */
};

struct ac_conv_site {
	struct ac_table_entry  entry;
	struct ac_conv_query   query;
	struct ac_site_record *record;
	struct ac_decision     decision;
	struct ac_trial        trial;   /* none: kept, or guard=off */
	_Atomic(struct ac_conv_steady *) steady; /* conv_ways.c's */
	_Atomic uint32_t       scalars;    /* those in query are the site's */
	_Atomic int64_t        own_bytes;  /* ac_conv_is_good(); -1: unknown */
	_Atomic(struct ac_conv_plan *) plans; /* conv_plan.c's */
};

/* The site of `query`. It is decided when it is new, and again after a module
 * was unloaded. Never freed. NULL: there is no room for it; keep the call. Any
 * thread. */
struct ac_conv_site *ac_conv_site_of(const struct ac_conv_query *query);

/* Count a call under a policy that keeps everything, without reading its
 * descriptors, which costs more than all else. False: not counted. Any
 * thread. */
bool ac_conv_is_kept(enum ac_entry entry, const void *caller,
    struct ac_provider *provider, cudnnHandle_t handle,
    enum ac_operation operation);

/* Whether a call of `site`, described by `conv`, has the scalars that its plans
 * have in them: a program that changes them would have one built for each call.
 * They are those of the first call that is asked about; where all are 1, the
 * query has them from the start. */
bool ac_conv_site_admits(struct ac_conv_site *site, const struct ac_conv *conv);

/* What would be decided for the site of `query`, which is not made. */
void ac_conv_site_ask(const struct ac_conv_query *query,
    struct ac_decision *decision_out);

#endif
