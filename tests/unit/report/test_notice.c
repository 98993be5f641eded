/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/report/test_notice.c -- the notice is given once per process
 * tree. */
#include "tests/unit/with_state.h"

static void
claim_and_tell(void)
{
	_exit(ac_report_claim_notice() ? 1 : 0);
}

/* Exit status: how often this process and its children got the right. */
static void
claim_everywhere(void)
{
	int given = ac_report_claim_notice();

	given += ac_report_claim_notice();
	given += WEXITSTATUS(in_child(claim_and_tell));
	_exit(given);
}

CASE_WITH(test_once_in_a_process, make_state, remove_state)
{
	assert_int_equal(WEXITSTATUS(in_child(claim_everywhere)), 1);
	/* Also where there is no directory to remember it in. */
	setenv("AUTOCAST_STATE", "off", 1);
	assert_int_equal(WEXITSTATUS(in_child(claim_everywhere)), 1);
}

/* Siblings that never met know of each other by the run... */
CASE_WITH(test_once_in_a_run, make_state, remove_state)
{
	setenv("AUTOCAST_RUN", "one", 1);
	assert_int_equal(WEXITSTATUS(in_child(claim_and_tell)), 1);
	assert_int_equal(WEXITSTATUS(in_child(claim_and_tell)), 0);
	setenv("AUTOCAST_RUN", "two", 1);
	assert_int_equal(WEXITSTATUS(in_child(claim_and_tell)), 1);
	unsetenv("AUTOCAST_RUN");
}

static void
in_own_group(void)
{
	setpgid(0, 0);
	claim_and_tell();
}

/* ... or by the process group, a shell's job. */
CASE_WITH(test_once_in_a_group, make_state, remove_state)
{
	assert_int_equal(WEXITSTATUS(in_child(claim_and_tell)), 1);
	assert_int_equal(WEXITSTATUS(in_child(claim_and_tell)), 0);
	assert_int_equal(WEXITSTATUS(in_child(in_own_group)), 1);
}

CASES_RUN(NULL, NULL)
