/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/shim/test_origin.c -- which way each verified product goes, in
 * letters (letters.h). The place may cast to FP16, candidate 0, or BF16, 1, and
 * then saves half of a call, or a quarter.
 *
 *   a call that, cast,
 *     c  is clean         m  is mended whole       l  in one line of 128
 *     h  in as many lines as cost half a call      C  cancels
 *     -  is clean, but posts when the device has caught up
 *     M  is mended whole, likewise                 r  the provider refuses
 *     k  is captured      u  is one by which programs tune
 *     2  is clean, and of another size             N  is of that size, like M
 *     a  adds to a C that calls like it wrote, and is clean
 *     q  is clean, on operands that nobody has met  x  is clean, on arrays
 *     s  is clean, of one that FP16 holds         t  is like q, but posts late
 *     U  is like q and u                          p  is on the last of those
 *   in between: !  the device catches up       ~  it will while somebody waits
 * turns: 0 or 1 verified, t converted and not verified, else why it was kept:
 * o own, g guard, n no profit, c capture, u unread, d driver, p the program
 * tunes. naps: whether anybody did. balance: of FP16, in hundredths. left,
 * back, chosen: CANDIDATE@CALL. judged, mended: calls, of FP16. noted: whether
 * it was, that the process lives while it hears. */
#include "tests/unit/shim/idle_device.h"
#include "tests/unit/shim/letters.h"

#include "shim/trial/origin_state.h"
#include "shim/trial/wait.h"

#include <pthread.h>

/* ---- A world ------------------------------------------------------------- */

enum { LEDGERS = 64, QUEUE = 4096, SIZES = 2 };

static struct ac_ledger ledgers[LEDGERS];
static struct ac_verified_record records[LEDGERS];
static unsigned made;
static struct {
	struct ac_ledger *ledger;
	char letter;
} queue[QUEUE];
static unsigned queued;
static bool is_prompt, has_no_room;
static _Atomic unsigned naps; /* which threads do at once */
static atomic_bool is_noted;

static struct ac_decision decision;
static struct ac_variants *variants[SIZES];
static struct ac_origin *origin;
static char turns[8000], left[256], back[256], chosen[256];
static unsigned turn_count;

struct ac_ledger *
ac_ledger_find(ac_ledgers *list, struct ac_variants *of,
    const struct ac_place *place, unsigned candidate, bool is_steady,
    uint64_t limit)
{
	struct ac_ledger *l = *list;

	if (has_no_room)
		return NULL;
	for (; l; l = l->next)
		if (l->candidate == candidate && l->capture == place->capture)
			return l;
	assert_true(made < LEDGERS);
	l = &ledgers[made];
	memset(&records[made], 0, sizeof *records);
	*l = (struct ac_ledger){ .next = *list, .of = of, .is_ours = true,
		.candidate = candidate, .capture = place->capture,
		.host = &records[made++] };
	*list = l;
	return l;
}

enum ac_reason
ac_ledger_lacks(ac_ledgers *list, const struct ac_place *place)
{
	return AC_REASON_WORKSPACE;
}

struct ac_ledger *
ac_ledger_first(void)
{
	return NULL;
}

static void
post(struct ac_ledger *l, char letter)
{
	struct ac_verified_record *r = (void *)(uintptr_t)l->host;

	__atomic_fetch_add(&r->alls, !!strchr("mMN", letter), __ATOMIC_RELAXED);
	__atomic_fetch_add(&r->lines, letter == 'l' ? 1 : letter == 'h' ? 32
	    : 0, __ATOMIC_RELAXED);
	__atomic_fetch_add(&r->cancels, letter == 'C', __ATOMIC_RELAXED);
	__atomic_fetch_add(&r->shorts, letter == 's', __ATOMIC_RELAXED);
	__atomic_fetch_add(&r->calls, 1, __ATOMIC_ACQ_REL);
}

static void
deliver(void)
{
	for (unsigned i = 0; i < queued; i++)
		post(queue[i].ledger, queue[i].letter);
	queued = 0;
}

int
__wrap_nanosleep(const struct timespec *nap, struct timespec *rest)
{
	(void)nap, (void)rest, naps++;
	nap_passes();
	if (is_prompt)
		deliver();
	return 0;
}

void
__wrap_ac_report_event(const struct ac_site_record *of,
    enum ac_event_kind kind, uint64_t call, uint32_t finding, float error)
{
	char *list = kind == AC_EVENT_DEMOTED ? left : kind == AC_EVENT_RETRIED
	    ? back : kind == AC_EVENT_CHOSEN ? chosen : NULL;

