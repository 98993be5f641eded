/* SPDX-License-Identifier: Apache-2.0 */
/* shim/trial/variants.h -- the ways that calls of one site may go, the original
 * and each candidate of its decision: how each is counted, and how long it
 * takes. Of accuracy nothing is known here.
 *
 *   calls 2 and 3       of the original, if there are any, are timed
 *   the first recast    is not made if they were too fast for what it is
 *                       predicted to take
 *   16 to 79 calls      from the first recast one on: each candidate is timed
 *                       four times, at fixed calls; the original twice, unless
 *                       it was. If all are predicted to be slower, from call 64
 *                       on, and so far apart that it takes a hundredth of what
 *                       the calls take
 *   after that          the fastest stays, and each 64th call is timed */
#ifndef AC_SHIM_VARIANTS_H
#define AC_SHIM_VARIANTS_H

#include "report/report.h"
#include "shim/device/ledger.h"
#include "shim/trial/timing.h"

enum { AC_ORIGINAL = AC_CANDIDATES }; /* as a variant */

struct ac_variants {
	/* Written once. */
	const struct ac_decision *decision;
	int                process;
	bool               may_time;
	uint8_t            converted;        /* bits of candidates that a
	                                      * library converts */
	double             seconds;          /* that a call takes, for waits
	                                      * (wait.h) */

	/* Read by any thread. */
	_Atomic(struct ac_site_record *) record[AC_CANDIDATES + 1];
	_Atomic uint64_t calls;
	_Atomic uint64_t learnt;             /* of them, under learn=on */
	_Atomic uint64_t begun;              /* the rounds, at this call; 0: not
	                                      * yet */
	_Atomic uint32_t round;              /* calls from one to the next */
	_Atomic uint8_t  shown;              /* what the last call went by */
	_Atomic bool     is_original_timed;  /* in calls that were its own */
	_Atomic bool     is_asked;           /* what the original takes */
	_Atomic bool     is_over;            /* `cost` is as it stays */
	_Atomic bool     is_held;            /* a thread compares the times */
	_Atomic double   cost[AC_CANDIDATES + 1];
	_Atomic uint8_t  fastest;            /* of all, by `cost` */
	ac_ledgers       ledgers;            /* of its verified calls */

	struct ac_variants *also;            /* the next that was timed, */
	_Atomic bool     is_timed;           /* if it was */
	struct ac_timing timing[AC_CANDIDATES + 1];
};

/* Those of a site with that decision and record, which stay where they are;
 * casts take `more` seconds than it says. NULL without memory. */
struct ac_variants *ac_variants_make(const struct ac_decision *decision,
    struct ac_site_record *record, bool may_time, double more);

/* The record that calls of `variant` are counted in: candidate 0 has the
 * site's. Its calls are the program's own for `reason` if it is AC_ORIGINAL,
 * else not read. */
struct ac_site_record *ac_variants_record(struct ac_variants *variants,
    unsigned variant, enum ac_reason reason);

/* The fastest variant but for the candidates in `out`, as predicted or
 * measured; of equals the original, else the one that was named first. */
unsigned ac_variants_find(const struct ac_variants *variants, uint32_t out);

static inline unsigned
ac_variants_choose(const struct ac_variants *variants, uint32_t out)
{
	const unsigned fastest = variants->fastest;

	return out >> fastest & 1 ? ac_variants_find(variants, out) : fastest;
}

/* Call `number` of the site is to go by *variant. Where its time is measured;
 * NULL: it is not, as none is under reproducible=on. Where it is the turn of
 * another variant to be timed, one that is not in `out`, *variant is that. */
struct ac_timing *ac_variants_time(struct ac_variants *variants,
    uint64_t number, uint32_t out, unsigned *variant);

/* Whether call `number` is one of those that are neither timed nor to read
 * times: later, all but each 64th. */
static inline bool
ac_variants_rest(const struct ac_variants *variants, uint64_t number)
{
	return variants->is_over && number % 64;
}

static inline struct ac_timing *
ac_variants_timed(struct ac_variants *variants, uint64_t number, uint32_t out,
    unsigned *variant)
{
	return ac_variants_rest(variants, number) ? NULL
	    : ac_variants_time(variants, number, out, variant);
}

/* The time of `variant`, in a call that nothing else hangs on. */
struct ac_timing *ac_variants_timing(struct ac_variants *variants,
    unsigned variant);

/* Whether call `number` is to read what was measured, though nothing else needs
 * its place. */
bool ac_variants_is_due(const struct ac_variants *variants, uint64_t number);

/* Read what was measured, at call `number`, at `place`; once it is all there,
 * the cost is that. */
void ac_variants_judge(struct ac_variants *variants, uint64_t number,
    const struct ac_place *place);

static inline void
ac_variants_compare(struct ac_variants *variants, uint64_t number,
    const struct ac_place *place)
{
	if (!ac_variants_rest(variants, number))
		ac_variants_judge(variants, number, place);
}

/* Before the first recast call: where `variant` is predicted to gain little,
 * the cost of the original is what the calls that were timed have taken, if
 * that is less; the host waits for them, within bounds (wait.h). Whether
 * `variant` is slower then. */
bool ac_variants_first(struct ac_variants *variants, unsigned variant,
    const struct ac_place *place);

/* Write what is known of times to the records. */
void ac_variants_note_times(struct ac_variants *variants);

/* For variants.c. Read what was measured at `place`, and do the same; whether
 * anything is left to be read. See to it that times are read at exit. */
bool ac_variants_read(struct ac_variants *variants,
    const struct ac_place *place);
void ac_variants_have_read(struct ac_variants *variants);

/* Calls go by `variant` from this one on. Not for a call that is timed: that
 * may go by another one for once. */
void ac_variants_show(struct ac_variants *variants, unsigned variant,
    uint64_t number);

#endif
