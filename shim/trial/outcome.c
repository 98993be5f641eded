/* SPDX-License-Identifier: Apache-2.0 */
/* shim/trial/outcome.c -- the ends of calls (shim/trial/outcome.h); for gemm.c
 * and conv_call.c, which decide which it is. */
#include "shim/trial/outcome.h"

#include "shim/start/start.h"

enum ac_outcome
ac_outcome_keep(const struct ac_turn *turn, struct ac_trial *trial,
    struct ac_site_record *record, const struct ac_place *place,
    struct ac_kept *kept_out)
{
	if (turn->candidate == AC_CANDIDATES)
		record = ac_trial_record(trial, AC_CANDIDATES);
	return ac_outcome_original(turn, turn->reason, record, place, kept_out);
}

enum ac_outcome
ac_outcome_original(const struct ac_turn *turn, enum ac_reason reason,
    struct ac_site_record *record, const struct ac_place *place,
    struct ac_kept *kept_out)
{
	ac_report_count(record, reason);
	if (!turn->timing || !ac_timing_begin(turn->timing, place))
		return AC_OUTCOME_KEPT;
	kept_out->timing = turn->timing;
	kept_out->place = *place;
	return AC_OUTCOME_TIMED;
}

void
ac_outcome_count(const struct ac_decision *decision, enum ac_rung rung,
    struct ac_site_record *record, const struct ac_place *place)
{
	ac_shim_notice(decision, rung);
	ac_report_count(record, AC_REASON_NONE);
	if (place && place->capture)
		atomic_fetch_add_explicit(&record->course.captured, 1,
		    memory_order_relaxed);
}

void
ac_kept_end(struct ac_kept *kept)
{
	ac_timing_end(kept->timing, &kept->place, true);
}
