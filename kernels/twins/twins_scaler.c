/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/twins/twins_scaler.c -- what the kernels of the gradient scaler do,
 * on the CPU: chunk after chunk, norms in the GPU's order. */

#include "kernels/scaler/scaler_body.h"
#include "kernels/scaler/scaler_update.h"
#include "kernels/twins/twins_inside.h"

/* ---- Counted access: `count` elements from number `first` on ----------- */

static const unsigned char *
read_run(struct ac_meter *meter, const void *data, uint32_t dtype,
    uint64_t first, uint64_t count)
{
	const uint32_t shift = ac_scaler_shift(dtype);

	meter->read += count << shift;
	return (const unsigned char *)data + (first << shift);
}

static unsigned char *
write_run(struct ac_meter *meter, void *data, uint32_t dtype, uint64_t first,
    uint64_t count)
{
	const uint32_t shift = ac_scaler_shift(dtype);

	meter->written += count << shift;
	return (unsigned char *)data + (first << shift);
}

static uint32_t
get(const unsigned char *run, uint32_t dtype, uint64_t i)
{
	uint16_t half;
	uint32_t whole;

	if (dtype == AC_SCALER_F32) {
		memcpy(&whole, run + i * sizeof whole, sizeof whole);
		return whole;
	}
	memcpy(&half, run + i * sizeof half, sizeof half);
	return half;
}

static void
put(unsigned char *run, uint32_t dtype, uint64_t i, uint32_t bits)
{
	const uint16_t half = (uint16_t)bits;

	if (dtype == AC_SCALER_F32)
		memcpy(run + i * sizeof bits, &bits, sizeof bits);
	else
		memcpy(run + i * sizeof half, &half, sizeof half);
}

static uint64_t
get_double(const unsigned char *run, uint64_t i)
{
	uint64_t bits;

	memcpy(&bits, run + i * sizeof bits, sizeof bits);
	return bits;
}

static double
number_of(const unsigned char *run, uint32_t dtype, uint64_t i)
{
	if (dtype == AC_SCALER_F64)
		return ac_scaler_double(get_double(run, i));
	return (double)ac_scaler_wide(dtype, get(run, dtype, i));
}

/* ---- Element by element ------------------------------------------------ */

/* Whether one is inf or NaN: 8 bytes at a time. */
static bool
has_bad(const unsigned char *run, uint32_t dtype, uint64_t count)
{
	const uint64_t bytes = count << ac_scaler_shift(dtype);
	uint32_t found = 0, words[2];
	uint64_t at = 0;

	for (; at + sizeof words <= bytes; at += sizeof words) {
		memcpy(words, run + at, sizeof words);
		found |= ac_scaler_look(dtype, words[1]);
		if (dtype != AC_SCALER_F64)
			found |= ac_scaler_look(dtype, words[0]);
	}
	words[0] = words[1] = 0;
	memcpy(words, run + at, bytes - at);
	return (found | ac_scaler_look(dtype, words[0])
	    | ac_scaler_look(dtype, words[1])) != 0;
}

/* Whether a product is inf or NaN. `to` NULL: they are not stored. */
static bool
multiply_run(const struct ac_scaler_way *way, uint32_t dtype,
    const unsigned char *from, unsigned char *to, uint64_t count)
{
	uint32_t bad = 0;

	for (uint64_t i = 0; i < count; i++) {
		if (dtype == AC_SCALER_F64) {
			const uint64_t x = ac_scaler_times_double(
			    get_double(from, i), way->factor_double);

			bad |= ac_scaler_look(dtype, (uint32_t)(x >> 32));
			if (to)
				memcpy(to + i * sizeof x, &x, sizeof x);
		} else {
			const uint32_t x = ac_scaler_times(dtype,
			    get(from, dtype, i), way->factor);

			bad |= ac_scaler_look(dtype, x);
			if (to)
				put(to, dtype, i, x);
		}
	}
	return bad != 0;
}

