/* SPDX-License-Identifier: Apache-2.0 */
/* shim/site.h -- the decision for each distinct call, made once.
 *
 * A site is looked up by what the policy can see of a call (the key), in an
 * append-only hash table that readers walk without a lock. */
#ifndef AC_SHIM_SITE_H
#define AC_SHIM_SITE_H

#include "policy/policy.h"
#include "report/report.h"
#include "shim/provider.h"

/* What the program requested, as the policy's `asked` spells it; UNSAID: the
 * call itself says nothing, the handle's math mode decides. */
enum ac_asked {
	AC_ASKED_UNSAID, AC_ASKED_FP32, AC_ASKED_TF32, AC_ASKED_FAST16F,
	AC_ASKED_FAST16BF, AC_ASKED_PEDANTIC, AC_ASKED_EMULATED
};

enum ac_type_class {
	AC_TYPE_F32, AC_TYPE_F16, AC_TYPE_BF16, AC_TYPE_F64, AC_TYPE_OTHER
};

/* How a call was spelled, in one word: the entry, the transposes, what its
 * types and its compute type amount to. Constant but for the transposes where
 * the function fixes the types. */
typedef uint32_t ac_form;

static inline ac_form
ac_form_of(enum ac_entry entry, cublasOperation_t transa,
    cublasOperation_t transb, enum ac_type_class type, enum ac_asked asked)
{
	return (uint32_t)entry | (uint32_t)(transa & 3) << 16
	    | (uint32_t)(transb & 3) << 18 | (uint32_t)asked << 20
	    | (uint32_t)type << 24;
}

/* What the operand types and a compute type (cublasComputeType_t) amount to. */
enum ac_type_class ac_type_class_of(cudaDataType a, cudaDataType b,
    cudaDataType c, int compute);
enum ac_asked ac_asked_by_compute(int compute);

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

/* What a call looks like to the table: where it returns to, through which
 * thunk it came, its sizes, its form. ac_site_find() adds what the handle
 * knows. */
static inline struct ac_site_query
ac_site_query_of(const void *caller, uint32_t via, int64_t m, int64_t n,
    int64_t k, int64_t batch, ac_form form)
{
	return (struct ac_site_query){ {
		(uint64_t)(uintptr_t)caller, (uint64_t)m, (uint64_t)n,
		(uint64_t)k, (uint64_t)batch, form | (uint64_t)via << 40
	} };
}

/* The site that answers scratch->query on `handle`, decided if it is new.
 * Never NULL; *scratch is filled and returned when it cannot be stored. */
const struct ac_site *ac_site_find(cublasHandle_t handle,
    struct ac_site *scratch);

/* A module became a solver: decide every site again at its next call. */
void ac_site_forget_decisions(void);

#endif
