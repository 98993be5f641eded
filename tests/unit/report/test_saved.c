/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/report/test_saved.c -- a report that was saved as JSON is read
 * again as it was; cut, changed or foreign ones are refused in one line. */
#include "with_report.h"
#include "report/past.h"

static char json[sizeof sunk], text[sizeof sunk], why[512];

/* The run that these bytes are, or NULL and `why`. They are read where nothing
 * but their NUL is behind them, for a sanitizer to see. */
static struct ac_report *
read_again(const char *bytes, size_t count)
{
	char *copy = malloc(count + 1);
	struct ac_report *report;
	struct ac_text t;

	assert_non_null(copy);
	memcpy(copy, bytes, count);
	copy[count] = '\0';
	ac_text_init(&t, why, sizeof why);
	report = ac_report_from_json(copy, count, &t);
	free(copy);
	if (!report) {
		assert_true(t.used > 0);
		assert_null(strchr(why, '\n'));
	}
	return report;
}

static void
expect_refused(const char *bytes, const char *reason)
{
	assert_null(read_again(bytes, strlen(bytes)));
	assert_string_equal(why, reason);
}

/* One that has something of all: json[] and text[] of it. */
static size_t
save(void)
{
	struct ac_report *report;

	memset(&made_header, 0, sizeof made_header);
	memset(made_markers, 0, sizeof made_markers);
	strcpy(made_header.notes, "one \"note\"\nand another\n");
	made_header.clock = AC_CLOCK_DEVICE;
	atomic_store(&made_header.finished, 1);
	atomic_store(&made_header.wall_ns, UINT64_C(12345678901));
	atomic_store(&made_header.peak_scratch_bytes, 1 << 20);
	atomic_store(&made_header.markers, 1);
	strcpy(made_markers[0].symbol, "cublasStrsm_v2");
	atomic_store(&made_markers[0].calls, 7);
	make_calls(make_site(0, AC_RUNG_FP16, AC_TACTIC_CAST,
	    AC_REASON_NONE), 90, AC_REASON_CAPTURE, 3);
	made[0].tol = 1e-3f;
	strcpy(made[0].name, "head\t\xc3\xa9");
	atomic_store(&made[0].course.samples, 2);
	atomic_store(&made[0].course.error, 2.9e-4f);
	atomic_store(&made[0].course.keep_us, 100.125f);
	atomic_store(&made[0].course.recast_us, 25);
	atomic_store(&made[0].course.finding, AC_FINDING_ERROR);
	make_calls(make_site(1, AC_RUNG_KEEP, AC_TACTIC_NONE,
	    AC_REASON_TOO_SMALL), 0, AC_REASON_TOO_SMALL, 1000);
	strcpy(made[1].region.name, "attention");
	made[1].region.rung_count = 1;
	made[1].region.rung[0] = AC_RUNG_FP16;
	made_header.events = AC_EVENTS + 1;
	made_header.event[0] = (struct ac_event_record){ AC_EVENTS + 1, 98765,
	    0, AC_EVENT_DEMOTED, AC_FINDING_ERROR, 0 };
	made_header.event[1] = (struct ac_event_record){ 2, 12, 0,
	    AC_EVENT_WORST, AC_FINDING_NONE, 2.9e-4f };
	report = make_report(2);
	written(ac_report_as_json, report);
	memcpy(json, sunk, sunk_count + 1);
	written(as_text, report);
	memcpy(text, sunk, sunk_count + 1);
	return strlen(json);
}

CASE(test_same)
{
	const size_t count = save();
	struct ac_report *report = read_again(json, count);

	assert_non_null(report);
	assert_string_equal(written(as_text, report), text);
	assert_string_equal(written(ac_report_as_json, report), json);
	ac_report_destroy(report);
}

/* What stands for `was`, once, is `is` now. */
static void
replace(const char *was, const char *is)
{
	static char rest[sizeof json];
	char *at;

	(void)save();
	at = strstr(json, was);
	assert_non_null(at);
	strcpy(rest, at + strlen(was));
	strcpy(at, is);
	strcat(json, rest);
}

/* Versions before events had none. */
CASE(test_without_events)
{
	struct ac_report *report;

	replace("\"events\": [", "\"others\": [");
	report = read_again(json, strlen(json));
	assert_non_null(report);
	assert_int_equal(report->event_count, 0);
	ac_report_destroy(report);
}

/* All but the line end behind it is needed. */
CASE(test_cut)
{
	const size_t count = save();
	struct ac_report *report = read_again(json, count - 1);

	assert_non_null(report);
	ac_report_destroy(report);
	for (size_t i = 0; i < count - 1; i++)
		assert_null(read_again(json, i));
}

