/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/shim/gemm_world.h -- what the tests of shim/gemm/gemm.c share: one
 * handle, one site, a conductor that only notes what it is given. Nothing is
 * multiplied: addresses are numbers. */
#ifndef AC_TESTS_GEMM_WORLD_H
#define AC_TESTS_GEMM_WORLD_H

#include "shim/gemm/recipe.h"

/* The world; a test that changes it changes it back. */
extern struct ac_provider provider, other_provider;
extern struct ac_handle handle;             /* of `provider` */
extern struct ac_variants made_variants[AC_ALIKE_COUNT];
extern struct ac_site_record record;
extern struct ac_site site;                 /* to be recast */
extern struct ac_cast_scalar beta_read;     /* what ac_job_read() finds */
extern cublasStatus_t stream_status;        /* of cublasGetStream() */

/* What was done. */
struct write {
	const void *c;
	uint64_t    bytes;
	bool        adds;
};
extern unsigned ranges_counted, solved, conducted, writes;
extern struct ac_job seen;                  /* what was conducted, */
extern struct ac_ways ways;                 /* and how */
extern struct write written[4];
extern const void *read_c;                  /* AC_CHAIN_READS */
extern uint64_t read_bytes;
extern const char *ran;                     /* the recipe, */
extern enum ac_reason ran_reason;           /* its answer, */
extern cublasStatus_t ran_status;           /* and cuBLAS's */
extern unsigned reads;                      /* of scalars */

enum { M = 5, N = 6, K = 7 };
enum { A_AT = 1 << 16, B_AT = 2 << 16, C_AT = 3 << 16 };

static inline const void *
at(uint64_t address)
{
	return (const void *)(uintptr_t)address;
}

/* A product of those sizes and addresses. */
struct ac_gemm good(void);

/* Why `g` is kept, -1: as decided; AC_REASON_NONE: the conductor has it. */
int reason_of(const struct ac_gemm *g);

#endif
