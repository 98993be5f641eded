/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/run/chosen.c -- from --policy and -e to a loaded policy. */
#include "cmd/command.h"
#include "base/env.h"
#include "report/read/read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RULES_BYTES = 1 << 16, PROBLEMS_BYTES = 1 << 18 };

void
ac_chosen_add_rule(struct ac_chosen *chosen, const char *rule)
{
	if (!chosen->rules.data)
		chosen->rules = ac_say_buffer(RULES_BYTES);
	if (chosen->rules.used)
		ac_text_add(&chosen->rules, "\n");
	ac_text_add(&chosen->rules, rule);
}

struct ac_policy *
ac_chosen_load(const struct ac_chosen *chosen,
    struct ac_policy_origin *origin_out)
{
	struct ac_text text = ac_say_buffer(PROBLEMS_BYTES);
	struct ac_policy_problems problems = { .text = &text,
		.who = chosen->who, .check = ac_check_cover,
		.slip = ac_slip_find };
	struct ac_policy *policy;

	policy = ac_policy_load(chosen->policy, chosen->rules.data, &problems,
	    origin_out);
	fputs(text.data, stderr);
	free(text.data);
	return policy;
}

bool
ac_chosen_print(const struct ac_chosen *chosen, struct ac_text *text)
{
	struct ac_policy_problems problems = { .text = NULL };
	struct ac_policy_origin origin;
	struct ac_policy *policy = ac_policy_load(chosen->policy,
	    chosen->rules.data, &problems, &origin);
	const bool done = policy != NULL;

	if (done)
		ac_policy_print(policy, text);
	ac_policy_destroy(policy);
	return done && !text->truncated;
}

char *
ac_chosen_absolute(const char *policy)
{
	char *absolute = NULL;

	if (!strstr(policy, "->") && !ac_policy_profile_text(policy))
		absolute = realpath(policy, NULL);
	return absolute ? absolute : ac_say_memory(strdup(policy));
}

void
ac_chosen_name(struct ac_text *text, const char *policy, size_t number)
{
	if (!strstr(policy, "->"))
		ac_text_add_clean(text, basename(policy));
	if (text->used && !text->truncated)
		return;
	ac_text_init(text, text->data, text->size);
	ac_text_addf(text, "policy %zu", number);
}
