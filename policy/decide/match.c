/* SPDX-License-Identifier: Apache-2.0 */
/* policy/decide/match.c -- does a rule match an operation?
 * Pure; shared by the decision and its explanation. */
#include "policy/language/rule.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

bool
ac_rule_names(const struct ac_rule *rule, enum ac_operation operation)
{
	return rule->operations >> operation & 1;
}

/* ---- Quantities --------------------------------------------------------- */

/* Taken apart as ac_op_set_extents() put them together; a plain number is the
 * same extent in every dimension. */
static unsigned
take_extents(double value, uint32_t *extents_out)
{
	const uint64_t bits = value > 0 ? (uint64_t)value : 0;
	unsigned count = 1;

	extents_out[0] = bits & 0xffff;
	for (; count < 3 && bits >> (16 * count) != 0; count++)
		extents_out[count] = bits >> (16 * count) & 0xffff;
	return count;
}

/* A quantity as one number: the largest extent of those that have several. */
static double
as_number(const struct ac_op *op, unsigned q)
{
	uint32_t extents[3], largest = 0;
	unsigned count;

	if (!ac_quantity_has_extents(q))
		return op->quantity[q];
	count = take_extents(op->quantity[q], extents);
	for (unsigned i = 0; i < count; i++)
		if (extents[i] > largest)
			largest = extents[i];
	return largest;
}

bool
ac_condition_value(const struct ac_condition *condition,
    const struct ac_op *op, double *value_out)
{
	const bool is_min = condition->subject == AC_SUBJECT_MIN;
	double value = 0, best = 0;
	bool first = true;

	if (condition->subject == AC_SUBJECT_QUANTITY) {
		if (!ac_op_has(op, condition->which))
			return false;
		*value_out = as_number(op, condition->which);
		return true;
	}
	for (unsigned q = 0; q < AC_Q_COUNT; q++) {
		if (!(condition->sizes >> q & 1))
			continue;
		if (!ac_op_has(op, q))
			return false;
		value = as_number(op, q);
		if (first || (is_min ? value < best : value > best))
			best = value;
		first = false;
	}
	*value_out = best;
	return true;
}

static bool
compares(enum ac_compare compare, double value, const struct ac_span *span)
{
	switch (compare) {
	case AC_LESS:
		return value < span->low;
	case AC_AT_MOST:
		return value <= span->low;
	case AC_MORE:
		return value > span->low;
	case AC_AT_LEAST:
		return value >= span->low;
	default:
		return span->low <= value && value <= span->high;
	}
}

/* Every extent must satisfy the comparison. */
static bool
extents_compare(enum ac_compare compare, const uint32_t *extents,
    unsigned count, const struct ac_span *span)
{
	if (span->extents != 0 && count > 1 && count != span->extents)
		return false;
	if (span->extents > count)
		count = span->extents;
	for (unsigned i = 0; i < count; i++) {
		if (span->extents == 0
		    ? !compares(compare, extents[i], span)
		    : extents[i] != span->extent[i])
			return false;
	}
	return true;
}

static bool
wide_spans_hold(const struct ac_condition *condition, const struct ac_op *op)
{
	uint32_t extents[3] = { 0 };
	unsigned count;

	count = take_extents(op->quantity[condition->which], extents);
	for (unsigned i = count; count == 1 && i < 3; i++)
		extents[i] = extents[0];
	for (unsigned i = 0; i < condition->count; i++)
		if (extents_compare(condition->compare, extents, count,
		    &condition->spans[i]))
			return true;
	return false;
}

static inline bool
any_span_holds(const struct ac_condition *condition, double value)
{
	bool any = false;

	for (unsigned i = 0; i < condition->count && !any; i++)
		any = compares(condition->compare, value, &condition->spans[i]);
	return any;
}

static bool
spans_hold(const struct ac_condition *condition, const struct ac_op *op,
    double value)
{
	if (condition->subject == AC_SUBJECT_QUANTITY &&
	    ac_quantity_has_extents(condition->which))
		return wide_spans_hold(condition, op);
	return any_span_holds(condition, value);
}

/* ---- Facts -------------------------------------------------------------- */

