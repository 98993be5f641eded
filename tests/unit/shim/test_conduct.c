/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/shim/test_conduct.c -- what becomes of a call, row by row: what is
 * done and in which order, what is counted, what the caller is told. Turns are
 * those that a row says. */
#include "shim/start/start.h"
#include "shim/trial/conduct.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* ---- What happened ------------------------------------------------------- */

static char events[128];

static void
note(const char *event)
{
	const size_t used = strlen(events);

	(void)snprintf(events + used, sizeof events - used, "%s%s",
	    used ? " " : "", event);
}

/* Counted: for what, and in whose record. */
static int counted;
static struct ac_site_record *counted_in;
static struct ac_site_record site_record, its_record, second_record,
    kept_record;

__thread struct ac_report_mine ac_report_mine;

/* As decided: a call that was recast. */
void
ac_report_count_slowly(struct ac_site_record *record)
{
	counted = AC_REASON_NONE;
	counted_in = record;
}

void
ac_report_count_other(struct ac_site_record *record, enum ac_reason reason)
{
	counted = (int)reason;
	counted_in = record;
}

_Atomic bool ac_shim_notice_due;
static enum ac_rung noticed;

void
ac_shim_give_notice(const struct ac_decision *decision, enum ac_rung rung)
{
	(void)decision;
	noticed = rung;
}

/* ---- The world of a row -------------------------------------------------- */

struct row {
	const char *what;
	/* The call, its ways, and what is about it. */
	bool        is_tried, reproducible, needs_place, has_prepare;
	bool        is_unsteady, is_xla;
	enum ac_asked_guard guard;
	enum ac_tactic tactic;           /* of the site */
	bool        wants;               /* the trial, its place */
	bool        minds;               /* captures */
	enum ac_reason stream, place;    /* what finding those answers */
	uint64_t    capture;
	/* Its turn. */
	enum ac_turn_kind kind;
	unsigned    candidate;
	bool        is_timed;
	enum ac_reason answer;           /* of its way */
	bool        is_second;           /* the second candidate has room */
	/* What is to become of it. */
	enum ac_outcome outcome;
	enum ac_reason reason;           /* as counted */
	struct ac_site_record *record;
	const char *events;
};
static const struct row *row;

static struct ac_trial *const trial = (struct ac_trial *)(uintptr_t)8,
    *const stream_trial = (struct ac_trial *)(uintptr_t)16;
static struct ac_timing timing;
static bool timing_is_free = true;

void
ac_trial_meet(struct ac_trial *t, uint64_t operands, struct ac_turn *turn)
{
	assert_true(operands == 99);
	turn->pair = 5;
	note(t == trial ? "meet" : "meet-on-stream");
}

bool
ac_trial_wants_place(const struct ac_trial *t, const struct ac_turn *turn,
    bool to_run)
{
	assert_ptr_equal(t, trial);
	assert_int_equal(turn->pair, 5);
	assert_int_equal(turn->is_unsteady, row->is_unsteady);
	assert_int_equal(to_run, row->needs_place);
	return row->wants;
}

bool
ac_trial_minds_captures(const struct ac_trial *t)
{
	assert_ptr_equal(t, trial);
	return row->minds;
}

bool
ac_place_is_captured(ac_cu_stream stream)
{
	assert_ptr_equal(stream, (ac_cu_stream)(uintptr_t)3);
	note("captured?");
	return row->capture;
}

struct ac_trial *
ac_trial_of(struct ac_trial *t, const struct ac_place *place)
{
	assert_ptr_equal(t, trial);
	return place ? stream_trial : t;
}

void
ac_trial_turn(struct ac_trial *t, const struct ac_place *place,
    struct ac_turn *turn)
{
	(void)place;
	note(t == trial ? "turn" : "turn-on-stream");
	assert_int_equal(turn->pair, 5);
	assert_int_equal(turn->is_unsteady, row->is_unsteady);
	turn->kind = row->kind;
	turn->reason = AC_REASON_GUARD;
	turn->candidate = row->candidate;
	turn->timing = row->is_timed ? &timing : NULL;
}

