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
struct ac_lt_kind {
	struct ac_provider *provider;
	int64_t m, n, k;
	struct ac_lt_stored a, b, c, d;
	int64_t bias_stride, aux_ld, aux_stride;
	uint64_t workspace_bytes;      /* at most */
	int32_t device, batch, sm_count_target;
	int32_t type;                  /* of A and B: cudaDataType */
	int32_t compute, pointer_mode;
	uint8_t transa, transb, epilogue; /* enum ac_epilogue */
	uint8_t alignment[6];          /* log2, of A, B, C, D, bias, aux */
	uint8_t reserved[7];
};

/* One product of a kind: its addresses. */
struct ac_lt_run {
	cublasLtHandle_t handle;
	const void *alpha, *a, *b, *beta, *c, *bias;
	void *d, *aux, *workspace;
	ac_cu_stream stream;
	const struct ac_driver *driver;
};

/* The plan that ran last for somebody, NULL at first: looked at before the
 * others. Any thread. */
typedef _Atomic(struct ac_lt_plan *) ac_lt_plan_hint;

/* The alignment of an address for a kind. */
uint8_t ac_lt_alignment(const void *address);

/* Make the plan of `kind`, whose runs are as `run`, unless there is one: never
 * in a capture, as cublasLt's heuristics disturb it. */
void ac_lt_plan_make(const struct ac_lt_kind *kind,
    const struct ac_lt_run *run);

/* Run it. AC_REASON_NONE and *status_out, cublasLt's answer; or why the
 * original call may still be made: CAPTURE, there is no plan yet and none may
 * be made; REFUSED, cublasLt has no algorithm for it, or refused;
 * OUT_OF_MEMORY, there is no room for a plan, or cublasLt failed when it was
 * asked for one, which it may not do again. `hint` may be NULL. Any thread. */
enum ac_reason ac_lt_plan_run(const struct ac_lt_kind *kind,
    const struct ac_lt_run *run, bool may_make, ac_lt_plan_hint *hint,
    cublasStatus_t *status_out);

/* `provider` was unloaded: its plans are never used again. */
void ac_lt_plan_abandon(const struct ac_provider *provider);

#endif
