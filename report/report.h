/* SPDX-License-Identifier: Apache-2.0 */
/* report/report.h -- the interface of report/: what happened, per site.
 *
 * The preloaded library tallies into a statistics file that is mapped shared,
 * so that the numbers survive any kind of exit; `autocast` reads such files
 * and writes text and JSON. The two halves meet in the records below, which
 * are the file's format (report/count/file.h adds header and paths). */
#ifndef AC_REPORT_REPORT_H
#define AC_REPORT_REPORT_H

#include "base/text.h"
#include "policy/guard.h"
#include "policy/op.h"
#include "policy/policy.h"
#include "report/event.h"
#include "report/scaled.h"
#include "report/totals.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

/* Format version of the JSON. */
#define AC_REPORT_VERSION 1

/* The shape of convolutions that are counted by who calls: the policy keeps
 * everything, so nobody asked cuDNN for their sizes and types. */
#define AC_SHAPE_UNREAD "sizes not read"

/* What identifies a site (doc/design.md D4). Zero-filled before
 * its fields are set, since the id is a hash of its bytes. */
struct ac_site_key {
	uint32_t operation;          /* enum ac_operation */
	char     symbol[40];         /* the function called: cublasSgemm_v2 */
	char     caller[48];         /* module+offset: train+1a2b */
	char     ta, tb;             /* N, T or C; 0: no product */
	char     solver;             /* 'y': the caller factorised or solved */
	char     reserved;
	char     type[6];            /* operand types: f32, c32, f16, other */
	char     asked[12];          /* what the program asks for: fp32 */
	char     shape[64];          /* "" of a product; of one of cublasLt what
	                              * follows it: "gelu_bias", "other: " and
	                              * NVIDIA's name for it; of a convolution
	                              * "n32 c256 28x28 k256 3x3 s1 p1 d1 g1
	                              * nchw", or AC_SHAPE_UNREAD */
	int64_t  m, n, k, batch;     /* as policy/op.h has them: 2mnk*batch
	                              * FLOPs, of convolutions too */
};

/* Whether `caller` (module+offset) is in a module of XLA: JAX's plugins and
 * jaxlib. It captures what it has run once, and cannot update a graph whose
 * calls go another way by then. */
static inline bool
ac_caller_is_xla(const char *caller)
{
	return strstr(caller, "xla") || strstr(caller, "jaxlib") ||
	    strstr(caller, "pjrt");
}

/* The region that a site's calls are made in. Zero-filled before its fields are
 * set, as the name is part of the site's id. */
struct ac_site_region {
	char    name[64];            /* "" outside of any: then no part of it */
	/* What the program asks for there: */
	uint8_t is_disabled;         /* calls shall be left alone */
	uint8_t rung_count;          /* rungs to use; 0: as the policy says */
	uint8_t rung[AC_RUNG_COUNT]; /* enum ac_rung, as named */
};

/* How a site has fared on the rung of its record: written by the preloaded
 * library with relaxed atomics, after ac_report_check_fork(): it begins at zero
 * in a forked child, but for what was predicted. */
struct ac_site_course {
	_Atomic uint32_t finding;    /* enum ac_finding: why it was left */
#define COUNT(type, id, merge, json) _Atomic type id;
#define WORST(id, json) _Atomic float id;
#define TIME(id, merge, json) _Atomic float id;
#include "report/course.def"
};

/* One site, live: identity and decision are written once, before the record
 * is published. Calls that went as decided are counted in the shards, the
 * others, and those of threads without a shard, here, by relaxed atomics. */
struct ac_site_record {
	struct ac_site_key key;
	uint32_t id;                 /* ac_site_id(), stable across runs */
	uint32_t number;             /* its place in the file, and in a shard */
	char     name[32];           /* from a `site NAME = ID` line, or "" */
	uint32_t rung, tactic;       /* the policy's answer */
	uint32_t reason;             /* enum ac_reason if it is keep */
	char     source[48];         /* where the deciding line is */
	uint32_t line;
	float    tol;                /* the tolerance that applies; 0: none */
	uint32_t guard;              /* enum ac_asked_guard */
	struct ac_site_region region;
	_Atomic uint32_t ranges;     /* 1 + place among ranges; 0: none */
	_Atomic uint64_t recast;     /* calls that ran on the chosen rung */
	_Atomic uint64_t kept[AC_REASON_COUNT]; /* the others, by reason */
	struct ac_site_course course;
};