void
ac_trial_turn_over(struct ac_trial *t, const struct ac_turn *turn)
{
	assert_int_equal(turn->kind, row->kind);
	note(t == trial ? "over" : "over-on-stream");
}

bool
ac_trial_lacks_room(struct ac_trial *t, struct ac_turn *turn)
{
	assert_ptr_equal(t, trial);
	note("lacks");
	turn->candidate += row->is_second;
	return row->is_second;
}

struct ac_site_record *
ac_trial_record(struct ac_trial *t, unsigned candidate)
{
	(void)t;
	if (row->is_second && candidate == row->candidate + 1)
		return &second_record;
	assert_int_equal(candidate, row->candidate);
	return candidate == AC_CANDIDATES ? &kept_record : &its_record;
}

bool
ac_timing_begin(struct ac_timing *of, const struct ac_place *place)
{
	assert_ptr_equal(of, &timing);
	assert_non_null(place);
	note("time");
	return timing_is_free;
}

void
ac_timing_end(struct ac_timing *of, const struct ac_place *place, bool done)
{
	assert_ptr_equal(of, &timing);
	assert_true(done && place->stream_id == 7);
	note("timed");
}

enum ac_reason
ac_place_on(ac_cu_stream stream, int device, struct ac_place *place_out)
{
	assert_ptr_equal(stream, (ac_cu_stream)(uintptr_t)3);
	assert_int_equal(device, 2);
	note("place");
	*place_out = (struct ac_place){ .stream_id = 7,
		.capture = row->capture };
	return row->place;
}

static bool waits_well, judges_well;

bool
ac_place_wait(const struct ac_place *place)
{
	assert_int_equal(place->stream_id, 7);
	note("wait");
	return waits_well;
}

bool
ac_trial_judge_now(struct ac_trial *t, const struct ac_turn *turn)
{
	assert_ptr_equal(t, trial);
	assert_int_equal(turn->number, 1);
	note("judge");
	return judges_well;
}

/* ---- The ways ------------------------------------------------------------ */

static enum ac_reason
find_stream(const struct ac_conduct *call, ac_cu_stream *stream_out)
{
	(void)call;
	note("stream");
	*stream_out = (ac_cu_stream)(uintptr_t)3;
	return row->stream;
}

static void
prepare(struct ac_conduct *call)
{
	note(call->place ? "prepare" : "prepare-nowhere");
}

static enum ac_reason
way(const struct ac_conduct *call, const char *name)
{
	const unsigned candidate = call->turn->candidate;

	note(name);
	if (row->is_second && candidate == row->candidate + 1)
		return AC_REASON_NONE;
	assert_int_equal(candidate, row->candidate);
	return row->answer;
}

static enum ac_reason
recast(struct ac_conduct *call)
{
	assert_ptr_equal(call->candidate,
	    &call->decision->candidate[call->turn->candidate]);
	return way(call, call->place ? "recast" : "recast-nowhere");
}

static enum ac_reason
strict(struct ac_conduct *call)
{
	assert_ptr_equal(call->candidate,
	    &call->decision->candidate[row->candidate]);
	return way(call, "strict");
}

static enum ac_reason
try_all(struct ac_conduct *call)
{
	return way(call, "try");
}

/* ---- Rows ---------------------------------------------------------------- */

