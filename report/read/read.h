/* SPDX-License-Identifier: Apache-2.0 */
/* report/read/read.h -- a loaded run, as the writers see it. */
#ifndef AC_REPORT_READ_H
#define AC_REPORT_READ_H

#include "policy/decide/range.h"
#include "report/count/file.h"

#include <stdlib.h>

/* A site's course in plain numbers, whatever its file holds: none is negative
 * or a NaN, times are finite, and an error that was a NaN is infinite. */
struct ac_course {
	enum ac_finding finding;
#define COUNT(type, id, merge, json) uint64_t id;
#define WORST(id, json) double id;
#define TIME(id, merge, json) double id;
#include "report/course.def"
};

/* One site over all processes of the run. Two processes that decided
 * differently about one key give two of these. */
struct ac_site_total {
	struct ac_site_key key;
	uint32_t id;
	char     name[32], source[48];
	struct ac_site_region region;
	uint32_t rung, tactic, reason, line, guard;
	uint64_t calls, recast, kept[AC_REASON_COUNT];
	double   flops;                 /* of one call */
	double   tol;                   /* 0: none is known */
	struct ac_course course;
	bool     is_fp32;               /* counts as FP32 work */
	bool     plain_is_timed;        /* else it was predicted: */
	double   plain_us;              /* one call as the program makes it, of
	                                 * its site on any rung; 0: not known */
	/* Of a job, until ac_report_arrange() (report/read/ranks.c): the ranks
	 * that called it, as RANK << 1 | recast, malloc'ed; their calls. */
	uint32_t way_count, *ways;
	uint64_t ranked;
};

/* How often each exponent occurred in A and B at one site, on all its rungs. */
struct ac_exponents {
	struct ac_site_key key;
	char     region[sizeof ((struct ac_site_region *)0)->name];
	uint64_t counts[AC_REPORT_RANGES];      /* of A, then of B */
};

/* An event of a site, on that rung. */
struct ac_event {
	uint32_t site;               /* its id */
	uint32_t rung, tactic;
	uint64_t call;
	enum ac_event_kind kind;
	enum ac_finding finding;     /* of a demotion */
	double   error;              /* that was met; its tolerance */
	double   tol;
	uint32_t process;            /* of those in the report, as they were
	                              * added */
};
/* "passed", "chosen", ... */
extern const char *const ac_event_names[AC_EVENT_KINDS];

struct ac_marker {
	char     symbol[48];
	uint64_t calls;
};

/* A caller, module+offset, and the function it is in. */
struct ac_caller {
	char caller[48];
	char function[192];          /* as the symbol is called; cut */
	/* As addr2line or c++filt know them, empty or 0 if they do not: the
	 * function as people write it, and where in the source it calls. */
	char name[96], file[192];
	uint32_t line;
};

struct ac_report {
	struct ac_file_header *processes; /* by start, validated */
	size_t                 process_count;
	struct ac_site_total        *sites;     /* by FLOPs, most first */
	size_t                 site_count;
	size_t                 folded;    /* of them, in order and each once:
	                                   * those behind wait for it */
	size_t                 places;    /* sites, their rungs not counted */
	uint64_t               learnt;    /* as of struct ac_report_totals */
	struct ac_marker      *markers;   /* by symbol */
	size_t                 marker_count;
	struct ac_event       *events;    /* by process, oldest first */
	size_t                 event_count;
	uint64_t               lost_events; /* older ones, not kept */
	struct ac_exponents      *ranges;    /* by site */
	size_t                 ranges_count, ranges_folded;
	struct ac_ranks       *ranks_of;  /* a job's, report/read/ranks.h */
	struct ac_caller      *callers;
	size_t                 caller_count;
	bool                   incomplete;
	bool                   is_one_rank; /* of a job: the others were not
	                                     * asked for */
};

/* Make room in the malloc'ed `array` for so many; false without memory, and it
 * is as it was. */
#define AC_GROW(array, count) __extension__({ \
	void *grown_ = realloc((array), (count) * sizeof *(array)); \
	if (grown_) \
		(array) = grown_; \
	grown_ != NULL; })

/* The reason for a file of another layout: said once for all of them. */
#define AC_READ_FOREIGN "another version of autocast wrote it"

/* Read the statistics file `path`. On success its header goes to *header_out
 * and its records, unless `records_out` is NULL, to *records_out (malloc'ed,
 * header_out->sites of them) with the markers in *markers_out. False: not to
 * be used, `why` says so, or is empty where the file is only too young. */
