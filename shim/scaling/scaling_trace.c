/* SPDX-License-Identifier: Apache-2.0 */
/* shim/scaling/scaling_trace.c -- what `policy validate` compares: one line
 * per call on vectors, with a hash of what it wrote. It waits for the device
 * and copies from it, in runs that the user asked for by name; never in any
 * other. One file per process, in the folder AUTOCAST_VALIDATE names. */
#include "shim/scaling/scaling.h"

#include "base/elf.h"
#include "base/env.h"
#include "base/lock.h"
#include "base/text.h"
#include "kernels/load/driver.h"
#include "report/count/stamp.h"
#include "shim/device/scratch.h"

#include <cublas_api.h>

#include <errno.h>
#include <fcntl.h>
#include <float.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PIECE = 1 << 16, IMAGES = 100, MODULES = 16 };

static struct ac_lock lock;
static int trace_fd = -1;        /* all under the lock */
static pid_t owner;
static float piece[PIECE];

/* ---- The vector -------------------------------------------------------- */

static bool
copy(const struct ac_driver *driver, ac_cu_stream stream, const float *from,
    size_t count)
{
	return !driver->cuMemcpyDtoHAsync(piece, (ac_cu_address)(uintptr_t)from,
	    count * sizeof *from, stream)
	    && !driver->cuStreamSynchronize(stream);
}

struct vector {
	const float *first;
	int64_t      n, increment;
	/* What hash_vector() found: something finite that is not zero, and
	 * something that is not finite. */
	bool         has_value, has_bad;
};

/* The elements of the vector in the order of their addresses. */
static bool
hash_vector(struct vector *vector, const struct ac_driver *driver,
    ac_cu_stream stream, uint64_t *hash_out)
{
	const uint64_t step = (uint64_t)(vector->increment < 0
	    ? -vector->increment : vector->increment);
	const uint64_t extent = vector->n > 0
	    ? ((uint64_t)vector->n - 1) * step + 1 : 0;
	uint64_t hash = AC_STAMP_START, next = 0;

	for (uint64_t at = 0; at < extent; at += PIECE) {
		const uint64_t count = extent - at < PIECE ? extent - at
		    : PIECE;

		if (!copy(driver, stream, vector->first + at, (size_t)count))
			return false;
		/* An increment of 0 changes one element over and over. */
		for (; next < at + count; next += step ? step : PIECE) {
			const float value = piece[next - at];

			hash = ac_stamp_hash(hash, &value, sizeof value);
			if (!(value >= -FLT_MAX && value <= FLT_MAX))
				vector->has_bad = true;
			else if (value < 0 || value > 0)
				vector->has_value = true;
		}
	}
	*hash_out = hash;
	return true;
}

/* What becomes of the call; the vector's hash, 0 if it cannot be read. */
__attribute__((cold))
static const char *
look(const struct ac_scaling_call *call, struct vector *vector,
    uint64_t *hash_out)
{
	const struct ac_driver *driver = ac_driver_get();
	cudaStream_t stream;
	const char *fate = call->fate;
	int capturing, mode;

	*hash_out = 0;
	if (strcmp(fate, "scaled") && strcmp(fate, "own"))
		return fate;
	if (!driver || !driver->cuMemcpyDtoHAsync
	    || !driver->cuStreamSynchronize
	    || PROVIDER(call->provider, cublasGetStream_v2)(call->handle,
	    &stream) || !ac_scratch_relax(driver, &mode))
		return "unreadable";
	if (driver->cuStreamIsCapturing(stream, &capturing) || capturing)
		fate = "captured";
	else if (!hash_vector(vector, driver, stream, hash_out))
		fate = "unreadable";
	ac_scratch_restore(driver, mode);
	return fate;
}

/* ---- The file ---------------------------------------------------------- */

static void
put(const char *line, size_t count)
{
	ssize_t done = 0;

	while (count && (done >= 0 || errno == EINTR)) {
		done = write(trace_fd, line, count);
		if (done > 0) {
			line += done;
			count -= (size_t)done;
		}
	}
}

