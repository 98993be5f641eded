/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/tune/tune.h -- finds a policy by running the program: `tune` chooses for
 * each site the fastest rung that is accurate enough, `bisect` what must be
 * kept under a given policy. Both run it until a check passes. tune.c and
 * bisect.c are the verbs, tune_loop.c the runs and their verdicts in turn,
 * search.c what to try next, tune_run.c one run, tune_files.c the files that it
 * wrote, tune_check.c one verdict, tune_journal.c what is remembered of them,
 * tune_plan.c sites and rungs, tune_lines.c, tune_parts.c and tune_text.c the
 * policy, tune_tell.c what is said of it. */
#ifndef AC_CMD_TUNE_H
#define AC_CMD_TUNE_H

#include "cmd/compare/numbers.h"
#include "cmd/run/again.h"
#include "cmd/tune/search.h"
#include "report/read/rows.h"

/* Exit statuses of the verbs, with AC_EXIT_USAGE and those of 125 and up. */
enum { AC_TUNE_FOUND = 0, AC_TUNE_NOTHING = 1, AC_TUNE_RUN_FAILED = 3 };

/* ---- Sites and rungs (cmd/tune/tune_plan.c) ------------------------------ */

struct ac_tune_way {
	const struct ac_site_total *at;  /* the site on that rung */
	double us;                   /* of one call */
};

enum { AC_TUNE_WAYS = 8, AC_TUNE_KEEP = -1 };

/* A site. Ways by number; AC_TUNE_KEEP: the original. */
struct ac_tune_site {
	const struct ac_site_row *row;
	struct ac_tune_way way[AC_TUNE_WAYS];
	int      way_count;
	double   keep_us;
	int      chosen;             /* the fastest that is accurate enough */
	int      safe;               /* the most accurate one that gains */
	bool     is_unit;            /* of the search: it would be recast */
	bool     is_left;            /* to the profile `amp`: a convolution that
	                              * was not measured */
	double   harm;               /* worst error x share of the work */
};

struct ac_tune_plan {
	struct ac_site_row  *rows;
	struct ac_tune_site *sites;  /* by work, as the rows */
	size_t               count;
	struct ac_tune_site **units; /* those that would be recast, the most
	                              * harmful first */
	size_t               unit_count;
};

/* Of what was learnt; `tol` 0: each rung's own. False without memory. The
 * report must live as long. */
bool ac_tune_plan_make(struct ac_tune_plan *plan,
    const struct ac_report *report, double tol);
/* Of a run under a policy: the units are what it recast. */
bool ac_tune_plan_recast(struct ac_tune_plan *plan,
    const struct ac_report *report);
void ac_tune_plan_end(struct ac_tune_plan *plan);

/* What becomes of the units. */
enum ac_tune_level { AC_TUNE_CHOSEN, AC_TUNE_KEPT, AC_TUNE_SAFE };
int ac_tune_way_of(const struct ac_tune_site *site, enum ac_tune_level level);

/* What all calls of the plan's sites take that were measured, in us. */
double ac_tune_time(const struct ac_tune_plan *plan,
    const unsigned char *levels, double *before_out);

/* ---- The policy (cmd/tune/tune_text.c) ----------------------------------- */

/* The lines of a policy under which unit i is at levels[i], each behind a
 * comment with what was measured. */
void ac_tune_add_policy(struct ac_text *text, const struct ac_tune_plan *plan,
    const unsigned char *levels, double tol);
/* The same of what a run recast (ac_tune_plan_recast()), for good: no evidence
 * of its own is waited for. */
void ac_tune_add_frozen(struct ac_text *text, const struct ac_tune_plan *plan);
/* "gemm site=f2a12d2f -> keep" for each unit that is kept. */
void ac_tune_add_kept(struct ac_text *text, const struct ac_tune_plan *plan,
    const unsigned char *levels);

/* ---- A run, a verdict ---------------------------------------------------- */

enum ac_tune_verdict {
	AC_TUNE_GOOD, AC_TUNE_BAD, AC_TUNE_UNKNOWN,
	AC_TUNE_FAILED,          /* we could not; a line said why */
	AC_TUNE_UNSTEADY         /* the check, asked twice about one run, said
	                          * good and something else */
};

/* What became of the sites of a run. */
struct ac_tune_served {
	bool   is_known;
	size_t recast;
	bool   is_short;         /* a tenth of their work or more was kept */
	size_t kept;             /* had a rung, and each call was kept, */
	enum ac_reason reason;   /* that with most work for this */
	size_t gone;             /* of the plan; not in this run */
};

/* What --within has compared, of all outputs: numbers, and binary files. */
struct ac_tune_compared {
	uint64_t count, left_out;
};

