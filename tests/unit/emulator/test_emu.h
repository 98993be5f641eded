/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/emulator/test_emu.h -- what the tests of the emulated GPU share:
 * cmocka, NVIDIA's headers, random numbers, a gate that holds a stream, running
 * the test program again in another environment. */
#ifndef AC_TEST_EMU_H
#define AC_TEST_EMU_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "emulator/driver/twin.h"

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include <fcntl.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__SANITIZE_THREAD__)
#define TEST_WITH_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TEST_WITH_TSAN 1
#endif
#endif
#ifndef TEST_WITH_TSAN
#define TEST_WITH_TSAN 0
#endif

#define OK(call) assert_int_equal((call), 0)

static inline float
test_random(uint64_t *state)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	return (float)((double)(*state >> 40) * 0x1p-23 - 1.0);
}

static inline void *
test_device(size_t bytes)
{
	void *p = NULL;

	OK(cudaMalloc(&p, bytes));
	return p;
}

/* Device memory that holds these bytes, visible to every stream. */
static inline void *
test_upload(const void *from, size_t bytes)
{
	void *p = test_device(bytes);

	OK(cudaMemcpy(p, from, bytes, cudaMemcpyHostToDevice));
	OK(cudaStreamSynchronize(NULL)); /* small copies are staged */
	return p;
}

/* A stream stops at a closed gate until the test opens it. */
struct test_gate {
	sem_t opened;
};

static inline void
test_gate_run(void *data)
{
	sem_wait(&((struct test_gate *)data)->opened);
}

static inline void
test_gate_close(struct test_gate *gate, cudaStream_t stream)
{
	sem_init(&gate->opened, 0, 0);
	OK(cudaLaunchHostFunc(stream, test_gate_run, gate));
}

static inline void
test_gate_open(struct test_gate *gate)
{
	sem_post(&gate->opened);
}

/* Run this program again as `PROGRAM mode` with VARIABLE=value set, its
 * stderr in `text`. Returns its wait status. */
static inline int
test_again(const char *mode, const char *variable, const char *value,
    char *text, size_t size)
{
	int ends[2], status;
	size_t used = 0;
	ssize_t got;
	pid_t child;

	OK(pipe(ends));
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		char self[4096];
		const ssize_t length = readlink("/proc/self/exe", self,
		    sizeof self - 1);

		self[length > 0 ? length : 0] = '\0';
		dup2(ends[1], STDERR_FILENO);
		close(ends[0]);
		if (variable)
			setenv(variable, value, 1);
		execl(self, self, mode, (char *)NULL);
		_exit(127);
	}
	close(ends[1]);
	while ((got = read(ends[0], text + used, size - 1 - used)) > 0)
		used += (size_t)got;
	text[used] = '\0';
	close(ends[0]);
	waitpid(child, &status, 0);
	return status;
}

#endif
