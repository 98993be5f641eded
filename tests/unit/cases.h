/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/cases.h -- the cases of a program, by cmocka. CASE(name) { ... }
 * is one and enters itself in the list, so none is written and not run. They
 * run in the order of their lines. CASES_RUN is the program. What nearly all
 * cases need of the C library is included here. */
#ifndef AC_TESTS_CASES_H
#define AC_TESTS_CASES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Who stands in for another may ignore what he is given, and has no header. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC diagnostic ignored "-Wunused-parameter"

/* cmocka passes over those without a name. */
enum { CASES_MAX = 64, CASES_FIRST = 1000 /* constructor's priority */ };

static struct CMUnitTest cases_all[CASES_MAX];
static size_t cases_count;

static inline void
cases_enter(const char *name, CMUnitTestFunction run, CMFixtureFunction set_up,
    CMFixtureFunction tear_down)
{
	if (cases_count == CASES_MAX)
		abort();
	cases_all[cases_count++] = (struct CMUnitTest){ name, run, set_up,
		tear_down, NULL };
}

/* The exit status of a program whose cases `set_up` and `tear_down` enclose. */
static inline int
cases_run(CMFixtureFunction set_up, CMFixtureFunction tear_down)
{
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(cases_all, set_up, tear_down);
}

/* Opens a case, which `set_up` and `tear_down` enclose, or NULL. */
#define CASE_WITH(name, set_up, tear_down)                             \
	static void name(void **state);                                \
	__attribute__((constructor(CASES_FIRST + __LINE__)))           \
	static void enter_##name(void)                                 \
	{                                                              \
		cases_enter(#name, name, set_up, tear_down);           \
	}                                                              \
	static void name(void **state)

#define CASE(name) CASE_WITH(name, NULL, NULL)

#define CASES_RUN(set_up, tear_down)                                   \
	int                                                            \
	main(void)                                                     \
	{                                                              \
		return cases_run(set_up, tear_down);                   \
	}

/* The same on emulated GPUs of those models. */
#define CASES_RUN_ON(models, set_up, tear_down)                        \
	int                                                            \
	main(void)                                                     \
	{                                                              \
		setenv("AUTOCAST_EMU_MODEL", models, 1);               \
		return cases_run(set_up, tear_down);                   \
	}

#endif
