/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/report/test_as_ranges.c -- the page of exponents and rungs, to the
 * byte, and the same as JSON. */
#include "with_report.h"

/* The run of one recast and one kept site, the first of them with ranges. */
static struct ac_report *
make_ranges(void)
{
	struct ac_report *report;

	memset(&made_header, 0, sizeof made_header);
	make_calls(make_site(0, AC_RUNG_TF32, AC_TACTIC_LIBRARY,
	    AC_REASON_NONE), 3, AC_REASON_NONE, 0);
	made[0].tol = 1e-3f;
	strcpy(made[0].name, "head");
	make_calls(make_site(1, AC_RUNG_KEEP, AC_TACTIC_NONE,
	    AC_REASON_RULE), 0, AC_REASON_RULE, 1);
	report = make_report(2);
	report->ranges = calloc(1, sizeof *report->ranges);
	assert_non_null(report->ranges);
	report->ranges_count = 1;
	memcpy(&report->ranges->key, &made[0].key, sizeof made[0].key);
	return report;
}

static const char *
page(const struct ac_report *report, const char *site)
{
	sunk_count = 0;
	sunk[0] = '\0';
	return ac_report_as_ranges(report, site, sink, NULL) ? sunk : NULL;
}

CASE(test_page)
{
	struct ac_report *report = make_ranges();
	uint64_t *a = report->ranges->counts, *b = a + AC_EXPONENTS;

	a[0] = 50;              /* zeros */
	a[127] = 40;            /* 1 to 2 */
	a[127 + 19] = 10;       /* beyond FP16 */
	b[127 - 1] = 1;
	b[255] = 2;
	assert_string_equal(page(report, NULL),
	    "autocast report: train, 1970-01-02 00:00:00, process 99999999, "
	    "ended without exit()\n"
	    "  policy   amp (nobody chose)\n"
	    "  gpu      NVIDIA H200, sm_90, cublas-13.1\n"
	    "\n"
	    "site 00000010  gemm.nt  1000x1x1  head, rung tf32\n"
	    "  A  100 elements, from 2^0 to 2^20, zero: 50.0 %\n"
	    "     2^18   to 2^20     20.0 %  ########\n"
	    "     2^16   to 2^18     0.0 %\n"
	    "     2^14   to 2^16     0.0 %\n"
	    "     2^12   to 2^14     0.0 %\n"
	    "     2^10   to 2^12     0.0 %\n"
	    "     2^8    to 2^10     0.0 %\n"
	    "     2^6    to 2^8      0.0 %\n"
	    "     2^4    to 2^6      0.0 %\n"
	    "     2^2    to 2^4      0.0 %\n"
	    "     2^0    to 2^2      80.0 %  ################################\n"
	    "  B  3 elements, from 2^-1 to 2^0, inf or NaN: 66.7 %\n"
	    "     2^-1   to 2^0      100.0 % ########################################\n"
	    "  rungs          error    flushed  subnormal  verdict at tol 0.001\n"
	    "     fp16           2.6e-4   0.0 %    0.0 %      fits\n"
	    "     tf32           2.6e-4   0.0 %    0.0 %      fits\n"
	    "     fp16 unscaled  inf      0.0 %    0.0 %      overflows\n"
	    "     bf16           0.0021   0.0 %    0.0 %      loses too much\n");
}

/* By id, by name, and nothing else; a site is one, whatever its rungs. */
CASE(test_site)
{
	struct ac_report *report = make_ranges();
	const char *text;

	report->ranges->counts[127] = 1;
	assert_non_null(page(report, "00000010"));
	assert_non_null(page(report, "head"));
	assert_null(page(report, "00000011"));
	assert_null(page(report, "00000012"));
	assert_null(page(report, ""));
	assert_string_equal(sunk, "");
	report = make_ranges();
	report->ranges->counts[127] = 1;
	report->sites[1].key = report->sites[0].key;
	report->sites[1].id = report->sites[0].id;
	text = page(report, "00000010");
	assert_non_null(text);
	assert_non_null(strstr(text, "\nsite "));
	assert_null(strstr(strstr(text, "\nsite ") + 1, "\nsite "));
	report = make_ranges();
	assert_null(page(report, NULL)); /* no element was counted */
	report->ranges->counts[127] = 1;
	report->ranges_count = 0;
	assert_null(page(report, NULL));
}

/* Any counts: no line is too long, no bar neither. */
CASE(test_hostile)
{
	struct ac_report *report;

	for (unsigned kind = 0; kind < 256; kind++) {
		const char *line;

		report = make_ranges();
		for (int e = 0; e < AC_REPORT_RANGES; e++)
			report->ranges->counts[e] = kind == 0 ? 0 :
			    kind == 1			      ? UINT64_MAX :
					(uint64_t)e * kind * kind << kind / 4;
		line = page(report, NULL);
		assert_true(!report->ranges->counts[1] == !line);
		while (line && *line) {
			assert_true(strcspn(line, "\n") <= 100);
			line += strcspn(line, "\n") + 1;
		}
		(void)written(ac_report_as_json, report);
		assert_null(strstr(sunk, "nan"));
		assert_null(strstr(sunk, "inf,"));
	}
}

CASE(test_json)
{
	struct ac_report *report = make_ranges();
	const char *text;

	report->ranges->counts[0] = 1;
	report->ranges->counts[127] = 40;
	report->ranges->counts[129] = 2;
	report->ranges->counts[256 + 254] = 3;
	text = written(ac_report_as_json, report);
	assert_non_null(strstr(text, "      \"ranges\": {\n"
	    "        \"a\": {\n"
	    "          \"elements\": 43,\n"
	    "          \"zeros\": 1,\n"
	    "          \"nonfinite\": 0,\n"
	    "          \"lowest\": 0,\n"
	    "          \"highest\": 2,\n"
	    "          \"counts\": [\n"
	    "            40,\n"
	    "            0,\n"
	    "            2\n"
	    "          ]\n"
	    "        },\n"
	    "        \"b\": {\n"
	    "          \"elements\": 3,\n"));
	assert_non_null(strstr(text, "            \"name\": \"fp16 unscaled\",\n"
	    "            \"error\": null,\n"
	    "            \"verdict\": \"overflows\",\n"
	    "            \"a\": {\n"
	    "              \"rho\": 1.84553e-4,\n"
	    "              \"flushed\": 0,\n"));
	assert_non_null(strstr(text, "            \"b\": {\n"
	    "              \"rho\": null,\n"
	    "              \"flushed\": 0,\n"
	    "              \"subnormal\": 0,\n"
	    "              \"overflowed\": 1\n"));
	/* The other site has none. */
	text = strstr(text, "\"id\": \"00000011\"");
	assert_non_null(text);
	assert_null(strstr(text, "\"ranges\""));
}

int
main(void)
{
	setenv("TZ", "UTC0", 1);
	return cases_run(NULL, NULL);
}
