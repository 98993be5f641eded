/* SPDX-License-Identifier: Apache-2.0 */
/* shim/scaling/cublas_vector.c -- the wrappers of calls on vectors: with our own
 * scalar where the policy says so, else with the program's own. The handle
 * is never changed. */
#include "base/reentry.h"
#include "shim/bind/provider.h"
#include "shim/scaling/scaling.h"
#include "shim/bind/thunk.h"

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
AC_WRAPPER_DOOR(symbol);                                                      \
AC_EXPORT cublasStatus_t CUBLASWINAPI                                         \
symbol(shape##_PARAMS(index))                                                 \
{                                                                             \
	const void *const caller = __builtin_return_address(0);               \
	const uint32_t via = ac_thunk_take();                                 \
	const struct ac_binding binding = ac_provider_bind(ENTRY_##symbol,    \
	    caller, via);                                                     \
	const __typeof__(&symbol) next = (__typeof__(&symbol))binding.next;   \
	cublasStatus_t status;                                                \
	if (__builtin_expect(!ac_scaling_is_wanted(), 1))                     \
		return next(shape##_ARGS(alpha));                             \
	if (!ac_reentry_enter()) /* a library calls itself */                   \
		return next(shape##_ARGS(alpha));                             \
	{                                                                     \
		struct ac_scaling_call call = {                               \
			.entry = ENTRY_##symbol, .handle = handle,            \
			.provider = binding.provider, .caller = caller,       \
			.n = n, .scalar = alpha, shape##_CHANGES              \
		};                                                            \
		ac_scaling_begin(&call);                                      \
		status = next(shape##_ARGS(call.scalar));                     \
		ac_scaling_end(&call, status);                                \
	}                                                                     \
	ac_reentry_leave();                                                     \
	return status;                                                        \
}
#include "shim/bind/entries.def"
