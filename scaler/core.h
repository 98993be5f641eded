/* SPDX-License-Identifier: Apache-2.0 */
/* scaler/core.h -- the rules of gradient scaling without a device: options,
 * which call may follow which, and how the scale moves.
 *
 * torch.amp.GradScaler's rules; the differences that `strict` makes stand with
 * each function. Whoever asks `may` and gets AUTOCAST_OK does the work and then
 * tells that it is done; in between nothing has changed. All fail through
 * ac_status_fail(). Pure: no CUDA, no lock; one thread at a time. */
#ifndef AC_SCALER_CORE_H
#define AC_SCALER_CORE_H

#include "include/autocast_scaler.h"
#include "kernels/scaler/scaler.h"

#include <stdbool.h>

/* What a group went through since the last update. */
enum ac_stage { AC_STAGE_READY, AC_STAGE_UNSCALED, AC_STAGE_STEPPED };

struct ac_core_group {
	const char   *name;       /* for messages; NULL: "the group" */
	enum ac_stage stage;      /* ask ac_core_stage() */
	bool          is_checked; /* it has a flag, and that counts */
	bool          is_divided; /* its gradients are unscaled */
	uint64_t      epoch;      /* the iteration that this is about */
};

struct ac_core {
	bool enabled, strict, check_after, allow_fp16;
	struct ac_scaler_rule rule;
	/* Before anything was scaled: what the state is to begin with. The
	 * state itself is wherever the caller keeps it. */
	float    init_scale;
	int32_t  init_tracker, init_patience;
	bool     is_scaled;
	uint32_t checked;         /* groups, since the last update */
	uint64_t epoch;           /* counts updates; a group that was touched in
	                           * an earlier one is ready */
};

/* autocast_scaler_create()'s rules. NULL: the defaults. */
autocast_status ac_core_init(const autocast_scaler_options *options,
    struct ac_core *core_out);

/* What the state is when the first thing is scaled. */
struct ac_scaler_state ac_core_first_state(const struct ac_core *core);
/* Something was scaled. */
void ac_core_scaled(struct ac_core *core);

enum ac_stage ac_core_stage(const struct ac_core *core,
    const struct ac_core_group *group);

/* The group may get other gradients: nothing was done with those that it has,
 * or has not, since the last update. It then is ready. */
bool ac_core_is_unused(const struct ac_core *core,
    const struct ac_core_group *group);
void ac_core_replaced(struct ac_core *core, struct ac_core_group *group);

/* Unscale. `has_gradients`: the group has a tensor on some device, or other
 * processes take part: then it has a flag. `has_fp16`: a tensor is FP16. */
autocast_status ac_core_may_unscale(const struct ac_core *core,
    const struct ac_core_group *group, bool has_fp16);
void ac_core_unscaled(struct ac_core *core, struct ac_core_group *group,
    bool has_gradients);

/* Norm, clipping. */
autocast_status ac_core_may_clip(const struct ac_core *core,
    const struct ac_core_group *group);

/* Step. If ac_core_must_check() the gradients come first: they are unscaled
 * (`divide`) or only looked at, and ac_core_checked() is told; then
 * ac_core_stepped(). A group without gradients that was ready ends unscaled,
 * and E_NO_CHECKS_GROUP; strict: stays ready. */
autocast_status ac_core_may_step(struct ac_core *core,
    struct ac_core_group *group, bool divide, bool has_gradients,
    bool has_fp16);
bool ac_core_must_check(const struct ac_core *core,
    const struct ac_core_group *group);
void ac_core_checked(struct ac_core *core, struct ac_core_group *group,
    bool divided);
void ac_core_stepped(struct ac_core *core, struct ac_core_group *group);

/* A guarded sum: the group has a flag. */
autocast_status ac_core_may_add(const struct ac_core *core,
    const struct ac_core_group *group);

/* Update, by the flags or to `scale`. */
autocast_status ac_core_may_update(const struct ac_core *core);
autocast_status ac_core_may_update_to(const struct ac_core *core, double scale);
void ac_core_updated(struct ac_core *core);

/* Whether an iteration is going on: some group is checked. */
bool ac_core_is_busy(const struct ac_core *core);

/* The setters' rules. */
autocast_status ac_core_set_growth(struct ac_core *core, double growth);
autocast_status ac_core_set_backoff(struct ac_core *core, double backoff);
autocast_status ac_core_set_interval(struct ac_core *core, int64_t interval);

/* What is saved. */
struct ac_core_saved {
	float   scale;
	double  growth, backoff;
	int64_t interval;
	int32_t tracker, patience;
};

/* Whether to go on from `saved`, as far as the bounds are concerned: its scale
 * is brought within; strict: E_STATE_FORMAT. */
autocast_status ac_core_may_load(const struct ac_core *core,
    struct ac_core_saved *saved);
/* Go on from `saved`, whose fields were checked: factors and interval, and what
 * the first state will be. The state that is in use already is the caller's to
 * set. */
void ac_core_load(struct ac_core *core, const struct ac_core_saved *saved);

#endif
