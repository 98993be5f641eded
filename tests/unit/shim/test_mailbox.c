/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/shim/test_mailbox.c -- whose memory kernels post to, and what a
 * capture may have of it. */
#include "shim/device/mailbox.h"
#include "tests/unit/cases.h"

enum { LINES = AC_MAILBOX_BYTES / 64 };

/* ---- A driver that maps ours, its own, or nothing ------------------------ */

static bool maps_ours, maps_its_own;
static unsigned asked, allocated;
static int mode;

bool
ac_scratch_relax(const struct ac_driver *driver, int *mode_out)
{
	*mode_out = mode++;
	return true;
}

void
ac_scratch_restore(const struct ac_driver *driver, int before)
{
	mode = before;
}

static ac_cu_result
host_register(void *host, size_t bytes, unsigned flags)
{
	assert_int_equal(mode, 1);
	assert_int_equal(bytes, AC_MAILBOX_BYTES);
	asked++;
	return !maps_ours;
}

static ac_cu_result
host_alloc(void **host_out, size_t bytes, unsigned flags)
{
	static char page[8][AC_MAILBOX_BYTES] __attribute__((aligned(64)));

	assert_int_equal(mode, 1);
	assert_int_equal(bytes, AC_MAILBOX_BYTES);
	asked++;
	if (!maps_its_own)
		return 1;
	*host_out = memset(page[allocated++ % 8], 1, bytes);
	return 0;
}

static ac_cu_result
device_pointer(ac_cu_address *device_out, void *host, unsigned flags)
{
	*device_out = (ac_cu_address)(uintptr_t)host + 1;
	return 0;
}

static const struct ac_driver driver = {
	.cuMemHostRegister = host_register, .cuMemHostAlloc = host_alloc,
	.cuMemHostGetDevicePointer = device_pointer
};

/* A context of its own, whose page is not there yet. */
static struct ac_place
somewhere(bool ours, bool its_own)
{
	static unsigned contexts;

	maps_ours = ours;
	maps_its_own = its_own;
	asked = allocated = 0;
	return (struct ac_place){ .driver = &driver, .index = contexts++,
		.epoch = 1 };
}

/* Where `bytes` are; NULL: there are none. */
static char *
take(const struct ac_place *place, size_t bytes, bool outlives)
{
	ac_cu_address device;
	void *host;

	if (!ac_mailbox_take(place, bytes, outlives, &host, &device))
		return NULL;
	assert_int_equal(device, (ac_cu_address)(uintptr_t)host + 1);
	assert_int_equal((uintptr_t)host % 64, 0);
	for (size_t i = 0; i < bytes; i++)
		assert_int_equal(((char *)host)[i], 0);
	memset(host, 1, bytes);
	return host;
}

/* ---- Cases --------------------------------------------------------------- */

CASE(test_pages)
{
	struct ac_place place = somewhere(true, true);
	char *last = NULL;

	assert_null(take(&place, AC_MAILBOX_BYTES + 1, false));
	for (unsigned i = 0; i < 3 * LINES; i++) {
		char *line = take(&place, i % 2 ? 64 : 1, true);

		assert_non_null(line);
		if (i % LINES)
			assert_ptr_equal(line, last + 64);
		last = line;
	}
	assert_int_equal(asked, 3);
	assert_int_equal(allocated, 0);
	/* What does not fit any more has a page of its own. */
	assert_non_null(take(&place, 65, true));
	assert_non_null(take(&place, AC_MAILBOX_BYTES, true));
	assert_int_equal(asked, 5);
	/* As has a context that was reset. */
	place.epoch++;
	assert_non_null(take(&place, 64, true));
	assert_int_equal(asked, 6);
	assert_int_equal(mode, 0);
}

/* A capture has what is left of a page, of its context, and maps nothing. */
CASE(test_captures)
{
	struct ac_place place = somewhere(true, true), captured = place;

	captured.capture = 7;
	assert_null(take(&captured, 64, true));
	assert_null(take(&captured, 64, false));
	assert_int_equal(asked, 0);
	assert_non_null(take(&place, AC_MAILBOX_BYTES - 128, true));
	assert_non_null(take(&captured, 64, true));
	assert_null(take(&captured, 65, true));
	assert_non_null(take(&captured, 64, false));
	assert_null(take(&captured, 64, true));
	assert_int_equal(asked, 1);
	assert_non_null(take(&place, 64, true));
	captured.epoch++;
	assert_null(take(&captured, 64, true));
	captured.epoch--;
	assert_non_null(take(&captured, 64, true));
	assert_int_equal(asked, 2);
}

/* Where the driver maps none of ours: its own, for what need not outlive it. */
CASE(test_the_drivers)
{
	const struct ac_place place = somewhere(false, true);

	assert_null(take(&place, 64, true));
	assert_int_equal(asked, 2); /* known by now */
	assert_null(take(&place, 64, true));
	assert_non_null(take(&place, 64, false));
	assert_int_equal(asked, 2);
	assert_non_null(take(&place, AC_MAILBOX_BYTES, false));
	assert_int_equal(asked, 3);
	assert_int_equal(allocated, 2);
}

/* Nor its own: asked once. */
CASE(test_hopeless)
{
	const struct ac_place place = somewhere(false, false);

	for (int i = 0; i < 10; i++)
		assert_null(take(&place, 64, i % 2));
	assert_int_equal(asked, 2);
}

CASES_RUN(NULL, NULL)
