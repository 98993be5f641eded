/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/report/test_file.c -- where statistics files are, what they are
 * called, how large they get and when they go. */
#include "tests/unit/with_state.h"
#include "report/count/process.h"

#include <sys/resource.h>
#include <time.h>

static char path[AC_FILE_PATH];

static bool
directory(size_t *fixed_out)
{
	struct ac_text t;

	ac_text_init(&t, path, sizeof path);
	return ac_file_directory(&t, fixed_out);
}

CASE_WITH(test_directory, make_state, remove_state)
{
	size_t fixed;

	assert_true(directory(&fixed));
	assert_string_equal(path, state_directory);
	unsetenv("AUTOCAST_STATE");
	setenv("XDG_STATE_HOME", "/var/x", 1);
	assert_true(directory(NULL));
	assert_string_equal(path, "/var/x/autocast");
	setenv("XDG_STATE_HOME", "relative/is/ignored", 1);
	setenv("HOME", "/h/me", 1);
	assert_true(directory(&fixed));
	assert_string_equal(path, "/h/me/.local/state/autocast");
	assert_int_equal(fixed, strlen("/h/me"));
	setenv("HOME", "me", 1);
	assert_false(directory(NULL));
	setenv("AUTOCAST_STATE", "off", 1);
	setenv("HOME", "/h/me", 1);
	assert_false(directory(NULL));
}

/* Why there is none, and whether there can be statistics in it. */
CASE_WITH(test_trouble, make_state, remove_state)
{
	static char home[AC_FILE_PATH];
	const struct rlimit small = { 4096, RLIM_INFINITY };
	struct rlimit before;
	char file[128];

	assert_int_equal(ac_file_try(state_directory), 0);
	assert_int_equal(rmdir(state_directory), 0); /* it left nothing there */
	assert_int_equal(ac_file_try(state_directory), ENOENT);
	assert_int_equal(mkdir(state_directory, 0700), 0);
	snprintf(file, sizeof file, "%s/file", state_directory);
	assert_int_equal(close(creat(file, 0600)), 0);
	assert_int_equal(ac_file_try(file), ENOTDIR);
	snprintf(file, sizeof file, "%s/file/a/b", state_directory);
	assert_int_equal(ac_file_make_directory(file, 0), ENOTDIR);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	assert_int_equal(ac_file_try(state_directory), EFBIG);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	setenv("AUTOCAST_STATE", "off", 1);
	assert_false(directory(NULL));
	assert_int_equal(errno, 0);
	unsetenv("AUTOCAST_STATE");
	unsetenv("XDG_STATE_HOME");
	unsetenv("HOME");
	assert_false(directory(NULL));
	assert_int_equal(errno, ENOENT);
	memset(home, 'a', sizeof home - 1);
	home[0] = '/';
	setenv("HOME", home, 1);
	assert_false(directory(NULL));
	assert_int_equal(errno, ENAMETOOLONG);
	assert_string_equal(ac_file_trouble(ENOSPC), "the disk is full");
	assert_string_equal(ac_file_trouble(EMFILE), "too many open files");
	assert_string_equal(ac_file_trouble(EIO), "it cannot be written");
}

/* A relative AUTOCAST_STATE is where the program is, not where it goes. */
CASE_WITH(test_relative, make_state, remove_state)
{
	char here[AC_FILE_PATH], wanted[2 * AC_FILE_PATH];

	setenv("AUTOCAST_STATE", "some/where", 1);
	assert_non_null(getcwd(here, sizeof here));
	assert_true(directory(NULL));
	snprintf(wanted, sizeof wanted, "%s/some/where", here);
	assert_string_equal(path, wanted);
}

