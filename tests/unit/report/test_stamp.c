/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/report/test_stamp.c -- stamps: of these lines and this program's
 * content, wherever it is; none without a state directory. */
#include "report/count/stamp.h"
#include "tests/unit/cases.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

static char place[64];

static void
write_file(const char *name, const char *bytes, size_t count)
{
	FILE *file = fopen(name, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, count, file), count);
	assert_int_equal(fclose(file), 0);
}

static int
make_place(void **state)
{
	strcpy(place, "/tmp/autocast-test-XXXXXX");
	if (!mkdtemp(place) || chdir(place))
		return 1;
	return setenv("AUTOCAST_STATE", "state/deep", 1);
}

static int
remove_place(void **state)
{
	char command[128];

	snprintf(command, sizeof command, "rm -rf %s", place);
	return system(command);
}

CASE(test_hash)
{
	uint64_t hash;

	/* FNV-1a's own test vectors. */
	assert_true(ac_stamp_of_lines("") == UINT64_C(0xcbf29ce484222325));
	assert_true(ac_stamp_of_lines("a") == UINT64_C(0xaf63dc4c8601ec8c));
	assert_true(ac_stamp_of_lines("foobar")
	    == UINT64_C(0x85944171f73967e8));
	hash = ac_stamp_hash(AC_STAMP_START, "foo", 3);
	assert_true(ac_stamp_hash(hash, "bar", 3)
	    == ac_stamp_of_lines("foobar"));
}

CASE(test_programs)
{
	static char long_one[200001];
	uint64_t a, b;

	memset(long_one, 'x', sizeof long_one);
	write_file("one", "foobar", 6);
	write_file("same", "foobar", 6);
	write_file("long", long_one, sizeof long_one);
	assert_true(ac_stamp_of_program("one", &a));
	assert_true(a == ac_stamp_of_lines("foobar"));
	assert_true(ac_stamp_of_program("same", &b));
	assert_true(a == b);
	assert_true(ac_stamp_of_program("long", &a));
	assert_true(a == ac_stamp_hash(AC_STAMP_START, long_one,
	    sizeof long_one));
	/* The last byte counts. */
	long_one[sizeof long_one - 1] = 'y';
	write_file("long", long_one, sizeof long_one);
	assert_true(ac_stamp_of_program("long", &b));
	assert_true(a != b);
	errno = 0;
	assert_false(ac_stamp_of_program("none", &b));
	assert_int_equal(errno, ENOENT);
	assert_false(ac_stamp_of_program(".", &b)); /* cannot be read */
}

CASE(test_stamps)
{
	const struct ac_stamp stamp = { .lines = 1, .program = 2 };
	const struct ac_stamp others[] = { { 1, 3, NULL },
		{ 3, 2, NULL }, { 1, 2, "compared" } };
	struct stat status;

	assert_false(ac_stamp_is_there(&stamp));
	assert_false(ac_stamp_is_any(1));
	assert_true(ac_stamp_leave(&stamp, "", "seed\n"));
	assert_true(ac_stamp_is_there(&stamp));
	assert_true(ac_stamp_is_any(1));
	assert_false(ac_stamp_is_any(2));
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		assert_false(ac_stamp_is_there(&others[i]));
	/* Again, and for nobody else's eyes. */
	assert_true(ac_stamp_leave(&stamp, "", "seed\n"));
	assert_int_equal(stat("state/deep/validated/"
	    "0000000000000001-0000000000000002", &status), 0);
	assert_int_equal(status.st_mode & 0777, 0600);
	assert_int_equal(status.st_size, 5);
}

/* A library that is built again, or gone, needs another stamp. */
CASE(test_modules)
{
	const struct ac_stamp stamp = { .lines = 5, .program = 6 };
	char modules[128];
	uint64_t hash;

	write_file("a library", "one", 3);
	write_file("another", "two", 3);
	assert_true(ac_stamp_of_program("a library", &hash));
	snprintf(modules, sizeof modules, "module %016llx a library\n",
	    (unsigned long long)hash);
	assert_true(ac_stamp_of_program("another", &hash));
	snprintf(modules + strlen(modules), 64, "module %016llx another\n",
	    (unsigned long long)hash);
	assert_true(ac_stamp_leave(&stamp, modules, "seed module\n"));
	assert_true(ac_stamp_is_there(&stamp));
	write_file("another", "tWo", 3);
	assert_false(ac_stamp_is_there(&stamp));
	write_file("another", "two", 3);
	assert_true(ac_stamp_is_there(&stamp));
	assert_int_equal(unlink("a library"), 0);
	assert_false(ac_stamp_is_there(&stamp));
	assert_true(ac_stamp_leave(&stamp, "module 1", ""));
	assert_false(ac_stamp_is_there(&stamp));
}

CASE(test_nowhere)
{
	const struct ac_stamp stamp = { .lines = 1, .program = 2 };

	setenv("AUTOCAST_STATE", "off", 1);
	assert_false(ac_stamp_is_there(&stamp));
	assert_false(ac_stamp_is_any(1));
	assert_false(ac_stamp_leave(&stamp, "", ""));
	setenv("AUTOCAST_STATE", "/dev/null", 1);
	assert_false(ac_stamp_leave(&stamp, "", ""));
}

CASES_RUN(make_place, remove_place)
