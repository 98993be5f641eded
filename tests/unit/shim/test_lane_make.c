/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/shim/test_lane_make.c -- what a lane takes, asks and sets to be
 * ready for a call. */

#include "tests/unit/cases.h"
#include "tests/unit/shim/lane_world.h"

enum { KIB = 1 << 10, MIB = 1 << 20 };

static struct ac_place place;
static struct ac_lane lane;
static struct ac_lane_request request;

static int
set_up(void **state)
{
	place = world_place();
	memset(&lane, 0, sizeof lane);
	lane.state = LANE_BUSY;
	request = (struct ac_lane_request){
		.provider = &full, .program = (cublasHandle_t)(uintptr_t)8,
		.device = 3, .wants_handle = true,
		.buffer_bytes = 64 * KIB + 1, .zero_bytes = 4 * KIB
	};
	return 0;
}

static enum ac_reason
build(void)
{
	return ac_lane_build(&lane, &request, &place);
}

static enum ac_reason
prepare(void)
{
	return ac_lane_prepare(&lane, &request, &place);
}

/* Built and used once. */
static void
make(void)
{
	assert_int_equal(build(), AC_REASON_NONE);
	assert_int_equal(prepare(), AC_REASON_NONE);
	lane.used = true;
}

static void
move(uint64_t stream)
{
	place.stream_id = stream;
	place.stream = (ac_cu_stream)(uintptr_t)(64 * stream);
}

/* ---- Memory ------------------------------------------------------------ */

CASE_WITH(test_parts, set_up, NULL)
{
	assert_int_equal(build(), AC_REASON_NONE);
	assert_int_equal(lane.part[LANE_WORDS].bytes, 256);
	assert_int_equal(lane.part[LANE_ZEROS].bytes, 4 * KIB);
	assert_int_equal(lane.part[LANE_BUFFER].bytes, 128 * KIB);
	assert_int_equal(lane.part[LANE_WORKSPACE].bytes, 4 * MIB);
	/* Words and zeros are read before they are written. */
	assert_true(world.taken_zeroed[0] && world.taken_zeroed[1]);
	assert_false(world.taken_zeroed[2] || world.taken_zeroed[3]);
	for (int i = 0; i < LANE_PARTS; i++)
		assert_int_not_equal(lane.part[i].address, 0);
	assert_ptr_equal(lane.provider, &full);
	assert_ptr_equal(lane.scratch, place.scratch);
	assert_int_equal(lane.epoch, place.epoch);
	assert_int_equal(lane.state, LANE_BUSY);
}

CASE_WITH(test_it_grows, set_up, NULL)
{
	struct ac_lane_block before;

	assert_int_equal(build(), AC_REASON_NONE);
	before = lane.part[LANE_BUFFER];
	request.buffer_bytes = before.bytes;
	assert_int_equal(prepare(), AC_REASON_NONE);
	assert_int_equal(world.count[TAKE], 4);
	/* Never used: nothing to wait for. */
	request.buffer_bytes++;
	assert_int_equal(prepare(), AC_REASON_NONE);
	assert_int_equal(lane.part[LANE_BUFFER].bytes, 192 * KIB);
	assert_int_equal(world.given, before.address);
	assert_int_equal(world.given_bytes, before.bytes);
	assert_null(world.last_use);
	assert_int_equal(world.count[GIVE], 1);
	lane.used = true;
	before = lane.part[LANE_ZEROS];
	request.zero_bytes++;
	assert_int_equal(prepare(), AC_REASON_NONE);
	assert_int_equal(world.given, before.address);
	assert_ptr_equal(world.last_use, lane.done);
	assert_int_equal(lane.part[LANE_ZEROS].bytes, 8 * KIB);
}

CASE_WITH(test_as_much_as_there_is_room_for, set_up, NULL)
{
	world.room = 100 * KIB;
	request.wants_handle = false;
	assert_int_equal(build(), AC_REASON_NONE);
	assert_int_equal(lane.part[LANE_BUFFER].bytes, 64 * KIB + 1);
	request.buffer_bytes = 100 * KIB + 1;
	assert_int_equal(prepare(), AC_REASON_WORKSPACE);
	assert_int_equal(lane.part[LANE_BUFFER].bytes, 0);
	assert_int_equal(lane.part[LANE_BUFFER].address, 0);
	/* The limit is the policy's. */
	world.room = UINT64_MAX;
	request.limit_bytes = 100 * KIB;
	assert_int_equal(prepare(), AC_REASON_WORKSPACE);
	request.buffer_bytes = 50 * KIB;
	assert_int_equal(prepare(), AC_REASON_NONE);
	assert_int_equal(lane.part[LANE_BUFFER].bytes, 64 * KIB);
}

