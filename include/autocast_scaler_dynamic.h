/* SPDX-License-Identifier: Apache-2.0 */
/* autocast_scaler_dynamic.h -- autocast_scaler.h without linking; see
 * autocast_dynamic.h for how the library is found.
 *
 * Without the library every scaler is a disabled one, whatever its options say,
 * and so are its groups:
 *
 *   create             a handle. The values of options are not looked at
 *   scale              leaves the data alone
 *   unscale, step_async, update, update_to, prepare, set_gradients, set_reduce,
 *   set_growth, set_backoff, set_interval
 *                      nothing; the reduce hook is never called
 *   step               calls apply, each time; `*stepped_out` is 1
 *   get                scale 1, tracker 0
 *   get_growth, get_backoff, get_interval
 *                      AUTOCAST_E_INVALID
 *   get_counters       zeros, min_scale and max_scale 1
 *   pointers           NULL and NULL
 *   save, load         0 bytes; nothing
 *   norm, clip, axpy   AUTOCAST_E_ABSENT: they compute something, which only
 *                      the library can. Do it yourself then
 *
 * Everything else returns AUTOCAST_OK. AUTOCAST_E_INVALID for a NULL that is
 * not allowed, and for a group of another scaler; AUTOCAST_E_CALLBACK as ever.
 * No CUDA call is made, nothing waits, streams are not looked at. */
#ifndef AUTOCAST_SCALER_DYNAMIC_H
#define AUTOCAST_SCALER_DYNAMIC_H

#include "autocast_dynamic.h" /* first: it chooses the mode */

#include "autocast_absent.h"
#include "autocast_scaler.h"

