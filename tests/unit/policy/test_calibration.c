/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/policy/test_calibration.c -- measured rates: there and back, whose
 * they are, and that no file is believed that should not be. */
#include "with_policy.h"

#include "policy/profit/calibration.h"

#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct ac_calibration h200 = {
	.gpu = "NVIDIA H200", .sm = 90, .driver = 13000,
	.library = "cublas-13.1", .date = "2026-11-21",
	.rate = {
		[AC_RATE_FP32] = { 5.1e13, 15, 0.004 },
		[AC_RATE_TF32] = { 4.1e14, 15, 0.01 },
		[AC_RATE_FP16] = { 7.7e14, 15, 0.012 },
		[AC_RATE_BF16] = { 7.8e14, 9, 0 },
		[AC_RATE_BANDWIDTH] = { 4.25e12, 15, 0.1 },
		[AC_RATE_LAUNCH] = { 1.75e-6, 99, 0.2 },
		[AC_RATE_HOST_LAUNCH] = { 2.5e-6, 99, 1 },
	},
};

static char place[64], good[2048], why_buffer[2048];
static struct ac_text why;

static int
make_place(void **state)
{
	struct ac_text text;

	strcpy(place, "/tmp/autocast-test-XXXXXX");
	if (mkdtemp(place) == NULL)
		return 1;
	setenv("AUTOCAST_STATE", place, 1);
	ac_text_init(&text, good, sizeof(good));
	ac_calibration_write(&h200, &text);
	ac_text_init(&why, why_buffer, sizeof(why_buffer));
	return 0;
}

static int
remove_place(void **state)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", place);
	return system(command);
}

static bool
reads(const char *text, struct ac_calibration *out)
{
	ac_text_init(&why, why_buffer, sizeof(why_buffer));
	return ac_calibration_read(text, strlen(text), out, &why);
}

CASE(test_there_and_back)
{
	struct ac_calibration again;
	unsigned i;

	memset(&again, 0xff, sizeof(again));
	assert_true(reads(good, &again));
	assert_string_equal(why_buffer, "");
	assert_string_equal(again.gpu, h200.gpu);
	assert_string_equal(again.library, h200.library);
	assert_string_equal(again.date, h200.date);
	assert_int_equal(again.sm, 90);
	assert_int_equal(again.driver, 13000);
	for (i = 0; i < AC_RATE_COUNT; i++) {
		assert_true(fabs(again.rate[i].value / h200.rate[i].value -
		    1) < 1e-5);
		assert_int_equal(again.rate[i].samples,
		    h200.rate[i].samples);
		assert_true(again.rate[i].spread == h200.rate[i].spread);
	}
}

CASE(test_forms)
{
	struct ac_calibration c;

	assert_true(reads("version=1\r\n  gpu =\tTesla T4 \n\n# fp32 = 1\n"
	    "sm=75\ndriver = 1\nlibrary=cublas-12.0\ndate=x\n"
	    "fp16=5e13 of 1 spread 0", &c));
	assert_string_equal(c.gpu, "Tesla T4");
	assert_int_equal(c.rate[AC_RATE_FP16].samples, 1);
	assert_int_equal(c.rate[AC_RATE_FP32].samples, 0);
}

/* `from` of the good text replaced by `to`. */
static const char *
with(const char *from, const char *to)
{
	static char changed[8192 + 4096];
	const char *at = strstr(good, from);

	assert_non_null(at);
	snprintf(changed, sizeof(changed), "%.*s%s%s", (int)(at - good), good,
	    to, at + strlen(from));
	return changed;
}

