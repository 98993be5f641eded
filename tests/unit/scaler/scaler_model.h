/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/scaler/scaler_model.h -- a gradient scaler, written a second time:
 * from the specification of torch.amp.GradScaler and what autocast_scaler.h
 * adds to it, in plain host arithmetic and without a line of the product's.
 * Scripts run on it (model_end), and the fuzz tests walk next to the product
 * with it. */
#ifndef AC_TEST_SCALER_MODEL_H
#define AC_TEST_SCALER_MODEL_H

#include "tests/unit/scaler/scaler_script.h"

/* What a group is known to have done since the last update. */
enum model_record { MODEL_READY, MODEL_UNSCALED, MODEL_STEPPED };

struct model_group {
	struct script_gradients gradients;
	enum model_record record;
	bool  checked;       /* an inf check is recorded ... */
	bool  bad;           /* ... which found one */
	float published[2];  /* found_inf, grad_scale */
};

struct model {
	autocast_scaler_options rules;
	bool    begun;       /* something was scaled */
	float   scale;
	int32_t tracker;
	int32_t patience;
	bool    host_knows;  /* a step of this iteration was skipped */
	bool    reduced;
	float   others;      /* what other processes found */
	struct model_group groups[SCRIPT_GROUPS];
	struct { uint64_t updates, overflows, growths, backoffs, clamps,
	    last_overflow, steps, skips; } counters;
	float   least, most; /* scales since creation or load */
};

autocast_status model_create(struct model *m,
    const autocast_scaler_options *options);
autocast_status model_scale(struct model *m);
autocast_status model_set(struct model *m, int group,
    const struct script_gradients *gradients);
autocast_status model_unscale(struct model *m, int group);
autocast_status model_step(struct model *m, int group, int *stepped_out);
autocast_status model_step_async(struct model *m, int group);
/* As the script's `norm`. */
autocast_status model_norm(struct model *m, int group, double p,
    float max_norm, float *norm_out);
autocast_status model_update(struct model *m);
autocast_status model_update_to(struct model *m, double scale);
autocast_status model_set_growth(struct model *m, double growth);
autocast_status model_set_backoff(struct model *m, double backoff);
autocast_status model_set_interval(struct model *m, int64_t interval);
/* A hook from now on that finds `others` in the other processes. */
autocast_status model_reduce(struct model *m, float others);
autocast_status model_load(struct model *m, const struct script_state *state);
/* A new one that loaded what was saved; groups keep their gradients. */
autocast_status model_again(struct model *m);

/* A gradient's bits as a number, and times a factor: a float unless it is
 * FP64. */
double model_number(uint64_t word, char kind);
uint64_t model_times(uint64_t word, char kind, double factor);

/* Scripts on a struct model. */
extern const struct script_end model_end;

#endif
