/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/report/test_as_json.c -- the JSON report: its fields, and that it
 * is JSON whatever bytes it is made of. With an argument: prints a hostile
 * report for a real parser to read (tests/cli/report.sh). */
#include "report/write/json.h"
#include "with_report.h"

#include <math.h>

static struct ac_report *
make_hostile(void)
{
	struct ac_report *report;
	char every[256];

	for (int i = 0; i < 255; i++)
		every[i] = (char)(i + 1);
	every[255] = '\0';
	for (int i = 0; i < MADE_SITES; i++) {
		make_calls(make_site(i, AC_RUNG_TF32, AC_TACTIC_LIBRARY,
		    AC_REASON_NONE), UINT64_MAX, AC_REASON_NONE, 0);
		made[i].key.m = made[i].key.n = made[i].key.k = INT64_MAX;
		made[i].key.batch = INT64_MAX;
		/* Windows of 47 bytes that together show every byte. */
		memcpy(made[i].key.caller, every + i * 29, 47);
		memcpy(made[i].source, every + (MADE_SITES - 1 - i) * 29, 47);
		memset(&made[i].course, 0x29 * i, sizeof made[i].course);
		made[i].course.error = NAN;
		made[i].tol = i & 1 ? INFINITY : 1e-30f;
		made[i].key.ta = '"';
		made[i].key.tb = '\\';
	}
	report = make_report(MADE_SITES);
	memcpy(report->processes[0].argv0, every, 256);
	memcpy(report->processes[0].why, every, 256);
	strcpy(report->processes[0].notes, "\"\n\\\n\n\xff\xfe\n\xe2\x82");
	return report;
}

