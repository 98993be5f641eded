/* SPDX-License-Identifier: Apache-2.0 */
/* tests/trust/rhythm_data.c -- operands of each kind. */
#include "tests/trust/rhythm_data.h"

#include "tests/preload/programs/client.h"

#include <math.h>

enum { BINADES = 45 };

#define AS_NAME(name) #name,
const char *const rhythm_kinds[] = { RHYTHM_KINDS(AS_NAME) };

bool
rhythm_kind_adds(enum kind kind)
{
	return kind == KIND_masked || kind == KIND_maskedbad
	    || kind == KIND_bias || kind == KIND_biasbad;
}

bool
rhythm_kind_counts(enum kind kind)
{
	return kind == KIND_onehot || kind == KIND_prefix
	    || kind == KIND_packed || kind == KIND_mixed;
}

static void
grade(const struct rhythm_data *d, uint64_t *seed)
{
	for (int p = 0; p < d->k; p++) {
		const int up = (int)(client_uniform(seed) * BINADES);

		for (int i = 0; i < d->m; i++)
			d->a[p * d->m + i] = ldexpf(d->a[p * d->m + i], -up);
		for (int j = 0; j < d->n; j++)
			d->b[j * d->k + p] = ldexpf(d->b[j * d->k + p], up);
	}
}

/* The second half of K takes away what the first gives, but for 3e-3: FP32
 * keeps 1e-4 of that, FP16 a tenth. */
static void
cancel(const struct rhythm_data *d, uint64_t *seed)
{
	const int half = d->k / 2;

	for (int p = half; p < 2 * half; p++) {
		for (int i = 0; i < d->m; i++)
			d->a[p * d->m + i] = -d->a[(p - half) * d->m + i];
		for (int j = 0; j < d->n; j++)
			d->b[j * d->k + p] = d->b[j * d->k + p - half] *
			    (1 + 3e-3f * (float)client_uniform(seed));
	}
}

/* A selects or adds rows of B, which holds whole numbers: all exact in FP32. */
static void
count_up(const struct rhythm_data *d, uint64_t *seed)
{
	const int most = d->kind == KIND_prefix ? 1 << 15 : (1 << 24) - 1;

	memset(d->a, 0, (size_t)d->m * (size_t)d->k * sizeof *d->a);
	for (int i = 0; i < d->m; i++) {
		const int at = (int)(client_uniform(seed) * d->k);

		for (int p = 0; p < d->k; p++)
			d->a[p * d->m + i] = d->kind == KIND_prefix ? p <= i
			    : p == at;
	}
	for (int i = 0; i < d->k * d->n; i++) {
		const double u = client_uniform(seed);

		d->b[i] = (float)floor(u * most);
		if (d->kind == KIND_packed)
			d->b[i] = (float)(floor(u * 4095) * 4096
			    + floor(client_uniform(seed) * 4095));
		/* The columns of real numbers are spread among the others. */
		if (d->kind == KIND_mixed && i / d->k * 37 % 100 >= d->whole)
			d->b[i] = (float)(2 * u - 1);
	}
}

static void
rescale_rows(const struct rhythm_data *d, uint64_t *seed)
{
	for (int i = 0; i < d->m; i++) {
		const int down = d->kind == KIND_subnormal ? 130 :
		    d->kind == KIND_small		   ? 20 :
					    (int)(client_uniform(seed) * 11);
		const bool none = d->kind == KIND_unequal
		    && client_uniform(seed) < 0.5;

		for (int p = 0; p < d->k; p++)
			d->a[p * d->m + i] = none ? 0
			    : ldexpf(d->a[p * d->m + i], -down);
	}
}

static void
raise_channel(const struct rhythm_data *d, uint64_t *seed)
{
	const int p = (int)(client_uniform(seed) * d->k);

	for (int i = 0; i < d->m; i++)
		d->a[p * d->m + i] = ldexpf(d->a[p * d->m + i], 12);
	for (int j = 0; j < d->n; j++)
		d->b[j * d->k + p] = ldexpf(d->b[j * d->k + p], -12);
}

/* A causal mask, or a bias that is many times what is added to it. */
static void
fill_before(const struct rhythm_data *d, uint64_t *seed)
{
	const bool masks = d->kind == KIND_masked || d->kind == KIND_maskedbad;
	const bool tiny = d->kind == KIND_maskedbad || d->kind == KIND_biasbad;
	const double size = (tiny ? 1e-5 : 1) * sqrt(d->k) / 3;

	for (int j = 0; j < d->n; j++)
		for (int i = 0; i < d->m; i++)
			d->c[j * d->m + i] = (float)(masks
			    ? (j > i ? -d->mask : 0) : d->bias * size
			    * (2 * client_uniform(seed) - 1));
}

void
rhythm_data_draw(const struct rhythm_data *d, uint64_t *seed)
{
	for (int i = 0; i < d->m * d->k; i++)
		d->a[i] = (float)(2 * client_uniform(seed) - 1);
	for (int i = 0; i < d->k * d->n; i++)
		d->b[i] = (float)(2 * client_uniform(seed) - 1);
	switch (d->kind) {
	case KIND_zero:
		memset(d->a, 0, (size_t)d->m * (size_t)d->k * sizeof *d->a);
		break;
	case KIND_cancelling:
	case KIND_maskedbad:
	case KIND_biasbad:
		cancel(d, seed);
		break;
	case KIND_graded:
		grade(d, seed);
		break;
	case KIND_onehot:
	case KIND_prefix:
	case KIND_packed:
	case KIND_mixed:
		count_up(d, seed);
		break;
	case KIND_subnormal:
	case KIND_unequal:
	case KIND_small:
		rescale_rows(d, seed);
		break;
	case KIND_channel:
		raise_channel(d, seed);
		break;
	case KIND_spike:
		d->a[(int)(client_uniform(seed) * d->m * d->k)] = 0x1p40f;
		break;
	default:
		break;
	}
	if (d->c)
		fill_before(d, seed);
}