/* The home directory is never created, what belongs below it is, 0700. */
CASE_WITH(test_make_directory, make_state, remove_state)
{
	struct stat status;
	char deep[256], gone[128];

	snprintf(deep, sizeof deep, "%s/a/b/c", state_directory);
	assert_int_equal(ac_file_make_directory(deep, strlen(state_directory)),
	    0);
	assert_int_equal(stat(deep, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0700);
	snprintf(gone, sizeof gone, "%s/no/home", state_directory);
	snprintf(deep, sizeof deep, "%s/.local/state", gone);
	assert_int_equal(ac_file_make_directory(deep, strlen(gone)), ENOENT);
	assert_int_not_equal(stat(gone, &status), 0);
}

CASE_WITH(test_names, make_state, remove_state)
{
	static const char *const good[] = {
		"1763696123.123456789-12345-0-d8c295e0.stats",
		"0000000000.000000000-1-99-00000000.stats",
	}, *const bad[] = {
		"", ".", "..", "notice-1-2", "1763696123.stats",
		"1763696123.123456789-12345-0-d8c295e0.stats~",
		"1763696123.123456789-12345-0-d8c295e.stats",
		"1763696123.123456789-12345-0-D8C295E0.stats",
		"1763696123.123456789--0-d8c295e0.stats",
		"x763696123.123456789-12345-0-d8c295e0.stats",
		"1763696123.123456789-123456789012-0-d8c295e0.stats",
	};

	for (size_t i = 0; i < sizeof good / sizeof *good; i++)
		assert_true(ac_file_is_name(good[i]));
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_false(ac_file_is_name(bad[i]));
}

/* Chunks follow each other without gap or overlap. */
CASE_WITH(test_geometry, make_state, remove_state)
{
	uint32_t within, last = 0;
	unsigned chunk = 0;

	for (uint32_t i = 0; i <= AC_FILE_SITES; i++) {
		const unsigned c = ac_file_chunk_of(i, &within);

		assert_true(c == chunk ? within == last : c == chunk + 1 &&
		    within == 0);
		assert_true((within + 1) * sizeof(struct ac_site_record) <=
		    ac_file_chunk_bytes(c));
		chunk = c;
		last = within + 1;
	}
	for (unsigned c = 1; c + 1 < AC_FILE_CHUNKS; c++) {
		assert_int_equal(ac_file_chunk_offset(c) % AC_FILE_ALIGN, 0);
		assert_true(ac_file_chunk_offset(c) + ac_file_chunk_bytes(c) <=
		    ac_file_chunk_offset(c + 1));
	}
}

static void
count_twenty(void)
{
	for (int i = 1; i <= 20; i++)
		ac_report_count(site_of(i), AC_REASON_NONE);
}

static void
check_small(const char *name)
{
	struct stat status;

	assert_int_equal(stat(name, &status), 0);
	/* The front and one shard. */
	assert_true(status.st_blocks <= 2 * AC_FILE_ALIGN / 512);
	assert_int_equal(status.st_mode & 0777, 0600);
	assert_int_equal(status.st_uid, geteuid());
}

CASE_WITH(test_small, make_state, remove_state)
{
	assert_int_equal(in_child(count_twenty), 0);
	assert_int_equal(each_file(check_small), 1);
}

/* A file that looks old, of a process that is long gone. */
static void
make_old(int number)
{
	FILE *f;

	snprintf(path, sizeof path, "%s/%010d.000000000-99999999-0-%08x.stats",
	    state_directory, number, number);
	f = fopen(path, "w");
	assert_non_null(f);
	fclose(f);
}

static bool
is_there(int number)
{
	snprintf(path, sizeof path, "%s/%010d.000000000-99999999-0-%08x.stats",
	    state_directory, number, number);
	return !access(path, F_OK);
}

/* As `autocast run` does, before the program of that run counts. */
static void
run_program(const char *run)
{
	static struct ac_file_header header = { .pid = 1 };

	header.start_s = (uint64_t)time(NULL);
	header.host = ac_process_host();
	strcpy(header.run, run);
	ac_file_prune(state_directory, &header);
	assert_int_equal(in_child(count_twenty), 0);
}

/* 32 files are kept, the newest; what is not ours is not touched. */
CASE_WITH(test_prune, make_state, remove_state)
{
	char foreign[128];

	for (int i = 1; i <= 40; i++)
		make_old(i);
	snprintf(foreign, sizeof foreign, "%s/0000000000.note",
	    state_directory);
	close(open(foreign, O_CREAT | O_WRONLY, 0600));
	run_program("");
	assert_int_equal(each_file(NULL), 32);
	assert_false(is_there(9));
	assert_true(is_there(10));
	assert_true(is_there(40));
	assert_int_equal(access(foreign, F_OK), 0);
	run_program("");
	assert_int_equal(each_file(NULL), 32);
	assert_false(is_there(10));
}

/* The file of a process that still runs is in use, however old. */
CASE_WITH(test_prune_spares_the_living, make_state, remove_state)
{
	char living[128];

	snprintf(living, sizeof living,
	    "%s/0000000000.000000000-%d-0-00000000.stats", state_directory,
	    (int)getpid());
	close(open(living, O_CREAT | O_WRONLY, 0600));
	for (int i = 1; i <= 40; i++)
		make_old(i);
	run_program("");
	assert_int_equal(access(living, F_OK), 0);
	assert_int_equal(each_file(NULL), 32);
}

/* Elsewhere: on another machine or in another container that shares the home,
 * where numbers of processes mean others. */
CASE_WITH(test_prune_spares_elsewhere, make_state, remove_state)
{
	struct ac_file_header header = { .version = AC_FILE_VERSION,
		.host = ac_process_host() + 1 };
	const struct timespec long_ago[2] = { { .tv_sec = 1 },
		{ .tv_sec = 1 } };

	for (int i = 1; i <= 43; i++)
		make_old(i);
	for (int i = 1; i <= 3; i++) {
		int fd;

		assert_true(is_there(i)); /* and its path is in `path` */
		fd = open(path, O_WRONLY);
		header.finished = i == 2;
		assert_int_equal(write(fd, &header, sizeof header),
		    sizeof header);
		assert_int_equal(futimens(fd, i == 3 ? long_ago : NULL), 0);
		close(fd);
	}
	run_program("");
	assert_true(is_there(1));
	assert_false(is_there(2));
	assert_false(is_there(3));
	assert_int_equal(each_file(NULL), 32);
}

/* Processes of one run do not prune each other. */
CASE_WITH(test_prune_spares_the_run, make_state, remove_state)
{
	setenv("AUTOCAST_RUN", "wide", 1);
	for (int i = 0; i < 40; i++)
		run_program("wide");
	unsetenv("AUTOCAST_RUN");
	assert_int_equal(each_file(NULL), 40);
}

/* Exec keeps the pid: both images keep their numbers. */
CASE_WITH(test_same_pid, make_state, remove_state)
{
	static struct ac_file_header header = { .pid = 1, .start_s = 5 };
	char first[AC_FILE_PATH], second[AC_FILE_PATH];
	struct ac_file_front *a, *b;

	a = ac_file_create(&header, first);
	b = ac_file_create(&header, second);
	assert_non_null(a);
	assert_non_null(b);
	assert_string_not_equal(first, second);
	munmap(a, sizeof *a);
	munmap(b, sizeof *b);
}

/* A planted file or link is neither followed nor grown. */
CASE_WITH(test_replaced, make_state, remove_state)
{
	static struct ac_file_header header = { .pid = 1, .start_s = 6 };
	static struct ac_file_header other = { .pid = 2, .start_s = 6 };
	struct ac_file_front *front;
	char name[AC_FILE_PATH], target[128];
	const uint64_t from = ac_file_chunk_offset(1);
	const size_t bytes = ac_file_chunk_bytes(1);
	struct stat status;
	void *chunk;

	front = ac_file_create(&header, name);
	assert_non_null(front);
	memcpy(&front->header, &header, sizeof header);
	assert_null(ac_file_extend(name, &other, from, bytes));
	assert_int_equal(chmod(name, 0666), 0);
	assert_null(ac_file_extend(name, &header, from, bytes));
	assert_int_equal(chmod(name, 0600), 0);
	chunk = ac_file_extend(name, &header, from, bytes);
	assert_non_null(chunk);
	munmap(chunk, bytes);
	munmap(front, sizeof *front);
	snprintf(target, sizeof target, "%s/target", state_directory);
	assert_int_equal(rename(name, target), 0);
	assert_int_equal(symlink(target, name), 0);
	assert_int_equal(stat(target, &status), 0);
	assert_null(ac_file_extend(name, &header, ac_file_chunk_offset(2),
	    bytes));
	assert_int_equal(stat(target, &status), 0);
	assert_true(status.st_size < (off_t)ac_file_chunk_offset(2));
}

CASE_WITH(test_claim, make_state, remove_state)
{
	assert_true(ac_file_claim("notice-1"));
	assert_false(ac_file_claim("notice-1"));
	assert_true(ac_file_claim("notice-2"));
	setenv("AUTOCAST_STATE", "off", 1);
	assert_true(ac_file_claim("notice-1"));
}

CASES_RUN(NULL, NULL)
