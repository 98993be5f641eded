/* SPDX-License-Identifier: Apache-2.0 */
/* shim/page.c -- pages of our own, registered with the driver, one at a time
 * per context. */
#include "shim/page.h"

#include "base/lock.h"

#include <sys/mman.h>

/* The page that is handed out from; under its lock. */
struct page {
	struct ac_lock lock;
	uint32_t       epoch;
	char          *host;        /* NULL: none yet */
	ac_cu_address  device;
	size_t         used;
	bool           refused;     /* the driver maps none: not asked again */
};
static struct page pages[AC_SCRATCH_CONTEXTS];

static bool
cut(struct page *page, uint32_t epoch, size_t bytes, void **host_out,
    ac_cu_address *device_out)
{
	bool done = false;

	ac_lock_take(&page->lock);
	if (page->host && page->epoch == epoch
	    && page->used + bytes <= AC_PAGE_BYTES) {
		*host_out = page->host + page->used;
		*device_out = page->device + page->used;
		page->used += bytes;
		done = true;
	}
	ac_lock_give(&page->lock);
	return done;
}

static bool
register_page(const struct ac_driver *driver, void *host,
    ac_cu_address *device_out)
{
	const int mode = ac_scratch_relax(driver);
	const bool done = driver->cuMemHostRegister
	    && driver->cuMemHostGetDevicePointer
	    && !driver->cuMemHostRegister(host, AC_PAGE_BYTES,
	        AC_CU_HOST_REGISTER_PORTABLE | AC_CU_HOST_REGISTER_DEVICEMAP)
	    && !driver->cuMemHostGetDevicePointer(device_out, host, 0);

	ac_scratch_restore(driver, mode);
	return done;
}

/* Shared: a fork must not copy what the device writes to. */
static bool
refill(struct page *page, const struct ac_place *place)
{
	ac_cu_address device;
	void *host;

	if (page->refused)
		return false;
	host = mmap(NULL, AC_PAGE_BYTES, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (host == MAP_FAILED)
		return false;
	if (!register_page(place->driver, host, &device)) {
		page->refused = true; /* and the page stays: who knows of it? */
		return false;
	}
	ac_lock_take(&page->lock);
	page->epoch = ac_scratch_epoch(place->scratch);
	page->host = host;
	page->device = device;
	page->used = 0;
	ac_lock_give(&page->lock);
	return true;
}

bool
ac_page_take(const struct ac_place *place, size_t bytes, void **host_out,
    ac_cu_address *device_out)
{
	enum { LINE = 64 };
	struct page *page = &pages[ac_scratch_index(place->scratch)];
	const uint32_t epoch = ac_scratch_epoch(place->scratch);
	const size_t rounded = (bytes + LINE - 1) / LINE * LINE;

	if (place->capture || rounded > AC_PAGE_BYTES)
		return false;
	return cut(page, epoch, rounded, host_out, device_out)
	    || (refill(page, place)
	        && cut(page, epoch, rounded, host_out, device_out));
}
