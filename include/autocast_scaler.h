/* SPDX-License-Identifier: Apache-2.0 */
/* autocast_scaler.h -- GradScaler for C and C++: dynamic loss scaling with the
 * rules, and the bits, of PyTorch's torch.amp.GradScaler.
 *
 * Do you need it? Only if gradients of yours are stored in FP16. What
 * libautocast.so casts by itself is scaled per operation. See
 * autocast_scaler(3), which also has the loop to copy.
 *
 *   autocast_scaler_create, autocast_scaler_prepare         once
 *   autocast_group_create, autocast_group_set_gradients     once per optimizer
 *   each iteration:
 *     forward; dL/dlogits; autocast_scaler_scale() on it; backward
 *     autocast_scaler_unscale(), autocast_group_clip()      optional
 *     autocast_scaler_step()    or autocast_scaler_step_async() and a kernel
 *                               of yours that looks at the flag
 *     autocast_scaler_update()
 *
 * Scale, growth count and flags live on the device. Only the calls that say so
 * wait for it; of the others each can be captured into a graph (of one device:
 * E_CAPTURE where others take part; all from unscaling to updating, then), and
 * allocates nothing once devices are prepared and gradients set. A `stream` is
 * a cudaStream_t or CUstream, NULL for the legacy default one of the current
 * device (also with --default-stream per-thread: pass cudaStreamPerThread
 * there); its device is where the call works. Calls on several streams are put
 * in order by events: a call sees what earlier calls for the same scaler
 * queued; within a capture, of its own ones, as long as not more than four
 * captures at a time use the scaler. Launches of graphs that hold calls are the
 * program's to put in order.
 *
 * Threads: one scaler may be used by several threads at once, for different
 * groups; a group by one thread at a time (E_BUSY otherwise). An iteration ends
 * when no unscale or step is in progress any more (E_BUSY). While a step, get,
 * get_counters or save waits for the device the others go on; while prepare,
 * set_gradients, load or a destruction waits, calls for the same scaler wait,
 * too: what their streams have queued must not need those. Objects must not be
 * destroyed while in use. After fork() the child may destroy what it has.
 *
 * As everywhere here: a failed call changes nothing, unless it says so, and can
 * be made again. Where the driver fails (E_CUDA) in the midst of several
 * devices or before the reduce hook, unscale, step and clip cannot take back
 * what they did: the group then is unscaled and flagged as if it had found an
 * inf; and of more than 96 seeds some may be scaled. */
#ifndef AUTOCAST_SCALER_H
#define AUTOCAST_SCALER_H

#include "autocast.h"

#ifdef __cplusplus
extern "C" {
#endif

struct CUstream_st;

typedef struct autocast_scaler autocast_scaler;
/* The gradients of one optimizer. */
typedef struct autocast_group autocast_group;

enum {
	AUTOCAST_F32, AUTOCAST_F64, AUTOCAST_F16, AUTOCAST_BF16,
	AUTOCAST_DTYPE_COUNT
};
/* As a tensor's device: the one its memory is on. */
enum { AUTOCAST_DEVICE_ANY = -1 };

/* Device memory without gaps. */
typedef struct autocast_tensor {
	void       *data;     /* aligned to its data type; NULL if count is 0 */
	size_t      count;    /* elements; 0 is allowed */
	int32_t     dtype;    /* AUTOCAST_F32, ... */
	int32_t     device;   /* CUDA's number, or AUTOCAST_DEVICE_ANY */
	const char *name;     /* for messages; NULL: its place in the list */
} autocast_tensor;

/* ---- Creating ---------------------------------------------------------- */

typedef struct autocast_scaler_options {
	size_t  size;         /* of this struct, as the program knows it */
	double  init_scale;   /* the first scale */
	double  growth;       /* factor after `interval` clean updates; > 1 */
	double  backoff;      /* factor after an update with inf or NaN; < 1 */
	int64_t interval;
	double  min_scale;    /* 0: none (strict: 2^-149) */
	double  max_scale;    /* 0: none but FLT_MAX */
	int32_t hysteresis;   /* bad updates in a row before it backs off */
	int32_t enabled;      /* 0: nothing is scaled, every step is taken */
	int32_t strict;       /* 1: refuse what PyTorch accepts and regrets */
	int32_t check_after;  /* 1: an inf that unscaling makes counts, too */
	int32_t allow_fp16;   /* 1: unscale FP16 gradients in place, too: small
	                       * ones are then flushed to 0 after all */
	int32_t reserved;     /* 0, else E_ABI */
} autocast_scaler_options;

/* PyTorch's defaults. */
#define AUTOCAST_SCALER_OPTIONS { sizeof(autocast_scaler_options), \
	65536.0, 2.0, 0.5, 2000, 0.0, 0.0, 1, 1, 0, 0, 0, 0 }

