/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/shim/shadow_program.h -- a program that builds graphs, of which
 * shadows are all there is: cuDNN is not needed, it said yes. Descriptors are
 * addresses that each thread counts up. */
#ifndef AC_TESTS_UNIT_SHADOW_PROGRAM_H
#define AC_TESTS_UNIT_SHADOW_PROGRAM_H

#include "shim/graph/shadow.h"

typedef cudnnBackendDescriptor_t descriptor;

extern _Thread_local uintptr_t prog_next_address; /* of this thread's last */

struct prog_tensor {
	int64_t uid;
	bool is_virtual;
	cudnnBackendAttributeName_t also;       /* 0: nothing */
	int64_t value;
};

descriptor prog_at(uintptr_t address);
descriptor prog_new(cudnnBackendDescriptorType_t type);
void prog_number(descriptor d, cudnnBackendAttributeName_t name, int64_t value);
void prog_child(descriptor d, cudnnBackendAttributeName_t name, descriptor of);
descriptor prog_tensor(const struct prog_tensor *wish);
descriptor prog_plain(int64_t uid);
descriptor prog_convolution(int64_t space);
/* Uids 1, 2 and 3: x, w, y. */
descriptor prog_forward_of(descriptor conv, const struct prog_tensor *x,
    bool is_inner);
descriptor prog_forward(void);
/* x and b: uids (b 0: none). */
descriptor prog_step(cudnnPointwiseMode_t mode, int64_t x, int64_t b,
    int64_t y);
descriptor prog_graph(int64_t count, const descriptor *operations);
descriptor prog_heuristics(descriptor about);
/* Of what the heuristics name first, for handle 0x51. */
descriptor prog_plan(descriptor of);
/* Ends with all that was made since `start`, in this thread. */
void prog_destroy_from(uintptr_t start);
/* Whether a graph of these operations has a convolution, and which. */
bool prog_describes(int64_t count, const descriptor *operations,
    struct ac_conv *conv_out);

#endif
