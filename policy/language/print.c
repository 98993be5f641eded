/* SPDX-License-Identifier: Apache-2.0 */
/* policy/language/print.c -- a frozen policy back as text.
 * Parsing what this prints gives a policy that decides the same. Pure. */
#include "policy/language/rule.h"

#include "base/text.h"
#include "policy/language/lex.h"

#include <string.h>

static void
print_word(const char *word, struct ac_text *text)
{
	if (ac_lex_is_word(word)) {
		ac_text_add(text, word);
		return;
	}
	ac_text_add(text, "\"");
	for (; *word != '\0'; word++) {
		if (*word == '"' || *word == '\\')
			ac_text_add(text, "\\");
		ac_text_add_bytes(text, word, 1);
	}
	ac_text_add(text, "\"");
}

static void
print_sizes(const struct ac_condition *condition, struct ac_text *text)
{
	const char *separator = "(";

	ac_text_add(text, condition->subject == AC_SUBJECT_MIN ? "min" : "max");
	for (unsigned q = 0; q < AC_Q_COUNT; q++) {
		if (!(condition->sizes >> q & 1))
			continue;
		ac_text_addf(text, "%s%s", separator, ac_quantity_names[q]);
		separator = ",";
	}
	ac_text_add(text, ")");
}

void
ac_condition_print(const struct ac_condition *condition, struct ac_text *text)
{
	if (condition->subject == AC_SUBJECT_FACT)
		ac_text_add(text, ac_fact_names[condition->which]);
	else if (condition->subject == AC_SUBJECT_QUANTITY)
		ac_text_add(text, ac_quantity_names[condition->which]);
	else
		print_sizes(condition, text);
	ac_text_add(text, ac_compare_names[condition->compare]);
	for (unsigned i = 0; i < condition->count; i++) {
		if (i > 0)
			ac_text_add(text, ",");
		if (condition->subject == AC_SUBJECT_FACT)
			print_word(condition->words[i], text);
		else
			ac_text_add(text, condition->spans[i].word);
	}
}

/* The settings of `settings` that `before` does not have just so. */
static void
print_settings(const struct ac_settings *settings,
    const struct ac_settings *before, struct ac_text *text)
{
	for (unsigned i = 0; i < AC_SET_COUNT; i++) {
		if (settings->of[i].word == NULL || (before != NULL &&
		    before->of[i].word == settings->of[i].word))
			continue;
		ac_text_addf(text, " %s=", ac_setting_names[i]);
		print_word(settings->of[i].word, text);
	}
}

void
ac_rule_print(const struct ac_rule *rule, struct ac_text *text)
{
	const char *separator = "";

	for (unsigned i = 0; i < AC_PATTERN_COUNT; i++) {
		if (!(rule->patterns >> i & 1))
			continue;
		ac_text_addf(text, "%s%s", separator, ac_patterns[i].name);
		separator = ",";
	}
	for (unsigned i = 0; i < rule->condition_count; i++) {
		ac_text_add(text, " ");
		ac_condition_print(&rule->conditions[i], text);
	}
	ac_text_add(text, " -> ");
	if (rule->action != AC_ACTION_RUNGS)
		ac_text_add(text, rule->action == AC_ACTION_KEEP ? "keep" :
		    "auto");
	for (unsigned i = 0; i < rule->rung_count; i++)
		ac_text_addf(text, "%s%s", i > 0 ? "," : "",
		    ac_rung_names[rule->rungs[i]]);
	print_settings(&rule->own, NULL, text);
}

static void
print_set(const struct ac_settings *settings, const struct ac_settings *before,
    struct ac_text *text)
{
	if (settings == before || settings == NULL)
		return;
	ac_text_add(text, "set");
	print_settings(settings, before, text);
	ac_text_add(text, "\n");
}

void
ac_scaling_print(const struct ac_policy *policy,
    const struct ac_scaling_line *line, struct ac_text *text)
{
	ac_text_add(text, ac_scaling_names[line->kind]);
	for (unsigned i = 0; i < line->condition_count; i++) {
		ac_text_add(text, " ");
		ac_condition_print(&line->conditions[i], text);
	}
	if (line->kind == AC_SCALING_SEED)
		ac_text_addf(text, " -> scale=2^%u", policy->scale);
	else
		ac_text_add(text, " -> unscale");
}

void
ac_policy_print_scaling(const struct ac_policy *policy, struct ac_text *text)
{
	const struct ac_scaling_line *line;

	for (line = policy->scalings; line != NULL; line = line->next) {
		ac_scaling_print(policy, line, text);
		ac_text_add(text, "\n");
	}
}

void
ac_policy_print(const struct ac_policy *policy, struct ac_text *text)
{
	const struct ac_settings *before = NULL;
	const struct ac_site_label *label;
	const struct ac_rule *rule;

	ac_text_addf(text, "version %d\n", policy->scalings != NULL ? 2 : 1);
	for (label = policy->labels; label != NULL; label = label->next)
		ac_text_addf(text, "site %s = %08x\n", label->name, label->id);
	ac_policy_print_scaling(policy, text);
	for (rule = policy->rules; rule != NULL && !rule->of_profile;
	    rule = rule->next) {
		print_set(rule->defaults, before, text);
		before = rule->defaults;
		ac_rule_print(rule, text);
		ac_text_add(text, "\n");
	}
	print_set(policy->defaults, before, text);
	if (policy->profile != NULL)
		ac_text_addf(text, "otherwise %s\n", policy->profile);
}
