/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/scaler/scaler_device.c -- scripts on the product's gradient
 * scaler. */
#include "tests/unit/scaler/scaler_device.h"
#include "tests/unit/cases.h"

#define OK(call) assert_int_equal((call), 0)

/* ---- Memory -------------------------------------------------------------- */

void
device_open(struct device_end *d)
{
	*d = (struct device_end){0};
	OK(cudaGetDeviceCount(&d->devices));
	if (d->devices > 2)
		d->devices = 2;
	for (int device = d->devices - 1; device >= 0; device--) {
		OK(cudaSetDevice(device));
		for (int i = 0; i < SCRIPT_GROUPS; i++)
			OK(cudaMalloc(&d->memory[i][device],
			    SCRIPT_ELEMENTS * sizeof(uint64_t)));
	}
	OK(cudaMalloc((void **)&d->seed, sizeof *d->seed));
	OK(cudaMalloc((void **)&d->norm, sizeof *d->norm));
}

void
device_close(struct device_end *d)
{
	for (int i = 0; i < SCRIPT_GROUPS; i++)
		for (int device = 0; device < d->devices; device++)
			OK(cudaFree(d->memory[i][device]));
	OK(cudaFree(d->seed));
	OK(cudaFree(d->norm));
}

static size_t
width(char kind)
{
	return kind == 'd' ? 8 : kind == 'f' ? 4 : 2;
}

/* Write the gradients' bits; the device is idle, or what runs there reads them
 * before. */
static void
write_bits(struct device_end *d, int group, const struct script_gradients *g)
{
	const size_t each = width(g->kind);
	unsigned char bytes[SCRIPT_ELEMENTS * sizeof(uint64_t)];

	OK(cudaStreamSynchronize(d->stream));
	if (g->kind == '2') {
		for (size_t i = 0; i < g->count; i++) {
			const uint32_t bits = (uint32_t)g->words[i];

			OK(cudaSetDevice((int)i));
			OK(cudaMemcpy(d->memory[group][i], &bits, sizeof bits,
			    cudaMemcpyDefault));
			OK(cudaDeviceSynchronize());
		}
		OK(cudaSetDevice(0));
	} else if (g->count) {
		for (size_t i = 0; i < g->count; i++)
			memcpy(bytes + i * each, &g->words[i], each);
		OK(cudaMemcpy(d->memory[group][0], bytes, g->count * each,
		    cudaMemcpyDefault));
	}
	OK(cudaStreamSynchronize(NULL));
}

static void
end_show(void *self, int group, struct script_gradients *gradients_out)
{
	struct device_end *d = self;
	struct script_gradients *g = gradients_out;
	unsigned char bytes[SCRIPT_ELEMENTS * sizeof(uint64_t)];

	*g = d->layouts[group];
	OK(cudaStreamSynchronize(d->stream));
	if (g->kind == '2') {
		for (size_t i = 0; i < g->count; i++)
			OK(cudaMemcpy(&g->words[i], d->memory[group][i], 4,
			    cudaMemcpyDefault));
	} else if (g->count) {
		OK(cudaMemcpy(bytes, d->memory[group][0],
		    g->count * width(g->kind), cudaMemcpyDefault));
		for (size_t i = 0; i < g->count; i++) {
			g->words[i] = 0;
			memcpy(&g->words[i], bytes + i * width(g->kind),
			    width(g->kind));
		}
	}
}

static autocast_status
end_set(void *self, int group, const struct script_gradients *g)
{
	struct device_end *d = self;
	struct script_gradients *layout = &d->layouts[group];
	const size_t tensors = g->kind == '-' ? 0 : g->kind == '2' ? 2 : 1;
	const int32_t dtype = g->kind == 'd' ? AUTOCAST_F64
	    : g->kind == 'h' ? AUTOCAST_F16
	    : g->kind == 'b' ? AUTOCAST_BF16 : AUTOCAST_F32;
	autocast_tensor list[2];
	autocast_status status = AUTOCAST_OK;

	for (size_t i = 0; i < tensors; i++)
		list[i] = (autocast_tensor){ .dtype = dtype,
			.data = g->count ? d->memory[group][i] : NULL,
			.count = g->kind == '2' ? 1 : g->count,
			.device = g->kind == '2' ? (int)i
			    : AUTOCAST_DEVICE_ANY };
	if (layout->kind != g->kind || layout->count != g->count)
		status = autocast_group_set_gradients(d->groups[group],
		    tensors ? list : NULL, tensors);
	if (!status) {
		*layout = *g;
		write_bits(d, group, g);
	}
	return status;
}

