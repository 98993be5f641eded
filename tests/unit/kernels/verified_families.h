/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/kernels/verified_families.h -- kinds of data on which verified
 * products are tried: well-behaved ones, and each way we know to be wrong. */
#ifndef AC_TESTS_VERIFIED_FAMILIES_H
#define AC_TESTS_VERIFIED_FAMILIES_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* alpha op(A) op(B) + beta C, column-major and packed: op(A) is m x k, op(B)
 * k x n. */
struct verified_problem {
	int m, n, k;
	float *a, *b, *c;
	float alpha, beta;
};

enum { VERIFIED_FAMILIES = 51 };
extern const char *const verified_family_names[VERIFIED_FAMILIES];

/* Family number `family`, drawn by the seed. To be freed. */
void verified_problem_make(int family, int m, int n, int k, uint64_t seed,
    struct verified_problem *problem_out);
void verified_problem_free(struct verified_problem *problem);

#ifdef __cplusplus
}
#endif

#endif