/* A process that called exec has the pid of the image before it. */
static int
create(const char *folder)
{
	char path[4096];
	struct ac_text text;
	int fd = -1;

	for (int image = 0; image < IMAGES && fd < 0; image++) {
		ac_text_init(&text, path, sizeof path);
		ac_text_addf(&text, "%s/%d-%d", folder, (int)getpid(), image);
		if (text.truncated)
			break;
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW
		    | O_CLOEXEC | O_APPEND, 0600);
	}
	return fd;
}

/* A forked child has a trace of its own. */
static bool
open_trace(void)
{
	const char *where = strchr(ac_env(AC_ENV_VALIDATE), ':');
	uint64_t program = 0;
	char line[64];
	struct ac_text text;

	if (owner == getpid())
		return trace_fd >= 0;
	if (trace_fd >= 0)
		close(trace_fd);
	owner = getpid();
	trace_fd = where ? create(where + 1) : -1;
	if (trace_fd < 0)
		return false;
	(void)ac_stamp_of_program("/proc/self/exe", &program);
	ac_text_init(&text, line, sizeof line);
	ac_text_addf(&text, "program %016llx\n", (unsigned long long)program);
	put(line, text.used);
	return true;
}

bool
ac_scaling_has_folder(void)
{
	const char *where = strchr(ac_env(AC_ENV_VALIDATE), ':');

	return where && !access(where + 1, W_OK | X_OK);
}

void
ac_scaling_trace_begin(struct ac_scaling_call *call)
{
	struct vector from = { call->source, call->n, call->source_increment,
		false, false };
	struct vector to = { call->vector, call->n, call->increment, false,
		false };
	const int saved = errno;

	ac_lock_take(&lock);
	(void)look(call, &from, &call->from);
	(void)look(call, &to, &call->before);
	ac_lock_give(&lock);
	errno = saved;
}

/* "module HASH PATH" of a library that seeds or updates are called from, once.
 * Its file may be named relative to where the program is now. */
static void
add_module(const void *caller)
{
	static uintptr_t known[MODULES];   /* of the trace that is open */
	static unsigned count;
	static pid_t whose;
	static char path[PATH_MAX], line[PATH_MAX + 32];
	struct ac_elf_object module;
	struct ac_text text;
	uint64_t hash = 0;

	if (whose != owner)
		count = 0;
	whose = owner;
	if (!ac_elf_object_at(caller, &module) || !*module.path)
		return;
	for (unsigned i = 0; i < count; i++)
		if (known[i] == module.base)
			return;
	if (count < MODULES)
		known[count++] = module.base;
	if (!realpath(module.path, path) || !ac_stamp_of_program(path, &hash))
		*path = '\0'; /* no stamp is good then */
	ac_text_init(&text, line, sizeof line);
	ac_text_addf(&text, "module %016llx %s\n", (unsigned long long)hash,
	    path);
	put(line, text.used);
}

void
ac_scaling_trace(const struct ac_scaling_call *call)
{
	struct vector to = { call->vector, call->n, call->increment, false,
		false };
	const bool is_sum = call->source != call->vector;
	const int saved = errno;
	char line[256];
	struct ac_text text;
	uint64_t hash;
	const char *fate;

	ac_lock_take(&lock);
	if (open_trace()) {
		if (call->site->kind != AC_SCALING_NONE)
			add_module(call->caller);
		fate = look(call, &to, &hash);
		ac_text_init(&text, line, sizeof line);
		ac_text_addf(&text, "%s %s %s %lld %016llx %016llx %d %d "
		    "%s\n",
		    ac_scaling_names[call->site->kind], fate,
		    ac_entries[call->entry].symbol, (long long)call->n,
		    (unsigned long long)hash, (unsigned long long)call->from,
		    to.has_value && (!is_sum || hash != call->before),
		    !to.has_bad, call->site->caller);
		put(line, text.used);
	}
	ac_lock_give(&lock);
	errno = saved;
}