/* `options` NULL: the defaults. No CUDA call. The program destroys the scaler.
 * E_INVALID: growth <= 1, backoff >= 1, or a NaN among them; min_scale above
 * max_scale or FLT_MAX, one of them negative or NaN; hysteresis < 1; `size` not
 * set; with `strict` also an interval < 1, a backoff <= 0, an init_scale that
 * is not positive and finite, a max_scale below the minimum. init_scale is
 * clipped to min and max. None of these is looked at if `enabled` is 0. E_ABI:
 * `reserved` is not 0, or `size` is larger than the library knows and what it
 * does not know is not zero. */
AUTOCAST_API autocast_status autocast_scaler_create(
    const autocast_scaler_options *options, autocast_scaler **scaler_out);

/* Waits for the device; frees what the scaler and its groups have there. NULL
 * is allowed. Groups are destroyed with it. */
AUTOCAST_API void autocast_scaler_destroy(autocast_scaler *scaler);

/* Make `device` ready: memory and kernels. `stream` is of that device, and what
 * calls for other devices' streams must do here is queued there, and what reads
 * or loads the state: it must live as long as the scaler, or until another is
 * given. The first device prepared keeps the scale. Again for the same device:
 * only the stream changes. Waits for the device. Done by the first
 * autocast_scaler_scale() or autocast_scaler_pointers() for its device if it
 * was not done; E_CAPTURE while the stream captures. */
AUTOCAST_API autocast_status autocast_scaler_prepare(autocast_scaler *scaler,
    int device, struct CUstream_st *stream);

/* ---- Scaling ----------------------------------------------------------- */

/* Multiply `count` tensors by the scale, in place: the seed of backward, which
 * is dL/dlogits, or the factor that stands for dL/dL. (The loss that you print
 * stays as it is.) Any dtype; FP16 is multiplied in FP32 and rounded. `count` 0
 * is allowed. E_DTYPE, E_POINTER, E_DEVICE name the tensor. */
AUTOCAST_API autocast_status autocast_scaler_scale(autocast_scaler *scaler,
    const autocast_tensor *seeds, size_t count, struct CUstream_st *stream);

/* Where the scale, and one divided by it, are on `device`, for kernels of yours
 * and for alpha in cuBLAS's device pointer mode. Counts as scaling. The
 * addresses stay as long as the scaler. Both NULL if the scaler is disabled. */
AUTOCAST_API autocast_status autocast_scaler_pointers(autocast_scaler *scaler,
    int device, const float **scale_out, const float **inverse_out);

/* ---- Groups ------------------------------------------------------------ */

/* `name` (copied, NULL allowed) is for messages. Destroyed with the scaler. */
AUTOCAST_API autocast_status autocast_group_create(autocast_scaler *scaler,
    const char *name, autocast_group **group_out);
/* Waits for the device. NULL is allowed. */
AUTOCAST_API void autocast_group_destroy(autocast_group *group);

/* These are the group's gradients from now on; the list is copied. They may be
 * on several prepared devices. Waits for the device. E_BUSY: the group was
 * unscaled or stepped and there was no update since; if it had none then, it
 * may get them, and counts as neither. E_INVALID: two of them overlap (weights
 * that are tied have one gradient). E_CAPTURE; E_DTYPE, E_POINTER, E_DEVICE
 * name the tensor. */
AUTOCAST_API autocast_status autocast_group_set_gradients(
    autocast_group *group, const autocast_tensor *gradients, size_t count);

/* Where on `device` the group's flag is (1.0 after an inf or NaN was found,
 * else 0.0) and by what its gradients are still to be divided (the scale, or
 * 1.0 once unscaled): what fused optimizers take as found_inf and grad_scale.
 * Written by unscale and step_async; the addresses stay until the next
 * set_gradients. Both NULL if the scaler is disabled. */
