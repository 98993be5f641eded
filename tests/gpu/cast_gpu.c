/* SPDX-License-Identifier: Apache-2.0 */
/* tests/gpu/cast_gpu.c -- the cast kernels on the device against their CPU
 * twins, bit for bit: the cases of test_cast, large operands, every FP32
 * number (not with -q). TAP; 77 without a device. Also runs on the emulated
 * GPU, where it proves nothing but itself. */
#include "kernels/cast.h"
#include "tests/gpu/device.h"
#include "tests/unit/cast_cases.h"

#include <string.h>

/* A case's copy in device memory. */
struct mirror {
	address from[2], to[2], state, scalars;
	size_t  to_bytes[2];
	struct ac_cast_operand operand[2];
};

static void
mirror_make(const struct cast_data *data, const struct cast_case *c,
    struct mirror *m)
{
	const float scalars[2] = { c->alpha, c->beta };

	for (int i = 0; i < 2; i++) {
		m->operand[i] = data->params.operand[i];
		m->to_bytes[i] = (data->to_count[i] + 2 * CAST_FENCE)
		    * sizeof(uint16_t);
		m->from[i] = device_upload(data->from[i],
		    data->from_count[i] * sizeof(float));
		m->to[i] = device_upload(data->to[i] - CAST_FENCE,
		    m->to_bytes[i]);
		m->operand[i].from = (float *)device_at(m->from[i]) + CAST_SKEW;
		m->operand[i].to = (uint16_t *)device_at(m->to[i]) + CAST_FENCE;
	}
	m->state = device_upload(&data->state, sizeof data->state);
	m->scalars = device_upload(scalars, sizeof scalars);
}

static void
mirror_run(const struct mirror *m, const struct cast_case *c, bool on_device)
{
	const float *device = on_device ? device_at(m->scalars) : NULL;
	const struct ac_cast_scalar alpha = { c->alpha, device };
	const struct ac_cast_scalar beta = { c->beta,
	    device ? device + 1 : NULL };

	if (c->scaled)
		MUST(ac_kernels_amax(m->operand, device_at(m->state),
		    device_stream));
	MUST(ac_kernels_cast(m->operand, c->format, c->scaled, alpha, beta,
	    device_at(m->state), device_stream));
	device_wait();
}

static bool
mirror_is(const struct mirror *m, const struct cast_data *data)
{
	bool same = device_is_same(m->state, &data->state, sizeof data->state);

	for (int i = 0; i < 2; i++)
		same &= device_is_same(m->to[i], data->to[i] - CAST_FENCE,
		    m->to_bytes[i]);
	return same;
}

static void
mirror_free(struct mirror *m)
{
	for (int i = 0; i < 2; i++) {
		device_free(m->from[i]);
		device_free(m->to[i]);
	}
	device_free(m->state);
	device_free(m->scalars);
}

/* Again and again on one state: what the last block leaves must be right,
 * whichever block it was. */
static void
try_case(const struct cast_case *c, int times)
{
	struct cast_data data;
	struct mirror mirror;
	void *arguments[] = { &data.params };
	bool same = true;

	cast_data_make(c, &data);
	mirror_make(&data, c, &mirror);
	if (c->scaled)
		run_twin("ac_amax", arguments);
	run_twin("ac_cast", arguments);
	for (int i = 0; i < times; i++) {
		mirror_run(&mirror, c, i % 2);
		same &= mirror_is(&mirror, &data);
	}
	ok(same, c->name);
	mirror_free(&mirror);
	cast_data_free(&data);
}

/* Many blocks, odd everything, unequal operands. */
static const struct cast_case large[] = {
	{ "large, fp16", { FILL_NORMAL, FILL_OUTLIER },
	  { { 4099, 2053, 1, 0, 1, 8, 3 }, { 7, 100003, 0, 0, 1, 0, 0 } },
	  1, 0, AC_FORMAT_FP16, true },
	{ "large, any bits", { FILL_ANY, FILL_ANY },
	  { { 333, 1001, 5, 77, 9, 0, 1 }, { 100001, 65, 3, 0, 1, 8, 0 } },
	  1e-10f, 1, AC_FORMAT_FP16, true },
	{ "large, bf16", { FILL_ANY, FILL_EDGES },
	  { { 2048, 2048, 0, 0, 1, 0, 0 }, { 1, 300001, 0, 0, 1, 0, 0 } },
	  1, 1, AC_FORMAT_BF16, false },
};

/* Every FP32 number, a part at a time. */
static bool
every_number(enum ac_format format)
{
	struct cast_case c = { .name = "every", .alpha = 1, .format = format,
		.shape[0] = { 1 << 14, 1 << 10, 0, 0, 1, 0, 0 } };
	const uint64_t part = UINT64_C(1) << 24;
	struct cast_data data;
	void *arguments[] = { &data.params };
	struct mirror mirror;
	bool same = true;

	cast_data_make(&c, &data);
	mirror_make(&data, &c, &mirror);
	for (uint64_t u = 0; u < UINT64_C(1) << 32; u += part) {
		for (uint64_t k = 0; k < part; k++)
			data.from[0][CAST_SKEW + k] =
			    ac_cast_float((uint32_t)(u + k));
		device_copy_in(mirror.from[0], data.from[0],
		    data.from_count[0] * sizeof(float));
		run_twin("ac_cast", arguments);
		mirror_run(&mirror, &c, false);
		same &= mirror_is(&mirror, &data);
	}
	mirror_free(&mirror);
	cast_data_free(&data);
	return same;
}

int
main(int argc, char **argv)
{
	const bool quick = argc > 1 && !strcmp(argv[1], "-q");

	device_start();
	for (size_t i = 0; i < cast_case_count; i++)
		try_case(&cast_cases[i], 4);
	for (size_t i = 0; i < sizeof large / sizeof *large && !quick; i++)
		try_case(&large[i], 20);
	if (!quick) {
		ok(every_number(AC_FORMAT_FP16), "every number to FP16");
		ok(every_number(AC_FORMAT_BF16), "every number to BF16");
	}
	return done();
}