CASE(test_nonsense)
{
	static const struct { const char *from, *to, *said; } rows[] = {
		{ "version = 1", "version = 2", "line 2 makes no sense" },
		{ "version = 1", "", "its version is missing" },
		{ "sm = 90\n", "", "its sm is missing" },
		{ "sm = 90", "sm = 90\nsm = 90", "line 5 makes no sense" },
		{ "sm = 90", "sm = 37", "no such GPU is known" },
		{ "sm = 90", "sm = 9.5", "line 4 makes no sense" },
		{ "sm = 90", "sm = 99999999999", "line 4 makes no sense" },
		{ "date", "data", "line 7 makes no sense" },
		{ "NVIDIA", "\033[31m", "line 3 makes no sense" },
		{ "NVIDIA H200", "", "line 3 makes no sense" },
		{ "fp32 = 5.1e13", "fp32 = nan", "line 8 makes no sense" },
		{ "fp32 = 5.1e13", "fp32 = inf", "line 8 makes no sense" },
		{ "fp32 = 5.1e13", "fp32 = 1e999", "line 8 makes no sense" },
		{ "fp32 = 5.1e13", "fp32 = -5e13", "line 8 makes no sense" },
		{ "fp32 = 5.1e13", "fp32 = 0", "line 8 makes no sense" },
		{ "fp32 = 5.1e13", "fp32 = 5.1e13x", "line 8 makes no sense" },
		{ "of 15", "of 0", "line 8 makes no sense" },
		{ "of 15", "", "line 8 makes no sense" },
		{ "spread 0.004", "spread 1.1", "line 8 makes no sense" },
		{ "spread 0.004", "spread 0.004 x", "line 8 makes no sense" },
		{ "fp32 = 5.1e13", "fp32 = 2.5e12",
		  "its fp32 is beyond belief for such a GPU" },
		{ "fp32 = 5.1e13", "fp32 = 1.05e15",
		  "its fp32 is beyond belief for such a GPU" },
		/* Gigabytes, milliseconds. */
		{ "= 4.25e12", "= 4250", "its bandwidth is beyond belief for "
		  "such a GPU" },
		{ "= 1.75e-6", "= 1.75", "its launch is beyond belief for such "
		  "a GPU" },
		/* A T4 has no TF32. */
		{ "NVIDIA H200\nsm = 90", "Tesla T4\nsm = 75",
		  "its tf32 is beyond belief for such a GPU" },
	};
	struct ac_calibration c;
	size_t i;

	for (i = 0; i < COUNT(rows); i++) {
		if (reads(with(rows[i].from, rows[i].to), &c))
			fail_msg("'%s' was believed", rows[i].to);
		assert_string_equal(why_buffer, rows[i].said);
	}
	/* At the limits it is believed. */
	assert_true(reads(with("fp32 = 5.1e13", "fp32 = 2.7e12"), &c));
	assert_true(reads(with("fp32 = 5.1e13", "fp32 = 1.03e15"), &c));
	assert_false(reads("", &c));
	assert_false(reads("version = 1\ngpu = NVIDIA H200\nsm = 90\n"
	    "driver = 1\nlibrary = x\ndate = x\n", &c));
	assert_string_equal(why_buffer, "it has no rates");
}

/* Whatever is damaged: refused with a line, or a plausible calibration. */
static void
check_damaged(const char *text, size_t count)
{
	struct ac_calibration c;
	struct ac_rates rates;
	unsigned i;

	ac_text_init(&why, why_buffer, sizeof(why_buffer));
	if (!ac_calibration_read(text, count, &c, &why)) {
		assert_true(why.used > 5 && why.used < 100);
		for (i = 0; i < why.used; i++)
			assert_true(why_buffer[i] >= ' ' &&
			    why_buffer[i] <= '~');
		return;
	}
	assert_int_equal(why.used, 0);
	ac_calibration_apply(&c, &rates);
	for (i = 0; i < AC_RATE_COUNT; i++)
		assert_true(*ac_rate_of(&rates, i) >= 0 &&
		    *ac_rate_of(&rates, i) < 1e18);
}

CASE(test_damaged)
{
	static const char spice[] = "\n\n==##e.-09 \t\r\xff\x80\x1b";
	const size_t length = strlen(good);
	unsigned i, j, at, seed = 42;
	char text[sizeof(good)];
	size_t count;

	for (i = 0; i < 50000; i++) {
		memcpy(text, good, length);
		count = length;
		for (j = 0; j <= i % 4; j++) {
			seed = seed * 1103515245 + 12345;
			at = (seed >> 8) % (unsigned)count;
			seed = seed * 1103515245 + 12345;
			text[at] = (seed >> 30) != 0 ?
			    spice[(seed >> 16) % sizeof(spice)] :
			    (char)(seed >> 16);
		}
		if (i % 5 == 0)
			count = (seed >> 8) % (length + 1);
		check_damaged(text, count);
	}
}

