/* SPDX-License-Identifier: Apache-2.0 */
/* tests/trust/rhythm_data.h -- the kinds of data that rhythm multiplies. */
#ifndef TESTS_TRUST_RHYTHM_DATA_H
#define TESTS_TRUST_RHYTHM_DATA_H

#include <stdbool.h>
#include <stdint.h>

/* good        uniform in -1..1
 * zero        A is zero
 * cancelling  the second half of K takes away what the first gave, but 1e-5
 * graded      along K, over 45 binades, A against B: FP16 has not the range
 * onehot      a row of a table of whole numbers below 2^24 for each output row
 * prefix      sums of more and more whole numbers
 * packed      two counters below 2^12 in one float, picked as by onehot
 * mixed       onehot, in `whole` of 100 columns; the others are good
 * masked, maskedbad  good or cancelling, added to a causal mask of -`mask`
 * bias, biasbad      the same, added to a bias `bias` times as large
 * subnormal   A is FP32 subnormals
 * unequal     half the rows of A are zero, the rest 1 to 2^-10 in size
 * small       A is 2^-20 in size
 * channel     one column of A is 2^12 as large, its row of B as small
 * spike       good, but for one element of A, 2^40
 * opposed     good, and added to what is minus the product, but for `against`
 *             of its size (cublasLt)
 * odd         good, but for one matrix of the batch */
#define RHYTHM_KINDS(X) \
	X(good) X(zero) X(cancelling) X(graded) X(onehot) X(prefix) X(packed) \
	X(mixed) X(masked) X(maskedbad) X(bias) X(biasbad) X(subnormal) \
	X(unequal) X(small) X(channel) X(spike) X(opposed) \
	X(odd)
#define RHYTHM_AS_ENUM(name) KIND_##name,
enum kind { RHYTHM_KINDS(RHYTHM_AS_ENUM) KIND_COUNT };
extern const char *const rhythm_kinds[];

/* One product's operands, column-major, all packed. */
struct rhythm_data {
	enum kind kind;
	int m, n, k;
	float *a, *b;
	float *c;               /* what it is added to; NULL: nothing */
	double mask, bias;
	int whole;
};

bool rhythm_kind_adds(enum kind kind);
/* Whether its results are whole numbers, some of them at least. */
bool rhythm_kind_counts(enum kind kind);
void rhythm_data_draw(const struct rhythm_data *data, uint64_t *seed);

#endif
