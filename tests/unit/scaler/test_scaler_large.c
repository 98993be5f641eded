/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/scaler/test_scaler_large.c -- a tensor of more than 2^32 elements:
 * the same memory mapped again and again, so it costs no more than the
 * reading. */
#include "tests/unit/cases.h"
#include "tests/unit/scaler/scaler_cases.h"

#include <sys/mman.h>
#include <unistd.h>

#include "kernels/twins/twins.h"

/* 8 GiB are read in a second or two, if the twins are not slowed down. */
#if !defined(__OPTIMIZE__) || defined(__SANITIZE_ADDRESS__) \
    || defined(__SANITIZE_THREAD__)
#define SLOW 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) \
    || __has_feature(memory_sanitizer)
#define SLOW 1
#endif
#endif
#ifndef SLOW
#define SLOW 0
#endif

enum { WINDOW = 1 << 24 };      /* bytes */
static const uint64_t elements = (UINT64_C(1) << 32) + 5;

/* Pages of zeros but for a last one of their own, which is returned; NULL:
 * not on this machine. */
static unsigned char *
map(size_t bytes)
{
	const int file = memfd_create("window", MFD_CLOEXEC);
	unsigned char *at = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE
	    | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	size_t done = 0;

	if (at == MAP_FAILED || file < 0 || ftruncate(file, WINDOW))
		return NULL;
	for (; bytes - done >= WINDOW; done += WINDOW)
		if (mmap(at + done, WINDOW, PROT_READ, MAP_SHARED | MAP_FIXED,
		    file, 0) == MAP_FAILED)
			return NULL;
	if (mmap(at + done, bytes - done, PROT_READ | PROT_WRITE, MAP_PRIVATE
	    | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
		return NULL;
	close(file);
	return at;
}

/* Zeros but for the very last element. */
CASE(test_last_element)
{
	const size_t bytes = (size_t)elements * 2;
	struct ac_scaler_tensor tensor = { .count = elements,
		.dtype = AC_SCALER_F16 };
	struct ac_scaler_state scale = { .scale = 2, .inverse = .5f };
	struct ac_scaler_words words = { .found_inf = 5 };
	struct ac_scaler_pass pass = { .tensors = &tensor, .tensor_count = 1,
		.state = &scale, .words = &words,
		.flags = AC_SCALER_PASS_CHECK_ONLY };
	void *params[] = { &pass };

	if (SLOW) {
		print_message("# built with sanitizers or for debugging: not "
		    "tried\n");
		return;
	}
	tensor.data = map(bytes);
	if (!tensor.data) {
		print_message("# no room for 8 GiB of addresses: not tried\n");
		return;
	}
	pass.chunk_count = ac_scaler_number_chunks(&tensor, 1);
	assert_int_equal(pass.chunk_count, (UINT64_C(1) << 32)
	    / AC_SCALER_CHUNK + 1);
	scaler_set(&tensor, elements - 1, 0x7c00);
	ac_twin_bytes_read = ac_twin_bytes_written = 0;
	scaler_run("ac_scaler_unscale", params);
	assert_true(words.found_inf == 1 && words.grad_scale == 2);
	assert_int_equal(ac_twin_bytes_read, bytes);
	assert_int_equal(ac_twin_bytes_written, 0);
	munmap(tensor.data, bytes);
}

CASES_RUN(NULL, NULL)
