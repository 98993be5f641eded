/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/kernels/verified_cases.h -- verified products on which the kernels
 * of verified.h are tried: their memory, the twins' runs, and a product in
 * between. */
#ifndef AC_TESTS_VERIFIED_CASES_H
#define AC_TESTS_VERIFIED_CASES_H

#include "kernels/verified/verified.h"
#include "tests/unit/kernels/verified_families.h"

#include <stdbool.h>
#include <stddef.h>

/* Where the product goes, what beta scales, and D. */
enum verified_place {
	VERIFIED_PLAIN,         /* the product is asked for, beta 0 */
	VERIFIED_APART,         /* three places */
	VERIFIED_IN_C,          /* D is C */
	VERIFIED_IN_D,          /* the product is in D */
	VERIFIED_COLUMN         /* C is one column for all */
};

/* How a problem lies in memory. */
struct verified_case {
	bool trans[2];
	int  extra;             /* ld - rows; elements between matrices */
	int  batch;             /* 0: 1; each matrix of its own seed */
	bool array;             /* by pointers */
	enum ac_format format;
	float tol;              /* 0: 1e-3 */
	enum verified_place place;
	uint32_t activation;    /* AC_ACTIVATION_*; what is read is made up */
	enum { NO_BIAS, ROW_BIAS, COL_BIAS } bias;
	bool aux, sums, on_device; /* the last: alpha and beta are */
};

/* All of it in ordinary memory. What lies between columns and matrices of A and
 * B is NaN; of D and of aux, VERIFIED_GAP. */
struct verified_data {
	struct ac_verified v;
	struct ac_verified_state  state;
	struct ac_verified_record record, post;
	struct ac_verified_cancelled cancelled;
	float *from[2], *c;
	const float *pointers[2][8];
	float *pointers_c[8];
	size_t to_count[2], part_count[2];
	/* What beta scales, as it was, packed; with its array. */
	float *old, *added;
	const float *pointers_old[8];
	float *d, *pointers_d[8], *bias, *sums;
	uint32_t *aux, *aux_old; /* the same before the call */
	size_t c_count, d_count, aux_count, partial_count, arrived_count;
	float scalars[2];
	size_t spread_count, spread_words; /* 0: mend has no such scratch */
};
#define VERIFIED_GAP 0x1.23456p+77f

/* Of `p`, which has one problem for each matrix. */
void verified_data_make(const struct verified_case *c,
    const struct verified_problem *p, struct verified_data *data_out);
/* From now on few lines keep a GPU busy. */
void verified_data_spread(struct verified_data *data);
void verified_data_free(struct verified_data *data);

/* Element (line, k) of matrix b of op(A), or (k, line) of op(B), in place. */
float *verified_at(struct verified_data *data, int operand, int b, int64_t line,
    int64_t k);
float *verified_c_at(struct verified_data *data, int b, int64_t i, int64_t j);
bool verified_is_flagged(const struct verified_data *data, int side, int b,
    int64_t line);

/* D; where the product is all, that. */
float *verified_d_at(struct verified_data *data, int b, int64_t i, int64_t j);
float verified_alpha(const struct verified_data *data);
/* product + beta C + bias in FP32, C being what it was. */
float verified_y(const struct verified_data *data, int b, int64_t i, int64_t j,
    float product);
/* What becomes of y, in FP64 and by libm. */
double verified_follow(const struct verified_data *data, int b, int64_t i,
    int64_t j, double y);
/* Entry (i, j) of aux, as it is now or as it was: 0 or 1, or a number. */
float verified_aux(const struct verified_data *data, const uint32_t *aux,
    int b, int64_t i, int64_t j);

/* The twin of that name. */
void verified_run(const char *name, struct verified_data *data);
/* The product of the casts, exact but for one rounding of each output. */
void verified_multiply(struct verified_data *data);
/* All five. */
void verified_whole(struct verified_data *data);
/* alpha A B in FP32 as mend has to add it up: each 64 of K, those of each 256,
 * or of more if there are more than 8 of them, then these. */
float verified_fp32(struct verified_data *data, int b, int64_t i, int64_t j);
/* In FP64. */
double verified_exact(struct verified_data *data, int b, int64_t i, int64_t j);

#endif
