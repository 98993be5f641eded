/* SPDX-License-Identifier: Apache-2.0 */
/* shim/start/start.h -- what happens once, at the first intercepted call.
 * There is no constructor: other libraries' constructors run before ours and
 * may already call us, and a process that calls nothing must not notice us. */
#ifndef AC_SHIM_START_H
#define AC_SHIM_START_H

#include "policy/policy.h"

#include <stdatomic.h>
#include <stdbool.h>

/* Frozen before it is published. */
struct ac_shim {
	const struct ac_policy *policy;
	bool environment_opted_out;   /* NVIDIA_TF32_OVERRIDE=0 */
	bool wants_emulated;          /* CUBLAS_EMULATE_SINGLE_PRECISION */
	bool wants_batch_invariance;  /* CUBLAS_BATCH_INVARIANCE_FLAGS */
	int  rank;                    /* in a parallel job; -1: in none */
	char program[64];             /* base name of the executable */
	struct ac_policy_origin origin;
};

extern _Atomic(const struct ac_shim *) ac_shim_started
    __attribute__((visibility("hidden")));
const struct ac_shim *ac_shim_start(void);

/* The frozen state; loads the policy and opens the statistics when it is
 * asked for the first time. Never NULL. */
static inline const struct ac_shim *
ac_shim_get(void)
{
	const struct ac_shim *shim = atomic_load_explicit(&ac_shim_started,
	    memory_order_acquire);

	return shim ? shim : ac_shim_start();
}

/* Whether a call was intercepted, and so the statistics are open. */
static inline bool
ac_shim_is_started(void)
{
	return atomic_load_explicit(&ac_shim_started, memory_order_acquire)
	    != NULL;
}

/* The policy alone, for what may be asked before any call was intercepted:
 * opens no statistics. Never NULL. */
const struct ac_policy *ac_shim_policy(void);

/* The path of a library before ours that has a dlsym() of its own, which
 * therefore sees the program's look-ups and we may not; NULL if there is none.
 * Valid while that library stays loaded. */
const char *ac_shim_foreign_dlsym(void);

/* A library was opened with RTLD_DEEPBIND: it binds to its provider past us.
 * Goes into the statistics, at once or when they are opened. */
void ac_shim_count_deepbind(void);
uint64_t ac_shim_deepbind_opens(void);

/* Whether AUTOCAST_RANGES=on asks for operands' exponents. Constant once
 * started. */
extern _Atomic bool ac_shim_ranges __attribute__((visibility("hidden")));
static inline bool
ac_shim_wants_ranges(void)
{
	return atomic_load_explicit(&ac_shim_ranges, memory_order_relaxed);
}

/* The notice is wanted, and this process has not given it. */
extern _Atomic bool ac_shim_notice_due __attribute__((visibility("hidden")));
__attribute__((cold, noinline))
void ac_shim_give_notice(const struct ac_decision *decision,
    enum ac_rung rung);

/* Say once per run that calls are being recast, as this one is (doc/rules.md
 * R9). */
static inline void
ac_shim_notice(const struct ac_decision *decision,
    const struct ac_candidate *candidate)
{
	if (__builtin_expect(atomic_load_explicit(&ac_shim_notice_due,
	    memory_order_relaxed), 0))
		ac_shim_give_notice(decision, candidate->rung);
}

#endif