CASE_WITH(test_nothing_stays_of_a_failure, set_up, NULL)
{
	world.fails = 1 << EVENT_CREATE;
	assert_int_equal(build(), AC_REASON_REFUSED);
	assert_int_equal(lane.state, LANE_EMPTY);
	assert_int_equal(world.count[TAKE] + world.count[EVENT_DESTROY], 0);
	world.fails = 1 << TAKE;
	assert_int_equal(build(), AC_REASON_OUT_OF_MEMORY);
	assert_int_equal(world.count[EVENT_DESTROY], 1);
	assert_int_equal(world.count[GIVE] + world.count[CREATE], 0);
	world.fails = 1 << CREATE;
	assert_int_equal(build(), AC_REASON_REFUSED);
	assert_int_equal(world.count[GIVE], LANE_PARTS);
	assert_int_equal(world.count[DESTROY], 0);
	assert_null(lane.handle);
	world.fails = 1 << POINTER_MODE;
	assert_int_equal(build(), AC_REASON_REFUSED);
	assert_int_equal(world.count[DESTROY], 1);
	assert_int_equal(world.count[GIVE], 2 * LANE_PARTS);
	assert_int_equal(world.count[EVENT_DESTROY], 3);
	assert_int_equal(lane.state, LANE_EMPTY);
	assert_int_equal(world.mode, 0);
	for (int i = 0; i < LANE_PARTS; i++)
		assert_int_equal(lane.part[i].bytes + lane.part[i].address, 0);
	assert_null(lane.done);
}

/* ---- The handle -------------------------------------------------------- */

CASE_WITH(test_the_size_of_a_workspace, set_up, NULL)
{
	world.major = 9;
	make();
	assert_int_equal(world.workspace_bytes, 32 * MIB);
	assert_int_equal(world.workspace, lane.part[LANE_WORKSPACE].address);
	set_up(NULL);
	world.major = 8;
	make();
	assert_int_equal(world.workspace_bytes, 4 * MIB);
	/* At most half of what is allowed, in whole 256 bytes. */
	set_up(NULL);
	request.limit_bytes = 2 * MIB + 700;
	make();
	assert_int_equal(world.workspace_bytes, MIB + 256);
	/* None for who does not multiply on it. */
	set_up(NULL);
	request.wants_handle = false;
	make();
	assert_int_equal(world.count[TAKE], 3);
	assert_int_equal(world.count[CREATE] + world.count[SET_STREAM], 0);
	/* The first call that does, and one that comes after a failure: what
	 * has not our pointer mode is no handle of ours. */
	request.wants_handle = true;
	world.fails = 1 << CREATE;
	assert_int_equal(prepare(), AC_REASON_REFUSED);
	world.fails = 1 << POINTER_MODE;
	assert_int_equal(prepare(), AC_REASON_REFUSED);
	assert_null(lane.handle);
	assert_int_equal(world.count[DESTROY], 1);
	world.fails = 0;
	assert_int_equal(prepare(), AC_REASON_NONE);
	assert_int_equal(world.count[CREATE], 3);
	assert_int_equal(world.count[POINTER_MODE], 2);
	assert_int_equal(world.count[TAKE], 4);
	assert_int_equal(world.workspace, lane.part[LANE_WORKSPACE].address);
	assert_int_equal(world.mode, 0);
	/* Nor where hardly anything is allowed. */
	set_up(NULL);
	request.wants_handle = false;
	make();
	request.wants_handle = true;
	request.limit_bytes = 300;
	assert_int_equal(prepare(), AC_REASON_NONE);
	assert_int_equal(world.count[TAKE], 3);
	assert_int_equal(world.count[SET_STREAM], 1);
	assert_int_equal(world.count[SET_WORKSPACE], 0);
	/* Where there is no room for one, there is no handle. */
	set_up(NULL);
	world.room = 1 * MIB;
	assert_int_equal(build(), AC_REASON_WORKSPACE);
	assert_int_equal(world.count[CREATE], 0);
	/* Where that is seen at once, nothing is taken. */
	set_up(NULL);
	world.seen_room = 1 * MIB;
	assert_int_equal(build(), AC_REASON_WORKSPACE);
	assert_int_equal(world.count[TAKE], 0);
}

