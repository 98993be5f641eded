/* SPDX-License-Identifier: Apache-2.0 */
/* shim/trial/origin_hear.c -- what verified calls have found, and what follows:
 * reports, window, balance. No lock: what two threads hear at once is added up
 * once, by differences. */
#include "shim/trial/origin_state.h"

#include "base/lock.h"
#include "shim/trial/wait.h"

enum {
	UNIT = 1024,            /* of a balance: a call recomputed whole */
	BALANCE_MOST = 32 * UNIT, BALANCE_LEAST = -2 * UNIT,
	RETRY = 1000,           /* calls until a candidate serves again; 4 times
	                         * as many after each time that it failed, */
	STRIKES = 6,            /* but not after so many */
	REFUSALS = 3
};

struct heard {
	int64_t calls, lines, alls, cancels;
};

/* ---- Balance ------------------------------------------------------------ */

__attribute__((cold))
static void
put_out(struct ac_origin *o, struct ac_variants *v, unsigned candidate)
{
	struct ac_origin_candidate *c = &o->candidate[candidate];
	struct ac_site_record *record;

	if (atomic_fetch_or(&o->out, 1u << candidate) >> candidate & 1)
		return;
	c->back_at = o->calls + ((uint64_t)RETRY << 2 * c->strikes);
	if (c->strikes < STRIKES)
		c->strikes++;
	record = ac_variants_record(v, candidate, AC_REASON_NONE);
	record->course.finding = AC_FINDING_MENDED;
	record->course.demotions++;
	ac_report_event(record, AC_EVENT_DEMOTED, o->calls, AC_FINDING_MENDED,
	    record->course.error);
}

/* What a clean call gains, and what mended lines cost, in parts of what a call
 * loses that is recomputed whole: about an original. */
static double
gain_of(const struct ac_variants *v, unsigned candidate)
{
	const double original = v->cost[AC_ORIGINAL];
	const double gain = original < 1e9
	    ? (original - v->cost[candidate]) / original : 0.5;

	return gain > 0 ? gain : 0;
}

static double
cost_of_lines(const struct ac_variants *v, uint64_t lines)
{
	const struct ac_site_key *key = &v->record[0]->key;
	const double cost = 4 * (double)lines / (double)(key->m + key->n);

	return cost < 1 ? cost : 1;
}

static void
add_to_balance(struct ac_origin *o, struct ac_variants *v, unsigned candidate,
    double calls)
{
	struct ac_origin_candidate *c = &o->candidate[candidate];
	int32_t there = c->balance, next;

	do {
		const double sum = there + calls * UNIT;

		next = sum > BALANCE_MOST ? BALANCE_MOST
		    : sum < 8.0 * BALANCE_LEAST ? 8 * BALANCE_LEAST
		    : (int32_t)sum;
	} while (!atomic_compare_exchange_weak(&c->balance, &there, next));
	if (next < BALANCE_LEAST)
		put_out(o, v, candidate);
}

void
ac_origin_take_back(struct ac_origin *o, struct ac_variants *v, uint64_t number)
{
	for (unsigned i = 0; i < AC_CANDIDATES; i++) {
		struct ac_origin_candidate *c = &o->candidate[i];
		uint64_t due = c->back_at;

		if (!(o->out >> i & 1) || o->refused >> i & 1 || number < due
		    || !atomic_compare_exchange_strong(&c->back_at, &due,
		    UINT64_MAX))
			continue;
		c->balance = BALANCE_LEAST + UNIT - 1;
		atomic_fetch_and(&o->out, ~(1u << i));
		ac_report_event(ac_variants_record(v, i, AC_REASON_NONE),
		    AC_EVENT_RETRIED, number, AC_FINDING_NONE, 0);
	}
}

/* Where all calls that a ledger knows of had an operand that FP16 holds, two
 * products do. */
