/* SPDX-License-Identifier: Apache-2.0 */
/* shim/trial/conduct.h -- the one path of a call that may be recast, be it a
 * product or a convolution. It asks what the call is to do, finds out where it
 * runs if that matters, has it done, counts and times it. Where products and
 * convolutions differ they have functions of their own, their ways. */
#ifndef AC_SHIM_CONDUCT_H
#define AC_SHIM_CONDUCT_H

#include "shim/trial/origin.h"
#include "shim/trial/trial.h"

/* What became of a call: the original is to be made unless it is DONE. */
enum ac_outcome {
	AC_OUTCOME_KEPT,
	AC_OUTCOME_DONE,
	AC_OUTCOME_TIMED   /* kept, and timed: ac_kept_end() comes after it */
};

/* An original call that is being timed. */
struct ac_kept {
	struct ac_timing *timing;
	struct ac_place   place;
};

/* One call on its way: the first member of what the ways of its kind know. The
 * first nine are the caller's to set, the others are zero, and set here. */
struct ac_conduct {
	const struct ac_decision  *decision;   /* of its site */
	struct ac_site_record     *record;     /* of the same */
	struct ac_variants        *variants;   /* of the same; NULL: there are
	                                        * none */
	struct ac_trial           *trial;      /* of a convolution */
	struct ac_origin          *origin;     /* of a product, with variants */
	uint64_t                   pair;       /* of a product (turn.h) */
	int                        device;     /* its handle's */
	bool                       is_unsteady; /* the program may be tuning
	                                        * (shim/trial/tuning.h): native
	                                        * but in a capture; tries are
	                                        * made next to it */
	bool                       needs_place; /* every candidate does, not
	                                        * only a cast */
	const struct ac_place     *place;      /* NULL: not looked for */
	const struct ac_candidate *candidate;
	struct ac_turn            *turn;
};

/* How calls of one kind are made. `recast` returns AC_REASON_NONE when the call
 * is done; any other reason keeps it, and its output is untouched, or nothing
 * that the original call reads. */
struct ac_ways {
	enum ac_reason (*find_stream)(const struct ac_conduct *call,
	    ac_cu_stream *stream_out);
	/* Before the call has its turn; NULL: nothing is to be done. */
	void (*prepare)(struct ac_conduct *call);
	/* Run `candidate`, on a turn RECAST. */
	enum ac_reason (*recast)(struct ac_conduct *call);
	/* Run the candidates of a turn TRY next to the original, and end it
	 * with ac_trial_tried(). Never NONE: why the call is kept. NULL for
	 * products. */
	enum ac_reason (*try_all)(struct ac_conduct *call);
	/* Run `candidate` into scratch, on a turn LEARN, timed by its timing;
	 * NONE: what was measured will be heard of. */
	enum ac_reason (*learn)(struct ac_conduct *call);
};

/* Conduct a call whose site may be recast. Counts it. */
enum ac_outcome ac_conduct(struct ac_conduct *call, const struct ac_ways *ways,
    struct ac_kept *kept_out);

/* The original of a TIMED call was made. */
void ac_kept_end(struct ac_kept *kept);

#endif
