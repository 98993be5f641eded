/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/scaler/test_scaler_fuzz.c -- random calls: the rules of the
 * gradient scaler, and the whole of it, against a second writing of the rules,
 * which itself does what PyTorch does. */
#include "tests/unit/cases.h"
#include "tests/unit/scaler/scaler_model.h"
#include "tests/unit/scaler/scaler_rows.h"

#include "scaler/core.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SEQUENCES = 100000 };
#else
enum { SEQUENCES = 1000000 };
#endif

static uint64_t dice;

static unsigned
roll(unsigned sides)
{
	dice ^= dice << 13;
	dice ^= dice >> 7;
	dice ^= dice << 17;
	return (unsigned)(dice >> 33) % sides;
}

#define ANY(array) ((array)[roll(COUNT(array))])

/* ---- Both -------------------------------------------------------------- */

struct pair {
	struct model model;
	struct ac_core core;
	struct ac_core_group groups[SCRIPT_GROUPS];
	struct ac_scaler_state state;
	bool     flags[SCRIPT_GROUPS]; /* what a device would have found */
	uint64_t sequence;
	char     calls[64];
	int      called;
};

static const double inits[] = { 65536, 1, 8, 1e38, 0x1p-148, 0.1, 3, 0x1p127 },
    odd_inits[] = { 0, -1, NAN, INFINITY },
    growths[] = { 2, 2, 1.1, 16, 1.5, 1e30 },
    odd_growths[] = { 1, NAN, .5, -2, INFINITY },
    backoffs[] = { .5, .5, .8, .1, .25, 1e-30 },
    odd_backoffs[] = { 0, -1, 1, NAN, 1.5 };
static const int64_t intervals[] = { 1, 2, 3, 3, 5, 2000 },
    odd_intervals[] = { 0, -1, INT64_MIN, INT64_MAX };

#define SOME(which) (roll(16) ? ANY(which) : ANY(odd_##which))

static autocast_scaler_options
random_options(void)
{
	static const double lowest[] = { 0, 0, 0, 0.25, 1, 0.1 },
	    highest[] = { 0, 0, 0, 16, 1e6, 0.3 };
	autocast_scaler_options o = AUTOCAST_SCALER_OPTIONS;

	o.init_scale = SOME(inits);
	o.growth = SOME(growths);
	o.backoff = SOME(backoffs);
	o.interval = SOME(intervals);
	o.min_scale = ANY(lowest);
	o.max_scale = ANY(highest);
	o.hysteresis = roll(4) ? 1 : (int)roll(5) - 1;
	o.enabled = roll(32) != 0;
	o.strict = (int)roll(2);
	o.check_after = (int)roll(2);
	o.allow_fp16 = roll(4) == 0;
	return o;
}

static void __attribute__((noreturn))
differ(const struct pair *p, const char *what, double model, double core)
{
	const autocast_scaler_options *o = &p->model.rules;

	fail_msg("sequence %llu, call %d of \"%s\" (%.9g,%.9g,%.9g,%lld,"
	    "min=%.9g,max=%.9g,hysteresis=%d,strict=%d): %s: model %.9g, core "
	    "%.9g", (unsigned long long)p->sequence, p->called, p->calls,
	    o->init_scale, o->growth, o->backoff, (long long)o->interval,
	    o->min_scale, o->max_scale, o->hysteresis, o->strict, what, model,
	    core);
	abort();
}

static void
same_status(const struct pair *p, autocast_status model, autocast_status core)
{
	if (model != core)
		fail_msg("sequence %llu, call %d of \"%s\": model %s, core %s",
		    (unsigned long long)p->sequence, p->called, p->calls,
		    script_status(model), script_status(core));
}