CASE(test_fields)
{
	make_calls(make_site(0, AC_RUNG_FP16, AC_TACTIC_CAST,
	    AC_REASON_NONE), 3, AC_REASON_CAPTURE, 1);
	made[0].tol = 0.5f;
	made[0].region = (struct ac_site_region){ .name = "loss",
		.rung_count = 2,
		.rung = { AC_RUNG_BF16, AC_RUNG_TF32 } };
	made[0].course = (struct ac_site_course){
		.finding = AC_FINDING_LINE, .samples = 7, .tries = 18,
		.late = 8,
		.demotions = 9, .captured = 11, .timed = 13, .timings = 24,
		.error = 0.125f, .line_error = 0.25f, .rho = NAN, .keep_us = 7,
		.recast_us = 2, .keep_predicted_us = 5,
		.recast_predicted_us = 3, .plans = 14,
		.plan_ms = 1.5f, .workspace = 4096, .judged = 15,
		.chosen = 23, .mended_lines = 16, .mended_calls = 17,
		.unread = 1
	};
	made_header.clock = AC_CLOCK_DEVICE;
	strcpy(made_header.notes, "one\ntwo\n");
	made_header.chosen = 1;
	atomic_store(&made_header.finished, 1);
	atomic_store(&made_header.markers, 1);
	strcpy(made_markers[0].symbol, "cublasStrsm_v2");
	atomic_store(&made_markers[0].calls, 1);
	made_header.events = 1;
	made_header.event[0] = (struct ac_event_record){ 1, 24, 0,
	    AC_EVENT_DEMOTED, AC_FINDING_LINE, 0.125f };
	assert_string_equal(written(ac_report_as_json, make_report(1)),
	    "{\n"
	    "  \"version\": 1,\n"
	    "  \"program\": \"train\",\n"
	    "  \"run\": \"r\",\n"
	    "  \"policy\": {\n"
	    "    \"name\": \"amp\",\n"
	    "    \"why\": \"nobody chose\",\n"
	    "    \"chosen\": true\n"
	    "  },\n"
	    "  \"emulated\": false,\n"
	    "  \"clock\": \"device\",\n"
	    "  \"notes\": [\n"
	    "    \"one\",\n"
	    "    \"two\"\n"
	    "  ],\n"
	    "  \"incomplete\": false,\n"
	    "  \"totals\": {\n"
	    "    \"sites\": 1,\n"
	    "    \"calls\": 4,\n"
	    "    \"recast_calls\": 3,\n"
	    "    \"conv_calls\": 0,\n"
	    "    \"flops\": 8000,\n"
	    "    \"recast_flops\": 6000,\n"
	    "    \"recast_share\": 0.750000,\n"
	    "    \"peak_scratch_bytes\": 0,\n"
	    "    \"wall_us\": 0,\n"
	    "    \"wall_is_least\": true,\n"
	    "    \"flops_by_rung\": {\n"
	    "      \"keep\": 2000,\n"
	    "      \"fp16\": 6000\n"
	    "    },\n"
	    "    \"kept\": {\n"
	    "      \"capture\": {\n"
	    "        \"calls\": 1,\n"
	    "        \"flops\": 2000\n"
	    "      }\n"
	    "    },\n"
	    "    \"samples\": 7,\n"
	    "    \"late\": 8,\n"
	    "    \"demotions\": 9,\n"
	    "    \"captured\": 11,\n"
	    "    \"plans\": 14,\n"
	    "    \"plan_ms\": 1.5,\n"
	    "    \"workspace_bytes\": 4096,\n"
	    "    \"recast_products\": 3,\n"
	    "    \"judged\": 2,\n"
	    "    \"learnt_calls\": 0,\n"
	    "    \"mended_lines\": 16,\n"
	    "    \"mended_calls\": 17,\n"
	    "    \"unread\": 1,\n"
	    "    \"not_judged\": {},\n"
	    "    \"worst\": {\n"
	    "      \"site\": \"00000010\",\n"
	    "      \"error\": 0.125,\n"
	    "      \"line_error\": 0.25,\n"
	    "      \"tol\": 0.5\n"
	    "    },\n"
	    "    \"measured\": {\n"
	    "      \"calls\": 3,\n"
	    "      \"keep_us\": 21,\n"
	    "      \"recast_us\": 6\n"
	    "    },\n"
	    "    \"predicted\": {\n"
	    "      \"calls\": 0,\n"
	    "      \"keep_us\": 0,\n"
	    "      \"recast_us\": 0\n"
	    "    },\n"
	    "    \"whole\": {\n"
	    "      \"calls\": 4,\n"
	    "      \"known_calls\": 4,\n"
	    "      \"before_us\": 28,\n"
	    "      \"estimated_us\": 0,\n"
	    "      \"now_us\": 13\n"
	    "    }\n"
	    "  },\n"
	    "  \"processes\": [\n"
	    "    {\n"
	    "      \"pid\": 99999999,\n"
	    "      \"start\": \"1970-01-02T00:00:00Z\",\n"
	    "      \"program\": \"train\",\n"
	    "      \"argv0\": \"\",\n"
	    "      \"state\": \"finished\",\n"
	    "      \"wall_us\": 0,\n"
	    "      \"gpu\": \"NVIDIA H200\",\n"
	    "      \"sm\": 90,\n"
	    "      \"library\": \"cublas-13.1\",\n"
	    "      \"emulated\": false,\n"
	    "      \"clock\": \"device\",\n"
	    "      \"peak_scratch_bytes\": 0\n"
	    "    }\n"
	    "  ],\n"
	    "  \"sites\": [\n"
	    "    {\n"
	    "      \"id\": \"00000010\",\n"
	    "      \"name\": \"\",\n"
	    "      \"region\": \"loss\",\n"
	    "      \"region_enabled\": true,\n"
	    "      \"region_rungs\": [\n"
	    "        \"bf16\",\n"
	    "        \"tf32\"\n"
	    "      ],\n"
	    "      \"operation\": \"gemm.single\",\n"
	    "      \"symbol\": \"cublasSgemm_v2\",\n"
	    "      \"caller\": \"train+1a2b\",\n"
	    "      \"function\": \"\",\n"
	    "      \"caller_name\": \"\",\n"
	    "      \"caller_file\": \"\",\n"
	    "      \"caller_line\": 0,\n"
	    "      \"solver\": false,\n"
	    "      \"ta\": \"N\",\n"
	    "      \"tb\": \"T\",\n"
	    "      \"type\": \"f32\",\n"
	    "      \"asked\": \"fp32\",\n"
	    "      \"shape\": \"\",\n"
	    "      \"m\": 1000,\n"
	    "      \"n\": 1,\n"
	    "      \"k\": 1,\n"
	    "      \"batch\": 1,\n"
	    "      \"rung\": \"fp16\",\n"
	    "      \"tactic\": \"cast\",\n"
	    "      \"reason\": \"none\",\n"
	    "      \"source\": \"amp\",\n"
	    "      \"line\": 4,\n"
	    "      \"tol\": 0.5,\n"
	    "      \"guard\": \"on\",\n"
	    "      \"flops_per_call\": 2000,\n"
	    "      \"calls\": 4,\n"
	    "      \"recast_calls\": 3,\n"
	    "      \"kept_calls\": {\n"
	    "        \"capture\": 1\n"
	    "      },\n"
	    "      \"course\": {\n"
	    "        \"finding\": \"line\",\n"
	    "        \"samples\": 7,\n"
	    "        \"error\": 0.125,\n"
	    "        \"line_error\": 0.25,\n"
	    "        \"rho\": null,\n"
	    "        \"tries\": 18,\n"
	    "        \"late\": 8,\n"
	    "        \"demotions\": 9,\n"
	    "        \"captured\": 11,\n"
	    "        \"timed\": 13,\n"
	    "        \"timings\": 24,\n"
	    "        \"keep_us\": 7,\n"
	    "        \"recast_us\": 2,\n"
	    "        \"keep_predicted_us\": 5,\n"
	    "        \"recast_predicted_us\": 3,\n"
	    "        \"plans\": 14,\n"
	    "        \"plan_ms\": 1.5,\n"
	    "        \"workspace_bytes\": 4096,\n"
	    "        \"chosen\": 23,\n"
	    "        \"judged\": 15,\n"
	    "        \"mended_lines\": 16,\n"
	    "        \"mended_calls\": 17,\n"
	    "        \"unread\": 1\n"
	    "      },\n"
	    "      \"not_judged\": \"\"\n"
	    "    }\n"
	    "  ],\n"
	    "  \"rows\": [\n"
	    "    {\n"
	    "      \"id\": \"00000010\",\n"
	    "      \"region\": \"loss\",\n"
	    "      \"rung\": \"fp16\",\n"
	    "      \"rungs\": 1,\n"
	    "      \"calls\": 4,\n"
	    "      \"recast_calls\": 3,\n"
	    "      \"flops\": 8000,\n"
	    "      \"share\": 1,\n"
	    "      \"basis\": \"measured\",\n"
	    "      \"before_us\": 21,\n"
	    "      \"after_us\": 6,\n"
	    "      \"gain_us\": 15,\n"
	    "      \"keep_us\": 7,\n"
	    "      \"recast_us\": 2,\n"
	    "      \"speed\": 3.5,\n"
	    "      \"error_of_tol\": 0.25\n"
	    "    }\n"
	    "  ],\n"
	    "  \"lost_events\": 0,\n"
	    "  \"events\": [\n"
	    "    {\n"
	    "      \"site\": \"00000010\",\n"
	    "      \"call\": 24,\n"
	    "      \"kind\": \"demoted\",\n"
	    "      \"rung\": \"fp16\",\n"
	    "      \"tactic\": \"cast\",\n"
	    "      \"finding\": \"line\",\n"
	    "      \"error\": 0.125,\n"
	    "      \"tol\": 0.5\n"
	    "    }\n"
	    "  ],\n"
	    "  \"markers\": [\n"
	    "    {\n"
	    "      \"symbol\": \"cublasStrsm_v2\",\n"
	    "      \"calls\": 1\n"
	    "    }\n"
	    "  ]\n"
	    "}\n");
}

