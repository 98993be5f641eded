/* SPDX-License-Identifier: Apache-2.0 */
/* shim/site.h -- the decision for each distinct call, made once.
 *
 * A site is looked up by what the policy can see of a call (the key), in an
 * append-only hash table that readers walk without a lock. */
#ifndef AC_SHIM_SITE_H
#define AC_SHIM_SITE_H

#include "policy/policy.h"
#include "report/report.h"
#include "shim/gemm.h"
#include "shim/provider.h"

/* What the program requested, as the policy's `asked` spells it. */
enum ac_asked {
	AC_ASKED_FP32, AC_ASKED_TF32, AC_ASKED_FAST16F, AC_ASKED_FAST16BF,
	AC_ASKED_PEDANTIC, AC_ASKED_EMULATED
};

struct ac_site_query {
	uint64_t word[6];
};

struct ac_site {
	struct ac_site_query     query;
	uint32_t                 generation;  /* of decisions; see forget */
	struct ac_binding        binding;
	struct ac_decision       decision;
	struct ac_site_record   *record;
};

/* The site of `g`, decided if it is new. `device` is the handle's CUDA
 * ordinal, -1 if unknown. When the table is full *scratch is filled and
 * returned. */
const struct ac_site *ac_site_find(const struct ac_gemm *g,
    enum ac_asked asked, int device, struct ac_site *scratch);

/* A module became a solver: decide every site again at its next call. */
void ac_site_forget_decisions(void);

#endif
