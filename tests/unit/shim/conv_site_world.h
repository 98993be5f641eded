/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/shim/conv_site_world.h -- what shim/conv/conv_site.c borrows, made
 * up: one GPU, a policy whose answer the test sets, and a look at what was
 * described. */
#ifndef AC_TESTS_CONV_SITE_WORLD_H
#define AC_TESTS_CONV_SITE_WORLD_H

#include "shim/conv/conv_site.h"
#include "tests/unit/cases.h"

#include "api/region.h"
#include "shim/device/device.h"
#include "shim/device/handle.h"
#include "shim/site/describe.h"
#include "shim/start/start.h"
#include "shim/trial/trial.h"

_Atomic uint32_t ac_binding_generation, ac_handle_generation;
__thread uint64_t ac_region_mark;
__thread struct ac_handle_cache ac_handle_last;
__thread struct ac_report_mine ac_report_mine;

static struct ac_shim shim;
_Atomic(const struct ac_shim *) ac_shim_started = &shim;
static struct ac_device gpu = { .sm = 90 };
static struct ac_handle handle_record;
static bool is_off, may_time;
static struct ac_decision answer;

/* What was described and counted last, how often something was decided, and the
 * record that the report has of it. */
static struct ac_description seen;
static int decided, described_device;
static uint32_t described_region;
static struct ac_site_record records[2], *record = records;
static struct ac_site_record *counted;

const struct ac_shim *
ac_shim_start(void)
{
	return &shim;
}

const struct ac_device *
ac_device_get(int device)
{
	return device == 0 ? &gpu : NULL;
}

bool
ac_device_may_time(int device)
{
	return device == 0 && may_time;
}

const struct ac_handle *
ac_handle_search(const void *handle)
{
	return &handle_record;
}

void
ac_report_count_slowly(struct ac_site_record *site)
{
	counted = site;
}

bool
ac_policy_is_off(const struct ac_policy *policy)
{
	return is_off;
}

void
ac_policy_decide(const struct ac_policy *policy, const struct ac_op *op,
    struct ac_decision *decision_out)
{
	seen.op = *op;
	*decision_out = answer;
}

void
ac_decision_keep(struct ac_decision *decision, enum ac_reason reason)
{
	decision->rung = AC_RUNG_KEEP;
	decision->reason = reason;
}

void
ac_describe_begin(struct ac_description *d, enum ac_operation operation,
    enum ac_entry entry, const void *caller)
{
	memset(d, 0, sizeof *d);
	d->key.operation = (uint32_t)operation;
}

void
ac_describe_asked(struct ac_description *d, const char *type,
    const char *asked)
{
	strcpy(d->key.type, type);
	strcpy(d->key.asked, asked);
}

void
ac_describe_dnn(struct ac_description *d, struct ac_provider *provider)
{
}

void
ac_describe_end(struct ac_description *d, uint32_t region, int device)
{
	described_region = region;
	described_device = device;
}

struct ac_site_record *
ac_describe_decided(const struct ac_description *d,
    struct ac_decision *decision)
{
	seen.key = d->key;
	decided++;
	return record;
}

static struct ac_variants made_variants;
static const struct ac_decision *decided_of;
static bool is_timed;

struct ac_variants *
ac_variants_make(const struct ac_decision *decision, struct ac_site_record *of,
    bool timed, double more)
{
	assert_true(more == 0);
	assert_ptr_equal(of, record);
	decided_of = decision;
	is_timed = timed;
	return &made_variants;
}

#endif
