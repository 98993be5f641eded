/* SPDX-License-Identifier: Apache-2.0 */
/* policy/op.h -- what the policy is asked about, in plain numbers and words.
 * No CUDA type appears here: the policy runs on a laptop without CUDA. */
#ifndef AC_POLICY_OP_H
#define AC_POLICY_OP_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum ac_operation {
#define OPERATION(id, name, family) AC_OP_##id,
#include "policy/words.def"
	AC_OP_COUNT
};

enum ac_quantity {
#define QUANTITY(id, name, is_size, ops) AC_Q_##id,
#include "policy/words.def"
	AC_Q_COUNT
};

enum ac_fact {
#define FACT(id, name, ops) AC_FACT_##id,
#include "policy/words.def"
	AC_FACT_COUNT
};

enum ac_rung {
#define RUNG(id, name, error, tol, base, terms, chunk) AC_RUNG_##id,
#include "policy/words.def"
	AC_RUNG_COUNT
};

enum ac_reason {
#define REASON(id, name, meaning) AC_REASON_##id,
#include "policy/words.def"
	AC_REASON_COUNT
};

enum ac_epilogue {
#define EPILOGUE(id, name) AC_EPILOGUE_##id,
#include "policy/words.def"
	AC_EPILOGUE_COUNT
};

enum ac_tactic {
	AC_TACTIC_NONE,     /* the call is kept */
	AC_TACTIC_LIBRARY,  /* another compute type on the program's own call */
	AC_TACTIC_CAST,     /* our cast, then a low-precision product */
	AC_TACTIC_COUNT
};

/* Names as the language and the reports spell them. */
extern const char *const ac_operation_names[AC_OP_COUNT];
extern const char *const ac_quantity_names[AC_Q_COUNT];
extern const char *const ac_fact_names[AC_FACT_COUNT];
extern const char *const ac_rung_names[AC_RUNG_COUNT];
extern const char *const ac_reason_names[AC_REASON_COUNT];
extern const char ac_reason_meanings[AC_REASON_COUNT][96];
extern const char *const ac_epilogue_names[AC_EPILOGUE_COUNT];
extern const char *const ac_tactic_names[AC_TACTIC_COUNT];

struct ac_rates;

/* One operation. A quantity or fact the call lacks makes every condition on
 * it false, `!=` too. Strings are borrowed for the length of one call. */
struct ac_op {
	enum ac_operation operation;
	uint32_t          quantities; /* bit q set: quantity[q] is known */
	double            quantity[AC_Q_COUNT];
	const char       *fact[AC_FACT_COUNT];   /* NULL: not known */
	/* Where in its caller a call on vectors is: module+offset, which
	 * caller= may name, too. NULL: not known. */
	const char       *place;
	/* What the program asked for where it opened the region (fact REGION).
	 * A line that names the region overrules it. */
	bool              region_keeps;          /* leave calls alone */
	unsigned          region_rungs;          /* how many are allowed; 0: as
	                                          * the policy says */
	enum ac_rung      region_rung[AC_RUNG_COUNT]; /* as named */
	const struct ac_rates *rates;            /* of its GPU (profit.h); NULL:
	                                          * the built-in ones */
};

static inline void
ac_op_set(struct ac_op *op, enum ac_quantity which, double value)
{
	op->quantity[which] = value;
	op->quantities |= UINT32_C(1) << which;
}

static inline bool
ac_op_has(const struct ac_op *op, enum ac_quantity which)
{
	return op->quantities >> which & 1;
}

/* Whether a fact is known and just `value`. */
static inline bool
ac_op_is(const struct ac_op *op, enum ac_fact which, const char *value)
{
	return op->fact[which] != NULL && strcmp(op->fact[which], value) == 0;
}

static inline bool
ac_operation_is_conv(uint32_t operation)
{
	return operation == AC_OP_CONV_FPROP ||
	    operation == AC_OP_CONV_DGRAD || operation == AC_OP_CONV_WGRAD;
}

static inline bool
ac_operation_is_product(uint32_t operation)
{
	return !ac_operation_is_conv(operation);
}

/* Whether a product's matrices are in arrays of pointers, which only the device
 * sees. */
static inline bool
ac_operation_is_in_arrays(uint32_t operation)
{
	return operation == AC_OP_GEMM_BATCHED ||
	    operation == AC_OP_GEMM_GROUPED;
}

/* Whether an original can be timed: that of a group, or of a block off the
 * diagonal, is a part of a call. */
static inline bool
ac_operation_is_timed(uint32_t operation)
{
	return operation != AC_OP_GEMM_GROUPED &&
	    operation != AC_OP_GEMM_SYRK;
}

static inline bool
ac_op_is_conv(const struct ac_op *op)
{
	return ac_operation_is_conv(op->operation);
}

/* Those that have an extent per spatial dimension, below 2^16 each. */
static inline bool
ac_quantity_has_extents(enum ac_quantity which)
{
	return which == AC_Q_FILTER || which == AC_Q_STRIDE ||
	    which == AC_Q_DILATION;
}

/* Pass 0 for dimensions that are not there. */
static inline void
ac_op_set_extents(struct ac_op *op, enum ac_quantity which, uint16_t first,
    uint16_t second, uint16_t third)
{
	ac_op_set(op, which, (double)((uint64_t)third << 32 |
	    (uint64_t)second << 16 | first));
}

/* Set m, n, k, batch and what follows from them: flops = 2mnk*batch (8mnk for
 * complex), bytes = A + B + C once in FP32, intensity = flops / bytes.
 * Set the `type` fact ("f32", "c32") before. */
void ac_op_set_product(struct ac_op *op, int64_t m, int64_t n, int64_t k,
    int64_t batch);

/* Why a product of cublasLt with this epilogue is never recast, by design, or
 * NULL. What stands behind a colon does not count. */
const char *ac_epilogue_objection(const char *epilogue);

/* A convolution. Channels are those of all groups; `image` and `out` are what
 * it reads and writes forward, whichever of the three operations it is. Only
 * the first `spatial` extents of each array count. */
struct ac_conv_sizes {
	int64_t  n;               /* images */
	int64_t  cin, cout, groups;
	unsigned spatial;         /* dimensions of space: 1 to 3 */
	int64_t  image[3], out[3];
	uint16_t filter[3], stride[3], dilation[3];
};

/* Set what the sizes of the convolution op->operation say: cin, cout, groups,
 * filter, stride, dilation, spatial (positions of one image), and m, n, k,
 * batch = groups of the product it is. With c, d = cin, cout of a group, N
 * images, P output and F filter positions:
 *
 *            m       n       k
 *   fprop    N P     d       c F     the implicit GEMM
 *   dgrad    N P     c F     d       before its columns are added up: so that
 *                                    strides count nothing twice
 *   wgrad    d       c F     N P
 *
 * flops = 2mnk*batch, the same for all three; bytes = x + w + y once in FP32;
 * intensity = flops / bytes. Pure; an operation that is no convolution counts
 * as fprop. */
void ac_op_set_conv(struct ac_op *op, const struct ac_conv_sizes *sizes);

#endif
