/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/shim/test_trial.c -- which way each call of a convolution goes, in
 * letters (letters.h). The site may use FP16, candidate 0, or TF32, 1.
 *
 *   a call whose candidates post:
 *     g  good       b  bad, each      B  bad, but TF32     h  large outputs
 *     e  zeros      s  good, with the operands of all such calls
 *     l  good, but only when the device has caught up      L  bad, likewise
 *   a call that
 *     r  the provider refuses with FP16     m  finds no memory
 *     x  never returns    c  is captured    u  is one by which programs tune
 *     y  returns, good, once somebody waits
 *     o  is made in another context         2  on another stream
 *   in between
 *     !  the device catches up       ~  it will while somebody waits
 *
 * turns: T tried, 0 or 1 recast, else why it was kept: p probation, g guard,
 * n no profit, c capture, u unread, d driver, o own. left: CANDIDATE@CALL:WHY.
 * samples: calls. naps: whether anybody waited. late, tries: of FP16. */
#include "tests/unit/shim/idle_device.h"
#include "tests/unit/shim/letters.h"

#include "shim/device/mailbox.h"
#include "shim/trial/trial.h"

#include <pthread.h>
#include <unistd.h>

/* ---- A world of two contexts --------------------------------------------- */

enum { QUEUE = 4096, EVENTS = 4096 };

static struct ac_conv_post posts[8][AC_TRIAL_SLOTS];
static unsigned pages;
static bool has_pages, is_prompt;
static unsigned naps;
static _Atomic unsigned tried;    /* with FP16 */
static struct {
	struct ac_conv_post *to, post;
} queue[QUEUE];
static unsigned queued;
static float event_ms[EVENTS], variant_ms[AC_CANDIDATES + 1];
static _Thread_local float next_ms;
static _Atomic unsigned events;

static struct ac_decision decision;
static struct ac_trial trial;
static char turns[4096], left[256], samples[256];
static int exit_pipe = -1;
static struct ac_turn held_up;   /* of a call y */
static bool is_raced;            /* another thread's call comes first */

static struct ac_turn call_at(const struct ac_place *place, char letter);
static void make_try(const struct ac_turn *turn, char letter);

static void
write_post(struct ac_conv_post *to, const struct ac_conv_post *from)
{
	struct ac_conv_post body = *from;

	body.number = to->number;
	*to = body;
	__atomic_store_n(&to->number, from->number, __ATOMIC_RELEASE);
}

static void
deliver(void)
{
	for (unsigned i = 0; i < queued; i++)
		write_post(queue[i].to, &queue[i].post);
	queued = 0;
}

bool
ac_mailbox_take(const struct ac_place *place, size_t bytes, bool outlives,
    void **host_out, ac_cu_address *device_out)
{
	assert_false(place->capture);
	assert_true(bytes <= sizeof *posts && pages < 8);
	if (!has_pages)
		return false;
	if (is_raced) {
		is_raced = false;
		(void)call_at(place, 'g');
	}
	*host_out = posts[pages];
	*device_out = (ac_cu_address)(uintptr_t)posts[pages++];
	return true;
}

static ac_cu_result
create(ac_cu_event *event, unsigned flags)
{
	*event = (ac_cu_event)(uintptr_t)++events;
	assert_true(events < EVENTS);
	return 0;
}

static ac_cu_result
record(ac_cu_event event, ac_cu_stream stream)
{
	event_ms[(uintptr_t)event] = next_ms;
	return 0;
}

static ac_cu_result
elapsed(float *ms, ac_cu_event start, ac_cu_event end)
{
	*ms = event_ms[(uintptr_t)end];
	return 0;
}

int
__wrap_nanosleep(const struct timespec *nap, struct timespec *rest)
{
	nap_passes();
	naps++;
	if (held_up.home)
		make_try(&held_up, 'l');
	else if (is_prompt)
		deliver();
	held_up.home = NULL;
	return 0;
}

