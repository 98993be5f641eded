/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/compare/compare_progress.c -- what is compared, and how far that is, on
 * standard error. Progress is drawn between the runs only: nothing of ours
 * wakes while one is timed. */
#include "cmd/compare/compare.h"
#include "cmd/run/again.h"
#include "base/env.h"
#include "base/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES = 1024, MINUTE = 60, HOUR = 60 * MINUTE };

/* Back to the start of the line, and nothing to its end. */
#define ERASE "\r\033[K"

static bool
is_quiet(const struct ac_comparison *compare)
{
	ac_again_environment(compare->environment);
	return ac_env_is_off(AC_ENV_NOTICE);
}

static bool
can_draw(const struct ac_comparison *compare)
{
	const char *terminal = getenv("TERM");

	return ac_log_to_terminal() && terminal && strcmp(terminal, "dumb") &&
	    !is_quiet(compare);
}

/* 14 s, 12 min, 2.5 h */
static void
add_duration(struct ac_text *t, double seconds)
{
	if (seconds < 2 * MINUTE)
		ac_text_addf(t, "%.0f s", seconds);
	else if (seconds < 2 * HOUR)
		ac_text_addf(t, "%.0f min", seconds / MINUTE);
	else
		ac_text_addf(t, "%.1f h", seconds / HOUR);
}

/* Why it is that policy that is compared; its problems were shown before. */
static void
find_origin(const struct ac_chosen *chosen, struct ac_policy_origin *origin_out)
{
	struct ac_text dropped = ac_say_buffer(LINE_BYTES);
	struct ac_policy_problems problems = { .text = &dropped };

	ac_policy_destroy(ac_policy_load(chosen->policy, chosen->rules.data,
	    &problems, origin_out));
	free(dropped.data);
}

void
ac_compare_add_command(struct ac_text *text,
    const struct ac_comparison *compare)
{
	const size_t last = compare->column_count - 1;
	struct ac_text t = AC_TEXT_OF(LINE_BYTES);

	ac_text_add(&t, "compare");
	for (size_t i = AC_RECAST; i < last; i++)
		ac_quotef(&t, " --policy %s",
		    compare->columns[i].launch.chosen.policy);
	ac_launch_add_command(text, t.data, &compare->columns[last].launch,
	    compare->arguments);
	text->truncated |= t.truncated;
}

static const char *
round_name(const struct ac_comparison *compare)
{
	return compare->column_count > 2 ? "round" : "pair";
}

void
ac_compare_announce(struct ac_comparison *compare)
{
	static const size_t skipped = sizeof "autocast " - 1; /* ac_say's */
	char line[LINE_BYTES], policy[LINE_BYTES];
	struct ac_policy_origin origin;
	struct ac_text t;

	compare->start = ac_say_clock();
	if (is_quiet(compare))
		return;
	ac_text_init(&t, policy, sizeof policy);
	if (compare->column_count > 2) {
		ac_text_addf(&t, "%zu policies", compare->column_count - 1);
	} else {
		find_origin(&compare->columns[AC_RECAST].launch.chosen,
		    &origin);
		ac_text_addf(&t, "the policy %s (%s)", origin.name, origin.why);
	}
	ac_text_init(&t, line, sizeof line);
	ac_compare_add_command(&t, compare);
	(void)ac_say(0, "%s: by %s, 1 %s of runs to warm up and %zu that count",
	    t.truncated ? "compare" : line + skipped, policy,
	    round_name(compare), compare->pairs);
}

void
ac_compare_draw(const struct ac_comparison *compare, size_t runs_done)
{
	const size_t columns = compare->column_count;
	const size_t all = columns * (compare->pairs + 1);
	const double spent = ac_say_clock() - compare->start;
	struct ac_text t = AC_TEXT_OF(LINE_BYTES);

	if (!can_draw(compare))
		return;
	if (runs_done < columns)
		ac_text_add(&t, "warming up");
	else
		ac_text_addf(&t, "%s %zu of %zu", round_name(compare),
		    runs_done / columns, compare->pairs);
	ac_text_add(&t, ", ");
	add_duration(&t, spent);
	if (runs_done) {
		ac_text_add(&t, ", about ");
		add_duration(&t, spent / (double)runs_done *
		    (double)(all - runs_done));
		ac_text_add(&t, " left");
	}
	fprintf(stderr, ERASE "%s ", t.data);
}

void
ac_compare_erase(const struct ac_comparison *compare)
{
	if (can_draw(compare))
		fputs(ERASE, stderr);
}