bool ac_report_read(const char *path, struct ac_file_header *header_out,
    struct ac_site_record **records_out,
    struct ac_marker_record (*markers_out)[AC_FILE_MARKERS],
    struct ac_text *why);

/* Read the ranges at `place` of a file whose header is known; false if they are
 * not there. */
bool ac_report_read_ranges(const char *path,
    const struct ac_file_header *header, uint32_t place,
    uint64_t counts_out[AC_REPORT_RANGES]);

/* Put the ranges of one more process into the report; false without memory. */
bool ac_report_add_ranges(struct ac_report *report, const char *path,
    const struct ac_file_header *header, const struct ac_site_record *records);
/* Of the key in the region of that name; after ac_report_arrange(). NULL if
 * none were counted. */
const struct ac_exponents *ac_report_find_ranges(const struct ac_report *report,
    const struct ac_site_key *key, const char *region);
/* Add up what is of the same site, and put it in order. */
void ac_ranges_arrange(struct ac_report *report);

/* Put the records of one more process into the report; false without memory.
 * It holds three times its sites and their ranges at most, however many
 * processes there are. Call ac_report_arrange() after the last one. */
bool ac_report_add(struct ac_report *report,
    const struct ac_file_header *header, const struct ac_site_record *records,
    const struct ac_marker_record *markers);
void ac_report_arrange(struct ac_report *report);
/* The same of its events, after the records (report/read/events.c). */
bool ac_report_add_events(struct ac_report *report,
    const struct ac_file_header *header, const struct ac_site_record *records);
/* And one out of JSON, into report->events, which has room for it. */
struct ac_fields;
void ac_event_from_json(struct ac_fields *r, struct ac_report *report);

/* The order in which sites are shown that nothing else tells apart. */
int ac_site_by_key(const struct ac_site_total *a,
    const struct ac_site_total *b);
/* An order of sites in which those are equal that are one, on any rung: 32 bits
 * of an id are few for 10^5 sites. */
int ac_site_identity(const struct ac_site_total *a,
    const struct ac_site_total *b);
/* An order of sites in which only those are equal that have the same key and
 * the same decision. */
int ac_site_compare(const void *left, const void *right);
/* Add what the calls of a site are to the totals. */
void ac_totals_add_site(struct ac_report_totals *totals,
    const struct ac_site_total *site);
/* Its sites, malloc'ed, one at least; NULL without memory. */
struct ac_site_total *ac_report_copy_sites(const struct ac_report *report);

/* ---- Courses (report/read/course.c) ------------------------------------ */

void ac_course_read(struct ac_course *to, const struct ac_site_course *from);
/* Another process went on with the same site on the same rung. */
void ac_course_absorb(struct ac_course *into, const struct ac_course *other);
/* How many times as fast as kept, as measured; 0: it was not. */
double ac_course_speed(const struct ac_course *course);
/* How a process ended. */
enum ac_process_end {
	AC_END_FINISHED,             /* exit() was reached */
	AC_END_ENDED,                /* it was not (_exit, exec, a signal); the
	                              * numbers are complete all the same */
	AC_END_RUNNING,
	AC_END_ELSEWHERE,            /* not yet, on another host */
	AC_END_COUNT
};
/* "finished", "ended", "running", "elsewhere" */
extern const char *const ac_process_end_names[AC_END_COUNT];
enum ac_process_end ac_process_end(const struct ac_file_header *process);
/* How long a process took so far, from its start, in us; 0: not known.
 * *is_least_out: or longer, as it told no end. */
double ac_process_wall_us(const struct ac_file_header *process,
    bool *is_least_out);
/* "none", "device", "modelled" */
extern const char *const ac_clock_names[AC_CLOCK_COUNT];
/* Where the times of the run come from, if any call was timed; never a device
 * where one was emulated. */
enum ac_clock ac_report_clock_of(const struct ac_report *report);
/* What a call takes as the program makes it, out of all rungs of one site: as
 * it was timed most often, else as it was predicted. */
void ac_site_find_plain(struct ac_site_total *rungs, size_t count);
/* Whether it was measured next to calls that the program made as they are
 * (learn=on): of none of them its results were used. */
static inline bool
ac_site_is_learnt(const struct ac_site_total *rung)
{
	return rung->course.judged && !rung->recast;
}
/* Next to how many calls, out of all rungs of one site. */
uint64_t ac_site_learnt(const struct ac_site_total *rungs, size_t count);
/* Why nothing judged its calls. */
enum ac_unjudged ac_site_unjudged(const struct ac_site_total *site);
void ac_course_add_totals(struct ac_report_totals *totals,
    const struct ac_site_total *site);

