/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/scaler/test_scaler_update.c -- how the scale moves: the device's
 * update against the host's and both against a model of doubles; long ways;
 * setting, folding; float modes. Rows with their bits are of
 * test_scaler_conformance.c. */
#include "tests/unit/cases.h"
#include "tests/unit/scaler/scaler_cases.h"

#include <float.h>
#include <math.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct ac_scaler_rule defaults = { 2, .5, 0, INFINITY, 2000, 1,
	0 };

static struct ac_scaler_state
state_of(float scale, int32_t patience)
{
	return (struct ac_scaler_state){ .scale = scale,
		.inverse = (float)(1 / (double)scale), .patience = patience,
		.least = scale, .most = scale };
}

static void
update(struct ac_scaler_state *s, const struct ac_scaler_rule *rule,
    uint32_t found)
{
	struct ac_scaler_rule copy = *rule;
	void *params[] = { &s, &copy };

	s->found = found;
	scaler_run("ac_scaler_update", params);
	assert_int_equal(s->found, 0);
	assert_true(s->inverse == (float)(1 / (double)s->scale)
	    || isnan(s->scale));
}

static uint32_t
bits_of(float x)
{
	uint32_t bits;

	memcpy(&bits, &x, sizeof bits);
	return bits;
}

/* K9-K11, K19: long ways. */
CASE(test_long_rows)
{
	struct ac_scaler_state s = state_of(65536, 1);

	for (int i = 0; i < 1999; i++)
		update(&s, &defaults, 0);
	assert_true(s.scale == 65536 && s.tracker == 1999);
	update(&s, &defaults, 0);
	assert_true(s.scale == 131072 && s.tracker == 0 && s.rises == 1);
	s = state_of(65536, 1);
	for (int i = 0; i < 165; i++)
		update(&s, &defaults, 1);
	assert_int_equal(bits_of(s.scale), 1);
	assert_true(s.falls == 165 && s.overflows == 165 && s.updates == 165);
	assert_true(s.last_overflow == 165 && s.least == 0x1p-149f);
	/* An interval below the tracker never comes; the count has an end. */
	s = state_of(8, 1);
	s.tracker = 5;
	update(&s, &(struct ac_scaler_rule){ 2, .5, 0, INFINITY, 3, 1, 0 }, 0);
	assert_true(s.scale == 8 && s.tracker == 6);
	s.tracker = INT32_MAX;
	update(&s, &defaults, 0);
	assert_true(s.scale == 8 && s.tracker == INT32_MAX);
	update(&s, &(struct ac_scaler_rule){ 2, .5, 0, INFINITY,
	    INT64_C(1) << 31, 1, 0 }, 0);
	assert_true(s.scale == 16 && s.tracker == 0);
}

/* K78, K79: bounds hold, and are told and counted. */
CASE(test_bounds)
{
	const struct ac_scaler_rule rule = { 2, .5, 1, 0x1p24, 1, 1, 0 };
	struct ac_scaler_state s = state_of(0x1p23f, 1), copy;

	copy = s;
	assert_false(ac_scaler_rule_apply(&copy, &rule));
	update(&s, &rule, 0);
	assert_true(s.scale == 0x1p24f && s.rises == 1 && s.clamps == 0);
	copy = s;
	assert_true(ac_scaler_rule_apply(&copy, &rule));
	update(&s, &rule, 0);
	assert_true(s.scale == 0x1p24f && s.rises == 1 && s.clamps == 1
	    && s.tracker == 0);
	s = state_of(2, 1);
	update(&s, &rule, 1);
	assert_true(s.scale == 1 && s.falls == 1 && s.clamps == 0);
	copy = s;
	copy.found = 1;
	assert_true(ac_scaler_rule_apply(&copy, &rule));
	update(&s, &rule, 1);
	assert_true(s.scale == 1 && s.falls == 1 && s.clamps == 1);
	/* Without bounds a negative factor goes where it goes. */
	update(&s, &(struct ac_scaler_rule){ 2, -.5, 0, INFINITY, 1, 1, 0 },
	    1);
	assert_true(s.scale == -.5f && s.least == -.5f);
}

