/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cudnn/conv/cudnn_conv_find.c -- cuDNN calls: which algorithms a
 * convolution has, and the workspace that each needs. Nothing is timed: the
 * answers follow from the convolution and the model alone. */
#include "emulator/cudnn/base/cudnn_descriptor.h"

/* The results of the three operations have one layout and three names. */
struct result {
	int32_t            algo;
	cudnnStatus_t      status;
	float              time;
	size_t             memory;
	cudnnDeterminism_t determinism;
	cudnnMathType_t    mathType;
	int                reserved[3];
};
_Static_assert(sizeof(struct result) == sizeof(cudnnConvolutionFwdAlgoPerf_t)
    && sizeof(struct result) == sizeof(cudnnConvolutionBwdDataAlgoPerf_t)
    && sizeof(struct result) == sizeof(cudnnConvolutionBwdFilterAlgoPerf_t)
    && offsetof(struct result, mathType) ==
    offsetof(cudnnConvolutionFwdAlgoPerf_t, mathType),
    "one layout for all");

struct request {
	struct emu_conv conv;
	cudnnMathType_t math;
	bool   timed;
	size_t limit;   /* of workspace */
};

/* Milliseconds of the `rank`-th fastest. */
static float
time_of(const struct emu_conv *conv, int rank)
{
	const struct emu_model *model =
	    emu_device_model(emu_context_device());
	const double rate = model->rate[conv->arithmetic];
	const double seconds = rate > 0 ?
	    emu_conv_operations(conv) / rate : 0;

	return (float)(1e3 * (model->launch + seconds) * (1 + rank * 0.25));
}

static struct result
examine(const struct request *request, int algorithm)
{
	const struct emu_conv *conv = &request->conv;
	struct result result = { .algo = algorithm,
		.status = CUDNN_STATUS_NOT_SUPPORTED, .time = -1,
		.mathType = request->math };

	result.determinism = emu_conv_algorithm_is_deterministic(
	    conv->operation, algorithm) ? CUDNN_DETERMINISTIC :
	    CUDNN_NON_DETERMINISTIC;
	if (!emu_conv_algorithm_fits(conv, algorithm))
		return result;
	result.memory = emu_conv_workspace(conv, algorithm);
	result.status = result.memory > request->limit ?
	    CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED :
	    CUDNN_STATUS_SUCCESS;
	return result;
}

/* Algorithm 1 of each operation is the best; those that fail come last. */
static int
rank_all(const struct request *request, int wanted, struct result *results)
{
	const int count = emu_conv_algorithms(request->conv.operation);
	int found = 0;

	for (int pass = 0; pass < 2; pass++)
		for (int i = 0; i < count && found < wanted; i++) {
			const int algorithm = i < 2 ? 1 - i : i;
			struct result result = examine(request, algorithm);

			if (pass != (result.status != CUDNN_STATUS_SUCCESS))
				continue;
			if (request->timed && !pass)
				result.time = time_of(&request->conv, found);
			results[found++] = result;
		}
	return found;
}

/* `perf` points to results of the operation's own type. */
static cudnnStatus_t
answer(const struct request *request, int wanted, int *returned, void *perf)
{
	if (wanted < 1 || !returned || !perf)
		return CUDNN_STATUS_BAD_PARAM;
	*returned = rank_all(request, wanted, perf);
	return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t
ask(enum emu_conv_operation operation, cudnnTensorDescriptor_t x,
    cudnnFilterDescriptor_t w, cudnnConvolutionDescriptor_t conv,
    cudnnTensorDescriptor_t y, bool timed, int wanted, int *returned,
    void *perf)
{
	struct request request = { .timed = timed, .limit = SIZE_MAX };
	const cudnnStatus_t status = emu_conv_describe(operation, x, w, conv,
	    y, &request.conv);

	if (status)
		return status;
	if (timed && emu_capture_forbid()) /* the real one allocates */
		return CUDNN_STATUS_EXECUTION_FAILED;
	request.math = conv->math;
	return answer(&request, wanted, returned, perf);
}

/* On the program's memory: the best algorithm overwrites the output and the
 * workspace. There always is one, since the first algorithms need no
 * workspace. */
static cudnnStatus_t
try_all(cudnnHandle_t handle, cudnnConvolutionDescriptor_t conv,
    struct emu_conv_call *call, int wanted, int *returned, void *perf)
{
	struct request request = { call->conv, conv->math, true,
		call->workspace_bytes };
	cudnnStatus_t status = answer(&request, wanted, returned, perf);

	if (status)
		return status;
	call->conv.alpha = 1;
	call->algorithm = ((const struct result *)perf)->algo;
	status = emu_conv_submit(handle, call);
	return status ? status : emu_dnn_wait(handle);
}

/* ---- the calls ----------------------------------------------------------- */

/* FIRST to THIRD are the parameters; X, W, Y say which of them is which. */
#define CALLS(family, operation, Algo, Perf, FIRST, SECOND, THIRD, X, W, Y) \
cudnnStatus_t                                                             \
cudnnGetConvolution##family##AlgorithmMaxCount(cudnnHandle_t handle,      \
    int *count)                                                           \
{                                                                         \
	DNN_ENTER(handle);                                                \
	if (!count)                                                       \
		return CUDNN_STATUS_BAD_PARAM;                            \
	*count = emu_conv_algorithms(operation);                          \
	return CUDNN_STATUS_SUCCESS;                                      \
}                                                                         \
cudnnStatus_t                                                             \
cudnnGetConvolution##family##Algorithm_v7(cudnnHandle_t handle, FIRST,    \
    SECOND, const cudnnConvolutionDescriptor_t convDesc, THIRD,           \
    const int requestedAlgoCount, int *returnedAlgoCount,                 \
    Perf *perfResults)                                                    \
{                                                                         \
	DNN_ENTER(handle);                                                \
	return ask(operation, X, W, convDesc, Y, false,                   \
	    requestedAlgoCount, returnedAlgoCount, perfResults);          \
}                                                                         \
cudnnStatus_t                                                             \
cudnnFindConvolution##family##Algorithm(cudnnHandle_t handle, FIRST,      \
    SECOND, const cudnnConvolutionDescriptor_t convDesc, THIRD,           \
    const int requestedAlgoCount, int *returnedAlgoCount,                 \
    Perf *perfResults)                                                    \
{                                                                         \
	DNN_ENTER(handle);                                                \
	return ask(operation, X, W, convDesc, Y, true,                    \
	    requestedAlgoCount, returnedAlgoCount, perfResults);          \
}                                                                         \
cudnnStatus_t                                                             \
cudnnGetConvolution##family##WorkspaceSize(cudnnHandle_t handle, FIRST,   \
    SECOND, const cudnnConvolutionDescriptor_t convDesc, THIRD,           \
    Algo algo, size_t *sizeInBytes)                                       \
{                                                                         \
	struct emu_conv conv;                                             \
	cudnnStatus_t status;                                             \
	DNN_ENTER(handle);                                                \
	status = emu_conv_describe(operation, X, W, convDesc, Y, &conv);  \
	if (status)                                                       \
		return status;                                            \
	if (!sizeInBytes ||                                               \
	    (unsigned)algo >= (unsigned)emu_conv_algorithms(operation))   \
		return CUDNN_STATUS_BAD_PARAM;                            \
	if (!emu_conv_algorithm_fits(&conv, (int)algo))                   \
		return CUDNN_STATUS_NOT_SUPPORTED;                        \
	*sizeInBytes = emu_conv_workspace(&conv, (int)algo);              \
	return CUDNN_STATUS_SUCCESS;                                      \
}

