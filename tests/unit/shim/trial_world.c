/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/shim/trial_world.c -- two contexts, a device that posts, pages and
 * events, which the tests of shim/trial*.c make up. */
#include "tests/unit/shim/trial_world.h"

#include "shim/device/device.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- A world of two contexts --------------------------------------------- */

enum { QUEUE = 1 << 12, CONTEXT = 77 };

struct device device;
bool tunes;
const char *caller;
struct ac_recast_post posts[2][TRIAL_SLOTS];
bool has_pages = true, has_context = true;
unsigned pages, naps, delivers_after;
int64_t now_ns;
static unsigned events;
float elapsed_ms;

/* What was queued and has not been posted. */
static struct {
	struct ac_recast_post *to, post;
} queue[QUEUE];
static unsigned queued;

static void
write_post(struct ac_recast_post *to, const struct ac_recast_post *from)
{
	struct ac_recast_post body = *from;

	body.number = to->number;
	*to = body;
	__atomic_store_n(&to->number, from->number, __ATOMIC_RELEASE);
}

void
deliver(void)
{
	for (unsigned i = 0; i < queued; i++)
		write_post(queue[i].to, &queue[i].post);
	queued = 0;
}

bool
ac_scratch_relax(const struct ac_driver *driver, int *mode_out)
{
	(void)driver;
	*mode_out = 0;
	return true;
}

void
ac_scratch_restore(const struct ac_driver *driver, int mode)
{
	(void)driver, (void)mode;
}

/* Where times are read that no call came to read. */
void (*_Atomic ac_handle_waited)(void);

bool is_emulated;
int64_t side;

bool
ac_device_is_emulated(void)
{
	return is_emulated;
}

const struct ac_driver *
ac_driver_loaded(void)
{
	return here.driver;
}

struct ac_scratch *
ac_scratch_find(uint64_t context_id)
{
	return context_id == CONTEXT ? here.scratch : NULL;
}

uint32_t
ac_scratch_epoch(const struct ac_scratch *scratch)
{
	return scratch == here.scratch ? here.epoch : there.epoch;
}

/* One stream: its samples tell of all its calls. */
bool
ac_history_is_silent(ac_histories *list, const struct ac_place *place,
    unsigned candidate, uint64_t number, uint64_t most)
{
	(void)list, (void)place, (void)candidate, (void)number, (void)most;
	return false;
}

void
ac_history_posts(ac_histories *list, const struct ac_place *place,
    unsigned candidate, uint64_t number)
{
	(void)list, (void)place, (void)candidate, (void)number;
}

bool
ac_mailbox_take(const struct ac_place *place, size_t bytes, bool outlives,
    void **host_out, ac_cu_address *device_out)
{
	struct ac_recast_post *page = posts[place->scratch == there.scratch];

	assert_true(outlives || !has_pages);
	assert_true(bytes <= sizeof posts[0]);
	assert_int_equal(place->capture, 0);
	pages++;
	*host_out = page;
	*device_out = (ac_cu_address)(uintptr_t)page;
	return has_pages;
}

static ac_cu_result
create(ac_cu_event *event, unsigned flags)
{
	(void)flags;
	*event = (ac_cu_event)(uintptr_t)++events;
	return 0;
}

static ac_cu_result
destroy(ac_cu_event event)
{
	(void)event;
	return 0;
}

static ac_cu_result
record(ac_cu_event event, ac_cu_stream stream)
{
	(void)event, (void)stream;
	return 0;
}

static ac_cu_result
query(ac_cu_event event)
{
	(void)event;
	return device.is_busy;
}

static ac_cu_result
context_id(ac_cu_context context, unsigned long long *id_out)
{
	(void)context;
	*id_out = CONTEXT;
	return has_context ? 0 : 709;
}

static ac_cu_result
current_context(ac_cu_context *context_out)
{
	*context_out = (ac_cu_context)(uintptr_t)CONTEXT;
	return 0;
}