/* Three in a row until it backs off; a clean one in between forgives. */
CASE(test_patience)
{
	const struct ac_scaler_rule rule = { 2, .5, 0, INFINITY, 2, 3, 0 };
	struct ac_scaler_state s = state_of(64, 3);

	update(&s, &rule, 0);
	update(&s, &rule, 1);
	assert_true(s.scale == 64 && s.patience == 2 && s.tracker == 0);
	update(&s, &rule, 1);
	assert_true(s.scale == 64 && s.patience == 1);
	update(&s, &rule, 1);
	assert_true(s.scale == 32 && s.patience == 0);
	assert_true(s.overflows == 3 && s.last_overflow == 4);
	update(&s, &rule, 1);
	assert_true(s.scale == 16 && s.patience == 0);
	update(&s, &rule, 0);
	assert_true(s.scale == 16 && s.patience == 3 && s.tracker == 1);
	update(&s, &rule, 1);
	assert_true(s.scale == 16 && s.patience == 2);
	s.patience = INT32_MIN + 1;
	for (int i = 0; i < 3; i++)
		update(&s, &rule, 1);
	assert_true(s.scale == 2 && s.patience <= 0);
}

/* ---- Fuzz -------------------------------------------------------------- */

struct model {
	double  scale;
	int64_t tracker, patience;
};

/* The rules again, in doubles that are rounded by hand. */
static void
model_update(struct model *m, const struct ac_scaler_rule *rule, bool found)
{
	double scale = m->scale;

	if (found) {
		m->tracker = 0;
		m->patience -= m->patience > 0;
		if (!m->patience)
			scale = fmax((double)(float)(m->scale * rule->down),
			    rule->least);
	} else {
		m->patience = rule->patience;
		if (++m->tracker == rule->interval) {
			m->tracker = 0;
			scale = (double)(float)(m->scale * rule->up);
			scale = isinf(scale) ? m->scale
			    : fmin(scale, rule->most);
		}
	}
	m->scale = scale;
}

static double
uniform(uint64_t *seed, double low, double high)
{
	return low + (high - low) * (double)(scaler_random(seed) >> 11)
	    * 0x1p-53;
}

static void
fuzz_one(uint64_t *seed)
{
	const float scale = (float)ldexp(1, (int)uniform(seed, -149, 127));
	const bool bounded = scaler_random(seed) & 1;
	const struct ac_scaler_rule rule = {
		.up = uniform(seed, 1.01, 17), .down = uniform(seed, .01, .99),
		.least = bounded ? (double)(scale / 64) : 0,
		.most = bounded ? (double)(float)ldexp((double)scale, 4)
		    : INFINITY,
		.interval = 1 + (int)uniform(seed, 0, 5),
		.patience = 1 + (int)uniform(seed, 0, 3),
	};
	struct ac_scaler_state device = state_of(scale, rule.patience);
	struct ac_scaler_state host = device;
	struct model m = { (double)scale, 0, rule.patience };

	for (int i = 0; i < 60; i++) {
		const uint32_t found = uniform(seed, 0, 1) < .4;
		uint64_t clamps = host.clamps;

		update(&device, &rule, found);
		host.found = found;
		clamps += ac_scaler_rule_apply(&host, &rule);
		assert_int_equal(clamps, host.clamps);
		model_update(&m, &rule, found);
		assert_memory_equal(&device, &host, sizeof host);
		assert_true((double)host.scale == m.scale);
		assert_true(host.tracker == m.tracker
		    && host.patience == m.patience);
	}
	assert_true(host.updates == 60 && host.least <= host.scale
	    && host.scale <= host.most);
}

CASE(test_fuzz)
{
	uint64_t seed = 20;

	for (int i = 0; i < 20000; i++)
		fuzz_one(&seed);
}

/* ---- Setting and folding ----------------------------------------------- */

static void
set(struct ac_scaler_state *s, struct ac_scaler_set to)
{
	void *params[] = { &s, &to };

	scaler_run("ac_scaler_set", params);
}