/* ---- What was checked (report/write/checked.c) -------------------------- */

/* "guard=off", "recorded into graphs"; "" of what was judged */
extern const char *const ac_unjudged_names[AC_UNJUDGED_COUNT];
/* Tell, piece by piece: "checked: every call", "mended: 3 lines, 1 call",
 * "worst error 2e-4 (line 4e-4), 0.20 of tol"; or "not checked: guard=off". */
void ac_site_add_checks(const struct ac_site_total *site,
    void (*tell)(const char *piece, void *context), void *context);
/* The same of a run, and what was not checked: "nothing checked" at least. */
void ac_totals_add_checks(struct ac_text *text,
    const struct ac_report_totals *totals);
/* "worst error 2e-4 (line 4e-4), 0.20 of tol 0.001"; "" where nothing was
 * measured. */
bool ac_totals_have_error(const struct ac_report_totals *totals);
void ac_totals_add_error(struct ac_text *text,
    const struct ac_report_totals *totals);

/* ---- Why a run recast nothing (report/write/run.c) --------------------- */

/* Calls were made, and none of them was recast. */
bool ac_report_is_idle(const struct ac_report_totals *totals);
/* "nothing: 93.2 % of the FP32 work kept for the reason too-small"; what that
 * means, if that is the cause; and what to type:
 * "\"autocast explain 7d5ac3c9\" says more". */
void ac_report_add_idle(struct ac_text *text, const struct ac_report *report,
    const struct ac_report_totals *totals);
void ac_report_add_idle_meaning(struct ac_text *text,
    const struct ac_report *report, const struct ac_report_totals *totals);
void ac_report_add_idle_next(struct ac_text *text,
    const struct ac_report *report, const struct ac_report_totals *totals);

struct ac_json;
/* The member "ranges" of the open object, if the site has any
 * (report/write/as_ranges.c). */
void ac_json_ranges(struct ac_json *w, const struct ac_report *report,
    const struct ac_site_total *site);

/* The members of the open object about the ranks of a job, if it is one
 * (report/write/rank_lines.c). */
void ac_json_ranks(struct ac_json *w, const struct ac_report *report);

/* ---- Words shared by the writers (report/write/words.c) ----------------
 * Those that are no void return all of the text, for AC_SAID(). */

/* "gemm.nt", "gemm.strided.nt", "conv.fprop" */
const char *ac_site_add_operation(struct ac_text *text,
    const struct ac_site_total *site);
/* "256x64x1024", batched "256x64x1024x8" */
const char *ac_site_add_sizes(struct ac_text *text,
    const struct ac_site_total *site);
/* "gemm.nt 256x64x1024" */
const char *ac_site_add_what(struct ac_text *text,
    const struct ac_site_total *site);
/* Who calls: the name that a `site` line gave it, or the function if it is
 * known, as the source calls it, or module+offset; "-" where nobody knows. */
const char *ac_site_add_caller(struct ac_text *text,
    const struct ac_report *report, const struct ac_site_total *site);
/* " train.c:116", where that is known: the file without its folder. */
void ac_site_add_file(struct ac_text *text, const struct ac_report *report,
    const struct ac_site_total *site);
/* The shape of its key, which is not empty, for a person. */
void ac_site_add_shape(struct ac_text *text, const struct ac_site_total *site);

/* Whether the sizes of its calls are known: AC_SHAPE_UNREAD. */
bool ac_site_has_sizes(const struct ac_site_total *site);
/* What gets its captured calls recast: "make more steps ..." */
const char *ac_site_add_capture(struct ac_text *text,
    const struct ac_site_total *site);
/* "fp16:3" */
const char *ac_site_add_line(struct ac_text *text,
    const struct ac_site_total *site);