/* ---- Creating ------------------------------------------------------------ */

static void
end_destroy(void *self)
{
	struct device_end *d = self;

	autocast_scaler_destroy(d->scaler);
	d->scaler = NULL;
}

static autocast_status
end_create(void *self, const autocast_scaler_options *options)
{
	static const struct script_gradients clean = { 'f', 2,
		{ 0x3f800000, 0x3f800000 } };
	struct device_end *d = self;
	const autocast_status status = autocast_scaler_create(options,
	    &d->scaler);

	d->options = *options;
	if (status)
		return status;
	OK(autocast_scaler_prepare(d->scaler, 0, d->stream));
	if (d->devices > 1)
		OK(autocast_scaler_prepare(d->scaler, 1, NULL));
	for (int i = 0; i < SCRIPT_GROUPS; i++) {
		OK(autocast_group_create(d->scaler, i ? NULL : "A",
		    &d->groups[i]));
		d->layouts[i] = (struct script_gradients){ .kind = '-' };
		OK(end_set(d, i, &clean));
	}
	return status;
}

char *
device_saved(autocast_scaler *scaler, size_t *size_out)
{
	size_t size = 0, written;
	char *text;

	OK(autocast_scaler_save(scaler, NULL, &size));
	text = malloc(size + 1);
	assert_non_null(text);
	written = size;
	OK(autocast_scaler_save(scaler, text, &written));
	assert_int_equal(written, size);
	text[size] = '\0';
	*size_out = size;
	return text;
}

static autocast_status
end_again(void *self)
{
	struct device_end *d = self;
	struct script_gradients kept[SCRIPT_GROUPS];
	autocast_status status;
	size_t size;
	char *text = device_saved(d->scaler, &size);

	for (int i = 0; i < SCRIPT_GROUPS; i++)
		end_show(d, i, &kept[i]);
	end_destroy(d);
	OK(end_create(d, &d->options));
	status = autocast_scaler_load(d->scaler, text, size);
	free(text);
	for (int i = 0; i < SCRIPT_GROUPS; i++)
		OK(end_set(d, i, &kept[i]));
	return status;
}

/* The text of that state: another scaler is brought there and saved. */
static char *
text_of(struct device_end *d, const struct script_state *state,
    size_t *size_out)
{
	autocast_scaler_options options = d->options;
	autocast_scaler *scaler;
	autocast_group *group;
	autocast_tensor none = { .dtype = AUTOCAST_F32, .device = 0 };
	char *text;

	options.init_scale = state->scale;
	options.growth = state->growth;
	options.backoff = state->backoff;
	options.interval = INT32_MAX;
	options.enabled = 1;
	options.strict = 0;
	options.min_scale = options.max_scale = 0;
	OK(autocast_scaler_create(&options, &scaler));
	OK(autocast_scaler_scale(scaler, NULL, 0, d->stream));
	OK(autocast_group_create(scaler, NULL, &group));
	OK(autocast_group_set_gradients(group, &none, 1));
	for (int32_t i = 0; i < state->tracker; i++) {
		OK(autocast_scaler_unscale(scaler, group, d->stream));
		OK(autocast_scaler_update(scaler, d->stream));
	}
	OK(autocast_scaler_set_interval(scaler, state->interval));
	text = device_saved(scaler, size_out);
	autocast_scaler_destroy(scaler);
	return text;
}

static autocast_status
end_load(void *self, const struct script_state *state)
{
	struct device_end *d = self;
	size_t size = 0;
	char *text = state ? text_of(d, state, &size) : NULL;
	const autocast_status status = autocast_scaler_load(d->scaler, text,
	    size);

	free(text);
	return status;
}

/* ---- An iteration -------------------------------------------------------- */

static autocast_status
end_scale(void *self)
{
	struct device_end *d = self;
	const autocast_tensor seed = { d->seed, 1, AUTOCAST_F32,
		AUTOCAST_DEVICE_ANY, "seed" };

	return autocast_scaler_scale(d->scaler, &seed, 1, d->stream);
}

static autocast_status
end_unscale(void *self, int group)
{
	struct device_end *d = self;

	return autocast_scaler_unscale(d->scaler, d->groups[group], d->stream);
}

static int
apply(void *user)
{
	((struct device_end *)user)->applied++;
	return 0;
}

