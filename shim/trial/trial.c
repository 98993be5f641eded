/* SPDX-License-Identifier: Apache-2.0 */
/* shim/trial/trial.c -- trials: made, recorded, and what became of their turns.
 * trial_turn.c hands out turns, trial_judge.c draws the conclusions. */
#include "shim/trial/trial_state.h"

#include "base/mapped.h"
#include "base/text.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	DOUBTFUL_FIRST = 64,        /* a site must be hot to be worth a doubt */
	STREAMS = 64                /* numbered apart, under reproducible=on */
};

static uint64_t
this_thread(void)
{
	return (uint64_t)getpid() << 32 | (uint32_t)syscall(SYS_gettid);
}

/* Whether `holder` will not come back to what it holds. `self` is not inside of
 * a call: base/reentry.h sees to that. */
static bool
is_gone(uint64_t holder, uint64_t self)
{
	const int saved = errno;
	bool gone;

	if (holder == self || holder >> 32 != self >> 32)
		return true;
	gone = syscall(SYS_tgkill, (long)(self >> 32), (long)(uint32_t)holder,
	    0) && errno == ESRCH;
	errno = saved;
	return gone;
}

/* What the try of a thread that is gone had taken. */
static void
clear_try(struct ac_trial *t)
{
	const uint64_t trying = t->v->trying;

	t->v->trying = 0;
	for (unsigned i = 0; i < TRIAL_OPEN; i++)
		if (trying >> i & 1)
			ac_trial_close(t, i);
}

bool
ac_trial_hold(struct ac_trial *t, bool patiently)
{
	const uint64_t self = this_thread();

	for (;;) {
		uint64_t holder = 0;

		if (atomic_compare_exchange_strong(&t->v->judge, &holder, self))
			return true;
		if (holder && is_gone(holder, self)
		    && atomic_compare_exchange_strong(&t->v->judge, &holder,
		    self)) {
			clear_try(t);
			return true;
		}
		if (!patiently)
			return false;
		sched_yield();
	}
}

void
ac_trial_release(struct ac_trial *t)
{
	t->v->is_held_long = false;
	atomic_store(&t->v->judge, 0);
}

/* ---- Making ------------------------------------------------------------ */

static struct ac_verdicts *
make_verdicts(const struct ac_decision *d, struct ac_trial *of,
    struct ac_size_class *size_class)
{
	struct ac_verdicts *v = ac_mapped_take(sizeof *v);

	if (!v)
		return NULL;
	v->of = of;
	v->first = d->is_doubtful && d->guard == AC_GUARD_ON
	    ? DOUBTFUL_FIRST : 1;
	/* sample=0: what the casts lose is posted all the same. */
	v->period = d->sample_period ? d->sample_period : TRIAL_PERIOD;
	v->due = v->retry_due = UINT64_MAX;
	v->again.pair = AC_PAIRS;
	v->batch = TRIAL_EVIDENCE;
	v->calls = size_class ? size_class->calls : &v->own_calls;
	v->credit = size_class ? &size_class->credit : &v->own_credit;
	v->version = 1;
	v->state = TRIAL_PROBATION;
	if (d->guard != AC_GUARD_ON) {
		v->state = TRIAL_SETTLED;
		v->accurate = (1u << d->candidate_count) - 1;
	}
	return v;
}

/* Those of the class, which another thread may have made first. */
static struct ac_verdicts *
verdicts_of(const struct ac_decision *decision, struct ac_trial *of,
    struct ac_size_class *size_class)
{
	struct ac_verdicts *there = size_class
	    ? atomic_load(&size_class->verdicts) : NULL, *made;

	if (there)
		return there;
	made = make_verdicts(decision, of, size_class);
	if (!made || (size_class && !atomic_compare_exchange_strong(
	    &size_class->verdicts, &there, made)))
		return there;
	ac_trial_enlist(made);
	return made;
}