/* Calls that are no matrix product we know: counted by symbol only. */
struct ac_marker_record {
	char symbol[48];
	_Atomic uint64_t calls;
};

/* ---- Counting (in the preloaded library; any thread) -------------------
 * Records stay valid for the life of the process and of its forked children:
 * a child's first count through any of these functions moves its copy of the
 * numbers, set to zero, into a file of its own, at the same addresses. */

/* Open this process's statistics, on the first intercepted call. Creates the
 * file in the user's state directory, or keeps the numbers in memory when that
 * is impossible or AUTOCAST_STATE=off. Never fails, never prints. `policy` and
 * `origin` describe what is in force; `notes` is one line per thing the user
 * should know (another library answers look-ups first), may be "". */
void ac_report_open(const struct ac_policy_origin *origin, const char *notes);

/* Remember which GPU and which provider were met ("NVIDIA H200", 90,
 * "cublas-13.1"); the first of each is shown in the report's head. `emulated`
 * marks the whole report as made on the emulated GPU. */
void ac_report_machine(const char *gpu, int sm, const char *library,
    bool emulated);

/* The module of a caller, by what the caller's name begins with: its file by
 * `path`, "" is the program's. Not on the hot path. */
void ac_report_module(const char *name, const char *path);

/* The process lives: its wall time is kept, for one that tells no end. Takes no
 * lock. */
void ac_report_note_time(void);

/* Where the microseconds of the courses come from: told when the first one is
 * measured; the first word counts. */
enum ac_clock {
	AC_CLOCK_NONE,
	AC_CLOCK_DEVICE,             /* events of a real device */
	AC_CLOCK_MODELLED,           /* the emulated GPU's model of one */
	AC_CLOCK_COUNT
};
void ac_report_clock(enum ac_clock clock);

/* The region of calls that are in none. */
extern const struct ac_site_region ac_outside;

/* The record of the site `key` in `region` with `decision`, created if it is
 * new. Not on the hot path (takes a lock, may grow the file). Never NULL: past
 * 10^5 sites the overflow site, whose decision is keep. is_overflow_out is
 * NULL for another rung of a site that is known: what is decided about that is
 * an event, anything else is logged here where it is new. */
struct ac_site_record *ac_report_site(const struct ac_site_region *region,
    const struct ac_site_key *key, const struct ac_decision *decision,
    const char *name, bool *is_overflow_out);

/* The id of a site, by its key and the name of its region. */
static inline uint32_t
ac_site_id(const struct ac_site_key *key, const char *region)
{
	const uint32_t id = ac_text_hash(AC_TEXT_HASH_START, key, sizeof *key);

	return *region ? ac_text_hash(id, region, strlen(region)) : id;
}

/* Set in a forked child until its first count; only ac_report_resume() clears
 * it, after giving the child statistics of its own. */
extern _Atomic bool ac_report_forked __attribute__((visibility("hidden")));
void ac_report_resume(void);

static inline void
ac_report_check_fork(void)
{
	if (__builtin_expect(atomic_load_explicit(&ac_report_forked,
	    memory_order_acquire), false))
		ac_report_resume();
}

/* A thread counts what went as decided into a shard that is its own as long as
 * it lives: no shared cache line, no locked instruction. A plain increment
 * will do, since the next owner of the shard comes after this one, and other
 * processes that look meanwhile see one value or the next. */
enum { AC_REPORT_SHARD_SITES = 8192 };  /* sites beyond: their own counters */