/* What no verdict is about, and why. */
CASE(test_not_judged)
{
	make_calls(make_site(0, AC_RUNG_FP16, AC_TACTIC_CAST,
	    AC_REASON_NONE), 5, AC_REASON_NONE, 0);
	made[0].guard = AC_GUARD_OFF;
	written(ac_report_as_json, make_report(1));
	assert_non_null(strstr(sunk, "    \"not_judged\": {\n"
	    "      \"guard=off\": 5\n    },\n"));
	assert_non_null(strstr(sunk, "      \"guard\": \"off\",\n"));
	assert_non_null(strstr(sunk, "      \"not_judged\": \"guard=off\"\n"));
}

CASE(test_nothing)
{
	written(ac_report_as_json, NULL);
	assert_non_null(strstr(sunk, "\"version\": 1,\n"));
	assert_non_null(strstr(sunk, "\"sites\": [],\n"));
}

/* Outside of strings only JSON's own characters, inside no control ones, and
 * every quote closed: no byte of a name leaks into the structure. */
CASE(test_hostile)
{
	struct ac_report *report = make_hostile();
	bool inside = false;

	for (const char *s = written(ac_report_as_json, report); *s; s++) {
		if (inside && *s == '\\') {
			s++;
			assert_non_null(strchr("\"\\u", *s));
		} else if (*s == '"') {
			inside = !inside;
		} else if (inside) {
			assert_true((unsigned char)*s >= ' ' && *s != 127);
		} else {
			assert_true(*s > 0);
			assert_non_null(strchr("{}[],: \n0123456789.e-"
			    "truefalsn", *s));
		}
	}
	assert_false(inside);
	assert_non_null(strstr(sunk, "\"\\\"\",\n    \"\\\\\",\n"
	    "    \"\\ufffd\\ufffd\",\n    \"\\ufffd\\ufffd\"\n"));
}