/* What is written once is in. */
static struct ac_trial *
fill(struct ac_trial *t, struct ac_size_class *size_class)
{
	const struct ac_decision *d = &t->decision;

	t->is_xla = ac_caller_is_xla(t->key.caller);
	t->kept_as = AC_REASON_GUARD;
	t->timing_over = !t->may_time || d->guard != AC_GUARD_ON;
	t->current = TRIAL_KEEP;
	t->shown = TRIAL_KEEP;
	for (unsigned i = 0; i < d->candidate_count; i++)
		t->cost[i] = d->judges_profit && d->candidate[i].seconds > 0
		    && d->guard == AC_GUARD_ON
		    ? d->candidate[i].seconds : i + 1;
	t->v = verdicts_of(d, t, size_class);
	return t->v ? t : NULL;
}

bool
ac_trial_is_wanted(const struct ac_decision *decision)
{
	return decision->candidate_count
	    && (decision->guard != AC_GUARD_OFF || decision->after);
}

struct ac_trial *
ac_trial_make(const struct ac_decision *decision,
    const struct ac_site_key *key, const char *name,
    struct ac_site_record *record, struct ac_size_class *size_class,
    bool may_time)
{
	struct ac_trial *t = ac_mapped_take(sizeof *t);
	struct ac_text text;

	if (!t)
		return NULL;
	t->decision = *decision;
	t->key = *key;
	t->region = record->region;
	ac_text_init(&text, t->name, sizeof t->name);
	ac_text_add(&text, name ? name : "");
	t->may_time = may_time && !decision->reproducible;
	t->record[0] = record;
	return fill(t, size_class);
}

/* ---- Records ----------------------------------------------------------- */

/* What a site does after a demotion counts as another line of the report. */
static struct ac_site_record *
make_record(struct ac_trial *t, unsigned candidate)
{
	struct ac_decision decision = t->decision;

	if (candidate == TRIAL_KEEP) {
		decision.rung = AC_RUNG_KEEP;
		decision.tactic = AC_TACTIC_NONE;
		decision.reason = (enum ac_reason)t->kept_as;
	} else {
		decision.rung = t->decision.candidate[candidate].rung;
		decision.tactic = t->decision.candidate[candidate].tactic;
		decision.tol = t->decision.candidate[candidate].tol;
	}
	return ac_report_site(&t->region, &t->key, &decision, t->name,
	    NULL);
}

struct ac_site_record *
ac_trial_record(struct ac_trial *t, unsigned candidate)
{
	struct ac_site_record *record = atomic_load_explicit(
	    &t->record[candidate], memory_order_acquire);

	ac_report_check_fork(); /* a child's course is its own */

	if (record && (candidate != TRIAL_KEEP
	    || record->reason == atomic_load_explicit(&t->kept_as,
	    memory_order_relaxed)))
		return record;
	record = make_record(t, candidate);
	atomic_store_explicit(&t->record[candidate], record,
	    memory_order_release);
	return record;
}

uint32_t
ac_trial_epoch(const struct ac_trial *t)
{
	return atomic_load_explicit(&t->v->epoch, memory_order_relaxed);
}

ac_histories *
ac_trial_histories(struct ac_trial *t)
{
	return &t->v->histories;
}

const struct ac_candidate *
ac_trial_candidate(const struct ac_trial *t, unsigned number)
{
	return &t->decision.candidate[number];
}

unsigned
ac_trial_count(const struct ac_trial *t)
{
	return t->decision.candidate_count;
}

struct ac_slot
ac_trial_slot(const struct ac_trial *t, const struct ac_turn *turn,
    unsigned number)
{
	return ac_trial_slot_at(t, turn->entry[number]);
}

/* ---- One trial per stream, where nothing may depend on timing ---------- */

static struct ac_trial *
add_stream(struct ac_trial *t, uint64_t stream_id)
{
	struct ac_trial *made = ac_mapped_take(sizeof *made), *next;

	if (!made)
		return t;
	made->decision = t->decision;
	made->key = t->key;
	made->region = t->region;
	memcpy(made->name, t->name, sizeof made->name);
	made->record[0] = t->record[0];
	made->stream_id = stream_id;
	if (!fill(made, NULL))
		return t;
	next = atomic_load(&t->next);
	do
		made->next = next;
	while (!atomic_compare_exchange_weak(&t->next, &next, made));
	return made;
}

