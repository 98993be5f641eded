/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/report/test_functions.c -- callers by the names of functions,
 * static ones too, from files that may hold anything. */
#include "with_report.h"

#include "base/elf.h"
#include "report/callers/functions.h"

static char place[128];         /* of a copy of this program */

enum { A_LINE = __LINE__ + 2, ITS_LINES = 5 };
__attribute__((noinline)) static int
a_static_function(int x)
{
	__asm__ volatile("" : "+r"(x));
	return x + 1;
}

static char *tools;

/* Without addr2line. */
static void
take_tools(void)
{
	tools = strdup(getenv("PATH"));
	setenv("PATH", "/no/such/folder", 1);
}

static void
give_tools(void)
{
	setenv("PATH", tools, 1);
	free(tools);
}

static void
copy_self(void)
{
	char command[1200];

	snprintf(place, sizeof place, "%s/program", state_directory);
	snprintf(command, sizeof command, "cp /proc/%d/exe '%s' && chmod 700 "
	    "'%s'", (int)getpid(), place, place);
	assert_int_equal(system(command), 0);
}

/* The function of that caller; NULL: not known. */
static const char *
function_of(const struct ac_report *report, const char *caller)
{
	const struct ac_caller *known = ac_report_caller(report, caller);

	return *known->function ? known->function : NULL;
}

/* A run whose site was called from `offset` in the file at `place`. */
static struct ac_report *
report_of(uint64_t offset)
{
	struct ac_file_module *module = &made_header.module[0];
	struct ac_report *report;
	struct stat status;

	make_calls(make_site(0, AC_RUNG_TF32, AC_TACTIC_LIBRARY,
	    AC_REASON_NONE), 1, AC_REASON_NONE, 0);
	snprintf(made[0].key.caller, sizeof made[0].key.caller, "prog+%llx",
	    (unsigned long long)offset);
	assert_int_equal(stat(place, &status), 0);
	strcpy(module->name, "prog");
	snprintf(module->path, sizeof module->path, "%s", place);
	module->bytes = (uint64_t)status.st_size;
	module->changed_s = status.st_mtim.tv_sec;
	module->changed_ns = status.st_mtim.tv_nsec;
	atomic_store(&made_header.modules, 1);
	report = make_report(1);
	ac_report_name_callers(report);
	return report;
}

static uint64_t
offset_in(const void *address)
{
	struct ac_elf_object object;

	assert_true(ac_elf_object_at(address, &object));
	return (uint64_t)((uintptr_t)address - object.base);
}

CASE(test_static)
{
	const uint64_t at = offset_in((const void *)(uintptr_t)
	    a_static_function);
	struct ac_report *report;
	const char *name;

	copy_self();
	take_tools();
	report = report_of(at + 1);     /* the return behind its first byte */
	name = function_of(report, made[0].key.caller);
	assert_non_null(name);
	assert_string_equal(name, "a_static_function");
	assert_null(function_of(report, "prog+1"));
	assert_non_null(strstr(written(as_text, report),
	    "a_static_function"));
	assert_non_null(strstr(sunk, "           at prog+"));
	assert_non_null(strstr(written(ac_report_as_json, report),
	    "\"function\": \"a_static_function\""));
	/* The byte before it belongs to another function or to none. */
	report = report_of(at);
	name = function_of(report, made[0].key.caller);
	assert_true(!name || strcmp(name, "a_static_function"));
	give_tools();
}

/* By addr2line, where that is installed: the text has the line where there is
 * room for it, else below; JSON has it in full. */
CASE(test_line)
{
	const uint64_t at = offset_in((const void *)(uintptr_t)
	    a_static_function);
	const struct ac_caller *known;
	struct ac_report *report;
	char said[300];

	if (system("addr2line --version >/dev/null 2>&1"))
		skip();
	copy_self();
	report = report_of(at + 1);
	known = ac_report_caller(report, made[0].key.caller);
	assert_string_equal(known->caller, made[0].key.caller);
	assert_string_equal(known->name, "a_static_function");
	assert_in_range(known->line, A_LINE, A_LINE + ITS_LINES);
	snprintf(said, sizeof said, " test_functions.c:%u", known->line);
	assert_non_null(strstr(written(as_text, report), said));
	assert_null(strstr(strstr(sunk, said) + 1, said));
	snprintf(said, sizeof said, "\"caller_line\": %u", known->line);
	assert_non_null(strstr(written(ac_report_as_json, report), said));
	assert_non_null(strstr(sunk, "/test_functions.c\""));
}

/* A file that has changed names nothing; nor does one that is gone. */
CASE(test_changed)
{
	const uint64_t at = offset_in((const void *)(uintptr_t)
	    a_static_function) + 1;
	struct ac_report *report = report_of(at);

	report->processes[0].module[0].changed_ns ^= 1;
	ac_report_name_callers(report);
	assert_null(function_of(report, made[0].key.caller));
	report->processes[0].module[0].changed_ns ^= 1;
	report->processes[0].module[0].bytes++;
	ac_report_name_callers(report);
	assert_null(function_of(report, made[0].key.caller));
	report->processes[0].module[0].bytes--;
	ac_report_name_callers(report);
	assert_non_null(function_of(report, made[0].key.caller));
	strcpy(report->processes[0].module[0].path, "/dev/null");
	ac_report_name_callers(report);
	assert_null(function_of(report, made[0].key.caller));
}

static void
damage(off_t at, uint32_t value)
{
	const int fd = open(place, O_WRONLY);

	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, &value, sizeof value, at), sizeof value);
	close(fd);
}

/* Headers, sections and symbols with any values in them: no crash, and what is
 * named is text that ends. */
CASE(test_hostile)
{
	static const uint32_t values[] = { 0, 1, 0x7fffffff, 0xffffffff, 64 };
	const uint64_t at = offset_in((const void *)(uintptr_t)
	    a_static_function) + 1;
	struct stat status;
	uint64_t sections = 0;
	int fd;

	copy_self();
	take_tools();   /* their faults are not ours, and they take time */
	fd = open(place, O_RDONLY);
	assert_int_equal(pread(fd, &sections, 8, offsetof(Elf64_Ehdr, e_shoff)),
	    8);
	close(fd);
	assert_int_equal(stat(place, &status), 0);
	for (unsigned i = 0; i < 400; i++) {
		const off_t from = i % 4 ? (off_t)sections : 0;
		const off_t offset = from + (off_t)(i * 37 % (i % 4 ? 2400
		    : 64));
		struct ac_report *report;
		uint32_t was = 0;

		if (offset + 4 > status.st_size)
			continue;
		fd = open(place, O_RDONLY);
		assert_int_equal(pread(fd, &was, sizeof was, offset), 4);
		close(fd);
		damage(offset, values[i % 5]);
		report = report_of(at);
		for (size_t c = 0; c < report->caller_count; c++)
			assert_non_null(memchr(report->callers[c].function,
			    '\0', sizeof report->callers[c].function));
		damage(offset, was);
	}
	assert_int_equal(truncate(place, status.st_size / 2), 0);
	(void)report_of(at);
	assert_int_equal(truncate(place, 10), 0);
	(void)report_of(at);
	give_tools();
}

int
main(void)
{
	(void)a_static_function(1);
	return cases_run(make_state, remove_state);
}
