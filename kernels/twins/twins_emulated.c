/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/twins/twins_emulated.c -- libtwins.so: brings the twins to the
 * emulated GPU, and says whether they may touch what a launch names: matrices
 * that the program may have freed, or not have allocated. */
#include "emulator/driver/twin.h"
#include "kernels/recast/recast_ranges.h"
#include "kernels/recast/recast_symmetric.h"
#include "kernels/twins/twins.h"
#include "kernels/verified/verified.h"

#include <string.h>

/* The matrices of a pointer array, or of one address and a stride. */
static int
check_matrices(const void *first, const void *const *array,
    struct emu_shape shape, const char *argument)
{
	const int64_t count = shape.batch;
	int status;

	if (first || !array)
		return emu_memory_check_matrix(first, &shape, argument);
	status = emu_memory_check(array, (uint64_t)count * sizeof *array,
	    argument);
	shape.batch = 1;
	for (int64_t i = 0; !status && i < count; i++)
		status = emu_memory_check_matrix(array[i], &shape, argument);
	return status;
}

static int
check_ranges(void **params)
{
	static const char *const names[] = { "A", "B" };
	const struct ac_recast_ranges *r = params[0];
	int status = EMU_OK;

	for (int i = 0; !status && i < 2; i++) {
		const struct ac_recast_matrices *m = &r->operand[i];
		const struct emu_shape shape = { m->rows, m->cols, m->ld,
			m->batch, m->stride, sizeof *m->from };

		status = check_matrices(m->from, (const void *const *)m->array,
		    shape, names[i]);
	}
	return status;
}

static int
check_symmetric(void **params)
{
	const struct ac_recast_symmetric *s = params[0];

	return emu_memory_check_matrix(s->from, &(struct emu_shape){ s->n,
		s->n, s->ld, 1, 0, sizeof *s->from }, "A");
}

/* Of a verified product A and B, and what it ends in: the product, or D. */
static int
check_verified(void **params)
{
	static const char *const names[] = { "A", "B" };
	const struct ac_verified *v = params[0];
	const struct ac_verified_output *o = &v->output;
	const bool apart = o->d || o->d_array;
	const struct emu_shape shape = { v->m, v->n, apart ? o->d_ld : o->ld,
		v->batch, apart ? o->d_stride : o->stride, sizeof *o->d };
	int status = EMU_OK;

	for (int i = 0; !status && i < 2; i++) {
		const struct ac_verified_operand *m = &v->operand[i];
		const bool cols = m->lines_are_cols;
		const struct emu_shape of = { cols ? v->k : m->lines,
			cols ? m->lines : v->k, m->ld, v->batch, m->stride,
			sizeof *m->from };

		status = check_matrices(m->from, (const void *const *)m->array,
		    of, names[i]);
	}
	if (status)
		return status;
	return apart ? check_matrices(o->d, (const void *const *)o->d_array,
	    shape, "D") : check_matrices(o->product,
	    (const void *const *)o->array, shape, "C");
}

__attribute__((constructor))
static void
bring(void)
{
	static struct emu_twin_row rows[AC_TWINS];
	static const char verified[] = "ac_verified_";

	for (size_t i = 0; i < AC_TWINS; i++) {
		const struct ac_twin *twin = &ac_twins[i];

		rows[i] = (struct emu_twin_row){ twin->name, twin->run,
			!strncmp(twin->name, verified, sizeof verified - 1)
			? check_verified : !strcmp(twin->name,
			"ac_recast_ranges") ? check_ranges
			: !strcmp(twin->name, "ac_recast_symmetric")
			? check_symmetric : NULL,
			twin->bytes, twin->idle };
	}
	ac_twin_moved = emuTwinMoved;
	emuTwinsRegister(rows, AC_TWINS);
}
