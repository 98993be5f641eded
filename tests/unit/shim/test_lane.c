/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/shim/test_lane.c -- who is lent which lane, when, and what becomes
 * of it. */
#include "shim/device/lane.h"

#include "tests/unit/cases.h"
#include "tests/unit/shim/lane_world.h"

#include <pthread.h>
#include <unistd.h>

enum { LANES = 64, EAGER = 16, GRAPHS = 48 };

static const struct ac_lane_request wanted = {
	.provider = &full, .program = (cublasHandle_t)(uintptr_t)8,
	.device = 3, .wants_handle = true, .buffer_bytes = 1000,
	.zero_bytes = 64
};

static struct ac_place
on(const struct ac_place *place, uint64_t stream, uint64_t capture)
{
	struct ac_place other = *place;

	other.stream_id = stream;
	other.stream = (ac_cu_stream)(uintptr_t)(64 * stream);
	other.capture = capture;
	return other;
}

static struct ac_lane_loan
borrow(const struct ac_place *place)
{
	struct ac_lane_loan loan;

	assert_int_equal(ac_lane_borrow(&wanted, place, &loan),
	    AC_REASON_NONE);
	return loan;
}

/* Borrow and return: the lane. */
static struct ac_lane *
use(const struct ac_place *place)
{
	const struct ac_lane_loan loan = borrow(place);

	ac_lane_return(&loan, true);
	return loan.lane;
}

static enum ac_reason
refusal(const struct ac_place *place)
{
	struct ac_lane_loan loan;

	return ac_lane_borrow(&wanted, place, &loan);
}

/* ---- Streams ----------------------------------------------------------- */

CASE(test_what_is_lent)
{
	const struct ac_place place = world_place();
	struct ac_lane_request without = wanted;
	struct ac_lane_loan loan = borrow(&place);

	assert_non_null(loan.handle);
	assert_ptr_equal(loan.handle, loan.lane->handle);
	assert_ptr_equal(loan.stream, place.stream);
	assert_ptr_equal(loan.buffer, (char *)(uintptr_t)
	    loan.lane->part[LANE_BUFFER].address);
	assert_ptr_equal(loan.zeros, (uint32_t *)(uintptr_t)
	    loan.lane->part[LANE_ZEROS].address);
	assert_ptr_equal(loan.state, (void *)(uintptr_t)
	    loan.lane->part[LANE_WORDS].address);
	ac_lane_return(&loan, true);
	without.wants_handle = false;
	assert_int_equal(ac_lane_borrow(&without, &place, &loan),
	    AC_REASON_NONE);
	assert_null(loan.handle);
	ac_lane_return(&loan, true);
}

CASE(test_a_stream_keeps_its_lane)
{
	const struct ac_place one = world_place(), two = on(&one, 2, 0);
	struct ac_lane *first = use(&one), *second = use(&two);
	const unsigned takes = world.count[TAKE];

	assert_ptr_not_equal(first, second);
	for (int i = 0; i < 3; i++) {
		assert_ptr_equal(use(&one), first);
		assert_ptr_equal(use(&two), second);
	}
	assert_int_equal(world.count[TAKE], takes);
	assert_int_equal(world.count[WAIT], 0);
	assert_int_equal(world.count[RECORD], 8);
	assert_int_equal(world.count[CREATE], 2);
	/* Two calls on it at a time: a lane each. */
	borrow(&one);
	assert_ptr_not_equal(borrow(&one).lane, first);
}