/* Of two candidates, a cast and the library's conversion. */
static void
check(const struct row *r)
{
	const struct ac_ways ways = {
		.needs_place = r->needs_place, .find_stream = find_stream,
		.prepare = r->has_prepare ? prepare : NULL,
		.recast = recast, .strict = strict, .try_all = try_all
	};
	const struct ac_decision decision = {
		.guard = r->guard, .tactic = r->tactic,
		.reproducible = r->reproducible, .candidate = {
			{ .rung = AC_RUNG_FP16, .tactic = AC_TACTIC_CAST },
			{ .rung = AC_RUNG_TF32, .tactic = AC_TACTIC_LIBRARY }
		}
	};
	struct ac_conduct call = {
		.decision = &decision, .record = &site_record,
		.trial = r->is_tried ? trial : NULL, .operands = 99,
		.device = 2, .is_unsteady = r->is_unsteady
	};
	const bool is_done = r->outcome == AC_OUTCOME_DONE;
	struct ac_kept kept = { .timing = NULL };
	enum ac_outcome outcome;

	row = r;
	events[0] = '\0';
	strcpy(site_record.key.caller, r->is_xla ? "xla_cuda_plugin.so+1"
	    : "train+1");
	counted = -1;
	noticed = AC_RUNG_KEEP;
	site_record.rung = its_record.rung = second_record.rung = AC_RUNG_FP16;
	its_record.course.captured = second_record.course.captured = 0;
	outcome = ac_conduct(&call, &ways, &kept);
	if (outcome == AC_OUTCOME_TIMED)
		ac_kept_end(&kept);
	if (outcome != r->outcome || counted != (int)r->reason
	    || counted_in != r->record || strcmp(events, r->events))
		fail_msg("%s: outcome %d, reason %d, %s", r->what,
		    (int)outcome, counted, events);
	assert_int_equal(noticed, is_done ? decision.candidate[
	    r->candidate + r->is_second].rung : AC_RUNG_KEEP);
	assert_int_equal(its_record.course.captured, is_done && r->is_tried
	    && r->capture && !r->is_second);
	assert_int_equal(second_record.course.captured, r->is_second);
}

#define CHECK(rows) \
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) \
		check(&rows[i])

#define OFF .guard = AC_GUARD_OFF
#define ON .is_tried = true, .guard = AC_GUARD_ON
#define CAST .tactic = AC_TACTIC_CAST
#define LIBRARY .tactic = AC_TACTIC_LIBRARY, .candidate = 1
#define DONE(in) .outcome = AC_OUTCOME_DONE, .record = &in
#define KEPT(why, in) .outcome = AC_OUTCOME_KEPT, .reason = AC_REASON_##why, \
	.record = &in

/* No trial: under guard=off, or of a site that could not be stored. */
static void
test_untried(void **state)
{
	static const struct row rows[] = {
		{ "a cast", OFF, CAST, DONE(site_record), .has_prepare = true,
		    .events = "stream place prepare recast" },
		{ "of a kind that prepares nothing", OFF, CAST,
		    DONE(site_record), .events = "stream place recast" },
		{ "refused", OFF, CAST, .answer = AC_REASON_REFUSED,
		    KEPT(REFUSED, site_record),
		    .events = "stream place recast" },
		{ "without a stream", OFF, CAST, .has_prepare = true,
		    .stream = AC_REASON_REFUSED, KEPT(REFUSED, site_record),
		    .events = "stream" },
		{ "without a context", OFF, CAST, .has_prepare = true,
		    .place = AC_REASON_NO_CONTEXT,
		    KEPT(NO_CONTEXT, site_record), .events = "stream place" },
		{ "while the program tunes", OFF, CAST, .has_prepare = true,
		    .is_unsteady = true, KEPT(PROBATION, site_record),
		    .events = "stream place" },
		{ "likewise, by the library", OFF, LIBRARY,
		    .is_unsteady = true, KEPT(PROBATION, site_record),
		    .events = "stream place" },
		{ "likewise, captured", OFF, CAST, .is_unsteady = true,
		    .capture = 1, DONE(site_record),
		    .events = "stream place recast" },
		{ "likewise, without a context", OFF, LIBRARY,
		    .is_unsteady = true, .place = AC_REASON_NO_CONTEXT,
		    KEPT(NO_CONTEXT, site_record), .events = "stream place" },
		{ "a cast that XLA captures", OFF, CAST, .capture = 1,
		    .is_xla = true, KEPT(CAPTURE, site_record),
		    .events = "stream place" },
		{ "a cast of XLA's", OFF, CAST, .is_xla = true,
		    DONE(site_record), .events = "stream place recast" },
		{ "what a library converts and XLA captures", OFF,
		    .tactic = AC_TACTIC_LIBRARY, .capture = 1,
		    .is_xla = true, .needs_place = true,
		    DONE(site_record), .events = "stream place recast" },
		{ "a guarded one", CAST, .guard = AC_GUARD_ON,
		    .has_prepare = true, KEPT(PROBATION, site_record),
		    .events = "" },
	};
	struct row library = {
		"by the library", OFF, .tactic = AC_TACTIC_LIBRARY,
		.has_prepare = true, DONE(site_record), .events = ""
	};

	(void)state;
	ac_shim_notice_due = true;
	CHECK(rows);
	/* Its first candidate is a cast in this world: no place, so kept. */
	library.outcome = AC_OUTCOME_KEPT;
	library.reason = AC_REASON_PROBATION;
	check(&library);
	library.needs_place = true;
	library.outcome = AC_OUTCOME_DONE;
	library.reason = AC_REASON_NONE;
	library.events = "stream place prepare recast";
	check(&library);
}