struct ac_trial *
ac_trial_of(struct ac_trial *t, const struct ac_place *place)
{
	struct ac_trial *at;
	unsigned count = 0;

	if (!t->decision.reproducible || !place)
		return t;
	for (at = atomic_load(&t->next); at; at = atomic_load(&at->next)) {
		if (at->stream_id == place->stream_id)
			return at;
		count++;
	}
	return count < STREAMS ? add_stream(t, place->stream_id) : t;
}

/* ---- What became of a turn --------------------------------------------- */

static void
refuse(struct ac_trial *t, unsigned refused)
{
	for (unsigned i = 0; i < t->decision.candidate_count; i++) {
		if (!(refused >> i & 1))
			continue;
		atomic_store_explicit(&ac_trial_record(t, i)->course.finding,
		    AC_FINDING_REFUSED, memory_order_relaxed);
		t->v->refused |= 1u << i;
		t->v->accurate &= ~(1u << i);
		t->v->version++;
	}
}

/* A try of the probation; if nothing could be queued, again in a while, unless
 * all the provider has to say is no. */
static void
end_try(struct ac_trial *t, const struct ac_turn *turn, unsigned queued)
{
	const uint32_t all = (1u << t->decision.candidate_count) - 1;

	if (t->v->refused == all)
		ac_trial_settle(t, turn->number);
	else if (!queued)
		t->v->first = turn->number + TRIAL_PERIOD;
	else if (--t->v->batch)
		t->v->first = turn->number + 1;
	else
		t->v->state = TRIAL_WAITING;
}

void
ac_trial_tried(struct ac_trial *t, const struct ac_turn *turn,
    unsigned queued, unsigned refused)
{
	for (unsigned i = 0; i < t->decision.candidate_count; i++) {
		if (!(turn->tries >> i & 1))
			continue;
		if (queued >> i & 1) {
			atomic_fetch_add_explicit(&ac_trial_record(t,
			    i)->course.tries, 1, memory_order_relaxed);
			ac_trial_opened(t, turn->entry[i], turn, i, true);
		} else {
			ac_trial_close(t, turn->entry[i]);
		}
	}
	t->v->trying = 0;
	refuse(t, refused);
	if (t->v->state != TRIAL_SETTLED) {
		end_try(t, turn, queued);
	} else if (queued) {
		t->v->again.open++;
	} else {
		/* Refused for good, or short of memory: not at each call. */
		ac_trial_postpone_proof(t, turn->number + TRIAL_PERIOD);
		ac_trial_choose(t);
	}
	ac_trial_release(t);
}

void
ac_trial_sampled(struct ac_trial *t, struct ac_turn *turn)
{
	turn->was_queued = true;
	ac_trial_opened(t, turn->entry[0], turn, turn->candidate, false);
}

/* A sample that was not queued after all. */
void
ac_trial_turn_over(struct ac_trial *t, const struct ac_turn *turn)
{
	if (turn->kind == AC_TURN_STRICT) {
		ac_trial_close(t, turn->entry[0]);
	} else if (turn->sampled && turn->kind == AC_TURN_RECAST
	    && !turn->was_queued) {
		ac_trial_close(t, turn->entry[0]);
		/* Who asked for samples gets this one at the next call. */
		if (t->decision.sample_period)
			ac_trial_lower(&t->v->next_sample, turn->number + 1);
	}
}

/* Another place may write by now what this one adds to. */
static void
demote_sum(struct ac_trial *t, bool is_sum)
{
	const uint32_t out = t->decision.guard == AC_GUARD_STRICT ? UINT32_MAX
	    : t->v->chained;

	for (unsigned i = 0; is_sum && i < t->decision.candidate_count; i++)
		if (out >> i & 1)
			ac_trial_demote_chain(t, i);
}

void
ac_trial_writes(struct ac_trial *t, const void *c, bool adds)
{
	demote_sum(t, c ? ac_chain_note(&t->v->chain, t, c, adds) : adds);
}

void
ac_trial_reads(struct ac_trial *t, const void *c)
{
	demote_sum(t, ac_chain_read(&t->v->chain, t, c));
}
