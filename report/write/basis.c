/* SPDX-License-Identifier: Apache-2.0 */
/* report/write/basis.c -- what verdicts rest on, in words: how many calls were
 * judged and sampled, what was not read, and what nothing judged. An error is
 * told only where something was measured. Pure. */
#include "report/read/read.h"

/* Below this an output that FP32 has exactly came out exactly: FP32's own
 * rounding is 6e-8, and sums of a few numbers lose some of those. */
#define EXACT_ENOUGH 1e-6

const char *const ac_unjudged_names[AC_UNJUDGED_COUNT] = {
	[AC_UNJUDGED_NONE] = "", [AC_UNJUDGED_KEPT] = "kept",
	[AC_UNJUDGED_NETWORK] = "a recurrent network",
	[AC_UNJUDGED_OFF] = "guard=off",
	[AC_UNJUDGED_GRAPHS] = "recorded into graphs",
	[AC_UNJUDGED_UNSAMPLED] = "sample=off",
	[AC_UNJUDGED_UNREAD] = "no verdict yet",
};

/* ---- A site ------------------------------------------------------------ */

struct teller {
	void (*tell)(const char *piece, void *context);
	void *context;
	char  buffer[160];
};

static struct ac_text
begin(struct teller *t)
{
	struct ac_text text;

	ac_text_init(&text, t->buffer, sizeof t->buffer);
	return text;
}

static void
add_number(struct ac_text *text, uint64_t number)
{
	ac_text_addf(text, "%llu", (unsigned long long)number);
}

static void
tell_judged(struct teller *t, const struct ac_site_total *site)
{
	const uint64_t judged = site->course.judged;
	const uint64_t all = ac_site_on_rung(site);
	struct ac_text text = begin(t);

	if (!judged)
		return;
	ac_text_add(&text, "judged ");
	if (judged > all && site->course.captured) {
		add_number(&text, judged);
		ac_text_add(&text, " times on the device, replays included");
	} else {
		add_number(&text, judged < all ? judged : all);
		ac_text_add(&text, " of ");
		ac_text_add_count(&text, all, "call");
		ac_text_add(&text, " on the device");
	}
	t->tell(t->buffer, t->context);
}

static void
tell_samples(struct teller *t, const struct ac_course *c)
{
	struct ac_text text = begin(t);

	if (!c->samples)
		return;
	ac_text_add_count(&text, c->samples, "sample");
	if (c->samples > 1)
		ac_text_add(&text, " in FP64");
	else if (c->sampled_at == 1)
		ac_text_add(&text, ", of the first call");
	else if (c->sampled_at)
		ac_text_addf(&text, ", of call %llu",
		    (unsigned long long)c->sampled_at);
	t->tell(t->buffer, t->context);
}

static void
tell_errors(struct teller *t, const struct ac_site_total *site)
{
	const struct ac_course *c = &site->course;
	struct ac_text text = begin(t);

	if (c->suspects) {
		ac_text_add_count(&text, c->suspects, "suspect");
		t->tell(t->buffer, t->context);
		text = begin(t);
	}
	if (c->judged && site->tol > 0 && (c->suspects || !c->samples)) {
		ac_text_add(&text, "estimated at ");
		ac_ratio_add(&text, c->estimate / site->tol);
		ac_text_add(&text, " of tol at worst");
		t->tell(t->buffer, t->context);
		text = begin(t);
	}
	if (c->samples && site->tol > 0) {
		ac_text_add(&text, "worst ");
		ac_ratio_add(&text, c->error / site->tol);
		ac_text_add(&text, " of tol");
		t->tell(t->buffer, t->context);
		text = begin(t);
	}
	if (c->exact > EXACT_ENOUGH) {
		ac_text_add(&text, "exact results off by ");
		ac_text_add_double(&text, c->exact, 2);
		t->tell(t->buffer, t->context);
	}
}