/* 98.7 %: never rounded to all or nothing when it is not. */
const char *ac_share_add(struct ac_text *text, double part, double whole);
/* 12.3 GFLOP */
const char *ac_flops_add(struct ac_text *text, double flops);
/* 3.2 s, 45 ms, 7.1 us; of a loss -3.2 s */
const char *ac_time_add(struct ac_text *text, double us);
/* 34.0 MiB, 4.0 KiB, 512 bytes */
const char *ac_bytes_add(struct ac_text *text, uint64_t bytes);
/* 7.3x, 0.87x; 0 (not measured): - */
const char *ac_speed_add(struct ac_text *text, double speed);
/* So many a second: 12.5, 12345 */
const char *ac_rate_add(struct ac_text *text, double rate);
/* 3.1e-4, as by ac_text_add_double() */
const char *ac_double_add(struct ac_text *text, double value, int digits);
/* 3.10, as by ac_text_add_fixed() */
const char *ac_fixed_add(struct ac_text *text, double value, int decimals);
/* 0.29, 12.50, 1.2e5 */
const char *ac_ratio_add(struct ac_text *text, double ratio);
/* at call 12: error 3.1e-4 of 1e-3 on fp16 */
void ac_event_add(struct ac_text *text, const struct ac_event *event);
/* When a process began: "2026-11-23 22:10:05" here, "2026-11-23T22:10:05Z". */
const char *ac_start_add(struct ac_text *text, uint64_t start_s);
const char *ac_start_add_utc(struct ac_text *text, uint64_t start_s);
/* "finished", "still running", "ended without exit()" */
const char *ac_report_state(const struct ac_report *report);
/* "measured by events ...", "none: no call was timed" */
void ac_report_add_clock(struct ac_text *text, const struct ac_report *report);
/* "3.2 s; the gain is 12.1 % of what it would have been, ..." of a wall time
 * that is known. */
void ac_report_add_wall(struct ac_text *text, const struct ac_report *report,
    const struct ac_report_totals *totals);
/* "NVIDIA H200", also of one that is emulated. */
const char *ac_report_add_gpu(struct ac_text *text,
    const struct ac_report *report);
/* "1.4x faster", "1.2x slower", "no faster" */
const char *ac_factor_add(struct ac_text *text, double before, double after);
/* "all 480 FP32 calls 6.6 ms -> 4.67 ms: 1.4x faster (estimated for NVIDIA
 * H200)", of totals that know such times. */
void ac_totals_add_whole(struct ac_text *text, const struct ac_report *report,
    const struct ac_report_totals *totals);
/* Where those times come from: "measured", "estimated for NVIDIA H200",
 * "measured, 12.0 % of it estimated". */
void ac_totals_add_basis_of_times(struct ac_text *text,
    const struct ac_report *report, const struct ac_report_totals *totals);
/* "scale 32768 after 100 updates, 3 of them with inf or NaN; ..." of scalers
 * that there were. */
void ac_scaled_add(struct ac_text *text, const struct ac_scaled_total *scaled);
/* "fp16 98.0 %, tf32 0.7 %", or "" */
void ac_totals_add_rungs(struct ac_text *text,
    const struct ac_report_totals *totals);
/* "too-small 1.2 % (12 calls), pedantic 0.1 % (1 call)", or "" */
void ac_totals_add_reasons(struct ac_text *text,
    const struct ac_report_totals *totals);
/* What the work is of: "GEMM", "GEMM/conv" or "conv" */
const char *ac_totals_kind(const struct ac_report_totals *totals);
/* "2 plans built in 3.2 ms, 1.0 MiB of workspace at most", or "" */
void ac_plans_add(struct ac_text *text, uint64_t plans, double plan_ms,
    uint64_t workspace);
/* What the program had asked for: "fp32", or "fp32 80.0 %, tf32 20.0 %". */
void ac_report_add_baseline(struct ac_text *text,
    const struct ac_report *report);
/* `s` with what could steer a terminal, or is no UTF-8, replaced by '?'. */
void ac_text_add_clean(struct ac_text *text, const char *s);
/* The same of what printf would make, 16 KiB at most. */
__attribute__((format(printf, 2, 3)))
void ac_text_add_cleanf(struct ac_text *text, const char *format, ...);
/* "1 call", "2 calls": `noun` in the plural by an s. */
const char *ac_text_add_count(struct ac_text *text, uint64_t count,
    const char *noun);

/* What these add to an empty text, for formats: it lasts as long as the block
 * that it is made in. */
#define AC_SAID(add, ...) \
	add((struct ac_text[]){ AC_TEXT_OF(256) }, __VA_ARGS__)
#define AC_COUNT(count, noun) AC_SAID(ac_text_add_count, (count), (noun))
#define AC_SHARE(part, whole) AC_SAID(ac_share_add, (part), (whole))
#define AC_FLOPS(flops) AC_SAID(ac_flops_add, (flops))
#define AC_TIME(us) AC_SAID(ac_time_add, (us))
#define AC_BYTES(bytes) AC_SAID(ac_bytes_add, (bytes))
#define AC_SPEED(speed) AC_SAID(ac_speed_add, (speed))
#define AC_RATIO(ratio) AC_SAID(ac_ratio_add, (ratio))
#define AC_DOUBLE(value, digits) AC_SAID(ac_double_add, (value), (digits))
#define AC_FIXED(value, decimals) AC_SAID(ac_fixed_add, (value), (decimals))

#endif
