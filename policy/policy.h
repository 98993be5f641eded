/* SPDX-License-Identifier: Apache-2.0 */
/* policy/policy.h -- the interface of policy/: text in, decisions out.
 *
 * A policy is parsed once into a frozen object: nothing allocates, reads a
 * clock or does I/O after ac_policy_load*() returned, so ac_policy_decide()
 * may be called from any thread at any time. A frozen policy is never freed
 * in the preloaded library; tools and tests free theirs. */
#ifndef AC_POLICY_POLICY_H
#define AC_POLICY_POLICY_H

#include "policy/op.h"

#include <stddef.h>

struct ac_text;
struct ac_policy;
struct ac_parser;

enum ac_asked_guard { AC_GUARD_OFF, AC_GUARD_ON, AC_GUARD_STRICT };

enum { AC_CANDIDATES = 4 };

/* One way to run an operation in lower precision. */
struct ac_candidate {
	enum ac_rung   rung;
	enum ac_tactic tactic;
	double         tol;             /* that applies to this rung */
	double         seconds;         /* predicted; 0: not known */
	uint32_t       chunk;           /* of K, in one call; 0: all */
};

/* What to do with one operation, and which line said so. `rung`, `tactic` and
 * `tol` are those of candidate[0], if there is one. */
struct ac_decision {
	enum ac_rung   rung;            /* AC_RUNG_KEEP: the original call */
	enum ac_tactic tactic;          /* AC_TACTIC_NONE when kept */
	enum ac_reason reason;          /* AC_REASON_NONE unless kept */
	const char    *source;          /* of the rule: a file, a profile,
	                                 * "-e" or AUTOCAST_RULES; "" for
	                                 * no-rule */
	uint32_t       line;            /* 1-based line there; 0 for no-rule */
	double         tol;             /* the tolerance that applies */
	bool           respects_opt_out;
	uint64_t       workspace_bytes; /* workspace=; 0: the default limit */
	enum ac_asked_guard guard;      /* guard= */
	bool           judges_profit;   /* profit=on */
	bool           reproducible;    /* reproducible=on; or learn=on, under
	                                 * which nothing serves anyway */
	bool           learns;          /* learn=on: the original call serves,
	                                 * candidates are measured next to it */
	bool           advertises_workspace; /* conv-workspace=advertise: the
	                                 * answer to the program is what the
	                                 * recast needs; false: own memory */
	uint64_t       own;             /* own=: of a place, its first calls are
	                                 * the program's */
	/* The allowed rungs that are legal here and accurate enough, best
	 * first: fastest as predicted under profit=on, as named under
	 * profit=off. A predicted loss that might be none (down to a quarter of
	 * the speed) is a candidate too, behind the others, under guard=on
	 * without reproducible=on: where there are trials. */
	unsigned       candidate_count;
	struct ac_candidate candidate[AC_CANDIDATES];
	double         keep_seconds;    /* predicted, of the original call; 0:
	                                 * not known */
	double         apart_seconds;   /* predicted: what a cast takes more
	                                 * where a call adds to C; 0: nothing,
	                                 * or each call takes it */
	bool           is_doubtful;     /* every candidate is predicted to gain
	                                 * less than a tenth: tried late */
};

/* ---- Loading ----------------------------------------------------------- */

/* Where something stands that does not belong there. */
enum ac_slip_place {
	AC_SLIP_NONE,
	AC_SLIP_OPERATION, AC_SLIP_CONDITION, AC_SLIP_KEY, AC_SLIP_COMPARISON,
	AC_SLIP_ACTION, AC_SLIP_SETTING, AC_SLIP_VALUE, AC_SLIP_PROFILE
};

/* A diagnostic in the form of doc/design.md D3 ("file:line:column: message",
 * the line, a caret), errors and warnings, in order of appearance, appended to
 * `text`. */
struct ac_policy_problems {
	unsigned        errors, warnings;
	struct ac_text *text;           /* may be NULL: count only */
	const char     *who;            /* chose the policy; NULL: --policy */
	/* ac_check_cover() where a person asked about the policy; NULL in every
	 * process that follows it. */
	void          (*check)(struct ac_parser *parser);
	/* ac_slip_find(), there alone as well. */
	const char   *(*slip)(enum ac_slip_place place, const char *text,
	    size_t length);
};

/* Warn of rules that can never decide: each is compared with all before it, and
 * its sites with what can be one. */
void ac_check_cover(struct ac_parser *parser);

/* What to write instead of the `length` bytes at `text`; "": nothing that is
 * spelt alike; NULL: not known. */
const char *ac_slip_find(enum ac_slip_place place, const char *text,
    size_t length);