	if (list)
		add_to_list(list, "%d@%d", of->rung != AC_RUNG_FP16, (int)call);
}

void
__wrap_ac_report_note_time(void)
{
	is_noted = true;
}

/* ---- Calls --------------------------------------------------------------- */

static void
run(const struct ac_place *place, struct ac_variants *v, char letter,
    const struct ac_turn *turn)
{
	if (!turn->is_verified)
		return;
	if (letter == 'r') {
		ac_origin_refused(origin, v, turn);
		return;
	}
	ac_origin_queued(origin, place, turn);
	if (!strchr("-MNt", letter)) {
		if (letter != 'k')
			post(turn->ledger, letter);
		return;
	}
	assert_true(queued < QUEUE);
	queue[queued].ledger = turn->ledger;
	queue[queued++].letter = letter;
}

static struct ac_turn
call(char letter)
{
	const struct ac_place place = {
		.stream_id = 1, .capture = letter == 'k'
	};
	struct ac_variants *v = variants[letter == '2' || letter == 'N'];
	static uint64_t pairs = 1;
	struct ac_turn turn = { AC_TURN_RECAST,
		.is_unsteady = letter == 'u' || letter == 'U',
		.pair = letter == 'x' ? 0 : letter == 'p' ? pairs
		    : strchr("qtU", letter) ? ++pairs : 1 };

	if (letter == 'a')
		ac_origin_touches(origin, turns, sizeof turns, AC_CHAIN_ADDS);
	ac_origin_begin(origin, v, &turn);
	if (turn.needs_place || decision.reproducible || strchr("kuU", letter))
		ac_origin_settle(origin, v, &place, &turn);
	if (turn.is_unsteady) {
		assert_null(turn.timing);
		turn.kind = AC_TURN_KEEP;
	}
	if (turn.kind == AC_TURN_RECAST)
		run(&place, v, letter, &turn);
	return turn;
}

static void
happen(char letter)
{
	static const char kept_as[64] = {
		[AC_REASON_OWN] = 'o', [AC_REASON_GUARD] = 'g',
		[AC_REASON_NO_PROFIT] = 'n', [AC_REASON_CAPTURE] = 'c',
		[AC_REASON_UNREAD] = 'u', [AC_REASON_WORKSPACE] = 'w'
	};
	struct ac_turn turn;

	if (letter == '!')
		deliver();
	is_prompt |= letter == '~';
	if (letter == '!' || letter == '~')
		return;
	turn = call(letter);
	assert_true(turn_count < sizeof turns - 1);
	turns[turn_count++] = letter == 'u' || letter == 'U' ? 'p'
	    : turn.kind == AC_TURN_RECAST && !turn.is_verified ? 't'
	    : turn.kind == AC_TURN_RECAST ? (char)('0' + turn.candidate)
	    : kept_as[turn.reason];
}

static void
tell(const char *name, char *value_out, size_t bytes)
{
	const struct ac_site_course *course = &ac_variants_record(variants[0],
	    0, AC_REASON_NONE)->course;

	if (!strcmp(name, "turns") || !strcmp(name, "chosen"))
		(void)snprintf(value_out, bytes, "%s", *name == 't' ? turns
		    : chosen);
	else if (!strcmp(name, "left") || !strcmp(name, "back"))
		(void)snprintf(value_out, bytes, "%s", *name == 'l' ? left
		    : back);
	else if (!strcmp(name, "balance"))
		(void)snprintf(value_out, bytes, "%d",
		    origin->candidate[0].balance * 100 / 1024);
	else
		(void)snprintf(value_out, bytes, "%d",
		    !strcmp(name, "window") ? (int)origin->window
		    : !strcmp(name, "naps") ? naps > 0
		    : !strcmp(name, "noted") ? is_noted
		    : !strcmp(name, "judged") ? (int)course->judged
		    : (int)course->mended_calls);
}

/* ---- Cases --------------------------------------------------------------- */

enum { ON, REPRODUCIBLE, STRICT, NO_OWN, TIMED, WITH_TF32, ONLY_TF32,
	REPRODUCIBLE_TF32, WITH_X2 };

