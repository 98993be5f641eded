/* SPDX-License-Identifier: Apache-2.0 */
/* shim/conv/conv_ways.h -- runs one convolution, of either of cuDNN's
 * interfaces, as its site's trial says. */
#ifndef AC_SHIM_CONV_WAYS_H
#define AC_SHIM_CONV_WAYS_H

#include "shim/conv/conv_site.h"
#include "shim/trial/conduct.h"

/* What a plan is run with. Everything belongs to the program. */
struct ac_conv_run {
	cudnnHandle_t       handle;
	struct ac_conv_data data;
	void               *workspace;
	size_t              bytes;          /* of it */
	cudnnBackendDescriptor_t pack;      /* of these, with the unique ids of
	                                     * the site; NULL: there is none */
	uint64_t            content;        /* tells the plans apart that the
	                                     * program may be comparing; 0: it
	                                     * has none */
};

/* Conduct a call of `site` as `conv` says, which may be recast if its scalars
 * and its memory allow it. DONE: nothing else is to be done. Otherwise the
 * output is untouched and the wrapper makes the original call, with
 * ac_kept_end() after it if it is TIMED. Counts the call. */
enum ac_outcome ac_conv_conduct(const struct ac_conv_run *run,
    const struct ac_conv *conv, struct ac_conv_site *site,
    struct ac_kept *kept_out);

/* `handle` was created: what was noted of calls by another one that had its
 * address says nothing of it. */
void ac_conv_is_new(cudnnHandle_t handle);

#endif
