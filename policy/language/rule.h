/* SPDX-License-Identifier: Apache-2.0 */
/* policy/language/rule.h -- a policy once it is parsed: frozen, read by any
 * thread. Written by the parser and by check.c only. For policy/ only. */
#ifndef AC_POLICY_RULE_H
#define AC_POLICY_RULE_H

#include "policy/language/arena.h"
#include "policy/language/names.h"
#include "policy/policy.h"

/* A text that statements come from. */
struct ac_source {
	const char             *name;      /* as diagnostics show it */
	const char             *path;      /* resolved, to see cycles; "" */
	const char             *text;
	size_t                  count;
	const struct ac_source *parent;    /* the text that includes this one */
	bool                    is_rules;  /* before the policy: -e and
	                                    * required lines */
	bool                    is_file;   /* includes are relative to it */
};

/* Where something stands. */
struct ac_spot {
	const struct ac_source *source;
	const char             *line_start, *at;
	uint32_t                line;
	unsigned                sequence;   /* of its statement */
};

enum ac_compare { AC_LESS, AC_AT_MOST, AC_MORE, AC_AT_LEAST, AC_SAME, AC_OTHER,
	AC_COMPARE_COUNT };
extern const char *const ac_compare_names[AC_COMPARE_COUNT];

enum ac_subject { AC_SUBJECT_QUANTITY, AC_SUBJECT_MIN, AC_SUBJECT_MAX,
	AC_SUBJECT_FACT };

struct ac_span {
	double      low, high;
	uint32_t    extent[3];    /* 3x3: one per dimension */
	unsigned    extents;      /* how many; 0: low..high counts */
	const char *word;         /* as written */
};

struct ac_condition {
	enum ac_subject       subject;
	enum ac_compare       compare;
	unsigned              which;      /* quantity or fact */
	uint32_t              sizes;      /* of min() and max(): quantities */
	unsigned              count;      /* values, >= 1 */
	const struct ac_span *spans;      /* NULL for a fact */
	const char *const    *words;      /* NULL for a quantity */
};

struct ac_setting_value {
	const char     *word;       /* without quotes; NULL: not set */
	double          number;
	struct ac_spot place;
};
struct ac_settings {
	struct ac_setting_value of[AC_SET_COUNT];
};

enum ac_action { AC_ACTION_KEEP, AC_ACTION_AUTO, AC_ACTION_RUNGS };

/* The settings of a rule after rule, `set`, profile and default were asked. */
struct ac_ask {
	double              tol;          /* 0: the rung's default */
	enum ac_asked_guard guard;
	enum ac_tactic      tactic;       /* NONE: auto */
	bool                judges_profit, respects_opt_out;
	bool                reproducible, advertises_workspace, learns;
	uint64_t            own;
	uint64_t            workspace_bytes;
};

struct ac_rule {
	struct ac_rule            *next;
	unsigned                   patterns;      /* bits of ac_patterns */
	unsigned                   operations;
	unsigned                   condition_count;
	const struct ac_condition *conditions;    /* the section's come first */
	enum ac_action             action;
	unsigned                   rung_count;
	enum ac_rung               rungs[AC_RUNG_COUNT];
	struct ac_spot            rung_places[AC_RUNG_COUNT]; /* [0]: action */
	struct ac_settings         own;
	const struct ac_settings  *defaults;      /* `set` lines above; NULL */
	struct ac_spot            place;
	bool                       of_profile;
	struct ac_ask              ask;
};

struct ac_site_label {
	struct ac_site_label *next;
	const char           *name;
	uint32_t              id;
};

/* A `seed` or an `update` line. */
struct ac_scaling_line {
	struct ac_scaling_line    *next;
	enum ac_scaling            kind;
	unsigned                   condition_count;
	const struct ac_condition *conditions;    /* the section's come first */
	struct ac_spot            place;
};

struct ac_policy {
	struct ac_arena           arena;
	struct ac_rule           *rules;       /* the profile's come last */
	struct ac_site_label     *labels;
	struct ac_scaling_line   *scalings;
	unsigned                  scale;       /* 2^scale; 0: no seed yet */
	const struct ac_settings *defaults;    /* after the last `set`; NULL */
	const struct ac_settings *profile_defaults;
	const char               *profile;     /* `otherwise`; NULL: none */
	bool                      is_off;
};

