/* SPDX-License-Identifier: Apache-2.0 */
/* policy/op.c -- what follows from the sizes of a product or a convolution.
 * Pure arithmetic; called by code that describes a call. */
#include "policy/op.h"

#include <string.h>

static void
set_sides(struct ac_op *op, double m, double n, double k)
{
	ac_op_set(op, AC_Q_M, m);
	ac_op_set(op, AC_Q_N, n);
	ac_op_set(op, AC_Q_K, k);
}

static void
set_work(struct ac_op *op, double batch, double flops, double bytes)
{
	ac_op_set(op, AC_Q_BATCH, batch);
	ac_op_set(op, AC_Q_FLOPS, flops);
	ac_op_set(op, AC_Q_BYTES, bytes);
	ac_op_set(op, AC_Q_INTENSITY, bytes > 0 ? flops / bytes : 0);
}

void
ac_op_set_product(struct ac_op *op, int64_t m, int64_t n, int64_t k,
    int64_t batch)
{
	const char *type = op->fact[AC_FACT_TYPE];
	const bool complex = type != NULL && strcmp(type, "c32") == 0;
	const double dm = (double)m, dn = (double)n, dk = (double)k;
	const double count = (double)batch;
	const double flops = (complex ? 8 : 2) * dm * dn * dk * count;
	const double elements = (dm * dk + dk * dn + dm * dn) * count;
	const double bytes = (complex ? 8 : 4) * elements;

	set_sides(op, dm, dn, dk);
	set_work(op, count, flops, bytes);
}

static bool
is_epilogue(const char *epilogue, enum ac_epilogue which)
{
	const char *name = ac_epilogue_names[which];
	const size_t length = strcspn(epilogue, ":");

	return strlen(name) == length && memcmp(name, epilogue, length) == 0;
}

const char *
ac_epilogue_objection(const char *epilogue)
{
	if (is_epilogue(epilogue, AC_EPILOGUE_INPUT_SUMS))
		return "it adds up an input, which a cast scales";
	if (is_epilogue(epilogue, AC_EPILOGUE_OTHER))
		return "autocast has no recipe for it";
	return NULL;
}

/* ---- Convolutions ------------------------------------------------------ */

/* The product of the first `count` extents. */
static double
volume(const int64_t *extent, unsigned count)
{
	double product = 1;

	for (unsigned i = 0; i < count; i++)
		product *= (double)extent[i];
	return product;
}

static double
filter_volume(const struct ac_conv_sizes *sizes)
{
	double product = 1;

	for (unsigned i = 0; i < sizes->spatial; i++)
		product *= sizes->filter[i];
	return product;
}

static void
set_space(struct ac_op *op, enum ac_quantity which, const uint16_t *extent,
    unsigned spatial)
{
	ac_op_set_extents(op, which, extent[0], spatial > 1 ? extent[1] : 0,
	    spatial > 2 ? extent[2] : 0);
}

void
ac_op_set_conv(struct ac_op *op, const struct ac_conv_sizes *sizes)
{
	const double groups = (double)sizes->groups;
	const double cin = (double)sizes->cin, cout = (double)sizes->cout;
	const double c = cin / groups, d = cout / groups;
	const double taps = filter_volume(sizes), images = (double)sizes->n;
	const double space = volume(sizes->image, sizes->spatial);
	const double positions = images * volume(sizes->out, sizes->spatial);
	const double flops = 2 * positions * cout * c * taps;
	const double bytes = 4 * (images * cin * space + cout * c * taps +
	    positions * cout);

	ac_op_set(op, AC_Q_CIN, cin);
	ac_op_set(op, AC_Q_COUT, cout);
	ac_op_set(op, AC_Q_GROUPS, groups);
	set_space(op, AC_Q_FILTER, sizes->filter, sizes->spatial);
	set_space(op, AC_Q_STRIDE, sizes->stride, sizes->spatial);
	set_space(op, AC_Q_DILATION, sizes->dilation, sizes->spatial);
	ac_op_set(op, AC_Q_SPATIAL, space);
	if (op->operation == AC_OP_CONV_DGRAD)
		set_sides(op, positions, c * taps, d);
	else if (op->operation == AC_OP_CONV_WGRAD)
		set_sides(op, d, c * taps, positions);
	else
		set_sides(op, positions, d, c * taps);
	set_work(op, groups, flops, bytes);
}
