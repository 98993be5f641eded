/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/report/with_report.h -- a run made by hand, for the writers. */
#ifndef AC_TESTS_WITH_REPORT_H
#define AC_TESTS_WITH_REPORT_H

#include "tests/unit/with_state.h"

enum { MADE_SITES = 8 };

static struct ac_site_record made[MADE_SITES];
static struct ac_marker_record made_markers[2];
static struct ac_file_header made_header;

/* Site `i` of the run to come: m = 1000, so 2000 flops for n = k = 1. */
static struct ac_site_record *
make_site(int i, enum ac_rung rung, enum ac_tactic tactic,
    enum ac_reason reason)
{
	struct ac_site_record *site = &made[i];

	memset(site, 0, sizeof *site);
	site->key = key_of(1000);
	site->key.k = i + 1;
	site->id = 0x10 + (uint32_t)i;
	site->rung = rung;
	site->tactic = tactic;
	site->reason = reason;
	strcpy(site->source, "amp");
	site->line = 4;
	site->guard = AC_GUARD_ON;
	return site;
}

static void
make_calls(struct ac_site_record *site, uint64_t recast,
    enum ac_reason reason, uint64_t kept)
{
	atomic_fetch_add(&site->recast, recast);
	atomic_fetch_add(&site->kept[reason], kept);
}

/* It is of convolutions whose descriptors were not read. */
static inline void
make_unread(int i)
{
	struct ac_site_key *key = &made[i].key;

	key->operation = AC_OP_CONV_FPROP;
	key->ta = key->tb = '\0';
	key->m = key->n = key->k = key->batch = 0;
	strcpy(key->type, "-");
	strcpy(key->asked, "-");
	strcpy(key->shape, AC_SHAPE_UNREAD);
}

/* The run of `sites` made sites. It lasts until the next but one is made. */
__attribute__((unused)) static struct ac_report *
make_report(uint32_t sites)
{
	static struct ac_report *last, *last_but_one;
	struct ac_report *report = calloc(1, sizeof *report);
	struct ac_file_header *h = &made_header;

	ac_report_destroy(last_but_one);
	last_but_one = last;
	last = report;
	h->pid = 99999999;
	h->start_s = 86400;
	if (!*h->program)
		strcpy(h->program, "train");
	if (!*h->policy)
		strcpy(h->policy, "amp");
	strcpy(h->why, "nobody chose");
	strcpy(h->gpu, "NVIDIA H200");
	strcpy(h->library, "cublas-13.1");
	strcpy(h->run, "r");
	h->sm = 90;
	atomic_store(&h->sites, sites);
	assert_true(ac_report_add(report, h, made, made_markers));
	assert_true(ac_report_add_events(report, h, made));
	ac_report_arrange(report);
	return report;
}

#endif