/* Where the policy in force came from. */
struct ac_policy_origin {
	char name[256];     /* profile name, path or "AUTOCAST_POLICY" */
	char why[256];      /* "AUTOCAST_POLICY names the profile 'fp16'" */
	bool chosen;        /* false: the default applies */
};

/* Parse `count` bytes of `text` as one policy called `name` (shown in
 * diagnostics; includes are relative to its directory), `rules` (may be NULL
 * or "") being the -e lines that come before it. Returns NULL if there are
 * errors or memory is short, the problems appended to *problems either way. */
struct ac_policy *ac_policy_parse(const char *rules, const char *text,
    size_t count, const char *name, struct ac_policy_problems *problems);

/* Find and load the policy that the order of doc/design.md D2 selects:
 * `chosen` is the value of --policy or NULL (then the environment
 * decides), `rules` the -e lines or NULL (then AUTOCAST_RULES holds them).
 * Reads files; never the current directory unless named. NULL on errors.
 * *origin_out is always set. */
struct ac_policy *ac_policy_load(const char *chosen, const char *rules,
    struct ac_policy_problems *problems, struct ac_policy_origin *origin_out);

/* Tell the files that are looked for: the lines that a site requires before any
 * policy, the user's policy, the system's. A path is "" where there is no place
 * for one. */
enum { AC_POLICY_PLACES = 3 };
void ac_policy_places(void (*tell)(const char *path, bool is_there,
    void *context), void *context);

void ac_policy_destroy(struct ac_policy *policy);

/* The names of the built-in profiles, as a sentence lists them. */
#define AC_POLICY_PROFILES "off, tf32, fp16, bf16, accurate or amp"

/* The text of a built-in profile, NULL if there is none of that name. */
const char *ac_policy_profile_text(const char *name);

/* ---- Asking ------------------------------------------------------------ */

/* Decide about `op`. Pure. Legality is judged by op's sm quantity (an op
 * without one is on an unknown GPU: every rung is illegal there). Does not
 * judge what only a caller can know (contexts, overlap, memory). */
void ac_policy_decide(const struct ac_policy *policy, const struct ac_op *op,
    struct ac_decision *decision_out);

/* Add to a decision to keep what the call takes, for a report. */
void ac_policy_estimate(const struct ac_op *op, struct ac_decision *decision);

/* Keep the call after all, for what only a caller can know. */
void ac_decision_keep(struct ac_decision *decision, enum ac_reason reason);

/* What each rule of the policy thinks of `op`, for `autocast explain`: one
 * line per rule up to the deciding one, with the first condition that fails,
 * then the decision and why the rung was chosen. Appended to `text`. */
void ac_policy_explain(const struct ac_policy *policy, const struct ac_op *op,
    struct ac_text *text);

/* Whether no rule can ever recast (profile off): callers may skip asking. */
bool ac_policy_is_off(const struct ac_policy *policy);

/* What `seed` and `update` lines do to a call on vectors: multiply its scalar
 * by 2^scale, or by 2^-scale. */
enum ac_scaling { AC_SCALING_NONE, AC_SCALING_SEED, AC_SCALING_UPDATE,
	AC_SCALING_COUNT };
extern const char *const ac_scaling_names[AC_SCALING_COUNT];

/* What the first such line that matches `op` asks for; only op's quantities and
 * facts count. Its line to *line_out (may be NULL; 0: none). Pure. */
enum ac_scaling ac_policy_scaling(const struct ac_policy *policy,
    const struct ac_op *op, uint32_t *line_out);

/* The exponent of the policy's scale, 1 to 24; 0: there are no such lines. */
unsigned ac_policy_scale(const struct ac_policy *policy);

/* Whether one of those lines may mean a call of the program of that name. */
bool ac_policy_may_scale(const struct ac_policy *policy, const char *program);

/* What each of those lines thinks of `op`, up to the one that decides, and what
 * is done then, for `autocast explain`. */
void ac_policy_explain_scaling(const struct ac_policy *policy,
    const struct ac_op *op, struct ac_text *text);

/* Those lines alone, as canonical text; "" without any. */
void ac_policy_print_scaling(const struct ac_policy *policy,
    struct ac_text *text);

/* Name of a site id given by a `site NAME = ID` line, else NULL. */
const char *ac_policy_site_name(const struct ac_policy *policy, uint32_t id);

/* The policy back as canonical text (comments gone, sections spelled out). */
void ac_policy_print(const struct ac_policy *policy, struct ac_text *text);

/* Whether libraries opened with RTLD_DEEPBIND are to bind to us all the same
 * (`set deepbind=on`). */
bool ac_policy_strips_deepbind(const struct ac_policy *policy);

#endif
