/* SPDX-License-Identifier: Apache-2.0 */
/* shim/lt/plan.h -- how one kind of recast product goes through cublasLt: our
 * own descriptors and the algorithm that its heuristics name for them. Made
 * once per kind; cublasLt is never asked again. */
#ifndef AC_SHIM_LT_PLAN_H
#define AC_SHIM_LT_PLAN_H

#include "shim/device/scratch.h"
#include "shim/lt/product.h"

#include <cublasLt.h>

/* What tells one kind from the next. Zero-filled first: its bytes are a key. No
 * pointers but the provider's: of those only the alignment counts. */
struct ac_lt_plan_key {
	/* What may change from call to call that one place makes of one
	 * content: */
	uint64_t workspace_bytes;      /* at most */
	int64_t bias_stride, aux_ld, aux_stride;
	struct ac_lt_stored a, c, d;   /* A and K: as the rung writes them */
	int64_t k, m;
	int32_t type, compute;         /* of A and B: cudaDataType */
	uint8_t alignment[6];          /* log2, of A, B, C, D, bias, aux */
	uint8_t epilogue;              /* enum ac_epilogue */
	uint8_t has_our_scalars;       /* on the device */
	uint8_t transa, transb;        /* and what follows from the content */
	uint8_t reserved[6];
	struct ac_provider *provider;
	int64_t n;
	struct ac_lt_stored b;
	int32_t device, batch, sm_count_target, pointer_mode;
};

/* One product of a kind: its addresses. */
struct ac_lt_run {
	cublasLtHandle_t handle;
	const void *alpha, *a, *b, *beta, *c, *bias;
	void *d, *aux, *workspace;
	ac_cu_stream stream;
	const struct ac_driver *driver;
};

/* The plan that ran last for calls of one content from one place, NULL at
 * first. Any thread. */
typedef _Atomic(struct ac_lt_plan *) ac_lt_plan_hint;

/* The alignment of an address for a kind. */
static inline uint8_t
ac_lt_alignment(const void *address)
{
	return (uint8_t)__builtin_ctzl((uintptr_t)address | 256);
}

/* Run `run` by the plan of `hint`, which may be NULL, if its kind begins as
 * `kind` does, up to transa: the rest need not be there. False: it does not, so
 * nothing has happened. Else *reason_out and *status_out are as of
 * ac_lt_plan_run(). */
bool ac_lt_plan_again(const struct ac_lt_plan_key *kind,
    const struct ac_lt_run *run, ac_lt_plan_hint *hint,
    enum ac_reason *reason_out, cublasStatus_t *status_out);

/* Run it. AC_REASON_NONE and *status_out, cublasLt's answer; or why the
 * original call may still be made: CAPTURE, there is no plan yet and none may
 * be made, as in a capture, which cublasLt's heuristics disturb; REFUSED, it
 * has no algorithm for it, or refused; OUT_OF_MEMORY, there is no room for a
 * plan, or it failed when it was asked for one, which it may not do again.
 * `hint`, which may be NULL, is set. Any thread. */
enum ac_reason ac_lt_plan_run(const struct ac_lt_plan_key *kind,
    const struct ac_lt_run *run, bool may_make, ac_lt_plan_hint *hint,
    cublasStatus_t *status_out);

/* `provider` was unloaded: its plans are never used again. */
void ac_lt_plan_abandon(const struct ac_provider *provider);

#endif