/* Everything that a verb needs and finds. */
struct ac_tune {
	const char       *verb;
	struct ac_launch  launch;            /* as typed */
	struct ac_program program;
	char            **arguments, **environment;
	const char       *check;             /* a shell command, or NULL */
	double            within;            /* a part; 0: not asked for */
	const char       *globs[16];         /* --files */
	size_t            glob_count;
	double            tol;               /* 0: each rung's own */
	const char       *rungs;             /* as typed, or NULL */
	unsigned          most_runs;
	double            most_seconds;      /* 0: any */
	const char       *file;              /* -o, or NULL: stdout */
	bool              is_fresh, as_json;

	char              base[PATH_MAX / 2];   /* temporary */
	char              folder[PATH_MAX / 2 + 8]; /* in it: of the last run's
	                                      * outputs */
	char              memory[PATH_MAX / 2]; /* of what is remembered; "": of
	                                      * nothing */
	int               journal;           /* its descriptor, or -1 */
	unsigned          runs;              /* made in all, and remembered */
	double            seconds;           /* of the runs made, in all */
	struct ac_tune_file *files;          /* of --files, before the run */
	size_t            file_count;
	bool              lacks_files;       /* the run wrote none of some
	                                      * --files */
	int               plain_exit;
	bool              has_again;         /* a second plain run was made */
	struct ac_tune_compared compared;    /* of the last run, --within */
	bool              is_learning;       /* what the run counts is kept */
	struct ac_tune_served served;        /* of the last run */
	struct ac_tune_served good;          /* of the last that was good, */
	uint32_t          good_set;          /* as ac_tune_note() has it */
	struct ac_report *report;            /* what was learnt */
	struct ac_report *last;              /* of the last run, or NULL */
	struct ac_tune_plan plan;
};

/* Run the program once under `policy` (NULL: the one that was chosen), with
 * `lines` (NULL: none) before all others, or plainly. Its outputs go to
 * t->folder, its report to t->last. Its exit status, 128 and more for a signal,
 * to *exit_out. 0, or an exit status after one line on stderr. */
int ac_tune_run(struct ac_tune *t, const char *policy, const char *lines,
    int *exit_out);
int ac_tune_run_plain(struct ac_tune *t, int *exit_out);

/* Before a run, and after it (cmd/tune/tune_files.c): copies of the files that
 * it wrote, as --files names them, go to t->folder. One line says of a pattern
 * that it wrote none, or not all that runs before it wrote. False after one
 * line if one cannot be copied. */
void ac_tune_files_note(struct ac_tune *t);
bool ac_tune_files_take(struct ac_tune *t);
void ac_tune_files_forget(struct ac_tune *t);

/* Remove a folder of ours with all that is in it, a check's own files too. */
void ac_tune_remove(const char *path);

/* All of file `from` to `to`; false with errno. */
bool ac_tune_copy(const char *from, const char *to);

/* Whether the last run, a plain one, left anything by which others can be
 * judged, and all of --files; false after one line. */
bool ac_tune_has_outputs(const struct ac_tune *t);
/* Keep the outputs of the last run as the plain ones, or as those of another
 * plain run (`again`); false after one line. */
bool ac_tune_keep_plain(struct ac_tune *t, bool again);

/* Judge what the last run, which ended with `status`, left in t->folder. A
 * command may change what it judges: ac_tune_judge_again() asks it once more
 * about the same outputs, where it was asked. */
enum ac_tune_verdict ac_tune_judge(struct ac_tune *t, int status);
enum ac_tune_verdict ac_tune_judge_again(struct ac_tune *t);
/* All that it could have compared differs between plain runs anyway. */
bool ac_tune_compared_nothing(const struct ac_tune *t);

/* ---- What is remembered (cmd/tune/tune_journal.c) ------------------------ */

/* Which command it is (cmd/tune/tune_key.c). */
uint64_t ac_tune_key(const struct ac_tune *t);
/* Open the folder of this very command; 0, or an exit status. Those of others
 * that nobody went on with for a month are forgotten. */
int ac_tune_remember(struct ac_tune *t);
/* What came of run number `t->runs` on `set`, if it was made before. */
bool ac_tune_recall(struct ac_tune *t, uint32_t set,
    enum ac_tune_verdict *verdict_out);
void ac_tune_note(struct ac_tune *t, uint32_t set, int status,
    enum ac_tune_verdict verdict, double seconds);
/* That another plain run was kept, all of it; false with errno. */
bool ac_tune_note_again(struct ac_tune *t);
/* Where a learning run counts; the report of run `token`, which is over. NULL,
 * and false: there is none. */