static autocast_status
end_step(void *self, int group, int *stepped_out)
{
	struct device_end *d = self;
	const int before = d->applied;
	autocast_status status;
	int stepped = -7;

	status = autocast_scaler_step(d->scaler, d->groups[group], apply, d,
	    &stepped, d->stream);
	if (status)
		assert_int_equal(stepped, -7);
	else
		*stepped_out = stepped;
	assert_int_equal(d->applied - before, status ? 0 : stepped);
	return status;
}

static autocast_status
end_step_async(void *self, int group, float words_out[2])
{
	struct device_end *d = self;
	const float *scale = NULL, *found = NULL;
	const autocast_status status = autocast_scaler_step_async(d->scaler,
	    d->groups[group], d->stream);

	if (status)
		return status;
	OK(autocast_group_pointers(d->groups[group], 0, &scale, &found));
	OK(cudaStreamSynchronize(d->stream));
	if (found)
		OK(cudaMemcpy(&words_out[0], found, 4, cudaMemcpyDefault));
	if (scale)
		OK(cudaMemcpy(&words_out[1], scale, 4, cudaMemcpyDefault));
	return status;
}

static autocast_status
end_norm(void *self, int group, double p, float max_norm, float *norm_out)
{
	struct device_end *d = self;
	const autocast_status status = max_norm < 0
	    ? autocast_group_norm(d->groups[group], p, d->norm, d->stream)
	    : autocast_group_clip(d->groups[group], max_norm, d->norm,
	    d->stream);

	OK(cudaStreamSynchronize(d->stream));
	if (!status)
		OK(cudaMemcpy(norm_out, d->norm, sizeof *norm_out,
		    cudaMemcpyDefault));
	return status;
}

static autocast_status
end_update(void *self)
{
	struct device_end *d = self;

	return autocast_scaler_update(d->scaler, d->stream);
}

static autocast_status
end_update_to(void *self, double scale)
{
	struct device_end *d = self;

	return autocast_scaler_update_to(d->scaler, scale, d->stream);
}

/* ---- Reading and setting ----------------------------------------------- */

static autocast_status
end_get(void *self, double *scale_out, int32_t *tracker_out)
{
	return autocast_scaler_get(((struct device_end *)self)->scaler,
	    scale_out, tracker_out);
}

static autocast_status
end_set_growth(void *self, double growth)
{
	return autocast_scaler_set_growth(
	    ((struct device_end *)self)->scaler, growth);
}

static autocast_status
end_set_backoff(void *self, double backoff)
{
	return autocast_scaler_set_backoff(
	    ((struct device_end *)self)->scaler, backoff);
}

static autocast_status
end_set_interval(void *self, int64_t interval)
{
	return autocast_scaler_set_interval(
	    ((struct device_end *)self)->scaler, interval);
}

static autocast_status
end_factors(void *self, double *growth_out, double *backoff_out,
    int64_t *interval_out)
{
	autocast_scaler *scaler = ((struct device_end *)self)->scaler;
	const autocast_status status = autocast_scaler_get_growth(scaler,
	    growth_out);

	assert_int_equal(autocast_scaler_get_backoff(scaler, backoff_out),
	    status);
	assert_int_equal(autocast_scaler_get_interval(scaler, interval_out),
	    status);
	return status;
}

/* What a program's hook would have its network do. */
static int
bring_others(float *flag, int device, cudaStream_t stream, void *user)
{
	const float others = ((struct device_end *)user)->others;
	float mine;

	OK(cudaStreamSynchronize(stream));
	OK(cudaMemcpy(&mine, flag, sizeof mine, cudaMemcpyDefault));
	assert_true(mine == 0 || mine == 1);
	if (others > mine || others != others)
		OK(cudaMemcpy(flag, &others, sizeof others,
		    cudaMemcpyDefault));
	OK(cudaStreamSynchronize(NULL));
	return 0;
}

static autocast_status
end_reduce(void *self, float others)
{
	struct device_end *d = self;
	const autocast_status status = autocast_scaler_set_reduce(d->scaler,
	    bring_others, d);

	if (!status)
		d->others = others;
	return status;
}

const struct script_end device_script_end = {
	.create = end_create, .destroy = end_destroy, .scale = end_scale,
	.set = end_set, .show = end_show, .unscale = end_unscale,
	.step = end_step, .step_async = end_step_async, .norm = end_norm,
	.update = end_update, .update_to = end_update_to, .get = end_get,
	.set_growth = end_set_growth, .set_backoff = end_set_backoff,
	.set_interval = end_set_interval, .factors = end_factors,
	.load = end_load, .again = end_again, .reduce = end_reduce,
};