__attribute__((cold, noinline))
static void
let_in(struct ac_origin *o, const struct ac_variants *v,
    const struct ac_ledger *l)
{
	const uint64_t calls = ac_ledger_posted(l);

	if (__atomic_load_n(&l->host->shorts, __ATOMIC_RELAXED) < calls)
		return;
	for (unsigned i = 0; i < v->decision->candidate_count; i++)
		if (v->decision->candidate[i].rung == AC_RUNG_FP16X2
		    && !o->candidate[i].strikes && !(o->refused >> i & 1))
			atomic_fetch_and(&o->out, ~(1u << i));
}

static void
say_chain(struct ac_origin *o, struct ac_variants *v, unsigned candidate)
{
	struct ac_site_record *record = ac_variants_record(v, candidate,
	    AC_REASON_NONE);

	record->course.finding = AC_FINDING_CHAIN;
	record->course.demotions++;
	ac_report_event(record, AC_EVENT_DEMOTED, o->calls, AC_FINDING_CHAIN,
	    0);
}

/* Of the first candidate that was heard to be good. */
void
ac_origin_say_left(struct ac_origin *o, struct ac_variants *v)
{
	const uint32_t clean = o->clean;

	if (atomic_exchange(&o->is_left, false))
		say_chain(o, v, clean ? (unsigned)__builtin_ctz(clean) : 0);
}

/* Sums that cancel bring out what their parts have lost: all origins that wrote
 * this C leave, for good. If none did, mending has put it right. */
static void
leave_chain(struct ac_origin *o, struct ac_variants *v, unsigned candidate)
{
	struct ac_origin *of[AC_CHAIN_MOST];
	const unsigned count = ac_chain_writers(o, of);

	if ((!count && !o->adds) || atomic_exchange(&o->refused, ~0u) == ~0u)
		return;
	o->out = ~0u;
	for (unsigned i = 0; i < count; i++) {
		of[i]->is_left |= atomic_exchange(&of[i]->refused, ~0u) != ~0u;
		of[i]->out = ~0u;
	}
	say_chain(o, v, candidate);
}

bool
ac_origin_is_to_ask(struct ac_origin *o)
{
	const uint64_t asked = o->asked;

	if (!o->sums || (asked && o->calls < asked + ORIGIN_WINDOW))
		return false;
	o->asked = o->calls;
	return true;
}

void
ac_origin_refused(struct ac_origin *o, struct ac_variants *v,
    const struct ac_turn *turn)
{
	const unsigned candidate = turn->candidate;

	if (++o->candidate[candidate].refusals < REFUSALS)
		return;
	atomic_fetch_or(&o->refused, 1u << candidate);
	atomic_fetch_or(&o->out, 1u << candidate);
	ac_variants_record(v, candidate, AC_REASON_NONE)->course.finding
	    = AC_FINDING_REFUSED;
}

/* ---- What calls have found ----------------------------------------------- */

/* What was posted since a thread last heard. Below zero where another thread
 * has heard of more meanwhile. */
static int64_t
news(_Atomic uint64_t *heard, uint64_t now)
{
	return (int64_t)(now - atomic_exchange_explicit(heard, now,
	    memory_order_relaxed));
}

static void
note(struct ac_ledger *l, struct heard *heard_out)
{
	struct ac_verified_record r;
	struct ac_site_course *course;

	ac_ledger_read(l, &r);
	heard_out->calls = news(&l->calls, r.calls);
	heard_out->alls = news(&l->alls, r.alls);
	heard_out->lines = news(&l->lines, r.lines);
	heard_out->cancels = news(&l->cancels, r.cancels);
	course = &ac_variants_record(l->of, l->candidate,
	    AC_REASON_NONE)->course;
	course->judged += (uint64_t)heard_out->calls;
	course->mended_lines += (uint64_t)heard_out->lines;
	course->mended_calls += (uint64_t)heard_out->alls;
	ac_report_raise(&course->error, r.whole);
	ac_report_raise(&course->line_error, r.line);
	ac_report_raise(&course->rho, r.loss[0] > r.loss[1] ? r.loss[0]
	    : r.loss[1]);
	if (r.calls < 16 || (int64_t)(r.calls % 16) < heard_out->calls)
		ac_report_note_time(); /* should it be killed */
}

