/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cudnn/graph/cudnn_backend_execute.c -- running plans: pointers are
 * checked and copied when the call comes, work happens on the handle's
 * stream. */
#include "emulator/shared/round.h"
#include "emulator/cudnn/graph/cudnn_backend.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* All that the work needs; a captured one runs many times. */
struct work {
	struct emu_conv conv;
	void *x, *w, *y;                /* NULL: virtual */
	int   steps;
	struct emu_pointwise step[EMU_GRAPH_STEPS];
	void *other[EMU_GRAPH_STEPS], *out[EMU_GRAPH_STEPS];
	unsigned char *workspace;
	size_t workspace_bytes;
};

static double
apply(const struct emu_pointwise *step, double in, double other)
{
	in *= step->alpha1;
	switch ((int)step->mode) {
	case CUDNN_POINTWISE_ADD:
		return in + step->alpha2 * other;
	case CUDNN_POINTWISE_RELU_FWD:
		if (in < step->lower)
			return step->lower + step->slope * (in - step->lower);
		return in > step->upper ? step->upper : in;
	case CUDNN_POINTWISE_TANH_FWD:
		return tanh(in);
	case CUDNN_POINTWISE_SIGMOID_FWD:
		return 1 / (1 + exp(-in));
	default:
		return in;
	}
}

/* A dense array to the program's tensor, through FP16 if the engine rounds. */
static void
store_all(const struct work *work, struct emu_touched *touched,
    const struct emu_tensor *tensor, void *to, const struct emu_tensor *dense,
    const void *from)
{
	struct emu_touched own = { 0 };

	for (int64_t i = 0; i < emu_tensor_elements(tensor); i++) {
		const double value = emu_tensor_load(&own, from, dense->type,
		    i);

		emu_tensor_store(touched, to, tensor->type,
		    emu_tensor_at(tensor, i), work->conv.round_output
		    ? (double)emu_round((float)value, EMU_FP16) : value);
	}
}

/* One operation of the epilogue, on the dense array. */
static void
run_step(const struct work *work, int s, struct emu_touched *touched,
    const struct emu_tensor *dense, void *data)
{
	const struct emu_pointwise *step = &work->step[s];
	const struct emu_tensor *small = &step->other.tensor;
	struct emu_touched own = { 0 };

	for (int64_t i = 0; i < emu_tensor_elements(dense); i++) {
		const double other = work->other[s] ? emu_tensor_load(touched,
		    work->other[s], small->type, emu_tensor_at(small,
		    emu_tensor_broadcast(small, dense, i))) : 0;

		emu_tensor_store(&own, data, dense->type, i, apply(step,
		    emu_tensor_load(&own, data, dense->type, i), other));
	}
	if (work->out[s])
		store_all(work, touched, &step->out.tensor, work->out[s],
		    dense, data);
}

/* The convolution, then the epilogue, each in FP32, or FP64 if that is what the
 * graph is in; what is not virtual is written as it comes about. */
static int
run_fused(const struct work *work)
{
	const struct emu_conv *conv = &work->conv;
	void *const output = conv->operation == EMU_CONV_FPROP ? work->y :
	    conv->operation == EMU_CONV_DGRAD ? work->x : work->w;
	struct emu_touched touched = { 0 };
	struct emu_tensor dense;
	void *data = emu_conv_run_aside(conv, work->x, work->w, work->y,
	    &dense);

	if (!data)
		return EMU_OUT_OF_MEMORY;
	if (output)
		store_all(work, &touched, emu_conv_output(conv), output,
		    &dense, data);
	for (int s = 0; s < work->steps; s++)
		run_step(work, s, &touched, &dense, data);
	emu_count(EMU_gemm_bytes, touched.bytes);
	emu_clock_compute(EMU_FP32, 0, touched.bytes);
	free(data);
	return EMU_OK;
}

/* cuDNN may write to all of the workspace: what a program keeps there is lost,
 * and two streams with one workspace race. */
static void
run(void *arguments)
{
	const struct work *work = arguments;
	const unsigned mode = emu_float_mode(EMU_FLOAT_MODE);
	int status;

	if (work->workspace_bytes) {
		emu_announce_write(work->workspace, work->workspace_bytes);
		memset(work->workspace, 0xff, work->workspace_bytes);
	}
	status = work->steps ? run_fused(work) :
	    emu_conv_run(&work->conv, work->x, work->w, work->y);
	if (status)
		emu_device_poison(status);
	emu_float_mode(mode);
}