void
__wrap_ac_report_event(const struct ac_site_record *of,
    enum ac_event_kind kind, uint64_t call, uint32_t finding, float error)
{
	if (kind == AC_EVENT_DEMOTED)
		add_to_list(left, "%d@%d:%s", of->rung != AC_RUNG_FP16,
		    (int)call, ac_finding_names[finding]);
	if (kind == AC_EVENT_DEMOTED && exit_pipe >= 0)
		assert_int_equal(write(exit_pipe, left, sizeof left),
		    sizeof left);
}

static const struct ac_driver driver = {
	.cuEventCreate = create, .cuEventDestroy = destroy,
	.cuEventRecord = record, .cuEventQuery = query,
	.cuEventElapsedTime = elapsed
};

/* ---- Calls ------------------------------------------------------------- */

static void
post(const struct ac_trial_slot *slot, uint64_t number, char letter)
{
	const bool is_bad = letter == 'b' || letter == 'L'
	    || (letter == 'B' && slot->candidate == 0);
	const struct ac_conv_post made = {
		.number = number, .samples = letter != 'e',
		.error = letter == 'e' ? 0 : is_bad ? 0.3f : 3e-4f,
		.verdict = letter == 'h' ? AC_VERDICT_LARGE : 0,
		.energy = { letter == 's' ? 1 : (float)number, 1 }
	};
	struct ac_conv_post *to = (void *)(uintptr_t)slot->device;

	assert_ptr_equal(to, slot->host);
	if (letter != 'l' && letter != 'L') {
		write_post(to, &made);
		return;
	}
	assert_true(queued < QUEUE);
	queue[queued].to = to;
	queue[queued++].post = made;
}

static void
make_try(const struct ac_turn *turn, char letter)
{
	const unsigned refused = letter == 'r' ? turn->tries & 1 : 0;
	const unsigned done = letter == 'm' ? 0 : turn->tries & ~refused;

	for (unsigned i = 0; i < AC_CANDIDATES; i++)
		if (done >> i & 1)
			post(turn->slot[i], turn->number, letter);
	tried += done & 1;
	ac_trial_tried(turn, done, refused);
}

static struct ac_turn
call_at(const struct ac_place *place, char letter)
{
	struct ac_turn turn = { .is_unsteady = letter == 'u' };
	bool is_timed;

	ac_trial_turn(&trial, place, &turn);
	if (letter == 'y')
		held_up = turn;
	if (letter == 'x' || letter == 'y')
		return turn;
	next_ms = variant_ms[turn.kind == AC_TURN_RECAST ? turn.candidate
	    : AC_ORIGINAL];
	is_timed = turn.timing && ac_timing_begin(turn.timing, place);
	if (turn.kind == AC_TURN_TRY)
		make_try(&turn, letter);
	if (turn.kind == AC_TURN_RECAST && turn.slot[0] && letter != 'm') {
		post(turn.slot[0], turn.number, letter);
		ac_trial_queued(&turn, 0);
	}
	if (is_timed)
		ac_timing_end(turn.timing, place, true);
	ac_trial_over(&turn);
	return turn;
}

static void
happen(char letter)
{
	static const char kept_as[AC_REASON_NO_PROFIT + 32] = {
		[AC_REASON_PROBATION] = 'p', [AC_REASON_GUARD] = 'g',
		[AC_REASON_NO_PROFIT] = 'n', [AC_REASON_CAPTURE] = 'c',
		[AC_REASON_UNREAD] = 'u', [AC_REASON_DRIVER] = 'd',
		[AC_REASON_OWN] = 'o'
	};
	const struct ac_place place = {
		.driver = &driver, .index = letter == 'o', .epoch = 1,
		.stream_id = letter == '2' ? 2 : 1, .capture = letter == 'c'
	};
	const size_t used = strlen(turns);
	struct ac_turn turn;

	if (letter == '!')
		deliver();
	is_prompt |= letter == '~';
	if (letter == '!' || letter == '~')
		return;
	turn = call_at(&place, letter);
	assert_true(used < sizeof turns - 1);
	turns[used] = turn.kind == AC_TURN_TRY ? 'T'
	    : turn.kind == AC_TURN_RECAST ? (char)('0' + turn.candidate)
	    : kept_as[turn.reason];
	if (turn.kind == AC_TURN_RECAST && turn.slot[0])
		add_to_list(samples, "%d", (int)turn.number);
}

