/* SPDX-License-Identifier: Apache-2.0 */
/* bench/gpu-day/resnet.h -- what conv.c's main() asks of the program's other
 * parts: resnet.c, probe.c. */
#ifndef AC_BENCH_RESNET_H
#define AC_BENCH_RESNET_H

#include "conv.h"

struct resnet_options {
	const char *label;  /* what rows call `default` here, or NULL */
	bool all;           /* not only the default math type */
	bool errors;
};
void resnet_measure(const struct resnet_options *options);

/* c1 to c3: what one convolution does at the limits. */
void probe_measure(const char *label);

#endif
