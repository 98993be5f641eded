/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/kernels/lockstep_scaler.c -- random tensors under the gradient
 * scaler's kernels: their text against the twins. */
#include "tests/unit/kernels/lockstep.h"
#include "tests/unit/scaler/scaler_cases.h"

#include "kernels/scaler/scaler_body.h"

#include <math.h>
#include <stdio.h>

enum { TENSORS = 12 };

static uint64_t seed;
static unsigned differences;

static uint32_t
any(uint32_t count)
{
	return (uint32_t)(scaler_random(&seed) >> 20) % count;
}

/* What becomes of number 0 by twins, of number 1 by the text. */
static struct scaler_list list[2];

static void
compare(const char *after, int turn)
{
	bool same = !memcmp(&list[0].words, &list[1].words,
	    sizeof list[0].words) && !memcmp(&list[0].state, &list[1].state,
	    sizeof list[0].state) && !memcmp(list[0].partials,
	    list[1].partials, list[0].pass.chunk_count * sizeof(double));

	for (size_t i = 0; i < list[0].count; i++)
		same &= !memcmp(list[0].tensor[i].data, list[1].tensor[i].data,
		    (size_t)list[0].tensor[i].count
		    * scaler_size(list[0].tensor[i].dtype));
	same &= scaler_list_is_intact(&list[1]);
	if (!same && differences++ < 20)
		printf("# turn %d: after %s something differs\n", turn, after);
}

static void
run(const char *name, int turn, void **twin, void **text)
{
	scaler_run(name, twin);
	lockstep_run_scaler(name, text, 1 + any(6));
	compare(name, turn);
}

static void
run_pass(const char *name, int turn, uint32_t flags, uint32_t p)
{
	void *twin[] = { &list[0].pass, &p }, *text[] = { &list[1].pass, &p };

	list[0].pass.flags = list[1].pass.flags = flags;
	run(name, turn, twin, text);
}

static void
run_multiply(int turn)
{
	static struct ac_scaler_product product[2];
	void *params[2][1] = { { &product[0] }, { &product[1] } };

	for (int i = 0; i < 2; i++) {
		memcpy(product[i].tensor, list[i].tensor, list[i].count
		    * sizeof *list[i].tensor);
		product[i].state = &list[i].state;
		product[i].tensor_count = list[i].count;
		product[i].chunk_count = list[i].pass.chunk_count;
	}
	run("ac_scaler_multiply", turn, params[0], params[1]);
}

/* A tensor into one of FP32, FP64 into FP64; `found` or not. */
static void
add(int turn, uint32_t x, uint32_t y)
{
	static const float on_device = 1.7f;
	const struct ac_cast_scalar alpha = any(2)
	    ? (struct ac_cast_scalar){ NAN, 0, &on_device }
	    : (struct ac_cast_scalar){ 1.7f, 0, NULL };
	struct ac_scaler_sum sum[2];
	void *params[2][1] = { { &sum[0] }, { &sum[1] } };

	for (int i = 0; i < 2; i++) {
		const struct ac_scaler_tensor *a = &list[i].tensor[x];
		const struct ac_scaler_tensor *b = &list[i].tensor[y];

		if (x == y || (a->dtype == AC_SCALER_F64 ? b->dtype
		    != AC_SCALER_F64 : b->dtype != AC_SCALER_F32))
			return;
		sum[i] = (struct ac_scaler_sum){ a->data, b->data, a->count
			< b->count ? a->count : b->count, a->dtype, b->dtype,
			turn % 2 ? NULL : &list[i].words.found_inf,
			alpha };
	}
	run("ac_scaler_add", turn, params[0], params[1]);
}

static void
make(void)
{
	const enum scaler_fill fill = any(3) ? SCALER_FINITE : SCALER_ANY;
	const uint64_t numbers = 1 + any(1000);
	struct scaler_shape shapes[TENSORS];
	const size_t count = any(TENSORS + 1);

	for (size_t i = 0; i < count; i++)
		shapes[i] = (struct scaler_shape){ any(AC_SCALER_DTYPES),
			any(5) ? any(any(2) ? 5 : 2000)
			: AC_SCALER_CHUNK - 9 + any(20), any(9) };
	for (int i = 0; i < 2; i++)
		scaler_list_make(shapes, count, fill, numbers, &list[i]);
}

/* Zeros but for one element, which is inf or becomes it. */
static void
run_one_element(int turn)
{
	static const uint64_t large[] = { 0x7f7fffff,
		UINT64_C(0x7fefffffffffffff), 0x7bff, 0x7f7f };
	const struct scaler_shape shape = { (enum ac_scaler_dtype)any(
		AC_SCALER_DTYPES), 1 + any(600), any(9) };
	const uint64_t bits = large[shape.dtype] + any(2), at = any(
	    (uint32_t)shape.count);

	for (int i = 0; i < 2; i++) {
		scaler_list_make(&shape, 1, SCALER_FINITE, 0, &list[i]);
		scaler_set(&list[i].tensor[0], at, bits);
		scaler_scale(&list[i], .5f);
	}
	run_pass("ac_scaler_unscale", turn, AC_SCALER_PASS_CHECK_AFTER
	    | any(2) * AC_SCALER_PASS_CHECK_ONLY, 0);
	if (list[0].words.found_inf != 1)
		differences++;
	scaler_list_free(&list[0]);
	scaler_list_free(&list[1]);
}

/* A tensor into another that takes it. */
static void
run_one_add(int turn)
{
	const enum ac_scaler_dtype dtype = any(AC_SCALER_DTYPES);
	const struct scaler_shape shapes[] = {
		{ dtype, 1 + any(1200), any(9) },
		{ dtype == AC_SCALER_F64 ? dtype : AC_SCALER_F32,
		  1 + any(1200), any(5) } };
	const uint64_t numbers = 1 + any(1000);

	for (int i = 0; i < 2; i++)
		scaler_list_make(shapes, 2, SCALER_FINITE, numbers, &list[i]);
	add(turn, 0, 1);
	for (int i = 0; i < 2; i++)
		scaler_list_free(&list[i]);
}

unsigned
lockstep_scaler_turn(int turn, uint64_t start)
{
	static const float scales[] = { 65536, 3, 1, 0x1p-149f, 1e38f, -7 };
	float scale, coefficient;
	uint32_t flags;
	double wide;

	seed = start + (uint64_t)turn * 1000003;
	scale = scales[any(6)];
	coefficient = scales[any(6)];
	wide = any(2) ? (double)scales[any(6)] : 1e-39;
	flags = any(16);
	for (int i = 0; i < 8; i++) {
		run_one_element(turn);
		run_one_add(turn);
	}
	make();
	for (int i = 0; i < 2; i++) {
		scaler_scale(&list[i], scale);
		list[i].words.coefficient = coefficient;
		list[i].words.coefficient_double = wide;
	}
	run_multiply(turn);
	run_pass("ac_scaler_unscale", turn, flags, 0);
	run_pass("ac_scaler_norm", turn, 0, any(3));
	run_pass("ac_scaler_clip", turn, 0, 0);
	for (int i = 0; i < 6 && list[0].count; i++)
		add(turn, any((uint32_t)list[0].count),
		    any((uint32_t)list[0].count));
	scaler_list_free(&list[0]);
	scaler_list_free(&list[1]);
	return differences;
}