/* Well-formed UTF-8 passes, anything else becomes U+FFFD byte by byte. */
/* A string may be longer than what is written at a time. */
CASE(test_long)
{
	static char name[6000];
	struct ac_json w;

	memset(name, 'x', sizeof name - 1);
	sunk_count = 0;
	ac_json_begin(&w, sink, NULL);
	for (int i = 0; i < 3; i++)
		ac_json_string(&w, "name", name);
	ac_json_end(&w);
	assert_int_equal(sunk_count, strlen("{\n}\n")
	    + 3 * (strlen("  \"name\": \"\",\n") + sizeof name - 1)
	    - strlen(","));
	assert_string_equal(strrchr(sunk, 'x'), "x\"\n}\n");
}

CASE(test_utf8)
{
	static const struct { const char *note, *wanted; } cases[] = {
		{ "caf\xc3\xa9", "caf\xc3\xa9" },
		{ "\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80" },
		{ "\xe2\x28\xa1", "\\ufffd(\\ufffd" },
		{ "\xed\xa0\x80", "\\ufffd\\ufffd\\ufffd" },
		{ "\xf4\x90\x80\x80", "\\ufffd\\ufffd\\ufffd\\ufffd" },
		{ "\xe0\x80\x80", "\\ufffd\\ufffd\\ufffd" },
		{ "\xc0\xaf", "\\ufffd\\ufffd" },
		{ "\xc3", "\\ufffd" },
		{ "\t\x7f", "\\u0009\\u007f" },
		{ "\xc2\x9b\xc2\xa0", "\\u009b\xc2\xa0" },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char wanted[64];
		strcpy(made_header.notes, cases[i].note);
		written(ac_report_as_json, make_report(0));
		snprintf(wanted, sizeof wanted, "\n    \"%s\"\n",
		    cases[i].wanted);
		assert_non_null(strstr(sunk, wanted));
	}
}

static void
to_stdout(const char *bytes, size_t count, void *context)
{
	fwrite(bytes, 1, count, stdout);
}

int
main(int argc, char **argv)
{
	if (argc > 1) {
		ac_report_as_json(make_hostile(), to_stdout, NULL);
		return 0;
	}
	return cases_run(NULL, NULL);
}