CASE(test_the_oldest_moves)
{
	const struct ac_place place = world_place(), graph = on(&place, 1, 7);
	struct ac_lane_request bares = wanted;
	struct ac_lane_loan loan;
	struct ac_place other;
	struct ac_lane *lane[EAGER], *moved;

	/* A graph's is none of them. */
	(void)use(&place);
	(void)use(&graph);
	/* Nor another library's. */
	bares.provider = &bare;
	assert_int_equal(ac_lane_borrow(&bares, &place, &loan),
	    AC_REASON_NONE);
	ac_lane_return(&loan, true);
	for (unsigned i = 0; i < EAGER; i++) {
		other = on(&place, i + 1, 0);
		lane[i] = use(&other);
		for (unsigned j = 0; j < i; j++)
			assert_ptr_not_equal(lane[i], lane[j]);
	}
	for (unsigned i = 0; i < EAGER; i++)
		if (i != 5) {
			other = on(&place, i + 1, 0);
			assert_ptr_equal(use(&other), lane[i]);
		}
	other = on(&place, 100, 0);
	loan = borrow(&other);
	moved = loan.lane;
	assert_int_equal(moved->state, LANE_BUSY);
	ac_lane_return(&loan, true);
	assert_ptr_equal(moved, lane[5]);
	assert_int_equal(world.count[WAIT], 1);
	assert_ptr_equal(world.event, moved->done);
	assert_int_equal(world.count[EVENT_CREATE], 2 + EAGER);
	other = on(&place, 101, 0);
	assert_ptr_equal(use(&other), lane[0]);
	other = on(&place, 100, 0);
	assert_ptr_equal(use(&other), lane[5]);
}

static struct ac_lane_loan lent;

static void *
give_back_soon(void *unused)
{
	usleep(30000);
	ac_lane_return(&lent, true);
	return unused;
}

CASE(test_a_busy_lane_is_waited_for)
{
	const struct ac_place place = world_place();
	pthread_t thread;

	for (unsigned i = 0; i < EAGER; i++)
		lent = borrow(&place);
	assert_int_equal(pthread_create(&thread, NULL, give_back_soon, NULL),
	    0);
	assert_ptr_equal(use(&place), lent.lane);
	pthread_join(thread, NULL);
}

CASE(test_lanes_of_others)
{
	struct ac_place place = world_place();
	struct ac_lane_request other = wanted;
	struct ac_lane *lane = use(&place);
	struct ac_lane_loan loan;
	const ac_cu_event before = lane->done;

	other.provider = &bare;
	assert_int_equal(ac_lane_borrow(&other, &place, &loan),
	    AC_REASON_NONE);
	assert_ptr_not_equal(loan.lane, lane);
	ac_lane_return(&loan, true);
	assert_ptr_equal(use(&place), lane);
	/* What went with its context is forgotten, and the place used again. */
	world_reset(&place);
	assert_ptr_equal(use(&place), lane);
	assert_ptr_not_equal(lane->done, before);
	assert_int_equal(world.count[CREATE], 3);
	assert_int_equal(world.count[TAKE], 3 * LANE_PARTS);
	assert_int_equal(lane->epoch, place.epoch);
	assert_int_equal(world.count[DESTROY] + world.count[GIVE]
	    + world.count[EVENT_DESTROY], 0);
	/* But for one that is in use just now. */
	lane = borrow(&place).lane;
	world_reset(&place);
	assert_ptr_not_equal(borrow(&place).lane, lane);
	/* However many there were. */
	for (int i = 0; i < EAGER - 1; i++)
		(void)borrow(&place);
	world_reset(&place);
	assert_int_equal(refusal(&place), AC_REASON_NONE);
}

/* Each provider has as many lanes as run at once, until there are no more. */
CASE(test_every_provider_has_some)
{
	const struct ac_place place = world_place();
	static struct ac_provider copy[LANES / EAGER];
	struct ac_lane_request other = wanted;
	struct ac_lane_loan loan;

	for (unsigned i = 0; i < LANES; i++) {
		copy[i / EAGER] = full;
		other.provider = &copy[i / EAGER];
		assert_int_equal(ac_lane_borrow(&other, &place, &loan),
		    AC_REASON_NONE);
	}
	assert_int_equal(refusal(&place), AC_REASON_WORKSPACE);
}

/* ---- What fails -------------------------------------------------------- */

