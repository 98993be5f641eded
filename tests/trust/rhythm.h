/* SPDX-License-Identifier: Apache-2.0 */
/* tests/trust/rhythm.h -- what rhythm plays: its options, layers, units. */
#ifndef TESTS_TRUST_RHYTHM_H
#define TESTS_TRUST_RHYTHM_H

#include "tests/trust/rhythm_data.h"
#include "tests/trust/rhythm_lt.h"

struct rhythm_options {
	int m, n, k, batch, split, places, sync, recycled, vary;
	int apart, asks;
	unsigned lt;
	enum kind odd;
	int odd_at, whole;
	double drift, mask, bias, lift, shift, against;
};
extern struct rhythm_options rhythm;

/* The operands of one layer at one size, and what FP32 makes of them. */
struct layer {
	enum kind kind;
	int m, number;
	float beta;                     /* of its first call */
	float *a, *b;                   /* on the device */
	float *before;                  /* C's start; NULL: beta is 0 */
	float *wanted, *start;          /* on the host */
	struct rhythm_tail tail;        /* with cublasLt, and: */
	float *plain, *sums;            /* without what follows; host, both */
};

struct unit {
	const struct layer *layer;
	long number;
	float *c, *wanted;              /* wanted: NULL, the layer's */
	float *plain, *aux, *sums;      /* with cublasLt */
	struct unit *next;
};

/* How many numbers a layer's D has, and a bias of it. */
size_t rhythm_count_c(const struct layer *l);
size_t rhythm_count_sums(const struct layer *l);
/* Whether its results are whole numbers. */
bool rhythm_counts(const struct layer *l);

/* A line about `u`, which has been computed; `how` follows it. */
void rhythm_print(const struct unit *u, const char *how);

#endif
