/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/kernels/lockstep.c -- random products and convolutions: the
 * kernels' text against the twins, bit for bit in all they write. */
#include "tests/unit/kernels/conv_cases.h"
#include "tests/unit/kernels/lockstep.h"
#include "tests/unit/kernels/recast_cases.h"

#include "kernels/twins/twins.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t seed;
static unsigned differences;

static uint32_t
any(uint32_t count)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % count;
}

static struct recast_case
random_case(void)
{
	return (struct recast_case){
		.m = 1 + (int)any(any(5) ? 70 : 150),
		.n = 1 + (int)any(any(5) ? 70 : 140),
		.k = (int)any(any(6) ? 60 : 1100), .batch = 1 + (int)any(3),
		.trans = { any(2), any(2) },
		.fill = { (enum cast_fill)any(FILL_COUNT),
			(enum cast_fill)any(FILL_COUNT) },
		.extra = (int)any(4), .fixed = { !any(4), !any(4) },
		.array = !any(3),
		.alpha = any(5) ? 1.5f : any(2) ? 0 : -1e-30f,
		.beta = any(2) ? 0.5f : 0,
		.format = any(2), .scaled = any(3),
		.output = (enum recast_output)any(3),
	};
}

/* What follows a product, each in turn, and what beta scales. */
static void
let_follow(int turn, struct recast_case *c)
{
	c->activation = (uint32_t)turn % 5;
	c->bias = any(2);
	c->follows = any(2);
	c->added = any(3);
}

/* Many small matrices. */
static struct recast_case
random_batch(void)
{
	struct recast_case c = random_case();

	c.m = 1 + (int)any(20);
	c.n = 1 + (int)any(20);
	c.k = (int)any(60);
	c.batch = 1 + (int)any(30);
	return c;
}

/* How it is judged. Without `kept`, a sample cannot look again where C
 * counts. */
static void
set_judge(struct recast_data *one, struct recast_data *two)
{
	static const float tols[] = { 0, 1e-5f, 1e-3f, 1e-2f };
	struct ac_recast *r = &one->recast, *other = &two->recast;

	r->tol = other->tol = tols[any(4)];
	r->pair = other->pair = any(64);
	r->judge = other->judge = any(2) * AC_JUDGE_EXACT;
	if (!any(5))
		r->kept = other->kept = NULL;
}

/* Some outputs are off when finish finds them; those of a column, too. */
static void
falsify(struct recast_data *one, struct recast_data *two)
{
	static const float by[] = { 1.01f, -1, 0, 2 };
	struct ac_recast *r = &one->recast;

	for (uint32_t i = any(4) / 3 * any(200); i; i--) {
		const int64_t b = any((uint32_t)r->batch);
		const int64_t row = any((uint32_t)r->m);
		const int64_t col = any(2) ? any((uint32_t)r->n) : 0;
		const float times = by[any(4)];

		*recast_out_at(one, b, row, col) *= times;
		*recast_out_at(two, b, row, col) *= times;
	}
}

/* The same elements of both become bad. */
static void
spoil(struct recast_data *one, struct recast_data *two)
{
	static const float bad[] = { INFINITY, -INFINITY, NAN };
	struct ac_recast *r = &one->recast;

	for (uint32_t i = any(3) * any(6); i && r->k; i--) {
		const int operand = (int)any(2);
		const int64_t b = r->operand[operand].batch == 1 ? 0
		    : any((uint32_t)r->batch);
		const int64_t line = any((uint32_t)(operand ? r->n : r->m));
		const int64_t k = any((uint32_t)r->k);
		const float x = bad[any(3)];

		*recast_at(one, operand, b, line, k) = x;
		*recast_at(two, operand, b, line, k) = x;
	}
}

static void
same(const char *what, int turn, const void *one, const void *two,
    size_t bytes)
{
	const uint32_t *a = one, *b = two;
	size_t word = 0;

	if (!memcmp(one, two, bytes))
		return;
	while (word < bytes / 4 && a[word] == b[word])
		word++;
	if (differences++ < 20 && word < bytes / 4)
		printf("# turn %d: %s differs at byte %zu: %08x %08x\n", turn,
		    what, 4 * word, (unsigned)a[word], (unsigned)b[word]);
}

/* Scratch holds sums of the program's numbers. The payload of a NaN that an
 * addition made is the machine's own, and nothing reads it. */
