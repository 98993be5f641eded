/* SPDX-License-Identifier: Apache-2.0 */
/* shim/trial_end.c -- the last verdicts: what kernels posted and no later call
 * came to read. No CUDA call: the device may be gone, what it wrote is not. */
#include "shim/trial_state.h"

#include <unistd.h>

static _Atomic(struct ac_trial *) all;

void
ac_trial_enlist(struct ac_trial *t)
{
	t->process = getpid();
	t->also = atomic_load(&all);
	while (!atomic_compare_exchange_weak(&all, &t->also, t))
		;
}

/* A graph tells at most once what it was found wanting of: the calls that it
 * holds cannot be changed any more. */
void
ac_trial_hear_graph(struct ac_trial *t)
{
	const struct ac_trial_slots *home = t->home;
	const struct ac_recast_post *post;
	struct ac_recast_post copy;

	if (!home)
		return;
	post = &home->host[TRIAL_GRAPH];
	copy.number = __atomic_load_n(&post->number, __ATOMIC_ACQUIRE);
	if (!copy.number || copy.number == t->told_graph)
		return;
	copy = *post;
	t->told_graph = copy.number;
	ac_trial_tell_graph(t, &copy);
}

static void
end(struct ac_trial *t)
{
	const uint64_t calls = t->calls;
	uint64_t oldest = 0;
	uint32_t unread = 0;

	ac_trial_apply(t, UINT64_MAX);
	ac_trial_hear_graph(t);
	for (unsigned i = 0; i < TRIAL_OPEN; i++) {
		const uint64_t number = t->sample[i].number;

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
	for (struct ac_trial *t = atomic_load(&all); t; t = t->also) {
		const struct ac_trial_slots *home = t->home;

		/* What the driver lent us may be gone with it. */
		if (t->process != getpid() || !home || !home->is_ours
		    || !ac_trial_hold(t, false))
			continue;
		end(t);
		ac_trial_release(t);
	}
}
