/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/report/test_as_html.c -- the page: names of programs and users are
 * text in it, whatever bytes they are made of, and numbers that are none do no
 * harm. What it shows is compared by tests/cli/html.sh. */
#include "with_report.h"

#include <math.h>

enum { PAGE = 1 << 20 };

struct page {
	char  *text;
	size_t used;
};

static void
take(const char *bytes, size_t count, void *context)
{
	struct page *page = context;

	assert_true(page->used + count < PAGE);
	memcpy(page->text + page->used, bytes, count);
	page->used += count;
	page->text[page->used] = '\0';
}

static struct page
write_page(const struct ac_report *report)
{
	struct page page = { .text = calloc(1, PAGE) };

	ac_report_as_html(report, take, &page);
	return page;
}

/* Every byte in every name, or 'x' for each that may mean something. */
static struct ac_report *
make_named(bool hostile)
{
	struct ac_report *report;
	char every[2 * 255];

	for (int i = 0; i < 2 * 255; i++)
		every[i] = (char)(hostile || strchr("\n-", i % 255 + 1)
		    ? i % 255 + 1 : 'x');
	memset(&made_header, 0, sizeof made_header);
	memcpy(made_header.program, every + 20, 63);
	memcpy(made_header.policy, every, 255);
	for (int i = 0; i < MADE_SITES; i++) {
		make_calls(make_site(i, AC_RUNG_FP16, AC_TACTIC_CAST,
		    AC_REASON_NONE), 5, AC_REASON_NONE, 0);
		memcpy(made[i].key.caller, every + i * 29, 47);
		memcpy(made[i].source, every + i * 29, 47);
		memcpy(made[i].name, every + i * 29, 31);
		memcpy(made[i].region.name, every + i * 29, 63);
		memcpy(made[i].key.shape, every + (i + 3) * 17, 63);
		made[i].key.ta = hostile ? '<' : 'N';
		made[i].key.tb = hostile ? '"' : 'N';
		made[i].tol = 1e-3f;
		made[i].course.samples = 3;
		made[i].course.error = 1e-4f;
		made[i].course.keep_us = 20;
		made[i].course.recast_us = 10;
	}
	memcpy(made_markers[0].symbol, every + 30, 47);
	atomic_store(&made_markers[0].calls, 3);
	atomic_store(&made_header.markers, 1);
	report = make_report(MADE_SITES);
	memcpy(report->processes[0].why, every, 255);
	memcpy(report->processes[0].gpu, every + 30, 95);
	memcpy(report->processes[0].library, every + 30, 47);
	memcpy(report->processes[0].notes, every, 255);
	return report;
}

static size_t
count_of(const struct page *page, char c)
{
	size_t count = 0;

	for (size_t i = 0; i < page->used; i++)
		count += page->text[i] == c;
	return count;
}

CASE(test_names_are_text)
{
	struct ac_report *report = make_named(false);
	const struct page tame = write_page(report);
	struct page page;

	report = make_named(true);
	page = write_page(report);
	/* No element, attribute or string more than in the tame page. */
	for (const char *c = "<>\"'"; *c; c++)
		assert_int_equal(count_of(&page, *c), count_of(&tame, *c));
	assert_non_null(strstr(page.text, "&lt;=&gt;"));
	for (size_t i = 0; i < page.used;) {
		const size_t length = ac_text_sequence(page.text + i,
		    SIZE_MAX);

		assert_true(length > 0);
		assert_true(length > 1 || page.text[i] >= ' ' ||
		    page.text[i] == '\n' || page.text[i] == '\t');
		i += length;
	}
	free(tame.text);
	free(page.text);
}

CASE(test_no_numbers)
{
	static const float odd[] = { NAN, INFINITY, -1, 1e-38f, 3e38f, 0 };
	struct ac_report *report;
	struct page page;

	memset(&made_header, 0, sizeof made_header);
	for (int i = 0; i < MADE_SITES; i++) {
		make_calls(make_site(i, AC_RUNG_TF32, AC_TACTIC_LIBRARY,
		    AC_REASON_NONE), UINT64_MAX, AC_REASON_NONE, 0);
		made[i].key.m = made[i].key.n = i & 1 ? INT64_MAX : -1;
		made[i].tol = odd[i % 6];
		made[i].course.samples = 1;
		made[i].course.error = odd[(i + 1) % 6];
		made[i].course.keep_us = odd[(i + 2) % 6];
		made[i].course.recast_us = odd[(i + 3) % 6];
		made[i].course.keep_predicted_us = odd[(i + 4) % 6];
		made[i].course.recast_predicted_us = odd[(i + 5) % 6];
		made[i].course.demotions = UINT32_MAX;
	}
	made_header.events = 2 * MADE_SITES;
	for (uint32_t i = 0; i < 2 * MADE_SITES; i++)
		made_header.event[i] = (struct ac_event_record){ i + 1,
		    i % 3 ? UINT64_MAX : 0, i % MADE_SITES,
		    i % AC_EVENT_KINDS, 0, odd[i % 6] };
	report = make_report(MADE_SITES);
	page = write_page(report);
	/* A plot with one is not drawn, a number is "inf" for people only. */
	assert_null(strstr(page.text, "=\"nan"));
	assert_null(strstr(page.text, "=\"inf"));
	assert_null(strstr(page.text, "=\"-"));
	assert_null(strstr(page.text, "nan\""));
	assert_string_equal(page.text + page.used - 8, "</html>\n");
	free(page.text);
}

/* x has 32 x 16 x 4 x 4 elements, w 32 x 16 x 3 x 3, y 32 x 32 x 4 x 4: 29184
 * for 2 x 512 x 32 x 144 operations. The product is 1000 x 1 x 1, of 2001. A
 * shape that ends too early has no place. */
CASE(test_work_per_byte)
{
	struct ac_report *report;
	struct page page;

	memset(&made_header, 0, sizeof made_header);
	for (int i = 0; i < 3; i++) {
		make_calls(make_site(i, AC_RUNG_FP16, AC_TACTIC_LIBRARY,
		    AC_REASON_NONE), 2, AC_REASON_NONE, 0);
		made[i].course.keep_us = 20;
		made[i].course.recast_us = 10;
	}
	made[1].key.operation = made[2].key.operation = AC_OP_CONV_WGRAD;
	made[1].key.m = 32;
	made[1].key.n = 144;
	made[1].key.k = 512;
	strcpy(made[1].key.shape, "n32 c16 4x4 k32 3x3 s1 p1 d1 g1 nchw");
	strcpy(made[2].key.shape, "n32 c16 4x4 k32 3x");
	report = make_report(3);
	page = write_page(report);
	assert_non_null(strstr(page.text, ", 40.4 FLOP per byte: "));
	assert_non_null(strstr(page.text, ", 0.25 FLOP per byte: "));
	assert_non_null(strstr(page.text, "id=\"roofline\""));
	assert_null(strstr(strstr(strstr(page.text, " FLOP per byte: ") + 1,
	    " FLOP per byte: ") + 1, " FLOP per byte: "));
	free(page.text);
}

CASE(test_nothing)
{
	const struct page page = write_page(NULL);

	assert_non_null(strstr(page.text, "Nothing was intercepted"));
	assert_null(strstr(page.text, "<table"));
	assert_null(strstr(page.text, "<footer"));
	free(page.text);
}

CASES_RUN(NULL, NULL)
