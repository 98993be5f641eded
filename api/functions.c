/* SPDX-License-Identifier: Apache-2.0 */
/* api/functions.c -- the table of the public functions, for programs that look
 * it up: include/autocast_dynamic.h. A function that is missing here does not
 * link; one that has another type than its prototype cannot be written. */
#include "include/autocast_functions.h"

#include "include/autocast_scaler.h"

static const struct autocast_functions functions = {
	.size = sizeof functions,
	.abi = AUTOCAST_ABI,
#define ROW(name) .name = (autocast_function)autocast_##name,
	AUTOCAST_FUNCTION_LIST(ROW)
#undef ROW
};

/* Rows are only appended: who knows fewer finds those in their places. */
const struct autocast_functions *
autocast_functions_get(uint32_t abi)
{
	return abi == 0 ? NULL : &functions;
}
