/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/injected.h -- the kinds of calls of injected.c. */
#ifndef TESTS_PRELOAD_PROGRAMS_INJECTED_H
#define TESTS_PRELOAD_PROGRAMS_INJECTED_H

#include "client.h"

enum { INJECTED_MOST = 1 << 14 };

/* Not client_check(): its line stands among the others. */
static inline void
injected_need(int status, const char *call)
{
	if (!status)
		return;
	printf("%.*s: status %d\n", (int)strcspn(call, "("), call, status);
	exit(EXIT_FAILURE);
}
#define NEED(call) injected_need((int)(call), #call)

/* A call that makes c of a, b and what c holds. All but `run` ends the program
 * if it fails. */
struct kind {
	const char *name;
	int         k;          /* products that are summed up for one of c */
	size_t      a, b, c;    /* elements, INJECTED_MOST at most */
	float       beta;
	bool        captured;
	void (*open)(cudaStream_t stream);  /* NULL: nothing to be done */
	int  (*run)(float *a, float *b, float *c);
	/* One of c, without what it held; the sum of sizes of what went into
	 * it is added to *size. */
	double (*result)(const float *a, const float *b, size_t at,
	    double *size);
};

/* A program may have one more. */
const struct kind *injected_kind(void) __attribute__((weak));

#endif
