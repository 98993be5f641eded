/* SPDX-License-Identifier: Apache-2.0 */
/* shim/device/hold.c -- the captures that are held, and the objects by which
 * their graphs hold them. */
#include "shim/device/hold.h"

#include <stdatomic.h>

enum { HELD = 128 };

/* Ids of captures, which are never used twice; 0: free. */
static _Atomic uint64_t held[HELD];

bool
ac_hold_is_live(uint64_t capture)
{
	for (unsigned i = 0; i < HELD; i++)
		if (atomic_load_explicit(&held[i], memory_order_acquire)
		    == capture)
			return true;
	return false;
}

/* On a thread of the driver's, which may not be called from here. */
static void
end(void *entry)
{
	atomic_store_explicit((_Atomic uint64_t *)entry, 0,
	    memory_order_release);
}

static _Atomic uint64_t *
enter(uint64_t capture)
{
	for (unsigned i = 0; i < HELD; i++) {
		uint64_t none = 0;

		if (atomic_compare_exchange_strong(&held[i], &none, capture))
			return &held[i];
	}
	return NULL;
}

/* Once there is an object, its end alone clears the entry. */
__attribute__((cold))
static bool
attach(const struct ac_driver *driver, ac_cu_graph graph,
    _Atomic uint64_t *entry)
{
	ac_cu_object object;

	if (driver->cuUserObjectCreate(&object, entry, end, 1,
	    AC_CU_OBJECT_NO_DESTRUCTOR_SYNC)) {
		atomic_store(entry, 0);
		return false;
	}
	if (!driver->cuGraphRetainUserObject(graph, object, 1,
	    AC_CU_OBJECT_MOVE))
		return true;
	(void)driver->cuUserObjectRelease(object, 1);
	return false;
}

bool
ac_hold_begin(const struct ac_place *place)
{
	const struct ac_driver *driver = place->driver;
	_Atomic uint64_t *entry;
	bool done;
	int mode;

	if (ac_hold_is_live(place->capture))
		return true;
	if (!place->graph || !driver->cuUserObjectCreate
	    || !driver->cuGraphRetainUserObject
	    || !driver->cuUserObjectRelease)
		return false;
	if (!ac_scratch_relax(driver, &mode))
		return false;
	entry = enter(place->capture);
	done = entry && attach(driver, place->graph, entry);
	ac_scratch_restore(driver, mode);
	return done;
}