CASE(test_building_fails)
{
	struct ac_place place = world_place();

	world.fails = 1 << TAKE;
	for (int i = 0; i < 20; i++)
		assert_int_equal(refusal(&place), AC_REASON_OUT_OF_MEMORY);
	/* Memory may come back, for a handle too. */
	world.fails = 1 << CREATE;
	world.is_scarce = true;
	for (int i = 0; i < 20; i++)
		assert_int_equal(refusal(&place), AC_REASON_OUT_OF_MEMORY);
	world.is_scarce = false;
	world.count[CREATE] = 0;
	for (int i = 0; i < 20; i++)
		assert_int_equal(refusal(&place), AC_REASON_REFUSED);
	/* After a few no more are asked for. */
	assert_int_equal(world.count[CREATE], 8);
	world.fails = 0;
	assert_int_equal(refusal(&place), AC_REASON_REFUSED);
	/* With a lane that there is already, one goes on. */
	place = world_place();
	(void)use(&place);
	world.fails = 1 << TAKE;
	place = on(&place, 2, 0);
	assert_int_equal(refusal(&place), AC_REASON_NONE);
}

CASE(test_moving_fails)
{
	const struct ac_place one = world_place(), two = on(&one, 2, 0);
	struct ac_lane *lane = use(&one);
	unsigned records = world.count[RECORD];

	/* Unordered, the lane stays as its last use left it. */
	world.fails = 1 << WAIT | 1 << TAKE;
	assert_int_equal(refusal(&two), AC_REASON_REFUSED);
	assert_int_equal(world.count[RECORD], records);
	assert_false(lane->dirty);
	world.fails = 0;
	assert_ptr_equal(use(&one), lane);
	records = world.count[RECORD];
	/* Where it fails later, nothing was queued either. */
	world.fails = 1 << SET_STREAM | 1 << TAKE;
	assert_int_equal(refusal(&two), AC_REASON_REFUSED);
	assert_int_equal(world.count[RECORD], records + 1);
	world.fails = 0;
	assert_ptr_equal(use(&two), lane);
	assert_int_equal(world.count[MEMSET], 0);
	assert_false(lane->dirty);
}

CASE(test_a_call_fails_half_way)
{
	const struct ac_place place = world_place();
	struct ac_lane_loan loan = borrow(&place);
	struct ac_lane *lane = loan.lane;
	struct ac_place other = on(&place, 1, 7);

	/* In a graph, too, which may be launched many times. */
	for (unsigned i = 1; i <= 2; i++) {
		const unsigned records = world.count[RECORD];

		ac_lane_return(&loan, false);
		assert_int_equal(world.count[MEMSET], 2 * i);
		assert_false(lane->dirty);
		assert_int_equal(world.count[RECORD] - records, i == 1);
		loan = borrow(&other);
		assert_ptr_equal(loan.lane, lane);
	}
	ac_lane_return(&loan, true);
	assert_int_equal(world.count[MEMSET], 4);
	/* Nobody could come after this use. */
	loan = borrow(&place);
	lane = loan.lane;
	world.fails = 1 << RECORD;
	ac_lane_return(&loan, true);
	world.fails = 0;
	for (int i = 0; i < EAGER - 1; i++)
		assert_ptr_not_equal(borrow(&place).lane, lane);
	other = on(&place, 2, 0);
	assert_int_equal(refusal(&other), AC_REASON_WORKSPACE);
}

/* ---- Graphs ------------------------------------------------------------ */

CASE(test_a_graph_keeps_its_lane)
{
	const struct ac_place eager = world_place();
	const struct ac_place graph = on(&eager, 1, 7), side = on(&eager, 2, 7);
	const struct ac_place other = on(&eager, 1, 8);
	struct ac_lane *lane, *second;
	unsigned records;

	assert_int_equal(refusal(&graph), AC_REASON_CAPTURE);
	assert_int_equal(world.count[TAKE] + world.count[EVENT_CREATE], 0);
	lane = use(&eager);
	records = world.count[RECORD];
	world.is_pending = true;
	assert_int_equal(refusal(&graph), AC_REASON_CAPTURE);
	world.is_pending = false;
	assert_ptr_equal(use(&graph), lane);
	assert_ptr_equal(use(&graph), lane);
	assert_int_equal(world.count[RECORD], records);
	assert_int_equal(world.count[WAIT], 0);
	/* Neither a stream's, nor another graph's. */
	assert_int_equal(refusal(&other), AC_REASON_CAPTURE);
	second = use(&eager);
	assert_ptr_not_equal(second, lane);
	assert_ptr_equal(use(&other), second);
	/* One for each stream that the capture has. */
	assert_int_equal(refusal(&side), AC_REASON_CAPTURE);
	assert_ptr_equal(use(&graph), lane);
}

