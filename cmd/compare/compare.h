/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/compare/compare.h -- runs a program plain and recast in turn and compares
 * times and outputs. */
#ifndef AC_CMD_COMPARE_H
#define AC_CMD_COMPARE_H

#include "cmd/compare/numbers.h"
#include "cmd/gpu/energy.h"
#include "cmd/run/launch.h"
#include "report/read/rows.h"

/* Exit statuses of the verb, with AC_EXIT_USAGE and those of 125 and up. */
enum { AC_COMPARE_SAME = 0, AC_COMPARE_DIFFERS = 1, AC_COMPARE_RUN_FAILED = 3 };

/* Columns of a comparison: the plain runs, then those by each policy. */
enum { AC_COMPARE_POLICIES = 8, AC_COMPARE_COLUMNS = 1 + AC_COMPARE_POLICIES };
enum { AC_PLAIN, AC_RECAST };

/* ---- How long (cmd/compare/compare_judge.c), pure ---------------------- */

/* Pairs: at most, by default, and to prove anything. */
enum {
	AC_COMPARE_PAIRS = 200, AC_COMPARE_DEFAULT = 7, AC_COMPARE_FEWEST = 6
};
/* Slower by less is what any preloaded library costs a short program. */
#define AC_COMPARE_LIMIT 0.0025
/* A difference that users ask about. */
#define AC_COMPARE_SOUGHT 0.02

enum ac_speed {
	AC_SPEED_UNKNOWN,          /* too few pairs to tell anything, or the
	                            * times are not a GPU's */
	AC_SPEED_SAME,             /* no difference is proven */
	AC_SPEED_FASTER, AC_SPEED_SLOWER,
	AC_SPEED_TOO_SLOW          /* slower by more than the limit */
};

/* Times relative to the plain run's. Each end of the interval is wrong at most
 * once in 1/risk times. */
struct ac_judgement {
	double        ratio, low, high;
	double        risk;        /* 0.025 or less: 0.05 for both ends */
	size_t        needed;      /* pairs that would show AC_COMPARE_SOUGHT
	                            * four times in five, as far as these tell;
	                            * more than AC_COMPARE_PAIRS: too many;
	                            * 0: these tell nothing */
	enum ac_speed speed;
};

/* Judge `n` pairs of times, run one after the other. By the signed ranks of
 * the logarithms of their ratios: exact whatever the noise looks like, as long
 * as it strikes both alike, and not to be swayed by a few outliers. Fewer than
 * AC_COMPARE_FEWEST pairs prove nothing. `limit` is a part of the time, such as
 * 0.02. */
void ac_compare_judge(const double *plain, const double *recast, size_t n,
    double limit, struct ac_judgement *judgement_out);

/* Of `n` >= 1 values; the spread is like a standard deviation, but from the
 * median absolute deviation. */
double ac_compare_median(const double *values, size_t n);
double ac_compare_spread(const double *values, size_t n);
/* How many lie more than three times the spread from the median; 0 of fewer
 * than five: they do not tell what is usual. */
size_t ac_compare_outliers(const double *values, size_t n);

/* Which of `columns` is the `nth` (from 0) to run in a pair, or in a round of
 * more: forth in one, back in the next. What changes steadily, such as a GPU's
 * temperature, then harms none more than the others. */
size_t ac_compare_turn(size_t columns, size_t pair, size_t nth);

/* ---- The runs (cmd/compare/compare_rounds.c, compare_run.c) ------------- */

struct ac_compare_run {
	struct ac_child_cost cost;
	double scratch_bytes;        /* on the device, ours; < 0: unknown */
	double joules;               /* of all visible GPUs; < 0: unknown */
};

/* What a run has of each, a double: its name in values, its place. */
enum { AC_COMPARE_QUANTITIES = 6 };
extern const struct ac_compare_quantity {
	const char *name;
	size_t      offset;
} ac_compare_quantities[AC_COMPARE_QUANTITIES];

struct ac_compare_pattern {
	const char *glob;
	bool        found;           /* some run wrote such a file */
};

