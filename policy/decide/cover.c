/* SPDX-License-Identifier: Apache-2.0 */
/* policy/decide/cover.c -- rules that can never decide, because an earlier
 * one matches every call they match, or nothing meets all their conditions; and
 * rungs that their operations do not have, or that hardly ever keep their
 * tolerance. Warnings only; silence proves nothing.
 * Runs once, at the end of loading, where somebody asked: in no program. */
#include "policy/language/parse.h"

#include "base/text.h"
#include "policy/policy.h"

#include <string.h>

/* Comparisons of conditions spent on one policy before giving up. */
enum { MOST_STEPS = 20 * 1000 * 1000 };

/* Whether every number in `span` satisfies `earlier`. */
static bool
span_within(const struct ac_span *span, const struct ac_condition *earlier)
{
	switch (earlier->compare) {
	case AC_LESS:
		return span->high < earlier->spans[0].low;
	case AC_AT_MOST:
		return span->high <= earlier->spans[0].low;
	case AC_MORE:
		return span->low > earlier->spans[0].low;
	case AC_AT_LEAST:
		return span->low >= earlier->spans[0].low;
	default:
		break;
	}
	for (unsigned i = 0; i < earlier->count; i++) {
		if (earlier->compare == AC_SAME &&
		    span->low >= earlier->spans[i].low &&
		    span->high <= earlier->spans[i].high)
			return true;
		if (earlier->compare == AC_OTHER &&
		    span->low <= earlier->spans[i].high &&
		    span->high >= earlier->spans[i].low)
			return false;
	}
	return earlier->compare == AC_OTHER;
}

/* "m<16" within "m<=16", and the like. */
static bool
bound_within(const struct ac_condition *later,
    const struct ac_condition *earlier)
{
	const double l = later->spans[0].low, e = earlier->spans[0].low;

	switch (later->compare) {
	case AC_LESS:
		return (earlier->compare == AC_LESS && l <= e) ||
		    (earlier->compare == AC_AT_MOST && l <= e);
	case AC_AT_MOST:
		return (earlier->compare == AC_LESS && l < e) ||
		    (earlier->compare == AC_AT_MOST && l <= e);
	case AC_MORE:
		return (earlier->compare == AC_MORE && l >= e) ||
		    (earlier->compare == AC_AT_LEAST && l >= e);
	case AC_AT_LEAST:
		return (earlier->compare == AC_MORE && l > e) ||
		    (earlier->compare == AC_AT_LEAST && l >= e);
	default:
		return false;
	}
}

static bool
same_values(const struct ac_condition *a, const struct ac_condition *b)
{
	if (a->compare != b->compare || a->count != b->count)
		return false;
	for (unsigned i = 0; i < a->count; i++)
		if (strcmp(a->subject == AC_SUBJECT_FACT ? a->words[i] :
		    a->spans[i].word, b->subject == AC_SUBJECT_FACT ?
		    b->words[i] : b->spans[i].word) != 0)
			return false;
	return true;
}

static bool
numbers_within(const struct ac_condition *later,
    const struct ac_condition *earlier)
{
	for (unsigned i = 0; i < later->count; i++)
		if (later->spans[i].extents != 0)
			return false;
	for (unsigned i = 0; i < earlier->count; i++)
		if (earlier->spans[i].extents != 0)
			return false;
	if (later->compare != AC_SAME)
		return bound_within(later, earlier);
	for (unsigned i = 0; i < later->count; i++)
		if (!span_within(&later->spans[i], earlier))
			return false;
	return true;
}

/* Whether every text `word` can stand for satisfies `earlier`. */
static bool
word_within(const char *word, const struct ac_condition *earlier)
{
	const bool is_glob = strpbrk(word, "*?") != NULL;

	for (unsigned i = 0; i < earlier->count; i++) {
		if (strcmp(earlier->words[i], word) == 0 ||
		    strcmp(earlier->words[i], "*") == 0 ||
		    (!is_glob && ac_text_glob(earlier->words[i], word)))
			return earlier->compare == AC_SAME;
		if (is_glob && earlier->compare == AC_OTHER)
			return false;
	}
	return earlier->compare == AC_OTHER;
}