/* The value that counts for `rule`, or for the process where that is NULL; NULL
 * when it is not set. */
const struct ac_setting_value *ac_rule_setting(const struct ac_policy *policy,
    const struct ac_rule *rule, enum ac_setting which);

/* ---- parse_rule.c ------------------------------------------------------- */

/* Whether `rule` lists `rung` (auto lists all). */
bool ac_rule_allows(const struct ac_rule *rule, enum ac_rung rung);

/* ---- match.c: does a rule speak about an operation? -------------------- */

bool ac_rule_names(const struct ac_rule *rule, enum ac_operation operation);
bool ac_condition_holds(const struct ac_policy *policy,
    const struct ac_condition *condition, const struct ac_op *op);
/* The value a condition compares; false when the call lacks it. */
bool ac_condition_value(const struct ac_condition *condition,
    const struct ac_op *op, double *value_out);
/* The rule that decides about `op`, NULL if none does. */
const struct ac_rule *ac_rule_find(const struct ac_policy *policy,
    const struct ac_op *op);

/* Whether `caller` is one of NVIDIA's libraries. */
bool ac_caller_is_nvidia(const char *caller);
/* Whether one of the conditions says what `fact` is: only then is a library of
 * NVIDIA's meant, or what a program asks for in a region overruled. */
bool ac_conditions_name(const struct ac_condition *conditions, unsigned count,
    enum ac_fact fact);

/* ---- region.c: what does the program ask for in a region? --------------- */

/* Whether the region keeps the call, and `rule` (NULL: none) does not name
 * it. */
bool ac_region_keeps(const struct ac_rule *rule, const struct ac_op *op);
/* What decides about `op`: `rule`, or *own, which is it with the rungs of the
 * region in place of its own. */
const struct ac_rule *ac_rule_in_region(const struct ac_rule *rule,
    const struct ac_op *op, struct ac_rule *own);
/* A line about what the region asks for, if it does. */
void ac_region_explain(const struct ac_rule *rule, const struct ac_op *op,
    struct ac_text *text);

/* ---- rungs.c: which rungs may it use? ----------------------------------  */

enum ac_verdict {
	AC_VERDICT_FITS,
	AC_VERDICT_ILLEGAL,       /* the operation does not have it */
	AC_VERDICT_GPU,           /* the GPU does not have it */
	AC_VERDICT_INACCURATE,    /* known error above tol (only under auto) */
	AC_VERDICT_UNNAMED,       /* only for a line that names the operation */
	AC_VERDICT_TACTIC,        /* tactic= excludes it (under auto, or on
	                           * arrays of matrices) */
	AC_VERDICT_COUNT
};
enum ac_verdict ac_rung_judge(const struct ac_rule *rule,
    const struct ac_op *op, enum ac_rung rung);
/* The tolerance of `rung` under `rule`. */
double ac_rule_tol(const struct ac_rule *rule, enum ac_rung rung);
/* What results of `rung` are held to: of one by parts no more than its own
 * default, however little is asked for. */
double ac_rung_tol(const struct ac_rule *rule, enum ac_rung rung);
/* How `rung` would be done for `op`. */
enum ac_tactic ac_rung_tactic(const struct ac_rule *rule,
    const struct ac_op *op, enum ac_rung rung);

/* ---- explain.c --------------------------------------------------------- */

/* What `op` has where `condition` asks for something else: "no: m is 3". */
void ac_condition_object(const struct ac_condition *condition,
    const struct ac_op *op, struct ac_text *text);

/* ---- print.c ------------------------------------------------------------ */

void ac_condition_print(const struct ac_condition *condition,
    struct ac_text *text);
/* Patterns, conditions, action and own settings, without a line end. */
void ac_rule_print(const struct ac_rule *rule, struct ac_text *text);
/* A `seed` or `update` line, without a line end. */
void ac_scaling_print(const struct ac_policy *policy,
    const struct ac_scaling_line *line, struct ac_text *text);

#endif
