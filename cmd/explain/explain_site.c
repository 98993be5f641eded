/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/explain/explain_site.c -- a site of a run that is kept: what was decided
 * of it then, and what the policy in force says now. */
#include "cmd/explain/explain.h"
#include "report/past.h"
#include "report/read/rows.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_EVENTS = 6 };

/* ---- What was then ------------------------------------------------------ */

static const struct ac_site_total *
find_site(const struct ac_report *report, const char *wanted)
{
	for (size_t i = 0; i < report->site_count; i++) {
		char id[9];

		snprintf(id, sizeof id, "%08x", (unsigned)report->sites[i].id);
		if (!strcmp(id, wanted) ||
		    (*wanted && !strcmp(report->sites[i].name, wanted)))
			return &report->sites[i];
	}
	return NULL;
}

static void
say_piece(const char *piece, void *context)
{
	struct ac_text *t = context;

	ac_text_addf(t, "%s%s", t->data[t->used - 1] == ' ' ? "" : "; ", piece);
}

/* What the verdicts on each rung that ran rested on. */
static void
say_basis(struct ac_text *t, const struct ac_site_row *row)
{
	for (size_t i = 0; i < row->rung_count; i++) {
		const struct ac_site_total *part = row->rungs[i];

		if (part->rung == AC_RUNG_KEEP || (i && !part->recast))
			continue;
		ac_text_addf(t, i ? "verdicts on %s: " : "verdicts: ",
		    ac_rung_names[part->rung]);
		ac_site_add_checks(part, say_piece, t);
		ac_text_add(t, "\n");
	}
}

/* How many calls of all its rungs ran as the program made them, and why. */
static void
say_kept(struct ac_text *t, const struct ac_site_row *row)
{
	for (int i = 0; i < AC_REASON_COUNT; i++) {
		uint64_t kept = 0;

		for (size_t j = 0; j < row->rung_count; j++)
			kept += row->rungs[j]->kept[i];
		if (!kept)
			continue;
		ac_text_addf(t, "kept %llu: %s, %s", (unsigned long long)kept,
		    ac_reason_names[i], ac_reason_meanings[i]);
		if (i == AC_REASON_CAPTURE)
			ac_text_addf(t, "; %s", AC_SAID(ac_site_add_capture,
			    row->rungs[0]));
		ac_text_add(t, "\n");
	}
}

/* The last that are kept, oldest first. */
static void
say_events(struct ac_text *t, const struct ac_report *report, uint32_t site)
{
	size_t from = report->event_count, count = 0;

	while (from > 0 && count < MOST_EVENTS)
		count += report->events[--from].site == site;
	for (size_t i = from; i < report->event_count; i++) {
		if (report->events[i].site != site)
			continue;
		ac_event_add(t, &report->events[i]);
		ac_text_add(t, "\n");
	}
}

static void
say_site(struct ac_text *t, const struct ac_report *report, unsigned which,
    const struct ac_site_row *row)
{
	const struct ac_site_total *site = row->rungs[0];
	const bool kept = site->rung == AC_RUNG_KEEP;

	ac_text_addf(t, "run @%u, %s\nsite %08x of ", which,
	    AC_SAID(ac_start_add, report->processes[0].start_s),
	    (unsigned)site->id);
	ac_text_add_cleanf(t, "%s: %s %s", report->processes[0].program,
	    AC_SAID(ac_site_add_what, site), site->key.caller);
	if (*site->key.shape) {
		ac_text_add(t, ", ");
		ac_site_add_shape(t, site);
	}
	ac_text_addf(t, kept ? "\nthen: %s (%s), " : "\nthen: %s by %s, ",
	    ac_rung_names[site->rung], kept ? ac_reason_names[site->reason]
	    : ac_tactic_names[site->tactic]);
	ac_text_addf(t, "%s; recast %llu of %s\n", AC_SAID(ac_site_add_line,
	    site), (unsigned long long)row->recast, AC_COUNT(row->calls,
	    "call"));
	say_kept(t, row);
	say_basis(t, row);
	say_events(t, report, site->id);
}

/* A shape tells the padding before the image alone: what follows from that
 * behind it is of the site's own product, whose m or k counts positions. */
