/* SPDX-License-Identifier: Apache-2.0 */
/* shim/trial/turn.h -- what one call is to do. */
#ifndef AC_SHIM_TURN_H
#define AC_SHIM_TURN_H

#include "policy/policy.h"
#include "shim/device/ledger.h"
#include "shim/trial/timing.h"

struct ac_trial_home;
struct ac_trial_slot;

enum ac_turn_kind {
	AC_TURN_KEEP,      /* make the original call; count it as `reason` */
	AC_TURN_RECAST,    /* run `candidate` */
	AC_TURN_TRY,       /* the original, and `tries` next to it */
	AC_TURN_LEARN      /* the original, and each candidate before it into
	                    * scratch, measured */
};

struct ac_turn {
	enum ac_turn_kind kind;
	enum ac_reason    reason;
	unsigned          candidate;    /* its number */
	uint64_t          number;       /* of this call, from 1 */
	bool              is_unsteady;  /* the caller's to set: keep or try
	                                 * this call, but in a capture */
	struct ac_timing *timing;       /* NULL: not timed */
	/* Of a product (origin.h): */
	uint64_t          pair;         /* the caller's to set: a hash of the
	                                 * operands' addresses; 0: what a
	                                 * library makes of them is verified
	                                 * nowhere */
	bool              is_new;       /* the pair is */
	bool              is_looked_at; /* what a library converts is verified
	                                 * this time */
	uint64_t          own;          /* number among those of its site */
	bool              needs_place;  /* to run, or to be timed */
	bool              is_verified;  /* a RECAST */
	struct ac_ledger *ledger;       /* of a verified call */
	/* Of a convolution (trial.h): */
	struct ac_trial_home *home;
	unsigned          tries;        /* TRY: bits of candidates */
	struct ac_trial_slot *slot[AC_CANDIDATES]; /* by candidate in a TRY;
	                                 * else the first is for a sample, or
	                                 * NULL */
};

/* Of a call's number, so that no loop of the program keeps step with what is
 * drawn. */
static inline uint64_t
ac_turn_mix(uint64_t x)
{
	x = (x ^ x >> 31) * UINT64_C(0x9E3779B97F4A7C15);
	x = (x ^ x >> 29) * UINT64_C(0xD6E8FEB86659FD93);
	return x ^ x >> 32;
}

#endif
