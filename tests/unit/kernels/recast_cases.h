/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/kernels/recast_cases.h -- products on which the kernels of
 * recast.h are tried: their memory, the twins' runs, and a product in
 * between. */
#ifndef AC_TESTS_RECAST_CASES_H
#define AC_TESTS_RECAST_CASES_H

#include "kernels/recast/recast.h"
#include "tests/unit/kernels/cast_cases.h"

enum recast_output {
	OUT_C,          /* the product goes to C */
	OUT_THROUGH,    /* to `result`; finish writes it through */
	OUT_APART       /* to `result`, which stays there */
};

struct recast_case {
	int m, n, k, batch;
	bool trans[2];
	enum cast_fill fill[2];
	int extra;              /* ld - rows; elements between matrices */
	bool fixed[2];          /* stride 0: one matrix for all */
	bool array;             /* by pointers, last matrix first */
	float alpha, beta;
	enum ac_format format;
	bool scaled;
	enum recast_output output;
	/* What the library does to x before it is D, where the output is C. */
	uint32_t activation;    /* AC_ACTIVATION_* */
	bool bias;              /* fixed[0]: one for all matrices */
	bool follows;           /* `is_set` without either */
	enum { ADDED_C, ADDED_APART, ADDED_COLUMN } added;
};

/* All of it in ordinary memory. What lies between columns and matrices of A
 * and B is NaN; of C, RECAST_GAP. C is filled with FILL_NORMAL. */
struct recast_data {
	struct ac_recast recast;
	struct ac_recast_state   state;
	struct ac_recast_history history;
	struct ac_recast_post    post;
	float     before[AC_BEFORE];
	float    *kept, *bands[2];
	double   *parts;
	size_t    kept_count;
	float    *from[2], *c, *result;
	uint16_t *to[2];
	uint32_t *marks[2];
	const float **pointers[2];
	float   **pointers_c;
	size_t    from_count[2], to_count[2], mark_count[2], c_count;
	size_t    result_count, band_count[2], part_count;
	float    *bias, *added;
	void     *aux;          /* mask, or FP32; ld a multiple of 8 */
};
#define RECAST_GAP 0x1.23456p+77f
/* Zeros behind each cast that nobody writes. */
enum { RECAST_FENCE = 32 };

void recast_data_make(const struct recast_case *c, uint64_t seed,
    struct recast_data *data_out);
/* Other numbers in A and B. */
void recast_data_fill(const struct recast_case *c, uint64_t seed,
    struct recast_data *data);
/* From now on calls are estimated, and held to `tol`. */
void recast_judge(float tol, struct recast_data *data);
void recast_data_free(struct recast_data *data);

/* Element (line, k) of matrix b of op(A), or (k, line) of op(B), in place. */
float *recast_at(struct recast_data *data, int operand, int64_t b,
    int64_t line, int64_t k);
float *recast_c_at(struct recast_data *data, int64_t b, int64_t i, int64_t j);
/* Where the product puts that output. */
float *recast_out_at(struct recast_data *data, int64_t b, int64_t i,
    int64_t j);

/* The twin of that name, as if launched with `blocks` blocks. */
void recast_run(const char *name, const struct recast_data *data,
    unsigned blocks);
void recast_cast(const struct recast_data *data);
void recast_settle(const struct recast_data *data);
void recast_finish(const struct recast_data *data);
/* What beta scales there. */
float *recast_old_at(struct recast_data *data, int64_t b, int64_t i, int64_t j);
float *recast_bias_at(struct recast_data *data, int64_t b, int64_t i);
/* What follows a product, of x in double: without roundings, by libm. */
double recast_follow(struct recast_data *data, int64_t b, int64_t i, int64_t j,
    double x);
/* The product of the casts, exact but for one rounding of each output; of what
 * the library makes of that, too. */
void recast_multiply(struct recast_data *data);
/* All four. */
void recast_whole(struct recast_data *data);

/* alpha op(A) op(B) + beta C in double; C as it is in `c` (m x n x batch,
 * packed). With beta 0 or alpha 0 what they multiply is not looked at. */
double recast_exact(struct recast_data *data, int64_t b, int64_t i, int64_t j,
    const float *c);
/* A packed copy of C, or of what beta scales; to be freed. */
float *recast_copy_c(struct recast_data *data);
float *recast_copy_old(struct recast_data *data);

#endif