static void
describe_conv(const struct ac_site_key *key, struct ac_op *op)
{
	static const enum ac_quantity sides[] = { AC_Q_M, AC_Q_N, AC_Q_K,
		AC_Q_BATCH };
	const double is[] = { (double)key->m, (double)key->n, (double)key->k,
		(double)key->batch };
	const bool fprop = op->operation == AC_OP_CONV_FPROP;
	double *q = op->quantity, flops = 2, bytes;

	if (!ac_conv_words_set_shape(key->shape, op))
		return;
	bytes = q[AC_Q_BYTES] - 4 * q[AC_Q_M] * q[fprop ? AC_Q_N : AC_Q_K] *
	    q[AC_Q_BATCH];
	for (size_t i = 0; i < sizeof sides / sizeof *sides; i++) {
		ac_op_set(op, sides[i], is[i]);
		flops *= is[i];
	}
	bytes += 4 * q[AC_Q_M] * q[fprop ? AC_Q_N : AC_Q_K] * q[AC_Q_BATCH];
	ac_op_set(op, AC_Q_FLOPS, flops);
	ac_op_set(op, AC_Q_BYTES, bytes);
	ac_op_set(op, AC_Q_INTENSITY, bytes > 0 ? flops / bytes : 0);
}

/* "" follows nothing; behind a colon stands what is not understood. */
static void
describe_lt(const struct ac_site_key *key, struct ac_op *op)
{
	static char epilogue[sizeof key->shape];

	memcpy(epilogue, key->shape, sizeof epilogue);
	epilogue[strcspn(epilogue, ":")] = '\0';
	op->fact[AC_FACT_EPILOGUE] = *epilogue ? epilogue
	    : ac_epilogue_names[AC_EPILOGUE_DEFAULT];
}

void
ac_operation_of_site(const struct ac_report *report,
    const struct ac_site_total *site, struct ac_op *op)
{
	static char module[48], ta[2], tb[2], id[9];
	const struct ac_file_header *process = &report->processes[0];

	memset(op, 0, sizeof *op);
	op->operation = (enum ac_operation)site->key.operation;
	memcpy(module, site->key.caller, sizeof module);
	module[strcspn(module, "+")] = '\0';
	snprintf(id, sizeof id, "%08x", (unsigned)site->id);
	ta[0] = site->key.ta;
	tb[0] = site->key.tb;
	if (*ta) {
		op->fact[AC_FACT_TA] = ta;
		op->fact[AC_FACT_TB] = tb;
	}
	op->fact[AC_FACT_TYPE] = site->key.type;
	op->fact[AC_FACT_ASKED] = site->key.asked;
	op->fact[AC_FACT_FN] = site->key.symbol;
	op->fact[AC_FACT_CALLER] = module;
	op->fact[AC_FACT_PROGRAM] = process->program;
	op->fact[AC_FACT_SITE] = id;
	op->fact[AC_FACT_SOLVER] = site->key.solver == 'y' ? "yes" : "no";
	if (*site->region.name)
		op->fact[AC_FACT_REGION] = site->region.name;
	op->region_keeps = site->region.is_disabled;
	op->region_rungs = site->region.rung_count;
	for (unsigned i = 0; i < op->region_rungs; i++)
		op->region_rung[i] = site->region.rung[i];
	if (*process->library)
		op->fact[AC_FACT_LIB] = process->library;
	if (*process->gpu)
		op->fact[AC_FACT_GPU] = process->gpu;
	if (process->sm)
		ac_op_set(op, AC_Q_SM, process->sm);
	ac_op_set_product(op, site->key.m, site->key.n, site->key.k,
	    site->key.batch);
	if (ac_op_is_conv(op))
		describe_conv(&site->key, op);
	if (op->operation == AC_OP_GEMM_LT)
		describe_lt(&site->key, op);
}

/* ---- The site ----------------------------------------------------------- */

/* What the policy in force says of `site`, after `before`. */
static int
explain_then(const struct ac_chosen *chosen, const struct ac_report *report,
    const struct ac_site_total *site, struct ac_text *before)
{
	struct ac_op op;

	if (!ac_site_has_sizes(site)) {
		fputs(before->data, stdout);
		return ac_say(AC_EXIT_FAILED, "explain: the policy kept every "
		    "call, so the sizes of these were not read; say them, as "
		    "'autocast explain --help' shows");
	}
	ac_operation_of_site(report, site, &op);
	ac_text_add(before, "\nNow, under the policy in force:\n");
	return ac_explain_operation(chosen, &op, before->data);
}

