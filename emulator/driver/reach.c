/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/driver/reach.c -- whether the twin of a kernel of the product may
 * touch what its launch names: the program's matrices, which the program may
 * have freed, or not have allocated. */
#include "emulator/driver/module.h"

#include "kernels/recast/recast.h"

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
check_operand(const struct ac_recast_operand *o, const char *argument)
{
	const struct emu_shape shape = { o->rows, o->cols, o->ld, o->batch,
		o->stride, sizeof *o->from };

	return check_matrices(o->from, (const void *const *)o->array, shape,
	    argument);
}

static int
check_output(const struct ac_recast *r)
{
	const struct ac_recast_output *o = &r->output;
	const struct emu_shape shape = { r->m, r->n, o->ld, r->batch,
		o->stride, sizeof *o->c };

	return check_matrices(o->c, (const void *const *)o->array, shape, "C");
}

int
emu_twin_check(emu_twin_run run, void **params)
{
	static const char recast[] = "ac_recast_";
	const char *name = emu_twin_name(run);
	int status;

	if (EMU_TSAN || !name || strncmp(name, recast, sizeof recast - 1))
		return EMU_OK;
	status = check_operand(&((struct ac_recast *)params[0])->operand[0],
	    "A");
	if (!status)
		status = check_operand(&((struct ac_recast *)params[0])->
		    operand[1], "B");
	if (!status && strcmp(name, "ac_recast_cast") && strcmp(name,
	    "ac_recast_ranges"))
		status = check_output(params[0]);
	return status;
}
