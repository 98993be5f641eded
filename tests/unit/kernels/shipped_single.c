/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/kernels/shipped_single.c -- the gradient scaler's kernels of one
 * thread, on random words: the shipped PTX against the twins. */
#include "emulator/driver/twin.h"
#include "tests/unit/kernels/shipped.h"

#include "kernels/twins/twins.h"

#include <math.h>
#include <stdio.h>

enum { FLAGS = 9 };
static const unsigned one[3] = { 1, 1, 1 };

/* What becomes of number 0 by the twin, of number 1 by the text. */
static struct {
	struct ac_scaler_words words;
	struct ac_scaler_state state;
	float norm;
} memory[2];

static float
any_float(void)
{
	static const float edges[] = { 0, -0.0f, 1, -1, 65536, 3, 0x1p-149f,
		0x1p-126f, 0x1.fffffep127f, INFINITY, -INFINITY, NAN, 0.1f,
		0x1p127f, 1e-30f };
	const uint32_t bits = (uint32_t)shipped_any() << 1
	    ^ (uint32_t)shipped_any();

	return shipped_any() % 2 ? ac_cast_float(bits)
	    : edges[shipped_any() % (sizeof edges / sizeof *edges)];
}

static double
any_double(void)
{
	static const double edges[] = { 0, 1, 2, .5, INFINITY, NAN, 1e-320,
		0x1.fffffffffffffp1023, 0.1, 1e300, 65536, -1, 1e-40 };
	const uint64_t bits = shipped_any() << 40 ^ shipped_any() << 20
	    ^ shipped_any();
	double x;

	memcpy(&x, &bits, sizeof x);
	return shipped_any() % 2 ? x
	    : edges[shipped_any() % (sizeof edges / sizeof *edges)];
}

static void
fill(void)
{
	struct ac_scaler_state *s = &memory[0].state;
	struct ac_scaler_words *w = &memory[0].words;

	memset(memory, 0, sizeof memory);
	w->found_inf = (float)(shipped_any() % 2);
	w->norm = any_float();
	s->scale = any_float();
	s->inverse = any_float();
	s->tracker = (int32_t)(shipped_any() % 6);
	s->patience = (int32_t)(shipped_any() % 4);
	s->found = shipped_any() % 2;
	s->least = any_float();
	s->most = any_float();
	s->updates = shipped_any();
	memory[0].norm = 5;
	memory[1] = memory[0];
}

static bool
run_twin(const char *name, void **params)
{
	const struct emu_twin_launch launch = { { 1, 1, 1 }, { 1, 1, 1 } };

	for (size_t i = 0; i < AC_TWINS; i++)
		if (!strcmp(ac_twins[i].name, name)) {
			ac_twins[i].run(&launch, params);
			return true;
		}
	return false;
}

static void
run(int which, const char *name, void **params)
{
	if (!which) {
		(void)run_twin(name, params);
		return;
	}
	shipped_region(&memory[1].words, sizeof memory[1].words, false,
	    "words");
	shipped_region(&memory[1].state, sizeof memory[1].state, false,
	    "state");
	shipped_region(&memory[1].norm, sizeof memory[1].norm, false, "norm");
	shipped_launch(name, one, 1, params);
}

static void
fold(void)
{
	float flags[FLAGS];
	uint64_t count = shipped_any() % (FLAGS + 1);
	const bool has_state = shipped_any() % 4;

	for (int i = 0; i < FLAGS; i++)
		flags[i] = shipped_any() % 3 ? 0 : any_float();
	for (int i = 0; i < 2; i++) {
		struct ac_scaler_words *w = &memory[i].words;
		struct ac_scaler_state *s = has_state ? &memory[i].state
		    : NULL;
		const float *f = flags;
		void *params[] = { &w, &s, &f, &count };

		shipped_region(flags, i * count * sizeof *flags, true,
		    "flags");
		run(i, "ac_scaler_fold", params);
	}
}

static void
close_norm(void)
{
	double sums[FLAGS];
	const uint64_t count = shipped_any() % (FLAGS + 1);
	const uint32_t p = (uint32_t)(shipped_any() % 3);
	const bool has_norm = shipped_any() % 4;
	const float most = any_float();

	for (int i = 0; i < FLAGS; i++)
		sums[i] = shipped_any() % 3 ? fabs(any_double())
		    : any_double();
	for (int i = 0; i < 2; i++) {
		struct ac_scaler_close close = { &memory[i].words, sums, count,
			has_norm ? &memory[i].norm : NULL, most, p };
		void *params[] = { &close };

		shipped_region(sums, (size_t)i * count * sizeof *sums, true,
		    "sums");
		run(i, "ac_scaler_close", params);
	}
}

static void
update(void)
{
	struct ac_scaler_rule rule = {
		.up = shipped_any() % 3 ? 2 : any_double(),
		.down = shipped_any() % 3 ? .5 : any_double(),
		.least = shipped_any() % 2 ? 0 : fabs(any_double()),
		.most = shipped_any() % 2 ? INFINITY : fabs(any_double()),
		.interval = (int64_t)(shipped_any() % 5) + 1,
		.patience = (int32_t)(shipped_any() % 4)
	};

	for (int i = 0; i < 2; i++) {
		struct ac_scaler_state *s = &memory[i].state;
		void *params[] = { &s, &rule };

		run(i, "ac_scaler_update", params);
	}
}

static void
set(void)
{
	struct ac_scaler_set words = { (uint32_t)(shipped_any() % 32),
		any_float(), (int32_t)shipped_any(), (int32_t)shipped_any() };

	for (int i = 0; i < 2; i++) {
		struct ac_scaler_state *s = &memory[i].state;
		void *params[] = { &s, &words };

		run(i, "ac_scaler_set", params);
	}
}

unsigned
shipped_single(unsigned turns)
{
	static void (*const kernels[])(void) = { fold, close_norm, update,
		set };
	static const char *const names[] = { "fold", "close", "update",
		"set" };
	unsigned differences = 0;

	for (unsigned turn = 0; turn < turns; turn++) {
		const uint64_t which = shipped_any() % 4;

		fill();
		kernels[which]();
		if (memcmp(&memory[0], &memory[1], sizeof memory[0])
		    && differences++ < 10)
			printf("# turn %u: ac_scaler_%s differs\n", turn,
			    names[which]);
	}
	return differences;
}