AUTOCAST_API autocast_status autocast_group_pointers(
    const autocast_group *group, int device, const float **grad_scale_out,
    const float **found_inf_out);

/* ---- Unscaling --------------------------------------------------------- */

/* Divide the group's gradients by the scale, in place, and look for inf and NaN
 * on the way (in the scaled values). One launch per device. E_NOT_SCALED,
 * E_ALREADY_UNSCALED, E_UNSCALE_AFTER_STEP; E_DTYPE: an FP16 gradient without
 * `allow_fp16`. E_CALLBACK: the reduce hook failed; the group then is unscaled
 * and flagged as if it had found an inf. */
AUTOCAST_API autocast_status autocast_scaler_unscale(autocast_scaler *scaler,
    autocast_group *group, struct CUstream_st *stream);

/* The norm of all gradients together, p = 1, 2 or INFINITY, in device memory on
 * the scaler's first device. Sums are in FP64 and do not depend on timing.
 * E_NOT_UNSCALED: nor after the step; E_POINTER. */
AUTOCAST_API autocast_status autocast_group_norm(autocast_group *group,
    double p, float *norm_device, struct CUstream_st *stream);

/* Multiply the gradients by max_norm / (norm + 1e-6) if that is below 1; norm
 * is the 2-norm of all. In FP64 for gradients that are, from the norm before it
 * is rounded; else in FP32. `norm_device` as above, or NULL. Statuses: as
 * above. */
AUTOCAST_API autocast_status autocast_group_clip(autocast_group *group,
    float max_norm, float *norm_device, struct CUstream_st *stream);

/* ---- Stepping ---------------------------------------------------------- */

/* Unscale unless that was done, wait (once) for the answer, and call
 * apply(user) if no gradient was inf or NaN. `*stepped_out` (may be NULL) tells
 * whether it was clean. `apply` may be NULL: the caller goes by the answer.
 * E_CALLBACK: apply returned something else than 0; the group is stepped all
 * the same. E_NOT_SCALED, E_ALREADY_STEPPED, E_NO_CHECKS_GROUP (the group then
 * is unscaled, but not if `strict`), E_CAPTURE. */
AUTOCAST_API autocast_status autocast_scaler_step(autocast_scaler *scaler,
    autocast_group *group, int (*apply)(void *user), void *user,
    int *stepped_out, struct CUstream_st *stream);

/* The same without waiting: the caller then queues kernels that read the
 * addresses of autocast_group_pointers(). Gradients that were not unscaled are
 * checked only (with `check_after`: also what they would be, unscaled), and
 * stay scaled: the way for FP16 gradients. */
AUTOCAST_API autocast_status autocast_scaler_step_async(
    autocast_scaler *scaler, autocast_group *group,
    struct CUstream_st *stream);

/* y = y + alpha x, if the group's flag is 0; else y is not touched. `x` FP32,
 * FP16 or BF16 and `y` FP32, or both FP64; same count and device. Product and
 * sum are rounded each. `alpha_device` (FP32, that device), if not NULL, is
 * read instead of `alpha`. Nothing is divided: where gradients are still scaled
 * let `alpha_device` be 1/scale, from autocast_scaler_pointers(), and `alpha`
 * 1, for a disabled scaler. E_NOT_UNSCALED: the group was neither unscaled nor
 * stepped. With a disabled scaler it is always added. */
AUTOCAST_API autocast_status autocast_scaler_axpy(autocast_scaler *scaler,
    autocast_group *group, float alpha, const float *alpha_device,
    const autocast_tensor *x, const autocast_tensor *y,
    struct CUstream_st *stream);

/* ---- Updating ---------------------------------------------------------- */

/* End the iteration: back off if any group's flag was set, else count, and grow
 * after `interval` in a row. E_NOT_SCALED; E_NO_CHECKS. E_BUSY: another thread
 * is in a step, or in the reduce hook. E_AT_MINIMUM (strict, and only where a
 * step told the host): done, but the scale is at its minimum and stays
 * there. */
AUTOCAST_API autocast_status autocast_scaler_update(autocast_scaler *scaler,
    struct CUstream_st *stream);

/* End the iteration with this scale; the count stays, flags are dropped.
 * E_NOT_SCALED; E_BUSY as above; strict: E_INVALID if not positive and finite,
 * below the minimum, or above the maximum. */
