/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/scaler/scaler_cases.c -- see scaler_cases.h. */
#include "emulator/driver/twin.h"
#include "tests/unit/scaler/scaler_cases.h"

#include "kernels/scaler/scaler_body.h"
#include "kernels/twins/twins.h"
#include "tests/unit/kernels/cast_reference.h"

#include <math.h>
#include <stdlib.h>

uint64_t
scaler_random(uint64_t *seed)
{
	*seed = *seed * UINT64_C(6364136223846793005) +
	    UINT64_C(1442695040888963407);
	return *seed >> 32 ^ *seed << 29;
}

/* ---- Elements ------------------------------------------------------------ */

size_t
scaler_size(uint32_t dtype)
{
	static const size_t sizes[] = { 4, 8, 2, 2 };

	return sizes[dtype];
}

uint64_t
scaler_get(const struct ac_scaler_tensor *t, uint64_t i)
{
	const size_t size = scaler_size(t->dtype);
	uint64_t bits = 0;

	memcpy(&bits, (const char *)t->data + i * size, size);
	return bits;
}

void
scaler_set(const struct ac_scaler_tensor *t, uint64_t i, uint64_t bits)
{
	const size_t size = scaler_size(t->dtype);

	memcpy((char *)t->data + i * size, &bits, size);
}

double
scaler_value(uint32_t dtype, uint64_t bits)
{
	const uint32_t word = (uint32_t)bits;
	double x;
	float y;

	if (dtype == AC_SCALER_F16 || dtype == AC_SCALER_BF16)
		return cast_reference_value((uint16_t)bits,
		    dtype == AC_SCALER_F16 ? AC_FORMAT_FP16 : AC_FORMAT_BF16);
	memcpy(&y, &word, sizeof y);
	memcpy(&x, &bits, sizeof x);
	return dtype == AC_SCALER_F32 ? (double)y : x;
}

uint64_t
scaler_bits(uint32_t dtype, double x)
{
	const float y = (float)x;
	uint64_t bits = 0;

	if (dtype == AC_SCALER_F16 || dtype == AC_SCALER_BF16)
		return cast_reference_element((double)y,
		    dtype == AC_SCALER_F16 ? AC_FORMAT_FP16 : AC_FORMAT_BF16);
	if (dtype == AC_SCALER_F32) {
		memcpy(&bits, &y, sizeof y);
		return isnan(y) ? 0x7fffffff : bits;
	}
	memcpy(&bits, &x, sizeof x);
	return isnan(x) ? UINT64_C(0x7fffffffffffffff) : bits;
}

bool
scaler_is_finite(uint32_t dtype, uint64_t bits)
{
	return isfinite(scaler_value(dtype, bits));
}

/* Products of two FP32 numbers are exact in double. */
uint64_t
scaler_product(uint32_t dtype, uint64_t bits, double factor)
{
	return scaler_bits(dtype, scaler_value(dtype, bits) * factor);
}

/* ---- Tensors ------------------------------------------------------------- */

static void
fill(const struct ac_scaler_tensor *t, enum scaler_fill how, uint64_t *seed)
{
	for (uint64_t i = 0; i < t->count && *seed; i++) {
		scaler_set(t, i, scaler_random(seed));
		while (how == SCALER_FINITE
		    && !scaler_is_finite(t->dtype, scaler_get(t, i)))
			scaler_set(t, i, scaler_random(seed));
	}
}

static void *
take(size_t bytes)
{
	void *block = aligned_alloc(64, (bytes + 64) / 64 * 64);

	if (!block)
		abort();
	memset(block, 0, (bytes + 64) / 64 * 64);
	return block;
}

static size_t
bytes_of(const struct ac_scaler_tensor *t)
{
	return (size_t)t->count * scaler_size(t->dtype);
}

void
scaler_list_make(const struct scaler_shape *shapes, size_t count,
    enum scaler_fill how, uint64_t seed, struct scaler_list *list)
{
	memset(list, 0, sizeof *list);
	list->count = count;
	list->tensor = take(count * sizeof *list->tensor);
	list->block = take(count * sizeof *list->block);
	for (size_t i = 0; i < count; i++) {
		struct ac_scaler_tensor *t = &list->tensor[i];
		const size_t before = SCALER_GUARD + shapes[i].offset
		    * scaler_size(shapes[i].dtype);

		t->dtype = shapes[i].dtype;
		t->count = shapes[i].count;
		list->block[i] = take(before + bytes_of(t) + SCALER_GUARD);
		memset(list->block[i], 0xa5, before + bytes_of(t)
		    + SCALER_GUARD);
		t->data = list->block[i] + before;
		memset(t->data, 0, bytes_of(t));
		fill(t, how, &seed);
	}
	list->pass.tensors = list->tensor;
	list->pass.tensor_count = count;
	list->pass.chunk_count = ac_scaler_number_chunks(list->tensor, count);
	list->pass.state = &list->state;
	list->pass.words = &list->words;
	list->partials = take(list->pass.chunk_count * sizeof(double));
	list->pass.partials = list->partials;
	scaler_scale(list, 1);
}

void
scaler_list_free(struct scaler_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->block[i]);
	free(list->block);
	free(list->tensor);
	free(list->partials);
}

static bool
is_guard(const unsigned char *from, const unsigned char *to)
{
	while (from < to && *from == 0xa5)
		from++;
	return from == to;
}

bool
scaler_list_is_intact(const struct scaler_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		const unsigned char *data = list->tensor[i].data;
		const unsigned char *end = data + bytes_of(&list->tensor[i]);

		if (!is_guard(list->block[i], data)
		    || !is_guard(end, end + SCALER_GUARD))
			return false;
	}
	return true;
}

/* ---- Runs ---------------------------------------------------------------- */

void
scaler_scale(struct scaler_list *list, float scale)
{
	list->state.scale = scale;
	list->state.inverse = (float)(1 / (double)scale);
}

void
scaler_run(const char *twin, void **params)
{
	static unsigned turn;
	const struct emu_twin_launch launch = {
		{ turn % 7 + 1, 1, 1 }, { turn % 3 ? 256 : 1, 1, 1 }
	};

	turn++;
	for (size_t i = 0; i < AC_TWINS; i++)
		if (!strcmp(ac_twins[i].name, twin)) {
			ac_twins[i].run(&launch, params);
			return;
		}
	abort();
}

void
scaler_pass(const char *twin, struct scaler_list *list, uint32_t flags)
{
	void *params[] = { &list->pass };

	list->pass.flags = flags;
	scaler_run(twin, params);
}

void
scaler_multiply(struct scaler_list *list)
{
	struct ac_scaler_product product = { .state = &list->state,
		.tensor_count = list->count,
		.chunk_count = list->pass.chunk_count };
	void *params[] = { &product };

	if (list->count > AC_SCALER_INLINE)
		abort();
	memcpy(product.tensor, list->tensor, list->count
	    * sizeof *list->tensor);
	scaler_run("ac_scaler_multiply", params);
}

double
scaler_norm(struct scaler_list *list, uint32_t p)
{
	void *params[] = { &list->pass, &p };

	scaler_run("ac_scaler_norm", params);
	return list->words.sum;
}
