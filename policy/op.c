/* SPDX-License-Identifier: Apache-2.0 */
/* policy/op.c -- what follows from the sizes of a product.
 * Pure arithmetic; called by whoever describes a call. */
#include "policy/op.h"

#include <string.h>

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

	ac_op_set(op, AC_Q_M, dm);
	ac_op_set(op, AC_Q_N, dn);
	ac_op_set(op, AC_Q_K, dk);
	ac_op_set(op, AC_Q_BATCH, count);
	ac_op_set(op, AC_Q_FLOPS, flops);
	ac_op_set(op, AC_Q_BYTES, bytes);
	ac_op_set(op, AC_Q_INTENSITY, bytes > 0 ? flops / bytes : 0);
}
