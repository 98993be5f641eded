/* SPDX-License-Identifier: Apache-2.0 */
/* shim/conv/engine.h -- the engines of cuDNN that run an FP32 convolution on
 * Tensor Cores: in FP16, which its heuristics never name (doc/design.md D6), or
 * in TF32.
 *
 * For FP16, the FP16 probe of a graph is shown to the heuristics; the engines
 * they name, with their knobs, are tried on the FP32 graph, and those stay that
 * are noted DOWN_CONVERT_INPUTS and neither REDUCED_PRECISION_REDUCTION nor
 * NONDETERMINISTIC. For TF32, the heuristics are asked about the graph itself,
 * and those stay that are noted TENSOR_CORE and nothing of these. Whatever goes
 * wrong on the way: none is found. Any thread; no lock is held while cuDNN is
 * called. */
#ifndef AC_SHIM_ENGINE_H
#define AC_SHIM_ENGINE_H

#include "policy/policy.h"
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

enum { AC_ENGINE_KNOBS = 24, AC_ENGINES = 4 };

/* An engine of a graph, and how its knobs are set. */
struct ac_engine {
	int64_t index;          /* CUDNN_ATTR_ENGINE_GLOBAL_INDEX */
	uint32_t knobs;
	int32_t reserved;
	struct { int64_t type, value; } knob[AC_ENGINE_KNOBS];
};

struct ac_engines {
	uint32_t count;
	struct ac_engine engine[AC_ENGINES]; /* best first */
};

/* What is asked of the heuristics. */
struct ac_engine_question {
	struct ac_engine_device device;
	const struct ac_conv   *conv;
	enum ac_rung            rung;       /* FP16 or TF32 */
	uint64_t                key;        /* tells devices apart; 0: do not
	                                     * remember the answer */
};

/* The key of a device by its ordinal. */
static inline uint64_t
ac_engine_key(int device)
{
	return 1 + (uint64_t)(uint32_t)device;
}

/* The engines for the FP32 graph `graph` of question->conv. Returns how
 * many. */
unsigned ac_engine_find(const struct ac_engine_question *question,
    cudnnBackendDescriptor_t graph, struct ac_engines *engines_out);

/* Make `config`, an unfinalized ENGINECFG, be `engine` on `graph`. False: it is
 * as good as it was, or cannot be used. */
bool ac_engine_configure(const struct ac_engine_device *device,
    cudnnBackendDescriptor_t graph, const struct ac_engine *engine,
    cudnnBackendDescriptor_t config);

/* The engine of `plan`, a finalized EXECUTION_PLAN, and whether it computes on
 * Tensor Cores. False: cuDNN does not tell. */
bool ac_engine_of_plan(struct ac_provider *provider,
    cudnnBackendDescriptor_t plan, struct ac_engine *engine_out,
    bool *on_tensor_cores_out);

/* Whether the heuristics' first answer for plan's graph computes on Tensor
 * Cores, or cuDNN does not tell. */
bool ac_engine_is_first_on_tensor_cores(struct ac_provider *provider,
    cudnnBackendDescriptor_t plan);

#endif
