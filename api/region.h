/* SPDX-License-Identifier: Apache-2.0 */
/* api/region.h -- the regions that a program opens, as the rest of us sees
 * them: each distinct one has a number and stays for ever; what a thread is in
 * is one word. Pushing and popping is public (include/autocast.h). */
#ifndef AC_API_REGION_H
#define AC_API_REGION_H

#include <stdint.h>

enum {
	AC_REGION_NAME = 64,         /* bytes, with the 0 at the end */
	AC_REGION_LIMIT = 4000,      /* different ones in a process */
	AC_REGION_SHIFT = 40,        /* of a number in ac_region_mark */
	AC_REGION_RUNGS = 7
};

/* The words for rungs, in the order of enum ac_rung behind AC_RUNG_KEEP. */
extern const char *const ac_region_rung_words[AC_REGION_RUNGS];

/* Zero-filled before its fields are set: all its bytes tell it apart. */
struct ac_region {
	char    name[AC_REGION_NAME];
	uint8_t enabled;             /* 0 or 1 */
	uint8_t is_auto;             /* any rung is allowed */
	uint8_t rung_count;          /* rungs allowed; 0: as the policy says */
	uint8_t rung[AC_REGION_RUNGS]; /* enum ac_rung, as named */
	uint8_t unused[6];           /* up to whole words */
};

/* What the calling thread's calls are marked with. The number of the innermost
 * region, from AC_REGION_SHIFT on, 0 outside of any; only this room writes it.
 * The lower 32 bits are the shim's (shim/bind/thunk.h), which so reads both at
 * once. */
extern __thread uint64_t ac_region_mark
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* The number of the innermost region of this thread; 0: none is open. */
static inline uint32_t
ac_region_here(void)
{
	return (uint32_t)(ac_region_mark >> AC_REGION_SHIFT);
}

/* The region of a number that was in a mark; NULL for 0. Any thread, no lock.
 * Valid for ever. */
const struct ac_region *ac_region_get(uint32_t number);

#endif