static void
test_recast(void **state)
{
	static const struct row rows[] = {
		{ "a cast", ON, CAST, .wants = true, .has_prepare = true,
		    .kind = AC_TURN_RECAST, DONE(its_record), .events =
		    "meet stream place prepare turn recast over" },
		{ "captured", ON, CAST, .wants = true, .capture = 1,
		    .kind = AC_TURN_RECAST, DONE(its_record), .events =
		    "meet stream place turn recast over" },
		{ "refused", ON, CAST, .wants = true, .capture = 1,
		    .kind = AC_TURN_RECAST, .answer = AC_REASON_REFUSED,
		    KEPT(REFUSED, its_record), .events =
		    "meet stream place turn recast over" },
		{ "captured while the program tunes", ON, CAST, .wants = true,
		    .capture = 1, .is_unsteady = true, .kind = AC_TURN_RECAST,
		    DONE(its_record), .events =
		    "meet stream place turn recast over" },
		{ "captured, without room for it", ON, CAST, .wants = true,
		    .capture = 1, .kind = AC_TURN_RECAST,
		    .answer = AC_REASON_CAPTURE, KEPT(CAPTURE, its_record),
		    .events = "meet stream place turn recast lacks over" },
		{ "captured, with room for another", ON, CAST, .wants = true,
		    .capture = 1, .kind = AC_TURN_RECAST, .is_second = true,
		    .answer = AC_REASON_CAPTURE, DONE(second_record), .events =
		    "meet stream place turn recast lacks recast over" },
		{ "unsampled", ON, LIBRARY, .has_prepare = true,
		    .kind = AC_TURN_RECAST, DONE(its_record), .events =
		    "meet prepare-nowhere turn recast-nowhere over" },
		{ "on data that never varied", ON, LIBRARY, .minds = true,
		    .kind = AC_TURN_RECAST, DONE(its_record), .events =
		    "meet stream captured? turn recast-nowhere over" },
		{ "the same, captured", ON, LIBRARY, .minds = true,
		    .capture = 1, .kind = AC_TURN_RECAST, DONE(its_record),
		    .events = "meet stream captured? stream place turn recast "
		    "over" },
		{ "a library's whose place is not to be found", ON, LIBRARY,
		    .wants = true, .place = AC_REASON_CAPTURE,
		    .kind = AC_TURN_RECAST, DONE(its_record), .events =
		    "meet stream place turn recast-nowhere over" },
		{ "a cast, likewise", ON, CAST, .wants = true,
		    .place = AC_REASON_CAPTURE, .kind = AC_TURN_RECAST,
		    KEPT(CAPTURE, site_record), .events =
		    "meet stream place" },
		{ "what needs its place, likewise", ON, LIBRARY, .wants = true,
		    .needs_place = true, .stream = AC_REASON_UNSUPPORTED,
		    .kind = AC_TURN_RECAST, KEPT(UNSUPPORTED, site_record),
		    .events = "meet stream" },
		/* The candidate changed after the look. */
		{ "a cast by now", ON, .tactic = AC_TACTIC_LIBRARY,
		    .kind = AC_TURN_RECAST, KEPT(PROBATION, its_record),
		    .events = "meet turn over" },
		{ "recast by now, and needs its place", ON, LIBRARY,
		    .needs_place = true, .kind = AC_TURN_RECAST,
		    KEPT(PROBATION, its_record), .events = "meet turn over" },
		{ "strict by now", ON, LIBRARY, .kind = AC_TURN_STRICT,
		    KEPT(PROBATION, its_record), .events = "meet turn over" },
	};

	(void)state;
	CHECK(rows);
}

