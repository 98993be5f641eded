/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/kernels/test_cast_exhaustive.c -- every FP32 number there is, to
 * FP16 and BF16, by the text that the twins share with the GPU.
 *
 * The reference knows no rounding trick. It decodes each 16-bit number by its
 * definition, puts the border between two neighbours at their midpoint (an
 * FP32 number) and gives the midpoint itself to the even one. */
#include "kernels/recast/cast.h"
#include "tests/unit/cases.h"

#include <math.h>
#include <pthread.h>

enum { BLOCK = 1 << 16, THREADS = 2, MAGNITUDES = 1 << 15 };

static struct form {
	enum ac_format format;
	int fraction_bits, bias;
	uint32_t infinity;            /* bits of +inf */
	uint32_t above[MAGNITUDES];   /* first FP32 bits that round beyond i */
} forms[] = {
	{ .format = AC_FORMAT_FP16, .fraction_bits = 10, .bias = 15,
	  .infinity = 0x7c00 },
	{ .format = AC_FORMAT_BF16, .fraction_bits = 7, .bias = 127,
	  .infinity = 0x7f80 },
};

/* By definition; infinity decodes as the number it would be. */
static double
decode(const struct form *form, uint32_t bits)
{
	const int one = 1 << form->fraction_bits;
	const int exponent = (int)bits / one, fraction = (int)bits % one;

	if (!exponent)
		return ldexp(fraction, 1 - form->bias - form->fraction_bits);
	return ldexp(one + fraction,
	    exponent - form->bias - form->fraction_bits);
}

static void
find_borders(struct form *form)
{
	for (uint32_t i = 0; i < form->infinity; i++) {
		const double middle = (decode(form, i) + decode(form, i + 1)) /
		    2;
		/* The border to infinity of BF16 is no finite float, but its
		 * bits are the mean of its neighbours' all the same. */
		if (middle > 0x1.fffffep127)
			form->above[i] = 0x7f7f8000u;
		else
			form->above[i] = ac_cast_bits((float)middle);
		form->above[i] += i % 2 ? 0 : 1;
	}
	form->above[form->infinity] = 0x7f800001;
}

struct work {
	struct form *form;
	uint64_t first, end;
	uint64_t wrong;
	float    from[BLOCK];
	uint16_t to[BLOCK], expected[BLOCK];
};

/* The expected numbers of BLOCK consecutive bit patterns, border by border. */
static void
expect(struct work *work, uint32_t first, uint32_t *at)
{
	const uint32_t sign = first >> 31 << 15;
	const uint32_t magnitude = first & 0x7fffffff;
	uint32_t k = 0;

	while (k < BLOCK) {
		uint32_t to = 0x7fff, run = BLOCK - k;

		while (*at <= work->form->infinity
		    && magnitude + k >= work->form->above[*at])
			++*at;
		if (*at <= work->form->infinity) {
			to = *at | sign;
			if (run > work->form->above[*at] - (magnitude + k))
				run = work->form->above[*at] - (magnitude + k);
		}
		for (; run; run--)
			work->expected[k++] = (uint16_t)to;
	}
}

static void
compare(struct work *work)
{
	if (work->form->format == AC_FORMAT_FP16)
		for (uint32_t k = 0; k < BLOCK; k++)
			work->to[k] = ac_cast_fp16(work->from[k]);
	else
		for (uint32_t k = 0; k < BLOCK; k++)
			work->to[k] = ac_cast_bf16(work->from[k]);
	if (memcmp(work->to, work->expected, sizeof work->to))
		for (uint32_t k = 0; k < BLOCK; k++)
			work->wrong += work->to[k] != work->expected[k];
}

static void *
run_share(void *argument)
{
	struct work *work = argument;
	uint32_t at = 0;

	for (uint64_t u = work->first; u < work->end; u += BLOCK) {
		for (uint32_t k = 0; k < BLOCK; k++)
			work->from[k] = ac_cast_float((uint32_t)u + k);
		expect(work, (uint32_t)u, &at);
		compare(work);
	}
	return NULL;
}

/* Each share is all numbers of one sign. */
static void
all_numbers(void **form)
{
	const uint64_t share = (UINT64_C(1) << 32) / THREADS;
	struct work *work[THREADS];
	pthread_t thread[THREADS];

	find_borders(*form);
	for (int i = 0; i < THREADS; i++) {
		work[i] = test_calloc(1, sizeof **work);
		work[i]->form = *form;
		work[i]->first = share * (uint64_t)i;
		work[i]->end = share * (uint64_t)(i + 1);
		assert_int_equal(pthread_create(&thread[i], NULL, run_share,
		    work[i]), 0);
	}
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(thread[i], NULL), 0);
	for (int i = 0; i < THREADS; i++) {
		assert_int_equal(work[i]->wrong, 0);
		test_free(work[i]);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		{ "T40: all 2^32 numbers to FP16", all_numbers, NULL, NULL,
		    &forms[0] },
		{ "T40: all 2^32 numbers to BF16", all_numbers, NULL, NULL,
		    &forms[1] },
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