void ac_tune_learnt_path(const struct ac_tune *t, char path_out[PATH_MAX]);
struct ac_report *ac_tune_learnt(const struct ac_tune *t);
bool ac_tune_keep_learnt(const struct ac_tune *t, const char *token);
/* The end: what is done need not be remembered. */
void ac_tune_forget(struct ac_tune *t, bool is_done);

/* ---- The loop (cmd/tune/tune_loop.c) ------------------------------------- */

/* Run the program with unit i at levels[i]. As ac_tune_run() otherwise. */
typedef int (*ac_tune_try)(struct ac_tune *t, const unsigned char *levels,
    int *exit_out);

enum ac_tune_end {
	AC_TUNE_PASSED,          /* levels_out passes, and nothing faster */
	AC_TUNE_SPENT,           /* so it does, but more might: no runs left */
	AC_TUNE_LIES,            /* verdicts contradict each other */
	AC_TUNE_PLAIN_FAILS,     /* the check fails on the plain program, too */
	AC_TUNE_WAVERS,          /* AC_TUNE_UNSTEADY */
	AC_TUNE_STOPPED          /* a line said why */
};

/* What comes of a run without a verdict: of FAILED or UNSTEADY. */
enum ac_tune_end ac_tune_end_without(enum ac_tune_verdict verdict);

/* Judge the last run. No search doubts what is good, or what is said of a plain
 * run, so of that a command is asked twice. */
enum ac_tune_verdict ac_tune_judge_twice(struct ac_tune *t, int status,
    bool is_plain);

/* The verdict on one run more, or what is remembered of it. */
enum ac_tune_verdict ac_tune_verdict_of(struct ac_tune *t, ac_tune_try try,
    const unsigned char *levels);

/* What became of the sites in the good run with these levels; not known, if it
 * was remembered. */
struct ac_tune_served ac_tune_served_by(const struct ac_tune *t,
    const unsigned char *levels);

/* Search the units of t->plan; `has_failed`: with none kept, as is known.
 * `levels_out` has one each. */
enum ac_tune_end ac_tune_loop(struct ac_tune *t, ac_tune_try try,
    bool has_failed, unsigned char *levels_out);

/* One line about the run to come, where stderr is a terminal. */
__attribute__((format(printf, 2, 3)))
void ac_tune_tell(const struct ac_tune *t, const char *format, ...);

/* ---- What the verbs share (cmd/tune/tune_verb.c) ------------------------- */

enum {
	AC_TUNE_CHECK = AC_LAUNCH_OWN, AC_TUNE_WITHIN, AC_TUNE_FILES,
	AC_TUNE_RUNS, AC_TUNE_TIME, AC_TUNE_FRESH, AC_TUNE_JSON, AC_TUNE_OWN
};
/* Take one of those, an option of a launch, or -o; an exit status, 0: go on. */
int ac_tune_take(struct ac_tune *t, int option, const char *value);

typedef int (*ac_tune_taker)(struct ac_tune *t, int option, const char *value);

/* A verb: read its options by `take`, and the program; let `check` say what
 * else is wrong with them; with folders and what is remembered, `carry_out`. An
 * exit status. */
int ac_tune_main(struct ac_tune *t, const struct ac_command *self,
    char **arguments, ac_tune_taker take, int (*check)(struct ac_tune *t),
    int (*carry_out)(struct ac_tune *t));

/* Whether others can be judged by the last run, a plain one that ended with
 * t->plain_exit: its check is good, its outputs are kept. 0, or an exit status
 * after one line. */
int ac_tune_take_plain(struct ac_tune *t);

/* What the loop came to, if that is not a set that passed; an exit status. */
int ac_tune_explain(const struct ac_tune *t, enum ac_tune_end end);

/* ---- What tune says (cmd/tune/tune_tell.c) ------------------------------- */

/* That nothing was seen of the program, with the command to type, and that
 * nothing gains: exit statuses. */
int ac_tune_say_unseen(struct ac_tune *t);
int ac_tune_say_nothing(const struct ac_tune *t);
/* What came of it; the sites as JSON. */
void ac_tune_summarise(const struct ac_tune *t, const unsigned char *levels,
    enum ac_tune_end end);
void ac_tune_write_json(const struct ac_tune *t, const unsigned char *levels,
    int *fd);

/* ---- The first lines of a policy (cmd/tune/tune_verb.c) ------------------ */

/* "# 2026-11-28, NVIDIA H200, cublas-13.1, by", and the end of that line. */
void ac_tune_add_head(struct ac_text *text, const struct ac_report *report);

/* The command as typed, for a shell. */
void ac_tune_add_command(struct ac_text *text, const struct ac_tune *t);

#endif