static void
test_other_turns(void **state)
{
	static const struct row rows[] = {
		{ "strict", ON, CAST, .wants = true, .kind = AC_TURN_STRICT,
		    DONE(its_record), .events =
		    "meet stream place turn strict over" },
		{ "strict, and bad", ON, LIBRARY, .wants = true,
		    .kind = AC_TURN_STRICT, .answer = AC_REASON_GUARD,
		    KEPT(GUARD, its_record), .events =
		    "meet stream place turn strict over" },
		{ "a try", ON, CAST, .wants = true, .kind = AC_TURN_TRY,
		    .answer = AC_REASON_WORKSPACE,
		    KEPT(WORKSPACE, site_record), .events =
		    "meet stream place turn try over" },
		{ "a try, timed", ON, CAST, .wants = true, .is_timed = true,
		    .kind = AC_TURN_TRY, .answer = AC_REASON_PROBATION,
		    .outcome = AC_OUTCOME_TIMED, .record = &site_record,
		    .reason = AC_REASON_PROBATION, .events =
		    "meet stream place turn try time over timed" },
		{ "kept", ON, CAST, .wants = true, .kind = AC_TURN_KEEP,
		    KEPT(GUARD, site_record), .events =
		    "meet stream place turn over" },
		{ "kept as its own way", ON, CAST, .kind = AC_TURN_KEEP,
		    .candidate = AC_CANDIDATES, KEPT(GUARD, kept_record),
		    .events = "meet turn over" },
		{ "kept, and no place", ON, .tactic = AC_TACTIC_LIBRARY,
		    .wants = true, .stream = AC_REASON_REFUSED,
		    .kind = AC_TURN_KEEP, KEPT(REFUSED, site_record),
		    .events = "meet stream turn over" },
		{ "kept, timed", ON, CAST, .wants = true, .is_timed = true,
		    .kind = AC_TURN_KEEP, .outcome = AC_OUTCOME_TIMED,
		    .record = &site_record, .reason = AC_REASON_GUARD,
		    .events = "meet stream place turn time over timed" },
	};
	struct row busy = rows[7];

	(void)state;
	CHECK(rows);
	timing_is_free = false;
	busy.outcome = AC_OUTCOME_KEPT;
	busy.events = "meet stream place turn time over";
	check(&busy);
	timing_is_free = true;
}

/* Under reproducible=on the trial of the stream counts the call. */
static void
test_streams(void **state)
{
	static const struct row rows[] = {
		{ "on a stream", ON, CAST, .wants = true, .reproducible = true,
		    .kind = AC_TURN_RECAST, DONE(its_record), .events =
		    "meet stream place meet-on-stream turn-on-stream recast "
		    "over-on-stream" },
		{ "nowhere", ON, LIBRARY, .reproducible = true,
		    .kind = AC_TURN_RECAST, DONE(its_record), .events =
		    "meet turn recast-nowhere over" },
	};

	(void)state;
	CHECK(rows);
}

static void
test_judge(void **state)
{
	const struct ac_place place = { .stream_id = 7 };
	struct ac_turn turn = { .number = 1 };
	const struct ac_conduct call = {
		.trial = trial, .place = &place, .turn = &turn
	};

	(void)state;
	events[0] = '\0';
	assert_false(ac_conduct_is_good(&call));
	assert_string_equal(events, "wait");
	waits_well = true;
	assert_false(ac_conduct_is_good(&call));
	judges_well = true;
	assert_true(ac_conduct_is_good(&call));
	assert_string_equal(events, "wait wait judge wait judge");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_untried),
		cmocka_unit_test(test_recast),
		cmocka_unit_test(test_other_turns),
		cmocka_unit_test(test_streams),
		cmocka_unit_test(test_judge),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