/* The lane of the very stream is asked first: its calls were like these. */
CASE(test_a_capture_takes_its_streams_lane)
{
	const struct ac_place one = world_place(), two = on(&one, 2, 0);
	const struct ac_place graph = on(&one, 2, 7), side = on(&one, 3, 7);
	struct ac_lane *first = use(&one), *second = use(&two);

	assert_ptr_equal(use(&graph), second);
	assert_ptr_equal(use(&side), first);
}

CASE(test_graphs_leave_some_lanes)
{
	struct ac_place eager = world_place();
	const struct ac_lane_loan first = borrow(&eager);
	struct ac_place graph;

	for (unsigned i = 0; i < GRAPHS; i++) {
		(void)use(&eager);
		graph = on(&eager, 1, i + 1);
		(void)use(&graph);
	}
	(void)use(&eager);
	graph = on(&eager, 1, GRAPHS + 1);
	assert_int_equal(refusal(&graph), AC_REASON_CAPTURE);
	for (unsigned i = 0; i < EAGER - 1; i++)
		(void)borrow(&eager);
	/* With their context they are gone. */
	ac_lane_return(&first, true);
	world_reset(&eager);
	assert_ptr_equal(use(&eager), first.lane);
	graph = on(&eager, 1, GRAPHS + 2);
	assert_int_equal(refusal(&graph), AC_REASON_NONE);
}

/* A place in a capture whose end the driver tells. */
static struct ac_place
held(const struct ac_place *place, uint64_t stream, uint64_t capture)
{
	struct ac_place other = on(place, stream, capture);

	other.graph = (ac_cu_graph)(uintptr_t)64;
	return other;
}

/* First streams, so that they need no more of them. */
CASE(test_what_graphs_leave_serves_streams)
{
	const struct ac_place eager = world_place(), two = on(&eager, 2, 0);
	const struct ac_place graph = held(&eager, 1, 1001);
	struct ac_lane *lane = use(&eager), *second;
	unsigned taken;

	assert_ptr_equal(use(&graph), lane);
	assert_ptr_equal(use(&graph), lane);
	assert_int_equal(world.holds, 1);
	second = use(&eager);
	assert_ptr_not_equal(second, lane);
	world_end(0);
	taken = world.count[TAKE];
	assert_ptr_equal(use(&eager), second);
	assert_ptr_equal(use(&two), lane);
	assert_ptr_equal(use(&two), lane);
	assert_int_equal(world.count[TAKE], taken);
	/* A server that captures again and again. */
	for (unsigned i = 0; i < 1000; i++) {
		const struct ac_place next = held(&eager, 1, 2000 + i);

		(void)use(&eager);
		world.holds = 0;
		(void)use(&next);
		world_end(0);
	}
	assert_in_range(world.count[EVENT_CREATE], 2, 3);
	/* Nor does it outlive the program's handles. */
	ac_lane_destroy_all(&full, world.current);
	assert_int_equal(world.count[DESTROY], world.count[CREATE]);
}

/* The next graph, too, if it has none to update. */
CASE(test_what_graphs_leave_serves_graphs)
{
	const struct ac_place eager = world_place(), two = on(&eager, 2, 0);
	const struct ac_place a = held(&eager, 1, 3001);
	const struct ac_place b = held(&eager, 1, 3002);
	const struct ac_place c = held(&eager, 1, 3003);
	const struct ac_place d = held(&eager, 1, 3004);
	struct ac_lane *lane = use(&eager), *second;

	assert_ptr_equal(use(&a), lane);
	assert_int_equal(refusal(&b), AC_REASON_CAPTURE);
	world_end(0);
	assert_ptr_equal(use(&b), lane);
	second = use(&two);
	assert_ptr_equal(use(&c), second);
	world_end(1);
	/* It may be about to update what c became. */
	assert_int_equal(refusal(&d), AC_REASON_CAPTURE);
	world_end(2);
	assert_int_equal(refusal(&d), AC_REASON_NONE);
}

