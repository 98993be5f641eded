/* SPDX-License-Identifier: Apache-2.0 */
/* shim/conv/cudnn_size.c -- wrappers of cuDNN's questions how much workspace a
 * convolution needs. Under conv-workspace=advertise the answer is enough for
 * the recast one, too, which is measured once by making its plan. It is never
 * less than cuDNN's own. */
#include "base/mapped.h"
#include "shim/bind/wrapper.h"
#include "shim/conv/conv_call.h"
#include "shim/conv/conv_plan.h"
#include "shim/device/place.h"
#include "shim/start/start.h"

#include <stddef.h>

/* ---- What plans need --------------------------------------------------- */

/* Whatever differs in no byte before `handle` needs as much. */
struct need_query {
	struct ac_provider *provider;
	int32_t        device;
	uint32_t       rung;
	struct ac_conv conv;
	cudnnHandle_t  handle;          /* to ask on */
};

struct need {
	struct ac_table_entry entry;
	struct need_query     query;
	_Atomic size_t        bytes;
};

static struct ac_table_entry *
make(const void *from, struct ac_table_entry *there)
{
	const struct need_query *query = from;
	struct need *need = there ? (struct need *)there
	    : ac_mapped_take(sizeof *need);

	if (!need)
		return NULL;
	if (!there)
		need->query = *query;
	atomic_store(&need->bytes, ac_conv_plan_measure(query->provider,
	    query->handle, &query->conv, (enum ac_rung)query->rung));
	return &need->entry;
}

static size_t
need_of(const struct ac_conv_query *of, cudnnHandle_t handle,
    enum ac_rung rung)
{
	enum { BITS = 12, KEY = offsetof(struct need_query, handle) };
	static ac_table_slot slots[1 << BITS];
	static struct ac_sites needs = {
		{ slots, BITS, 1 << (BITS - 1), 0 }, make
	};
	const struct need_query query = { of->provider, of->device,
		(uint32_t)rung, of->conv, handle };
	const struct need *need;

	_Static_assert(offsetof(struct need_query, conv) == 16
	    && KEY == 16 + sizeof query.conv, "no gaps: its bytes are a key");
	need = (const struct need *)ac_sites_find(&needs,
	    ac_table_hash(&query, KEY), &query, KEY);
	return need ? atomic_load(&need->bytes) : ac_conv_plan_measure(
	    of->provider, handle, &of->conv, rung);
}

/* How much workspace a call like `call`, which has no data, is best given: as
 * much as the largest plan that its site may run. 0 unless the policy says
 * conv-workspace=advertise, and under learn=on. Counts nothing. */
static size_t
advertised(const struct ac_conv_call *call)
{
	__typeof__(&cudnnGetStream) get_stream = call->provider
	    ? PROVIDER(call->provider, cudnnGetStream) : NULL;
	struct ac_conv_query query;
	struct ac_decision decision;
	struct ac_place place;
	cudaStream_t stream;
	size_t most = 0;

	if (ac_policy_is_off(ac_shim_policy()) ||
	    !ac_conv_query_of(call, &query))
		return 0;
	ac_conv_site_ask(&query, &decision);
	if (decision.rung == AC_RUNG_KEEP || decision.learns
	    || !decision.advertises_workspace
	    || !get_stream || get_stream(call->handle, &stream)
	    || ac_place_on(stream, query.device, &place) != AC_REASON_NONE
	    || place.capture)
		return 0;
	for (unsigned i = 0; i < decision.candidate_count; i++) {
		const size_t bytes = need_of(&query, call->handle,
		    decision.candidate[i].rung);

		if (bytes > most)
			most = bytes;
	}
	return most;
}

/* ---- The wrappers ------------------------------------------------------ */

#define QUESTION(symbol, of, kind, algo_t, first_t, first, second_t, second,  \
    third_t, third)                                                           \
AC_WRAPPER(cudnnStatus_t CUDNNWINAPI, symbol)(cudnnHandle_t handle,           \
    const first_t first, const second_t second,                               \
    const cudnnConvolutionDescriptor_t conv_desc, const third_t third,        \
    algo_t algo, size_t *bytes)                                               \
{                                                                             \
	const struct ac_wrapped call = AC_ENTER(symbol);                      \
	const cudnnStatus_t status = ORIGINAL(call, symbol)(handle, first,    \
	    second, conv_desc, third, algo, bytes);                           \
	if (call.outermost && handle && status == CUDNN_STATUS_SUCCESS) {     \
		const struct ac_conv_call conv = {                            \
			.entry = ENTRY_##of, .caller = call.caller,           \
			.provider = call.binding.provider, .handle = handle,  \
			.operation = kind, .x_desc = x_desc,                  \
			.y_desc = y_desc, .w_desc = w_desc,                   \
			.conv_desc = conv_desc                                \
		};                                                            \
		const size_t ours = advertised(&conv);                        \
		if (ours > *bytes)                                            \
			*bytes = ours;                                        \
	}                                                                     \
	ac_wrapper_leave(&call);                                              \
	return status;                                                        \
}

QUESTION(cudnnGetConvolutionForwardWorkspaceSize, cudnnConvolutionForward,
    AC_OP_CONV_FPROP, cudnnConvolutionFwdAlgo_t,
    cudnnTensorDescriptor_t, x_desc, cudnnFilterDescriptor_t, w_desc,
    cudnnTensorDescriptor_t, y_desc)
QUESTION(cudnnGetConvolutionBackwardDataWorkspaceSize,
    cudnnConvolutionBackwardData, AC_OP_CONV_DGRAD,
    cudnnConvolutionBwdDataAlgo_t, cudnnFilterDescriptor_t, w_desc,
    cudnnTensorDescriptor_t, y_desc, cudnnTensorDescriptor_t, x_desc)
QUESTION(cudnnGetConvolutionBackwardFilterWorkspaceSize,
    cudnnConvolutionBackwardFilter, AC_OP_CONV_WGRAD,
    cudnnConvolutionBwdFilterAlgo_t, cudnnTensorDescriptor_t, x_desc,
    cudnnTensorDescriptor_t, y_desc, cudnnFilterDescriptor_t, w_desc)