struct ac_compare_column {
	char              name[24];          /* "plain", "recast", a policy's */
	struct ac_launch  launch;
	struct ac_compare_run runs[AC_COMPARE_PAIRS + 1];
	struct ac_report *report;            /* of the last run, or 0 */
	struct ac_report_totals totals;      /* 0 without one */
	int               rejected;          /* its exit status; if not 0: */
	size_t            rejected_run;      /* which run, from 1 */
	struct ac_judgement judgement;       /* 0 if rejected */
};

enum ac_compare_format {
	AC_COMPARE_TEXT, AC_COMPARE_JSON, AC_COMPARE_MARKDOWN, AC_COMPARE_CSV
};

/* Everything a comparison needs and finds. Pair 0 warms up: its outputs count,
 * its times do not. With several policies a "pair" is a round of all
 * columns. */
struct ac_comparison {
	struct ac_launch  launch;            /* what all columns share */
	const char       *policies[AC_COMPARE_POLICIES];
	size_t            policy_count;
	const struct ac_program *program;
	char          **arguments;
	size_t          pairs;               /* that count */
	struct ac_compare_pattern *patterns; /* of --files */
	size_t          pattern_count;
	double          limit, tol;          /* infinite: any time will do */
	size_t          word;                /* of --binary, in bytes, or 0 */
	enum ac_compare_format format;
	bool            show;
	char            folder[PATH_MAX / 2]; /* temporary; "": there is none */
	char          **environment;         /* as we were started */
	double          start;               /* by ac_say_clock() */
	struct ac_energy energy;             /* closed where it is emulated */
	struct ac_compare_column columns[AC_COMPARE_COLUMNS];
	size_t          column_count;        /* 2 or more */
	struct ac_compare_output *outputs;   /* 0: stdout */
	size_t          output_count;
};

/* Whether the program rejects every policy: there is nothing to compare. */
bool ac_compare_is_over(const struct ac_comparison *compare);

/* Run the columns in turn. 0, or an exit status after one line on stderr. */
int ac_compare_rounds(struct ac_comparison *compare);

/* Judge the times of every column that is not rejected. */
void ac_compare_judge_all(struct ac_comparison *compare);

/* What the column makes of the exit status. */
int ac_compare_status(const struct ac_comparison *compare, size_t column);

/* Make the folder. 0, or an exit status after one line on stderr. */
int ac_compare_begin(struct ac_comparison *compare);

/* Run the program once and keep what it wrote. 0, or an exit status after one
 * line on stderr. A recast run that ends with a status of its own, which no
 * plain run did, sets `rejected` of its column: 0, and there is nothing else to
 * compare in that. */
int ac_compare_run_one(struct ac_comparison *compare, size_t column,
    size_t pair);

/* Where that run's output number `output` is kept, if it wrote it. */
void ac_compare_path(const struct ac_comparison *compare, size_t column,
    size_t pair, size_t output, char path_out[PATH_MAX]);

/* Put the statistics of the last run by each policy into the user's directory;
 * one line on stderr if that cannot be done. Those of a job of several ranks
 * stay out. (cmd/compare/compare_history.c) */
void ac_compare_keep(const struct ac_comparison *compare);

/* Leave a stamp by each policy for `autocast run` to find, if there was
 * something to see. */
void ac_compare_remember(const struct ac_comparison *compare);

/* Remove what is in the folder, and it. */
void ac_compare_end(struct ac_comparison *compare);

/* ---- How far it is (cmd/compare/compare_progress.c) -------------------- */

/* The command of this comparison, for a shell. */
void ac_compare_add_command(struct ac_text *text,
    const struct ac_comparison *compare);
/* Say in one line on stderr what is compared, by which policy; the clock
 * starts. AUTOCAST_NOTICE=off: nothing is said. */
void ac_compare_announce(struct ac_comparison *compare);
/* Where stderr is a terminal, draw how far it is, and take it away again. Both
 * may give us the environment of our start. */
void ac_compare_draw(const struct ac_comparison *compare, size_t runs_done);
void ac_compare_erase(const struct ac_comparison *compare);