struct ac_report_mine {
	uint64_t *calls;             /* by site number */
	uint32_t  limit;             /* 0: no shard; also after a fork */
	uint16_t  shard;
	bool      ended;             /* given back: the thread is going */
};
extern __thread struct ac_report_mine ac_report_mine
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* The rest of the two functions below: takes a shard, begins the statistics
 * of a forked child, or counts in the record. */
__attribute__((cold, noinline))
void ac_report_count_slowly(struct ac_site_record *site);
__attribute__((noinline))
void ac_report_count_other(struct ac_site_record *site, enum ac_reason reason);

/* Raise a worst error to `value`, if that is worse; a NaN is. */
static inline void
ac_report_raise(_Atomic float *worst, float value)
{
	if (!(value <= atomic_load_explicit(worst, memory_order_relaxed)))
		atomic_store_explicit(worst, value, memory_order_relaxed);
}

/* Tally one call that went as the site's decision says: kept for its reason,
 * or recast. The hot path. */
static inline void
ac_report_count_decided(struct ac_site_record *site)
{
	if (__builtin_expect(site->number < ac_report_mine.limit, true))
		ac_report_mine.calls[site->number]++;
	else
		ac_report_count_slowly(site);
}

/* Tally one call. `reason` is AC_REASON_NONE for a call that was recast. */
static inline void
ac_report_count(struct ac_site_record *site, enum ac_reason reason)
{
	if (reason == site->reason &&
	    (reason == AC_REASON_NONE) == (site->rung != AC_RUNG_KEEP))
		ac_report_count_decided(site);
	else
		ac_report_count_other(site, reason);
}

/* How often each exponent occurred in the operands of `site`: 2 x 256 totals,
 * of A and of B by bits 30..23, for the caller to overwrite while the program
 * runs, word by word. Records of one key share them. They start at zero, in a
 * forked child again. NULL: no room (it is for the first 1024 sites), or no
 * file that would be read. Not on the hot path. */
enum { AC_REPORT_RANGES = 512 };
uint64_t *ac_report_ranges(struct ac_site_record *site);

/* The record of a counted-only symbol (never NULL). Not on the hot path. */
struct ac_marker_record *ac_report_marker(const char *symbol);

static inline void
ac_report_count_marker(struct ac_marker_record *marker)
{
	ac_report_check_fork();
	atomic_fetch_add_explicit(&marker->calls, 1, memory_order_relaxed);
}

/* Most scratch the library held on a device so far, in bytes. */
void ac_report_peak_scratch(uint64_t bytes);

/* Take the right to give the notice line: true exactly once in this run's
 * process tree (without a state directory: once in this process and its
 * forked children). */
bool ac_report_claim_notice(void);

/* Whether `autocast report` will find what this process counts. */
bool ac_report_is_kept(void);

/* ---- Reading (in the autocast program) --------------------------------- */

struct ac_report;   /* one run: one or more processes, merged */

/* Load the `which`-th last run (1: the last) from the user's state directory.
 * NULL and one line in `why` if there is none or it cannot be read. Files that
 * another version wrote are counted on stderr. */
struct ac_report *ac_report_load(unsigned which, struct ac_text *why);
/* The run with token `run`, NULL: the last, without a word of other files. */
struct ac_report *ac_report_of(const char *run, struct ac_text *why);
/* The same of one rank of the `which`-th last run. */
struct ac_report *ac_report_load_rank(unsigned which, int rank,
    struct ac_text *why);
void ac_report_destroy(struct ac_report *report);
/* Look the callers of `report` up in the symbol tables of their modules, which
 * are read again, if they are what they were when the program ran: names of a
 * file that has changed would be wrong. A stripped one has those of the
 * functions that it exports. A file may hold anything. A caller without a name
 * stays module+offset. */
void ac_report_name_callers(struct ac_report *report);

/* One process that runs now. */
struct ac_report_watched {
	int  pid;
	char program[64];            /* as it calls itself: any bytes */
	char path[4096];             /* its statistics */
};

/* Find the statistics of process `pid`, or of the youngest that runs and has
 * some if it is 0. False and one line in `why` if there are none. */
