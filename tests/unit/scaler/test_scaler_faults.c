/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/scaler/test_scaler_faults.c -- each call of the driver that the
 * gradient scaler makes fails, once, each time it is made: the program is told,
 * may do the same again, gets the right numbers, and nothing is left over. */
#include "tests/unit/cases.h"
#include "tests/unit/emulator/test_emu.h"

#include "include/autocast_scaler.h"

#include <cuda.h>
#include <math.h>

/* As the library exports them. Those that free are not among them: what cannot
 * be freed stays. */
static const char *const calls[] = {
	"cuInit", "cuDeviceGet", "cuCtxGetCurrent", "cuCtxGetDevice",
	"cuCtxPushCurrent_v2", "cuDevicePrimaryCtxRetain", "cuStreamGetCtx",
	"cuStreamGetId", "cuStreamIsCapturing", "cuStreamGetCaptureInfo",
	"cuStreamWaitEvent",
	"cuEventCreate", "cuEventRecord", "cuPointerGetAttributes",
	"cuMemAlloc_v2", "cuMemHostAlloc", "cuMemsetD32Async",
	"cuMemcpyHtoDAsync_v2", "cuMemcpyDtoHAsync_v2", "cuMemcpyPeerAsync",
	"cuStreamSynchronize", "cuThreadExchangeStreamCaptureMode",
	"cuLibraryLoadData", "cuLibraryGetKernel", "cuKernelGetFunction",
	"cuLaunchKernel"
};

#if TEST_WITH_TSAN
enum { STRIDE = 7 };

/* Else each process waits a second for other threads before it ends. */
__attribute__((visibility("default")))
const char *__tsan_default_options(void);
const char *
__tsan_default_options(void)
{
	return "atexit_sleep_ms=0";
}
#elif defined(__SANITIZE_ADDRESS__)
enum { STRIDE = 5 };
#else
enum { STRIDE = 1 };
#endif

/* ---- One process --------------------------------------------------------- */

static struct {
	const char *call, *mode;
	int at, told, lost;
	autocast_scaler *scaler;
	autocast_group  *group;
	cudaStream_t one, other;
	float *seed, *gradient[2], *weight, *norm;
} p;

static void
wrong(const char *what, double got, double expected)
{
	fprintf(stderr, "# %s %s:%d: %s: %g, not %g (%s)\n", p.mode, p.call,
	    p.at, what, got, expected, autocast_last_error());
	_exit(1);
}

static void *
context(void)
{
	CUcontext now = NULL;

	/* Where that is what fails, it was not the scaler's. */
	while (cuCtxGetCurrent(&now))
		;
	return now;
}

/* In the midst of several devices, or before others were asked, nothing can be
 * taken back: the group then has its flag set, on all of them. */
static bool
is_lost(void)
{
	const int parts = strcmp(p.mode, "devices") ? 1 : 2;
	const float *scale, *flag;
	float found[2] = { 0, 0 };

	for (int i = 0; i < parts; i++)
		if (cudaDeviceSynchronize()
		    || autocast_group_pointers(p.group, i, &scale, &flag)
		    || cudaMemcpy(&found[i], flag, sizeof *found,
		    cudaMemcpyDefault))
			return false;
	return strcmp(p.mode, "device") && found[0] == 1
	    && (parts == 1 || found[1] == 1);
}

/* Memory is good that the driver could not be asked about. */
static bool
says_what(void)
{
	return strcmp(p.call, "cuPointerGetAttributes")
	    || strstr(autocast_last_error(), p.call);
}

#define IS(what, got, expected) ((got) == (expected) ? (void)0 \
	: wrong(what, (double)(got), (double)(expected)))