CALLS(Forward, EMU_CONV_FPROP, cudnnConvolutionFwdAlgo_t,
    cudnnConvolutionFwdAlgoPerf_t, const cudnnTensorDescriptor_t xDesc,
    const cudnnFilterDescriptor_t wDesc, const cudnnTensorDescriptor_t yDesc,
    xDesc, wDesc, yDesc)
CALLS(BackwardData, EMU_CONV_DGRAD, cudnnConvolutionBwdDataAlgo_t,
    cudnnConvolutionBwdDataAlgoPerf_t, const cudnnFilterDescriptor_t wDesc,
    const cudnnTensorDescriptor_t dyDesc,
    const cudnnTensorDescriptor_t dxDesc, dxDesc, wDesc, dyDesc)
CALLS(BackwardFilter, EMU_CONV_WGRAD, cudnnConvolutionBwdFilterAlgo_t,
    cudnnConvolutionBwdFilterAlgoPerf_t, const cudnnTensorDescriptor_t xDesc,
    const cudnnTensorDescriptor_t dyDesc,
    const cudnnFilterDescriptor_t dwDesc, xDesc, dwDesc, dyDesc)

#define FIND_EX(family, operation, Perf, FIRST, SECOND, THIRD, x_desc,    \
    w_desc, y_desc, x_data, w_data, y_data)                               \
cudnnStatus_t                                                             \
cudnnFindConvolution##family##AlgorithmEx(cudnnHandle_t handle, FIRST,    \
    SECOND, const cudnnConvolutionDescriptor_t convDesc, THIRD,           \
    const int requestedAlgoCount, int *returnedAlgoCount,                 \
    Perf *perfResults, void *workSpace, size_t workSpaceSizeInBytes)      \
{                                                                         \
	struct emu_conv_call call = { .x = x_data, .w = w_data,           \
		.y = y_data, .workspace = workSpace,                      \
		.workspace_bytes = workSpaceSizeInBytes };                \
	cudnnStatus_t status;                                             \
	DNN_ENTER(handle);                                                \
	status = emu_conv_describe(operation, x_desc, w_desc, convDesc,   \
	    y_desc, &call.conv);                                          \
	return status ? status : try_all(handle, convDesc, &call,         \
	    requestedAlgoCount, returnedAlgoCount, perfResults);          \
}
#define PAIR(type, a, b) type a, b

FIND_EX(Forward, EMU_CONV_FPROP, cudnnConvolutionFwdAlgoPerf_t,
    PAIR(const cudnnTensorDescriptor_t, xDesc, const void *x),
    PAIR(const cudnnFilterDescriptor_t, wDesc, const void *w),
    PAIR(const cudnnTensorDescriptor_t, yDesc, void *y),
    xDesc, wDesc, yDesc, x, w, y)
FIND_EX(BackwardData, EMU_CONV_DGRAD, cudnnConvolutionBwdDataAlgoPerf_t,
    PAIR(const cudnnFilterDescriptor_t, wDesc, const void *w),
    PAIR(const cudnnTensorDescriptor_t, dyDesc, const void *dy),
    PAIR(const cudnnTensorDescriptor_t, dxDesc, void *dx),
    dxDesc, wDesc, dyDesc, dx, w, dy)
FIND_EX(BackwardFilter, EMU_CONV_WGRAD, cudnnConvolutionBwdFilterAlgoPerf_t,
    PAIR(const cudnnTensorDescriptor_t, xDesc, const void *x),
    PAIR(const cudnnTensorDescriptor_t, dyDesc, const void *dy),
    PAIR(const cudnnFilterDescriptor_t, dwDesc, void *dw),
    xDesc, dwDesc, dyDesc, x, dw, dy)