/* The program's pointer for a tensor, checked; a virtual one has none. */
static cudnnStatus_t
find_pointer(const struct emu_body *pack, const struct emu_edge *edge,
    const char *argument, void **pointer_out)
{
	const struct emu_value *ids = emu_body_find(pack,
	    CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
	const struct emu_value *pointers = emu_body_find(pack,
	    CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
	int64_t i = 0;

	*pointer_out = NULL;
	if (edge->is_virtual || !edge->tensor.dims)
		return CUDNN_STATUS_SUCCESS;
	if (!ids || !pointers)
		return CUDNN_STATUS_BAD_PARAM;
	while (i < ids->count && ids->at.number[i] != edge->uid)
		i++;
	if (i == ids->count) {
		emu_complain("the variant pack has no pointer for tensor %lld",
		    (long long)edge->uid);
		return CUDNN_STATUS_BAD_PARAM;
	}
	if ((uintptr_t)pointers->at.pointer[i] % (uintptr_t)edge->alignment) {
		emu_complain("argument %s: %p is not aligned to %lld bytes, as "
		    "its tensor is", argument, pointers->at.pointer[i],
		    (long long)edge->alignment);
		return CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER;
	}
	*pointer_out = pointers->at.pointer[i];
	return emu_dnn_status(emu_tensor_check(*pointer_out, &edge->tensor,
	    argument));
}

static cudnnStatus_t
find_pointers(const struct emu_graph *graph, const struct emu_body *pack,
    struct work *work)
{
	cudnnStatus_t status = find_pointer(pack, &graph->x, "x", &work->x);

	if (!status)
		status = find_pointer(pack, &graph->w, "w", &work->w);
	if (!status)
		status = find_pointer(pack, &graph->y, "y", &work->y);
	for (int i = 0; i < graph->steps && !status; i++) {
		status = find_pointer(pack, &graph->step[i].other,
		    "of a pointwise operation", &work->other[i]);
		if (!status)
			status = find_pointer(pack, &graph->step[i].out,
			    "of a pointwise operation", &work->out[i]);
	}
	return status;
}

static cudnnStatus_t
find_workspace(const struct emu_body *pack, struct work *work)
{
	const struct emu_value *value = emu_body_find(pack,
	    CUDNN_ATTR_VARIANT_PACK_WORKSPACE);

	if (!work->workspace_bytes)
		return CUDNN_STATUS_SUCCESS;
	work->workspace = value ? value->at.pointer[0] : NULL;
	return emu_dnn_status(emu_memory_check(work->workspace,
	    work->workspace_bytes, "workspace"));
}

/* As it is on the handle's device, wherever the plan was made. */
static const struct emu_engine *
engine_here(cudnnHandle_t handle, const struct emu_body *plan,
    const struct emu_graph **graph_out, cudnnStatus_t *status_out)
{
	const struct emu_model *model = emu_device_model(handle->base.device);
	const struct emu_body *engine = emu_body_child(emu_body_child(plan,
	    CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG),
	    CUDNN_ATTR_ENGINECFG_ENGINE);

	*graph_out = emu_body_child(engine,
	    CUDNN_ATTR_ENGINE_OPERATION_GRAPH)->graph;
	return emu_engine_find(*graph_out, model->major * 10 + model->minor,
	    emu_device_has_tf32(handle->base.device), emu_body_number(engine,
	    CUDNN_ATTR_ENGINE_GLOBAL_INDEX, -1), status_out);
}

cudnnStatus_t
emu_plan_execute(cudnnHandle_t handle, const struct emu_body *plan,
    const struct emu_body *pack)
{
	const struct emu_graph *graph;
	cudnnStatus_t status;
	const struct emu_engine *engine = engine_here(handle, plan, &graph,
	    &status);
	struct work *work;

	if (!engine)
		return status;
	work = emu_task_new(run, sizeof *work);
	if (!work)
		return CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED;
	*work = (struct work){ .conv = graph->conv, .steps = graph->steps,
		.workspace_bytes = (size_t)emu_engine_workspace(engine,
		graph) };
	memcpy(work->step, graph->step, sizeof work->step);
	work->conv.arithmetic = engine->arithmetic;
	work->conv.round_output = engine->round_output;
	status = find_pointers(graph, pack, work);
	if (!status)
		status = find_workspace(pack, work);
	if (status) {
		emu_task_drop(work);
		return status;
	}
	return emu_dnn_submit(handle, work);
}
