/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/tune/search.h -- which units must be kept so that a check passes, in few
 * runs. Pure: it asks for the verdict on a set, and is told.
 *
 *   1. nothing is kept. Passed: that is the answer
 *   2. the shortest passing prefix of the order is bisected, at half of the
 *      weight 1/rank: its last unit is needed
 *   3. only what was found so far is kept. Failed: 2. again, in front of it
 *   4. each found unit is left out once: is it needed?
 *
 * That all kept passes is taken as known: it is the plain program. */
#ifndef AC_CMD_SEARCH_H
#define AC_CMD_SEARCH_H

#include <stdbool.h>
#include <stddef.h>

enum ac_search_state {
	AC_SEARCH_ASKS,         /* for the verdict on `kept` */
	AC_SEARCH_FOUND,        /* `found` passes, and nothing less */
	AC_SEARCH_CONTRADICTED  /* verdicts that cannot all be true */
};

/* A flag per unit, the most harmful first; malloc'ed. */
struct ac_search {
	size_t         units;
	unsigned char *kept;    /* the set in question */
	unsigned char *found;   /* known to be needed */
	unsigned char *passed;  /* the smallest set that has passed so far; all,
	                         * if none has */
	enum ac_search_state state;
	/* Inside. */
	enum { AC_SEARCH_NONE, AC_SEARCH_BISECT, AC_SEARCH_ONLY,
		AC_SEARCH_NEED } step;
	size_t low, high;       /* prefixes: the one fails, the other passes */
	size_t last;            /* the unit found last, or left out */
};

/* False without memory. */
bool ac_search_begin(struct ac_search *search, size_t units);
void ac_search_end(struct ac_search *search);

/* The verdict on search->kept. Asks for the next one, or ends. */
void ac_search_tell(struct ac_search *search, bool good);

#endif
