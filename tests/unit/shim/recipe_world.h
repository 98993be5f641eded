/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/shim/recipe_world.h -- for the tests of the recipes: a cuBLAS,
 * kernels and a lane that note what is asked of them. */
#ifndef AC_TESTS_RECIPE_WORLD_H
#define AC_TESTS_RECIPE_WORLD_H

#include "shim/gemm/recipe.h"

enum { UNTOUCHED = 99 };   /* the status of a call that did not run */

/* What was done, in a word each, and a blank between two. */
extern char events[256];

/* What answers otherwise, until start(): */
extern const char *fails;             /* the event */
extern cublasStatus_t answer;         /* of the product */
extern bool lacks_wide;               /* cuBLAS: functions of int64_t */
extern enum ac_reason borrowed;       /* what borrowing a lane answers */
extern cublasPointerMode_t pointer_mode;

/* The last product, */
struct issued {
	cublasHandle_t    handle;
	cublasOperation_t transa, transb;
	int64_t           m, n, k, batch;
	const void       *alpha, *beta;
	struct ac_operand a, b, c;
	cublasComputeType_t compute;
};
extern struct issued issued;
extern bool was_apart;               /* as its backend was told; */
extern struct ac_lane_request request; /* what was asked of a lane; */
extern struct ac_verified given;      /* what the last kernel was given: */
extern bool is_one;                   /* as all were */

/* A lane's memory, a ledger's records, and a call of 5 x 6 x 7, B transposed,
 * with a beta of 0. */
extern char buffer[1 << 16];
extern struct ac_verified_state words;
extern struct ac_verified_record spare, record, post;
extern struct ac_ledger ledger;
extern struct ac_timing timing;
extern struct ac_gemm_backend backend;
extern struct ac_gemm_tail tail;      /* not the call's yet */
extern float alpha, beta;
extern struct ac_provider provider;
extern struct ac_gemm g;
extern struct ac_turn turn;
extern struct ac_site site;
extern struct ac_job job;
extern const struct ac_place place;
extern cublasStatus_t status;         /* what it answers */

/* All as it is at first, for candidate `number`: FP16 by a cast, TF32 by the
 * library. */
void start(unsigned number);

#endif
