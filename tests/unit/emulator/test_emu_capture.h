/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/emulator/test_emu_capture.h -- what the tests of captures share:
 * streams, events, ends, a thread with a capture mode of its own. */
#ifndef AC_TEST_EMU_CAPTURE_H
#define AC_TEST_EMU_CAPTURE_H

#include "test_emu.h"

#include <cuda.h>
#include <pthread.h>
#include <stdbool.h>

enum { GLOBAL, THREAD_LOCAL, RELAXED, MODES };

/* `stream` and `other` do not block; `recorded` was recorded outside of
 * captures. */
static cudaStream_t stream, other, blocking;
static cudaEvent_t event, recorded;
static float *x;

static inline void
prepare_capture(void)
{
	x = test_device(64);
	OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	OK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
	OK(cudaStreamCreate(&blocking));
	OK(cudaEventCreate(&event));
	OK(cudaEventCreate(&recorded));
	OK(cudaEventRecord(recorded, other));
	OK(cudaDeviceSynchronize());
}

static inline void
swap_mode(int mode)
{
	enum cudaStreamCaptureMode m = (enum cudaStreamCaptureMode)mode;

	OK(cudaThreadExchangeStreamCaptureMode(&m));
}

/* End the capture of `s`, which must give this status. */
static inline void
end_as(cudaStream_t s, int expected)
{
	cudaGraph_t graph = NULL;

	assert_int_equal(cudaStreamEndCapture(s, &graph), expected);
	if (expected) {
		assert_null(graph);
		cudaGetLastError();
	} else {
		OK(cudaGraphDestroy(graph));
	}
}

static inline int
status_of(cudaStream_t s)
{
	enum cudaStreamCaptureStatus status;

	OK(cudaStreamIsCapturing(s, &status));
	return (int)status;
}

static inline int
end_here(void)
{
	cudaGraph_t graph;
	const int status = cudaStreamEndCapture(stream, &graph);

	return status ? status : (int)cudaGraphDestroy(graph);
}

struct cell {
	int (*call)(void);
	int mode, status;
};

static inline void *
call_in_mode(void *data)
{
	struct cell *cell = data;

	OK(cudaSetDevice(0)); /* the driver's calls need a context */
	swap_mode(cell->mode);
	cell->status = cell->call();
	swap_mode(GLOBAL);
	return NULL;
}

static inline int
do_malloc(void)
{
	void *p;
	const int status = cudaMalloc(&p, 16);

	return status ? status : (int)cudaFree(p);
}

#endif
