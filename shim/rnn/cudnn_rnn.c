/* SPDX-License-Identifier: Apache-2.0 */
/* shim/rnn/cudnn_rnn.c -- the wrappers of cuDNN's descriptors of recurrent
 * networks. Where the policy says FP16 the descriptor is set to convert, where
 * it says TF32 not to forbid it; sizes and passes follow from that, all of
 * them, and are not ours. The program is told what it set itself. */
#include "shim/rnn/rnn_site.h"

#include "api/region.h"
#include "base/lock.h"
#include "base/table.h"
#include "shim/device/device.h"
#include "shim/start/start.h"
#include "shim/bind/wrapper.h"

#include <cudnn.h>

/* ---- What the program set where we set otherwise ------------------------- */

enum { BITS = 14, WINDOW = 64 };

static struct note {
	struct ac_row row;
	cudnnMathType_t math, ours;
} notes[(1 << BITS) + WINDOW];
static const struct ac_rows rows = { notes, sizeof *notes, BITS, WINDOW };
static struct ac_lock lock;

/* False if there is no room for it. */
static bool
remember(cudnnRNNDescriptor_t descriptor, cudnnMathType_t math,
    cudnnMathType_t ours)
{
	struct note *note;

	ac_lock_take(&lock);
	note = (struct note *)ac_rows_take(&rows, descriptor);
	if (note) {
		note->math = math;
		note->ours = ours;
		ac_row_set(&note->row, descriptor);
	}
	ac_lock_give(&lock);
	return note != NULL;
}

static void
forget(cudnnRNNDescriptor_t descriptor)
{
	struct ac_row *row;

	ac_lock_take(&lock);
	row = ac_rows_find(&rows, descriptor);
	if (row)
		ac_row_set(row, NULL);
	ac_lock_give(&lock);
}

/* What the program set of a descriptor that has `math`. */
static cudnnMathType_t
recall(cudnnRNNDescriptor_t descriptor, cudnnMathType_t math)
{
	const struct note *note = (const struct note *)ac_rows_find(&rows,
	    descriptor);

	return note && note->ours == math ? note->math : math;
}

/* ---- Setting ----------------------------------------------------------- */

#define SET_PARAMS cudnnRNNDescriptor_t descriptor, cudnnRNNAlgo_t algo, \
	cudnnRNNMode_t cell, cudnnRNNBiasMode_t bias, \
	cudnnDirectionMode_t direction, cudnnRNNInputMode_t input_mode, \
	cudnnDataType_t type, cudnnDataType_t precision, \
	cudnnMathType_t math, int32_t input, int32_t hidden, \
	int32_t projection, int32_t layers, \
	cudnnDropoutDescriptor_t dropout, uint32_t flags
#define SET_ARGS(math) descriptor, algo, cell, bias, direction, input_mode, \
	type, precision, math, input, hidden, projection, layers, dropout, \
	flags

/* Set as the program wants it first: that tells whether it is a call to decide
 * about, and leaves the descriptor good whatever comes of the rest. */
AC_WRAPPER(cudnnStatus_t CUDNNWINAPI, cudnnSetRNNDescriptor_v8)(SET_PARAMS)
{
	const struct ac_wrapped call = AC_ENTER(cudnnSetRNNDescriptor_v8);
	const __typeof__(&cudnnSetRNNDescriptor_v8) next = ORIGINAL(call,
	    cudnnSetRNNDescriptor_v8);
	const struct ac_rnn_site *site = NULL;
	cudnnStatus_t status = next(SET_ARGS(math));
	enum ac_reason reason;
	cudnnMathType_t ours;

	if (call.outermost && status == CUDNN_STATUS_SUCCESS
	    && call.binding.provider) {
		const struct ac_rnn_query query = {
			.caller = (uintptr_t)call.caller,
			.provider = (uintptr_t)call.binding.provider,
			.device = ac_device_current(), .math = (int32_t)math,
			.type = (int32_t)type, .precision = (int32_t)precision,
			.cell = (int32_t)cell, .direction = (int32_t)direction,
			.input = input, .hidden = hidden,
			.projection = projection, .layers = layers,
			.region = ac_region_here()
		};
		forget(descriptor);
		site = ac_rnn_site_of(&query);
	}
	if (site) {
		reason = site->decision.reason;
		ours = site->decision.rung == AC_RUNG_FP16
		    ? CUDNN_TENSOR_OP_MATH_ALLOW_CONVERSION
		    : CUDNN_DEFAULT_MATH;
		if (reason == AC_REASON_NONE
		    && !remember(descriptor, math, ours))
			reason = AC_REASON_OUT_OF_MEMORY;
		if (reason == AC_REASON_NONE
		    && next(SET_ARGS(ours)) != CUDNN_STATUS_SUCCESS) {
			reason = AC_REASON_REFUSED;
			forget(descriptor);
			status = next(SET_ARGS(math));
		}
		ac_report_count(site->record, reason);
		if (reason == AC_REASON_NONE)
			ac_shim_notice(&site->decision, site->decision.rung);
	}
	ac_wrapper_leave(&call);
	return status;
}

/* ---- Getting, and the end ---------------------------------------------- */

AC_WRAPPER(cudnnStatus_t CUDNNWINAPI, cudnnGetRNNDescriptor_v8)(
    cudnnRNNDescriptor_t descriptor, cudnnRNNAlgo_t *algo,
    cudnnRNNMode_t *cell, cudnnRNNBiasMode_t *bias,
    cudnnDirectionMode_t *direction, cudnnRNNInputMode_t *input_mode,
    cudnnDataType_t *type, cudnnDataType_t *precision, cudnnMathType_t *math,
    int32_t *input, int32_t *hidden, int32_t *projection, int32_t *layers,
    cudnnDropoutDescriptor_t *dropout, uint32_t *flags)
{
	const struct ac_wrapped call = AC_ENTER(cudnnGetRNNDescriptor_v8);
	const cudnnStatus_t status = ORIGINAL(call, cudnnGetRNNDescriptor_v8)(
	    SET_ARGS(math));

	if (call.outermost && status == CUDNN_STATUS_SUCCESS && math)
		*math = recall(descriptor, *math);
	ac_wrapper_leave(&call);
	return status;
}

/* The note goes first: once cuDNN has freed the descriptor, another thread may
 * be given the same address. */
AC_WRAPPER(cudnnStatus_t CUDNNWINAPI, cudnnDestroyRNNDescriptor)(
    cudnnRNNDescriptor_t descriptor)
{
	const struct ac_wrapped call = AC_ENTER(cudnnDestroyRNNDescriptor);
	cudnnStatus_t status;

	if (call.outermost)
		forget(descriptor);
	status = ORIGINAL(call, cudnnDestroyRNNDescriptor)(descriptor);
	ac_wrapper_leave(&call);
	return status;
}
