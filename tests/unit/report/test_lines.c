/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/report/test_lines.c -- callers by file and line, of tools that may
 * be missing, hang, or answer anything. */
#include "tests/unit/with_state.h"

#include "report/callers/functions.h"

#include <time.h>

static char *path_before;

static int
set_up(void **state)
{
	path_before = strdup(getenv("PATH"));
	return make_state(state);
}

static int
tear_down(void **state)
{
	setenv("PATH", path_before, 1);
	free(path_before);
	return remove_state(state);
}

/* Let `name` be a shell script, and all that PATH finds but the shell's. */
static void
write_tool(const char *name, const char *script)
{
	char path[200], list[400];
	FILE *file;

	snprintf(path, sizeof path, "%s/%s", state_directory, name);
	file = fopen(path, "w");
	assert_non_null(file);
	fprintf(file, "#!/bin/sh\n%s\n", script);
	fclose(file);
	assert_int_equal(chmod(path, 0700), 0);
	snprintf(list, sizeof list, "%s:/usr/bin:/bin", state_directory);
	setenv("PATH", list, 1);
}

static void
answer(const char *text)
{
	char script[6000];

	snprintf(script, sizeof script, "cat <<'END'\n%s\nEND", text);
	write_tool("addr2line", script);
}

static struct ac_caller callers[2];
static const uint64_t at[2] = { 0x10, 0x2f };

static double
find(double seconds)
{
	memset(callers, 0, sizeof callers);
	ac_lines_find("/an/object", at, callers, 2, &seconds);
	return seconds;
}

CASE(test_answers)
{
	static const struct {
		const char *answer, *name, *file;
		uint32_t line;
	} rows[] = {
		{ "0x0000000000000010\nmain\n/src/train.c:116", "main",
		    "/src/train.c", 116 },
		{ "0x10\ngemm\n/src/a.c:7\ntrain_step\n/src/train.c:116 "
		    "(discriminator 3)\n0x2f\nother\nb.c:1", "train_step",
		    "/src/train.c", 116 },
		{ "0x10\ngemm\n/src/a.c:7\ntrain\n??:0", "train", "", 0 },
		{ "0x10\n??\n??:0", "", "", 0 },
		{ "0x10\n??\n??:?", "", "", 0 },
		{ "0x10\nf\nC:\\a.c:12", "f", "C:\\a.c", 12 },
		{ "0x10\nf\na.c:?", "f", "", 0 },
		{ "0x10\nf\na.c:12x", "f", "", 0 },
		{ "0x10\nf\n:99999999999999999999", "f", "", 0 },
		{ "0x10\nf\nno colon", "f", "", 0 },
		{ "0x10\nf", "", "", 0 },
		{ "0x11\nf\na.c:1", "", "", 0 },
		{ "0xzz\nf\na.c:1\n", "", "", 0 },
		{ "f\na.c:1\n0x10", "", "", 0 },
		{ "", "", "", 0 },
		{ "0x10\nvoid net::gemm<float (int)>(Tensor const&) [clone]\n"
		    "a.c:1", "void net::gemm<float (int)>", "a.c", 1 },
		{ "0x10\n(anonymous namespace)::f(int)\na.c:1",
		    "(anonymous namespace)::f", "a.c", 1 },
		{ "0x10\nA<B>::operator()(int) const\na.c:1",
		    "A<B>::operator()", "a.c", 1 },
		{ "0x10\noperator<<(S&, A<1>)\na.c:1", "operator<<", "a.c",
		    1 },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		answer(rows[i].answer);
		(void)find(5);
		assert_string_equal(callers[0].name, rows[i].name);
		assert_string_equal(callers[0].file, rows[i].file);
		assert_int_equal(callers[0].line, rows[i].line);
	}
}

/* Names and files that are too long are cut: of a name the end, of a file the
 * beginning. */
CASE(test_long)
{
	char text[4096], name[1001], file[1001];

	memset(name, 'n', 1000);
	memset(file, 'f', 1000);
	name[1000] = file[1000] = '\0';
	snprintf(text, sizeof text, "0x2f\n%s\n%s/end.c:3", name, file);
	answer(text);
	(void)find(5);
	assert_int_equal(strspn(callers[1].name, "n"),
	    sizeof callers[1].name - 1);
	assert_int_equal(strlen(callers[1].file), sizeof callers[1].file - 1);
	assert_non_null(strstr(callers[1].file, "f/end.c"));
	assert_int_equal(callers[1].line, 3);
	assert_string_equal(callers[0].name, "");
}

/* It is asked once, for both addresses, of that object. */
CASE(test_question)
{
	write_tool("addr2line", "printf '%s\\n' 0x10 \"$*\" x:1 0x2f;"
	    " tr '\\n' ' '; echo; echo x:1");
	(void)find(5);
	assert_string_equal(callers[0].name, "-e /an/object -a -f -C -i");
	assert_string_equal(callers[1].name, "0x10 0x2f ");
}

CASE(test_no_tool)
{
	setenv("PATH", "/no/such/folder", 1);
	assert_true(find(5) > 0);
	assert_string_equal(callers[0].name, "");
	assert_int_equal(callers[0].line, 0);
}

/* What hangs, or never ends to speak, is killed in time; what it said before
 * that counts. */
CASE(test_bounded)
{
	struct timespec begin, end;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	write_tool("addr2line", "printf '0x10\\nf\\na.c:5\\n'; exec sleep 60");
	assert_true(find(0.5) <= 0);
	assert_int_equal(callers[0].line, 5);
	assert_true(find(0) <= 0);
	assert_int_equal(callers[0].line, 0);
	write_tool("addr2line", "exec yes 0x10");
	(void)find(20);
	clock_gettime(CLOCK_MONOTONIC, &end);
	assert_true(end.tv_sec - begin.tv_sec < 10);
}

/* Nothing is loaded into it, and no server is asked. */
CASE(test_environment)
{
	setenv("DEBUGINFOD_URLS", "file:///nowhere", 1);
	write_tool("addr2line", "echo 0x10; env | sed 's/=.*//' |"
	    " grep -v -e PWD -e SHLVL -e '^_$' | sort | tr '\\n' ' '; echo; "
	    "echo \"$LC_ALL:1\"");
	(void)find(5);
	assert_string_equal(callers[0].name, "LC_ALL PATH ");
	assert_string_equal(callers[0].file, "C");
	unsetenv("DEBUGINFOD_URLS");
}

CASE(test_demangle)
{
	struct ac_caller three[3] = { { .function = "_ZN3net4gemmEi" },
		{ .function = "main" }, { .function = "_Zbad" } };
	double seconds = 5;

	write_tool("c++filt", "sed 's/_ZN3net4gemmEi/net::gemm(int)/'");
	ac_lines_demangle(three, 3, &seconds);
	assert_string_equal(three[0].name, "net::gemm");
	assert_string_equal(three[0].function, "_ZN3net4gemmEi");
	assert_string_equal(three[1].name, "");
	assert_string_equal(three[2].name, "");
	memset(three[0].name, 0, sizeof three[0].name);
	write_tool("c++filt", "printf 'no end'");
	ac_lines_demangle(three, 3, &seconds);
	assert_string_equal(three[0].name, "");
}

CASES_RUN(set_up, tear_down)
