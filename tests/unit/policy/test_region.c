/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/policy/test_region.c -- regions nest per thread, are the same
 * under the same words, cost memory once, and survive threads and forks. */
#include "api/region.h"
#include "api/thread.h"
#include "include/autocast.h"
#include "policy/op.h"

#include <pthread.h>

#include "tests/unit/cases.h"
#include "tests/unit/child.h"

/* A sanitizer keeps books of its own about threads. */
#if defined __SANITIZE_THREAD__ || defined __SANITIZE_ADDRESS__
#define IS_SANITIZED true
#elif defined __has_feature
#define IS_SANITIZED (__has_feature(thread_sanitizer) || \
    __has_feature(address_sanitizer))
#else
#define IS_SANITIZED false
#endif

enum { DEEP = 64, LIMIT = 4000, RACERS = 4,
	MANY_THREADS = IS_SANITIZED ? 1000 : 100000 };

static autocast_status
push(const char *name)
{
	return autocast_region_push(name, 1, NULL);
}

static const struct ac_region *
here(void)
{
	return ac_region_get(ac_region_here());
}

static bool
is_in(const char *name)
{
	return name ? here() && !strcmp(here()->name, name)
	    : !ac_region_here() && !here();
}

/* ---- The stack --------------------------------------------------------- */

SCENARIO(nesting)
{
	CHECK(is_in(NULL));
	CHECK(!push("a") && is_in("a"));
	CHECK(!push("b") && is_in("b"));
	CHECK(!push("a") && is_in("a"));
	CHECK(!autocast_region_pop() && is_in("b"));
	CHECK(!push("c") && is_in("c"));
	CHECK(!autocast_region_pop() && is_in("b"));
	CHECK(!autocast_region_pop() && is_in("a"));
	CHECK(!autocast_region_pop() && is_in(NULL));
	CHECK(autocast_region_pop() == AUTOCAST_E_REGION && is_in(NULL));
}

/* A push that fails changes nothing. */
SCENARIO(depth)
{
	char name[16];

	for (int i = 0; i < DEEP; i++) {
		snprintf(name, sizeof name, "r%d", i % 50);
		CHECK(!push(name) && is_in(name));
	}
	CHECK(push("more") == AUTOCAST_E_REGION);
	CHECK(strstr(autocast_last_error(), "more"));
	for (int i = DEEP - 1; i >= 0; i--) {
		snprintf(name, sizeof name, "r%d", i % 50);
		CHECK(is_in(name) && !autocast_region_pop());
	}
	CHECK(autocast_region_pop() == AUTOCAST_E_REGION);
	CHECK(strstr(autocast_last_error(), "no region is open"));
	CHECK(!push("more") && is_in("more"));
}

/* The shim keeps something in the lower half of the word. */
SCENARIO(lower_half)
{
	ac_region_mark = 0x300;
	CHECK(!push("a") && (uint32_t)ac_region_mark == 0x300);
	CHECK(ac_region_mark >> AC_REGION_SHIFT == ac_region_here());
	CHECK(!(ac_region_mark >> 32 & 0xff));
	CHECK(!autocast_region_pop() && ac_region_mark == 0x300);
}

/* ---- What is said ------------------------------------------------------ */

SCENARIO(names)
{
	static const char *const good[] = {
		"a", "Encoder.layer-3/attn", "_./+@%~:-", "0",
		("1234567890123456789012345678901234567890"
		 "12345678901234567890123")
	};
	static const char *const bad[] = {
		"", "a b", "a*", "a?", "a=b", "a,b", "\"a\"", "a\n",
		"\xc3\xa9", "a#", "[a]", "a;",
		("1234567890123456789012345678901234567890"
		 "123456789012345678901234")
	};
	char reused[] = "reused";

	for (size_t i = 0; i < sizeof good / sizeof *good; i++)
		CHECK(!push(good[i]) && is_in(good[i]) &&
		    !autocast_region_pop());
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		CHECK(push(bad[i]) == AUTOCAST_E_INVALID && is_in(NULL) &&
		    strstr(autocast_last_error(), "name of a region"));
	CHECK(push(NULL) == AUTOCAST_E_INVALID);
	CHECK(!push(reused));
	reused[0] = 'x';
	CHECK(is_in("reused"));
}

SCENARIO(rungs)
{
	static const char *const bad[] = { "", "fp8", "fp1", "fp166", "keep",
		"fp16,", ",fp16", "fp16,,tf32", "fp16, tf32", "FP16",
		"auto,fp16", "fp16,auto", "fp16;tf32", "none" };
	const struct ac_region *r;

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		CHECK(autocast_region_push("a", 1, bad[i]) ==
		    AUTOCAST_E_INVALID && is_in(NULL));
	CHECK(strstr(autocast_last_error(), "region a: 'none'"));
	CHECK(!autocast_region_push("a", 7, "fp16,tf32,fp16"));
	r = here();
	CHECK(r->enabled == 1 && !r->is_auto);
	CHECK(r->rung_count == 2 && r->rung[0] == AC_RUNG_FP16 &&
	    r->rung[1] == AC_RUNG_TF32);
	CHECK(!autocast_region_push("a", 0, "auto"));
	r = here();
	CHECK(!r->enabled && r->is_auto && !r->rung_count);
	CHECK(!push("a") && !here()->is_auto && !here()->rung_count);
	CHECK(!autocast_region_push("a", 1, "tf32,fp16,bf16,tf32") &&
	    here()->rung_count == 3);
}