static void
widen(struct ac_origin *o, int64_t calls)
{
	const int64_t most = o->window + calls;

	o->window = most < ORIGIN_WINDOW ? (uint32_t)most : ORIGIN_WINDOW;
}

/* Clean calls change nothing where window and balance are at their most. */
static bool
is_no_news(const struct ac_origin *o, const struct ac_ledger *l,
    const struct heard *heard)
{
	return !(heard->alls | heard->lines | heard->cancels)
	    && (!heard->calls || (o->window == ORIGIN_WINDOW
	    && o->clean >> l->candidate & 1
	    && o->candidate[l->candidate].balance >= BALANCE_MOST));
}

__attribute__((noinline))
static void
learn(struct ac_origin *o, struct ac_ledger *l)
{
	struct ac_variants *v = l->of;
	struct heard heard;

	ac_wait_found(l->scratch);
	note(l, &heard);
	if (is_no_news(o, l, &heard))
		return;
	if (o->out)
		let_in(o, v, l);
	if ((heard.alls > 0 || heard.lines > 0)
	    && v->converted >> l->candidate & 1) {
		atomic_fetch_or(&o->refused, 1u << l->candidate);
		put_out(o, v, l->candidate);
	}
	if (heard.cancels > 0 && (o->adds || ac_origin_is_to_ask(o)))
		leave_chain(o, v, l->candidate);
	if (heard.alls > 0)
		o->window = ORIGIN_WINDOW_FIRST;
	else if (heard.calls > 0)
		widen(o, heard.calls);
	if (heard.calls > 0 && heard.alls <= 0 && heard.lines <= 0)
		atomic_fetch_or(&o->clean, 1u << l->candidate);
	add_to_balance(o, v, l->candidate, (double)(heard.calls - heard.alls)
	    * gain_of(v, l->candidate) - (double)heard.alls
	    - cost_of_lines(v, heard.lines > 0 ? (uint64_t)heard.lines : 0));
}

static void
note_news(struct ac_ledger *l)
{
	struct heard heard;

	if (ac_ledger_has_news(l))
		note(l, &heard);
}

void
ac_origin_note(const struct ac_variants *of, const struct ac_place *place)
{
	struct ac_ledger *l = of ? atomic_load_explicit(&of->ledgers,
	    memory_order_acquire) : ac_ledger_first();
	const int process = l ? ac_lock_process() : 0;

	for (; l; l = of ? l->next : l->also)
		if (l->of->process == process
		    && ac_ledger_is_readable(l, place))
			note_news(l);
}

void
ac_origin_hear(struct ac_origin *o, struct ac_ledger *l)
{
	if (ac_ledger_has_news(l))
		learn(o, l);
}

void
ac_origin_hear_all(struct ac_origin *o, struct ac_variants *v,
    const struct ac_place *place)
{
	struct ac_ledger *l = atomic_load_explicit(&v->ledgers,
	    memory_order_acquire);

	for (; l; l = l->next)
		if (ac_ledger_is_readable(l, place))
			ac_origin_hear(o, l);
}

/* ---- At exit ------------------------------------------------------------ */

/* What no later call came to hear. No CUDA call: the device may be gone, what
 * it wrote is not; but for memory that the driver lent us. */
__attribute__((destructor)) static void
hear_the_last(void)
{
	struct ac_ledger *first = ac_ledger_first();
	const int process = first ? ac_lock_process() : 0;

	for (struct ac_ledger *l = first; l; l = l->also) {
		uint64_t queued;

		if (l->of->process != process
		    || !ac_ledger_is_readable(l, NULL))
			continue;
		note_news(l);
		queued = l->queued;
		if (queued > l->calls)
			ac_variants_record(l->of, l->candidate, AC_REASON_NONE)
			    ->course.unread += (uint32_t)(queued - l->calls);
	}
}