static void
begin(int how)
{
	static int64_t number;
	static const uint64_t found = 1;
	struct ac_site_key key;
	const uint64_t place[2] = { (uint64_t)++number, 1 };

	setenv("AUTOCAST_STATE", "off", 1); /* statistics: in memory */
	naps = made = queued = turn_count = 0;
	now_ns = 0;
	is_noted = is_prompt = is_threaded = has_no_room = false;
	(void)ac_wait_for(0, 0, &found, 1, 0); /* no wait has failed yet */
	memset(turns, 0, sizeof turns);
	left[0] = back[0] = chosen[0] = '\0';
	decision = (struct ac_decision){
		.rung = AC_RUNG_FP16, .tactic = AC_TACTIC_CAST,
		.source = "test", .line = 1, .tol = 1e-3,
		.own = how == NO_OWN ? 0 : 3,
		.guard = how == STRICT ? AC_GUARD_STRICT : AC_GUARD_ON,
		.judges_profit = true, .reproducible = how == REPRODUCIBLE
		    || how == REPRODUCIBLE_TF32,
		.keep_seconds = 2e-5, .candidate_count = 2, .candidate = {
			{ AC_RUNG_FP16, AC_TACTIC_CAST, 1e-3, 1e-5, 0 },
			{ AC_RUNG_BF16, AC_TACTIC_CAST, 8e-3, 1.5e-5, 0 }
		}
	};
	if (how == STRICT || how == WITH_TF32 || how == REPRODUCIBLE_TF32)
		decision.candidate[1] = (struct ac_candidate){ AC_RUNG_TF32,
			AC_TACTIC_LIBRARY, 1e-3, 5e-6, 0 };
	if (how == WITH_X2)
		decision.candidate[1] = (struct ac_candidate){ AC_RUNG_FP16X2,
			AC_TACTIC_CAST, 1e-5, 5e-6, 0 };
	if (how == ONLY_TF32) {
		decision.candidate[0] = decision.candidate[1];
		decision.candidate[0].tactic = AC_TACTIC_LIBRARY;
		decision.candidate_count = 1;
	}
	for (int i = 0; i < SIZES; i++) {
		memset(&key, 0, sizeof key);
		key.m = key.n = 128 << i;
		key.k = number; /* a site of its own */
		variants[i] = ac_variants_make(&decision, ac_report_site(
		    &ac_outside, &key, &decision, "", NULL), how == TIMED, 0);
		assert_non_null(variants[i]);
	}
	origin = ac_origin_of(place, &decision, how == REPRODUCIBLE);
	assert_non_null(origin);
	assert_ptr_equal(ac_origin_on(origin, &decision,
	    how == REPRODUCIBLE), origin);
	assert_ptr_not_equal(ac_origin_on(origin, &decision, 99), origin);
}

CASE(test_own)
{
	static const char *const cases[] = {
		"c*5 -> turns=ooo00 naps=0", "c 2 c c 2 -> turns=ooo00",
		"c*3 u*2 c -> turns=ooopp0", NULL
	};
	static const char *const none[] = { "c*2 -> turns=00", NULL };
	static const char *const timed[] = { "u*3 c -> turns=ppp0", NULL };

	check(ON, cases);
	check(NO_OWN, none);
	check(TIMED, timed);
	begin(ON);
	has_no_room = true;
	play("c*4 -> turns=ooow");
	begin(ON); /* of a size, then of one that may do less */
	play("c*2 -> turns=oo");
	decision.candidate_count = 1;
	origin = ac_origin_of(origin->key, &decision, 0);
	play("c*2 -> turns=o0");
}

CASE(test_window)
{
	static const char *const cases[] = {
		"c*4 -> window=2", "c*5 -> window=3", "c*9 -> window=7",
		"c*100 -> window=64",
		/* As many on their way as are unread; then one waits. */
		"c*3 -*2 -> turns=00 window=2 naps=0",
		"c*3 -*2 ~ - -> turns=000 window=4 naps=1",
		"c*3 -*3 -*5 -> turns=00uuuuuu naps=1",
		"c*3 -*3 ! - -> turns=00u0 window=4",
		"c*3 -*3 ! c -*5 ~ - -> turns=u0000000",
		"c*70 -*63 - -> turns=000 naps=0",
		"c*70 -*64 - - -> turns=0uu naps=1",
		/* Whole ones take it back, lines do not. */
		"c*20 m c -> turns=00 window=2", "c*20 l c -> window=20",
		"c*20 -*3 M -*8 ! c -> window=2",
		/* Of whichever size. */
		"c*3 -*2 2 -> turns=00u", "c*3 - N ~ - 2 -> turns=0000",
		"c*3 -*2 -> noted=0", "c*3 -*2 ! c -> noted=1", NULL
	};

	check(ON, cases);
}

