/* SPDX-License-Identifier: Apache-2.0 */
/* shim/conv/engine_graph.h -- cuDNN's operation graph of a convolution. */
#ifndef AC_SHIM_ENGINE_GRAPH_H
#define AC_SHIM_ENGINE_GRAPH_H

#include "shim/bind/provider.h"
#include "shim/conv/conv.h"

#include <cudnn.h>

/* Where a graph is to run: on a handle's device. */
struct ac_engine_device {
	struct ac_provider *provider;
	cudnnHandle_t       handle;
};

/* The operation graph of `conv`, finalized, its non-virtual tensors of `type`
 * (CUDNN_DATA_FLOAT, _HALF). NULL if cuDNN refuses. The caller destroys it. Any
 * thread. */
cudnnBackendDescriptor_t ac_engine_graph(const struct ac_engine_device *device,
    const struct ac_conv *conv, cudnnDataType_t type);

#endif
