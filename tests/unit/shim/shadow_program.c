/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/shim/shadow_program.c -- tests/unit/shim/shadow_program.h. */
#include "tests/unit/shim/shadow_program.h"

_Thread_local uintptr_t prog_next_address = 0x1000;

descriptor
prog_at(uintptr_t address)
{
	return (descriptor)address;
}

descriptor
prog_new(cudnnBackendDescriptorType_t type)
{
	descriptor d = prog_at(prog_next_address += 64);

	ac_shadow_create(d, type);
	return d;
}

void
prog_number(descriptor d, cudnnBackendAttributeName_t name, int64_t value)
{
	ac_shadow_set(d, name, CUDNN_TYPE_INT64, 1, &value);
}

void
prog_child(descriptor d, cudnnBackendAttributeName_t name, descriptor of)
{
	ac_shadow_set(d, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &of);
}

descriptor
prog_tensor(const struct prog_tensor *wish)
{
	const int64_t dims[4] = { 2, 8, 5, 5 }, strides[4] = { 200, 25, 5, 1 };
	const int32_t type = CUDNN_DATA_FLOAT;
	descriptor d = prog_new(CUDNN_BACKEND_TENSOR_DESCRIPTOR);

	ac_shadow_set(d, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1,
	    &type);
	ac_shadow_set(d, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 4,
	    dims);
	ac_shadow_set(d, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, 4,
	    strides);
	prog_number(d, CUDNN_ATTR_TENSOR_UNIQUE_ID, wish->uid);
	prog_number(d, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, 16);
	if (wish->is_virtual)
		ac_shadow_set(d, CUDNN_ATTR_TENSOR_IS_VIRTUAL,
		    CUDNN_TYPE_BOOLEAN, 1, &wish->is_virtual);
	if (wish->also)
		prog_number(d, wish->also, wish->value);
	ac_shadow_finalize(d);
	return d;
}

descriptor
prog_plain(int64_t uid)
{
	return prog_tensor(&(struct prog_tensor){ .uid = uid });
}

descriptor
prog_convolution(int64_t space)
{
	const int64_t pad[3] = { 1, 2, 0 }, one[3] = { 1, 1, 1 };
	const int32_t type = CUDNN_DATA_FLOAT, mode = CUDNN_CROSS_CORRELATION;
	descriptor d = prog_new(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);

	ac_shadow_set(d, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE,
	    1, &type);
	ac_shadow_set(d, CUDNN_ATTR_CONVOLUTION_CONV_MODE,
	    CUDNN_TYPE_CONVOLUTION_MODE, 1, &mode);
	prog_number(d, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, space);
	ac_shadow_set(d, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64,
	    2, pad);
	ac_shadow_set(d, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS,
	    CUDNN_TYPE_INT64, 2, one);
	ac_shadow_set(d, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES,
	    CUDNN_TYPE_INT64, 2, one);
	ac_shadow_set(d, CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, 2,
	    one);
	ac_shadow_finalize(d);
	return d;
}

descriptor
prog_forward_of(descriptor conv, const struct prog_tensor *x, bool is_inner)
{
	const float alpha = 2, beta = 0;
	descriptor d = prog_new(
	    CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);

	prog_child(d, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, conv);
	prog_child(d, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
	    prog_tensor(x));
	prog_child(d, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
	    prog_plain(2));
	prog_child(d, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
	    prog_tensor(&(struct prog_tensor){ .uid = 3,
		.is_virtual = is_inner }));
	ac_shadow_set(d, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
	    CUDNN_TYPE_FLOAT, 1, &alpha);
	ac_shadow_set(d, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA,
	    CUDNN_TYPE_FLOAT, 1, &beta);
	ac_shadow_finalize(d);
	return d;
}

descriptor
prog_forward(void)
{
	return prog_forward_of(prog_convolution(2),
	    &(struct prog_tensor){ .uid = 1 }, false);
}

descriptor
prog_step(cudnnPointwiseMode_t mode, int64_t x, int64_t b, int64_t y)
{
	const int32_t type = CUDNN_DATA_FLOAT, mode32 = (int32_t)mode;
	const float alpha1 = 3, alpha2 = 4;
	descriptor how = prog_new(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
	descriptor d = prog_new(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);

	ac_shadow_set(how, CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE,
	    1, &mode32);
	ac_shadow_set(how, CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE,
	    1, &type);
	ac_shadow_finalize(how);
	prog_child(d, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, how);
	prog_child(d, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, prog_plain(x));
	if (b)
		prog_child(d, CUDNN_ATTR_OPERATION_POINTWISE_BDESC,
		    prog_plain(b));
	prog_child(d, CUDNN_ATTR_OPERATION_POINTWISE_YDESC, prog_plain(y));
	ac_shadow_set(d, CUDNN_ATTR_OPERATION_POINTWISE_ALPHA1,
	    CUDNN_TYPE_FLOAT, 1, &alpha1);
	ac_shadow_set(d, CUDNN_ATTR_OPERATION_POINTWISE_ALPHA2,
	    CUDNN_TYPE_FLOAT, 1, &alpha2);
	ac_shadow_finalize(d);
	return d;
}

descriptor
prog_graph(int64_t count, const descriptor *operations)
{
	descriptor d = prog_new(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);

	ac_shadow_set(d, CUDNN_ATTR_OPERATIONGRAPH_OPS,
	    CUDNN_TYPE_BACKEND_DESCRIPTOR, count, operations);
	ac_shadow_finalize(d);
	return d;
}

descriptor
prog_heuristics(descriptor about)
{
	const int32_t mode = CUDNN_HEUR_MODE_A;
	descriptor d = prog_new(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);

	prog_child(d, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, about);
	ac_shadow_set(d, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1,
	    &mode);
	ac_shadow_finalize(d);
	return d;
}

descriptor
prog_plan(descriptor of)
{
	const descriptor asked = prog_heuristics(of);
	const descriptor config = prog_new(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
	descriptor d = prog_new(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
	const cudnnHandle_t handle = (cudnnHandle_t)(uintptr_t)0x51;

	ac_shadow_read(asked, config);
	prog_child(d, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config);
	ac_shadow_set(d, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1,
	    &handle);
	ac_shadow_finalize(d);
	return d;
}

void
prog_destroy_from(uintptr_t start)
{
	while (prog_next_address > start) {
		ac_shadow_destroy(prog_at(prog_next_address));
		prog_next_address -= 64;
	}
}

bool
prog_describes(int64_t count, const descriptor *operations,
    struct ac_conv *conv_out)
{
	cudnnHandle_t handle;

	return ac_shadow_plan(prog_plan(prog_graph(count, operations)),
	    conv_out, &handle);
}
