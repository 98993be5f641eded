/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/shim/test_conduct.c -- what becomes of a call, row by row: what is
 * done and in which order, what is counted, what the caller is told. Turns are
 * those that a row says. */
#include "tests/unit/shim/conduct_world.h"

/* ---- Rows ---------------------------------------------------------------- */

/* Of two candidates, a cast and the library's conversion. */
static enum ac_outcome
conduct(const struct row *r)
{
	const struct ac_ways ways = {
		.find_stream = find_stream, .recast = recast,
		.prepare = r->has_prepare ? prepare : NULL,
		.try_all = try_all, .learn = learn
	};
	const struct ac_decision decision = {
		.guard = r->guard, .tactic = r->tactic,
		.reproducible = r->reproducible || r->learns,
		.learns = r->learns,
		.candidate_count = r->learns ? 2 : 0, .candidate = {
			{ .rung = AC_RUNG_FP16, .tactic = AC_TACTIC_CAST },
			{ .rung = AC_RUNG_TF32, .tactic = AC_TACTIC_LIBRARY }
		}
	};
	struct ac_conduct call = {
		.decision = &decision, .record = &site_record, .device = 2,
		.variants = r->kind != UNTRIED ? &variants : NULL,
		.trial = r->kind == CONVOLUTION ? &trial : NULL,
		.origin = r->kind == PRODUCT ? origin : NULL,
		.is_unsteady = r->is_unsteady, .needs_place = r->needs_place
	};
	struct ac_kept kept = { .timing = NULL };
	enum ac_outcome outcome;

	row = r;
	variants.calls = r->number - 1;
	events[0] = '\0';
	site_record.key = (struct ac_site_key){ r->operation, .m = 3 };
	strcpy(site_record.key.caller, r->is_xla ? "xla_cuda_plugin.so+1"
	    : "train+1");
	counted = -1;
	noticed = AC_RUNG_KEEP;
	site_record.rung = its_record.rung = AC_RUNG_FP16;
	its_record.course.captured = 0;
	outcome = ac_conduct(&call, &ways, &kept);
	if (outcome == AC_OUTCOME_TIMED)
		ac_kept_end(&kept);
	return outcome;
}

static void
check(const struct row *r)
{
	static const enum ac_rung rungs[2] = { AC_RUNG_FP16, AC_RUNG_TF32 };
	const bool is_done = r->outcome == AC_OUTCOME_DONE;
	const enum ac_outcome outcome = conduct(r);

	if (outcome != r->outcome || counted != (int)r->reason
	    || counted_in != r->record || strcmp(events, r->events))
		fail_msg("%s: outcome %d, reason %d, %s", r->what,
		    (int)outcome, counted, events);
	assert_int_equal(noticed, is_done ? rungs[r->candidate]
	    : AC_RUNG_KEEP);
	assert_int_equal(its_record.course.captured, is_done
	    && r->kind != UNTRIED && r->capture);
}

#define CHECK(rows) \
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) \
		check(&rows[i])

#define OFF .guard = AC_GUARD_OFF
#define TRIED .kind = CONVOLUTION, .guard = AC_GUARD_ON, .needs_place = true, \
	LIBRARY
#define VERIFIED .kind = PRODUCT, .guard = AC_GUARD_ON, CAST
#define CONVERTED .kind = PRODUCT, .guard = AC_GUARD_ON, LIBRARY, \
	.turn = AC_TURN_RECAST
#define CAST .tactic = AC_TACTIC_CAST
#define LIBRARY .tactic = AC_TACTIC_LIBRARY, .candidate = 1
#define RUN .turn = AC_TURN_RECAST, .wants = true, .is_verified = true
#define DONE(in) .outcome = AC_OUTCOME_DONE, .record = &in
#define KEPT(with, in) .outcome = AC_OUTCOME_KEPT, \
	.reason = AC_REASON_##with, .record = &in

/* No trial: under guard=off, or of a site that could not be stored. */
CASE(test_untried)
{
	static const struct row rows[] = {
		{ "a cast", OFF, CAST, DONE(site_record), .has_prepare = true,
		    .events = "stream place prepare recast" },
		{ "refused", OFF, CAST, .answer = AC_REASON_REFUSED,
		    KEPT(REFUSED, site_record),
		    .events = "stream place recast" },
		{ "without a stream", OFF, CAST, .stream = AC_REASON_REFUSED,
		    KEPT(REFUSED, site_record), .events = "stream" },
		{ "without a context", OFF, CAST, .has_prepare = true,
		    .place = AC_REASON_NO_CONTEXT,
		    KEPT(NO_CONTEXT, site_record), .events = "stream place" },
		{ "while the program tunes", OFF, CAST, .has_prepare = true,
		    .is_unsteady = true, KEPT(PROBATION, site_record),
		    .events = "stream place" },
		{ "likewise, by the library", OFF, LIBRARY, .is_unsteady = true,
		    KEPT(PROBATION, site_record), .events = "stream place" },
		{ "likewise, captured", OFF, CAST, .is_unsteady = true,
		    .capture = 1, DONE(site_record),
		    .events = "stream place recast" },
		{ "a cast that XLA captures", OFF, CAST, .capture = 1,
		    .is_xla = true, KEPT(CAPTURE, site_record),
		    .events = "stream place" },
		{ "a cast of XLA's", OFF, CAST, .is_xla = true,
		    DONE(site_record), .events = "stream place recast" },
		{ "what a library converts and XLA captures", OFF,
		    .tactic = AC_TACTIC_LIBRARY, .capture = 1, .is_xla = true,
		    .needs_place = true, DONE(site_record),
		    .events = "stream place recast" },
		{ "by the library", OFF, .tactic = AC_TACTIC_LIBRARY,
		    DONE(site_record), .events = "recast-nowhere" },
		{ "by cublasLt", OFF, .tactic = AC_TACTIC_LIBRARY,
		    .has_prepare = true, .needs_place = true, DONE(site_record),
		    .events = "stream place prepare recast" },
		{ "a guarded one", CAST, .guard = AC_GUARD_ON, .events = "",
		    .has_prepare = true, KEPT(PROBATION, site_record) },
	};

	ac_shim_notice_due = true;
	CHECK(rows);
}