/* A call that fails is made again; the program's context stays. */
#define MAKE(call) do {                                                       \
	void *const before = context();                                       \
	autocast_status made = (call);                                        \
									      \
	if (made) {                                                           \
		p.told++;                                                     \
		IS(#call " is told more than once", p.told, 1);               \
		IS(#call " says why", !*autocast_last_error(), 0);            \
		IS(#call " says what failed", says_what(), true);             \
		IS(#call " leaves the context", context() == before, 1);      \
		made = (call);                                                \
	}                                                                     \
	IS(#call, made, AUTOCAST_OK);                                         \
	IS(#call " leaves the context", context() == before, 1);              \
} while (0)

static void
put(float *to, float value)
{
	IS("copy", cudaMemcpy(to, &value, sizeof value, cudaMemcpyDefault), 0);
	IS("copy", cudaDeviceSynchronize(), 0);
}

static float
get(const float *from)
{
	float value;

	IS("wait", cudaDeviceSynchronize(), 0);
	IS("copy", cudaMemcpy(&value, from, sizeof value, cudaMemcpyDefault),
	    0);
	return value;
}

/* What other processes say: nothing new. It is on another device then. */
static int
hook(float *flag, int device, struct CUstream_st *stream, void *user)
{
	return cudaSetDevice(!device);
}

static void
begin(void)
{
	const bool on_two = !strcmp(p.mode, "devices");
	autocast_scaler_options options = AUTOCAST_SCALER_OPTIONS;
	autocast_tensor list[2];

	options.init_scale = 1024;
	options.interval = 2;
	MAKE(autocast_scaler_create(&options, &p.scaler));
	MAKE(autocast_scaler_prepare(p.scaler, 0, p.one));
	if (on_two)
		MAKE(autocast_scaler_prepare(p.scaler, 1, NULL));
	MAKE(autocast_group_create(p.scaler, NULL, &p.group));
	if (!strcmp(p.mode, "hook"))
		MAKE(autocast_scaler_set_reduce(p.scaler, hook, NULL));
	for (int i = 0; i < 2; i++)
		list[i] = (autocast_tensor){ p.gradient[i], 1, AUTOCAST_F32,
			on_two ? i : 0, NULL };
	MAKE(autocast_group_set_gradients(p.group, list, 2));
	MAKE(autocast_group_set_gradients(p.group, list, 2));
}

/* Gradients 3 and 4, clipped to 1, of which the first is added to a weight;
 * each call on another stream than what it follows. */
static bool
iterate(float scale, bool is_clean, float *weight)
{
	const autocast_tensor seed = { p.seed, 1, AUTOCAST_F32, 0, NULL };
	const autocast_tensor x = { p.gradient[0], 1, AUTOCAST_F32, 0, NULL };
	const autocast_tensor y = { p.weight, 1, AUTOCAST_F32, 0, NULL };
	double now;
	int stepped;

	put(p.seed, 1);
	put(p.gradient[0], 3 * scale);
	put(p.gradient[1], is_clean ? 4 * scale : INFINITY);
	MAKE(autocast_scaler_scale(p.scaler, &seed, 1, p.other));
	IS("seed", get(p.seed), scale);
	if (autocast_scaler_unscale(p.scaler, p.group, p.one)) {
		p.told++;
		if (autocast_scaler_unscale(p.scaler, p.group, p.one)
		    == AUTOCAST_E_ALREADY_UNSCALED) {
			IS("lost", is_lost(), true);
			return false;
		}
	}
	IS("unscaled", get(p.gradient[0]), 3);
	if (is_clean) {
		if (autocast_group_clip(p.group, 1, p.norm, p.other)) {
			p.told++;
			if (is_lost())
				return false;
			MAKE(autocast_group_clip(p.group, 1, p.norm, p.other));
		}
		IS("norm", get(p.norm), 5);
		IS("clipped", get(p.gradient[0]), 3 * (1 / (5 + 1e-6f)));
		MAKE(autocast_group_norm(p.group, 1, p.norm, p.one));
	}
	MAKE(autocast_scaler_step(p.scaler, p.group, NULL, NULL, &stepped,
	    p.other));
	IS("stepped", stepped, is_clean);
	MAKE(autocast_scaler_axpy(p.scaler, p.group, 1, NULL, &x, &y, p.one));
	*weight += is_clean ? 3 * (1 / (5 + 1e-6f)) : 0;
	IS("weight", get(p.weight), *weight);
	MAKE(autocast_scaler_update(p.scaler, p.other));
	MAKE(autocast_scaler_get(p.scaler, &now, NULL));
	return true;
}

/* One that is lost is as one with an inf: made again from the state before. */
static void
turn(float scale, bool is_clean, float *weight)
{
	char text[512];
	size_t size = sizeof text;
	double now;
	int stepped;

	MAKE(autocast_scaler_save(p.scaler, text, &size));
	if (iterate(scale, is_clean, weight))
		return;
	MAKE(autocast_scaler_step(p.scaler, p.group, NULL, NULL, &stepped,
	    p.one));
	IS("stepped", stepped, 0);
	MAKE(autocast_scaler_update(p.scaler, p.one));
	MAKE(autocast_scaler_get(p.scaler, &now, NULL));
	IS("scale", now, (double)scale / 2);
	MAKE(autocast_scaler_load(p.scaler, text, size));
	p.lost++;
	IS("tried", iterate(scale, is_clean, weight), true);
}

static void
train(void)
{
	autocast_scaler_counters counters = { .size = sizeof counters };
	char text[512];
	size_t size = sizeof text;
	float weight = 0;

	put(p.weight, 0);
	turn(1024, true, &weight);
	turn(1024, true, &weight);
	turn(2048, false, &weight);
	MAKE(autocast_scaler_save(p.scaler, text, &size));
	MAKE(autocast_scaler_get_counters(p.scaler, &counters));
	if (!p.lost) {
		IS("updates", counters.updates, 3);
		IS("overflows", counters.overflows, 1);
		IS("steps", counters.steps, 2);
	}
	MAKE(autocast_scaler_load(p.scaler, text, size));
	turn(1024, true, &weight);
	MAKE(autocast_scaler_update_to(p.scaler, 4, p.one));
	turn(4, true, &weight);
}

/* Whether it came to fail: 3, else 0. */
static int
run(void)
{
	uint64_t bytes, events;
	const void *before;

	IS("streams", cudaStreamCreateWithFlags(&p.one,
	    cudaStreamNonBlocking), 0);
	IS("streams", cudaStreamCreateWithFlags(&p.other,
	    cudaStreamNonBlocking), 0);
	p.seed = test_device(4);
	p.weight = test_device(4);
	p.norm = test_device(4);
	for (int i = 0; i < 2; i++) {
		IS("device", cudaSetDevice(strcmp(p.mode, "devices") ? 0 : i),
		    0);
		p.gradient[i] = test_device(4);
	}
	IS("device", cudaSetDevice(0), 0);
	before = context();
	bytes = emuCounter("device_bytes");
	events = emuCounter("cuEventCreate") - emuCounter("cuEventDestroy_v2");
	begin();
	train();
	autocast_scaler_destroy(p.scaler);
	IS("context", context() == before, 1);
	/* Not told: it was what frees that failed. */
	if (p.told) {
		events += !strcmp(p.call, "cuEventCreate");
		IS("events", emuCounter("cuEventCreate")
		    - emuCounter("cuEventDestroy_v2"), events);
		IS("device bytes", emuCounter("device_bytes"), bytes);
	}
	IS("complaints", emuCounter("complaints"), 0);
	return emuCounter(p.call) >= (uint64_t)p.at ? 3 : 0;
}

/* ---- All of them ------------------------------------------------------- */

static int
child(const char *mode, const char *call, int at)
{
	char failing[96];
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		(void)snprintf(failing, sizeof failing, "%s:%d", call, at);
		setenv("AUTOCAST_EMU_FAIL", failing, 1);
		p.mode = mode;
		p.call = call;
		p.at = at;
		_exit(run());
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void
all(const char *mode)
{
	int failed = 0, made = 0;

	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
		for (int at = 1;; at += STRIDE) {
			const int end = child(mode, calls[i], at);

			if (!end)
				break;
			made++;
			failed += end != 3;
			if (failed > 40)
				break;
		}
	printf("# %s: %d failures, %d not taken well\n", mode, made, failed);
	assert_int_equal(failed, 0);
	assert_true(made > 100 / STRIDE);
}

CASE(on_one_device)
{
	all("device");
}

CASE(with_a_hook)
{
	all("hook");
}

CASE(on_two_devices)
{
	all("devices");
}

CASES_RUN_ON("h200,h200", NULL, NULL)
