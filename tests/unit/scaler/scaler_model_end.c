/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/scaler/scaler_model_end.c -- scripts run on the model of the
 * scaler. */
#include "tests/unit/scaler/scaler_model.h"

#include <string.h>

static autocast_status
end_create(void *self, const autocast_scaler_options *options)
{
	static const struct script_gradients clean = { 'f', 2,
		{ 0x3f800000, 0x3f800000 } };
	const autocast_status status = model_create(self, options);

	for (int i = 0; !status && i < SCRIPT_GROUPS; i++)
		((struct model *)self)->groups[i].gradients = clean;
	return status;
}

static void
end_destroy(void *self)
{
	(void)self;
}

static autocast_status
end_scale(void *self)
{
	return model_scale(self);
}

static autocast_status
end_set(void *self, int group, const struct script_gradients *gradients)
{
	return model_set(self, group, gradients);
}

static void
end_show(void *self, int group, struct script_gradients *gradients_out)
{
	*gradients_out = ((struct model *)self)->groups[group].gradients;
}

static autocast_status
end_unscale(void *self, int group)
{
	return model_unscale(self, group);
}

static autocast_status
end_step(void *self, int group, int *stepped_out)
{
	return model_step(self, group, stepped_out);
}

static autocast_status
end_step_async(void *self, int group, float words_out[2])
{
	const struct model_group *g
	    = &((struct model *)self)->groups[group];
	const autocast_status status = model_step_async(self, group);

	if (!status)
		memcpy(words_out, g->published, sizeof g->published);
	return status;
}

static autocast_status
end_norm(void *self, int group, double p, float max_norm, float *norm_out)
{
	return model_norm(self, group, p, max_norm, norm_out);
}

static autocast_status
end_update(void *self)
{
	return model_update(self);
}

static autocast_status
end_update_to(void *self, double scale)
{
	return model_update_to(self, scale);
}

static autocast_status
end_get(void *self, double *scale_out, int32_t *tracker_out)
{
	const struct model *m = self;

	*scale_out = m->rules.enabled ? (double)m->scale : 1;
	*tracker_out = m->rules.enabled ? m->tracker : 0;
	return AUTOCAST_OK;
}

static autocast_status
end_set_growth(void *self, double growth)
{
	return model_set_growth(self, growth);
}

static autocast_status
end_set_backoff(void *self, double backoff)
{
	return model_set_backoff(self, backoff);
}

static autocast_status
end_set_interval(void *self, int64_t interval)
{
	return model_set_interval(self, interval);
}

static autocast_status
end_factors(void *self, double *growth_out, double *backoff_out,
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

static autocast_status
end_load(void *self, const struct script_state *state)
{
	return model_load(self, state);
}

static autocast_status
end_again(void *self)
{
	return model_again(self);
}

static autocast_status
end_reduce(void *self, float others)
{
	return model_reduce(self, others);
}

const struct script_end model_end = {
	.create = end_create, .destroy = end_destroy, .scale = end_scale,
	.set = end_set, .show = end_show, .unscale = end_unscale,
	.step = end_step, .step_async = end_step_async, .norm = end_norm,
	.update = end_update, .update_to = end_update_to, .get = end_get,
	.set_growth = end_set_growth, .set_backoff = end_set_backoff,
	.set_interval = end_set_interval, .factors = end_factors,
	.load = end_load, .again = end_again, .reduce = end_reduce,
};