CASE(test_long)
{
	static char text[16384];
	struct ac_calibration c;

	memset(text, '\n', sizeof(text) - 1);
	assert_false(reads(text, &c));
	assert_string_equal(why_buffer, "it is too long");
	memset(text, ' ', 8000);
	text[8000] = '\0';
	assert_false(reads(text, &c));
	memset(text, 'x', 8000);
	assert_false(reads(text, &c));
	assert_string_equal(why_buffer, "line 1 makes no sense");
}

/* What was not measured stays as it was, and is said to be. */
CASE(test_apply)
{
	struct ac_calibration some = h200;
	struct ac_rates rates;

	ac_calibration_apply(&h200, &rates);
	assert_true(rates.measured && rates.fp16 == 7.7e14 &&
	    rates.host_launch == 2.5e-6);
	assert_string_equal(rates.name, "NVIDIA H200");
	some.rate[AC_RATE_TF32].samples = 0;
	ac_calibration_apply(&some, &rates);
	assert_false(rates.measured);
	assert_true(rates.tf32 == ac_rates_find("NVIDIA H200", 90)->tf32);
	assert_non_null(strstr(rates.source, "but for what"));
}

/* ---- Files ------------------------------------------------------------- */

static char path_buffer[1024];

static void
save_good(void)
{
	struct ac_text path;

	ac_text_init(&path, path_buffer, sizeof(path_buffer));
	ac_text_init(&why, why_buffer, sizeof(why_buffer));
	if (!ac_calibration_save(&h200, &path, &why))
		fail_msg("%s", why_buffer);
}

