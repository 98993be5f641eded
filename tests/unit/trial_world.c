/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/trial_world.c -- one context, one stream, pages and events that
 * the tests of shim/trial*.c make up. */
#include "tests/unit/trial_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- A world of one context and one stream ------------------------------ */

struct ac_recast_post posts[128];
bool has_pages = true, event_passed = true;
uint32_t epoch;
unsigned waits, pages;
int64_t now_ns;
static unsigned events;
float elapsed_ms;

int
ac_scratch_relax(const struct ac_driver *driver)
{
	(void)driver;
	return 0;
}

void
ac_scratch_restore(const struct ac_driver *driver, int mode)
{
	(void)driver, (void)mode;
}

uint32_t
ac_scratch_epoch(const struct ac_scratch *scratch)
{
	(void)scratch;
	return epoch;
}

bool
ac_page_take(const struct ac_place *place, size_t bytes, bool outlives,
    void **host_out, ac_cu_address *device_out)
{
	assert_false(outlives);
	assert_true(bytes <= sizeof posts);
	assert_int_equal(place->capture, 0);
	pages++;
	*host_out = posts;
	*device_out = (ac_cu_address)(uintptr_t)posts;
	return has_pages;
}

static ac_cu_result
create(ac_cu_event *event, unsigned flags)
{
	(void)flags;
	*event = (ac_cu_event)(uintptr_t)++events;
	return 0;
}

static ac_cu_result
destroy(ac_cu_event event)
{
	(void)event;
	return 0;
}

static ac_cu_result
record(ac_cu_event event, ac_cu_stream stream)
{
	(void)event, (void)stream;
	return 0;
}

static ac_cu_result
query(ac_cu_event event)
{
	(void)event;
	waits++;
	return event_passed ? 0 : 600;
}

static ac_cu_result
elapsed(float *ms, ac_cu_event start, ac_cu_event end)
{
	(void)start, (void)end;
	*ms = elapsed_ms;
	return 0;
}

/* Of a program that is linked with --wrap: naps take no time but this one's. */
int __wrap_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_nanosleep(const struct timespec *nap, struct timespec *left);

int
__wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
	(void)clock;
	now->tv_sec = now_ns / 1000000000;
	now->tv_nsec = now_ns % 1000000000;
	return 0;
}

int
__wrap_nanosleep(const struct timespec *nap, struct timespec *left)
{
	(void)left;
	now_ns += nap->tv_sec * 1000000000 + nap->tv_nsec;
	return 0;
}

static const struct ac_driver driver = {
	.cuEventCreate = create, .cuEventDestroy = destroy,
	.cuEventRecord = record, .cuEventQuery = query,
	.cuEventElapsedTime = elapsed
};
const struct ac_place here = {
	.driver = &driver, .scratch = (struct ac_scratch *)8, .stream_id = 3
};
const struct ac_place graph = {
	.driver = &driver, .scratch = (struct ac_scratch *)8, .stream_id = 3,
	.capture = 9
};
const struct ac_place there = {
	.driver = &driver, .scratch = (struct ac_scratch *)16, .stream_id = 4
};

/* ---- A site that may use FP16 by cast, or TF32 --------------------------- */

struct ac_decision
decision_of(enum ac_asked_guard guard)
{
	return (struct ac_decision){
		.rung = AC_RUNG_FP16, .tactic = AC_TACTIC_CAST,
		.source = "test", .line = 1, .tol = 1e-3, .scaled = true,
		.guard = guard, .sample_period = 64, .judges_profit = true,
		.candidate_count = 2, .candidate = {
			{ AC_RUNG_FP16, AC_TACTIC_CAST, 1e-3, 1e-5 },
			{ AC_RUNG_TF32, AC_TACTIC_LIBRARY, 1e-3, 2e-5 }
		}, .keep_seconds = 1e-4
	};
}

struct ac_trial *
make(const struct ac_decision *decision, bool may_time)
{
	static unsigned number;
	struct ac_site_key key;
	struct ac_site_record *site;

	setenv("AUTOCAST_STATE", "off", 1); /* statistics: in memory */
	memset(&key, 0, sizeof key);
	key.batch = 1;
	key.m = ++number; /* a site of its own */
	memset(posts, 0, sizeof posts);
	has_pages = event_passed = true;
	epoch = 1;
	elapsed_ms = 0;
	site = ac_report_site(&key, decision, "", NULL);
	return ac_trial_make(decision, &key, "", site, may_time);
}

struct ac_turn
turn(struct ac_trial *t)
{
	struct ac_turn turn;

	ac_trial_turn(t, &here, &turn);
	return turn;
}

/* A post of `slot` for call `number`. */
void
post(const struct ac_slot *slot, uint64_t number, float rho, float error)
{
	struct ac_recast_post *to = (struct ac_recast_post *)(uintptr_t)
	    slot->device;

	*to = (struct ac_recast_post){ .number = number, .rho = rho,
		.tile_rho = rho, .error = error, .line_error = error,
		.samples = 1 };
}

/* Try all candidates, with these errors. */
void
try_with(struct ac_trial *t, const struct ac_turn *first, float fp16,
    float tf32)
{
	struct ac_slot slot = ac_trial_slot(t, 0);

	assert_int_equal(first->kind, AC_TURN_TRY);
	post(&slot, first->number, fp16 / 2, fp16);
	slot = ac_trial_slot(t, 1);
	post(&slot, first->number, 0, tf32);
	ac_trial_tried(t, &here, first, 3, 0);
}

struct ac_trial *
settled(const struct ac_decision *decision, float fp16, float tf32)
{
	struct ac_trial *t = make(decision, false);
	const struct ac_turn first = turn(t);

	try_with(t, &first, fp16, tf32);
	return t;
}

/* Turns until call `last`; samples are good unless `error` says otherwise.
 * Returns the last one. */
struct ac_turn
turns_until(struct ac_trial *t, uint64_t last, float error)
{
	struct ac_turn now;

	do {
		now = turn(t);
		if (!now.sampled)
			continue;
		post(&now.slot, now.number, 1e-4f, error);
		ac_trial_sampled(t, &now);
	} while (now.number < last);
	return now;
}
