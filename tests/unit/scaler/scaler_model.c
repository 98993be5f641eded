/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/scaler/scaler_model.c -- the second writing of the gradient
 * scaler. */
#include "tests/unit/scaler/scaler_model.h"

#include <math.h>
#include <string.h>

/* ---- Creating and settings --------------------------------------------- */

static bool
growth_allowed(double growth)
{
	return growth > 1;
}

static bool
backoff_allowed(double backoff, bool strict)
{
	return backoff < 1 && (!strict || backoff > 0);
}

/* The smallest scale, or minus infinity if there is none. */
static double
lower_bound(const autocast_scaler_options *o)
{
	if (o->min_scale)
		return o->strict ? fmax(o->min_scale, 0x1p-149) : o->min_scale;
	return o->strict ? 0x1p-149 : -INFINITY;
}

static double
upper_bound(const autocast_scaler_options *o)
{
	return o->max_scale ? o->max_scale : INFINITY;
}

static bool
options_allowed(const autocast_scaler_options *o)
{
	if (!growth_allowed(o->growth) || !backoff_allowed(o->backoff,
	    o->strict))
		return false;
	if (isnan(o->min_scale) || isnan(o->max_scale) || o->hysteresis < 1)
		return false;
	if (lower_bound(o) > upper_bound(o))
		return false;
	return !o->strict || (o->interval >= 1 && o->init_scale > 0
	    && o->init_scale < INFINITY);
}

static autocast_status
model_create(void *self, const autocast_scaler_options *options)
{
	struct model *const m = self;
	static const struct script_gradients clean = { 'f', 2,
		{ 0x3f800000, 0x3f800000 } };
	struct model fresh = { .rules = *options };
	double scale = options->init_scale;

	if (options->enabled && !options_allowed(options))
		return AUTOCAST_E_INVALID;
	if (scale > upper_bound(options))
		scale = upper_bound(options);
	if (scale < lower_bound(options))
		scale = lower_bound(options);
	fresh.scale = (float)scale;
	fresh.patience = options->hysteresis;
	for (int i = 0; i < SCRIPT_GROUPS; i++)
		fresh.groups[i].gradients = clean;
	*m = fresh;
	return AUTOCAST_OK;
}

static autocast_status
model_set_growth(void *self, double growth)
{
	struct model *const m = self;

	if (m->rules.enabled && m->rules.strict && !growth_allowed(growth))
		return AUTOCAST_E_INVALID;
	m->rules.growth = growth;
	return AUTOCAST_OK;
}

static autocast_status
model_set_backoff(void *self, double backoff)
{
	struct model *const m = self;

	if (m->rules.enabled && m->rules.strict
	    && !backoff_allowed(backoff, true))
		return AUTOCAST_E_INVALID;
	m->rules.backoff = backoff;
	return AUTOCAST_OK;
}

static autocast_status
model_set_interval(void *self, int64_t interval)
{
	struct model *const m = self;

	if (m->rules.enabled && m->rules.strict && interval < 1)
		return AUTOCAST_E_INVALID;
	m->rules.interval = interval;
	return AUTOCAST_OK;
}

static autocast_status
model_reduce(void *self, float others)
{
	struct model *const m = self;

	for (int i = 0; m->rules.enabled && i < SCRIPT_GROUPS; i++)
		if (m->groups[i].checked)
			return AUTOCAST_E_BUSY;
	m->reduced = true;
	m->others = others;
	return AUTOCAST_OK;
}

static autocast_status
model_load(void *self, const struct script_state *state)
{
	struct model *const m = self;
	const float least = (float)lower_bound(&m->rules);
	const float most = (float)upper_bound(&m->rules);
	const float scale = state ? (float)state->scale : 0;

	if (!m->rules.enabled)
		return AUTOCAST_OK;
	if (!state)
		return AUTOCAST_E_STATE_EMPTY;
	if (m->rules.strict && (scale != fmaxf(scale, least)
	    || scale != fminf(scale, most)))
		return AUTOCAST_E_STATE_FORMAT;
	m->scale = fminf(fmaxf(scale, least), most);
	m->rules.growth = state->growth;
	m->rules.backoff = state->backoff;
	m->rules.interval = state->interval;
	m->tracker = state->tracker;
	m->patience = m->rules.hysteresis;
	return AUTOCAST_OK;
}

static autocast_status
model_again(void *self)
{
	struct model *const m = self;
	const struct model old = *m;

	if (!old.rules.enabled)
		return AUTOCAST_OK;
	m->begun = m->host_knows = m->reduced = false;
	m->scale = fminf(fmaxf(m->scale, (float)lower_bound(&m->rules)),
	    (float)upper_bound(&m->rules));
	for (int i = 0; i < SCRIPT_GROUPS; i++)
		m->groups[i] = (struct model_group){
			.gradients = old.groups[i].gradients };
	return AUTOCAST_OK;
}

/* ---- An iteration -------------------------------------------------------- */

