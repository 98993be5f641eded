/* SPDX-License-Identifier: Apache-2.0 */
/* api/scaled.c -- what all scalers have done, under a lock of its own. */
#include "api/scaled.h"

#include "base/lock.h"

#include <stddef.h>

static struct ac_lock lock;
static struct ac_scaled all;
static ac_scaled_listener listener;

struct ac_scaled *
ac_scaled_enter(void)
{
	ac_lock_take(&lock);
	return &all;
}

void
ac_scaled_leave(void)
{
	if (listener && all.scalers)
		listener(&all);
	ac_lock_give(&lock);
}

void
ac_scaled_listen(ac_scaled_listener wanted)
{
	(void)ac_scaled_enter();
	listener = wanted;
	ac_scaled_leave();
}
