/* SPDX-License-Identifier: Apache-2.0 */
/* bench/gpu-day/resnet.h -- what conv.c's main() asks of the program's other
 * parts: resnet.c, probe.c. */
#ifndef AC_BENCH_RESNET_H
#define AC_BENCH_RESNET_H

#include "conv.h"

enum resnet_ways { WAYS_DEFAULT = 1, WAYS_MATH = 2, WAYS_GRAPH = 4 };
struct resnet_options {
	const char *label;  /* what rows call `default` here, or NULL */
	unsigned ways;      /* besides the default math type */
	bool errors;
};
/* The layers, without cuDNN: weights, and products of one image. */
void resnet_list(void);
void resnet_measure(const struct resnet_options *options);

/* c1 to c3: what one convolution does at the limits. */
void probe_measure(const char *label);

#endif