static void
tell(const char *name, char *value_out, size_t bytes)
{
	const struct ac_site_course *course = &ac_variants_record(
	    trial.variants, 0, AC_REASON_NONE)->course;

	if (!strcmp(name, "turns"))
		(void)snprintf(value_out, bytes, "%s", turns);
	else if (!strcmp(name, "left"))
		(void)snprintf(value_out, bytes, "%s", left);
	else if (!strcmp(name, "samples"))
		(void)snprintf(value_out, bytes, "%s", samples);
	else
		(void)snprintf(value_out, bytes, "%u",
		    !strcmp(name, "naps") ? naps > 0
		    : !strcmp(name, "late") ? course->late : tried);
}

/* ---- Cases --------------------------------------------------------------- */

enum { ON, REPRODUCIBLE, DOUBTFUL, NO_PAGES, TIMED, SLOW, THREADED };

static void
begin(int how)
{
	static int64_t number;
	struct ac_site_key key;

	setenv("AUTOCAST_STATE", "off", 1); /* statistics: in memory */
	memset(&key, 0, sizeof key);
	key.m = ++number; /* a site of its own */
	key.batch = 1;
	memset(posts, 0, sizeof posts);
	queued = naps = pages = 0;
	tried = 0;
	now_ns = 0, is_threaded = how == THREADED;
	has_pages = how != NO_PAGES, is_prompt = false;
	left[0] = samples[0] = '\0';
	memset(turns, 0, sizeof turns);
	variant_ms[0] = how == SLOW ? 3 : 2;
	variant_ms[1] = how == SLOW ? 3 : 1;
	variant_ms[AC_ORIGINAL] = 2.5f;
	decision = (struct ac_decision){
		.rung = AC_RUNG_FP16, .tactic = AC_TACTIC_LIBRARY,
		.source = "test", .line = 1, .tol = 1e-3, .guard = AC_GUARD_ON,
		.judges_profit = true, .reproducible = how == REPRODUCIBLE,
		.is_doubtful = how == DOUBTFUL, .candidate_count = 2,
		.candidate = {
			{ AC_RUNG_FP16, AC_TACTIC_LIBRARY, 1e-3, 1e-5, 0 },
			{ AC_RUNG_TF32, AC_TACTIC_LIBRARY, 1e-3, 2e-5, 0 }
		}
	};
	memset(&trial, 0, sizeof trial);
	trial.variants = ac_variants_make(&decision, ac_report_site(
	    &ac_outside, &key, &decision, "", NULL),
	    how == TIMED || how == SLOW, 0);
	assert_non_null(trial.variants);
}

CASE(test_tries)
{
	static const char *const cases[] = {
		"g*5 -> turns=TTT00 tries=3 naps=0 left=",
		/* Zeros teach nothing: it waits as long as it has run. */
		"e g*4 -> turns=TTTT0",
		"e*12 -> turns=TTpTpppTpppp",
		"e*3 g*6 -> turns=TTpTTT000",
		"g*2 e*1533 g*2 -> turns=ppT0 tries=12",
		/* A finding is for good; the next candidate serves. */
		"g g b g g -> turns=TTTgg left=0@3:error,1@3:error",
		"g B g*2000 -> turns=1111 left=0@2:error",
		"h g*4 -> turns=TTT11 left=0@1:large",
		/* What others posted late is waited for, all of it. */
		"l*3 ~ g -> turns=TTT0 naps=1",
		"L*3 ~ g -> turns=TTTg naps=1",
		/* It fails: once; later calls only look. */
		"l*3 g*9 -> turns=TTTppppppppp naps=1 late=1",
		"l*3 g*9 ! g -> turns=p0",
		/* What never comes: again after 1000 calls. */
		"l*3 g*997 -> turns=ppp",
		"l*3 g*1001 -> turns=TTT0",
		/* Refused for good; without memory, later. */
		"r g*4 -> turns=TTT11 left=",
		"m g*63 -> turns=ppp",
		"m g*67 -> turns=pTTT0",
		/* Who never returns holds nobody up for good. */
		"x g*3 -> turns=TTp naps=1",
		"x g*1001 -> turns=pT0", "g*2 y ~ g -> turns=TTT0 naps=1",
		/* Another context, and one that has no memory of ours. */
		"g*4 o*4 g -> turns=TTT0TTT00",
		NULL
	};
	static const char *const no_pages[] = { "g*3 -> turns=ddd", NULL };
	static const char *const doubtful[] = {
		"g*67 -> turns=ppTTT0", "g*63 -> turns=ppp", NULL
	};

	check(ON, cases);
	check(NO_PAGES, no_pages);
	check(DOUBTFUL, doubtful);
}