static autocast_status
model_scale(void *self)
{
	struct model *const m = self;

	m->begun = true;
	return AUTOCAST_OK;
}

/* What is written and what is there stay in step: a layout changes only
 * between iterations. */
static autocast_status
model_set(void *self, int group, const struct script_gradients *g)
{
	struct model *const m = self;
	struct model_group *to = &m->groups[group];

	if ((to->gradients.kind != g->kind || to->gradients.count != g->count)
	    && to->record != MODEL_READY && m->rules.enabled) {
		/* There was nothing, so that nothing came of it. */
		if (to->record == MODEL_STEPPED || to->checked)
			return AUTOCAST_E_BUSY;
		to->record = MODEL_READY;
	}
	to->gradients = *g;
	return AUTOCAST_OK;
}

/* Look at all gradients, and at what dividing by the scale makes of them. */
static bool
check(const struct model *m, struct script_gradients *g, bool divide)
{
	const float inverse = (float)(1 / (double)m->scale);
	bool bad = m->rules.strict && isinf(inverse) && g->kind != '-', nan;

	for (size_t i = 0; i < g->count; i++) {
		const uint64_t before = g->words[i];

		bad |= script_nonfinite(g, i, &nan);
		if (inverse == 1)
			continue;
		g->words[i] = model_times(before, g->kind, (double)inverse);
		bad |= m->rules.check_after && script_nonfinite(g, i, &nan);
		if (!divide)
			g->words[i] = before;
	}
	return bad;
}

/* The flag of this process becomes that of all. */
static void
record(struct model *m, struct model_group *g, bool bad, float left)
{
	g->checked = m->reduced || g->gradients.kind != '-';
	g->bad = bad || (m->reduced && m->others != 0);
	g->published[0] = g->bad;
	g->published[1] = left;
}

static autocast_status
unscale(struct model *m, struct model_group *g)
{
	if (g->gradients.kind == 'h' && !m->rules.allow_fp16)
		return AUTOCAST_E_DTYPE;
	record(m, g, check(m, &g->gradients, true), 1);
	g->record = MODEL_UNSCALED;
	return AUTOCAST_OK;
}

static autocast_status
model_unscale(void *self, int group)
{
	struct model *const m = self;
	struct model_group *g = &m->groups[group];

	if (!m->rules.enabled)
		return AUTOCAST_OK;
	if (!m->begun)
		return AUTOCAST_E_NOT_SCALED;
	if (g->record != MODEL_READY)
		return g->record == MODEL_UNSCALED
		    ? AUTOCAST_E_ALREADY_UNSCALED
		    : AUTOCAST_E_UNSCALE_AFTER_STEP;
	return unscale(m, g);
}

static autocast_status
model_step(void *self, int group, int *stepped_out)
{
	struct model *const m = self;
	struct model_group *g = &m->groups[group];

	if (!m->rules.enabled)
		return *stepped_out = 1, AUTOCAST_OK;
	if (!m->begun)
		return AUTOCAST_E_NOT_SCALED;
	if (g->record == MODEL_STEPPED)
		return AUTOCAST_E_ALREADY_STEPPED;
	if (g->record == MODEL_READY) {
		const autocast_status status
		    = m->rules.strict && !m->reduced && g->gradients.kind == '-'
		    ? AUTOCAST_E_NO_CHECKS_GROUP : unscale(m, g);

		if (status)
			return status;
	}
	if (!g->checked)
		return AUTOCAST_E_NO_CHECKS_GROUP;
	g->record = MODEL_STEPPED;
	m->host_knows |= g->bad;
	*stepped_out = !g->bad;
	return AUTOCAST_OK;
}

static autocast_status
step_async(struct model *m, int group)
{
	struct model_group *g = &m->groups[group];

	if (!m->rules.enabled)
		return AUTOCAST_OK;
	if (!m->begun)
		return AUTOCAST_E_NOT_SCALED;
	if (g->record == MODEL_STEPPED)
		return AUTOCAST_E_ALREADY_STEPPED;
	if (g->record == MODEL_READY && !m->reduced
	    && g->gradients.kind == '-') {
		if (!m->rules.strict)
			g->record = MODEL_UNSCALED;
		return AUTOCAST_E_NO_CHECKS_GROUP;
	}
	if (g->record == MODEL_READY)
		record(m, g, check(m, &g->gradients, false), m->scale);
	else if (!g->checked)
		return AUTOCAST_E_NO_CHECKS_GROUP;
	g->record = MODEL_STEPPED;
	return AUTOCAST_OK;
}

static autocast_status
model_step_async(void *self, int group, float words_out[2])
{
	struct model *const m = self;
	const autocast_status status = step_async(m, group);

	if (!status)
		memcpy(words_out, m->groups[group].published,
		    sizeof m->groups[group].published);
	return status;
}

static double
norm_of(const struct script_gradients *g, double p)
{
	double sum = 0;

	for (size_t i = 0; i < g->count; i++) {
		const double x = fabs(model_number(g->words[i], g->kind));

		if (isnan(x) || isnan(sum))
			sum = NAN;
		else if (isinf(p))
			sum = x > sum ? x : sum;
		else
			sum += p == 2 ? x * x : x;
	}
	return p == 2 ? sqrt(sum) : sum;
}