/* A trial tells where it is, and whatever came of it, it is over. */
CASE(test_convolutions)
{
	static const struct row rows[] = {
		{ "recast", TRIED, .turn = AC_TURN_RECAST, DONE(its_record),
		    .events = "stream place turn recast over" },
		{ "captured", TRIED, .turn = AC_TURN_RECAST, .capture = 1,
		    DONE(its_record),
		    .events = "stream place turn recast over" },
		{ "refused", TRIED, .turn = AC_TURN_RECAST, .capture = 1,
		    .answer = AC_REASON_REFUSED, KEPT(REFUSED, its_record),
		    .events = "stream place turn recast over" },
		{ "without a context", TRIED, .place = AC_REASON_NO_CONTEXT,
		    KEPT(NO_CONTEXT, site_record), .events = "stream place" },
		{ "a try", TRIED, .turn = AC_TURN_TRY,
		    .answer = AC_REASON_WORKSPACE, KEPT(WORKSPACE, site_record),
		    .events = "stream place turn try over" },
		{ "a try, timed", TRIED, .turn = AC_TURN_TRY, .is_timed = true,
		    .answer = AC_REASON_PROBATION, .outcome = AC_OUTCOME_TIMED,
		    .record = &site_record, .reason = AC_REASON_PROBATION,
		    .events = "stream place turn try time over timed" },
		{ "kept", TRIED, .turn = AC_TURN_KEEP, .is_unsteady = true,
		    .why = AC_REASON_PROBATION, KEPT(PROBATION, site_record),
		    .events = "stream place turn over" },
		{ "left for good", TRIED, .turn = AC_TURN_KEEP,
		    .why = AC_REASON_GUARD, KEPT(GUARD, kept_record),
		    .events = "stream place turn over" },
		{ "too slow", TRIED, .turn = AC_TURN_KEEP,
		    .why = AC_REASON_NO_PROFIT, KEPT(NO_PROFIT, kept_record),
		    .events = "stream place turn over" },
		{ "kept, timed", TRIED, .turn = AC_TURN_KEEP,
		    .why = AC_REASON_OWN, .is_timed = true,
		    .outcome = AC_OUTCOME_TIMED, .record = &site_record,
		    .reason = AC_REASON_OWN,
		    .events = "stream place turn time over timed" },
	};
	struct row busy = rows[9];

	ac_shim_notice_due = true;
	CHECK(rows);
	timing_is_free = false;
	busy.outcome = AC_OUTCOME_KEPT;
	busy.events = "stream place turn time over";
	check(&busy);
	timing_is_free = true;
}

