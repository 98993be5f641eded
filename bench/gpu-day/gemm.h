/* SPDX-License-Identifier: Apache-2.0 */
/* bench/gpu-day/gemm.h -- the products that gemm.c measures. */
#ifndef AC_BENCH_GEMM_H
#define AC_BENCH_GEMM_H

#include "gpu.h"

#include <cublasLt.h>

/* LINEAR: by cublasLt, with a bias. */
enum gemm_form { FORM_SINGLE, FORM_STRIDED, FORM_ARRAY, FORM_LINEAR };
extern const char *const gemm_forms[];

struct gemm_case {
	char name[64];
	enum gemm_form form;
	int  m, n, k, batch;
	bool trans[2];       /* A, B */
	cublasLtEpilogue_t epilogue; /* of LINEAR */
};

/* Call `use` with the cases of one set, what matters most first; with -q only
 * small ones. An unknown set ends the program with status 2. */
void gemm_cases_of(const char *set, void (*use)(const struct gemm_case *c));

#endif