CASE(test_samples)
{
	static const char *const cases[] = {
		"g*40 -> samples=4,5,6,7,8,9,10,11,12,13,14,15,16,32 left=",
		/* At once, if it has posted; from call 64 on it is waited
		 * for. */
		"g*7 b g*7 b g -> turns=1g left=0@8:error,1@16:error",
		"g*7 B g -> turns=1 left=0@8:error samples=4,5,6,7,8,9",
		"g*7 L g*63 -> turns=000 naps=0 left=",
		"g*7 L g*63 ~ g -> turns=001 naps=1 left=0@8:error",
		"g*7 l g*63 ~ g -> turns=000 naps=1",
		"l*3 g*2 ! g*2 l g*63 ~ g -> turns=000 late=1",
		"g*7 L g*63 g*9 -> turns=0uuuuuuuuu naps=1 late=1",
		"g*7 L g*63 g*9 ! g -> turns=uu1",
		"g*7 l g*998 g g -> turns=u0 naps=1",
		/* Zeros in a sample find nothing. */
		"g*7 e*40 -> turns=000",
		/* One that was not queued: its place is free. */
		"g*7 m*900 -> turns=000 left=",
		NULL
	};

	check(ON, cases);
}

/* No rhythm of the program keeps step with them. */
CASE(test_gaps)
{
	unsigned long last = 0, gap, seen[17] = { 0 }, kinds = 0;
	char *at = samples;

	begin(ON);
	for (int i = 0; i < 2000; i++) {
		happen('g');
		turns[0] = '\0';
	}
	while (*at) {
		const unsigned long next = strtoul(at, &at, 10);

		at += *at == ',';
		gap = next - last;
		last = next;
		if (next <= 32)
			continue;
		assert_in_range(gap, 56, 72);
		kinds += !seen[gap - 56]++;
	}
	assert_true(last > 1900 && kinds > 5);
}

CASE(test_captures)
{
	static const char *const cases[] = {
		"c -> turns=c", "g*3 c -> turns=TTT0", "g*2 c*2 g -> turns=ccT",
		/* It waits for nothing, and tries and samples nothing. */
		"l*3 c -> turns=TTTc naps=0", "l*3 ! c -> turns=TTT0",
		"g*4 c*400 -> samples=4 turns=000",
		/* Operands that never varied may be any others later. */
		"s*4 c -> turns=0c", "s*2 g*2 c -> turns=0c",
		"s g*3 c -> turns=00",
		/* What was found meanwhile counts, and what is due and is not
		 * known. */
		"g*7 L c ! c -> turns=001", "g*7 L c*63 -> turns=000",
		"g*7 L c*63 c -> turns=0c", "g*7 L c*64 ! c -> turns=c1",
		NULL
	};

	check(ON, cases);
}

/* What a program tries out is never recast, nor waited for. */
CASE(test_tuning)
{
	static const char *const cases[] = {
		"u*9 g -> turns=TTTpppppp0 samples=10",
		"l*3 u*5 -> turns=TTTppppp naps=0",
		"g*4 u*3 g -> turns=0ppp0", NULL
	};

	check(ON, cases);
}

