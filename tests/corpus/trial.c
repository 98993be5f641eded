/* SPDX-License-Identifier: Apache-2.0 */
/* tests/corpus/trial.c -- one product on one rung, with the guard's facts. */
#include "tests/corpus/corpus.h"

#include "kernels/cast.h"

#include <math.h>
#include <stdlib.h>

enum { SIDE = CORPUS_SIDE, MOST = CORPUS_SIDE * CORPUS_K_MAX, SAMPLE = 16 };

struct trial_room {
	float a[MOST], b[MOST];
};

struct trial_room *
trial_room_new(void)
{
	return malloc(sizeof(struct trial_room));
}

void
trial_room_free(struct trial_room *room)
{
	free(room);
}

static float
widen(uint16_t x, enum ac_format format)
{
	const int exponent = x >> 10 & 31, fraction = x & 1023;
	float value;

	if (format == AC_FORMAT_BF16)
		return ac_cast_float((uint32_t)x << 16);
	if (exponent == 31)
		value = fraction ? NAN : INFINITY;
	else
		value = (float)ldexp(exponent ? 1024 + fraction : fraction,
		    (exponent ? exponent : 1) - 25);
	return x >> 15 ? -value : value;
}

static float
tf32(float x)
{
	const uint32_t u = ac_cast_bits(x);

	return ac_cast_float((u + 0xfff + (u >> 13 & 1)) & ~(uint32_t)0x1fff);
}

static uint32_t
amax(const float *x, int64_t count)
{
	uint32_t top = 0;

	for (int64_t i = 0; i < count; i++)
		if ((ac_cast_bits(x[i]) & 0x7fffffff) > top)
			top = ac_cast_bits(x[i]) & 0x7fffffff;
	return top;
}

struct loss {
	double rho, tile;
};

static struct loss
cast(const float *x, int64_t rows, int64_t cols, int32_t exponent,
    enum ac_format format, float *to)
{
	const struct ac_cast_factor factor = ac_cast_factor_of(exponent);
	double R = 0, S = 0;
	struct loss loss = { 0, 0 };

	for (int64_t j0 = 0; j0 < cols; j0 += 32)
		for (int64_t i0 = 0; i0 < rows; i0 += 32) {
			double r = 0, s = 0;
			for (int64_t j = j0; j < j0 + 32; j++)
				for (int64_t i = i0; i < i0 + 32; i++) {
					const float v = x[i + j * rows] *
					    factor.first * factor.second;
					const float q = widen(ac_cast_element(
					    x[i + j * rows], factor, format),
					    format);
					to[i + j * rows] = q;
					s += (double)v * (double)v;
					r += ((double)v - (double)q) *
					    ((double)v - (double)q);
				}
			R += r;
			S += s;
			if (s > 0)
				loss.tile = fmax(loss.tile, sqrt(r / s));
		}
	if (S > 0)
		loss.rho = sqrt(R / S);
	return loss;
}

static uint64_t
mix(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

static double
ratio(double r, double s)
{
	return s > 0 ? sqrt(r / s) : r > 0 ? INFINITY : 0;
}

static void
sample(const struct corpus_case *c, const float *product,
    struct ac_guard_facts *facts)
{
	uint64_t state = c->seed * 77;
	int row[SAMPLE], col[SAMPLE];
	double rr[SAMPLE] = {0}, rs[SAMPLE] = {0};
	double r = 0, s = 0;

	for (int i = 0; i < SAMPLE; i++) {
		row[i] = (int)(mix(&state) % 8) + 8 * i;
		col[i] = (int)(mix(&state) % 8) + 8 * i;
	}
	for (int j = 0; j < SAMPLE; j++) {
		double cr = 0, cs = 0;
		for (int i = 0; i < SAMPLE; i++) {
			double t = 0, e;
			for (int64_t p = 0; p < c->k; p++)
				t += (double)c->a[row[i] + p * SIDE] *
				    (double)c->b[p + col[j] * c->k];
			e = (double)product[row[i] + col[j] * SIDE] - t;
			cr += e * e;
			cs += t * t;
			rr[i] += e * e;
			rs[i] += t * t;
		}
		r += cr;
		s += cs;
		facts->line_error = fmax(facts->line_error, ratio(cr, cs));
	}
	for (int i = 0; i < SAMPLE; i++)
		facts->line_error = fmax(facts->line_error,
		    ratio(rr[i], rs[i]));
	facts->error = ratio(r, s);
}

struct ac_guard_facts
corpus_trial(const struct corpus_case *c, const struct corpus_rung *rung,
    struct trial_room *room, float *product_out)
{
	struct ac_guard_facts facts = { .rho = 0 };

	if (rung->cast) {
		struct ac_cast_scale scale = ac_cast_scale_of(
		    amax(c->a, SIDE * c->k), amax(c->b, SIDE * c->k),
		    rung->scaled, 1);
		if (rung->calls > 1)
			for (int i = 0; i < 2; i++) {
				scale.exponent[i] -= 3;
				scale.alpha *= 8;
			}
		struct loss a = cast(c->a, SIDE, c->k, scale.exponent[0],
		    rung->format, room->a);
		struct loss b = cast(c->b, c->k, SIDE, scale.exponent[1],
		    rung->format, room->b);
		facts.rho = hypot(a.rho, b.rho);
		facts.tile_rho = fmax(a.tile, b.tile);
		corpus_product_float(room->a, room->b, c->k, product_out);
		for (int i = 0; i < SIDE * SIDE; i++)
			product_out[i] *= scale.alpha;
	} else {
		for (int64_t i = 0; i < SIDE * c->k; i++) {
			room->a[i] = tf32(c->a[i]);
			room->b[i] = tf32(c->b[i]);
		}
		corpus_product_float(room->a, room->b, c->k, product_out);
	}
	sample(c, product_out, &facts);
	return facts;
}
