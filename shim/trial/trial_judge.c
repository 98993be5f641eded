/* SPDX-License-Identifier: Apache-2.0 */
/* shim/trial/trial_judge.c -- from what kernels posted to what is held against
 * whom, and what reports show. Decides by policy/. */
#include "shim/trial/trial_state.h"

#include "base/log.h"

/* ---- The course: what reports show ------------------------------------- */

static void
raise_to(_Atomic float *worst, float value)
{
	if (!(value <= atomic_load_explicit(worst, memory_order_relaxed)))
		atomic_store_explicit(worst, value, memory_order_relaxed);
}

static void
add(_Atomic uint32_t *counter, uint32_t amount)
{
	atomic_fetch_add_explicit(counter, amount, memory_order_relaxed);
}

static void
note_post(struct ac_site_course *course, const struct ac_recast_post *post)
{
	add(&course->samples, post->samples);
	add(&course->settled, post->settled);
	raise_to(&course->rho, post->rho);
	raise_to(&course->tile_rho, post->tile_rho);
	raise_to(&course->error, post->error);
	raise_to(&course->line_error, post->line_error);
	raise_to(&course->estimate, post->estimate);
	raise_to(&course->exact, post->exact);
	add(&course->suspects, post->suspects);
	atomic_fetch_add_explicit(&course->judged, post->judged,
	    memory_order_relaxed);
	if (post->samples)
		atomic_store_explicit(&course->sampled_at, post->number,
		    memory_order_relaxed);
}

enum ac_finding
ac_trial_judge(struct ac_trial *t, unsigned candidate,
    const struct ac_recast_post *post)
{
	const struct ac_guard_facts facts = {
		.rho = (double)post->rho, .tile_rho = (double)post->tile_rho,
		.error = (double)post->error,
		.line_error = (double)post->line_error,
		.exact = (double)post->exact,
		.overflowed = post->verdict & AC_VERDICT_OVERFLOW,
		.large = post->verdict & AC_VERDICT_LARGE
		    && t->decision.candidate[candidate].rung == AC_RUNG_FP16,
		.batched = t->key.batch > 1,
	};

	if (post->samples && !(post->error <= atomic_load_explicit(
	    &ac_trial_record(t, candidate)->course.error,
	    memory_order_relaxed)))
		ac_report_event(ac_trial_record(t, candidate), AC_EVENT_WORST,
		    post->number, AC_FINDING_NONE, post->error);
	note_post(&ac_trial_record(t, candidate)->course, post);
	ac_report_note_time();
	if (post->shrunk)
		return AC_FINDING_CHAIN;
	return ac_guard_judge(&facts, t->decision.candidate[candidate].tol);
}

/* ---- Samples ----------------------------------------------------------- */

/* The post of a recast call tells of all since the last one. */
static void
hold_against(struct ac_trial *t, const struct ac_trial_sample *sample,
    const struct ac_recast_post *post, enum ac_finding finding,
    uint64_t number)
{
	if (finding == AC_FINDING_CHAIN)
		ac_trial_demote_chain(t, sample->candidate);
	if (finding == AC_FINDING_NONE || finding == AC_FINDING_CHAIN)
		return;
	for (unsigned i = 0; i < AC_PAIRS; i++)
		if (post->bad ? ac_pair_is_met(&t->v->pairs, i) &&
			    post->bad >> ac_pair_bit(&t->v->pairs, i) & 1 :
				i == sample->pair)
			ac_trial_demote(t, i, sample->candidate, finding,
			    number);
}

/* What a try of a probation has shown. */
static void
weigh(struct ac_trial *t, const struct ac_trial_sample *sample,
    const struct ac_recast_post *post, enum ac_finding finding,
    uint64_t number)
{
	struct ac_trial_evidence *e = &t->v->evidence[sample->candidate];

	if (finding != AC_FINDING_NONE) {
		e->bad++;
		hold_against(t, sample, post, finding, number);
	} else {
		e->clean += post->samples > 0;
	}
	t->v->weighed++;
	t->v->empty += finding == AC_FINDING_NONE && !post->samples;
}

