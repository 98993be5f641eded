/* SPDX-License-Identifier: Apache-2.0 */
/* tests/corpus/corpus.h -- what a rung makes of a product of the corpus, and
 * what the guard gets to know of it. Safe in many threads, a room each. */
#ifndef TESTS_CORPUS_CORPUS_H
#define TESTS_CORPUS_CORPUS_H

#include "tests/corpus/families.h"

#include "kernels/load/kernels.h"
#include "policy/guard.h"

struct corpus_rung {
	const char *name;
	double tol;          /* beyond it, the product is bad */
	double line_tol;     /* beyond it, a row or column of it is bad */
	bool   cast;         /* else by the library's compute type: tf32 */
	enum ac_format format;
	bool   scaled;
};

/* What a thread works in; trial_room_free() takes NULL. */
struct trial_room;
struct trial_room *trial_room_new(void);
void trial_room_free(struct trial_room *room);

/* The product as `rung` makes it, and what the guard gets to know. */
struct ac_guard_facts corpus_trial(const struct corpus_case *c,
    const struct corpus_rung *rung, struct trial_room *room,
    float *product_out);

#endif