CASE_WITH(test_it_follows_streams, set_up, NULL)
{
	make();
	assert_ptr_equal(world.stream, place.stream);
	assert_int_equal(world.count[SET_STREAM], 1);
	assert_int_equal(world.count[SET_WORKSPACE], 1);
	assert_int_equal(prepare(), AC_REASON_NONE);
	assert_int_equal(world.count[SET_STREAM], 1);
	assert_int_equal(world.count[WAIT], 0);
	move(2);
	assert_int_equal(prepare(), AC_REASON_NONE);
	assert_int_equal(lane.stream_id, 2);
	assert_int_equal(world.count[WAIT], 1);
	assert_ptr_equal(world.event, lane.done);
	assert_ptr_equal(world.stream, place.stream);
	assert_int_equal(world.count[SET_STREAM], 2);
	assert_int_equal(world.workspace, lane.part[LANE_WORKSPACE].address);
	/* Asked again until it is done. */
	move(3);
	world.fails = 1 << SET_STREAM;
	assert_int_equal(prepare(), AC_REASON_REFUSED);
	world.fails = 1 << SET_WORKSPACE;
	assert_int_equal(prepare(), AC_REASON_REFUSED);
	world.fails = 0;
	assert_int_equal(prepare(), AC_REASON_NONE);
	assert_int_equal(world.count[SET_STREAM], 5);
	assert_int_equal(world.count[SET_WORKSPACE], 4);
	/* A lane that was never used waits for nothing. */
	set_up(NULL);
	assert_int_equal(build(), AC_REASON_NONE);
	assert_int_equal(prepare(), AC_REASON_NONE);
	assert_int_equal(world.count[WAIT], 0);
}

CASE_WITH(test_modes_are_the_programs, set_up, NULL)
{
	enum { FLAG = 16 }; /* CUBLAS_MATH_DISALLOW_REDUCED_PRECISION... */

	request.math_mode = (cublasMath_t)(FLAG | CUBLAS_PEDANTIC_MATH);
	world.program_atomics = CUBLAS_ATOMICS_ALLOWED;
	world.program_target = 20;
	make();
	assert_int_equal(world.math, FLAG);
	assert_int_equal(world.atomics, CUBLAS_ATOMICS_ALLOWED);
	assert_int_equal(world.target, 20);
	assert_int_equal(prepare(), AC_REASON_NONE);
	assert_int_equal(world.count[SET_MATH], 1);
	assert_int_equal(world.count[SET_ATOMICS], 1);
	assert_int_equal(world.count[SET_TARGET], 1);
	request.math_mode = CUBLAS_DEFAULT_MATH;
	world.program_atomics = CUBLAS_ATOMICS_NOT_ALLOWED;
	world.program_target = 0;
	for (enum call call = SET_MATH; call <= SET_TARGET; call++) {
		world.fails = 1u << call;
		assert_int_equal(prepare(), AC_REASON_REFUSED);
	}
	world.fails = 0;
	assert_int_equal(prepare(), AC_REASON_NONE);
	assert_int_equal(world.math, 0);
	assert_int_equal(world.atomics, CUBLAS_ATOMICS_NOT_ALLOWED);
	assert_int_equal(world.target, 0);
	/* What a handle begins with need not be set. */
	set_up(NULL);
	make();
	assert_int_equal(world.count[SET_MATH] + world.count[SET_ATOMICS]
	    + world.count[SET_TARGET], 0);
	/* Nor what this library does not know. */
	set_up(NULL);
	request.provider = &bare;
	world.program_target = 20;
	world.program_atomics = CUBLAS_ATOMICS_ALLOWED;
	make();
	assert_int_equal(world.count[SET_WORKSPACE] + world.count[SET_TARGET],
	    0);
	assert_int_equal(world.count[SET_STREAM], 1);
}

/* ---- Calls ------------------------------------------------------------- */

CASE_WITH(test_order_comes_first, set_up, NULL)
{
	make();
	assert_true(lane.ordered);
	move(2);
	world.fails = 1 << WAIT;
	assert_int_equal(prepare(), AC_REASON_REFUSED);
	assert_false(lane.ordered);
	assert_int_equal(lane.stream_id, 1);
	world.fails = 1 << SET_STREAM;
	assert_int_equal(prepare(), AC_REASON_REFUSED);
	assert_true(lane.ordered);
	assert_int_equal(lane.stream_id, 2);
}

