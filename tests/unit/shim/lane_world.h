/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/shim/lane_world.h -- a driver, a provider and a scratch that are
 * made up and count what lanes ask of them. */
#ifndef TESTS_LANE_WORLD_H
#define TESTS_LANE_WORLD_H

#include "shim/device/lane_make.h"

/* The calls. Each has a count, and fails while its bit of `world.fails` is
 * set. */
enum call {
	EVENT_CREATE, EVENT_DESTROY, RECORD, QUERY, WAIT, MEMSET,
	TAKE, GIVE, TRIM,
	CREATE, DESTROY, POINTER_MODE, SET_STREAM, SET_WORKSPACE,
	SET_MATH, SET_ATOMICS, SET_TARGET,
	CALLS
};

struct world {
	unsigned      count[CALLS];
	unsigned      fails;
	int           mode;             /* the thread's capture mode */
	int           major;            /* of the device; 0: not told */
	bool          is_scarce;        /* a handle fails for want of memory */
	bool          is_pending;       /* a last use is not over */
	uint64_t      room;             /* bytes that may be taken at once, */
	uint64_t      seen_room;        /* and as far as can be told before */
	uint64_t      current;          /* id of the current context; 0: none */
	/* What graphs hold by now, in the order of their captures. */
	void         *held[64];
	unsigned      holds;
	/* What was said last. */
	ac_cu_stream  stream;           /* recorded on, waiting, a handle's */
	ac_cu_event   event, last_use;  /* waited for; of memory given back */
	ac_cu_address zeroed, given, workspace;
	uint64_t      zeroed_bytes, given_bytes, workspace_bytes;
	uint64_t      taken_bytes[8];   /* by count[TAKE], modulo 8 */
	bool          taken_zeroed[8];
	cublasMath_t  math;
	/* Of the program's handle; of the lane's. */
	cublasAtomicsMode_t program_atomics, atomics;
	int           program_target, target;
};
extern struct world world;

/* Two providers; the second lacks what is optional. */
extern struct ac_provider full, bare;

/* A new context, current, whose place has no capture and the stream 1. */
struct ac_place world_place(void);

/* Nothing is left of the `nth` graph that held something. */
void world_end(unsigned nth);

/* The context of a place was reset: another epoch. */
void world_reset(struct ac_place *place);

#endif
