/* SPDX-License-Identifier: Apache-2.0 */
/* shim/trial/origin_state.h -- what an origin is made of: shared by origin.c,
 * which hands out turns, and origin_hear.c, which learns from what they
 * found. */
#ifndef AC_SHIM_ORIGIN_STATE_H
#define AC_SHIM_ORIGIN_STATE_H

#include "shim/trial/origin.h"

#include <stdatomic.h>

enum { ORIGIN_WINDOW_FIRST = 2, ORIGIN_WINDOW = 64, ORIGIN_PAIRS = 8 };

/* A call on its way. */
struct ac_origin_open {
	_Atomic uint64_t number;    /* among the verified; 0: being written */
	_Atomic(struct ac_ledger *) ledger;
	_Atomic uint64_t least;     /* calls that it has posted by then */
};

struct ac_origin_candidate {
	_Atomic int32_t  balance;
	_Atomic uint32_t refusals;  /* in a row */
	_Atomic uint32_t strikes;
	_Atomic uint64_t back_at;   /* the call from which on it serves again */
};

/* Any thread writes any of it. */
struct ac_origin {
	struct ac_table_entry entry;
	uint64_t key[5];
	struct ac_origin *place;    /* the same without candidates: whatever is
	                             * allowed to the sizes that it multiplies.
	                             * Counts the program's own calls, as many
	                             * as there are to be; all else is unused */
	_Atomic uint64_t calls;
	_Atomic uint64_t queued;    /* verified ones, none of captures */
	_Atomic uint32_t window;
	_Atomic uint32_t out;       /* bits of candidates that do not serve, */
	_Atomic uint32_t refused;   /* never again */
	_Atomic bool     sums;      /* a call had a beta */
	_Atomic uint64_t asked;     /* who wrote its Cs: at this many calls */
	_Atomic bool     adds;      /* has a part in sums: to a C that calls
	                             * like these wrote, or wrote such a one */
	_Atomic bool     heeds;     /* a graph adds to what it wrote: what is on
	                             * the device, of which nobody may hear */
	_Atomic bool     is_left;   /* for sums that another added to: to be
	                             * said at its next call */
	_Atomic uint32_t clean;     /* a call of them posted that all was
	                             * well */
	/* Of candidates that a library converts. */
	_Atomic uint64_t pair[ORIGIN_PAIRS]; /* operands of the last calls; */
	_Atomic uint32_t pairs;     /* how many were met */
	_Atomic uint64_t first;     /* verified call of the last of them */
	_Atomic uint64_t heard;     /* verified calls, as far as one that was
	                             * not verified knows */
	struct ac_origin_candidate candidate[AC_CANDIDATES];
	struct ac_origin_open open[ORIGIN_WINDOW];
};

/* Hear what a readable ledger has posted since, or all of a site's ledgers at
 * `place`. */
void ac_origin_hear(struct ac_origin *origin, struct ac_ledger *ledger);
void ac_origin_hear_all(struct ac_origin *origin,
    struct ac_variants *variants, const struct ac_place *place);

/* Whether to ask who wrote what calls of `origin` add to (chain.h). That takes
 * a while, and a C that no cast wrote may cancel each time: seldom. */
bool ac_origin_is_to_ask(struct ac_origin *origin);

/* Say that calls of `origin` wrote what others added to until it cancelled. */
void ac_origin_say_left(struct ac_origin *origin, struct ac_variants *variants);

/* Candidates whose time has come serve again at call `number`; one more failure
 * will do. */
void ac_origin_take_back(struct ac_origin *origin,
    struct ac_variants *variants, uint64_t number);

#endif
