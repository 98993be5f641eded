/* SPDX-License-Identifier: Apache-2.0 */
/* shim/site/site.h -- the decision for each distinct call, made once.
 *
 * A site is looked up by what the policy can see of a call (the query), in a
 * table that any thread reads without a lock (base/table.h). The first look is
 * in line: together with the guard and the count it is what a kept call
 * costs. */
#ifndef AC_SHIM_SITE_H
#define AC_SHIM_SITE_H

#include "base/table.h"
#include "policy/policy.h"
#include "report/report.h"
#include "shim/device/handle.h"
#include "shim/bind/provider.h"
#include "shim/bind/thunk.h"
#include "shim/trial/origin.h"
#include "shim/trial/tuning.h"

/* What the program requested, as the policy's `asked` spells it; UNSAID: the
 * call itself says nothing, the handle's math mode decides. */
enum ac_asked {
	AC_ASKED_UNSAID, AC_ASKED_FP32, AC_ASKED_TF32, AC_ASKED_FAST16F,
	AC_ASKED_FAST16BF, AC_ASKED_PEDANTIC, AC_ASKED_EMULATED
};

enum ac_type_class {
	AC_TYPE_F32, AC_TYPE_F16, AC_TYPE_BF16, AC_TYPE_F64, AC_TYPE_C32,
	AC_TYPE_OTHER
};

/* What follows a product (enum ac_epilogue); DEFAULT: nothing, as in all of
 * cuBLAS's own. */
enum { AC_EPILOGUE_SHIFT = 28 };
_Static_assert(AC_EPILOGUE_COUNT <= 16, "an epilogue fits in a form");

/* How a call was spelled, in one word: from the lowest bit the entry (8), the
 * thunk's note (8), the transposes (2 each), what its compute type and its
 * types amount to (4 each), its epilogue (4). Constant but for the transposes
 * where the function fixes the types. Above it, in a query: the device (8), and
 * the number of the region from AC_REGION_SHIFT on. */
typedef uint32_t ac_form;

static inline ac_form
ac_form_of(enum ac_entry entry, cublasOperation_t transa,
    cublasOperation_t transb, enum ac_type_class type, enum ac_asked asked)
{
	return (uint32_t)entry
	    | (((uint32_t)transa + 4 * (uint32_t)transb) & 0xf) << 16
	    | (uint32_t)asked << 20 | (uint32_t)type << 24;
}

/* What the operand types and a compute type (cublasComputeType_t) amount to. */
enum ac_type_class ac_type_class_of(cudaDataType a, cudaDataType b,
    cudaDataType c, int compute);
enum ac_asked ac_asked_by_compute(int compute);

/* What a call looks like to the table. Sizes that need more than 32 bits do
 * not fit: such a call is decided again each time, next to which it is long. */
struct ac_site_query {
	uint64_t caller;   /* where it returns to */
	uint64_t form;     /* ac_form, thunk's note, device and region */
	uint64_t mn, kb;   /* m and n, k and batch: the first in the low half */
};

struct ac_ranges;
struct ac_layout_known;
struct ac_solver;

/* Whose times are alike: of all calls of a site, or where a cast takes longer
 * for calls that add to C (is_slower_apart), of those that only write it and of
 * those that add to it. */
enum ac_alike { AC_ALIKE_ALL, AC_ALIKE_WRITE, AC_ALIKE_ADD, AC_ALIKE_COUNT };

/* What a site that may be recast remembers of its calls. */
struct ac_site_state {
	struct ac_origin *origin;      /* NULL: under guard=off, or none */
	_Atomic(struct ac_variants *) variants[AC_ALIKE_COUNT]; /* by
	                                * ac_site_variants() */
	_Atomic(struct ac_ranges *) ranges;
	_Atomic(const struct ac_layout_known *) layout; /* of a product */
	struct ac_steady steady;       /* of calls that name an algorithm */
};

struct ac_site {
	struct ac_table_entry    entry;
	struct ac_site_query     query;
	struct ac_site_record   *record;
	struct ac_site_state    *state; /* NULL: kept, or not stored */
	bool                     is_plain; /* kept, and nothing else to do */
	bool                     is_slower_apart; /* a cast that adds to C */
	struct ac_binding        binding;
	struct ac_decision       decision;
	struct ac_solver        *solver; /* the calling module, if it solved */
};

/* A call to be decided. Everything but `form`'s upper half is the program's. */
struct ac_site_call {
	cublasHandle_t handle;
	const void    *caller;
	int64_t        m, n, k, batch;
	uint64_t       form;  /* as the query's */
	const char    *note;  /* of an epilogue that is not understood: what
	                       * it is, or NULL. Static. */
};

/* Decide `call` and store the site under `query` (NULL: it has none). Returns
 * the stored one, or *scratch, filled, when it cannot be stored. */
__attribute__((cold, noinline))
const struct ac_site *ac_site_add(const struct ac_site_call *call,
    const struct ac_site_query *query, struct ac_site *scratch);

/* The variants of such calls of a site with an origin, made when they are
 * wanted; NULL without memory. */