static bool
treat_run(const struct ac_scaler_way *all, const struct ac_scaler_tensor *t,
    const struct ac_scaler_slice *slice, struct ac_meter *meter)
{
	const struct ac_scaler_way way = ac_scaler_way_for(all, t->dtype);
	const unsigned char *from = read_run(meter, t->data, t->dtype,
	    slice->first, slice->count);
	bool bad = has_bad(from, t->dtype, slice->count), after;

	if (!way.write && !way.after)
		return bad;
	after = multiply_run(&way, t->dtype, from, way.write
	    ? write_run(meter, t->data, t->dtype, slice->first, slice->count)
	    : NULL, slice->count);
	return bad || (way.after && after);
}

static bool
treat_all(const struct ac_scaler_way *way,
    const struct ac_scaler_tensor *tensors, uint64_t tensor_count,
    uint64_t chunk_count)
{
	const unsigned mode = ac_float_mode_enter();
	struct ac_meter meter = {0};
	bool bad = false;

	for (uint64_t chunk = 0; chunk < chunk_count; chunk++) {
		const struct ac_scaler_slice slice = ac_scaler_slice_of(tensors,
		    tensor_count, chunk);

		bad |= treat_run(way, &tensors[slice.tensor], &slice, &meter);
	}
	ac_float_mode_leave(mode);
	ac_meter_add(&meter);
	return bad;
}

void
ac_twin_scaler_multiply(const struct emu_twin_launch *launch, void **params)
{
	const struct ac_scaler_product *product = params[0];
	const struct ac_scaler_way way =
	    ac_scaler_way_of(product->state->scale);

	(void)launch;
	if (way.write)
		treat_all(&way, product->tensor, product->tensor_count,
		    product->chunk_count);
}

void
ac_twin_scaler_unscale(const struct emu_twin_launch *launch, void **params)
{
	const struct ac_scaler_pass *pass = params[0];
	const struct ac_scaler_way way = ac_scaler_unscale_way(pass);

	(void)launch;
	pass->words->found |= treat_all(&way, pass->tensors,
	    pass->tensor_count, pass->chunk_count);
	ac_scaler_publish(pass);
}

void
ac_twin_scaler_clip(const struct emu_twin_launch *launch, void **params)
{
	const struct ac_scaler_pass *pass = params[0];
	const struct ac_scaler_way way = ac_scaler_clip_way(pass->words);

	(void)launch;
	if (way.write)
		treat_all(&way, pass->tensors, pass->tensor_count,
		    pass->chunk_count);
}

/* ---- Norms ------------------------------------------------------------- */

static double
together(double *sum, uint32_t p)
{
	for (int away = AC_CAST_LANES / 2; away; away /= 2)
		for (int lane = 0; lane < AC_SCALER_LANES; lane++)
			if (lane % AC_CAST_LANES < away)
				sum[lane] = ac_scaler_join(sum[lane],
				    sum[lane + away], p);
	for (int warp = 1; warp < AC_SCALER_WARPS; warp++)
		sum[0] = ac_scaler_join(sum[0], sum[warp * AC_CAST_LANES],
		    p);
	return ac_scaler_clean_double(sum[0]);
}

static double
chunk_part(const struct ac_scaler_tensor *t,
    const struct ac_scaler_slice *slice, uint32_t p, struct ac_meter *meter)
{
	const unsigned char *from = read_run(meter, t->data, t->dtype,
	    slice->first, slice->count);
	double sum[AC_SCALER_LANES] = {0};

	for (uint64_t i = 0; i < slice->count; i++) {
		double *lane = &sum[i / AC_SCALER_FOUR % AC_SCALER_LANES];

		*lane = ac_scaler_join(*lane, ac_scaler_part(number_of(from,
		    t->dtype, i), p), p);
	}
	return together(sum, p);
}

