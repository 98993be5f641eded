/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/validate/validate_say.c -- why a program's seed and update lines are
 * refused, and which calls no line means. Called by cmd/validate/validate.c. */
#include "cmd/command.h"
#include "cmd/validate/validate.h"

#include <stdio.h>
#include <string.h>

/* ---- Calls that no line means ------------------------------------------ */

/* As a line would name them; until the next call. */
static const char *
name_other(const struct ac_trace_other *other)
{
	static char name[256];

	snprintf(name, sizeof name, "fn=%s n=%lld caller=%s, %zu call%s",
	    other->line.symbol, other->line.n, other->line.caller,
	    other->calls, other->calls == 1 ? "" : "s");
	return name;
}

void
ac_validate_print_others(const struct ac_trace_result *result)
{
	for (size_t i = 0; i < result->other_count; i++)
		if (result->others[i].differs)
			printf("note: no line means %s, which wrote something "
			    "else with the scale: right for gradients on their "
			    "way, wrong for weights\n",
			    name_other(&result->others[i]));
}

static void
say_others(const struct ac_trace_result *result, bool all)
{
	for (size_t i = 0; i < result->other_count; i++)
		if (all || result->others[i].differs)
			(void)ac_say(0, "policy validate: no line means %s%s",
			    name_other(&result->others[i]),
			    result->others[i].differs ? ", which wrote "
			    "something else with the scale" : "");
}

/* ---- Refusals ---------------------------------------------------------- */

/* "update 3 (cublasSaxpy_v2, n=320, train+1a2b)" */
static const char *
name_call(const struct ac_trace_result *result)
{
	static char name[192];
	const struct ac_trace_line *line = &result->line;

	snprintf(name, sizeof name, "%s %zu (%s, n=%lld, %s)",
	    ac_scaling_names[line->kind],
	    line->kind == AC_SCALING_SEED ? result->seeds : result->updates,
	    line->symbol, line->n, line->caller);
	return name;
}

static const char *
why_unfit(const char *fate)
{
	static const struct { const char *fate, *why; } rows[] = {
		{ "device", "has its scalar in device memory, where it is not "
		    "multiplied" },
		{ "handle", "has a handle that was not seen created" },
		{ "captured", "is captured into a graph, which hides what it "
		    "writes" },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (!strcmp(fate, rows[i].fate))
			return rows[i].why;
	return "writes where it cannot be read back";
}

/* Somewhere the runs do not do the same. */
static int
say_difference(const struct ac_trace_result *result, unsigned scale,
    bool reproducible)
{
	const int status = AC_VALIDATE_REFUSED;

	if (!reproducible && result->verdict == AC_TRACE_OTHER_CALLS)
		return ac_say(status, "policy validate: two runs without a "
		    "scale do not make the same calls in the same order, from "
		    "%s on (several threads?)", name_call(result));
	if (!reproducible)
		return ac_say(status, "policy validate: the program does not "
		    "compute the same twice: two runs without a scale differ "
		    "from %s on", name_call(result));
	if (result->verdict == AC_TRACE_OTHER_CALLS)
		return ac_say(status, "policy validate: with a scale of 2^%u "
		    "other calls are made, or in another order, from %s on: "
		    "something looks at scaled values, or several threads make "
		    "them", scale, name_call(result));
	return ac_say(status, "policy validate: with a scale of 2^%u %s writes "
	    "something else: between the seeds and it something is not linear, "
	    "or is not scaled", scale, name_call(result));
}

static int
say_why(const struct ac_trace_result *result, unsigned scale, bool reproducible)
{
	const int status = AC_VALIDATE_REFUSED;

	switch (result->verdict) {
	case AC_TRACE_PROCESSES:
		return ac_say(status, "policy validate: %zu processes of a run "
		    "made calls that a line means; one at a time, please",
		    result->processes);
	case AC_TRACE_NO_SEED:
	case AC_TRACE_NO_UPDATE:
		return ac_say(status, "policy validate: no call %s line",
		    result->verdict == AC_TRACE_NO_UPDATE
		    ? "is meant by an update"
		    : "before the first update is meant by a seed");
	case AC_TRACE_UNFIT:
		return ac_say(status, "policy validate: %s %s",
		    name_call(result), why_unfit(result->line.fate));
	case AC_TRACE_UNCHANGED:
		return ac_say(status, "policy validate: a scale of 2^%u "
		    "changes nothing: what the seed multiplies is zero or not "
		    "finite", scale);
	case AC_TRACE_UNSEEN:
		return ac_say(status, "policy validate: these runs prove "
		    "nothing: no update changes its vector by something that "
		    "the scale reached (a step of zero? values that are not "
		    "finite?)");
	case AC_TRACE_SHORT:
		return ac_say(status, "policy validate: these runs prove "
		    "nothing: no seed follows an update, so what the updates "
		    "wrote was never used; make it two steps or more");
	case AC_TRACE_OVERFLOW:
		return ac_say(status, "policy validate: bit for bit as "
		    "without, but under the whole policy %s writes infinities "
		    "or NaNs: 2^%u is too much for what is recast; take a "
		    "smaller one", name_call(result), scale);
	case AC_TRACE_OTHER_CALLS:
	case AC_TRACE_OTHER_UPDATE:
		return say_difference(result, scale, reproducible);
	default:
		return AC_EXIT_FAILED;
	}
}

int
ac_validate_refuse(const struct ac_trace_result *result, unsigned scale,
    bool reproducible)
{
	const int status = say_why(result, scale, reproducible);

	if (result->verdict == AC_TRACE_NO_SEED
	    || result->verdict == AC_TRACE_NO_UPDATE)
		say_others(result, true);
	else if (result->verdict == AC_TRACE_OTHER_UPDATE && reproducible)
		say_others(result, false);
	return status;
}
