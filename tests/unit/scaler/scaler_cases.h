/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/scaler/scaler_cases.h -- tensors in ordinary memory for the twins
 * of the gradient scaler, and what becomes of an element, computed another
 * way. */
#ifndef AC_TESTS_SCALER_CASES_H
#define AC_TESTS_SCALER_CASES_H

#include "kernels/scaler/scaler.h"

enum { SCALER_GUARD = 64 };     /* bytes before and after each tensor */

/* `offset`: elements that the tensor begins after a border of 64 bytes. */
struct scaler_shape {
	enum ac_scaler_dtype dtype;
	uint64_t count;
	unsigned offset;
};

struct scaler_list {
	struct ac_scaler_tensor *tensor;
	unsigned char **block;  /* what was allocated for each */
	size_t   count;
	struct ac_scaler_state state;
	struct ac_scaler_words words;
	double  *partials;
	struct ac_scaler_pass  pass;
};

/* Any bits, finite or not; a seed of 0 gives zeros. */
enum scaler_fill { SCALER_ANY, SCALER_FINITE };

/* A scale of 1 and clean words. Aborts without memory. */
void scaler_list_make(const struct scaler_shape *shapes, size_t count,
    enum scaler_fill fill, uint64_t seed, struct scaler_list *list);
void scaler_list_free(struct scaler_list *list);
/* The guards are as they were made. */
bool scaler_list_is_intact(const struct scaler_list *list);

void scaler_scale(struct scaler_list *list, float scale);
/* One run of a twin on `params`, with a launch that differs each time. */
void scaler_run(const char *twin, void **params);
/* Of a twin that takes a pass. Chunks are numbered. */
void scaler_pass(const char *twin, struct scaler_list *list, uint32_t flags);
void scaler_multiply(struct scaler_list *list);
/* The norm's sum. */
double scaler_norm(struct scaler_list *list, uint32_t p);

size_t scaler_size(uint32_t dtype);
uint64_t scaler_get(const struct ac_scaler_tensor *t, uint64_t i);
void scaler_set(const struct ac_scaler_tensor *t, uint64_t i, uint64_t bits);
/* What the bits stand for. FP64 is a double anyway. */
double scaler_value(uint32_t dtype, uint64_t bits);
uint64_t scaler_bits(uint32_t dtype, double x);
bool scaler_is_finite(uint32_t dtype, uint64_t bits);
/* Bits times factor, rounded as scaler.h says; a float unless it is FP64. */
uint64_t scaler_product(uint32_t dtype, uint64_t bits, double factor);

uint64_t scaler_random(uint64_t *seed);

#endif
