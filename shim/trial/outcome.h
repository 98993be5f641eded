/* SPDX-License-Identifier: Apache-2.0 */
/* shim/trial/outcome.h -- how a call ends that was looked at, a product's or a
 * convolution's: what is counted, what is timed. */
#ifndef AC_SHIM_OUTCOME_H
#define AC_SHIM_OUTCOME_H

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

/* A turn KEEP of `trial` at `place`: count it for `record`'s site, and begin to
 * time it if it is its turn. KEPT or TIMED. */
enum ac_outcome ac_outcome_keep(const struct ac_turn *turn,
    struct ac_trial *trial, struct ac_site_record *record,
    const struct ac_place *place, struct ac_kept *kept_out);

/* The same for a call that `reason` keeps, counted for `record`: after a
 * try. */
enum ac_outcome ac_outcome_original(const struct ac_turn *turn,
    enum ac_reason reason, struct ac_site_record *record,
    const struct ac_place *place, struct ac_kept *kept_out);

/* Count a call of `record`'s site that ran on `rung`, as `decision` says.
 * place NULL: it was not looked for. */
void ac_outcome_count(const struct ac_decision *decision, enum ac_rung rung,
    struct ac_site_record *record, const struct ac_place *place);

/* The original of a TIMED call was made. */
void ac_kept_end(struct ac_kept *kept);

#endif
