/* SPDX-License-Identifier: Apache-2.0 */
/* shim/scaling/scaling.c -- seeds and updates: may this very call's scalar be
 * multiplied, by what, and what is counted. Called by the wrappers of
 * cublas_vector.c. */
#include "shim/scaling/scaling.h"

#include "base/env.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/text.h"
#include "report/count/file.h"
#include "report/report.h"
#include "report/count/stamp.h"
#include "shim/device/handle.h"
#include "shim/start/start.h"

#include <errno.h>
#include <string.h>

_Atomic unsigned ac_scaling_mode;

static struct ac_lock lock;
static _Atomic unsigned exponent;

/* ---- What is done in this process ---------------------------------------- */

/* Whether the lines were validated for this program. */
static bool
is_validated(const struct ac_policy *policy)
{
	static char lines[AC_STAMP_LINES]; /* under the lock */
	struct ac_stamp stamp = { .folder = NULL };
	struct ac_text text = AC_TEXT_IN(lines);

	ac_policy_print_scaling(policy, &text);
	if (text.truncated || !ac_stamp_of_program("/proc/self/exe",
	    &stamp.program))
		return false;
	stamp.lines = ac_stamp_of_lines(lines);
	return ac_stamp_is_there(&stamp);
}

static enum ac_scaling_mode
find_mode(void)
{
	const struct ac_policy *policy = ac_shim_policy();
	const char *trace = ac_env(AC_ENV_VALIDATE);

	atomic_store(&exponent, ac_policy_scale(policy));
	if (!exponent)
		return AC_SCALING_IDLE;
	if (!strncmp(trace, "plain:", 6))
		return AC_SCALING_TRACED;
	if (!strncmp(trace, "scaled:", 7) && ac_scaling_has_folder())
		return AC_SCALING_TRACED_SCALED;
	return is_validated(policy) ? AC_SCALING_APPLIED
	    : AC_SCALING_UNVALIDATED;
}

enum ac_scaling_mode
ac_scaling_start(void)
{
	const int saved = errno;
	unsigned mode;

	ac_lock_take(&lock);
	mode = atomic_load_explicit(&ac_scaling_mode, memory_order_relaxed);
	if (mode == AC_SCALING_UNKNOWN) {
		mode = find_mode();
		atomic_store_explicit(&ac_scaling_mode, mode,
		    memory_order_release);
	}
	ac_lock_give(&lock);
	errno = saved;
	return mode;
}

/* ---- What is counted --------------------------------------------------- */

enum fate { SCALED, NOT_VALIDATED, ON_DEVICE, UNKNOWN_HANDLE, FATES };

/* As the report has it: "cublasSscal_v2: seed, scaled by 2^16". */
static void
name_count(struct ac_text *text, const struct ac_scaling_call *call,
    enum fate fate)
{
	static const char *const words[FATES] = {
		[NOT_VALIDATED] = "not validated",
		[ON_DEVICE] = "scalar on device",
		[UNKNOWN_HANDLE] = "unknown handle",
	};
	const bool is_seed = call->site->kind == AC_SCALING_SEED;

	ac_text_addf(text, "%s: %s, ", ac_entries[call->entry].symbol,
	    ac_scaling_names[call->site->kind]);
	if (fate == SCALED)
		ac_text_addf(text, "scaled by 2^%s%u", is_seed ? "" : "-",
		    atomic_load_explicit(&exponent, memory_order_relaxed));
	else
		ac_text_add(text, words[fate]);
}

static void
count(const struct ac_scaling_call *call, enum fate fate)
{
	static _Atomic(struct ac_marker_record *)
	    records[ENTRY_WRAPPED][AC_SCALING_COUNT][FATES];
	_Atomic(struct ac_marker_record *) *slot =
	    &records[call->entry][call->site->kind][fate];
	struct ac_marker_record *record = atomic_load_explicit(slot,
	    memory_order_acquire);
	char name[sizeof record->symbol];
	struct ac_text text;

	if (!record) {
		ac_shim_get();
		ac_text_init(&text, name, sizeof name);
		name_count(&text, call, fate);
		record = ac_report_marker(name);
		atomic_store_explicit(slot, record, memory_order_release);
	}
	ac_report_count_marker(record);
}