CASE(test_set)
{
	const struct ac_scaler_state before = { .scale = 8, .inverse = .125f,
		.tracker = 5, .patience = 2, .found = 1, .updates = 9,
		.overflows = 4, .rises = 3, .falls = 2, .clamps = 1,
		.last_overflow = 7, .least = 2, .most = 32 };

	for (uint32_t which = 0; which < 32; which++) {
		struct ac_scaler_state want = before, s = before;

		set(&s, (struct ac_scaler_set){ which, 3, 11, 12 });
		if (which & AC_SCALER_SET_SCALE) {
			want.scale = 3;
			want.inverse = 1.0f / 3;
			assert_int_equal(bits_of(want.inverse), 0x3eaaaaab);
		}
		if (which & AC_SCALER_SET_TRACKER)
			want.tracker = 11;
		if (which & AC_SCALER_SET_PATIENCE)
			want.patience = 12;
		if (which & AC_SCALER_SET_DROP)
			want.found = 0;
		if (which & AC_SCALER_SET_RESET) {
			want.updates = want.overflows = want.rises = 0;
			want.falls = want.clamps = want.last_overflow = 0;
			want.least = want.most = want.scale;
		}
		assert_memory_equal(&s, &want, sizeof s);
	}
}

/* K76: a flag that is NaN counts, -0 does not; several make one. */
CASE(test_fold)
{
	static const struct {
		float    own, flags[3];
		uint64_t count;
		float    result;
	} rows[] = {
		{ 0, { 0, 0, 0 }, 0, 0 }, { 0, { 1, 1, 1 }, 0, 0 },
		{ 1, { 0, 0, 0 }, 0, 1 }, { NAN, { 0, 0, 0 }, 0, 1 },
		{ 2, { 0, 0, 0 }, 3, 1 }, { -0.0f, { -0.0f, 0, 0 }, 3, 0 },
		{ 0, { 0, 0, 1 }, 3, 1 }, { 0, { 0, 0, 1 }, 2, 0 },
		{ 0, { NAN, 0, 0 }, 1, 1 }, { 1, { 1, 1, 1 }, 3, 1 },
		{ 0, { 0x1p-149f, 0, 0 }, 1, 1 },
	};

	for (size_t i = 0; i < 2 * COUNT(rows); i++) {
		struct ac_scaler_words words = { .found_inf = rows[i / 2].own,
			.grad_scale = 5 };
		struct ac_scaler_state s = { .found = i % 2 };
		struct ac_scaler_words *at_words = &words;
		struct ac_scaler_state *at_state = &s;
		const float *flags = rows[i / 2].flags;
		uint64_t count = rows[i / 2].count;
		void *params[] = { &at_words, &at_state, &flags, &count };

		scaler_run("ac_scaler_fold", params);
		assert_int_equal(bits_of(words.found_inf),
		    bits_of(rows[i / 2].result));
		assert_int_equal(s.found, i % 2 || rows[i / 2].result != 0);
		assert_true(words.grad_scale == 5);
	}
}

/* On the host and on the "device", whatever the thread flushes or rounds. */
CASE(test_float_mode)
{
#if defined(__x86_64__)
	const unsigned mode = _mm_getcsr(), other = mode | 0xc040 | 0x4000;
	const struct ac_scaler_rule rule = { 1.1, .7, 0, INFINITY, 1, 1, 0 };

	for (int i = 0; i < 4; i++) {
		struct ac_scaler_state s = state_of(0x1.8p-140f, 1), want = s;

		want.found = i % 2;
		ac_scaler_rule_apply(&want, &rule);
		assert_true(want.scale != 0x1.8p-140f && want.scale != 0);
		s.found = i % 2;
		_mm_setcsr(other);
		if (i / 2) {
			ac_scaler_rule_apply(&s, &rule);
		} else {
			struct ac_scaler_state *at = &s;
			struct ac_scaler_rule copy = rule;
			void *params[] = { &at, &copy };

			scaler_run("ac_scaler_update", params);
		}
		assert_int_equal(_mm_getcsr() & 0xffc0, other & 0xffc0);
		_mm_setcsr(mode);
		assert_memory_equal(&s, &want, sizeof s);
	}
#else
	print_message("# float modes are told apart on x86-64 only\n");
#endif
}

CASES_RUN(NULL, NULL)