/* The driver refuses to tell. */
CASE(test_what_nobody_tells_of_stays)
{
	const struct ac_place eager = world_place();
	const struct ac_place graph = on(&eager, 1, 4001);
	const struct ac_place other = on(&eager, 1, 4002);
	struct ac_lane *lane = use(&eager);

	assert_ptr_equal(use(&graph), lane);
	assert_int_equal(world.holds, 0);
	assert_int_equal(refusal(&other), AC_REASON_CAPTURE);
	assert_ptr_not_equal(use(&eager), lane);
}

/* ---- Ends -------------------------------------------------------------- */

CASE(test_the_last_handle_goes)
{
	struct ac_place place = world_place();
	const struct ac_place two = on(&place, 2, 0), graph = on(&place, 2, 7);
	const uint64_t context = world.current;
	struct ac_lane_request other = wanted;
	struct ac_lane_loan loan, busy;
	struct ac_lane *lane;

	lane = use(&place);
	(void)use(&two);
	assert_ptr_not_equal(use(&graph), lane);
	other.provider = &bare;
	assert_int_equal(ac_lane_borrow(&other, &place, &loan),
	    AC_REASON_NONE);
	ac_lane_return(&loan, true);
	/* Not in another context, or in none. */
	world.current = context + 1;
	ac_lane_destroy_all(&full, context);
	world.current = 0;
	ac_lane_destroy_all(&full, context);
	ac_lane_destroy_all(&full, 0);
	world.current = context + 1;
	ac_lane_destroy_all(&full, context + 1); /* nothing of ours is there */
	world.current = context;
	busy = borrow(&place);
	ac_lane_destroy_all(&full, context);
	assert_int_equal(world.count[DESTROY], 0);
	assert_int_equal(world.count[TRIM], 1);
	ac_lane_return(&busy, true);
	ac_lane_destroy_all(&full, context);
	assert_int_equal(world.count[DESTROY], 1);
	assert_int_equal(world.count[EVENT_DESTROY], 1);
	assert_int_equal(world.count[GIVE], LANE_PARTS);
	assert_int_equal(world.count[TRIM], 2);
	assert_int_equal(lane->state, LANE_EMPTY);
	/* The graph has its own still, and a stream a new one. */
	assert_int_equal(refusal(&graph), AC_REASON_NONE);
	assert_ptr_equal(use(&place), lane);
	ac_lane_destroy_all(&bare, context);
	assert_int_equal(world.count[DESTROY], 2);
	/* What is gone makes room for as many. */
	for (unsigned round = 0; round < 2; round++) {
		struct ac_lane_loan all[EAGER];

		for (unsigned i = 0; i < EAGER; i++)
			all[i] = borrow(&place);
		for (unsigned i = 0; i < EAGER; i++)
			ac_lane_return(&all[i], true);
		ac_lane_destroy_all(&full, context);
	}
	assert_int_equal(world.count[DESTROY], 2 + 2 * EAGER);
	/* What went with its context is not destroyed. */
	(void)use(&place);
	world_reset(&place);
	ac_lane_destroy_all(&full, context);
	assert_int_equal(world.count[DESTROY], 2 + 2 * EAGER);
}

CASE(test_a_library_is_unloaded)
{
	const struct ac_place place = world_place();
	static struct ac_provider copy;
	struct ac_lane_request other = wanted;
	struct ac_lane_loan loan;
	struct ac_lane *lane = use(&place), *gone;

	copy = full;
	other.provider = &copy;
	assert_int_equal(ac_lane_borrow(&other, &place, &loan),
	    AC_REASON_NONE);
	ac_lane_return(&loan, true);
	gone = loan.lane;
	ac_lane_abandon_all(&copy);
	assert_int_equal(ac_lane_borrow(&other, &place, &loan),
	    AC_REASON_NONE);
	assert_ptr_not_equal(loan.lane, gone);
	assert_int_equal(world.count[DESTROY] + world.count[GIVE]
	    + world.count[EVENT_DESTROY], 0);
	assert_ptr_equal(use(&place), lane);
}

CASES_RUN(NULL, NULL)