/* What has arrived counts for nothing before its call. */
CASE(test_reproducible)
{
	static const char *const cases[] = {
		"e g g g g -> turns=TTTT0", "b g g g -> turns=TTTg",
		"l*3 ~ g -> turns=TTT0",
		"g*7 b g*63 -> turns=000", "g*7 b g*64 -> turns=001",
		"g*7 L g*63 ~ g -> turns=001",
		"g*7 b c*59 -> turns=000", "g*7 b c*60 -> turns=00c",
		/* A stream is numbered apart. */
		"g*4 2*4 g -> turns=TTT0TTT00", "g*3 2*2 b g -> turns=TTTTT00",
		NULL
	};

	check(REPRODUCIBLE, cases);
	for (int i = 0; i < 4000; i++) {
		turns[0] = '\0';
		happen('g');
	}
	assert_int_equal(events, 0); /* no times */
}

/* Each candidate has its times, the original was timed next to the tries; then
 * the fastest serves, which is not what was predicted. */
CASE(test_times)
{
	static const char *const timed[] = {
		"g*90 -> turns=000 left=", "g*150 -> turns=111",
		"g*100 b*200 -> turns=ggg", NULL
	};
	static const char *const slow[] = {
		"g*150 -> turns=nnn left=", NULL
	};

	check(TIMED, timed);
	check(SLOW, slow);
}

/* ---- Threads ------------------------------------------------------------- */

enum { THREADS = 8, CALLS = 100 }; /* in all fewer than AC_TRIAL_LOST */

static void *
make_calls(void *argument)
{
	const struct ac_place place = { .driver = &driver, .epoch = 1 };

	for (int i = 0; i < CALLS; i++)
		(void)call_at(&place, 'g');
	return argument;
}

/* What two threads do at once is added up once. */
CASE(test_threads)
{
	const struct ac_site_course *course;
	pthread_t thread[THREADS];
	struct ac_trial_home *h;

	begin(THREADED);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, make_calls,
		    NULL), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	h = trial.homes;
	assert_null(h->next);
	assert_int_equal(h->calls, THREADS * CALLS);
	ac_trial_hear(h);
	course = &trial.variants->record[0]->course;
	assert_int_equal(tried, AC_TRIAL_TRIES);
	assert_in_range(course->samples, AC_TRIAL_TRIES + CALLS * THREADS / 72,
	    AC_TRIAL_TRIES + 14 + CALLS * THREADS / 56);
	assert_int_equal(h->out, 0);
}

/* A call that others overtook does not take the place of theirs. */
CASE(test_overtaken)
{
	struct ac_trial_slot slot = { .state = 0 };
	const struct ac_turn turn = { .number = 9, .slot = { &slot } };

	assert_true(ac_trial_take(&slot, 9, 0));
	assert_false(ac_trial_take(&slot, 8, 0));
	ac_trial_over(&turn);
	assert_false(ac_trial_take(&slot, 8, 0));
	assert_false(ac_trial_take(&slot, 9, 0));
	assert_true(ac_trial_take(&slot, 10, 0));
}

/* Two threads meet a context at once: one home. */
CASE(test_home)
{
	begin(ON);
	is_raced = true;
	play("g*4 -> turns=TT00 tries=3");
	assert_null(((struct ac_trial_home *)trial.homes)->next);
}

/* What no later call comes to hear is heard at exit. */
CASE(test_exit)
{
	char heard[sizeof left] = "";
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	if (!fork()) {
		begin(ON);
		exit_pipe = ends[1];
		play("g*7 L g*3 ! -> left=");
		exit(0);
	}
	close(ends[1]);
	assert_int_equal(read(ends[0], heard, sizeof heard), sizeof heard);
	assert_string_equal(heard, "0@8:error");
	close(ends[0]);
}

CASES_RUN(NULL, NULL)
