/* SPDX-License-Identifier: Apache-2.0 */
/* policy/decide/range.h -- which rung would fit? Predicted from how often each
 * FP32 exponent occurs in the operands, without running any (doc/accuracy.md
 * A4). Within one binade values are taken to be spread evenly; a few elements
 * that hold nearly all of an operand's energy, and data that a format happens
 * to hold exactly, are predicted badly. Pure. */
#ifndef AC_POLICY_RANGE_H
#define AC_POLICY_RANGE_H

#include "policy/op.h"

enum { AC_EXPONENTS = 256 };     /* bits 30..23 of an FP32 number */

/* The ways to run a product that a histogram can rank, the cheapest first. */
enum ac_range_way {
	AC_RANGE_FP16,           /* scaled as the two-pass cast does it */
	AC_RANGE_FP16_UNSCALED,
	AC_RANGE_BF16,
	AC_RANGE_TF32,
	AC_RANGE_COUNT
};
struct ac_range_row {
	const char  *name;       /* "fp16", "fp16 unscaled" */
	enum ac_rung rung;
	int  bits;               /* of the significand, the hidden one too */
	int  least, most;        /* exponents of normal numbers */
	bool scaled;
};
extern const struct ac_range_row ac_range_rows[AC_RANGE_COUNT];

/* What one operand is made of. */
struct ac_range_extent {
	uint64_t elements;       /* all of them */
	uint64_t zeros;          /* FP32 subnormals count as such */
	uint64_t nonfinite;
	int      lowest, highest; /* exponents of the others: 2^lowest <= |x| <
	                         * 2^(highest + 1); both 0 if there are none */
};

/* What a cast would do to them. Shares are of the elements that are finite and
 * not zero, 0 to 1. */
struct ac_range_loss {
	double rho;              /* relative loss, sqrt(R / S); infinite if
	                          * something overflows */
	double flushed;          /* become zero */
	double subnormal;        /* keep fewer significand bits */
	double overflowed;       /* become infinite */
};

enum ac_range_verdict {
	AC_RANGE_FITS,
	AC_RANGE_LOSES,          /* the guard would find: cast */
	AC_RANGE_OVERFLOWS,      /* the guard would find: range */
	AC_RANGE_ROUGH,          /* the rung itself is known to err by more */
	AC_RANGE_VERDICTS
};
extern const char *const ac_range_verdict_names[AC_RANGE_VERDICTS];

struct ac_range_rank {
	enum ac_range_way     way;
	struct ac_range_loss  loss[2];   /* of A and of B */
	double                error;     /* predicted, of both casts together */
	enum ac_range_verdict verdict;   /* against the tolerance */
};

void ac_range_measure(const uint64_t counts[AC_EXPONENTS],
    struct ac_range_extent *extent_out);
void ac_range_predict(const uint64_t counts[AC_EXPONENTS],
    enum ac_range_way way, struct ac_range_loss *loss_out);

/* Every way, those that fit the tolerance first, else the cheapest first. A
 * `tol` of 0: for each the one that applies to its rung when none is named. */
void ac_range_order(const uint64_t a[AC_EXPONENTS],
    const uint64_t b[AC_EXPONENTS], double tol,
    struct ac_range_rank ranks_out[AC_RANGE_COUNT]);

#endif