CASE_WITH(test_what_was_left_is_cleared, set_up, NULL)
{
	make();
	lane.dirty = true;
	world.fails = 1 << MEMSET;
	assert_int_equal(prepare(), AC_REASON_REFUSED);
	assert_true(lane.dirty);
	world.fails = 0;
	assert_int_equal(prepare(), AC_REASON_NONE);
	assert_int_equal(world.count[MEMSET], 3);
	assert_int_equal(world.zeroed, lane.part[LANE_ZEROS].address);
	assert_int_equal(world.zeroed_bytes, lane.part[LANE_ZEROS].bytes);
	assert_ptr_equal(world.stream, place.stream);
	assert_false(lane.dirty);
	assert_int_equal(prepare(), AC_REASON_NONE);
	assert_int_equal(world.count[MEMSET], 3);
	/* There may be words alone. */
	set_up(NULL);
	request.zero_bytes = request.buffer_bytes = 0;
	make();
	lane.dirty = true;
	assert_int_equal(prepare(), AC_REASON_NONE);
	assert_int_equal(world.count[MEMSET], 1);
	assert_int_equal(world.zeroed, lane.part[LANE_WORDS].address);
}

/* Nothing is made, taken or waited for in a capture. */
CASE_WITH(test_in_a_capture, set_up, NULL)
{
	request.wants_handle = false;
	make();
	assert_true(ac_lane_suits_capture(&lane, &request));
	assert_int_equal(world.count[QUERY], 1);
	assert_int_equal(world.mode, 0);
	world.is_pending = true;
	assert_false(ac_lane_suits_capture(&lane, &request));
	lane.used = false;
	assert_true(ac_lane_suits_capture(&lane, &request));
	assert_int_equal(world.count[QUERY], 2);
	lane.used = true;
	world.is_pending = false;
	lane.dirty = true;
	assert_false(ac_lane_suits_capture(&lane, &request));
	lane.dirty = false;
	request.wants_handle = true;
	assert_false(ac_lane_suits_capture(&lane, &request));
	request.wants_handle = false;
	request.buffer_bytes = lane.part[LANE_BUFFER].bytes;
	request.zero_bytes = lane.part[LANE_ZEROS].bytes;
	assert_true(ac_lane_suits_capture(&lane, &request));
	request.buffer_bytes++;
	assert_false(ac_lane_suits_capture(&lane, &request));
	request.buffer_bytes--;
	request.zero_bytes++;
	assert_false(ac_lane_suits_capture(&lane, &request));
	request.zero_bytes--;
	place.capture = 7;
	assert_int_equal(prepare(), AC_REASON_NONE);
	assert_int_equal(lane.capture, 7);
	assert_int_equal(world.count[WAIT], 0);
	request.wants_handle = true;
	assert_int_equal(prepare(), AC_REASON_CAPTURE);
	request.buffer_bytes++;
	assert_int_equal(prepare(), AC_REASON_CAPTURE);
	assert_int_equal(world.count[TAKE], 3);
	assert_int_equal(world.count[GIVE] + world.count[CREATE], 0);
	/* The handle follows into the capture and out of it. */
	set_up(NULL);
	make();
	place.capture = 7;
	assert_int_equal(prepare(), AC_REASON_NONE);
	assert_int_equal(world.count[SET_STREAM], 2);
}

CASE_WITH(test_ends, set_up, NULL)
{
	make();
	ac_lane_dismantle(&lane);
	assert_int_equal(world.count[DESTROY], 1);
	assert_int_equal(world.count[GIVE], LANE_PARTS);
	assert_int_equal(world.count[EVENT_DESTROY], 1);
	assert_non_null(world.last_use);
	assert_int_equal(lane.state, LANE_EMPTY);
	set_up(NULL);
	place.capture = 0;
	make();
	lane.capture = 7;
	ac_lane_forget(&lane);
	assert_int_equal(world.count[DESTROY] + world.count[GIVE]
	    + world.count[EVENT_DESTROY], 0);
	assert_null(lane.handle);
	assert_null(lane.done);
	assert_int_equal(lane.capture, 0);
	for (int i = 0; i < LANE_PARTS; i++)
		assert_int_equal(lane.part[i].bytes + lane.part[i].address, 0);
	/* Built again in the same place, for this stream or another one, it
	 * knows nothing of before. */
	for (unsigned i = 0; i < 2; i++) {
		ac_lane_forget(&lane);
		lane.stream_id = i;
		lane.dirty = lane.follows = lane.used = true;
		lane.math_flags = (cublasMath_t)16;
		lane.sm_target = 5;
		lane.atomics = CUBLAS_ATOMICS_ALLOWED;
		make();
		assert_int_equal(world.count[SET_STREAM], 2 + i);
		assert_int_equal(world.count[WAIT] + world.count[MEMSET]
		    + world.count[SET_MATH] + world.count[SET_TARGET]
		    + world.count[SET_ATOMICS], 0);
	}
}

CASES_RUN(NULL, NULL)
