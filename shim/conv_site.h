/* SPDX-License-Identifier: Apache-2.0 */
/* shim/conv_site.h -- the decision for each distinct convolution, made once,
 * whichever of cuDNN's interfaces it came by. As shim/site.h for products, but
 * in a table of its own, since what tells two convolutions apart is longer. */
#ifndef AC_SHIM_CONV_SITE_H
#define AC_SHIM_CONV_SITE_H

#include "policy/policy.h"
#include "report/report.h"
#include "shim/conv.h"
#include "shim/provider.h"

struct ac_trial;

/* What tells a site from the next, but for the convolution's scalars, which are
 * those of the site's first call; zero-filled before its fields are set. */
struct ac_conv_query {
	uint64_t caller;             /* where the call returns to */
	uint32_t entry;              /* enum ac_entry */
	int32_t  device;             /* CUDA ordinal; -1: see sm */
	int32_t  sm;                 /* of a device that is only described; 0 */
	int32_t  math;               /* cudnnMathType_t of the descriptor */
	uint64_t provider;           /* its address */
	struct ac_conv conv;         /* uids and alignments as they are */
};

struct ac_conv_site {
	struct ac_conv_query   query;
	uint64_t               hash;
	struct ac_provider    *provider;
	struct ac_site_record *record;
	struct ac_decision     decision;
	struct ac_trial       *trial;   /* NULL: kept, or guard=off */
	_Atomic uint32_t       generation; /* of decisions; see shim/site.h */
};

/* The site of `query`, decided if it is new, and again once a module was
 * unloaded; never freed. NULL: there is no room for it, the call is the
 * program's affair. Any thread. */
const struct ac_conv_site *ac_conv_site_of(const struct ac_conv_query *query);

/* What would be decided for the site of `query`, which is not made. */
void ac_conv_site_ask(const struct ac_conv_query *query,
    struct ac_decision *decision_out);

#endif