AUTOCAST_API autocast_status autocast_scaler_update_to(autocast_scaler *scaler,
    double scale, struct CUstream_st *stream);

/* What several processes must agree on: called inside unscale and step, on the
 * stream, with a flag on the device that it is to replace by the largest of all
 * processes'. In a capture once, not at launches of the graph. Returns 0, or
 * anything else for a failure. A process whose group
 * is empty (set to no gradients) takes part with 0. NULL: none. E_BUSY during
 * an iteration. */
typedef int (*autocast_reduce)(float *flag, int device,
    struct CUstream_st *stream, void *user);
AUTOCAST_API autocast_status autocast_scaler_set_reduce(
    autocast_scaler *scaler, autocast_reduce reduce, void *user);

/* ---- Reading and setting ----------------------------------------------- */

/* Scale and growth count as of the last update. Waits for the device. Either
 * may be NULL. 1 and 0 if the scaler is disabled. E_CAPTURE. */
AUTOCAST_API autocast_status autocast_scaler_get(autocast_scaler *scaler,
    double *scale_out, int32_t *tracker_out);

/* Since creation; but for steps and skips, also since the last load. */
typedef struct autocast_scaler_counters {
	size_t   size;        /* of this struct, set by the program; then what
	                       * was written of it */
	uint64_t updates;     /* autocast_scaler_update(), replays too */
	uint64_t overflows;   /* of those, with inf or NaN */
	uint64_t growths, backoffs;
	uint64_t clamps;      /* times that min_scale or max_scale held it */
	uint64_t last_overflow; /* the number of that update; 0: none */
	uint64_t steps, skips;  /* answers of autocast_scaler_step() */
	double   min_scale, max_scale; /* scales that there were */
} autocast_scaler_counters;

/* Waits for the device. Writes `counters->size` bytes at most; fewer, and sets
 * `size` to that, where the program is newer than the library: what comes after
 * them is left as it was. */
AUTOCAST_API autocast_status autocast_scaler_get_counters(
    autocast_scaler *scaler, autocast_scaler_counters *counters);

/* From the next update on (a captured update keeps its own). Not looked at,
 * as in PyTorch; strict: as in autocast_scaler_create(). Getters: E_INVALID if
 * the scaler is disabled. */
AUTOCAST_API autocast_status autocast_scaler_set_growth(
    autocast_scaler *scaler, double growth);
AUTOCAST_API autocast_status autocast_scaler_set_backoff(
    autocast_scaler *scaler, double backoff);
AUTOCAST_API autocast_status autocast_scaler_set_interval(
    autocast_scaler *scaler, int64_t interval);
AUTOCAST_API autocast_status autocast_scaler_get_growth(
    const autocast_scaler *scaler, double *growth_out);
AUTOCAST_API autocast_status autocast_scaler_get_backoff(
    const autocast_scaler *scaler, double *backoff_out);
AUTOCAST_API autocast_status autocast_scaler_get_interval(
    const autocast_scaler *scaler, int64_t *interval_out);

/* The state as text (not NUL-terminated; without one if the scaler is
 * disabled): a version line, then scale, growth, backoff, interval, tracker,
 * hysteresis, a line each, numbers so that they come back bit for bit. `*size`
 * is the room in `text`, and then what was written; with `text` NULL only what
 * is needed. Flags of an iteration that is not updated are not saved. Waits for
 * the device. E_INVALID: no room, `*size` says how much is needed. */
AUTOCAST_API autocast_status autocast_scaler_save(autocast_scaler *scaler,
    char *text, size_t *size);

/* Go on from such a text. A scale out of min_scale and max_scale is brought
 * within; strict: E_STATE_FORMAT. Flags of the current iteration stay. A
 * disabled scaler ignores it. Waits for the device. E_STATE_EMPTY;
 * E_STATE_FORMAT names the field: not in its place or spelling, negative or
 * NaN; strict: not as autocast_scaler_create() wants it. */
AUTOCAST_API autocast_status autocast_scaler_load(autocast_scaler *scaler,
    const char *text, size_t size);

#ifdef __cplusplus
} /* extern "C" */
#endif

#ifdef AUTOCAST_DYNAMIC
#include "autocast_scaler_dynamic.h"
#endif

#endif