/* ---- What the user is told --------------------------------------------- */

static void
tell_not_validated(void)
{
	static atomic_flag told = ATOMIC_FLAG_INIT;

	char path[AC_FILE_PATH];
	struct ac_text text;

	if (atomic_flag_test_and_set(&told))
		return;
	ac_text_init(&text, path, sizeof path);
	if (ac_file_directory(&text, NULL))
		ac_log(AC_LOG_WARNING, "the policy's seed and update lines do "
		    "nothing: nobody has validated them for this program; "
		    "\"autocast policy validate -- %s ...\" with the same "
		    "policy does",
		    ac_shim_get()->program);
	else
		ac_log(AC_LOG_WARNING, "the policy's seed and update lines do "
		    "nothing: without a state directory nobody knows whether "
		    "they were validated");
}

static void
tell_not_scaled(const struct ac_scaling_call *call, enum fate fate)
{
	static atomic_flag told[FATES] = { ATOMIC_FLAG_INIT };

	if (!atomic_flag_test_and_set(&told[fate]))
		ac_log(AC_LOG_WARNING, "%s at %s is %s %s by the policy, but "
		    "is not scaled, so the weights are wrong from here on: %s",
		    ac_entries[call->entry].symbol,
		    call->site->caller, call->site->kind == AC_SCALING_SEED
		    ? "a" : "an", ac_scaling_names[call->site->kind],
		    fate == ON_DEVICE ? "its scalar is in device memory"
		    : "its handle was not seen created");
}

/* ---- A call ------------------------------------------------------------ */

/* 2^by, exact. */
static float
power_of_two(int by)
{
	const uint32_t bits = (uint32_t)(127 + by) << 23;
	float value;

	memcpy(&value, &bits, sizeof value);
	return value;
}

/* What stands in the way of another scalar; the handle is only asked. */
static enum fate
judge(const struct ac_scaling_call *call)
{
	const struct ac_handle *handle = ac_handle_find(call->handle);
	cublasPointerMode_t mode;

	if (!call->provider || handle->provider != call->provider
	    || !ac_provider_is_complete(call->provider)
	    || PROVIDER(call->provider, cublasGetPointerMode_v2)(call->handle,
	    &mode) != CUBLAS_STATUS_SUCCESS)
		return UNKNOWN_HANDLE;
	return mode == CUBLAS_POINTER_MODE_HOST ? SCALED : ON_DEVICE;
}

void
ac_scaling_begin(struct ac_scaling_call *call)
{
	const unsigned mode = atomic_load_explicit(&ac_scaling_mode,
	    memory_order_relaxed);
	const int by = (int)atomic_load_explicit(&exponent,
	    memory_order_relaxed);
	enum fate fate;

	call->site = ac_scaling_site_of(call);
	if (!call->scalar || (call->site->kind == AC_SCALING_NONE
	    && mode < AC_SCALING_TRACED))
		return;
	if (call->site->kind == AC_SCALING_NONE) {
		call->fate = judge(call) == UNKNOWN_HANDLE ? "handle" : "own";
		ac_scaling_trace_begin(call);
		return;
	}
	fate = mode == AC_SCALING_UNVALIDATED ? NOT_VALIDATED : judge(call);
	count(call, fate);
	call->fate = fate == SCALED ? "scaled" : fate == ON_DEVICE ? "device"
	    : "handle";
	if (fate == NOT_VALIDATED)
		tell_not_validated();
	else if (fate != SCALED)
		tell_not_scaled(call, fate);
	if (mode >= AC_SCALING_TRACED)
		ac_scaling_trace_begin(call);
	if (fate != SCALED || mode == AC_SCALING_TRACED)
		return;
	call->own = *call->scalar * power_of_two(
	    call->site->kind == AC_SCALING_SEED ? by : -by);
	call->scalar = &call->own;
}

void
ac_scaling_end(const struct ac_scaling_call *call, cublasStatus_t status)
{
	const unsigned mode = atomic_load_explicit(&ac_scaling_mode,
	    memory_order_relaxed);

	if (mode >= AC_SCALING_TRACED && call->site && call->scalar
	    && status == CUBLAS_STATUS_SUCCESS)
		ac_scaling_trace(call);
}