/* Where it runs is looked for if its turn depends on that. */
CASE(test_products)
{
	static const struct row rows[] = {
		{ "verified", VERIFIED, RUN, .has_prepare = true,
		    DONE(its_record),
		    .events = "begin stream place prepare settle recast queued" },
		{ "converted", CONVERTED, .has_prepare = true, DONE(its_record),
		    .events = "begin stream prepare-nowhere recast-nowhere" },
		{ "the same, captured", CONVERTED, .capture = 1,
		    DONE(its_record),
		    .events = "begin stream stream place settle recast" },
		{ "of cublasLt", CONVERTED, .needs_place = true,
		    DONE(its_record),
		    .events = "begin stream place settle recast" },
		{ "captured", VERIFIED, RUN, .capture = 1, DONE(its_record),
		    .events = "begin stream place settle recast queued" },
		{ "refused", VERIFIED, RUN, .answer = AC_REASON_REFUSED,
		    KEPT(REFUSED, its_record),
		    .events = "begin stream place settle recast refused" },
		{ "without memory", VERIFIED, RUN,
		    .answer = AC_REASON_WORKSPACE, KEPT(WORKSPACE, its_record),
		    .events = "begin stream place settle recast" },
		{ "without a context", VERIFIED, RUN,
		    .place = AC_REASON_NO_CONTEXT,
		    KEPT(NO_CONTEXT, site_record),
		    .events = "begin stream place" },
		{ "its own", VERIFIED, .why = AC_REASON_OWN,
		    .has_prepare = true, KEPT(OWN, site_record),
		    .events = "begin prepare-nowhere" },
		{ "its own, timed", VERIFIED, .why = AC_REASON_OWN,
		    .wants = true, .is_timed = true, .record = &site_record,
		    .outcome = AC_OUTCOME_TIMED, .reason = AC_REASON_OWN,
		    .events = "begin stream place settle time timed" },
		{ "the same, without a context", VERIFIED, .why = AC_REASON_OWN,
		    .wants = true, .is_timed = true,
		    .place = AC_REASON_NO_CONTEXT, KEPT(OWN, site_record),
		    .events = "begin stream place" },
		{ "its own, but the end of a sum", VERIFIED, .adds = true,
		    .why = AC_REASON_OWN, .has_prepare = true,
		    DONE(its_record), .events = "begin prepare-nowhere "
		    "stream place again recast queued" },
		{ "the same, without a context", VERIFIED, .adds = true,
		    .why = AC_REASON_OWN, .has_prepare = true,
		    .place = AC_REASON_NO_CONTEXT, KEPT(OWN, site_record),
		    .events = "begin prepare-nowhere stream place" },
		{ "left", VERIFIED, .why = AC_REASON_GUARD, .adds = true,
		    .has_prepare = true, KEPT(GUARD, kept_record),
		    .events = "begin prepare-nowhere" },
		{ "while the program tunes", VERIFIED, RUN, .is_unsteady = true,
		    KEPT(PROBATION, site_record),
		    .events = "begin stream place settle" },
		{ "likewise, the end of a sum", VERIFIED, RUN, .adds = true,
		    .is_unsteady = true, .has_prepare = true, DONE(its_record),
		    .events = "begin stream place prepare settle recast "
		    "queued" },
		{ "likewise, captured", VERIFIED, RUN, .is_unsteady = true,
		    .capture = 1, DONE(its_record),
		    .events = "begin stream place settle recast queued" },
		{ "reproducible", VERIFIED, RUN, .reproducible = true,
		    DONE(its_record),
		    .events = "stream place origin begin settle recast queued" },
		{ "reproducible, its own", VERIFIED, .reproducible = true,
		    .why = AC_REASON_OWN, KEPT(OWN, site_record),
		    .events = "stream place origin begin settle" },
		{ "reproducible, without a context", VERIFIED, RUN,
		    .reproducible = true, .place = AC_REASON_NO_CONTEXT,
		    KEPT(NO_CONTEXT, site_record), .events = "stream place" },
	};

	CHECK(rows);
}

/* Measured next to the first calls, and as long as that is a sixteenth. */
CASE(test_learning)
{
#define ITS_OWN .guard = AC_GUARD_ON, .learns = true, .turn = AC_TURN_LEARN, \
	.record = &site_record, .reason = AC_REASON_OWN
#define LEARNS .kind = PRODUCT, .has_prepare = true, ITS_OWN
#define MEASURED .outcome = AC_OUTCOME_TIMED, .events = "stream place " \
	"prepare hear time-its learn note time-own time timed"
	static const struct row rows[] = {
		{ "the first", LEARNS, .number = 1, .events = "stream place "
		    "prepare hear learn note" },
		{ "converted", LEARNS, .number = 3, .candidate = 1, MEASURED },
		{ "refused", LEARNS, .number = 2, .answer = AC_REASON_WORKSPACE,
		    MEASURED },
		{ "a group", LEARNS, .operation = AC_OP_GEMM_GROUPED,
		    .number = 2,
		    .events = "stream place prepare hear learn note" },
		{ "another", LEARNS, .number = 4, .events = "hear-elsewhere" },
		{ "captured", LEARNS, .number = 1, .capture = 1,
		    .events = "stream place" },
		{ "without a context", LEARNS, .number = 1,
		    .place = AC_REASON_NO_CONTEXT, .events = "stream place" },
		{ "while the program tunes", LEARNS, .number = 1,
		    .is_unsteady = true, .events = "hear-elsewhere" },
		{ "a convolution", ITS_OWN, .kind = MEASURED_CONV, .number = 2,
		    .outcome = AC_OUTCOME_TIMED, .events = "stream place hear "
		    "time-its learn time-its learn note time-own time timed" },
	};
	struct row one = rows[0];

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		ledger.queued = 0;
		variants.learnt = rows[i].number - 1;
		check(&rows[i]);
		assert_int_equal(ledger.queued, !rows[i].answer
		    && strstr(rows[i].events, "prepare"));
		assert_int_equal(variants.calls, rows[i].number
		    - (rows[i].capture || rows[i].is_unsteady));
	}
	variants.learnt = 3;
	for (uint64_t number = 4; number < 4096; number++) {
		one.number = number;
		conduct(&one);
		assert_in_range(variants.learnt, number < 128 ? 3 : number / 32
		    - 2, number < 128 ? 3 : number / 32);
	}
}

CASES_RUN(NULL, NULL)
