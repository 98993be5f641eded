/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/shim/conduct_world.h -- the world of a call that is conducted: a
 * row says what everything about it answers, and what is to become of it. Notes
 * what is asked, in which order. */
#ifndef AC_TESTS_CONDUCT_WORLD_H
#define AC_TESTS_CONDUCT_WORLD_H

#include "shim/device/handle.h"
#include "shim/start/start.h"
#include "shim/trial/conduct.h"
#include "shim/trial/wait.h"
#include "tests/unit/cases.h"

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
	bool        adds;                /* to what a cast wrote */
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
	note(turn->kind == row->turn ? "over" : "over-others");
}

struct ac_origin *
ac_origin_on(const struct ac_origin *o, const struct ac_decision *decision,
    uint64_t stream_id)
{
	assert_true(o == origin && stream_id == 7);
	note("origin");
	return stream_origin;
}

void (*_Atomic ac_handle_waited[AC_WAITED_COUNT])(void);

static void
note_of(const struct ac_origin *o, const char *event)
{
	assert_ptr_equal(o, row->reproducible ? stream_origin : origin);
	note(event);
}

static struct ac_ledger ledger = { .host = &(struct ac_verified_record){ 0 } };

void
ac_origin_begin(struct ac_origin *o, struct ac_variants *v,
    struct ac_turn *turn)
{
	assert_ptr_equal(v, &variants);
	note_of(o, "begin");
	set_turn(turn);
}

bool
ac_origin_follows(struct ac_origin *o)
{
	assert_true(o == (row->reproducible ? stream_origin : origin));
	return row->adds;
}

void
ac_origin_again(struct ac_origin *o, struct ac_variants *v,
    const struct ac_place *place, struct ac_turn *turn)
{
	assert_ptr_equal(v, &variants);
	assert_int_equal(place->stream_id, 7);
	note_of(o, "again");
	turn->kind = AC_TURN_RECAST;
	turn->is_verified = true;
}

void
ac_origin_settle(struct ac_origin *o, struct ac_variants *v,
    const struct ac_place *place, struct ac_turn *turn)
{
	assert_int_equal(place->stream_id, 7);
	note_of(o, "settle");
	turn->ledger = &ledger;
}

void
ac_origin_queued(struct ac_origin *o, const struct ac_place *place,
    const struct ac_turn *turn)
{
	note_of(o, place && turn ? "queued" : "queued-nowhere");
}

void
ac_origin_refused(struct ac_origin *o, struct ac_variants *v,
    const struct ac_turn *turn)
{
	note_of(o, "refused");
}

struct ac_site_record *
ac_variants_record(struct ac_variants *v, unsigned variant,
    enum ac_reason reason)
{
	assert_ptr_equal(v, &variants);
	assert_int_equal(variant == AC_ORIGINAL ? (unsigned)reason : variant,
	    variant == AC_ORIGINAL ? (unsigned)row->why : row->candidate);
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

void
ac_ledger_recorded(struct ac_ledger *of, const struct ac_place *at)
{
	assert_ptr_equal(of, &ledger);
	assert_true(at->capture);
}

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
ac_origin_note(const struct ac_variants *of, const struct ac_place *place)
{
	assert_true(of == &variants && (!place || place->stream_id == 7));
	note(place ? "hear" : "hear-elsewhere");
}

bool
ac_timing_begin(struct ac_timing *of, const struct ac_place *place)
{
	assert_ptr_equal(of, &timing);
	note(place ? "time" : "time-nowhere");
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

static ac_cu_result
is_capturing(ac_cu_stream stream, int *capturing_out)
{
	assert_ptr_equal(stream, (ac_cu_stream)(uintptr_t)3);
	*capturing_out = row->capture != 0;
	return 0;
}

const struct ac_driver *
ac_driver_get(void)
{
	static const struct ac_driver driver = {
		.cuStreamIsCapturing = is_capturing
	};

	return &driver;
}

/* ---- The ways ------------------------------------------------------------ */

static enum ac_reason
find_stream(const struct ac_conduct *call, ac_cu_stream *stream_out)
{
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

#endif
