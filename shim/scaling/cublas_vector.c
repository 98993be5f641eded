/* SPDX-License-Identifier: Apache-2.0 */
/* shim/scaling/cublas_vector.c -- the wrappers of calls on vectors: with our
 * own scalar where the policy says so, else with the program's own. The handle
 * is never changed. */
#include "shim/bind/wrapper.h"
#include "shim/scaling/scaling.h"

#define SCAL_PARAMS(index) cublasHandle_t handle, index n, \
	const float *alpha, float *x, index incx
#define SCAL_ARGS(scalar) handle, n, scalar, x, incx
#define SCAL_CHANGES .vector = x, .increment = incx, \
	.source = x, .source_increment = incx

#define AXPY_PARAMS(index) cublasHandle_t handle, index n, \
	const float *alpha, const float *x, index incx, float *y, index incy
#define AXPY_ARGS(scalar) handle, n, scalar, x, incx, y, incy
#define AXPY_CHANGES .vector = y, .increment = incy, \
	.source = x, .source_increment = incx

#define VECTOR(shape, symbol, index)                                          \
AC_WRAPPER(cublasStatus_t CUBLASWINAPI, symbol)(shape##_PARAMS(index))        \
{                                                                             \
	const struct ac_wrapped call = AC_ENTER(symbol);                      \
	cublasStatus_t status;                                                \
	if (__builtin_expect(call.outermost && ac_scaling_is_wanted(), 0)) {  \
		struct ac_scaling_call scaling = {                            \
			.entry = ENTRY_##symbol, .handle = handle,            \
			.provider = call.binding.provider,                    \
			.caller = call.caller,                                \
			.n = n, .scalar = alpha, shape##_CHANGES              \
		};                                                            \
		ac_scaling_begin(&scaling);                                   \
		status = ORIGINAL(call, symbol)(shape##_ARGS(scaling.scalar)); \
		ac_scaling_end(&scaling, status);                             \
	} else {                                                              \
		status = ORIGINAL(call, symbol)(shape##_ARGS(alpha));         \
	}                                                                     \
	ac_wrapper_leave(&call);                                              \
	return status;                                                        \
}
#include "shim/bind/entries.def"
