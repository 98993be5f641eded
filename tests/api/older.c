/* SPDX-License-Identifier: Apache-2.0 */
/* tests/api/older.c -- libraries of other ages, for tests/api/dynamic.sh: one
 * that has regions only (AGE 1), one that can create a scaler and no more
 * (AGE 2), one that knows more than the headers (AGE 3), and one that no longer
 * serves their ABI (AGE 4). */
#include "autocast_functions.h"
#include "autocast_scaler.h"

#include <string.h>

static struct {
	struct autocast_functions known;
	autocast_function newer[8];
} table;
static double scaler; /* aligned, as the library's are */

static autocast_status
push(const char *name, int enabled, const char *rung)
{
	(void)name;
	(void)enabled;
	(void)rung;
	return AUTOCAST_E_REGION;
}

static autocast_status
pop(void)
{
	return AUTOCAST_E_BUSY;
}

static autocast_status
create(const autocast_scaler_options *options, autocast_scaler **scaler_out)
{
	(void)options;
	*scaler_out = (autocast_scaler *)(void *)&scaler;
	return AUTOCAST_E_AT_MINIMUM;
}

const struct autocast_functions *
autocast_functions_get(uint32_t abi)
{
	if (AGE == 4 || abi != AUTOCAST_ABI)
		return NULL;
	memset(&table, 0xff, sizeof(table)); /* nobody may look there */
	table.known.abi = AGE == 3 ? 2 : 1;
	table.known.region_push = (autocast_function)push;
	table.known.region_pop = (autocast_function)pop;
	table.known.scaler_create = (autocast_function)create;
	table.known.status_string = table.known.last_error = NULL;
	table.known.size = AGE == 3 ? sizeof(table)
	    : AGE == 2 ? offsetof(struct autocast_functions, scaler_destroy)
	    : offsetof(struct autocast_functions, region_pop);
	return &table.known;
}