static void
add_unread(struct ac_text *text, uint64_t unread, uint64_t oldest)
{
	ac_text_add_count(text, unread, "sample");
	ac_text_add(text, unread == 1 ? " unread, " : " unread, the oldest ");
	ac_text_add_count(text, oldest, "call");
	ac_text_add(text, " old");
}

static void
tell_rest(struct teller *t, const struct ac_course *c)
{
	struct ac_text text = begin(t);

	if (c->pairs) {
		ac_text_add_count(&text, c->pairs, "operand pair");
		if (c->demoted_pairs)
			ac_text_addf(&text, " (%llu demoted)",
			    (unsigned long long)c->demoted_pairs);
		t->tell(t->buffer, t->context);
		text = begin(t);
	}
	if (c->unread) {
		add_unread(&text, c->unread, c->oldest_unread);
		t->tell(t->buffer, t->context);
	}
}

void
ac_site_tell_basis(const struct ac_site_total *site,
    void (*tell)(const char *piece, void *context), void *context)
{
	const enum ac_unjudged why = ac_site_unjudged(site);
	struct teller t = { .tell = tell, .context = context };
	struct ac_text text = begin(&t);

	if (why != AC_UNJUDGED_NONE) {
		ac_text_addf(&text, "not judged: %s", ac_unjudged_names[why]);
		tell(t.buffer, context);
	}
	tell_judged(&t, site);
	tell_samples(&t, &site->course);
	tell_errors(&t, site);
	tell_rest(&t, &site->course);
}

/* ---- A run ------------------------------------------------------------- */

static void
add_samples(struct ac_text *text, const struct ac_report_totals *t)
{
	ac_text_add_count(text, t->samples, "sample");
	if (t->samples != t->first_samples)
		ac_text_add(text, t->samples > 1 ? " in FP64" : "");
	else
		ac_text_add(text, t->samples == 1 ? ", of the first call"
		    : ", each of a first call");
}

static void
add_unjudged(struct ac_text *text, const struct ac_report_totals *t,
    const char *before)
{
	const char *between = "not judged: ";

	for (int i = AC_UNJUDGED_KEPT + 1; i < AC_UNJUDGED_COUNT; i++) {
		if (!t->unjudged[i])
			continue;
		ac_text_addf(text, "%s%s%s (", before, between,
		    ac_unjudged_names[i]);
		ac_text_add_count(text, t->unjudged[i], "call");
		ac_text_add(text, ")");
		before = "";
		between = ", ";
	}
}

bool
ac_totals_have_error(const struct ac_report_totals *t)
{
	return t->worst_tol > 0 || t->worst_estimate > 0;
}

void
ac_totals_add_error(struct ac_text *text, const struct ac_report_totals *t)
{
	if (t->worst_tol > 0) {
		ac_text_add(text, "worst sampled error ");
		ac_text_add_double(text, t->worst_error, 2);
		ac_text_add(text, ", ");
		ac_ratio_add(text, t->worst_error / t->worst_tol);
		ac_text_add(text, " of tol ");
		ac_text_add_double(text, t->worst_tol, 2);
	} else if (t->worst_estimate > 0) {
		ac_text_add(text, "errors estimated at ");
		ac_ratio_add(text, t->worst_estimate);
		ac_text_add(text, " of tol at worst");
	}
}

void
ac_totals_add_basis(struct ac_text *text, const struct ac_report_totals *t)
{
	const size_t begun = text->used;

	if (t->judged) {
		ac_text_add(text, "judged ");
		add_number(text, t->judged);
		ac_text_add(text, " of ");
		ac_text_add_count(text, t->on_rungs, "call");
		ac_text_add(text, " on the device");
	}
	if (t->samples) {
		ac_text_add(text, t->judged ? ", " : "");
		add_samples(text, t);
	}
	if (t->unread) {
		ac_text_add(text, text->used > begun ? ", " : "");
		add_unread(text, t->unread, t->oldest_unread);
	}
	add_unjudged(text, t, text->used > begun ? "; " : "");
	if (text->used == begun)
		ac_text_add(text, "no verdict");
}
