/* SPDX-License-Identifier: Apache-2.0 */
/* shim/trial/trial_home.c -- homes of trials: a site in one context. */
#include "shim/trial/trial.h"

#include "base/mapped.h"
#include "shim/device/mailbox.h"

static _Atomic(struct ac_trial_home *) all;

struct ac_trial_home *
ac_trial_homes(void)
{
	return atomic_load_explicit(&all, memory_order_acquire);
}

static struct ac_trial_home *
find(struct ac_trial_home *h, const struct ac_place *place, uint64_t stream_id,
    unsigned *count_out)
{
	for (*count_out = 0; h; h = h->next, ++*count_out)
		if (h->scratch == place->index && h->epoch == place->epoch
		    && h->stream_id == stream_id)
			return h;
	return NULL;
}

/* What is mapped is never given back: the posts first. */
static struct ac_trial_home *
make(struct ac_variants *v, const struct ac_place *place, uint64_t stream_id)
{
	const size_t bytes = AC_TRIAL_SLOTS * sizeof(struct ac_conv_post);
	struct ac_trial_home *made;
	struct ac_conv_post *host;
	ac_cu_address device;
	void *memory;
	const bool is_ours = ac_mailbox_take(place, bytes, true, &memory,
	    &device);

	if (!is_ours && !ac_mailbox_take(place, bytes, false, &memory, &device))
		return NULL;
	made = ac_mapped_take(sizeof *made);
	if (!made)
		return NULL;
	made->variants = v;
	made->is_ours = is_ours;
	made->scratch = place->index;
	made->epoch = place->epoch;
	made->stream_id = stream_id;
	made->next_sample = 4;
	for (unsigned i = 0; i < AC_CANDIDATES; i++)
		made->next_try[i] = v->decision->is_doubtful ? AC_TRIAL_LATE
		    : 1;
	host = memory;
	for (unsigned i = 0; i < AC_TRIAL_SLOTS; i++)
		made->slot[i] = (struct ac_trial_slot){
			.candidate = (uint8_t)(i / AC_TRIAL_TRIES),
			.is_try = i < AC_TRIAL_FIRST_SAMPLE, .host = host + i,
			.device = device + i * sizeof *host
		};
	return made;
}

struct ac_trial_home *
ac_trial_home(struct ac_trial *t, const struct ac_place *place)
{
	const struct ac_decision *decision = t->variants->decision;
	const uint64_t stream_id = decision->reproducible && !decision->learns
	    ? place->stream_id : 0;
	struct ac_trial_home *first = atomic_load_explicit(&t->homes,
	    memory_order_acquire), *made, *there;
	unsigned count;

	there = find(first, place, stream_id, &count);
	if (there || place->capture || count >= AC_TRIAL_HOMES)
		return there;
	made = make(t->variants, place, stream_id);
	if (!made)
		return NULL;
	made->next = first;
	while (!atomic_compare_exchange_weak(&t->homes, &made->next, made)) {
		there = find(made->next, place, stream_id, &count);
		if (there) /* another thread's */
			return there;
	}
	AC_MAPPED_PUSH(&all, made, also);
	return made;
}