/* Whatever a byte becomes, there is a report, which can be shown, or a line. */
CASE(test_changed)
{
	static const char bytes[] = "\0\"\\{}[],:-9e.\x01\xff nu";
	const size_t count = save();
	size_t refused = 0;

	for (size_t i = 0; i < count; i++) {
		const char was = json[i];
		struct ac_report *report;

		json[i] = bytes[i % (sizeof bytes - 1)];
		report = read_again(json, count);
		refused += !report;
		if (report)
			(void)written(as_text, report);
		ac_report_destroy(report);
		json[i] = was;
	}
	assert_true(refused > count / 4);
}

static void
expect_wrong(const char *was, const char *is, const char *reason)
{
	replace(was, is);
	expect_refused(json, reason);
}

CASE(test_wrong)
{
	expect_wrong("\"version\": 1", "\"version\": 2",
	    "another version of autocast wrote it");
	expect_wrong("\"calls\": 93", "\"calls\": -93",
	    "its \"calls\" is missing or wrong");
	expect_wrong("\"calls\": 93", "\"calls\": 99999999999999999999",
	    "its \"calls\" is missing or wrong");
	expect_wrong("\"calls\": 93", "\"calls\": 93.5",
	    "its \"calls\" is missing or wrong");
	expect_wrong("\"calls\": 93", "\"calls\": 94",
	    "its \"calls\" is missing or wrong");
	expect_wrong("\"rung\": \"fp16\"", "\"rung\": \"fp61\"",
	    "its \"rung\" is missing or wrong");
	expect_wrong("\"demotions\": 0,\n        \"captured\"",
	    "\"demotions\": 4294967296,\n        \"captured\"",
	    "its \"demotions\" is missing or wrong");
	expect_wrong("\"course\": {", "\"curse\": {",
	    "its \"course\" is missing or wrong");
	expect_wrong("\"region_rungs\": [\n        \"fp16\"",
	    "\"region_rungs\": [\n        7",
	    "its \"region_rungs\" is missing or wrong");
	expect_wrong("\"asked\": \"", "\"asked\": \"much longer than a key is",
	    "its \"asked\" is missing or wrong");
	expect_wrong("\"ta\": \"", "\"ta\": \"\\u001b\", \"x\": \"",
	    "its \"ta\" is missing or wrong");
	expect_wrong("\"state\": \"finished\",\n      \"wall_us\": ",
	    "\"state\": \"finished\", \"wall_us\": null, \"x\": ",
	    "its \"wall_us\" is missing or wrong");
	expect_wrong("\"kind\": \"demoted\"", "\"kind\": \"promoted\"",
	    "its \"kind\" is missing or wrong");
	expect_wrong("\"call\": 98765", "\"call\": -1",
	    "its \"call\" is missing or wrong");
	expect_wrong("\"lost_events\"", "\"found_events\"",
	    "its \"lost_events\" is missing or wrong");
	expect_wrong("\"start\": \"", "\"start\": \"x",
	    "its \"start\" is missing or wrong");
	expect_wrong("\"incomplete\": false",
	    "\"incomplete\": false, \"ranks\": []", "it is of a job of several "
	    "ranks, which cannot be read again yet");
}

/* JSON, and what only looks like it. */
CASE(test_foreign)
{
	static const char *const none[] = { "x", "{'a': 1}", "[1,]", "[01]",
		"[+1]", "[1.]", "[.5]", "[1e]", "[\"\\x\"]", "[\"\\u00\"]",
		"[\"\\u0000\"]", "[\"a\nb\"]", "{\"a\" 1}", "{1: 2}", "{} {}",
		"[nul1]", "[-]", "// {}\n{}", "\xef\xbb\xbf{}" };
	char deep[64];

	for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
		assert_null(read_again(none[i], strlen(none[i])));
		assert_non_null(strstr(why, "it is no JSON, at line "));
	}
	expect_refused("", "it is cut short");
	expect_refused("{\"a\": [1, -0.5e+3, \"\\u00e9\\ud800\", true, null]}",
	    "it is no report of autocast");
	expect_refused("[]", "it is no report of autocast");
	expect_refused("{\"version\": 1, \"sites\": []}",
	    "its \"processes\" is missing or wrong");
	expect_refused("{\"version\": 1, \"sites\": [], \"processes\": []}",
	    "nothing was intercepted in that run");
	assert_null(read_again("{}\0{}", 5));
	memset(deep, '[', sizeof deep);
	assert_null(read_again(deep, sizeof deep));
}

CASES_RUN(NULL, NULL)
