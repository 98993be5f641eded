/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/driver/reach.c -- whether the twin of a kernel of the product may
 * touch what its launch names: the program's matrices, which the program may
 * have freed, or not have allocated. */
#include "emulator/driver/memory.h"
#include "emulator/driver/module.h"

#include "kernels/recast/recast_ranges.h"
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
check_ranges(const void *param)
{
	static const char *const names[] = { "A", "B" };
	const struct ac_recast_ranges *r = param;
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

/* Of a verified product A and B, and what it ends in: the product, or D. */
static int
check_verified(const void *param)
{
	static const char *const names[] = { "A", "B" };
	const struct ac_verified *v = param;
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

int
emu_twin_check(emu_twin_run run, void **params)
{
	static const char verified[] = "ac_verified_";
	const char *name = emu_twin_name(run);
	int status = EMU_OK;

	if (EMU_TSAN || !name)
		return EMU_OK;
	emu_table_check_in_order(true);
	if (!strncmp(name, verified, sizeof verified - 1))
		status = check_verified(params[0]);
	else if (!strcmp(name, "ac_recast_ranges"))
		status = check_ranges(params[0]);
	emu_table_check_in_order(false);
	return status;
}