#ifdef __cplusplus
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast" /* in C there are no others */
extern "C" {
#endif

/* ---- Looking up --------------------------------------------------------- */

/* What a call of a function that was not found returns. */
static inline autocast_status
autocast_scaler_missing(const volatile void *handle)
{
	return handle == NULL ? AUTOCAST_E_INVALID :
				autocast_functions_missing();
}

#define AUTOCAST_LIBRARY(handle, name, arguments)                             \
	(AUTOCAST_FIND(name) != NULL ? AUTOCAST_FIND(name) arguments :        \
	autocast_scaler_missing(handle))

/* ---- Creating ---------------------------------------------------------- */

static inline autocast_status
autocast_scaler_create(const autocast_scaler_options *options,
    autocast_scaler **scaler_out)
{
	__typeof__(&autocast_scaler_create) call = AUTOCAST_FIND(scaler_create);
	struct autocast_absent *block;

	if (call != NULL)
		return call(options, scaler_out);
	if (scaler_out == NULL
	    || (options != NULL && options->size < sizeof(options->size)))
		return AUTOCAST_E_INVALID;
	block = autocast_absent_create(NULL);
	if (block == NULL)
		return AUTOCAST_E_NO_MEMORY;
	*scaler_out = (autocast_scaler *)autocast_absent_handle(block);
	return AUTOCAST_OK;
}

static inline void
autocast_scaler_destroy(autocast_scaler *scaler)
{
	__typeof__(&autocast_scaler_destroy) call =
	    AUTOCAST_FIND(scaler_destroy);
	struct autocast_absent *block, *next;

	if (!autocast_is_absent(scaler)) {
		if (call != NULL)
			call(scaler);
		return;
	}
	for (block = autocast_absent_block(scaler); block != NULL;
	     block = next) {
		next = block->next;
		free(block);
	}
}

static inline autocast_status
autocast_scaler_prepare(autocast_scaler *scaler, int device,
    struct CUstream_st *stream)
{
	return autocast_is_absent(scaler) ? AUTOCAST_OK :
	    AUTOCAST_LIBRARY(scaler, scaler_prepare,
	    (scaler, device, stream));
}

/* ---- Scaling ----------------------------------------------------------- */

static inline autocast_status
autocast_scaler_scale(autocast_scaler *scaler, const autocast_tensor *seeds,
    size_t count, struct CUstream_st *stream)
{
	return autocast_is_absent(scaler) ? seeds == NULL && count != 0 ?
	    AUTOCAST_E_INVALID : AUTOCAST_OK :
	    AUTOCAST_LIBRARY(scaler, scaler_scale,
	    (scaler, seeds, count, stream));
}

static inline autocast_status
autocast_scaler_pointers(autocast_scaler *scaler, int device,
    const float **scale_out, const float **inverse_out)
{
	if (!autocast_is_absent(scaler))
		return AUTOCAST_LIBRARY(scaler, scaler_pointers,
		    (scaler, device, scale_out, inverse_out));
	if (scale_out == NULL || inverse_out == NULL)
		return AUTOCAST_E_INVALID;
	*scale_out = NULL;
	*inverse_out = NULL;
	return AUTOCAST_OK;
}

/* ---- Groups ------------------------------------------------------------ */

static inline autocast_status
autocast_group_create(autocast_scaler *scaler, const char *name,
    autocast_group **group_out)
{
	struct autocast_absent *block;

	if (!autocast_is_absent(scaler))
		return AUTOCAST_LIBRARY(scaler, group_create,
		    (scaler, name, group_out));
	if (group_out == NULL)
		return AUTOCAST_E_INVALID;
	block = autocast_absent_create(autocast_absent_block(scaler));
	if (block == NULL)
		return AUTOCAST_E_NO_MEMORY;
	*group_out = (autocast_group *)autocast_absent_handle(block);
	return AUTOCAST_OK;
}

static inline void
autocast_group_destroy(autocast_group *group)
{
	__typeof__(&autocast_group_destroy) call = AUTOCAST_FIND(group_destroy);

	if (autocast_is_absent(group))
		__atomic_store_n(&autocast_absent_block(group)->is_free, 1,
		    __ATOMIC_RELEASE);
	else if (call != NULL)
		call(group);
}

static inline autocast_status
autocast_group_set_gradients(autocast_group *group,
    const autocast_tensor *gradients, size_t count)
{
	return autocast_is_absent(group) ? gradients == NULL && count != 0 ?
	    AUTOCAST_E_INVALID : AUTOCAST_OK :
	    AUTOCAST_LIBRARY(group, group_set_gradients,
	    (group, gradients, count));
}

static inline autocast_status
autocast_group_pointers(const autocast_group *group, int device,
    const float **grad_scale_out, const float **found_inf_out)
{
	if (!autocast_is_absent(group))
		return AUTOCAST_LIBRARY(group, group_pointers,
		    (group, device, grad_scale_out, found_inf_out));
	if (grad_scale_out == NULL || found_inf_out == NULL)
		return AUTOCAST_E_INVALID;
	*grad_scale_out = NULL;
	*found_inf_out = NULL;
	return AUTOCAST_OK;
}

/* ---- Unscaling --------------------------------------------------------- */

static inline autocast_status
autocast_scaler_unscale(autocast_scaler *scaler, autocast_group *group,
    struct CUstream_st *stream)
{
	return autocast_is_absent(scaler) || autocast_is_absent(group) ?
	    autocast_absent_pair(scaler, group) :
	    AUTOCAST_LIBRARY(scaler, scaler_unscale,
	    (scaler, group, stream));
}

static inline autocast_status
autocast_group_norm(autocast_group *group, double p, float *norm_device,
    struct CUstream_st *stream)
{
	return autocast_is_absent(group) ? AUTOCAST_E_ABSENT :
	    AUTOCAST_LIBRARY(group, group_norm,
	    (group, p, norm_device, stream));
}

static inline autocast_status
autocast_group_clip(autocast_group *group, float max_norm, float *norm_device,
    struct CUstream_st *stream)
{
	return autocast_is_absent(group) ? AUTOCAST_E_ABSENT :
	    AUTOCAST_LIBRARY(group, group_clip,
	    (group, max_norm, norm_device, stream));
}

/* ---- Stepping ---------------------------------------------------------- */

static inline autocast_status
autocast_scaler_step(autocast_scaler *scaler, autocast_group *group,
    int (*apply)(void *user), void *user, int *stepped_out,
    struct CUstream_st *stream)
{
	if (!autocast_is_absent(scaler) && !autocast_is_absent(group))
		return AUTOCAST_LIBRARY(scaler, scaler_step,
		    (scaler, group, apply, user, stepped_out, stream));
	if (autocast_absent_pair(scaler, group) != AUTOCAST_OK)
		return AUTOCAST_E_INVALID;
	if (stepped_out != NULL)
		*stepped_out = 1;
	return apply != NULL && apply(user) != 0 ?
	    AUTOCAST_E_CALLBACK : AUTOCAST_OK;
}

static inline autocast_status
autocast_scaler_step_async(autocast_scaler *scaler, autocast_group *group,
    struct CUstream_st *stream)
{
	return autocast_is_absent(scaler) || autocast_is_absent(group) ?
	    autocast_absent_pair(scaler, group) :
	    AUTOCAST_LIBRARY(scaler, scaler_step_async,
	    (scaler, group, stream));
}

static inline autocast_status
autocast_scaler_axpy(autocast_scaler *scaler, autocast_group *group,
    float alpha, const float *alpha_device, const autocast_tensor *x,
    const autocast_tensor *y, struct CUstream_st *stream)
{
	return autocast_is_absent(scaler) || autocast_is_absent(group) ?
	    AUTOCAST_E_ABSENT :
	    AUTOCAST_LIBRARY(scaler, scaler_axpy,
	    (scaler, group, alpha, alpha_device, x, y, stream));
}

/* ---- Updating ---------------------------------------------------------- */

static inline autocast_status
autocast_scaler_update(autocast_scaler *scaler, struct CUstream_st *stream)
{
	return autocast_is_absent(scaler) ? AUTOCAST_OK :
	    AUTOCAST_LIBRARY(scaler, scaler_update,
	    (scaler, stream));
}

static inline autocast_status
autocast_scaler_update_to(autocast_scaler *scaler, double scale,
    struct CUstream_st *stream)
{
	return autocast_is_absent(scaler) ? AUTOCAST_OK :
	    AUTOCAST_LIBRARY(scaler, scaler_update_to,
	    (scaler, scale, stream));
}

static inline autocast_status
autocast_scaler_set_reduce(autocast_scaler *scaler, autocast_reduce reduce,
    void *user)
{
	return autocast_is_absent(scaler) ? AUTOCAST_OK :
	    AUTOCAST_LIBRARY(scaler, scaler_set_reduce,
	    (scaler, reduce, user));
}

/* ---- Reading and setting ----------------------------------------------- */

static inline autocast_status
autocast_scaler_get(autocast_scaler *scaler, double *scale_out,
    int32_t *tracker_out)
{
	if (!autocast_is_absent(scaler))
		return AUTOCAST_LIBRARY(scaler, scaler_get,
		    (scaler, scale_out, tracker_out));
	if (scale_out != NULL)
		*scale_out = 1;
	if (tracker_out != NULL)
		*tracker_out = 0;
	return AUTOCAST_OK;
}

static inline autocast_status
autocast_scaler_get_counters(autocast_scaler *scaler,
    autocast_scaler_counters *counters)
{
	autocast_scaler_counters none = {
		sizeof(none), 0, 0, 0, 0, 0, 0, 0, 0, 1, 1
	};

	if (!autocast_is_absent(scaler))
		return AUTOCAST_LIBRARY(scaler, scaler_get_counters,
		    (scaler, counters));
	if (counters == NULL || counters->size < sizeof(counters->size))
		return AUTOCAST_E_INVALID;
	if (none.size > counters->size)
		none.size = counters->size;
	__builtin_memcpy(counters, &none, none.size);
	return AUTOCAST_OK;
}

static inline autocast_status
autocast_scaler_set_growth(autocast_scaler *scaler, double growth)
{
	return autocast_is_absent(scaler) ? AUTOCAST_OK :
	    AUTOCAST_LIBRARY(scaler, scaler_set_growth,
	    (scaler, growth));
}

static inline autocast_status
autocast_scaler_set_backoff(autocast_scaler *scaler, double backoff)
{
	return autocast_is_absent(scaler) ? AUTOCAST_OK :
	    AUTOCAST_LIBRARY(scaler, scaler_set_backoff,
	    (scaler, backoff));
}

static inline autocast_status
autocast_scaler_set_interval(autocast_scaler *scaler, int64_t interval)
{
	return autocast_is_absent(scaler) ? AUTOCAST_OK :
	    AUTOCAST_LIBRARY(scaler, scaler_set_interval,
	    (scaler, interval));
}

static inline autocast_status
autocast_scaler_get_growth(const autocast_scaler *scaler, double *growth_out)
{
	return autocast_is_absent(scaler) ? AUTOCAST_E_INVALID :
	    AUTOCAST_LIBRARY(scaler, scaler_get_growth,
	    (scaler, growth_out));
}

static inline autocast_status
autocast_scaler_get_backoff(const autocast_scaler *scaler, double *backoff_out)
{
	return autocast_is_absent(scaler) ? AUTOCAST_E_INVALID :
	    AUTOCAST_LIBRARY(scaler, scaler_get_backoff,
	    (scaler, backoff_out));
}

static inline autocast_status
autocast_scaler_get_interval(const autocast_scaler *scaler,
    int64_t *interval_out)
{
	return autocast_is_absent(scaler) ? AUTOCAST_E_INVALID :
	    AUTOCAST_LIBRARY(scaler, scaler_get_interval,
	    (scaler, interval_out));
}

static inline autocast_status
autocast_scaler_save(autocast_scaler *scaler, char *text, size_t *size)
{
	if (!autocast_is_absent(scaler))
		return AUTOCAST_LIBRARY(scaler, scaler_save,
		    (scaler, text, size));
	if (size == NULL)
		return AUTOCAST_E_INVALID;
	*size = 0;
	return AUTOCAST_OK;
}

static inline autocast_status
autocast_scaler_load(autocast_scaler *scaler, const char *text, size_t size)
{
	if (!autocast_is_absent(scaler))
		return AUTOCAST_LIBRARY(scaler, scaler_load,
		    (scaler, text, size));
	return text == NULL && size != 0 ? AUTOCAST_E_INVALID : AUTOCAST_OK;
}

#ifdef __cplusplus
} /* extern "C" */
#pragma GCC diagnostic pop
#endif

#endif
