/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/cmd/test_validate.c -- two traces side by side: every verdict, and
 * where it strikes. */
#include "cmd/validate/validate.h"
#include "tests/unit/cases.h"

#include <sys/stat.h>
#include <unistd.h>

/* A line; HASH and SOURCE are the rows'. */
#define LINE(kind, fate, symbol, n, hash, source, live, caller) \
	kind " " fate " " symbol " " n " " hash " " source " " live " 1 " \
	caller "\n"
#define HEAD  "program 00000000000000ff\n"
#define SEED(hash)                                                     \
	LINE("seed", "scaled", "cublasSscal_v2", "80", hash, "1", "1", \
	    "train+10")
#define UPDATE(n, hash, source, live) \
	LINE("update", "scaled", "cublasSaxpy_v2", n, hash, source, live, \
	"my train+20")
#define FIRST(hash) UPDATE("120", hash, "5", "1")
#define LAST(hash)  UPDATE("50", hash, "6", "1")
#define SCALED(hash) UPDATE("120", hash, "7", "1")
#define OWN(hash) \
	LINE("none", "own", "cublasSaxpy_v2", "9", hash, "1", "1", "train+30")
#define PLAIN HEAD SEED("1") FIRST("2") LAST("3") SEED("1")

static const struct {
	const char *first, *second;      /* NULL: no trace */
	enum ac_trace_verdict verdict;
	size_t seeds, updates;
	long long n;                     /* of the line; 0: any */
} rows[] = {
	{ PLAIN, HEAD SEED("9") SCALED("2") LAST("3") SEED("9"),
	  AC_TRACE_SAME, 2, 2, 0 },
	{ PLAIN, PLAIN, AC_TRACE_UNCHANGED, 2, 2, 0 },
	{ PLAIN, HEAD SEED("9") SCALED("2") LAST("4") SEED("9"),
	  AC_TRACE_OTHER_UPDATE, 1, 2, 50 },
	{ PLAIN, HEAD SEED("9") SCALED("4") LAST("3") SEED("9"),
	  AC_TRACE_OTHER_UPDATE, 1, 1, 120 },
	/* One call less, one more, others, in another order. */
	{ PLAIN, HEAD SEED("9") FIRST("2"), AC_TRACE_OTHER_CALLS, 1, 2, 50 },
	{ HEAD SEED("9") FIRST("2"), PLAIN, AC_TRACE_OTHER_CALLS, 1, 2, 50 },
	{ PLAIN, HEAD SEED("9") LAST("3") FIRST("2"),
	  AC_TRACE_OTHER_CALLS, 1, 1, 120 },
	{ PLAIN, HEAD LINE("seed", "scaled", "cublasSscal_v2", "80", "9", "1",
	  "1", "train+11"), AC_TRACE_OTHER_CALLS, 1, 0, 80 },
	{ PLAIN, HEAD LINE("seed", "scaled", "cublasSaxpy_v2", "80", "9", "1",
	  "1", "train+10"), AC_TRACE_OTHER_CALLS, 1, 0, 80 },
	{ PLAIN, NULL, AC_TRACE_OTHER_CALLS, 1, 0, 80 },
	/* What cannot be scaled, in whichever run. */
	{ PLAIN, HEAD LINE("seed", "device", "cublasSscal_v2", "80", "0", "0",
	  "0", "train+10"), AC_TRACE_UNFIT, 1, 0, 80 },
	{ HEAD SEED("1") LINE("update", "captured", "cublasSaxpy_v2", "120",
	  "0", "0", "0", "my train+20"), HEAD SEED("9") FIRST("2"),
	  AC_TRACE_UNFIT, 1, 1, 120 },
	/* One without the other. */
	{ HEAD FIRST("2"), HEAD FIRST("2"), AC_TRACE_NO_SEED, 0, 1, 0 },
	{ HEAD FIRST("2") SEED("1"), HEAD FIRST("4") SEED("9"),
	  AC_TRACE_NO_SEED, 0, 1, 120 },
	{ HEAD SEED("1"), HEAD SEED("9"), AC_TRACE_NO_UPDATE, 1, 0, 0 },
	{ NULL, NULL, AC_TRACE_NO_SEED, 0, 0, 0 },
	/* Runs that could not have shown a difference. */
	{ PLAIN, HEAD SEED("9") FIRST("2") LAST("3") SEED("9"),
	  AC_TRACE_UNSEEN, 2, 2, 0 },
	{ HEAD SEED("1") UPDATE("120", "2", "5", "0") SEED("1"),
	  HEAD SEED("9") SCALED("2") SEED("9"), AC_TRACE_UNSEEN, 2, 1, 0 },
	{ HEAD SEED("1") FIRST("2"), HEAD SEED("9") SCALED("2"),
	  AC_TRACE_SHORT, 1, 1, 0 },
	/* What no line means stands between. */
	{ HEAD SEED("1") OWN("1") FIRST("2") OWN("2") SEED("1"),
	  HEAD SEED("9") SCALED("2") SEED("9") OWN("3"),
	  AC_TRACE_SAME, 2, 1, 0 },
	/* No trace at all, or damage: never the end. */
	{ "", PLAIN, AC_TRACE_UNREADABLE, 0, 0, 0 },
	{ PLAIN, "programme\n", AC_TRACE_UNREADABLE, 0, 0, 0 },
	{ PLAIN "upd", HEAD SEED("9") SCALED("2") LAST("3") SEED("9") "upd",
	  AC_TRACE_UNREADABLE, 2, 2, 0 },
	{ PLAIN "seed\n", PLAIN "seed\n", AC_TRACE_UNREADABLE, 2, 2, 0 },
	{ PLAIN "sneed scaled f 80 1 1 1 1 train\n", PLAIN,
	  AC_TRACE_UNREADABLE, 2, 2, 0 },
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

CASE(test_rows)
{
	struct ac_trace_result result;

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

CASE(test_processes)
{
	struct ac_trace_result result;

	put("a/1-0", PLAIN);
	put("b/2-0", PLAIN);
	put("b/3-0", PLAIN);
	ac_trace_compare("a", "b", &result);
	assert_int_equal(result.verdict, AC_TRACE_PROCESSES);
	assert_int_equal(result.processes, 2);
	/* One that made no call that a line means is not in the way. */
	put("b/3-0", "program 0000000000000001\n" OWN("1"));
	put("a/0-0", "program 0000000000000001\n" OWN("1"));
	ac_trace_compare("a", "b", &result);
	assert_int_equal(result.verdict, AC_TRACE_UNCHANGED);
	assert_int_equal(result.program, 0xff);
	put("a/0-0", NULL);
	put("b/3-0", NULL);
}

/* What only the run with the whole policy makes infinite. */
CASE(test_overflow)
{
	static const char bad[] =
	    "update scaled cublasSaxpy_v2 50 8 6 0 0 my train+20\n";
	char with[512], without[512];
	struct ac_trace_result result = { .verdict = AC_TRACE_SAME };

	snprintf(with, sizeof with, "%s%s", HEAD SEED("1") FIRST("2"), bad);
	snprintf(without, sizeof without, "%s%s", HEAD SEED("1"), bad);
	put("a/1-0", PLAIN);
	put("b/2-0", PLAIN);
	assert_false(ac_trace_overflows("a", "b", &result));
	put("b/2-0", with);
	assert_true(ac_trace_overflows("a", "b", &result));
	assert_int_equal(result.verdict, AC_TRACE_OVERFLOW);
	assert_int_equal(result.updates, 2);
	assert_int_equal(result.line.n, 50);
	/* Not if it is so anyway. */
	put("a/1-0", without);
	assert_false(ac_trace_overflows("a", "b", &result));
	put("b/2-0", NULL);
	assert_false(ac_trace_overflows("a", "b", &result));
	/* What cannot be read is no good news. */
	put("a/1-0", PLAIN);
	put("b/2-0", PLAIN "upd");
	assert_true(ac_trace_overflows("a", "b", &result));
	assert_int_equal(result.verdict, AC_TRACE_UNREADABLE);
	put("b/2-0", NULL);
}

/* What the stamp is to know of libraries. */
CASE(test_modules)
{
	struct ac_trace_result result;

	put("a/1-0", HEAD OWN("1") "module 1 /a b\n" SEED("1") "module 2 /c\n"
	    FIRST("2") SEED("1"));
	put("b/2-0", HEAD "module 1 /a b\n" SEED("9") SCALED("2") SEED("9"));
	ac_trace_compare("a", "b", &result);
	assert_int_equal(result.verdict, AC_TRACE_SAME);
	assert_string_equal(result.modules, "module 1 /a b\nmodule 2 /c\n");
}

/* Kinds of calls that no line means, each once. */
CASE(test_others)
{
	static char text[1 << 14], line[128];
	struct ac_trace_result result;

	put("a/1-0", HEAD OWN("1") SEED("1") OWN("2") FIRST("2") SEED("1"));
	put("b/2-0", HEAD OWN("1") SEED("9") OWN("2") SCALED("2") SEED("9"));
	ac_trace_compare("a", "b", &result);
	assert_int_equal(result.verdict, AC_TRACE_SAME);
	assert_int_equal(result.other_count, 1);
	assert_int_equal(result.others[0].calls, 2);
	assert_int_equal(result.others[0].line.n, 9);
	assert_false(result.others[0].differs);
	put("b/2-0", HEAD OWN("1") SEED("9") OWN("3") SCALED("2") SEED("9"));
	ac_trace_compare("a", "b", &result);
	assert_true(result.others[0].differs);
	put("b/2-0", HEAD OWN("1") SEED("9") SCALED("2") SEED("9"));
	ac_trace_compare("a", "b", &result);
	assert_true(result.others[0].differs);
	strcpy(text, HEAD);
	for (int i = 0; i < AC_TRACE_OTHERS + 3; i++) {
		snprintf(line, sizeof line, "none own f %d 1 1 1 1 train\n", i);
		strcat(text, line);
	}
	put("a/1-0", text);
	ac_trace_compare("a", "b", &result);
	assert_int_equal(result.other_count, AC_TRACE_OTHERS);
}

static char place[64];

static int
make_place(void **state)
{
	strcpy(place, "/tmp/autocast-test-XXXXXX");
	return !mkdtemp(place) || chdir(place) || mkdir("a", 0700)
	    || mkdir("b", 0700);
}

static int
remove_place(void **state)
{
	char command[128];

	snprintf(command, sizeof command, "rm -rf %s", place);
	return system(command);
}

CASES_RUN(make_place, remove_place)