static autocast_status
model_norm(void *self, int group, double p, float max_norm,
    float *norm_out)
{
	struct model *const m = self;
	struct model_group *g = &m->groups[group];
	double norm, factor;

	if (m->rules.enabled && g->record != MODEL_UNSCALED)
		return AUTOCAST_E_NOT_UNSCALED;
	norm = norm_of(&g->gradients, p);
	*norm_out = (float)norm;
	if (max_norm < 0)
		return AUTOCAST_OK;
	factor = g->gradients.kind == 'd' ? (double)max_norm / (norm + 1e-6)
	    : (double)(max_norm / (*norm_out + 1e-6f));
	for (size_t i = 0; i < g->gradients.count && !(factor >= 1); i++)
		g->gradients.words[i] = model_times(g->gradients.words[i],
		    g->gradients.kind, factor);
	return AUTOCAST_OK;
}

/* ---- Updating ------------------------------------------------------------ */

static void
forget(struct model *m)
{
	m->host_knows = false;
	for (int i = 0; i < SCRIPT_GROUPS; i++) {
		m->groups[i].record = MODEL_READY;
		m->groups[i].checked = m->groups[i].bad = false;
	}
}

/* Returns whether the minimum held it. */
static bool
back_off(struct model *m)
{
	const float next = (float)((double)m->scale * m->rules.backoff);
	const double least = lower_bound(&m->rules);

	m->tracker = 0;
	m->patience -= m->patience > 0;
	if (m->patience)
		return false;
	m->scale = (double)next < least ? (float)least : next;
	return (double)next < least;
}

static void
count_clean(struct model *m)
{
	const double most = upper_bound(&m->rules);
	float next;

	m->patience = m->rules.hysteresis;
	if (++m->tracker != m->rules.interval)
		return;
	m->tracker = 0;
	next = (float)((double)m->scale * m->rules.growth);
	if (!isfinite(next))
		return;
	m->scale = (double)next > most ? (float)most : next;
}

static autocast_status
model_update(void *self)
{
	struct model *const m = self;
	bool any = false, bad = false, held = false, told = m->host_knows;

	if (!m->rules.enabled)
		return AUTOCAST_OK;
	if (!m->begun)
		return AUTOCAST_E_NOT_SCALED;
	for (int i = 0; i < SCRIPT_GROUPS; i++) {
		any |= m->groups[i].checked;
		bad |= m->groups[i].checked && m->groups[i].bad;
	}
	if (!any)
		return AUTOCAST_E_NO_CHECKS;
	if (bad)
		held = back_off(m);
	else
		count_clean(m);
	forget(m);
	return m->rules.strict && held && told ? AUTOCAST_E_AT_MINIMUM
	    : AUTOCAST_OK;
}

static autocast_status
model_update_to(void *self, double scale)
{
	struct model *const m = self;

	if (!m->rules.enabled)
		return AUTOCAST_OK;
	if (!m->begun)
		return AUTOCAST_E_NOT_SCALED;
	if (m->rules.strict && !(scale > 0 && isfinite((float)scale)
	    && scale >= lower_bound(&m->rules)
	    && scale <= upper_bound(&m->rules)))
		return AUTOCAST_E_INVALID;
	m->scale = (float)scale;
	forget(m);
	return AUTOCAST_OK;
}

/* ---- Looking ------------------------------------------------------------- */

static void
model_destroy(void *self)
{
	(void)self;
}

static void
model_show(void *self, int group, struct script_gradients *gradients_out)
{
	*gradients_out = ((struct model *)self)->groups[group].gradients;
}

static autocast_status
model_get(void *self, double *scale_out, int32_t *tracker_out)
{
	const struct model *m = self;

	*scale_out = m->rules.enabled ? (double)m->scale : 1;
	*tracker_out = m->rules.enabled ? m->tracker : 0;
	return AUTOCAST_OK;
}

static autocast_status
model_factors(void *self, double *growth_out, double *backoff_out,
    int64_t *interval_out)
{
	const struct model *m = self;

	if (!m->rules.enabled)
		return AUTOCAST_E_INVALID;
	*growth_out = m->rules.growth;
	*backoff_out = m->rules.backoff;
	*interval_out = m->rules.interval;
	return AUTOCAST_OK;
}

const struct script_end model_end = {
	.create = model_create, .destroy = model_destroy,
	.scale = model_scale, .set = model_set, .show = model_show,
	.unscale = model_unscale, .step = model_step,
	.step_async = model_step_async, .norm = model_norm,
	.update = model_update, .update_to = model_update_to,
	.get = model_get, .set_growth = model_set_growth,
	.set_backoff = model_set_backoff, .set_interval = model_set_interval,
	.factors = model_factors, .load = model_load, .again = model_again,
	.reduce = model_reduce,
};
