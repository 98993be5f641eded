/* SPDX-License-Identifier: Apache-2.0 */
/* shim/scaling/scaling.h -- `seed` and `update` lines at work: a power of two
 * times the scalar of one call, its inverse times that of others, and nothing
 * else. Only where `autocast policy validate` found that a program's updates
 * stay the same bit for bit. */
#ifndef AC_SHIM_SCALING_H
#define AC_SHIM_SCALING_H

#include "policy/policy.h"
#include "shim/bind/provider.h"

#include <stdatomic.h>

/* What is done in this process about the policy's lines. */
enum ac_scaling_mode {
	AC_SCALING_UNKNOWN,      /* nobody has asked yet */
	AC_SCALING_IDLE,         /* there are none */
	AC_SCALING_UNVALIDATED,  /* nothing, and the user is told so once */
	AC_SCALING_APPLIED,
	AC_SCALING_TRACED,       /* for `policy validate`: scaled by 1, */
	AC_SCALING_TRACED_SCALED /* and with the policy's */
};
extern _Atomic unsigned ac_scaling_mode __attribute__((visibility("hidden")));
/* Finds it, once. Loads the policy; opens no statistics. Any thread. */
__attribute__((cold)) enum ac_scaling_mode ac_scaling_start(void);

static inline bool
ac_scaling_is_wanted(void)
{
	unsigned mode = atomic_load_explicit(&ac_scaling_mode,
	    memory_order_acquire);

	if (__builtin_expect(mode == AC_SCALING_UNKNOWN, 0))
		mode = ac_scaling_start();
	return mode != AC_SCALING_IDLE;
}

/* What the lines say of a call. */
struct ac_scaling_site {
	enum ac_scaling kind;            /* NONE: no line means it */
	char            caller[48];      /* module+offset */
};

/* A call on vectors. The first part is the wrapper's. */
struct ac_scaling_call {
	enum ac_entry       entry;
	cublasHandle_t      handle;
	struct ac_provider *provider;
	const void         *caller;
	int64_t             n, increment, source_increment;
	const float        *vector;      /* that it changes */
	const float        *source;      /* that the scalar multiplies */
	const float        *scalar;      /* the program's; then ours */
	float               own;
	const struct ac_scaling_site *site; /* NULL: not looked up */
	struct ac_scaling_site scratch;  /* of one that is not stored */
	/* For the trace. */
	const char         *fate;
	uint64_t            before, from; /* hashes of both vectors before it */
};

/* Before the call and after it. Any thread; the second waits for the device
 * only under `autocast policy validate`. */
void ac_scaling_begin(struct ac_scaling_call *call);
void ac_scaling_end(const struct ac_scaling_call *call, cublasStatus_t status);

/* ---- scaling_site.c: what the lines say of a call ---------------------- */

/* Decided once per caller, function, size, device and region, and again each
 * time where there is no room to remember it. */
const struct ac_scaling_site *ac_scaling_site_of(struct ac_scaling_call *call);

/* ---- scaling_trace.c: for `autocast policy validate` --------------------- */

/* Before `call`: remember what its vectors hold. */
void ac_scaling_trace_begin(struct ac_scaling_call *call);

/* Add a line on `call`, which is over, to this process's trace:
 * KIND FATE FUNCTION N HASH SOURCE LIVE FINITE CALLER, where KIND is none, too;
 * HASH is of the vector it changed; SOURCE of the one that was multiplied,
 * before the call; LIVE is 1 if it changed that vector and something in it is
 * finite and not zero; FINITE is 1 if all of it is finite. CALLER may hold
 * blanks. Before the first seed or update of a library there is a line on that:
 * module HASH PATH. */
void ac_scaling_trace(const struct ac_scaling_call *call);

/* Whether the folder of traces is there: `policy validate` alone makes one. */
bool ac_scaling_has_folder(void);

#endif
