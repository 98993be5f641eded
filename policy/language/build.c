/* SPDX-License-Identifier: Apache-2.0 */
/* policy/language/build.c -- from texts to a frozen policy: -e lines, the
 * policy, the profile it ends with. Nothing changes a policy after it
 * returned. */
#include "policy/language/parse.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

/* ---- Sources ------------------------------------------------------------ */

/* `set` lines reach on into the next text, sections do not. */
static void
parse_source(struct ac_parser *parser, const struct ac_source *source)
{
	if (source == NULL)
		return;
	parser->section_count = 0;
	parser->source_count++;
	ac_parse_source(parser, source);
}

static void
parse_rules(struct ac_parser *parser, const struct ac_wanted *wanted)
{
	const char *rules = wanted->rules;
	struct ac_source *source;

	if (rules == NULL || *rules == '\0')
		return;
	source = ac_source_make(parser, wanted->rules_name ? wanted->rules_name
	    : "-e", "", rules, strlen(rules));
	if (source != NULL)
		source->is_rules = true;
	parse_source(parser, source);
}

static void
parse_file(struct ac_parser *parser, const char *name, bool is_rules)
{
	const char *why = NULL;
	struct ac_spot nowhere = { 0 };
	struct ac_source *source;
	int error;

	source = ac_source_read(parser, name, &why, &error);
	if (source == NULL) {
		nowhere.source = ac_source_make(parser, name, "", "", 0);
		if (nowhere.source != NULL)
			ac_problem_error(&parser->problems, &nowhere, "%s",
			    why);
	} else {
		source->is_rules = is_rules;
	}
	parse_source(parser, source);
}

static void
parse_text(struct ac_parser *parser, const struct ac_wanted *wanted)
{
	struct ac_source *source = ac_source_make(parser, wanted->name, "",
	    wanted->text, wanted->count);

	if (source != NULL)
		source->is_file = wanted->is_file;
	parse_source(parser, source);
}

static void
parse_profile(struct ac_parser *parser)
{
	const char *name = parser->policy->profile;
	const char *text;

	if (name == NULL)
		return;
	text = ac_policy_profile_text(name);
	parser->in_profile = true;
	parser->has_otherwise = false;
	parse_source(parser, ac_source_make(parser, name, "", text,
	    strlen(text)));
}

/* ---- Building ------------------------------------------------------------ */

static void
parse_all(struct ac_parser *parser, const struct ac_wanted *wanted)
{
	if (wanted->required != NULL)
		parse_file(parser, wanted->required, true);
	parse_rules(parser, wanted);
	switch (wanted->kind) {
	case AC_WANTED_PROFILE:
		parser->policy->profile = wanted->name;
		break;
	case AC_WANTED_FILE:
		parse_file(parser, wanted->name, false);
		break;
	case AC_WANTED_TEXT:
		parse_text(parser, wanted);
		break;
	}
	parse_profile(parser);
	if (!parser->out_of_memory)
		ac_check_policy(parser);
}

static void
refuse_size(struct ac_parser *parser)
{
	static const struct ac_source source = { .name = "policy", .path = "",
		.text = "" };
	const struct ac_spot nowhere = { .source = &source,
		.sequence = parser->sequence };

	ac_problem_error(&parser->problems, &nowhere, "too large, or there is "
	    "no memory for it");
}

struct ac_policy *
ac_policy_build(const struct ac_wanted *wanted,
    struct ac_policy_problems *problems)
{
	struct ac_parser *parser = calloc(1, sizeof(*parser));
	struct ac_policy *policy = calloc(1, sizeof(*policy));
	bool good = false;

	if (parser != NULL && policy != NULL) {
		parser->policy = policy;
		parser->slip = problems->slip;
		parser->rule_end = &policy->rules;
		parser->label_end = &policy->labels;
		parser->scaling_end = &policy->scalings;
		parse_all(parser, wanted);
		if (parser->out_of_memory)
			refuse_size(parser);
		else if (problems->check != NULL &&
		    parser->problems.errors == 0)
			problems->check(parser);
		good = parser->problems.errors == 0;
		ac_problem_report(&parser->problems, problems);
	} else {
		problems->errors++;
		if (problems->text != NULL)
			ac_text_add(problems->text,
			    "policy: there is no memory for it\n");
	}
	free(parser);
	if (good)
		return policy;
	ac_policy_destroy(policy);
	return NULL;
}

struct ac_policy *
ac_policy_parse(const char *rules, const char *text, size_t count,
    const char *name, struct ac_policy_problems *problems)
{
	const struct ac_wanted wanted = { .kind = AC_WANTED_TEXT, .name = name,
		.text = text, .count = count, .is_file = true,
		.rules = rules };

	return ac_policy_build(&wanted, problems);
}

void
ac_policy_destroy(struct ac_policy *policy)
{
	if (policy == NULL)
		return;
	ac_arena_release(&policy->arena);
	free(policy);
}
