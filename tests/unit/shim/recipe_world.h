/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/shim/recipe_world.h -- what the tests of the recipes share: a
 * cuBLAS, kernels and a lane that note what is asked of them. */
#ifndef AC_TESTS_RECIPE_WORLD_H
#define AC_TESTS_RECIPE_WORLD_H

#include "shim/gemm/recipe.h"

/* What was done, in a word each, and a blank between two. */
extern char events[256];

/* What answers otherwise, until start(): */
extern const char *fails;             /* the event; its `fails_at`th, from 1 */
extern unsigned fails_at;
extern cublasStatus_t answers[4];     /* of the products, one after the other */
extern bool lacks_wide;               /* cuBLAS: functions of int64_t */
extern bool has_history;
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
extern struct ac_lane_request request;     /* and what was asked of a lane; */
extern struct ac_recast cast, settled, finished; /* what kernels were given; */
extern unsigned queued, refused;           /* what a try told its trial */

/* A lane's memory, and a call: start() makes them as they are at first. */
extern struct ac_lane_loan loan;
extern const struct ac_place place;
extern struct ac_timing timing;
extern float alpha, beta;
extern struct ac_gemm g;
extern struct ac_turn turn;
extern struct ac_site site;
extern struct ac_job job;
extern cublasStatus_t status;              /* what it answers */
/* With the scalars read, and candidate `number` of the site's two: FP16 by a
 * cast, TF32 by the library. */
void start(unsigned number);

#endif