static void
same_scratch(int turn, const float *one, const float *two, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!isnan(one[i]) || !isnan(two[i]))
			same("scratch", turn, one + i, two + i, sizeof *one);
}

static void
compare(int turn, const struct recast_data *one, const struct recast_data *two)
{
	same("state", turn, &one->state, &two->state,
	    offsetof(struct ac_recast_state, sample));
	same_scratch(turn, one->state.sample[0], two->state.sample[0],
	    sizeof one->state.sample / sizeof(float));
	same("history", turn, &one->history, &two->history,
	    sizeof one->history);
	same("before", turn, one->before, two->before, sizeof one->before);
	same("kept", turn, one->kept, two->kept,
	    one->kept_count * sizeof *one->kept);
	same("post", turn, &one->post, &two->post, sizeof one->post);
	same("C", turn, one->c, two->c, one->c_count * sizeof *one->c);
	same("parts", turn, one->parts, two->parts,
	    one->part_count * sizeof *one->parts);
	for (int i = 0; i < 2; i++) {
		same("bands", turn, one->bands[i], two->bands[i],
		    one->band_count[i] * sizeof *one->bands[i]);
		same("a cast", turn, one->to[i], two->to[i],
		    one->to_count[i] * sizeof *one->to[i]);
		same("marks", turn, one->marks[i], two->marks[i],
		    one->mark_count[i] * sizeof *one->marks[i]);
	}
}

static void
launch(const char *name, int turn, struct recast_data *twin,
    struct recast_data *text)
{
	recast_run(name, twin, 1);
	lockstep_run(name, &text->recast, 1 + any(5), NULL, NULL);
	/* The casts of a pass that is settled next are nobody's. */
	if (!(twin->state.todo & AC_TODO_SETTLE))
		compare(turn, twin, text);
}

static void
count_ranges(int turn, struct recast_data *twin, struct recast_data *text)
{
	const struct ac_twin_launch launch = { { 1, 2, 1 }, { 256, 1, 1 } };
	static uint64_t counts[2][2 * AC_RANGE_BINS];
	static uint64_t copies[2][2 * AC_RANGE_BINS];
	uint64_t *to_counts = counts[0], *to_copy = copies[0];
	void *arguments[] = { &twin->recast, &to_counts, &to_copy };

	for (size_t i = 0; i < ac_twin_count; i++)
		if (!strcmp(ac_twins[i].name, "ac_recast_ranges"))
			ac_twins[i].run(&launch, arguments);
	lockstep_run("ac_recast_ranges", &text->recast, 1 + any(4), counts[1],
	    copies[1]);
	same("ranges", turn, copies[0], copies[1], sizeof copies[0]);
	compare(turn, twin, text);
}

/* Scalars of the program that lie on the device. */
static void
move_scalars(struct recast_data *one, struct recast_data *two, float *scalars)
{
	scalars[0] = one->recast.alpha.value;
	scalars[1] = one->recast.beta.value;
	if (!any(3))
		one->recast.alpha = two->recast.alpha =
		    (struct ac_cast_scalar){ NAN, 0, &scalars[0] };
	if (!any(3))
		one->recast.beta = two->recast.beta =
		    (struct ac_cast_scalar){ NAN, 0, &scalars[1] };
}

/* A sampled call that cuBLAS converts for: nothing is cast. Its output is what
 * C was, which is as good as any for those who compare. */
static void
cast_nothing(struct recast_data *data)
{
	for (int i = 0; i < 2; i++) {
		data->recast.operand[i].to = NULL;
		data->recast.operand[i].marks = NULL;
	}
}

static void
take_call(int turn, const struct recast_case *c, struct recast_data *data)
{
	const bool casts = data->recast.operand[0].to;

	if (casts)
		launch("ac_recast_cast", turn, &data[0], &data[1]);
	launch("ac_recast_settle", turn, &data[0], &data[1]);
	for (int i = 0; i < 2 && casts; i++)
		recast_multiply(&data[i]);
	falsify(&data[0], &data[1]);
	launch("ac_recast_finish", turn, &data[0], &data[1]);
	if (c->output == OUT_APART)
		launch("ac_recast_write", turn, &data[0], &data[1]);
}

/* Three calls, mostly of other data; before the second the history is sometimes
 * spoilt, before the third sometimes forgotten (another epoch), after it there
 * is a post. */