void
ac_twin_scaler_norm(const struct emu_twin_launch *launch, void **params)
{
	const struct ac_scaler_pass *pass = params[0];
	const unsigned mode = ac_float_mode_enter();
	double sum[AC_SCALER_LANES] = {0};
	struct ac_meter meter = {0};
	uint32_t p;

	(void)launch;
	memcpy(&p, params[1], sizeof p);
	for (uint64_t chunk = 0; chunk < pass->chunk_count; chunk++) {
		const struct ac_scaler_slice slice = ac_scaler_slice_of(
		    pass->tensors, pass->tensor_count, chunk);

		pass->partials[chunk] = chunk_part(
		    &pass->tensors[slice.tensor], &slice, p, &meter);
	}
	for (uint64_t i = 0; i < pass->chunk_count; i++)
		sum[i % AC_SCALER_LANES] = ac_scaler_join(
		    sum[i % AC_SCALER_LANES], pass->partials[i], p);
	pass->words->sum = together(sum, p);
	ac_float_mode_leave(mode);
	ac_meter_add(&meter);
}

/* ---- Guarded sums ------------------------------------------------------ */

static void
add_one(const struct ac_scaler_sum *job, float alpha, const unsigned char *x,
    unsigned char *y, uint64_t i)
{
	if (job->x_dtype == AC_SCALER_F64) {
		const double sum = ac_scaler_added_double(ac_scaler_double(
		    get_double(y, i)), alpha, ac_scaler_double(
		    get_double(x, i)));

		memcpy(y + i * sizeof sum, &sum, sizeof sum);
	} else {
		put(y, AC_SCALER_F32, i, ac_cast_bits(ac_scaler_added(
		    ac_cast_float(get(y, AC_SCALER_F32, i)), alpha,
		    ac_scaler_wide(job->x_dtype, get(x, job->x_dtype, i)))));
	}
}

void
ac_twin_scaler_add(const struct emu_twin_launch *launch, void **params)
{
	const struct ac_scaler_sum *job = params[0];
	const float alpha = ac_cast_scalar_read(&job->alpha);
	struct ac_meter meter = {0};
	const unsigned char *x;
	unsigned char *y;
	unsigned mode;

	(void)launch;
	if (!ac_scaler_may_add(job))
		return;
	mode = ac_float_mode_enter();
	x = read_run(&meter, job->x, job->x_dtype, 0, job->count);
	(void)read_run(&meter, job->y, job->y_dtype, 0, job->count);
	y = write_run(&meter, job->y, job->y_dtype, 0, job->count);
	for (uint64_t i = 0; i < job->count; i++)
		add_one(job, alpha, x, y, i);
	ac_float_mode_leave(mode);
	ac_meter_add(&meter);
}

/* ---- What one thread does ---------------------------------------------- */

void
ac_twin_scaler_fold(const struct emu_twin_launch *launch, void **params)
{
	struct ac_scaler_words *words;
	struct ac_scaler_state *state;
	const float *flags;
	uint64_t count;

	(void)launch;
	memcpy(&words, params[0], sizeof words);
	memcpy(&state, params[1], sizeof state);
	memcpy(&flags, params[2], sizeof flags);
	memcpy(&count, params[3], sizeof count);
	ac_scaler_fold_flags(words, state, flags, count);
}

void
ac_twin_scaler_close(const struct emu_twin_launch *launch, void **params)
{
	const unsigned mode = ac_float_mode_enter();

	(void)launch;
	ac_scaler_close_norm(params[0]);
	ac_float_mode_leave(mode);
}

void
ac_twin_scaler_update(const struct emu_twin_launch *launch, void **params)
{
	const unsigned mode = ac_float_mode_enter();
	struct ac_scaler_state *state;

	(void)launch;
	memcpy(&state, params[0], sizeof state);
	ac_scaler_apply(state, params[1]);
	ac_float_mode_leave(mode);
}

void
ac_twin_scaler_set(const struct emu_twin_launch *launch, void **params)
{
	const unsigned mode = ac_float_mode_enter();
	struct ac_scaler_state *state;

	(void)launch;
	memcpy(&state, params[0], sizeof state);
	ac_scaler_assign(state, params[1]);
	ac_float_mode_leave(mode);
}
