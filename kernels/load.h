/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/load.h -- the kernels as functions of one context. For recast.c and
 * conv_check.c. */
#ifndef AC_KERNELS_LOAD_H
#define AC_KERNELS_LOAD_H

#include "kernels/kernels.h"

enum ac_kernel {
	AC_KERNEL_RECAST_CAST, AC_KERNEL_RECAST_SETTLE,
	AC_KERNEL_RECAST_FINISH, AC_KERNEL_RECAST_WRITE,
	AC_KERNEL_RECAST_RANGES, AC_KERNEL_CONV_CHECK, AC_KERNEL_COUNT
};

/* A context's kernels. Never changes once seen, never freed. */
struct ac_kernels {
	enum ac_kernels_status status;  /* OK, or NO_MODULE: then no functions */
	const struct ac_driver *driver;
	ac_cu_context      context;
	unsigned long long id;          /* of the context, 0 before CUDA 12 */
	int                sm_count;
	ac_cu_function     function[AC_KERNEL_COUNT];
};

/* The current context's kernels, loaded if they are not yet. `*kernels_out`
 * is set only with AC_KERNELS_OK. Thread-safe. */
enum ac_kernels_status ac_kernels_get(const struct ac_kernels **kernels_out);

#endif