/* The words are the policy's. */
CASE(test_words)
{
	assert_int_equal(AC_REGION_RUNGS, AC_RUNG_COUNT - 1);
	for (int i = 0; i < AC_REGION_RUNGS; i++)
		assert_string_equal(ac_region_rung_words[i],
		    ac_rung_names[i + 1]);
}

/* ---- The table --------------------------------------------------------- */

/* Whatever differs is another region; what does not is the same. */
SCENARIO(interned)
{
	static const struct { const char *name; int enabled;
		const char *rung; } rows[] = {
		{ "a", 1, NULL }, { "b", 1, NULL }, { "a", 0, NULL },
		{ "a", 1, "fp16" }, { "a", 1, "fp16,tf32" },
		{ "a", 1, "tf32,fp16" }, { "a", 1, "auto" }
	};
	enum { ROWS = sizeof rows / sizeof *rows };
	uint32_t number[ROWS];

	for (int i = 0; i < 3 * ROWS; i++) {
		const int row = i % ROWS;

		CHECK(!autocast_region_push(rows[row].name, rows[row].enabled,
		    rows[row].rung));
		if (i < ROWS)
			number[row] = ac_region_here();
		CHECK(ac_region_here() == number[row]);
		for (int j = 0; j < row && i < ROWS; j++)
			CHECK(number[j] != number[row]);
	}
}

SCENARIO(limit)
{
	char name[16];

	for (int round = 0; round < 2; round++)
		for (int i = 0; i < LIMIT; i++) {
			snprintf(name, sizeof name, "r%d", i);
			CHECK(!push(name) && is_in(name));
			CHECK(!autocast_region_pop());
		}
	CHECK(push("another") == AUTOCAST_E_REGION && is_in(NULL));
	CHECK(strstr(autocast_last_error(), "another: the process had 4000"));
	CHECK(!push("r17") && is_in("r17"));
	CHECK(!ac_region_get(0) && !ac_region_get(UINT32_MAX));
}

/* ---- Threads and processes --------------------------------------------- */

static void *
look_around(void *unused)
{
	CHECK(is_in(NULL));
	CHECK(autocast_region_pop() == AUTOCAST_E_REGION);
	CHECK(!push("inner") && is_in("inner"));
	return unused;
}

static void
run_thread(void *(*run)(void *))
{
	pthread_t thread;

	CHECK(!pthread_create(&thread, NULL, run, NULL));
	CHECK(!pthread_join(thread, NULL));
}

SCENARIO(threads)
{
	CHECK(!push("outer"));
	run_thread(look_around);
	CHECK(is_in("outer"));
	/* One that left a region open leaves it to nobody. */
	run_thread(look_around);
	CHECK(!autocast_region_pop() && is_in(NULL));
}

static void *
race(void *seed)
{
	const int step = *(const int *)seed;
	char name[16];

	for (int i = 0; i < 400; i++) {
		const int which = i * step % 101;

		snprintf(name, sizeof name, "r%d", which);
		CHECK(!autocast_region_push(name, which % 2, NULL));
		CHECK(is_in(name) && here()->enabled == which % 2);
		CHECK(!push("inner") && is_in("inner"));
		CHECK(!autocast_region_pop() && is_in(name));
		CHECK(!autocast_region_pop() && is_in(NULL));
	}
	return NULL;
}

SCENARIO(racers)
{
	static int steps[RACERS] = { 1, 2, 3, 5 };
	pthread_t thread[RACERS];

	for (int i = 0; i < RACERS; i++)
		CHECK(!pthread_create(&thread[i], NULL, race, &steps[i]));
	for (int i = 0; i < RACERS; i++)
		CHECK(!pthread_join(thread[i], NULL));
}

static void *
leave_open(void *unused)
{
	CHECK(!push("left") && is_in("left"));
	return unused;
}

/* Pages of address space. */
static long
pages(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	long count = -1;

	CHECK(file && fscanf(file, "%ld", &count) == 1);
	fclose(file);
	return count;
}

/* Their blocks would be 40 MB. */
SCENARIO(many_threads)
{
	long before;

	run_thread(leave_open);
	before = pages();
	for (int i = 0; i < MANY_THREADS; i++)
		run_thread(leave_open);
	CHECK(IS_SANITIZED || (pages() - before) * 4096 < 8 << 20);
}

static void
child_goes_on(void)
{
	CHECK(is_in("parent") && !push("child") && is_in("child"));
	CHECK(!autocast_region_pop() && !autocast_region_pop());
	CHECK(is_in(NULL));
}

SCENARIO(forked)
{
	CHECK(!push("parent"));
	CHECK(!child_run(child_goes_on) && is_in("parent"));
	CHECK(!autocast_region_pop() && is_in(NULL));
}

CASES_RUN(NULL, NULL)
