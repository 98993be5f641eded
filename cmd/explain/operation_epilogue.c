/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/explain/operation_epilogue.c -- what follows a product of cublasLt, or a
 * convolution, in the words of a command line: epilogue=gelu_bias. */
#include "cmd/command.h"

#include <string.h>

int
ac_epilogue_read(struct ac_op *op, const char *value)
{
	/* One to the policy; people type them apart. */
	const bool is_sum = !strcmp(value, "bgrada")
	    || !strcmp(value, "bgradb");
	const char *near;
	int i = 0;

	if (op->operation != AC_OP_GEMM_LT && !ac_op_is_conv(op))
		return ac_say(AC_EXIT_USAGE, "explain: epilogue=%s is only of "
		    "gemm.lt and of convolutions", value);
	if (ac_op_is_conv(op)) {
		op->fact[AC_FACT_EPILOGUE] = value;
		return !strcmp(value, "none") || !strcmp(value, "fused") ? 0
		    : ac_say(AC_EXIT_USAGE, "explain: epilogue=%s of a "
		    "convolution is none or fused", value);
	}
	while (i < AC_EPILOGUE_COUNT && strcmp(value, ac_epilogue_names[i]))
		i++;
	if (is_sum)
		i = AC_EPILOGUE_INPUT_SUMS;
	if (i < AC_EPILOGUE_COUNT) {
		op->fact[AC_FACT_EPILOGUE] = ac_epilogue_names[i];
		return 0;
	}
	near = ac_text_nearest(value, ac_epilogue_names, AC_EPILOGUE_COUNT);
	if (near)
		return ac_say(AC_EXIT_USAGE, "explain: cublasLt has no "
		    "epilogue '%s'; did you mean '%s'?", value, near);
	return ac_say(AC_EXIT_USAGE, "explain: cublasLt has no epilogue '%s'; "
	    "it is like relu_bias, gelu_aux, dgelu_bgrad, none", value);
}
