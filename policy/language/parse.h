/* SPDX-License-Identifier: Apache-2.0 */
/* policy/language/parse.h -- the parser's workspace, shared by the files that
 * parse. One thread, while a policy loads, once: what is cold is built small.
 * For policy/ only. */
#ifndef AC_POLICY_PARSE_H
#define AC_POLICY_PARSE_H

#include "policy/language/lex.h"
#include "policy/language/number.h"
#include "policy/language/problems.h"
#include "policy/language/rule.h"

/* Bounds. A text beyond one of them is an error, never a slow load. */
enum {
	AC_MOST_RULES = 4096,
	AC_MOST_LABELS = 4096,
	AC_MOST_SCALINGS = 256,      /* seed and update lines */
	AC_MOST_CONDITIONS = 64,     /* of one rule, its section's included */
	AC_MOST_VALUES = 256,        /* of one condition */
	AC_MOST_SOURCES = 64,        /* texts, over all includes */
	AC_MOST_INCLUDES = 8,        /* texts inside each other */
	AC_LONGEST_VALUE = 255,      /* bytes of a word or string */
	AC_LONGEST_LABEL = 31,
	AC_LARGEST_EXTENT = 65535,
	AC_LARGEST_SCALE = 24        /* exponent of a seed's power of two */
};

struct ac_parser {
	struct ac_policy        *policy;
	struct ac_problem_list   problems;
	const struct ac_source  *source;
	struct ac_lexer          lexer;
	struct ac_token          token;       /* the one to look at */
	struct ac_token          before;      /* the one just taken */
	unsigned                 sequence;    /* statements so far */
	unsigned                 version;     /* of the language, below */
	unsigned                 rule_count, label_count, source_count;
	unsigned                 scaling_count;
	struct ac_rule         **rule_end;
	struct ac_site_label   **label_end;
	struct ac_scaling_line **scaling_end;
	bool                     in_profile;
	bool                     has_otherwise, complained_after_otherwise;
	struct ac_spot          otherwise;
	bool                     out_of_memory;

	struct ac_condition      section[AC_MOST_CONDITIONS];
	unsigned                 section_count;

	struct ac_condition      conditions[AC_MOST_CONDITIONS];
	unsigned                 condition_count;
	struct ac_span           spans[AC_MOST_VALUES];
	const char              *words[AC_MOST_VALUES];
	struct ac_settings       settings;
	/* Of struct ac_policy_problems. */
	const char            *(*slip)(enum ac_slip_place place,
	    const char *text, size_t length);
	char                     hint[384], spelling[128];
};

/* Take the token in parser->token and look at the next. */
void ac_parser_advance(struct ac_parser *parser);
bool ac_parser_is(const struct ac_parser *parser, enum ac_token_kind kind);
/* At a line end, a semicolon or the end of the text. */
bool ac_parser_at_end(const struct ac_parser *parser);
struct ac_spot ac_parser_spot(const struct ac_parser *parser,
    const struct ac_token *token);

/* An error at `token`; returns false, so that it can be returned. */
__attribute__((format(printf, 3, 4)))
bool ac_parser_fail(struct ac_parser *parser, const struct ac_token *token,
    const char *format, ...);
/* "; write fp16" where it is known what is meant at `place`, else "". This and
 * the next two live until the next call of one of them. */
const char *ac_parser_slip(struct ac_parser *parser, enum ac_slip_place place,
    const struct ac_token *token);
/* The same, or " (did you mean 'fp16'?)", or "" when nothing is near. */
const char *ac_parser_hint(struct ac_parser *parser, enum ac_slip_place place,
    const struct ac_token *token, const char *const *names, size_t count);
/* The same, or else all of `names`: " (one of: gemm conv)". */
const char *ac_parser_names(struct ac_parser *parser, enum ac_slip_place place,
    const struct ac_token *token, const char *const *names, size_t count);