static void
put(const char *text)
{
	FILE *file = fopen(path_buffer, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static bool
loads(int driver, const char *library)
{
	struct ac_rates rates = { .fp32 = 1 };
	bool good_file;

	ac_text_init(&why, why_buffer, sizeof(why_buffer));
	good_file = ac_calibration_load("NVIDIA H200", 90, driver, library,
	    &rates, &why);
	if (good_file)
		assert_string_equal(why_buffer, "");
	/* Written only on success. */
	assert_int_equal(rates.fp32 == 1, !good_file);
	return good_file;
}

CASE(test_files)
{
	char wanted[128];

	assert_false(loads(13000, "cublas-13.1"));
	assert_string_equal(why_buffer, "");
	save_good();
	snprintf(wanted, sizeof(wanted),
	    "%s/rates/NVIDIA_H200-13000-cublas-13.1", place);
	assert_string_equal(path_buffer, wanted);
	assert_true(loads(13000, "cublas-13.1"));
	assert_false(loads(13010, "cublas-13.1"));
	assert_false(loads(13000, "cublas-13.2"));
	assert_string_equal(why_buffer, "");
	save_good();
	assert_true(loads(13000, "cublas-13.1"));
	/* Nothing is left next to it. */
	snprintf(wanted, sizeof(wanted), "test $(ls %s/rates | wc -l) = 1",
	    place);
	assert_int_equal(system(wanted), 0);
}

/* A file with another machine's contents, moved or copied here. */
CASE(test_foreign)
{
	static const struct { const char *from, *to, *said; } rows[] = {
		{ "NVIDIA H200", "NVIDIA GH200", "GPU" },
		{ "driver = 13000", "driver = 12080", "driver" },
		{ "cublas-13.1", "cublas-12.8", "library" },
	};
	char wanted[1400];
	size_t i;

	save_good();
	for (i = 0; i < COUNT(rows); i++) {
		put(with(rows[i].from, rows[i].to));
		assert_false(loads(13000, "cublas-13.1"));
		snprintf(wanted, sizeof(wanted), "the rates in %s are not "
		    "used: it was measured with another %s", path_buffer,
		    rows[i].said);
		assert_string_equal(why_buffer, wanted);
	}
	put("\033[31mhello");
	assert_false(loads(13000, "cublas-13.1"));
	assert_non_null(strstr(why_buffer, "not used: line 1 makes no sense"));
	put("");
	assert_false(loads(13000, "cublas-13.1"));
	assert_non_null(strstr(why_buffer, "its version is missing"));
	unlink(path_buffer);
	mkdir(path_buffer, 0700);
	assert_false(loads(13000, "cublas-13.1"));
	assert_non_null(strstr(why_buffer, "is a directory"));
	rmdir(path_buffer);
	mkfifo(path_buffer, 0600);
	assert_false(loads(13000, "cublas-13.1"));
	assert_non_null(strstr(why_buffer, "is not a regular file"));
	unlink(path_buffer);
}

/* Without a GPU: the youngest about one of that name. */
static bool
finds(const char *gpu, const char *library, double fp32)
{
	struct ac_rates rates;

	ac_text_init(&why, why_buffer, sizeof(why_buffer));
	if (!ac_calibration_find(gpu, library, &rates, &why))
		return false;
	assert_true(rates.measured && rates.fp32 == fp32);
	return true;
}

static void
save_changed(int driver, const char *library, const char *date, double fp32)
{
	struct ac_calibration c = h200;
	struct ac_text path;

	c.driver = driver;
	strcpy(c.library, library);
	strcpy(c.date, date);
	c.rate[AC_RATE_FP32].value = fp32;
	ac_text_init(&path, path_buffer, sizeof(path_buffer));
	assert_true(ac_calibration_save(&c, &path, &why));
}

CASE(test_find)
{
	save_good();
	assert_false(finds(NULL, NULL, 0));
	assert_false(finds("NVIDIA H100", NULL, 0));
	assert_true(finds("NVIDIA H200", NULL, 5.1e13));
	assert_true(finds("NVIDIA H200", "cublas-13.1", 5.1e13));
	assert_false(finds("NVIDIA H200", "cublas-12.9", 0));
	assert_string_equal(why_buffer, "");
	save_changed(12080, "cublas-13.2", "2026-12-01", 5e13);
	assert_true(finds("NVIDIA H200", NULL, 5e13));
	assert_true(finds("NVIDIA H200", "cublas-13.1", 5.1e13));
	save_changed(13010, "cublas-13.2", "2026-12-01", 4e13);
	assert_true(finds("NVIDIA H200", NULL, 4e13));
	put("nonsense");
	assert_true(finds("NVIDIA H200", NULL, 5e13));
	assert_non_null(strstr(why_buffer, "/NVIDIA_H200-13010-cublas-13.2 "
	    "are not used: line 1 makes no sense"));
	put(with("NVIDIA H200", "NVIDIA GH200"));
	assert_true(finds("NVIDIA H200", NULL, 5e13));
	assert_non_null(strstr(why_buffer, "another GPU"));
	unlink(path_buffer);
}

CASE(test_nowhere)
{
	struct ac_calibration odd = h200;
	char long_name[300];
	struct ac_rates rates;
	struct ac_text path;

	setenv("AUTOCAST_STATE", "off", 1);
	assert_false(loads(13000, "cublas-13.1"));
	ac_text_init(&path, path_buffer, sizeof(path_buffer));
	assert_false(ac_calibration_save(&h200, &path, &why));
	assert_string_equal(why_buffer, "there is no directory to keep it in");
	setenv("AUTOCAST_STATE", place, 1);
	/* What would not be read back is not written. */
	odd.rate[AC_RATE_FP32].value = (double)INFINITY;
	ac_text_init(&why, why_buffer, sizeof(why_buffer));
	assert_false(ac_calibration_save(&odd, &path, &why));
	assert_true(why.used > 0);
	/* Names are names, not paths. */
	odd = h200;
	strcpy(odd.gpu, "../../H200 $(x)");
	ac_text_init(&path, path_buffer, sizeof(path_buffer));
	assert_true(ac_calibration_path(&odd, &path));
	assert_non_null(strstr(path_buffer, "/rates/.._.._H200___x_-"));
	memset(long_name, 'x', sizeof(long_name) - 1);
	long_name[sizeof(long_name) - 1] = '\0';
	assert_false(ac_calibration_load(long_name, 90, 1, "cublas-13.1",
	    &rates, &why));
}

CASES_RUN(make_place, remove_place)