static void
same_state(const struct pair *p)
{
	/* Until something is scaled the state is the core's to tell. */
	const struct ac_scaler_state first = ac_core_first_state(&p->core);
	const struct ac_scaler_state *s = p->core.is_scaled ? &p->state :
							      &first;
	const struct model *m = &p->model;
	const struct { const char *name; uint64_t model, core; } counts[] = {
		{ "updates", m->counters.updates, s->updates },
		{ "overflows", m->counters.overflows, s->overflows },
		{ "growths", m->counters.growths, s->rises },
		{ "backoffs", m->counters.backoffs, s->falls },
		{ "clamps", m->counters.clamps, s->clamps },
		{ "last overflow", m->counters.last_overflow,
		    s->last_overflow },
	};

	if (!m->rules.enabled)
		return;
	if (memcmp(&m->scale, &s->scale, 4) && !(isnan(m->scale)
	    && isnan(s->scale)))
		differ(p, "scale", m->scale, s->scale);
	if (m->tracker != s->tracker)
		differ(p, "tracker", m->tracker, s->tracker);
	if (m->patience != s->patience)
		differ(p, "patience", m->patience, s->patience);
	if (!m->begun)
		return;
	for (size_t i = 0; i < COUNT(counts); i++)
		if (counts[i].model != counts[i].core)
			differ(p, counts[i].name, (double)counts[i].model,
			    (double)counts[i].core);
	for (int i = 0; i < SCRIPT_GROUPS; i++)
		if ((int)m->groups[i].record
		    != (int)ac_core_stage(&p->core, &p->groups[i]))
			differ(p, "stage", m->groups[i].record,
			    ac_core_stage(&p->core, &p->groups[i]));
}

/* ---- Calls on the core, with the work that the device would do ----------- */

/* The flag of a group as the device finds it, ORed into the state's. */
static void
found(struct pair *p, int group)
{
	p->flags[group] = p->model.groups[group].bad;
	p->state.found |= p->flags[group];
}

static void
call_scale(struct pair *p)
{
	model_scale(&p->model);
	if (!p->core.enabled)
		return;
	if (!p->core.is_scaled)
		p->state = ac_core_first_state(&p->core);
	ac_core_scaled(&p->core);
}

static bool
has_fp16(const struct pair *p, int group)
{
	return p->model.groups[group].gradients.kind == 'h';
}

static bool
has_flag(const struct pair *p, int group)
{
	return p->model.reduced
	    || p->model.groups[group].gradients.kind != '-';
}

static void
call_unscale(struct pair *p, int group)
{
	const autocast_status status = ac_core_may_unscale(&p->core,
	    &p->groups[group], has_fp16(p, group));

	same_status(p, model_unscale(&p->model, group), status);
	if (status || !p->core.enabled)
		return;
	ac_core_unscaled(&p->core, &p->groups[group], has_flag(p, group));
	found(p, group);
}

static void
call_step(struct pair *p, int group, bool divide)
{
	struct ac_core_group *g = &p->groups[group];
	const autocast_status status = ac_core_may_step(&p->core, g, divide,
	    has_flag(p, group), has_fp16(p, group));
	int stepped = -1;

	same_status(p, divide ? model_step(&p->model, group, &stepped)
	    : model_step_async(&p->model, group), status);
	if (status || !p->core.enabled)
		return;
	if (ac_core_must_check(&p->core, g)) {
		ac_core_checked(&p->core, g, divide);
		found(p, group);
	}
	ac_core_stepped(&p->core, g);
	if (divide && stepped == (int)p->flags[group])
		differ(p, "stepped", stepped, !p->flags[group]);
}

static void
call_update(struct pair *p)
{
	const autocast_status status = ac_core_may_update(&p->core);
	const bool told = p->model.host_knows;
	autocast_status expected = model_update(&p->model);
	bool held;

	if (status || !p->core.enabled) {
		same_status(p, expected, status);
		return;
	}
	held = ac_scaler_rule_apply(&p->state, &p->core.rule);
	ac_core_updated(&p->core);
	if (expected == AUTOCAST_E_AT_MINIMUM && held && told)
		expected = AUTOCAST_OK;
	same_status(p, expected, status);
}

static void
call_update_to(struct pair *p, double scale)
{
	const autocast_status status = ac_core_may_update_to(&p->core, scale);

	same_status(p, model_update_to(&p->model, scale), status);
	if (status || !p->core.enabled)
		return;
	p->state.scale = (float)scale;
	p->state.inverse = (float)(1 / scale);
	p->state.found = 0;
	ac_core_updated(&p->core);
}

static void
call_setting(struct pair *p)
{
	const double growth = SOME(growths), backoff = SOME(backoffs);
	const int64_t interval = SOME(intervals);

	switch (roll(3)) {
	case 0:
		same_status(p, model_set_growth(&p->model, growth),
		    ac_core_set_growth(&p->core, growth));
		break;
	case 1:
		same_status(p, model_set_backoff(&p->model, backoff),
		    ac_core_set_backoff(&p->core, backoff));
		break;
	default:
		same_status(p, model_set_interval(&p->model, interval),
		    ac_core_set_interval(&p->core, interval));
	}
}