static ac_cu_result
current_device(int *device_out)
{
	*device_out = 0;
	return 0;
}

static ac_cu_result
elapsed(float *ms, ac_cu_event start, ac_cu_event end)
{
	(void)start, (void)end;
	*ms = elapsed_ms;
	return 0;
}

/* Of a program that is linked with --wrap: naps take no time but this one's. */
int __wrap_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_nanosleep(const struct timespec *nap, struct timespec *left);

int
__wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
	(void)clock;
	now->tv_sec = now_ns / 1000000000;
	now->tv_nsec = now_ns % 1000000000;
	return 0;
}

int
__wrap_nanosleep(const struct timespec *nap, struct timespec *left)
{
	(void)left;
	now_ns += nap->tv_sec * 1000000000 + nap->tv_nsec;
	naps++;
	if (delivers_after && --delivers_after == 0)
		deliver();
	return 0;
}

static const struct ac_driver driver = {
	.cuEventCreate = create, .cuEventDestroy = destroy,
	.cuEventRecord = record, .cuEventQuery = query,
	.cuEventElapsedTime = elapsed, .cuCtxGetId = context_id,
	.cuCtxGetCurrent = current_context, .cuCtxGetDevice = current_device
};
struct ac_place here = {
	.driver = &driver, .scratch = (struct ac_scratch *)8, .stream_id = 3
};
struct ac_place graph = {
	.driver = &driver, .scratch = (struct ac_scratch *)8, .stream_id = 3,
	.capture = 9
};
struct ac_place there = {
	.driver = &driver, .scratch = (struct ac_scratch *)16, .stream_id = 4
};

void
reset_contexts(void)
{
	here.epoch = graph.epoch = ++there.epoch;
}

/* ---- A site that may use FP16 by cast, or TF32 --------------------------- */

/* Without a prediction for the original: the first call is tried at once. */
struct ac_decision
decision_of(enum ac_asked_guard guard)
{
	return (struct ac_decision){
		.rung = AC_RUNG_FP16, .tactic = AC_TACTIC_CAST,
		.source = "test", .line = 1, .tol = 1e-3, .scaled = true,
		.guard = guard, .sample_period = 64, .judges_profit = true,
		.candidate_count = 2, .candidate = {
			{ AC_RUNG_FP16, AC_TACTIC_CAST, 1e-3, 1e-5 },
			{ AC_RUNG_TF32, AC_TACTIC_LIBRARY, 1e-3, 2e-5 }
		}
	};
}

struct ac_trial *
make(const struct ac_decision *decision, bool may_time)
{
	static unsigned number;
	struct ac_site_key key;
	struct ac_site_record *site;

	setenv("AUTOCAST_STATE", "off", 1); /* statistics: in memory */
	memset(&key, 0, sizeof key);
	key.batch = 1;
	key.m = ++number; /* a site of its own */
	if (side)
		key.m = key.n = key.k = side;
	memset(posts, 0, sizeof posts);
	device = (struct device){ .error = { 3e-4f, 3e-4f }, .samples = 1,
		.queued = 3 };
	queued = naps = delivers_after = pages = 0;
	has_pages = has_context = true;
	tunes = false;
	here.epoch = graph.epoch = there.epoch = 1;
	elapsed_ms = 0;
	if (caller)
		(void)snprintf(key.caller, sizeof key.caller, "%s", caller);
	site = ac_report_site(&ac_outside, &key, decision, "", NULL);
	return ac_trial_make(decision, &key, "", site, NULL, may_time);
}

static void
meet(struct ac_trial *t, uint64_t name, struct ac_turn *turn)
{
	*turn = (struct ac_turn){
		.kind = AC_TURN_KEEP, .is_unsteady = tunes
	};
	ac_trial_meet(t, name ? ac_pair_key((void *)(uintptr_t)(name << 20),
	    (void *)(uintptr_t)(name << 24)) : 0, turn);
}

