/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/shim/lt_backend_world.h -- a call of cublasLtMatmul whose plans
 * are only noted. Addresses are numbers. */
#ifndef TESTS_LT_BACKEND_WORLD_H
#define TESTS_LT_BACKEND_WORLD_H

#include "shim/gemm/recipe.h"
#include "shim/lt/call.h"

#define AT(address) ((void *)(uintptr_t)(address))

/* All of other alignments. */
enum { A = 0x0101, B = 0x0202, C = 0x0304, D = 0x0408, BIAS = 0x0510,
	AUX = 0x0620, RESULT = 0x0740, CAST_A = 0x0880, CAST_B = 0x0900 };

/* What is noted. */
struct noted {
	struct ac_lt_plan_key kind;
	struct ac_lt_run  run;
};
extern struct noted ran;             /* by ac_lt_plan_run() */
extern unsigned runs, recasts;
extern unsigned looks;               /* ac_lt_plan_again(), with a hint */
extern bool may_make;
extern int reason_counted;           /* -1: as the site was decided; -2: none */
extern struct ac_gemm gemm;          /* as ac_gemm_recast() got it */
extern struct ac_gemm_tail tail;

/* What a test may change after start(). */
extern bool is_known;                /* ac_lt_plan_again() finds it */
extern bool can_read;
extern struct ac_lt_pointers pointers;
extern struct ac_provider provider;
extern struct ac_site site;
extern struct ac_place place;
extern struct ac_lt_arguments x;
extern struct ac_lt_decided decided;
extern void (*then)(const struct ac_gemm *g);  /* in ac_gemm_recast() */

void start(void);
enum ac_outcome recast(void);

#endif
