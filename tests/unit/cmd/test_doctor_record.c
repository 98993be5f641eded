/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/cmd/test_doctor_record.c -- records in, processes out, whatever
 * the records hold; and words as a shell reads them back. */
#include "cmd/doctor/doctor_record.c"
#include "tests/unit/cases.h"

static const char record[] =
    "argument ./train\n"
    "argument a b\n"
    "exe /opt/train\n"
    "preload /x/first.so:/usr/lib/libautocast.so:last.so\n"
    "handles 3\n"
    "deepbind 2\n"
    "stripped 1\n"
    "left 4\n"
    "dlsym /x/first.so\n"
    "object - - \n"
    "object d - /x/first.so\n"
    "object o - /usr/lib/libautocast.so\n"
    "object d - /found/last.so\n"
    "object d libcublas.so.13 /cuda/lib with space/libcublas.so.13\n"
    "object d libcudnn_cnn.so.9 /cuda/libcudnn_cnn.so.9\n"
    "object - libc.so.6 /lib/libc.so.6\n"
    "object d libinside.so /opt/libinside.so\n"
    "hidden /cuda/libcublasLt.so.13\n"
    "hidden /cuda/libother.so\n"
    "end\n";

static bool
read_text(const char *text, struct ac_doctor_process *process)
{
	char *copy = strdup(text);
	const bool whole = ac_doctor_read_record(copy, process);

	free(copy);
	return whole;
}

CASE(test_record)
{
	struct ac_doctor_process p = { .pid = 1 };

	assert_true(read_text(record, &p));
	assert_string_equal(p.command, "./train 'a b'");
	assert_string_equal(p.exe, "/opt/train");
	assert_int_equal(p.handles, 3);
	assert_int_equal(p.deepbind, 2);
	assert_true(p.stripped);
	assert_int_equal(p.left, 4);
	assert_string_equal(p.dlsym_before, "/x/first.so");
	assert_true(p.has_library);
	assert_string_equal(p.before, "/x/first.so");
	assert_string_equal(p.after, "/found/last.so");
	assert_string_equal(p.loaded[AC_VENDOR_CUBLAS],
	    "/cuda/lib with space/libcublas.so.13");
	assert_null(p.loaded[AC_VENDOR_CUDNN]);
	assert_string_equal(p.inside, "/opt/libinside.so");
	assert_string_equal(p.hidden[AC_VENDOR_CUBLASLT],
	    "/cuda/libcublasLt.so.13");
	assert_null(p.hidden[AC_VENDOR_CUBLAS]);
	ac_doctor_free(&p);
	assert_null(p.exe);
}

/* Cut anywhere it is not whole, and nothing breaks. */
CASE(test_cut)
{
	for (size_t size = 0; size < sizeof record - 1; size++) {
		struct ac_doctor_process p = { .pid = 1 };
		char *text = strndup(record, size);

		assert_int_equal(ac_doctor_read_record(text, &p),
		    size == sizeof record - 2);
		ac_doctor_free(&p);
		free(text);
	}
}

CASE(test_noise)
{
	static const char *const texts[] = {
		"", "\n\n", "end", "object\n", "object d\n", "object d x\n",
		"object d  \n", "hidden \n", "argument \n", "handles x\n",
		"handles 99999999999999999999999999\n", "exe \nexe \nend\n",
		"unknown thing\nend\n"
	};

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct ac_doctor_process p = { .pid = 1 };

		(void)read_text(texts[i], &p);
		ac_doctor_free(&p);
	}
}

/* ---- The folder -------------------------------------------------------- */

static void
put_record(const char *folder, const char *name, const char *text)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof path, "%s/%s", folder, name);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

/* A record takes the place of what was seen of the same image, keeps what is
 * gone by its end, and one that is not whole counts for nothing. */
CASE(test_folder)
{
	char folder[] = "/tmp/autocast-records-XXXXXX";
	struct ac_doctor_process *all = calloc(1, sizeof *all);
	size_t count = 1;

	assert_non_null(mkdtemp(folder));
	all->pid = 12;
	all->seen = all->is_privileged = true;
	ac_doctor_set(&all->exe, "/opt/train");
	ac_doctor_set(&all->loaded[AC_VENDOR_CUDNN], "/cuda/libcudnn.so.9");
	put_record(folder, "12-0", "exe /opt/train\nhandles 1\nend\n");
	put_record(folder, "13-0", "exe /opt/train\nend\n");
	put_record(folder, "14-0", "exe /opt/cut\n");
	all = ac_doctor_read_records(folder, all, &count);
	assert_int_equal(count, 2);
	assert_int_equal(all[0].pid, 12);
	assert_true(all[0].told && all[0].seen && all[0].is_privileged);
	assert_int_equal(all[0].handles, 1);
	assert_string_equal(all[0].loaded[AC_VENDOR_CUDNN],
	    "/cuda/libcudnn.so.9");
	assert_int_equal(all[1].pid, 13);
	assert_int_equal(rmdir(folder), 0);
	for (size_t i = 0; i < count; i++)
		ac_doctor_free(&all[i]);
	free(all);
}

CASE(test_preload_names)
{
	assert_true(is_listed("/a/x.so:/b/y.so", "/b/y.so"));
	assert_true(is_listed("/a/x.so /b/y.so", "/b/y.so"));
	assert_true(is_listed("y.so", "/b/y.so"));
	assert_false(is_listed("/a/y.so", "/b/y.so"));
	assert_false(is_listed("/b/y.so.1", "/b/y.so"));
	assert_false(is_listed("", "/b/y.so"));
}

/* ---- Quoting ----------------------------------------------------------- */

/* What bash makes of the quoted word is the word. */
CASE(test_quote)
{
	static const char *const words[] = {
		"plain", "", "a b", "it's", "$HOME", "`x`", "\"q\"", "*?[",
		"a;b|c&d", "~", "#x", "line\nline", "tab\tand 'quote'\\n",
		"\033[31m", "\177", "caf\303\251", "-n", "!!", "a=b"
	};
	char command[256], answer[256];

	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		struct ac_text text;
		size_t got;
		FILE *shell;

		ac_text_init(&text, command, sizeof command);
		ac_text_add(&text, "exec bash <<'END'\nprintf %s ");
		ac_quote(&text, words[i]);
		assert_null(strchr(command + 19, '\n'));
		ac_text_add(&text, "\nEND\n");
		shell = popen(command, "r");
		assert_non_null(shell);
		got = fread(answer, 1, sizeof answer - 1, shell);
		answer[got] = '\0';
		assert_int_equal(pclose(shell), 0);
		assert_string_equal(answer, words[i]);
	}
}

CASES_RUN(NULL, NULL)