static bool
words_within(const struct ac_condition *later,
    const struct ac_condition *earlier)
{
	if (later->compare != AC_SAME)
		return false;
	/* Sites, functions and callers have two names: texts say too little. */
	if ((later->which == AC_FACT_SITE || later->which == AC_FACT_FN
	    || later->which == AC_FACT_CALLER) && earlier->compare == AC_OTHER)
		return false;
	for (unsigned i = 0; i < later->count; i++)
		if (!word_within(later->words[i], earlier))
			return false;
	return true;
}

static bool
implies(const struct ac_condition *later, const struct ac_condition *earlier)
{
	if (later->subject != earlier->subject ||
	    later->which != earlier->which || later->sizes != earlier->sizes)
		return false;
	if (same_values(later, earlier))
		return true;
	return later->subject == AC_SUBJECT_FACT ?
	    words_within(later, earlier) : numbers_within(later, earlier);
}

/* Whether no call meets both. */
static bool
excludes(const struct ac_condition *one, const struct ac_condition *other)
{
	static const enum ac_compare opposite[AC_COMPARE_COUNT] = {
		[AC_LESS] = AC_AT_LEAST, [AC_AT_LEAST] = AC_LESS,
		[AC_MORE] = AC_AT_MOST, [AC_AT_MOST] = AC_MORE,
		[AC_SAME] = AC_OTHER, [AC_OTHER] = AC_SAME
	};
	struct ac_condition not = *other;

	not.compare = opposite[other->compare];
	return implies(one, &not);
}

/* The first two that exclude each other. */
static void
check_conditions(struct ac_parser *parser, const struct ac_rule *rule)
{
	const struct ac_condition *all = rule->conditions;
	struct ac_text text = AC_TEXT_OF(200);

	for (unsigned i = 1; i < rule->condition_count; i++)
		for (unsigned j = 0; j < i; j++) {
			if (!excludes(&all[i], &all[j])
			    && !excludes(&all[j], &all[i]))
				continue;
			ac_condition_print(&all[j], &text);
			ac_text_add(&text, " and ");
			ac_condition_print(&all[i], &text);
			ac_problem_warn(&parser->problems, &rule->place,
			    "this rule never decides: no call meets both %s",
			    text.data);
			return;
		}
}

/* Whether any of the rule's operations has `rung`, be it on another GPU. */
static bool
has_rung(const struct ac_rule *rule, enum ac_rung rung)
{
	struct ac_op op = { .operation = 0 };
	enum ac_verdict verdict;

	for (; op.operation < AC_OP_COUNT; op.operation++) {
		verdict = ac_rung_judge(rule, &op, rung);
		if (ac_rule_names(rule, op.operation)
		    && verdict != AC_VERDICT_ILLEGAL
		    && verdict != AC_VERDICT_UNNAMED)
			return true;
	}
	return false;
}

static void
check_rungs(struct ac_parser *parser, const struct ac_rule *rule)
{
	for (unsigned i = 0; i < rule->rung_count; i++)
		if (!has_rung(rule, rule->rungs[i]))
			ac_problem_warn(&parser->problems,
			    &rule->rung_places[i], "none of these operations "
			    "has %s: calls that have no other rung are kept",
			    ac_rung_names[rule->rungs[i]]);
}

static bool
covers(const struct ac_rule *earlier, const struct ac_rule *later,
    unsigned *steps)
{
	unsigned l;

	if ((later->operations & ~earlier->operations) != 0)
		return false;
	for (unsigned e = 0; e < earlier->condition_count; e++) {
		for (l = 0; l < later->condition_count; l++, ++*steps)
			if (implies(&later->conditions[l],
			    &earlier->conditions[e]))
				break;
		if (l == later->condition_count)
			return false;
	}
	return true;
}

/* -e lines are meant to stand before the policy's own. */
static bool
may_complain(const struct ac_rule *earlier, const struct ac_rule *later)
{
	return !later->of_profile &&
	    (!earlier->place.source->is_rules || later->place.source->is_rules);
}

/* Neither an id as the report prints it, nor a pattern, nor a name that a
 * `site` line gives. */
