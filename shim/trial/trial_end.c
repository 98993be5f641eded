/* SPDX-License-Identifier: Apache-2.0 */
/* shim/trial/trial_end.c -- the last verdicts: what kernels posted and no later
 * call came to read. No CUDA call: the device may be gone, what it wrote is
 * not. Times are read before (trial_times.c). */
#include "shim/trial/trial_state.h"

#include <unistd.h>

static _Atomic(struct ac_verdicts *) all;

void
ac_trial_enlist(struct ac_verdicts *v)
{
	v->process = getpid();
	v->also = atomic_load(&all);
	while (!atomic_compare_exchange_weak(&all, &v->also, v))
		;
}

static void
end(struct ac_trial *t)
{
	const uint64_t calls = *t->v->calls;
	uint64_t oldest = 0;
	uint32_t unread = 0;

	(void)ac_trial_apply(t, calls + TRIAL_LAG);
	ac_trial_hear_graph(t);
	for (unsigned i = 0; i < TRIAL_OPEN; i++) {
		const uint64_t number = t->v->sample[i].number;

		if (!number)
			continue;
		unread++;
		if (calls - number > oldest)
			oldest = calls - number;
	}
	if (unread)
		ac_trial_note_unread(t, unread, oldest);
}

__attribute__((destructor)) static void
end_all(void)
{
	for (struct ac_verdicts *v = atomic_load(&all); v; v = v->also) {
		const struct ac_trial_slots *home = v->home;

		/* What the driver lent us may be gone with it. */
		if (v->process != getpid() || !home || !home->is_ours
		    || !ac_trial_hold(v->of, false))
			continue;
		end(v->of);
		ac_trial_release(v->of);
	}
}
