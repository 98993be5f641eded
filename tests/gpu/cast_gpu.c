/* SPDX-License-Identifier: Apache-2.0 */
/* tests/gpu/cast_gpu.c -- the cast kernels on the device against their CPU
 * twins, bit for bit: the cases of test_cast, large operands, every FP32
 * number. TAP; 77 without a device. Also runs on the emulated GPU, where it
 * proves nothing but itself. */
#include "kernels/cast.h"
#include "kernels/twins.h"
#include "tests/unit/cast_cases.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

typedef ac_cu_address address;

/* What the product itself never calls. */
static struct {
	int (*cuInit)(unsigned);
	int (*cuDeviceGet)(int *, int);
	int (*cuDevicePrimaryCtxRetain)(ac_cu_context *, int);
	int (*cuCtxSetCurrent)(ac_cu_context);
	int (*cuMemAlloc_v2)(address *, size_t);
	int (*cuMemFree_v2)(address);
	int (*cuMemcpyHtoD_v2)(address, const void *, size_t);
	int (*cuMemcpyDtoH_v2)(void *, address, size_t);
	int (*cuStreamSynchronize)(ac_cu_stream);
} cu;

static ac_cu_stream stream;
static int count, failures;

static void
ok(bool passed, const char *name)
{
	count++;
	failures += !passed;
	printf("%sok %d - %s\n", passed ? "" : "not ", count, name);
}

static void
must(int failed, const char *what)
{
	if (!failed)
		return;
	printf("Bail out! %s: error %d\n", what, failed);
	exit(99);
}
#define MUST(call) must(call, #call)

static _Noreturn void
skip_all(const char *reason)
{
	printf("1..0 # SKIP %s\n", reason);
	exit(77);
}

static void
resolve(void *library, const char *name, void *function_out)
{
	void *found = dlsym(library, name);

	if (!found)
		skip_all(name);
	memcpy(function_out, &found, sizeof found);
}

static void
start(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW);
	ac_cu_context context;
	int device;

	if (!library)
		skip_all("no libcuda.so.1");
#define RESOLVE(name) resolve(library, #name, &cu.name)
	RESOLVE(cuInit);
	RESOLVE(cuDeviceGet);
	RESOLVE(cuDevicePrimaryCtxRetain);
	RESOLVE(cuCtxSetCurrent);
	RESOLVE(cuMemAlloc_v2);
	RESOLVE(cuMemFree_v2);
	RESOLVE(cuMemcpyHtoD_v2);
	RESOLVE(cuMemcpyDtoH_v2);
	RESOLVE(cuStreamSynchronize);
	if (cu.cuInit(0) || cu.cuDeviceGet(&device, 0))
		skip_all("no CUDA device");
	MUST(cu.cuDevicePrimaryCtxRetain(&context, device));
	MUST(cu.cuCtxSetCurrent(context));
	MUST(ac_kernels_load());
	MUST(ac_driver_get()->cuStreamCreate(&stream, 1 /* non-blocking */));
}

/* The copy may return while its staging buffer is still on the way, and our
 * stream does not wait for the legacy stream. */
static void
copy_in(address to, const void *from, size_t bytes)
{
	if (bytes)
		MUST(cu.cuMemcpyHtoD_v2(to, from, bytes));
	MUST(cu.cuStreamSynchronize(NULL));
}

static address
upload(const void *from, size_t bytes)
{
	address to;

	MUST(cu.cuMemAlloc_v2(&to, bytes ? bytes : 1));
	copy_in(to, from, bytes);
	return to;
}

static void *
at(address where)
{
	return (void *)(uintptr_t)where;
}

static void
run_twin(const char *name, const struct ac_cast_params *params)
{
	const struct ac_twin_launch launch = { { 1, 2, 1 }, { 256, 1, 1 } };
	void *arguments[] = { (void *)(uintptr_t)params };

	for (size_t i = 0; i < ac_twin_count; i++)
		if (!strcmp(ac_twins[i].name, name))
			ac_twins[i].run(&launch, arguments);
}

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
		m->from[i] = upload(data->from[i],
		    data->from_count[i] * sizeof(float));
		m->to[i] = upload(data->to[i] - CAST_FENCE, m->to_bytes[i]);
		m->operand[i].from = (float *)at(m->from[i]) + CAST_SKEW;
		m->operand[i].to = (uint16_t *)at(m->to[i]) + CAST_FENCE;
	}
	m->state = upload(&data->state, sizeof data->state);
	m->scalars = upload(scalars, sizeof scalars);
}

static void
mirror_run(const struct mirror *m, const struct cast_case *c, bool on_device)
{
	const float *device = on_device ? at(m->scalars) : NULL;
	const struct ac_cast_scalar alpha = { c->alpha, device };
	const struct ac_cast_scalar beta = { c->beta,
	    device ? device + 1 : NULL };

	if (c->scaled)
		MUST(ac_kernels_amax(m->operand, at(m->state), stream));
	MUST(ac_kernels_cast(m->operand, c->format, c->scaled, alpha, beta,
	    at(m->state), stream));
	MUST(cu.cuStreamSynchronize(stream));
}

static bool
is_same(address device, const void *expected, size_t bytes)
{
	void *copy = malloc(bytes);
	bool same;

	must(!copy, "malloc");
	MUST(cu.cuMemcpyDtoH_v2(copy, device, bytes));
	same = !memcmp(copy, expected, bytes);
	free(copy);
	return same;
}

static bool
mirror_is(const struct mirror *m, const struct cast_data *data)
{
	bool same = is_same(m->state, &data->state, sizeof data->state);

	for (int i = 0; i < 2; i++)
		same &= is_same(m->to[i], data->to[i] - CAST_FENCE,
		    m->to_bytes[i]);
	return same;
}

static void
mirror_free(struct mirror *m)
{
	for (int i = 0; i < 2; i++) {
		MUST(cu.cuMemFree_v2(m->from[i]));
		MUST(cu.cuMemFree_v2(m->to[i]));
	}
	MUST(cu.cuMemFree_v2(m->state));
	MUST(cu.cuMemFree_v2(m->scalars));
}

/* Again and again on one state: what the last block leaves must be right,
 * whichever block it was. */
static void
try_case(const struct cast_case *c, int times)
{
	struct cast_data data;
	struct mirror mirror;
	bool same = true;

	cast_data_make(c, &data);
	mirror_make(&data, c, &mirror);
	if (c->scaled)
		run_twin("ac_amax", &data.params);
	run_twin("ac_cast", &data.params);
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
	struct mirror mirror;
	bool same = true;

	cast_data_make(&c, &data);
	mirror_make(&data, &c, &mirror);
	for (uint64_t u = 0; u < UINT64_C(1) << 32; u += part) {
		for (uint64_t k = 0; k < part; k++)
			data.from[0][CAST_SKEW + k] =
			    ac_cast_float((uint32_t)(u + k));
		copy_in(mirror.from[0], data.from[0],
		    data.from_count[0] * sizeof(float));
		run_twin("ac_cast", &data.params);
		mirror_run(&mirror, &c, false);
		same &= mirror_is(&mirror, &data);
	}
	mirror_free(&mirror);
	cast_data_free(&data);
	return same;
}

int
main(void)
{
	start();
	for (size_t i = 0; i < cast_case_count; i++)
		try_case(&cast_cases[i], 4);
	for (size_t i = 0; i < sizeof large / sizeof *large; i++)
		try_case(&large[i], 20);
	ok(every_number(AC_FORMAT_FP16), "every number to FP16");
	ok(every_number(AC_FORMAT_BF16), "every number to BF16");
	printf("1..%d\n", count);
	return failures != 0;
}
