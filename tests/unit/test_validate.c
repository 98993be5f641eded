/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/test_validate.c -- two traces side by side: every verdict, and
 * where it strikes. */
#include "cmd/validate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define HEAD  "program 00000000000000ff\n"
#define SEED  "seed scaled cublasSscal_v2 80 train+10 "
#define FIRST "update scaled cublasSaxpy_v2 120 train+20 "
#define LAST  "update scaled cublasSaxpy_v2 50 train+20 "
#define PLAIN HEAD SEED "1\n" FIRST "2\n" LAST "3\n"

static const struct {
	const char *first, *second;      /* NULL: no trace */
	enum ac_trace_verdict verdict;
	size_t seeds, updates;
	long long n;                     /* of the line; 0: any */
} rows[] = {
	{ PLAIN, HEAD SEED "9\n" FIRST "2\n" LAST "3\n",
	  AC_TRACE_SAME, 1, 2, 0 },
	{ PLAIN, PLAIN, AC_TRACE_UNCHANGED, 1, 2, 0 },
	{ PLAIN, HEAD SEED "9\n" FIRST "2\n" LAST "4\n",
	  AC_TRACE_OTHER_UPDATE, 1, 2, 50 },
	{ PLAIN, HEAD SEED "9\n" FIRST "4\n" LAST "3\n",
	  AC_TRACE_OTHER_UPDATE, 1, 1, 120 },
	/* One call less, one more, others, in another order. */
	{ PLAIN, HEAD SEED "9\n" FIRST "2\n",
	  AC_TRACE_OTHER_CALLS, 1, 2, 50 },
	{ HEAD SEED "9\n" FIRST "2\n", PLAIN,
	  AC_TRACE_OTHER_CALLS, 1, 2, 50 },
	{ PLAIN, HEAD SEED "9\n" LAST "3\n" FIRST "2\n",
	  AC_TRACE_OTHER_CALLS, 1, 1, 120 },
	{ PLAIN, HEAD "seed scaled cublasSscal_v2 80 train+11 9\n",
	  AC_TRACE_OTHER_CALLS, 1, 0, 80 },
	{ PLAIN, HEAD "seed scaled cublasSaxpy_v2 80 train+10 9\n",
	  AC_TRACE_OTHER_CALLS, 1, 0, 80 },
	{ PLAIN, NULL, AC_TRACE_OTHER_CALLS, 1, 0, 80 },
	/* What cannot be scaled, in whichever run. */
	{ PLAIN, HEAD "seed device cublasSscal_v2 80 train+10 0\n",
	  AC_TRACE_UNFIT, 1, 0, 80 },
	{ HEAD SEED "1\nupdate captured cublasSaxpy_v2 120 train+20 0\n",
	  HEAD SEED "9\n" FIRST "2\n", AC_TRACE_UNFIT, 1, 1, 120 },
	/* One without the other. */
	{ HEAD FIRST "2\n", HEAD FIRST "2\n", AC_TRACE_NO_SEED, 0, 1, 0 },
	{ HEAD FIRST "2\n" SEED "1\n", HEAD FIRST "4\n" SEED "9\n",
	  AC_TRACE_NO_SEED, 0, 1, 120 },
	{ HEAD SEED "1\n", HEAD SEED "9\n", AC_TRACE_NO_UPDATE, 1, 0, 0 },
	{ NULL, NULL, AC_TRACE_NO_SEED, 0, 0, 0 },
	/* No trace at all. */
	{ "", PLAIN, AC_TRACE_UNREADABLE, 0, 0, 0 },
	{ PLAIN, "programme\n", AC_TRACE_UNREADABLE, 0, 0, 0 },
};

static void
put(const char *path, const char *text)
{
	FILE *file;

	(void)unlink(path);
	if (!text)
		return;
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

static void
test_rows(void **state)
{
	struct ac_trace_result result;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		put("a/1-0", rows[i].first);
		put("b/2-0", rows[i].second);
		ac_trace_compare("a", "b", &result);
		if (result.verdict != rows[i].verdict
		    || result.seeds != rows[i].seeds
		    || result.updates != rows[i].updates
		    || (rows[i].n && result.line.n != rows[i].n))
			fail_msg("row %zu: verdict %d, %zu seeds, %zu updates, "
			    "n=%lld", i, (int)result.verdict, result.seeds,
			    result.updates, result.line.n);
		if (rows[i].first && *rows[i].first)
			assert_int_equal(result.program, 0xff);
	}
}

static void
test_processes(void **state)
{
	struct ac_trace_result result;

	(void)state;
	put("a/1-0", PLAIN);
	put("b/2-0", PLAIN);
	put("b/3-0", PLAIN);
	ac_trace_compare("a", "b", &result);
	assert_int_equal(result.verdict, AC_TRACE_PROCESSES);
	assert_int_equal(result.processes, 2);
	put("b/3-0", NULL);
}

static char place[64];

static int
make_place(void **state)
{
	(void)state;
	strcpy(place, "/tmp/autocast-test-XXXXXX");
	return !mkdtemp(place) || chdir(place) || mkdir("a", 0700)
	    || mkdir("b", 0700);
}

static int
remove_place(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof command, "rm -rf %s", place);
	return system(command);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_processes),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, make_place, remove_place);
}
