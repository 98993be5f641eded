/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/shim/test_conduct.c -- what becomes of a call, row by row: what is
 * done and in which order, what is counted, what the caller is told. Turns are
 * those that a row says. */
#include "shim/start/start.h"
#include "shim/trial/conduct.h"
#include "shim/trial/wait.h"

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
static struct ac_site_record site_record, its_record, kept_record;

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

enum kind { UNTRIED, CONVOLUTION, PRODUCT, MEASURED_CONV };

struct row {
	const char *what;
	/* The call, its ways, and what is about it. */
	enum kind   kind;
	bool        reproducible, needs_place, has_prepare;
	bool        is_unsteady, is_xla, learns;
	uint32_t    number, operation;   /* under learn=on: of the call */
	enum ac_asked_guard guard;
	enum ac_tactic tactic;           /* of the site */
	enum ac_reason stream, place;    /* what finding those answers */
	uint64_t    capture;
	/* Its turn. */
	enum ac_turn_kind turn;
	enum ac_reason why;              /* KEEP */
	unsigned    candidate;
	bool        wants, is_verified;  /* a product's: its place; a cast */
	bool        is_timed;
	enum ac_reason answer;           /* of its way */
	/* What is to become of it. */
	enum ac_outcome outcome;
	enum ac_reason reason;           /* as counted */
	struct ac_site_record *record;
	const char *events;
};
static const struct row *row;

static struct ac_trial trial;
static struct ac_variants variants;
static struct ac_origin *const origin = (struct ac_origin *)(uintptr_t)8,
    *const stream_origin = (struct ac_origin *)(uintptr_t)16;
static struct ac_timing timing;
static bool timing_is_free = true;

static void
set_turn(struct ac_turn *turn)
{
	assert_int_equal(turn->is_unsteady, row->is_unsteady);
	turn->kind = row->turn;
	turn->reason = row->why;
	turn->candidate = row->candidate;
	turn->timing = row->is_timed ? &timing : NULL;
	turn->needs_place = row->wants;
	turn->is_verified = row->is_verified;
}

void
ac_trial_turn(struct ac_trial *t, const struct ac_place *place,
    struct ac_turn *turn)
{
	assert_ptr_equal(t, &trial);
	assert_int_equal(place->stream_id, 7);
	note("turn");
	set_turn(turn);
}

void
ac_trial_over(const struct ac_turn *turn)
{
	assert_int_equal(turn->kind, row->turn);
	note("over");
}

struct ac_origin *
ac_origin_of(const uint64_t place[2], const struct ac_decision *decision,
    uint64_t stream_id)
{
	(void)decision;
	assert_true(place[0] == 3 && place[1] == 4 && stream_id == 7);
	note("origin");
	return stream_origin;
}

static void
note_of(const struct ac_origin *o, const char *event)
{
	assert_true(o == (row->reproducible ? stream_origin : origin));
	note(event);
}

void
ac_origin_begin(struct ac_origin *o, struct ac_variants *v,
    struct ac_turn *turn)
{
	assert_ptr_equal(v, &variants);
	note_of(o, "begin");
	set_turn(turn);
}

void
ac_origin_settle(struct ac_origin *o, struct ac_variants *v,
    const struct ac_place *place, struct ac_turn *turn)
{
	(void)v, (void)turn;
	assert_int_equal(place->stream_id, 7);
	note_of(o, "settle");
}

void
ac_origin_queued(struct ac_origin *o, const struct ac_place *place,
    const struct ac_turn *turn)
{
	(void)place, (void)turn;
	note_of(o, "queued");
}

void
ac_origin_refused(struct ac_origin *o, struct ac_variants *v,
    const struct ac_turn *turn)
{
	(void)v, (void)turn;
	note_of(o, "refused");
}

struct ac_site_record *
ac_variants_record(struct ac_variants *v, unsigned variant,
    enum ac_reason reason)
{
	assert_ptr_equal(v, &variants);
	if (variant == AC_ORIGINAL)
		assert_int_equal(reason, row->why);
	else
		assert_int_equal(variant, row->candidate);
	return variant == AC_ORIGINAL ? &kept_record : &its_record;
}

void
ac_variants_note_times(struct ac_variants *v)
{
	note(v == &variants ? "note" : "note-others");
}

struct ac_timing *
ac_variants_timing(struct ac_variants *v, unsigned variant)
{
	assert_ptr_equal(v, &variants);
	note(variant == AC_ORIGINAL ? "time-own" : "time-its");
	return &timing;
}

static struct ac_ledger ledger = { .host = &(struct ac_verified_record){ 0 } };