/* Graphs go on with the operands of other days: only a site whose data were
 * seen to vary goes into one. */
static void
note_energy(struct ac_trial *t, const struct ac_recast_post *post)
{
	const uint32_t varied = t->v->varied;

	if (!post->samples || varied == TRIAL_EVIDENCE)
		return;
	for (uint32_t i = 0; i < varied; i++)
		if (t->v->energy[i][0] == post->energy[0]
		    && t->v->energy[i][1] == post->energy[1])
			return;
	t->v->energy[varied][0] = post->energy[0];
	t->v->energy[varied][1] = post->energy[1];
	t->v->varied = varied + 1;
}

void
ac_trial_note_unread(struct ac_trial *t, uint32_t unread, uint64_t oldest)
{
	struct ac_site_course *course = &ac_trial_record(t,
	    t->current == TRIAL_KEEP ? 0 : (unsigned)t->current)->course;

	add(&course->unread, unread);
	atomic_store_explicit(&course->oldest_unread, oldest < UINT32_MAX
	    ? (uint32_t)oldest : UINT32_MAX, memory_order_relaxed);
}

static void
note_pairs(struct ac_trial *t, unsigned candidate)
{
	struct ac_site_course *course = &ac_trial_record(t, candidate)->course;

	atomic_store_explicit(&course->pairs, t->v->pairs.met,
	    memory_order_relaxed);
	atomic_store_explicit(&course->demoted_pairs,
	    ac_pair_count_out(&t->v->pairs, 1u << candidate),
	    memory_order_relaxed);
}

static void
apply_sample(struct ac_verdicts *v, unsigned entry, uint64_t number)
{
	struct ac_trial_sample *sample = &v->sample[entry];
	struct ac_trial *t = sample->of;
	struct ac_recast_post post;
	enum ac_finding finding;

	/* A thread that was held up queued it where this site was at home. */
	if (ac_trial_is_elsewhere(t, entry)) {
		ac_trial_close(t, entry);
		return;
	}
	if (!ac_trial_read(sample, &post)) {
		if (!sample->was_late)
			add(&ac_trial_record(t, sample->candidate)->course.late,
			    1);
		sample->was_late = true;
		/* It will never come: its place is needed. */
		if (number >= sample->number + TRIAL_LOST) {
			if (sample->is_beside)
				ac_trial_lose(t, sample);
			ac_trial_close(t, entry);
		}
		return;
	}
	finding = ac_trial_judge(t, sample->candidate, &post);
	if (finding == AC_FINDING_NONE)
		note_energy(t, &post);
	if (!sample->is_beside)
		hold_against(t, sample, &post, finding, number);
	else if (t->v->state == TRIAL_SETTLED)
		ac_trial_prove(t, sample, &post, finding, number);
	else
		weigh(t, sample, &post, finding, number);
	note_pairs(t, sample->candidate);
	ac_trial_close(t, entry);
}

bool
ac_trial_apply_posted(struct ac_trial *t, uint64_t number)
{
	struct ac_recast_post post;
	bool all = true;

	for (unsigned i = 0; i < TRIAL_OPEN; i++) {
		const struct ac_trial_sample *sample = &t->v->sample[i];

		if (!sample->number)
			continue;
		if (ac_trial_is_elsewhere(t, i) || ac_trial_read(sample, &post))
			apply_sample(t->v, i, number);
		else
			all &= sample->due > number;
	}
	return all;
}

bool
ac_trial_apply(struct ac_trial *t, uint64_t number)
{
	bool all = true;

	for (unsigned i = 0; i < TRIAL_OPEN; i++)
		if (t->v->sample[i].number && t->v->sample[i].due <= number)
			apply_sample(t->v, i, number);
	/* What is queued meanwhile is either seen below or lowers `due` itself,
	 * after this: it says its number first. */
	t->v->due = UINT64_MAX;
	for (unsigned i = 0; i < TRIAL_OPEN; i++) {
		if (!t->v->sample[i].number)
			continue;
		/* What is late is looked for at the next call. */
		ac_trial_lower(&t->v->due, t->v->sample[i].due);
		all &= t->v->sample[i].due > number;
	}
	return all;
}
