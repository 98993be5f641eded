/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/scaler/scaler_model.h -- a gradient scaler, written a second time:
 * from the specification of torch.amp.GradScaler and what autocast_scaler.h
 * adds to it, in plain host arithmetic and without a line of the product's.
 * Scripts run on it, next to the product. */
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
};

/* A gradient's bits as a number, and times a factor: a float unless it is
 * FP64. */
double model_number(uint64_t word, char kind);
uint64_t model_times(uint64_t word, char kind, double factor);

/* Scripts on a struct model. */
extern const struct script_end model_end;

#endif
