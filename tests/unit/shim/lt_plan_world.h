/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/shim/lt_plan_world.h -- a cublasLt that notes what it is asked.
 * Its descriptors are arrays of attributes by number. */
#ifndef TESTS_LT_PLAN_WORLD_H
#define TESTS_LT_PLAN_WORLD_H

#include "shim/lt/plan.h"

/* What a descriptor says. All of ours have 512 bytes. */
enum { ATTRIBUTES = 63, BYTES = 512 };
struct said {
	uint64_t magic;
	uint64_t of[ATTRIBUTES];
};
enum { OPERATION = 0x6f70, LAYOUT = 0x6c61, PREFERENCE = 0x7072 };

#define OF(said, name) ((said)->of[CUBLASLT_MATMUL_DESC_##name])
#define OF_LAYOUT(said, name) ((said)->of[CUBLASLT_MATRIX_LAYOUT_##name])
#define OF_PREF(said, name) ((said)->of[CUBLASLT_MATMUL_PREF_##name])

/* What the library was given, at its last question and in its last product. */
struct given {
	cublasLtHandle_t handle;
	struct said operation, a, b, c, d, preference;
	const void *alpha, *beta, *from[3];
	void *to, *workspace;
	uint64_t algorithm;
	size_t workspace_bytes;
	cudaStream_t stream;
};
extern struct given asked, ran;
extern unsigned calls, questions, products;

/* What it answers, until start(): */
extern unsigned fails_at;             /* its `fails_at`th call, from 1 */
extern cublasStatus_t fails_with, answer;
extern cublasLtMatmulHeuristicResult_t result;
extern int results;
extern void (*inside)(void);          /* called while it works, once */
extern bool has_memory;
extern bool counts_addresses;         /* it notes more than an address */
extern int relaxed;                   /* brackets around captures */

/* A product, another one at each start(), of every attribute there is. */
#define AT(address) ((void *)(uintptr_t)(address))
extern struct ac_provider provider, other;
extern struct ac_lt_plan_key kind;
extern struct ac_lt_run run;
void start(void);

#endif
