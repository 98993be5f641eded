/* SPDX-License-Identifier: Apache-2.0 */
/* shim/device/mailbox.c -- pages of our own, registered with the driver, one at
 * a time per context. */
#include "shim/device/mailbox.h"

#include "base/lock.h"
#include "base/log.h"

#include <string.h>
#include <sys/mman.h>

/* The page that is handed out from; under its lock. */
struct page {
	struct ac_lock lock;
	uint32_t       epoch;
	char          *host;        /* NULL: none yet */
	ac_cu_address  device;
	size_t         used;
	_Atomic bool   refused;     /* the driver maps none of ours, */
	_Atomic bool   hopeless;    /* and has none either: not asked again */
};
static struct page pages[AC_SCRATCH_CONTEXTS];

static bool
cut(struct page *page, uint32_t epoch, size_t bytes, void **host_out,
    ac_cu_address *device_out)
{
	bool done = false;

	ac_lock_take(&page->lock);
	if (page->host && page->epoch == epoch
	    && page->used + bytes <= AC_MAILBOX_BYTES) {
		*host_out = page->host + page->used;
		*device_out = page->device + page->used;
		page->used += bytes;
		done = true;
	}
	ac_lock_give(&page->lock);
	return done;
}

/* Ours. Shared: a fork must not copy what the device writes to. The driver's
 * error, or -1. */
static ac_cu_result
map_ours(const struct ac_driver *driver, void **host_out,
    ac_cu_address *device_out)
{
	void *host = mmap(NULL, AC_MAILBOX_BYTES, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ac_cu_result failed = -1;

	if (host == MAP_FAILED)
		return failed;
	if (driver->cuMemHostRegister)
		failed = driver->cuMemHostRegister(host, AC_MAILBOX_BYTES,
		    AC_CU_HOST_REGISTER_PORTABLE
		    | AC_CU_HOST_REGISTER_DEVICEMAP);
	if (!failed)
		failed = driver->cuMemHostGetDevicePointer(device_out, host, 0);
	*host_out = host; /* if refused it stays: who knows of it? */
	return failed;
}

static ac_cu_result
map_driver_s(const struct ac_driver *driver, void **host_out,
    ac_cu_address *device_out)
{
	ac_cu_result failed = -1;

	if (driver->cuMemHostAlloc)
		failed = driver->cuMemHostAlloc(host_out, AC_MAILBOX_BYTES,
		    AC_CU_HOST_REGISTER_PORTABLE
		    | AC_CU_HOST_REGISTER_DEVICEMAP);
	if (!failed)
		failed = driver->cuMemHostGetDevicePointer(device_out,
		    *host_out, 0);
	if (!failed)
		memset(*host_out, 0, AC_MAILBOX_BYTES);
	return failed;
}

/* Ours, or else the driver's. What is refused is said once. */
__attribute__((cold))
static bool
map(struct page *page, const struct ac_driver *driver, void **host_out,
    ac_cu_address *device_out)
{
	ac_cu_result failed;

	if (!driver->cuMemHostGetDevicePointer)
		return false;
	if (!page->refused) {
		failed = map_ours(driver, host_out, device_out);
		if (!failed)
			return true;
		page->refused = true;
		ac_log(AC_LOG_INFO, "the driver refuses cuMemHostRegister "
		    "(error %d): samples are posted to memory of "
		    "cuMemHostAlloc", failed);
	}
	failed = map_driver_s(driver, host_out, device_out);
	if (failed) {
		page->hopeless = true;
		ac_log(AC_LOG_INFO, "the driver refuses cuMemHostAlloc "
		    "(error %d): what needs samples is kept", failed);
	}
	return !failed;
}

__attribute__((cold))
static bool
refill(struct page *page, const struct ac_place *place)
{
	ac_cu_address device;
	void *host;
	bool done;
	int mode;

	if (!ac_scratch_relax(place->driver, &mode))
		return false;
	done = map(page, place->driver, &host, &device);
	ac_scratch_restore(place->driver, mode);
	if (!done)
		return false;
	ac_lock_take(&page->lock);
	page->epoch = place->epoch;
	page->host = host;
	page->device = device;
	page->used = 0;
	ac_lock_give(&page->lock);
	return true;
}

bool
ac_mailbox_take(const struct ac_place *place, size_t bytes, bool outlives,
    void **host_out, ac_cu_address *device_out)
{
	enum { LINE = 64 };
	struct page *page = &pages[place->index];
	const uint32_t epoch = place->epoch;
	const size_t rounded = (bytes + LINE - 1) / LINE * LINE;

	if (rounded > AC_MAILBOX_BYTES || (outlives && page->refused))
		return false;
	if (!cut(page, epoch, rounded, host_out, device_out)
	    && (place->capture || page->hopeless || !refill(page, place)
	    || !cut(page, epoch, rounded, host_out, device_out)))
		return false;
	/* Refused just now, or the last of what was ours: lost, not wrong. */
	return !outlives || !page->refused;
}