/* ---- What they wrote (cmd/compare/compare_outputs.c) ------------------- */

enum ac_presence {
	AC_PRESENT,                /* every run wrote it: see `result` */
	AC_UNSTABLE,               /* not every plain run wrote it */
	AC_MISSING,                /* all plain runs did, a recast one not */
	AC_ADDED,                  /* only recast runs wrote it */
	AC_ABSENT                  /* runs by another policy wrote it */
};

struct ac_compare_finding {
	enum ac_presence presence;
	struct ac_numbers_result result;
};

struct ac_compare_output {
	char *name;                /* malloc'ed */
	/* By column; of plain runs, and of a rejected column, there is none. */
	struct ac_compare_finding found[AC_COMPARE_COLUMNS];
};

/* The number of the output called `name`, added if it is new; exits without
 * memory. */
size_t ac_compare_output_number(struct ac_comparison *compare,
    const char *name);

/* Compare every output of all runs. 0, or an exit status. */
int ac_compare_outputs(struct ac_comparison *compare);

/* Whether it makes the comparison fail. */
bool ac_compare_differs(const struct ac_compare_finding *finding);

/* ---- Telling ----------------------------------------------------------- */

/* One value of all counted runs of a column: `offset` is that of a double in
 * struct ac_compare_run. Returns how many. */
size_t ac_compare_values(const struct ac_comparison *compare, size_t column,
    size_t offset, double values_out[AC_COMPARE_PAIRS]);

/* Whether the energy of every counted run of the column is known. */
bool ac_compare_has_energy(const struct ac_comparison *compare,
    size_t column);

struct ac_json;

/* What the GPU takes for the recast calls of a run: as the program made them,
 * and recast; the basis is AC_BASIS_NONE where that is not known. A time that
 * is partly predicted counts as predicted. */
struct ac_compare_gpu_time {
	enum ac_basis basis;
	double        keep_us, recast_us;
	uint64_t      calls;
};
void ac_compare_gpu_time(const struct ac_compare_column *column,
    struct ac_compare_gpu_time *time_out);

/* How many wall times of the column are far from the others. */
size_t ac_compare_far(const struct ac_comparison *compare, size_t column);

/* Whether the wall time says nothing of a GPU, and nobody asked for it. */
bool ac_compare_is_untimed(const struct ac_comparison *compare);

/* In words (cmd/compare/compare_words.c): the verdict on a column, its name
 * before it if there are several; the lines about what the runs wrote. */
void ac_compare_add_verdict(struct ac_text *t,
    const struct ac_comparison *compare, size_t column);
void ac_compare_print_outputs(const struct ac_comparison *compare);
/* Where the program rejects the recast, which sites were recast, as lines or
 * members of the open object. */
void ac_compare_print_rejected(const struct ac_comparison *compare,
    size_t column);
void ac_compare_json_rejected(struct ac_json *w,
    const struct ac_compare_column *column);

/* ---- Times, memory and work as a table of words (compare_table.c) ------ */

enum { AC_COMPARE_ROWS = 16, AC_COMPARE_CELL = 48 };

struct ac_compare_row {
	const char *what;            /* "": the row says more of that before */
	bool        has_cells;       /* else there is only the note */
	char        cells[AC_COMPARE_COLUMNS][AC_COMPARE_CELL];
	char        ratio[AC_COMPARE_CELL];  /* to plain; "": none */
	char        note[128];       /* on all of the row; "": none */
};

/* Row 0 is the head. Of several policies no row has a `ratio`: that is a row of
 * its own. */
struct ac_compare_table {
	size_t columns, count;
	struct ac_compare_row rows[AC_COMPARE_ROWS];
};

/* Without rows if the program rejects every policy. */
void ac_compare_table(const struct ac_comparison *compare,
    struct ac_compare_table *table_out);

/* ---- All of it --------------------------------------------------------- */

void ac_compare_print(const struct ac_comparison *compare);
void ac_compare_markdown(const struct ac_comparison *compare);
void ac_compare_csv(const struct ac_comparison *compare);
void ac_compare_json(const struct ac_comparison *compare, int status);

#endif
