/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/steps.h -- the doors of steps.c: ways to have a layer
 * computed. */
#ifndef TESTS_PRELOAD_PROGRAMS_STEPS_H
#define TESTS_PRELOAD_PROGRAMS_STEPS_H

#include "client.h"

enum { STEPS_MOST = 1 << 17 };

/* Of one layer: c = a b. */
struct layer {
	float *a, *b, *c;
};

struct door {
	const char *name;
	size_t      a, b, c;         /* elements, STEPS_MOST at most */
	int         replays;
	/* What is made before anything is queued; later on the layers' work
	 * goes to that stream. */
	void (*open)(cudaStream_t stream);
	void (*follow)(cudaStream_t stream);
	/* Of all layers from the same place. */
	void (*run)(const struct layer *layer);
	/* Make host data whose result is 1e-4 of its terms. */
	void (*cancel)(float *a, float *b);
};

/* A program may have one more. */
const struct door *steps_door(void) __attribute__((weak));

#endif