bool
wants_place(struct ac_trial *t, uint64_t name, bool to_run)
{
	struct ac_turn turn;

	meet(t, name, &turn);
	return ac_trial_wants_place(t, &turn, to_run);
}

struct ac_turn
turn_of(struct ac_trial *t, const struct ac_place *place, uint64_t name)
{
	struct ac_turn turn;

	meet(t, name, &turn);
	ac_trial_turn(t, place, &turn);
	return turn;
}

struct ac_turn
turn(struct ac_trial *t)
{
	return turn_of(t, &here, 1);
}

void
post(const struct ac_slot *slot, uint64_t number, float rho, float error)
{
	const struct ac_recast_post made = { .number = number, .rho = rho,
		.tile_rho = rho, .error = error, .line_error = error,
		.samples = device.samples, .bad = device.bad,
		.energy = { (float)number, 1 } };
	struct ac_recast_post *to = (struct ac_recast_post *)(uintptr_t)
	    slot->device;

	if (!device.is_behind) {
		write_post(to, &made);
		return;
	}
	assert_true(queued < QUEUE);
	queue[queued].to = to;
	queue[queued++].post = made;
}

/* ---- Calls ------------------------------------------------------------- */

static void
make_try(struct ac_trial *t, const struct ac_turn *now)
{
	const unsigned done = now->tries & device.queued;

	for (unsigned i = 0; i < ac_trial_count(t); i++) {
		const struct ac_slot slot = done >> i & 1
		    ? ac_trial_slot(t, now, i) : (struct ac_slot){ NULL, 0 };

		if (done >> i & 1)
			post(&slot, now->number, 1e-5f, device.error[i]);
	}
	ac_trial_tried(t, now, done, now->tries & device.refused);
}

struct ac_turn
call_at(struct ac_trial *t, const struct ac_place *place, uint64_t name)
{
	struct ac_turn now = turn_of(t, place, name);

	if (now.kind == AC_TURN_TRY)
		make_try(t, &now);
	if (now.kind == AC_TURN_STRICT) {
		post(&now.slot, now.number, 1e-5f, device.error[now.candidate]);
		if (!ac_trial_judge_now(t, &now))
			now.kind = AC_TURN_KEEP;
		ac_trial_turn_over(t, &(struct ac_turn){
			.kind = AC_TURN_STRICT, .entry = { now.entry[0] } });
		return now;
	}
	if (now.kind == AC_TURN_RECAST && device.watches
	    && device.error[now.candidate] > 1e-3f) {
		device.bad |= 1ull << now.pair_bit;
		device.worst = device.error[now.candidate];
	}
	if (now.kind == AC_TURN_RECAST && now.sampled) {
		post(&now.slot, now.number, 1e-5f, device.worst > 0
		    ? device.worst : device.error[now.candidate]);
		device.bad = 0;
		device.worst = 0;
		ac_trial_sampled(t, &now);
	}
	ac_trial_turn_over(t, &now);
	return now;
}

struct ac_turn
call(struct ac_trial *t)
{
	return call_at(t, &here, 1);
}

struct ac_turn
call_on(struct ac_trial *t, uint64_t name, int data)
{
	device.error[0] = device.error[1] = data == BAD ? 0.3f : 3e-4f;
	return call_at(t, &here, name);
}

struct ac_turn
calls_until(struct ac_trial *t, uint64_t last)
{
	struct ac_turn now;

	do
		now = call(t);
	while (now.number < last);
	return now;
}

struct ac_trial *
settled(const struct ac_decision *decision, float fp16, float tf32)
{
	struct ac_trial *t = make(decision, false);

	device.error[0] = fp16;
	device.error[1] = tf32;
	(void)calls_until(t, TRIAL_EVIDENCE);
	device.error[0] = device.error[1] = 3e-4f;
	return t;
}