CASE(test_balance)
{
	static const char *const cases[] = {
		"c*5 -> balance=50", "c*200 -> balance=3200",
		"c*3 m c -> balance=-100", "c*3 h c -> balance=0",
		"c*3 l c -> balance=48",
		/* The third bad one is one too many: the next candidate. */
		"c*3 m m c -> turns=000 left=",
		"c*3 m m m c c -> turns=00011 left=0@7 mended=3",
		"c*3 m*9 -> turns=ooo000111ggg left=0@7,1@10",
		/* However good it was before. */
		"c*200 m*34 c -> turns=000 left=",
		"c*200 m*35 c -> turns=01 left=0@236",
		/* It serves again after 1000 calls, 4000 ...; one more bad one
		 * will do. */
		"c*3 m*3 c*1000 -> turns=111 back=",
		"c*3 m*3 c*1001 -> turns=110 back=0@1007",
		"c*3 m*3 c*1000 m c -> turns=101 left=0@7,0@1008",
		"c*3 m*3 c*1000 m c*4000 -> turns=111",
		"c*3 m*3 c*1000 m c*4001 -> turns=110",
		"c*3 m*3 c*1000 c*9 m*3 c -> turns=0000", NULL
	};

	check(ON, cases);
}

CASE(test_refused)
{
	static const char *const cases[] = {
		"c*3 r*2 c -> turns=000", "c*3 r*3 c -> turns=0001 left=",
		"c*3 r*2 c r*2 c -> turns=000000", "c*3 r*6 c -> turns=g",
		"c*3 r*3 c*2000 -> turns=111", NULL
	};

	check(ON, cases);
}

CASE(test_captures)
{
	static const char *const cases[] = {
		"k*5 -> turns=ooocc", "c*3 k -> turns=oooc",
		"c*3 -*2 k -> turns=00c naps=0", "c*3 m k -> turns=0c",
		"c*3 l k -> turns=0c", "c*3 c k*100 -> turns=000",
		/* It waits for nothing. */
		"c*4 -*3 k*9 -> turns=000 naps=0", NULL
	};

	check(ON, cases);
	begin(ON); /* what is not heard of says of no sum that it cancels */
	play("c*4 k -> turns=ooo00");
	has_no_room = true;
	play("k -> turns=0");
	begin(ON);
	play("a*4 -> turns=ooo0");
	has_no_room = true;
	play("k -> turns=c");
}

/* Sums that cancel, of calls that add up: for good. */
CASE(test_chains)
{
	static const char *const cases[] = {
		"c*3 C c -> turns=00", "a*4 C c*2 -> turns=0gg left=0@6",
		"a*4 C*2 c*5000 -> turns=ggg left=0@6",
		/* What was left for its errors neither comes back. */
		"a*4 m*3 C c*2000 -> turns=ggg left=0@8,1@9", NULL
	};
	const uint64_t place[2] = { 0, 2 };
	struct ac_origin *other;

	check(ON, cases);
	/* What wrote there before leaves, too, and says so at its next call. */
	begin(ON);
	other = ac_origin_of(place, &decision, 0);
	ac_origin_touches(other, &turns, sizeof turns, AC_CHAIN_WRITES);
	play("a*4 C c -> turns=0g left=0@6");
	origin = other;
	play("c*5 -> turns=ooogg left=0@6,0@4");
	assert_int_equal(variants[0]->record[0]->course.demotions, 2);
	/* guard=strict keeps them, too; who they are is asked seldom. */
	begin(STRICT);
	other = ac_origin_of(place, &decision, 0);
	ac_origin_touches(other, &turns, sizeof turns, AC_CHAIN_WRITES);
	play("c*3 a -> turns=ooog");
	assert_true(other->adds);
	other->adds = false;
	play("c*63 -> turns=gggg");
	assert_false(other->adds);
	play("c -> turns=g");
	assert_true(other->adds);
	begin(ON);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(ac_origin_is_to_ask(origin), i % 2);
		assert_false(ac_origin_is_to_ask(origin));
		play(!i ? "a -> turns=o" : i == 1 ? "c*63 -> turns=0"
		    : "c -> turns=0");
	}
}

/* What was posted is heard of at each 64th call, of all sizes, and waited
 * for. */
CASE(test_reproducible)
{
	static const char *const cases[] = {
		"c*63 -> window=2 judged=0", "c*64 -> judged=60",
		"c*3 m*60 c -> turns=0001 left=0@64 mended=60",
		"c*3 m*59 -> turns=000", "c*3 -*60 -> turns=000 naps=0",
		"c*3 M*60 ~ c c -> turns=011 naps=1",
		"c*3 M*60 c -> turns=00 naps=1 left=",
		"c*3 m*30 2*31 -> judged=30 left=0@64",
		"c*10 k -> turns=c", "c*64 k -> turns=0",
		/* The 64th of them, of another size. */
		"c*66 N c*60 ~ c -> naps=1", NULL
	};

	check(REPRODUCIBLE, cases);
	/* What graphs add to it is not awaited: the device says of that. */
	begin(REPRODUCIBLE);
	play("c*5 -> turns=00");
	assert_false(ledgers[0].heeds_cancelled);
	play("a*2 -> turns=00");
	assert_true(ledgers[0].heeds_cancelled);
	begin(ON);
	play("a*6 -> turns=00");
	assert_false(ledgers[0].heeds_cancelled);
}

