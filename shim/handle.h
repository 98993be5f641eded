/* SPDX-License-Identifier: Apache-2.0 */
/* shim/handle.h -- the cuBLAS handles the program holds.
 * A handle tells which provider made it and on which device it lives; both
 * are learnt when it is created. Handles are never changed by us. */
#ifndef AC_SHIM_HANDLE_H
#define AC_SHIM_HANDLE_H

#include "shim/provider.h"

struct ac_handle {
	struct ac_provider *provider;
	int device;                    /* CUDA ordinal; -1 if unknown */
	__typeof__(&cublasGetMathMode) get_math_mode; /* NULL: not exported */
};

/* What is known of `handle`; NULL for one we did not see created (then its
 * calls pass through untouched). Lock-free. The record is valid until the
 * handle is destroyed. */
const struct ac_handle *ac_handle_find(cublasHandle_t handle);

#endif
