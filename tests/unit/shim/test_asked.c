/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/shim/test_asked.c -- on which GPU, from which version on, an
 * environment variable makes cuBLAS emulate FP32. */
#include "shim/start/asked.h"
#include "tests/unit/cases.h"

CASE(test_emulated)
{
	static const struct {
		int  sm, version;
		bool emulated;
	} rows[] = {
		{ 100, 120900, true }, { 103, 130100, true },
		{ 100, 120803, false }, { 100, 0, false },
		{ 90, 130100, false }, { 89, 130100, false },
		{ 110, 130100, false }, { 120, 130100, false },
		{ 0, 130100, false },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		assert_int_equal(ac_asked_is_emulated(rows[i].sm,
		    rows[i].version), rows[i].emulated);
}

CASES_RUN(NULL, NULL)