bool ac_report_find(int pid, struct ac_report_watched *found_out,
    struct ac_text *why);
/* What it did so far; *runs_out false: it has ended, these are all. NULL if
 * that cannot be read: one line in `why`, or none where the file is too young.
 * ac_report_destroy() ends it. */
struct ac_report *ac_report_look(const struct ac_report_watched *watched,
    bool *runs_out, struct ac_text *why);

/* An order of sites: largest first, what is not known last. Equals are ordered
 * by work, by calls, then by the site's key: equal runs have one order. */
enum ac_sort {
	AC_SORT_WORK,                /* FLOPs of all its calls, of any type */
	AC_SORT_GAIN,                /* of time; losses come after no gain */
	AC_SORT_SHARE,               /* of the FP32 work */
	AC_SORT_ERROR,               /* as a part of tol */
	AC_SORT_CALLS,
	AC_SORT_COUNT
};

/* "work", "gain", ... as an option says it. */
extern const char *const ac_sort_names[AC_SORT_COUNT];

/* What times rest on, the weakest first. */
enum ac_basis {
	AC_BASIS_NONE,               /* no times are known */
	AC_BASIS_PREDICTED,          /* from the rates of the GPU */
	AC_BASIS_MODELLED,           /* events, timed by the emulated GPU */
	AC_BASIS_MEASURED,           /* events of a real device */
	AC_BASIS_COUNT
};

/* "none", "predicted", "modelled", "measured" */
extern const char *const ac_basis_names[AC_BASIS_COUNT];

/* Write the report as text (a table) or as JSON (documented in
 * autocast-json(5), versioned) into `sink`, piece by piece. A NULL report is a
 * run in which nothing was intercepted. */
typedef void (*ac_report_sink)(const char *bytes, size_t count, void *context);
struct ac_report_style {
	enum ac_sort sort;           /* of the table's rows */
	bool         is_colored;     /* for a terminal */
	bool         is_detailed;    /* lines below each site's */
	const char  *filter;         /* only sites whose line, region or shape
	                              * holds this text; NULL: all */
	size_t       top;            /* so many of them; 0: 100 */
};
void ac_report_as_table(const struct ac_report *report,
    const struct ac_report_style *style, ac_report_sink sink, void *context);
void ac_report_as_json(const struct ac_report *report, ac_report_sink sink,
    void *context);
/* As comma-separated values, a line per site; false without memory. */
bool ac_report_as_csv(const struct ac_report *report, enum ac_sort sort,
    ac_report_sink sink, void *context);
/* As one HTML page that needs nothing else, of 10 MB at most. */
void ac_report_as_html(const struct ac_report *report, ac_report_sink sink,
    void *context);
/* What the operands were made of, and which rungs would fit: of the site with
 * that id or name, or, with NULL, of all whose exponents were counted. False if
 * there is none; then nothing is written. */
bool ac_report_as_ranges(const struct ac_report *report, const char *site,
    ac_report_sink sink, void *context);
/* What a process does just now: `now` and, unless NULL, an earlier look. */
struct ac_report_view {
	double clock;                /* of the look: CLOCK_REALTIME, seconds */
	double seconds;              /* between the looks */
	size_t rows;                 /* most sites, those with most work */
};
void ac_report_as_live(const struct ac_report *before,
    const struct ac_report *now, const struct ac_report_view *view,
    ac_report_sink sink, void *context);
/* What the lines at the end of a run need to know besides its report. */
struct ac_report_ending {
	const char *unkept;          /* why `autocast report` will not find the
	                              * run, or NULL */
	double      wall;            /* seconds that the program took; 0: not
	                              * known */
	const char *forced;          /* why calls may be recast that gain
	                              * nothing, and the cure; or NULL */
};
/* The lines of doc/rules.md R9, for `autocast run`'s end. False if the run
 * intercepted nothing: then there are none. */
bool ac_report_as_summary(const struct ac_report *report,
    const struct ac_report_ending *ending, ac_report_sink sink, void *context);

#endif
