/* SPDX-License-Identifier: Apache-2.0 */
/* shim/bind/catalogue.c -- the rows of the *.def files as one table. */
#include "shim/bind/catalogue.h"

#include "policy/op.h"

/* What each shape of product is, and whether a recipe exists for it. */
#define SINGLE_IS      AC_OP_GEMM_SINGLE, true
#define GEMM_EX_IS     AC_OP_GEMM_SINGLE, true
#define SGEMM_EX_IS    AC_OP_GEMM_SINGLE, true
#define STRIDED_IS     AC_OP_GEMM_STRIDED, true
#define STRIDED_EX_IS  AC_OP_GEMM_STRIDED, true
#define POINTERS_IS    AC_OP_GEMM_BATCHED, true
#define POINTERS_EX_IS AC_OP_GEMM_BATCHED, true
#define COMPLEX_IS     AC_OP_GEMM_SINGLE, true
#define COMPLEX_EX_IS  AC_OP_GEMM_SINGLE, true
#define COMPLEX_STRIDED_IS AC_OP_GEMM_STRIDED, true
#define GROUPED_IS     AC_OP_GEMM_GROUPED, false
#define GROUPED_EX_IS  AC_OP_GEMM_GROUPED, false

const struct ac_entry_row ac_entries[ENTRY_COUNT] = {
#define GEMM(shape, symbol, index) { #symbol, "libcublas.so", shape##_IS },
#include "shim/bind/cublas_gemm.def"
#undef GEMM
#define MARKER(kind, symbol, provider) { #symbol, provider, -1, false },
#include "shim/bind/marker.def"
#undef MARKER
#define HANDLE(symbol) { #symbol, "libcublas.so", -1, false },
#include "shim/bind/cublas_handle.def"
#undef HANDLE
#define VECTOR(shape, symbol, index) { #symbol, "libcublas.so", -1, false },
#include "shim/bind/cublas_vector.def"
#undef VECTOR
#ifdef AC_HAVE_CUDNN
#define CUDNN(kind, symbol) { #symbol, "libcudnn.so", -1, false },
#include "shim/bind/cudnn.def"
#undef CUDNN
#endif
#define COMPANION(symbol, need) { #symbol, "libcublas.so", -1, false },
#include "shim/bind/cublas_companion.def"
#undef COMPANION
#ifdef AC_HAVE_CUDNN
#define COMPANION(symbol, need) { #symbol, "libcudnn.so", -1, false },
#include "shim/bind/cudnn_companion.def"
#undef COMPANION
#endif
};