/* What a library converts, here faster than a cast: verified now and then. Once
 * mended, it serves no more. A rung that does not serve does not make of a slow
 * one a bad one. */
CASE(test_converted)
{
	static const char *const strict[] = {
		"c*9 -> turns=ooo000000", "c*3 m*3 c -> turns=000g", NULL
	};
	static const char *const with[] = {
		"c*9 -> turns=ooo111ttt", "c*9 q c q*2 c -> turns=1t11t",
		"c*9 q*8 c -> turns=111111111",
		"c*3 m c -> turns=10 left=1@5", "c*3 l c -> turns=10",
		"c*9 q*3 m*29 c -> turns=tt10 left=1@42",
		"c*3 m c*5000 -> turns=000 back=",
		/* A host that is ahead of it has all of them verified. */
		"c*9 q c*3 -> turns=1ttt", "c*9 t*5 ! c -> turns=11111t",
		"c*9 t -*3 ! c -> turns=1111t",
		/* New until it was verified: U's call was none. */
		"c*9 U p*2 -> turns=p1t",
		"c*6 x -> turns=0", "c*3 k -> turns=c", "c*9 k -> turns=1",
		NULL
	};
	/* Not by what was heard. */
	static const char *const steady[] = {
		"c*9 t -*3 -> turns=1ttt", "c*9 q c*3 -> turns=1ttt", NULL
	};
	static const char *const only[] = {
		"c*3 m c -> turns=0g", "x*5 -> turns=ooogg", NULL
	};

	check(STRICT, strict);
	check(WITH_TF32, with);
	check(REPRODUCIBLE_TF32, steady);
	check(ONLY_TF32, only);
	begin(STRICT);
	decision.keep_seconds = 5e-6;
	variants[0] = ac_variants_make(&decision, variants[0]->record[0],
	    false, 0);
	play("c*9 -> turns=ooonnnnnn");
}

/* Two products for one, faster, serve where all calls had an operand that FP16
 * holds; once mended, that is not asked again. */
CASE(test_short)
{
	static const char *const with[] = {
		"c*3 s c*2 -> turns=001", "c*4 s*5 c -> turns=0000000",
		"c*3 s*3 c*20 -> turns=1111", "c*3 s*2 m*3 s*99 -> turns=0000",
		"c*3 s*2 m*3 c*2 -> turns=11100 left=1@9", NULL
	};

	check(WITH_X2, with);
}

/* What was measured decides, not what was predicted; what is timed in between
 * does not count as chosen. */
CASE(test_times)
{
	static const float us[AC_CANDIDATES + 1] = { 30, 10,
		[AC_ORIGINAL] = 20 };

	begin(TIMED);
	for (unsigned i = 0; i <= AC_CANDIDATES; i++) {
		variants[0]->timing[i].count = us[i] > 0;
		variants[0]->timing[i].least_us = us[i];
	}
	play("c*99 -> turns=000 chosen=0@4");
	play("c*2 -> turns=01 chosen=0@4,1@101");
}

enum { THREADS = 8, CALLS = 5000 };

static void *
make_calls(void *argument)
{
	for (int i = 0; i < CALLS; i++)
		(void)call('c');
	return argument;
}

/* What two threads hear at once is added up once. */
CASE(test_threads)
{
	const struct ac_place place = { .stream_id = 1 };
	pthread_t thread[THREADS];
	const struct ac_site_course *course;

	begin(ON);
	is_threaded = true;
	play("c*4 -> turns=0"); /* its ledger is there */
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, make_calls,
		    NULL), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	records[0].whole = 1e-4f, records[0].line = 3e-4f;
	post(&ledgers[0], 'c');
	ac_origin_hear_all(origin, variants[0], &place);
	course = &ac_variants_record(variants[0], 0, AC_REASON_NONE)->course;
	assert_int_equal(course->judged, THREADS * CALLS + 2);
	assert_true(course->error == 1e-4f && course->line_error == 3e-4f);
	assert_int_equal(course->mended_calls, 0);
	assert_int_equal(origin->queued, THREADS * CALLS + 1);
	assert_int_equal(origin->out, 0);
}

CASES_RUN(NULL, NULL)