static void
take_turn(int turn)
{
	struct recast_case c = any(4) ? random_case() : random_batch();
	const bool casts = c.output != OUT_C || any(5), before = any(8);
	const float tol = any(4) ? any(2) ? 1e-3f : 1e-5f : 0;
	const uint64_t numbers = seed;
	struct recast_data data[2];
	float scalars[2];

	if (any(3))
		let_follow(turn, &c);
	for (int i = 0; i < 2; i++) {
		recast_data_make(&c, numbers, &data[i]);
		if (!casts)
			cast_nothing(&data[i]);
		if (!before)
			data[i].recast.before = NULL;
		if (tol > 0 && casts)
			recast_judge(tol, &data[i]);
		data[i].recast.pair = (uint32_t)turn % 64;
		data[i].recast.judge = turn % 3 ? 0 : AC_JUDGE_POST_IF_BAD;
	}
	move_scalars(&data[0], &data[1], scalars);
	set_judge(&data[0], &data[1]);
	for (int call = 0; call < 3; call++) {
		const uint64_t others = numbers + any(4);

		for (int i = 0; i < 2; i++)
			recast_data_fill(&c, others, &data[i]);
		spoil(&data[0], &data[1]);
		const uint32_t sampled = any(2);
		const int32_t exponent = call == 1 && any(2) ? (int)any(60)
		    : data[0].history.exponent[0];

		for (int i = 0; i < 2; i++) {
			data[i].recast.sampled = sampled;
			data[i].recast.epoch = turn % 2 && call == 2 ? 2 : 1;
			data[i].recast.number = (uint64_t)turn + 1;
			data[i].recast.post = call == 2 ? &data[i].post : NULL;
			data[i].history.exponent[0] = exponent;
		}
		take_call(turn, &c, data);
	}
	count_ranges(turn, &data[0], &data[1]);
	recast_data_free(&data[0]);
	recast_data_free(&data[1]);
}

/* Both read the same tensors, with an output that is wrong or large. */
static void
take_conv_turn(int turn)
{
	static const float bad[] = { 1, 40000, NAN, INFINITY };
	const struct ac_twin_launch launch = { { 1, 1, 1 }, { 256, 1, 1 } };
	const struct conv_case c = conv_case_random(&seed);
	double scratch[AC_CONV_CHECK_DOUBLES] = {0};
	struct ac_recast_post post = {0};
	struct conv_data data;
	struct ac_conv_job job;
	void *arguments[] = { &job };

	conv_data_make(&c, seed, &data);
	data.out[any(2) ? data.out_count - 1 : any((uint32_t)data.out_count)]
	    = bad[any(4)];
	if (!any(4))
		data.memory[any(3)][0] = bad[any(4)];
	data.check.judge = any(2) * AC_JUDGE_EXACT;
	ac_conv_job_make(&data.check, &job);
	for (size_t i = 0; i < ac_twin_count; i++)
		if (!strcmp(ac_twins[i].name, "ac_conv_check"))
			ac_twins[i].run(&launch, arguments);
	job.scratch = (struct ac_conv_scratch *)(void *)scratch;
	job.post = &post;
	lockstep_run_conv(&data.check, &job, 1 + any(9));
	same("the post of a convolution", turn, &data.post, &post,
	    sizeof post);
	same("the scratch of a convolution", turn, data.scratch, scratch,
	    sizeof scratch);
	conv_data_free(&data);
}

bool
lockstep_turns(int turns, uint64_t start, const char *text)
{
	const int convs = (turns + 2) / 3; /* a block does many outputs */
	const int lists = (turns + 1) / 2; /* of many tensors */
	unsigned scaler = 0;

	seed = start;
	for (int turn = 0; turn < turns; turn++)
		take_turn(turn);
	for (int turn = 0; turn < convs; turn++)
		take_conv_turn(turn);
	printf("%sok 1 - %d products, %d convolutions: %s and the twins "
	    "agree\n", differences ? "not " : "", turns, convs, text);
	for (int turn = 0; turn < lists; turn++)
		scaler = lockstep_scaler_turn(turn, start);
	printf("%sok 2 - %d lists of gradients: %s and the twins agree\n",
	    scaler ? "not " : "", lists, text);
	return !differences && !scaler;
}
