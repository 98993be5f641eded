/* SPDX-License-Identifier: Apache-2.0 */
/* examples/scaler_tensors.h -- what the examples of autocast_scaler.h have in
 * common: a check of each status, the network's tensors, what is printed. */
#ifndef EXAMPLES_SCALER_TENSORS_H
#define EXAMPLES_SCALER_TENSORS_H

#include <autocast_scaler.h>

#include "scaler_network.h"

#include <stdio.h>

#define SCALER(call) check_scaler((call), #call)

static inline void
check_scaler(autocast_status status, const char *call)
{
	if (status)
		fail(call, autocast_last_error());
}

static inline autocast_tensor
tensor_of(float *data, size_t count, const char *name)
{
	return (autocast_tensor){ data, count, AUTOCAST_F32,
	    AUTOCAST_DEVICE_ANY, name };
}

/* d loss / d logits, where backward starts. */
static inline autocast_tensor
seed_of(const struct network *net)
{
	return tensor_of(net->seed, (size_t)net->batch * CLASSES, "seed");
}

/* The network's gradients as a new group, for the one that optimizes it. */
static inline autocast_group *
group_of(autocast_scaler *scaler, const struct network *net, const char *name)
{
	autocast_tensor gradients[2 * LAYERS];
	autocast_group *group;

	for (int i = 0; i < LAYERS; i++) {
		const struct layer *l = &net->layer[i];

		gradients[2 * i] = tensor_of(net->gradient + l->weights,
		    l->bias - l->weights, "weights");
		gradients[2 * i + 1] = tensor_of(net->gradient + l->bias,
		    (size_t)l->out, "biases");
	}
	SCALER(autocast_group_create(scaler, name, &group));
	SCALER(autocast_group_set_gradients(group, gradients, 2 * LAYERS));
	return group;
}

static inline void
print_scaler(autocast_scaler *scaler)
{
	autocast_scaler_counters counters = { .size = sizeof counters };
	double scale;
	int32_t tracker;

	SCALER(autocast_scaler_get(scaler, &scale, &tracker));
	SCALER(autocast_scaler_get_counters(scaler, &counters));
	printf("scale %.0f  tracker %d  steps %llu  skips %llu\n", scale,
	    (int)tracker, (unsigned long long)counters.steps,
	    (unsigned long long)counters.skips);
}

#endif
