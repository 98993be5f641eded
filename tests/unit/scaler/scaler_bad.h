/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/scaler/scaler_bad.h -- what the tests of misuse of the gradient
 * scaler share: a scaler in the middle of an iteration, everything that can be
 * seen of it, and a call that must be refused and change nothing of that. */
#ifndef AC_TEST_SCALER_BAD_H
#define AC_TEST_SCALER_BAD_H

#include "tests/unit/emulator/test_emu.h"

#include "include/autocast_scaler.h"

/* One scaler on device 0 (device 1 is there, but not prepared), in the middle
 * of an iteration: `done` is unscaled, `ready` is not. */
static struct world {
	autocast_scaler *scaler, *other;
	autocast_group  *ready, *done, *foreign;
	float *gradient;     /* 4 of them, ready's */
	float *result;       /* where norms go */
	float *elsewhere;    /* on device 1 */
	float *freed;
	float *pinned;
	float  on_host[4];
} w;

struct snapshot {
	double scale;
	int32_t tracker;
	autocast_scaler_counters counters;
	double growth, backoff;
	int64_t interval;
	float gradient[4], result;
	char text[512];
	size_t size;
};

static inline struct snapshot
look(void)
{
	struct snapshot s;

	memset(&s, 0, sizeof s);
	s.counters.size = sizeof s.counters;
	s.size = sizeof s.text;
	OK(autocast_scaler_get(w.scaler, &s.scale, &s.tracker));
	OK(autocast_scaler_get_counters(w.scaler, &s.counters));
	OK(autocast_scaler_get_growth(w.scaler, &s.growth));
	OK(autocast_scaler_get_backoff(w.scaler, &s.backoff));
	OK(autocast_scaler_get_interval(w.scaler, &s.interval));
	OK(autocast_scaler_save(w.scaler, s.text, &s.size));
	OK(cudaMemcpy(s.gradient, w.gradient, sizeof s.gradient,
	    cudaMemcpyDefault));
	OK(cudaMemcpy(&s.result, w.result, sizeof s.result,
	    cudaMemcpyDefault));
	return s;
}

static struct snapshot before;

static inline void
refused(autocast_status expected, autocast_status got, const char *call)
{
	const struct snapshot after = look();

	if (got != expected)
		fail_msg("%s: status %d (%s), not %d (%s)", call, got,
		    autocast_status_string(got), expected,
		    autocast_status_string(expected));
	assert_true(strlen(autocast_last_error()) > 0);
	if (memcmp(&before, &after, sizeof after))
		fail_msg("%s changed something", call);
}

#define REFUSED(status, call) \
	(before = look(), refused(AUTOCAST_##status, (call), #call))

static inline void
says(const char *word)
{
	if (!strstr(autocast_last_error(), word))
		fail_msg("'%s' does not say %s", autocast_last_error(), word);
}

static inline autocast_tensor
good(void)
{
	return (autocast_tensor){ w.gradient, 4, AUTOCAST_F32, 0, "layer7" };
}

static inline int
begin(void **state)
{
	static const float four[4] = { 1, 2, 3, 4 };
	const autocast_tensor gradient = { NULL, 0, AUTOCAST_F32,
		AUTOCAST_DEVICE_ANY, NULL };
	autocast_tensor list;

	(void)state;
	OK(cudaSetDevice(1));
	w.elsewhere = test_upload(four, sizeof four);
	OK(cudaSetDevice(0));
	w.gradient = test_upload(four, sizeof four);
	w.result = test_upload(four, sizeof *four);
	w.freed = test_upload(four, sizeof four);
	OK(cudaFree(w.freed));
	OK(cudaMallocHost((void **)&w.pinned, 64));
	OK(autocast_scaler_create(NULL, &w.scaler));
	OK(autocast_scaler_create(NULL, &w.other));
	OK(autocast_scaler_prepare(w.scaler, 0, NULL));
	OK(autocast_group_create(w.scaler, "decoder", &w.ready));
	OK(autocast_group_create(w.scaler, "encoder", &w.done));
	OK(autocast_group_create(w.other, NULL, &w.foreign));
	list = good();
	OK(autocast_group_set_gradients(w.ready, &list, 1));
	OK(autocast_group_set_gradients(w.done, &gradient, 1));
	OK(autocast_scaler_scale(w.scaler, NULL, 0, NULL));
	OK(autocast_scaler_scale(w.other, NULL, 0, NULL));
	OK(autocast_scaler_unscale(w.scaler, w.done, NULL));
	return 0;
}

static inline int
end(void **state)
{
	(void)state;
	autocast_scaler_destroy(w.scaler);
	autocast_scaler_destroy(w.other);
	autocast_scaler_destroy(NULL);
	autocast_group_destroy(NULL);
	OK(cudaFree(w.gradient));
	OK(cudaFree(w.result));
	OK(cudaFree(w.elsewhere));
	OK(cudaFreeHost(w.pinned));
	return 0;
}

#endif