/* The youngest run but `but` that has the site; 0: none of those kept. */
static unsigned
find_run(const struct ac_past *past, const char *wanted, unsigned but)
{
	unsigned found = 0;
	struct ac_text why = AC_TEXT_OF(512);

	for (unsigned i = 1; !found && i <= ac_past_runs(past); i++) {
		struct ac_report *report = i == but ? NULL
		    : ac_past_load(past, i, &why);

		if (report && find_site(report, wanted))
			found = i;
		ac_report_destroy(report);
	}
	return found;
}

static int
say_missing(const struct ac_past *past, const char *wanted, unsigned which)
{
	const unsigned other = find_run(past, wanted, which);
	char run[32] = "the last run";

	if (which > 1)
		snprintf(run, sizeof run, "run @%u", which);
	if (other)
		return ac_say(AC_EXIT_FAILED, "explain: %s has no site %s, run "
		    "@%u has; type: autocast explain @%u %s", run, wanted,
		    other, other, wanted);
	return ac_say(AC_EXIT_FAILED, which > 1 ? "explain: %s has no site %s; "
	    "'autocast report @%u' lists them" : "explain: %s has no site %s; "
	    "'autocast report' lists them", run, wanted, which);
}

/* The row whose part `site` is. */
static const struct ac_site_row *
find_row(const struct ac_site_row *rows, size_t count,
    const struct ac_site_total *site)
{
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < rows[i].rung_count; j++)
			if (rows[i].rungs[j] == site)
				return &rows[i];
	return NULL;
}

/* As all of its rungs have it: a run keeps a site in parts. */
static int
explain_found(const struct ac_chosen *chosen, const struct ac_report *report,
    unsigned which, const struct ac_site_total *site)
{
	const struct ac_site_row *row;
	struct ac_site_row *rows;
	size_t count;
	int status;
	struct ac_text said = AC_TEXT_OF(4096);

	if (!ac_rows_make(report, AC_SORT_WORK, &rows, &count))
		return ac_say(AC_EXIT_FAILED, "explain: %s", strerror(ENOMEM));
	row = find_row(rows, count, site);
	say_site(&said, report, which, row);
	status = explain_then(chosen, report, row->rungs[0], &said);
	free(rows);
	return status;
}

static int
explain_one(const struct ac_chosen *chosen, unsigned which,
    const char *wanted)
{
	struct ac_past *past;
	struct ac_report *report;
	const struct ac_site_total *site;
	int status;
	struct ac_text why = AC_TEXT_OF(512);

	past = ac_past_open(&why);
	report = past ? ac_past_load(past, which, &why) : NULL;
	site = report ? find_site(report, wanted) : NULL;
	if (!report)
		status = ac_say(AC_EXIT_FAILED, "explain: %s", why.data);
	else if (!site)
		status = say_missing(past, wanted, which);
	else
		status = explain_found(chosen, report, which, site);
	ac_report_destroy(report);
	ac_past_close(past);
	return status;
}

bool
ac_explain_is_site(const char *word)
{
	return ac_arguments_run(word) ||
	    (strspn(word, "0123456789abcdef") == 8 && !word[8]);
}

/* In any order; of a run that is named, a site's name will do. */
int
ac_explain_site(const struct ac_chosen *chosen, char **words)
{
	const unsigned first = ac_arguments_run(*words), second = words[1]
	    ? ac_arguments_run(words[1]) : 0;
	const char *site = words[first ? 1 : 0];
	const char *more = site && words[1] ? words[first || second ? 2 : 1]
	    : NULL;

	if (!site)
		return ac_say(AC_EXIT_USAGE, "explain: which site of run @%u? "
		    "'autocast report @%u' lists them", first, first);
	if (more || (first && second))
		return ac_say(AC_EXIT_USAGE, "explain: unexpected '%s'; a site "
		    "needs nothing else but its run, as @2", more ? more
		    : words[1]);
	return explain_one(chosen, first ? first : second ? second : 1, site);
}