struct ac_ledger *
ac_ledger_find(ac_ledgers *list, struct ac_variants *of,
    const struct ac_place *place, unsigned candidate, bool is_steady,
    uint64_t limit_bytes)
{
	assert_true(list == &variants.ledgers && of == &variants);
	assert_true(place->stream_id == 7 && !is_steady && !limit_bytes);
	return candidate == row->candidate ? NULL : &ledger;
}

void
ac_origin_note(struct ac_ledger *of)
{
	assert_ptr_equal(of, &ledger);
	note("hear");
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

bool
ac_place_may_capture(ac_cu_stream stream)
{
	assert_ptr_equal(stream, (ac_cu_stream)(uintptr_t)3);
	return row->capture;
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
recast(struct ac_conduct *call)
{
	assert_ptr_equal(call->candidate,
	    &call->decision->candidate[row->candidate]);
	note(call->place ? "recast" : "recast-nowhere");
	return row->answer;
}

static enum ac_reason
try_all(struct ac_conduct *call)
{
	(void)call;
	note("try");
	return row->answer;
}

static enum ac_reason
learn(struct ac_conduct *call)
{
	assert_int_equal(call->turn->kind, AC_TURN_LEARN);
	assert_ptr_equal(call->turn->ledger, call->origin ? &ledger : NULL);
	assert_true(!call->origin || call->candidate
	    == &call->decision->candidate[!row->candidate]);
	note("learn");
	return row->answer;
}

/* ---- Rows ---------------------------------------------------------------- */

/* Of two candidates, a cast and the library's conversion. */
static enum ac_outcome
conduct(const struct row *r)
{
	const struct ac_ways ways = {
		.needs_place = r->needs_place, .find_stream = find_stream,
		.prepare = r->has_prepare ? prepare : NULL,
		.recast = recast, .try_all = try_all, .learn = learn
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
		.decision = &decision, .record = &site_record,
		.variants = r->kind != UNTRIED ? &variants : NULL,
		.trial = r->kind == CONVOLUTION ? &trial : NULL,
		.origin = r->kind == PRODUCT ? origin : NULL,
		.from = { 3, 4 }, .device = 2, .is_unsteady = r->is_unsteady
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
static void
test_untried(void **state)
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

	(void)state;
	ac_shim_notice_due = true;
	CHECK(rows);
}

/* A trial tells where it is, and whatever came of it, it is over. */
static void
test_convolutions(void **state)
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

	(void)state;
	ac_shim_notice_due = true;
	CHECK(rows);
	timing_is_free = false;
	busy.outcome = AC_OUTCOME_KEPT;
	busy.events = "stream place turn time over";
	check(&busy);
	timing_is_free = true;
}

/* Where it runs is looked for if its turn depends on that. */
static void
test_products(void **state)
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
		{ "left", VERIFIED, .why = AC_REASON_GUARD,
		    KEPT(GUARD, kept_record), .events = "begin" },
		{ "while the program tunes", VERIFIED, RUN, .is_unsteady = true,
		    KEPT(PROBATION, site_record),
		    .events = "begin stream place settle" },
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

	(void)state;
	CHECK(rows);
}

/* Measured next to the first calls, and as long as that is a sixteenth. */
static void
test_learning(void **state)
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
		{ "another", LEARNS, .number = 4, .events = "" },
		{ "captured", LEARNS, .number = 1, .capture = 1,
		    .events = "stream place" },
		{ "without a context", LEARNS, .number = 1,
		    .place = AC_REASON_NO_CONTEXT, .events = "stream place" },
		{ "while the program tunes", LEARNS, .number = 1,
		    .is_unsteady = true, .events = "" },
		{ "a convolution", ITS_OWN, .kind = MEASURED_CONV, .number = 2,
		    .outcome = AC_OUTCOME_TIMED, .events = "stream place "
		    "time-its learn time-its learn note time-own time timed" },
	};
	struct row one = rows[0];

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		ledger.queued = 0;
		variants.learnt = rows[i].number - 1;
		check(&rows[i]);
		assert_int_equal(ledger.queued, !rows[i].answer
		    && strstr(rows[i].events, "hear"));
	}
	variants.learnt = 3;
	for (uint64_t number = 4; number < 4096; number++) {
		one.number = number;
		conduct(&one);
		assert_in_range(variants.learnt, number < 128 ? 3 : number / 32
		    - 2, number < 128 ? 3 : number / 32);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_untried),
		cmocka_unit_test(test_convolutions),
		cmocka_unit_test(test_products),
		cmocka_unit_test(test_learning),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
