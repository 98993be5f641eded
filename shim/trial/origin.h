/* SPDX-License-Identifier: Apache-2.0 */
/* shim/trial/origin.h -- what verified calls of one place in the program share,
 * whatever their sizes: whether it pays to cast them. Each is right by itself
 * (kernels/verified/verified.h); this decides on speed only.
 *
 * An origin is a function, a return address, transposes, types, and the line of
 * the policy that decided; under reproducible=on also a stream.
 *
 *   own        its first calls (3, setting own=) are the program's, but for
 *              those that add to what a cast wrote
 *   window     then 2, up to 64 calls may be on their way whose results the
 *              host has not heard of; the next one waits for the oldest
 *              (shim/trial/wait.h). A call that was recomputed whole takes the
 *              window back to 2: bad data cost a few calls, however far ahead
 *              the host is. It stays 2 for parts of sums, which are mended
 *              nowhere
 *   balance    per candidate: what clean calls gained, less what recomputed
 *              ones cost, in the latter's unit, at most +32. Below -2 the next
 *              candidate serves, 1000 calls long, then 4000 ...
 *
 * What a library converts (tf32) is verified and mended like a cast in its
 * first three calls, on operands that are not among the last eight pairs until
 * the host has heard of it, at about each 32nd call, and in captures. One that
 * is mended, and the candidate serves no more. Once the host has heard of all
 * that were verified, calls that are not do without their place: what replays
 * of a graph post meanwhile is heard at the next one that is verified.
 *
 * Under reproducible=on the host hears of calls at each 64th call, of sums at
 * each second one, and waits for all of them. */
#ifndef AC_SHIM_ORIGIN_H
#define AC_SHIM_ORIGIN_H

#include "base/table.h"
#include "shim/trial/chain.h"
#include "shim/trial/turn.h"
#include "shim/trial/variants.h"

struct ac_origin;

/* The origin of calls from `place` (a return address and a form), under
 * `decision`, on `stream_id` (0: on any); NULL: the table is full. Any thread;
 * never freed. */
struct ac_origin *ac_origin_of(const uint64_t place[2],
    const struct ac_decision *decision, uint64_t stream_id);

/* The one of the same place on `stream_id`; NULL as there. */
struct ac_origin *ac_origin_on(const struct ac_origin *origin,
    const struct ac_decision *decision, uint64_t stream_id);

/* What the next call of `origin` does with C (NULL: nobody knows which, of
 * arrays of matrices); it adds where beta is not 0, or not known. Under
 * guard=strict sums of several products are kept: what the first one lost,
 * nobody could bring back. */
void ac_origin_touches(struct ac_origin *origin, const void *c, uint64_t bytes,
    enum ac_chain_kind kind);

/* Whether calls of `origin` add to what casts wrote. Slow. */
bool ac_origin_follows(struct ac_origin *origin);

/* Number the next call of `origin`, of the site with these variants, and say
 * which way it goes: its turn is RECAST, and stays so or becomes KEEP. */
void ac_origin_begin(struct ac_origin *origin, struct ac_variants *variants,
    struct ac_turn *turn_out);

/* The same once its place is known: what a capture, posts that have not come,
 * or a lack of memory make of it. */
void ac_origin_settle(struct ac_origin *origin, struct ac_variants *variants,
    const struct ac_place *place, struct ac_turn *turn);

/* Both of one that was to be the program's own, and is not. */
void ac_origin_again(struct ac_origin *origin, struct ac_variants *variants,
    const struct ac_place *place, struct ac_turn *turn);

/* A verified call was queued. */
void ac_origin_queued(struct ac_origin *origin, const struct ac_place *place,
    const struct ac_turn *turn);

/* One was not: the provider refused it, or a launch failed. Three in a row, and
 * the candidate serves no more. */
void ac_origin_refused(struct ac_origin *origin, struct ac_variants *variants,
    const struct ac_turn *turn);

/* What has been posted since to those ledgers of a site, or of all sites
 * (NULL), that are readable at `place` (NULL: anywhere), for the report alone:
 * it has no other consequence. */
void ac_origin_note(const struct ac_variants *of, const struct ac_place *place);

#endif