/* What stands at the token, quoted. Lives until the next call. */
const char *ac_parser_spell(struct ac_parser *parser);
/* Whether exactly `s` stands at the token. */
bool ac_parser_reads(const struct ac_parser *parser, const char *s);
/* Whether the statement ends here; an error if it does not. */
bool ac_parser_end_statement(struct ac_parser *parser);
/* Memory of the policy; NULL makes the whole load fail. */
void *ac_parser_take(struct ac_parser *parser, size_t bytes);
/* The word or string in `token` without quotes, NUL-terminated. NULL: too long
 * (said) or no memory. */
const char *ac_parser_value(struct ac_parser *parser,
    const struct ac_token *token);

/* Parse all of `source` where its statements belong: at once, textually. */
void ac_parse_source(struct ac_parser *parser, const struct ac_source *source);

/* ---- parse_statement.c, parse_rule.c ------------------------------------- */

bool ac_parse_statement(struct ac_parser *parser);
bool ac_parse_rule(struct ac_parser *parser);
/* The conditions up to '->', the section's before them, into the workspace;
 * `families` are what the line, which starts at `first`, speaks of. */
bool ac_parse_conditions(struct ac_parser *parser,
    const struct ac_token *first, unsigned families);
/* Those in the workspace, where they stay; NULL: no memory. */
const struct ac_condition *ac_parser_keep(struct ac_parser *parser);

/* ---- parse_scaling.c --------------------------------------------------- */

bool ac_parse_seed(struct ac_parser *parser);
bool ac_parse_update(struct ac_parser *parser);
/* Whether seeds and updates go together. */
void ac_check_scaling(struct ac_parser *parser);

/* ---- parse_condition.c ------------------------------------------------- */

/* The number that `length` bytes of the token are, from `s` on. */
bool ac_parse_number(struct ac_parser *parser, const char *s, size_t length,
    enum ac_number_kind kind, double *value_out);
/* One condition into *condition_out; its families into *families_out. */
__attribute__((cold))
bool ac_parse_condition(struct ac_parser *parser,
    struct ac_condition *condition_out, unsigned *families_out);
unsigned ac_condition_families(const struct ac_condition *condition);

/* ---- parse_setting.c --------------------------------------------------- */

/* KEY=VALUE as long as there are any, into *settings (which keeps others). */
__attribute__((cold))
bool ac_parse_settings(struct ac_parser *parser, struct ac_settings *settings,
    unsigned *count_out);

/* ---- parse_include.c --------------------------------------------------- */

/* Read and parse the file `token` (a string) names. */
bool ac_parse_include(struct ac_parser *parser, const struct ac_token *token);

/* A source whose text lives as long as the policy; its `path` may be "". */
struct ac_source *ac_source_make(struct ac_parser *parser, const char *name,
    const char *path, const char *bytes, size_t count);
/* Read a file as a source called `name`. NULL: as ac_file_read(). */
struct ac_source *ac_source_read(struct ac_parser *parser, const char *name,
    const char **why_out, int *errno_out);

/* ---- build.c ------------------------------------------------------------ */

/* What to build a policy from. */
enum ac_wanted_kind { AC_WANTED_PROFILE, AC_WANTED_FILE, AC_WANTED_TEXT };
struct ac_wanted {
	enum ac_wanted_kind kind;
	const char         *name;      /* profile (from ac_profile_names), path,
	                                * or what to call the text */
	const char         *text;      /* of AC_WANTED_TEXT */
	size_t              count;
	bool                is_file;   /* text: its includes are relative */
	const char         *rules;     /* -e lines; NULL or "": none */
	const char         *rules_name; /* NULL: "-e" */
	const char         *required;  /* file whose lines stand before them;
	                                * NULL: none */
};
struct ac_policy *ac_policy_build(const struct ac_wanted *wanted,
    struct ac_policy_problems *problems);

/* ---- check.c ------------------------------------------------------------ */

/* What only the whole policy shows: tolerances, tactics. Also resolves the
 * settings of every rule. */
__attribute__((cold))
void ac_check_policy(struct ac_parser *parser);

/* ---- file.c ------------------------------------------------------------- */

/* Read a regular file of at most 1 MiB. NULL: *why_out says why not; otherwise
 * malloc'ed bytes, *count_out of them. Never waits. */
char *ac_file_read(const char *path, size_t *count_out, const char **why_out,
    int *errno_out);

#endif