/* The name a `site` line gives to the site whose id is written `id`. */
static const char *
site_label(const struct ac_policy *policy, const char *id)
{
	uint64_t value;

	return ac_text_digits(id, &value) == 8 && id[8] == '\0' ?
	    ac_policy_site_name(policy, (uint32_t)value) : NULL;
}

/* A function as a program's text has it: the header adds the "_v2". */
static const char *
as_written(const char *fn, char *buffer, size_t size)
{
	const char *version = strstr(fn, "_v2");
	const int before = version ? (int)(version - fn) : 0;

	if (!version || strlen(fn) >= size)
		return NULL;
	(void)snprintf(buffer, size, "%.*s%s", before, fn, version + 3);
	return buffer;
}

static bool
words_hold(const struct ac_policy *policy,
    const struct ac_condition *condition, const struct ac_op *op)
{
	const char *fact = op->fact[condition->which], *label = NULL;
	char buffer[64];

	if (condition->which == AC_FACT_SITE)
		label = site_label(policy, fact);
	else if (condition->which == AC_FACT_CALLER)
		label = op->place;
	else if (condition->which == AC_FACT_FN)
		label = as_written(fact, buffer, sizeof buffer);
	for (unsigned i = 0; i < condition->count; i++)
		if (ac_text_glob(condition->words[i], fact) ||
		    (label != NULL &&
		    ac_text_glob(condition->words[i], label)))
			return true;
	return false;
}

/* ---- Conditions and rules ----------------------------------------------- */

/* Of a quantity that is one number, as most are: every rule asks for some. */
static bool
number_holds(const struct ac_condition *condition, const struct ac_op *op)
{
	return any_span_holds(condition, op->quantity[condition->which])
	    != (condition->compare == AC_OTHER);
}

static __attribute__((noinline)) bool
words_or_extents_hold(const struct ac_policy *policy,
    const struct ac_condition *condition, const struct ac_op *op)
{
	double value;
	bool any;

	if (condition->subject == AC_SUBJECT_FACT) {
		if (op->fact[condition->which] == NULL)
			return false;
		any = words_hold(policy, condition, op);
	} else {
		if (!ac_condition_value(condition, op, &value))
			return false;
		any = spans_hold(condition, op, value);
	}
	return condition->compare == AC_OTHER ? !any : any;
}

bool
ac_condition_holds(const struct ac_policy *policy,
    const struct ac_condition *condition, const struct ac_op *op)
{
	if (condition->subject != AC_SUBJECT_QUANTITY ||
	    ac_quantity_has_extents(condition->which))
		return words_or_extents_hold(policy, condition, op);
	return ac_op_has(op, condition->which) && number_holds(condition, op);
}

const struct ac_rule *
ac_rule_find(const struct ac_policy *policy, const struct ac_op *op)
{
	const struct ac_rule *rule;
	unsigned i;

	for (rule = policy->rules; rule != NULL; rule = rule->next) {
		if (!ac_rule_names(rule, op->operation))
			continue;
		for (i = 0; i < rule->condition_count; i++)
			if (!ac_condition_holds(policy, &rule->conditions[i],
			    op))
				break;
		if (i == rule->condition_count)
			return rule;
	}
	return NULL;
}

const char *
ac_policy_site_name(const struct ac_policy *policy, uint32_t id)
{
	const struct ac_site_label *label;

	for (label = policy->labels; label != NULL; label = label->next)
		if (label->id == id)
			return label->name;
	return NULL;
}

/* ---- Callers ----------------------------------------------------------- */

static const char *
base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash == NULL ? path : slash + 1;
}

bool
ac_caller_is_nvidia(const char *caller)
{
	static const char *const globs[] = { "libcublas*", "libcudnn*",
		"libcusolver*", "libcusparse*", "libcufft*", "libnv*" };

	for (size_t i = 0; i < sizeof(globs) / sizeof(globs[0]); i++)
		if (ac_text_glob(globs[i], base_name(caller)))
			return true;
	return false;
}

bool
ac_conditions_name(const struct ac_condition *conditions, unsigned count,
    enum ac_fact fact)
{
	const struct ac_condition *condition;

	for (unsigned i = 0; i < count; i++) {
		condition = &conditions[i];
		if (condition->subject == AC_SUBJECT_FACT &&
		    condition->which == fact &&
		    condition->compare == AC_SAME)
			return true;
	}
	return false;
}
