/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/tune/tune_lines.h -- what becomes of each site, as lines of a policy; for
 * tune_text.c. */
#ifndef AC_CMD_TUNE_LINES_H
#define AC_CMD_TUNE_LINES_H

#include "cmd/tune/tune.h"

/* ---- What they are made of (cmd/tune/tune_parts.c) ----------------------- */

/* Behind the arrow. What is not ON, NONE or 0 is said. */
struct ac_tune_line_way {
	enum ac_rung        rung;
	enum ac_asked_guard guard;
	enum ac_tactic      tactic;  /* NONE: the rung's own */
	double              tol;     /* 0: the rung's own */
};

/* As the site ran on its rung. */
struct ac_tune_line_way ac_tune_way_as(const struct ac_site_total *site);
/* " -> fp16 tol=4e-4 profit=off", and the end of the line. */
void ac_tune_add_way(struct ac_text *text, const struct ac_tune_line_way *way);

/* What was measured of sites that share a line, and how a person reads it. */
struct ac_tune_evidence {
	uint64_t sites;
	double share, error, before, after;
};
void ac_tune_evidence_add(struct ac_tune_evidence *e,
    const struct ac_tune_site *site, enum ac_rung rung);
void ac_tune_add_evidence(struct ac_text *text,
    const struct ac_tune_evidence *e);

/* No more FLOPs, in three digits; " flops>=536M" of them. */
double ac_tune_round_flops(double flops);
void ac_tune_add_flops(struct ac_text *text, double flops);

/* ---- Lines --------------------------------------------------------------- */

/* The first of the ways; and of a convolution: it has no line. */
enum { AC_TUNE_LINE_KEEP = 0, AC_TUNE_LINE_NONE = 0x7fffffff };

struct ac_tune_lines {
	const struct ac_tune_plan *plan;
	struct ac_tune_line_way *ways;
	size_t  way_count;
	size_t *way;                 /* of each site of the plan */
	unsigned char *written;      /* it has a line */
	int64_t small;               /* min(m, n, k) that is kept; 0: none is */
	size_t  most;                /* the way of most of the work: of what
	                              * has at least */
	double  flops;               /* and less is kept */
};

/* Exits without memory. All sites are kept, unless they are set. */
void ac_tune_lines_begin(struct ac_tune_lines *lines,
    const struct ac_tune_plan *plan);
void ac_tune_lines_set(struct ac_tune_lines *lines, size_t site,
    const struct ac_tune_line_way *way);
/* The lines of all products, each behind a comment with what was measured. */
void ac_tune_lines_add(struct ac_text *text, struct ac_tune_lines *lines);
void ac_tune_lines_end(struct ac_tune_lines *lines);

/* A product of FP32 numbers. */
bool ac_tune_is_product(const struct ac_tune_site *site);

#endif