static bool
is_no_site(const struct ac_policy *policy, const char *word)
{
	const struct ac_site_label *label;

	if (strpbrk(word, "*?") != NULL || (strlen(word) == 8 &&
	    word[strspn(word, "0123456789abcdef")] == '\0'))
		return false;
	for (label = policy->labels; label != NULL; label = label->next)
		if (strcmp(label->name, word) == 0)
			return false;
	return true;
}

/* As `explain` takes a GPU, h200: NVIDIA's names have capitals. */
static bool
is_no_gpu(const char *word)
{
	return strpbrk(word, "*?ABCDEFGHIJKLMNOPQRSTUVWXYZ") == NULL;
}

/* Words that nothing is called by. */
static void
check_words(struct ac_parser *parser, const struct ac_rule *rule)
{
	const struct ac_condition *condition = rule->conditions;

	for (unsigned i = 0; i < rule->condition_count; i++, condition++) {
		if (condition->subject != AC_SUBJECT_FACT)
			continue;
		for (unsigned w = 0; w < condition->count; w++) {
			const char *word = condition->words[w];

			if (condition->which == AC_FACT_SITE
			    && is_no_site(parser->policy, word))
				ac_problem_warn(&parser->problems,
				    &rule->place, "no site is called '%s': an "
				    "id has 8 digits of 0123456789abcdef, a "
				    "name comes from 'site NAME = ID'", word);
			if (condition->which == AC_FACT_GPU && is_no_gpu(word))
				ac_problem_warn(&parser->problems,
				    &rule->place, "no GPU is called '%s': a "
				    "name is as 'nvidia-smi -L' prints it, "
				    "gpu=\"NVIDIA H200*\"", word);
		}
	}
}

/* A product is recomputed whole where it is off by more than 0.7 tol, and line
 * by line where a cast loses half of tol: a rung that errs by two thirds of it
 * on zero-mean data serves kinder data only. Of a profile once. */
static bool
check_room(struct ac_parser *parser, const struct ac_rule *rule)
{
	const struct ac_setting_value *tol = ac_rule_setting(parser->policy,
	    rule, AC_SET_TOL);
	struct ac_text text = AC_TEXT_OF(160);

	if (tol == NULL || rule->ask.guard == AC_GUARD_OFF)
		return false;
	for (unsigned i = 0; i < rule->rung_count; i++) {
		const enum ac_rung rung = rule->rungs[i];
		const double least = 1.5 * ac_rung_rows[rung].error;

		if (least <= tol->number)
			continue;
		ac_text_addf(&text, "tol=%s has most products of %s recomputed "
		    "in FP32: drop %s, or write tol=", tol->word,
		    ac_rung_names[rung], ac_rung_names[rung]);
		ac_text_add_double(&text, least, 3);
		ac_text_add(&text, " or more");
		ac_problem_warn(&parser->problems, rule->of_profile ?
		    &tol->place : &rule->rung_places[i], "%s", text.data);
		return true;
	}
	return false;
}

void
ac_check_cover(struct ac_parser *parser)
{
	const struct ac_rule *first = parser->policy->rules, *earlier, *later;
	bool said = false;
	unsigned steps = 0;

	for (later = first; later != NULL; later = later->next) {
		check_words(parser, later);
		check_conditions(parser, later);
		check_rungs(parser, later);
		if (!(said && later->of_profile))
			said |= check_room(parser, later) && later->of_profile;
	}
	for (later = first; later != NULL; later = later->next) {
		for (earlier = first; earlier != later; earlier = earlier->next)
			if (steps++ > MOST_STEPS ||
			    (may_complain(earlier, later) &&
			    covers(earlier, later, &steps)))
				break;
		if (steps > MOST_STEPS)
			return;
		if (earlier == later)
			continue;
		if (earlier->place.source == later->place.source)
			ac_problem_warn(&parser->problems, &later->place,
			    "this rule never decides: line %u already matches "
			    "all its calls", earlier->place.line);
		else
			ac_problem_warn(&parser->problems, &later->place,
			    "this rule never decides: %s:%u already matches "
			    "all its calls", earlier->place.source->name,
			    earlier->place.line);
	}
}