struct ac_variants *ac_site_variants(const struct ac_site *site,
    enum ac_alike calls);

/* cuBLAS's CUBLAS_GEMM_AUTOTUNE, which some headers we build with lack: it
 * measures algorithms and keeps the fastest, so that the bits are the
 * clock's. */
enum { AC_ALGO_AUTOTUNE = 999 };

/* A call of `site` that names it is made as it is: count that, and say it once,
 * where the policy wants the same bits in every run. */
__attribute__((cold, noinline))
void ac_site_note_autotune(const struct ac_site *site);

/* ---- The look-up: what every call pays for ----------------------------- */

enum { AC_SITE_BITS = 18 };

extern ac_table_slot ac_site_slots[1 << AC_SITE_BITS]
    __attribute__((visibility("hidden")));
/* By the low four bits of a cublasMath_t: enum ac_asked. */
extern const uint8_t ac_asked_by_mode[16] __attribute__((visibility("hidden")));

/* The form with what the handle knows. The compute type of a call narrows what
 * the handle's math mode allows; a pedantic handle stays pedantic. */
static inline uint64_t
ac_site_form(uint64_t form, cublasHandle_t handle)
{
	const uint64_t field = UINT64_C(0xf) << 20;
	const struct ac_handle *known = ac_handle_find(handle);
	cublasMath_t mode = CUBLAS_DEFAULT_MATH;
	uint64_t asked;

	form |= (uint64_t)(uint8_t)known->device << 32;
	known->get_math_mode(handle, &mode);
	asked = ac_asked_by_mode[(unsigned)mode & 0xf];
	if (!(form & field))
		form |= asked << 20;
	else if (asked == AC_ASKED_PEDANTIC)
		form = (form & ~field) | asked << 20;
	return form;
}

/* Shorter than ac_table_hash(). The top bits of products by odd constants are
 * the best mixed, and those choose the slot. */
static inline uint64_t
ac_site_hash(const struct ac_site_query *query)
{
	return (query->mn * UINT64_C(0x9E3779B97F4A7C15)
	    + query->kb + (query->caller
	    ^ (query->form << 20 | query->form >> 44)))
	    * UINT64_C(0xD6E8FEB86659FD93);
}

static inline bool
ac_site_is(const struct ac_site *site, const struct ac_site_query *query)
{
	return !((site->query.caller ^ query->caller)
	    | (site->query.mn ^ query->mn) | (site->query.kb ^ query->kb)
	    | (site->query.form ^ query->form));
}

/* Decided since a module was unloaded last. */
static inline bool
ac_site_is_current(const struct ac_site *site)
{
	return atomic_load_explicit(&site->entry.generation,
	    memory_order_relaxed) == atomic_load_explicit(
	    &ac_binding_generation, memory_order_acquire);
}

/* The rest of ac_site_find(): the other places it may be at. Takes the query
 * apart, so that it need not be in memory when it is found at once. */
__attribute__((cold, noinline))
const struct ac_site *ac_site_search(uint64_t caller, uint64_t mn, uint64_t kb,
    uint64_t form);

/* The decided site of `query`, or NULL. */
static inline const struct ac_site *
ac_site_find(const struct ac_site_query *query)
{
	const struct ac_site *site = (const struct ac_site *)ac_table_at(
	    &ac_site_slots[ac_site_hash(query) >> (64 - AC_SITE_BITS)]);

	if (__builtin_expect(site && ac_site_is(site, query)
	    && ac_site_is_current(site), 1))
		return site;
	return ac_site_search(query->caller, query->mn, query->kb, query->form);
}

static inline uint64_t
ac_site_pair(uint64_t low, uint64_t high)
{
	return (uint32_t)low | high << 32;
}

#define AC_SITE_FITS(size) ((size) == (__typeof__(size))(int32_t)(size))

/* The site of a call, decided if it is new; never NULL. A macro, so that sizes
 * are widened only for a call that needs it. */
#define AC_SITE_OF(handle, caller, via, m, n, k, batch, form, scratch)        \
__extension__ ({                                                              \
	/* The handle first: it is asked by a call. */                        \
	const uint64_t form_ = ac_site_form((form) | (via), handle);          \
	const struct ac_site_query query_ = {                                 \
		(uint64_t)(uintptr_t)(caller), form_,                         \
		ac_site_pair((uint64_t)(m), (uint64_t)(n)),                   \
		ac_site_pair((uint64_t)(k), (uint64_t)(batch))                \
	};                                                                    \
	const bool fits_ = AC_SITE_FITS(m) && AC_SITE_FITS(n)                 \
	    && AC_SITE_FITS(k) && AC_SITE_FITS(batch);                        \
	const struct ac_site *site_ = fits_ ? ac_site_find(&query_) : NULL;   \
	if (__builtin_expect(!site_, 0)) {                                    \
		const struct ac_site_call call_ = {                           \
			handle, caller, m, n, k, batch, form_, NULL           \
		};                                                            \
		const struct ac_site_query copy_ = query_;                    \
		site_ = ac_site_add(&call_, fits_ ? &copy_ : NULL, scratch);  \
	}                                                                     \
	site_;                                                                \
})

#endif
