/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/scaler/scaler_script.h -- sequences of calls of a gradient scaler
 * as text, and what comes of them as text: the notation of
 * tests/golden/scaler.txt.
 *
 * A sequence is words, each of which may end in *COUNT:
 *   S               scale one seed
 *   A:TYPE:HEX,...  write gradients of group A (B, C): f FP32, d FP64, h FP16,
 *                   b BF16, bits in hexadecimal; A:- none at all;
 *                   A:2:HEX,HEX an FP32 tensor of one element per device
 *   UA TA FA        unscale; step; step_async
 *   UA0 UA1 ...     write gradients first: 0 clean, 1 inf, n NaN, m -inf,
 *                   h FP16, H FP16 with inf, z of no elements, e none,
 *                   01 11 on two devices
 *   c, i            S TA0 P, S TA1 P: a clean iteration, one with an inf
 *   NA=P KA=X       show the P-norm of unscaled gradients; clip them to X, and
 *                   show the 2-norm that they had
 *   P, P=X          update; update_to X
 *   G=X B=X I=N     set growth, backoff, interval
 *   L=S,G,B,I,N     load that state; L= an empty one
 *   V               save, and go on with a new scaler that loads it
 *   R=X             a reduce hook from now on: other processes have X
 *   ?  f?  =A       show scale/count; growth/backoff/interval; gradients
 * Options are D, or INIT,GROWTH,BACKOFF,INTERVAL, then words such as disabled,
 * strict, after, fp16, min=X, max=X, hysteresis=N.
 *
 * A result is items, repeated ones as ITEM*COUNT: y or n for each step, !STATUS
 * for each call that failed, F(FLAG,SCALE) for step_async's words, and what was
 * asked for; "ok" if there is none. Numbers are bits; a NaN gradient is nan. */
#ifndef AC_TEST_SCALER_SCRIPT_H
#define AC_TEST_SCALER_SCRIPT_H

#include "include/autocast_scaler.h"

#include <stdbool.h>

enum { SCRIPT_GROUPS = 3, SCRIPT_ELEMENTS = 8, SCRIPT_TEXT = 8192 };

/* What a group's gradients are. */
struct script_gradients {
	char     kind;                   /* f d h b 2, or - for none */
	size_t   count;
	uint64_t words[SCRIPT_ELEMENTS];
};

struct script_state {
	double  scale, growth, backoff;
	int64_t interval;
	int32_t tracker;
};

/* What a script runs on. A call that fails leaves its outputs alone. */
struct script_end {
	autocast_status (*create)(void *self,
	    const autocast_scaler_options *options);
	void (*destroy)(void *self);
	autocast_status (*scale)(void *self);
	autocast_status (*set)(void *self, int group,
	    const struct script_gradients *gradients);
	void (*show)(void *self, int group,
	    struct script_gradients *gradients_out);
	autocast_status (*unscale)(void *self, int group);
	autocast_status (*step)(void *self, int group, int *stepped_out);
	autocast_status (*step_async)(void *self, int group,
	    float words_out[2]);
	/* `max_norm` negative: the norm only. */
	autocast_status (*norm)(void *self, int group, double p,
	    float max_norm, float *norm_out);
	autocast_status (*update)(void *self);
	autocast_status (*update_to)(void *self, double scale);
	autocast_status (*get)(void *self, double *scale_out,
	    int32_t *tracker_out);
	autocast_status (*set_growth)(void *self, double growth);
	autocast_status (*set_backoff)(void *self, double backoff);
	autocast_status (*set_interval)(void *self, int64_t interval);
	autocast_status (*factors)(void *self, double *growth_out,
	    double *backoff_out, int64_t *interval_out);
	/* `state` NULL: an empty one. */
	autocast_status (*load)(void *self, const struct script_state *state);
	autocast_status (*again)(void *self);
	autocast_status (*reduce)(void *self, float others);
};

/* Reads options, fails the test for what it does not know. */
autocast_scaler_options script_options(const char *text);

/* Runs it; the result is NUL-terminated in `result` of SCRIPT_TEXT bytes. */
void script_run(const struct script_end *end, void *self,
    const autocast_scaler_options *options, const char *sequence, char *result);

/* A line of tests/golden/scaler.txt. `result` is "-" where PyTorch has none,
 * and `note` then says why; else it names the exceptions. */
struct script_row {
	char id[16], options[128], sequence[1024], result[2048], note[128];
};

/* All of them, in order; `*count_out` is how many. Fails the test if the table
 * cannot be read. The caller frees it. */
struct script_row *script_table(size_t *count_out);

/* The name of a status, without AUTOCAST_. */
const char *script_status(autocast_status status);

/* The bits of FP16, BF16, ... element `i` are inf or NaN. */
bool script_nonfinite(const struct script_gradients *gradients, size_t i,
    bool *nan_out);

#endif