static void
call_load(struct pair *p)
{
	const struct script_state state = { 4, 2, .5, 3, 1 };
	struct ac_core_saved saved = { .scale = 4, .growth = 2,
		.backoff = .5, .interval = 3, .tracker = 1,
		.patience = p->model.rules.hysteresis };
	autocast_status status = AUTOCAST_OK;

	if (p->core.enabled)
		status = ac_core_may_load(&p->core, &saved);
	same_status(p, model_load(&p->model, &state), status);
	if (status || !p->core.enabled)
		return;
	ac_core_load(&p->core, &saved);
	p->state.scale = saved.scale;
	p->state.tracker = saved.tracker;
	p->state.patience = saved.patience;
}

static void
call_set(struct pair *p, int group)
{
	static const struct script_gradients kinds[] = {
		{ .kind = '-' }, { .kind = 'f' },
		{ .kind = 'f', .count = 1, .words = { 0x3f800000 } },
		{ .kind = 'f', .count = 1, .words = { 0x3f800000 } },
		{ .kind = 'f', .count = 1, .words = { 0x7f800000 } },
		{ .kind = 'f', .count = 1, .words = { 0x7fc00001 } },
		{ .kind = 'h', .count = 1, .words = { 0x3c00 } },
		{ .kind = 'd', .count = 1, .words = { 0xfff0000000000000 } },
	};
	const struct script_gradients *const to = &ANY(kinds),
	    *const now = &p->model.groups[group].gradients;
	struct ac_core_group *const g = &p->groups[group];
	const bool is_unused = ac_core_is_unused(&p->core, g);

	if (to->kind == now->kind && to->count == now->count) {
		assert_int_equal(model_set(&p->model, group, to), AUTOCAST_OK);
		return;
	}
	same_status(p, model_set(&p->model, group, to),
	    is_unused ? AUTOCAST_OK : AUTOCAST_E_BUSY);
	if (is_unused)
		ac_core_replaced(&p->core, g);
}

static void
random_call(struct pair *p)
{
	static const char calls[] = "SSSUUUTTTTTFFPPPPPPgggwLR=";
	const char call = calls[roll(sizeof calls - 1)];
	const int group = (int)roll(SCRIPT_GROUPS);

	p->calls[p->called++] = call;
	switch (call) {
	case 'S':
		call_scale(p);
		break;
	case 'U':
		call_unscale(p, group);
		break;
	case 'T':
	case 'F':
		call_step(p, group, call == 'T');
		break;
	case 'P':
		call_update(p);
		break;
	case 'g':
		call_set(p, group);
		break;
	case '=':
		call_setting(p);
		break;
	case 'w':
		call_update_to(p, roll(4) ? ANY(inits) : SOME(inits));
		break;
	case 'L':
		call_load(p);
		break;
	default:
		p->model.rules.enabled && roll(8) == 0
		    ? (void)model_reduce(&p->model, (float)roll(2)) : (void)0;
	}
	same_state(p);
}

CASE(core)
{
	uint64_t calls = 0;
	int made = 0;

	dice = 20240601;
	for (uint64_t i = 0; made < SEQUENCES; i++) {
		const autocast_scaler_options options = random_options();
		struct pair p = { .sequence = i };
		const autocast_status status = ac_core_init(&options, &p.core);

		same_status(&p, model_create(&p.model, &options), status);
		if (status)
			continue;
		made++;
		for (unsigned n = 4 + roll(28); n; n--, calls++)
			random_call(&p);
	}
	print_message("# %d sequences, %llu calls\n", made,
	    (unsigned long long)calls);
}

/* ---- The model itself -------------------------------------------------- */

CASE(as_pytorch)
{
	struct script_row *table;
	struct model model;
	size_t count;

	table = script_table(&count);
	assert_true(count >= 400);
	for (size_t i = 0; i < count; i++) {
		rows_check(&model_end, &model, &table[i], false);
		if (table[i].id[0] != 'R')
			rows_check(&model_end, &model, &table[i], true);
	}
	for (size_t i = 0; i < rows_own_count; i++) {
		rows_check(&model_end, &model, &rows_own[i], false);
		rows_check(&model_end, &model, &rows_own[i], true);
	}
	free(table);
}

CASES_RUN(NULL, NULL)
