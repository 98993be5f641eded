/* SPDX-License-Identifier: Apache-2.0 */
/* shim/device/device.c -- names and capabilities of the GPUs, by the driver
 * API. */
#include "shim/device/device.h"

#include "base/env.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/text.h"
#include "kernels/load/driver.h"
#include "policy/profit/calibration.h"
#include "report/report.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

enum { DEVICE_COUNT = 64 };

static struct ac_device devices[DEVICE_COUNT];
static _Atomic bool known[DEVICE_COUNT], is_any_emulated;

static bool
read_device(const struct ac_driver *driver, int ordinal,
    struct ac_device *device)
{
	int major, minor;

	if (driver->cuDeviceGetAttribute(&major,
	    AC_CU_ATTRIBUTE_MAJOR, ordinal)
	    || driver->cuDeviceGetAttribute(&minor,
	    AC_CU_ATTRIBUTE_MINOR, ordinal)
	    || driver->cuDeviceGetName(device->name,
	    (int)sizeof device->name - 1, ordinal))
		return false;
	device->sm = 10 * major + minor;
	device->emulated = strstr(device->name, "(emulated)") != NULL;
	if (device->emulated)
		atomic_store(&is_any_emulated, true);
	return true;
}

bool
ac_device_is_emulated(void)
{
	return atomic_load(&is_any_emulated);
}

const struct ac_device *
ac_device_get(int ordinal)
{
	static struct ac_lock lock;
	const struct ac_driver *driver;

	if (ordinal < 0 || ordinal >= DEVICE_COUNT)
		return NULL;
	if (atomic_load_explicit(&known[ordinal], memory_order_acquire))
		return &devices[ordinal];
	driver = ac_driver_loaded();
	if (!driver)
		return NULL;
	ac_lock_take(&lock);
	if (!known[ordinal] && read_device(driver, ordinal, &devices[ordinal]))
		atomic_store_explicit(&known[ordinal], true,
		    memory_order_release);
	ac_lock_give(&lock);
	return known[ordinal] ? &devices[ordinal] : NULL;
}

bool
ac_device_may_time(int ordinal)
{
	const struct ac_device *device = ac_device_get(ordinal);

	if (!device || (device->emulated
	    && strcmp(ac_env(AC_ENV_EMU_CLOCK), "model")))
		return false;
	ac_report_clock(device->emulated ? AC_CLOCK_MODELLED : AC_CLOCK_DEVICE);
	return true;
}

static void
load_rates(const struct ac_device *device, const char *library,
    struct ac_rates *rates_out)
{
	const struct ac_driver *driver = ac_driver_loaded();
	const struct ac_rates *built_in = ac_rates_find(device->name,
	    device->sm);
	char line[256];
	const int saved = errno;
	struct ac_text why;
	int version = 0;

	if (built_in)
		*rates_out = *built_in;
	if (driver && driver->cuDriverGetVersion)
		driver->cuDriverGetVersion(&version);
	ac_text_init(&why, line, sizeof line);
	if (!ac_calibration_load(device->name, device->sm, version, library,
	    rates_out, &why) && why.used)
		ac_log(AC_LOG_WARNING, "%s", line);
	errno = saved;
}

const struct ac_rates *
ac_device_rates(int ordinal, const char *library)
{
	static struct ac_rates rates[DEVICE_COUNT];
	static _Atomic bool loaded[DEVICE_COUNT];
	static struct ac_lock lock;
	const struct ac_device *device = ac_device_get(ordinal);

	if (!device)
		return NULL;
	if (!atomic_load_explicit(&loaded[ordinal], memory_order_acquire)) {
		ac_lock_take(&lock);
		if (!loaded[ordinal])
			load_rates(device, library, &rates[ordinal]);
		atomic_store_explicit(&loaded[ordinal], true,
		    memory_order_release);
		ac_lock_give(&lock);
	}
	return rates[ordinal].gpu ? &rates[ordinal] : NULL;
}
