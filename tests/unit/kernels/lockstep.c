/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/kernels/lockstep.c -- random operands and convolutions: the
 * kernels' text against the twins, bit for bit in all they write. */
#include "emulator/driver/twin.h"
#include "tests/unit/kernels/conv_cases.h"
#include "tests/unit/kernels/lockstep.h"

#include "kernels/twins/twins.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROOM = 3 * (8 * 704 + 5) }; /* floats of an operand */
static uint64_t seed;
static unsigned differences;

static uint32_t
any(uint32_t count)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % count;
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

static void
run_twin(const char *name, void **arguments)
{
	const struct emu_twin_launch launch = { { 1, 1, 1 }, { 256, 1, 1 } };

	for (size_t i = 0; i < AC_TWINS; i++)
		if (!strcmp(ac_twins[i].name, name))
			ac_twins[i].run(&launch, arguments);
}

/* Matrices somewhere in `room`, of any bits, by a stride or by addresses. */
static struct ac_recast_matrices
random_matrices(float *room, const float **array)
{
	struct ac_recast_matrices m = { .rows = any(any(4) ? 40 : 700),
		.cols = any(9), .batch = 1 + any(3) };

	m.ld = m.rows + any(4);
	m.stride = m.batch > 1 ? m.ld * m.cols + any(5) : 0;
	for (uint32_t i = 0; i < ROOM; i++)
		room[i] = ac_cast_float(any(1u << 16) << 16 ^ any(1u << 16));
	for (int64_t b = 0; b < m.batch; b++)
		array[b] = room + any(2) * b * m.stride;
	if (any(2))
		m.array = array;
	else
		m.from = room;
	return m;
}

/* Twice: the counts go on, the word of the launch is 0 again. */
static void
take_ranges_turn(int turn)
{
	static float room[2][ROOM];
	static uint64_t counts[2][2][AC_RANGE_BINS];
	static uint64_t copies[2][2][AC_RANGE_BINS];
	const float *array[2][3];
	uint32_t arrived[2] = { 0, 0 };
	struct ac_recast_ranges twin, text;
	void *arguments[] = { &twin };

	twin.operand[0] = random_matrices(room[0], array[0]);
	twin.operand[1] = random_matrices(room[1], array[1]);
	text = twin;
	twin.counts = counts[0][0];
	twin.copy = copies[0][0];
	twin.arrived = &arrived[0];
	text.counts = counts[1][0];
	text.copy = copies[1][0];
	text.arrived = &arrived[1];
	for (int i = 0; i < 2; i++) {
		run_twin("ac_recast_ranges", arguments);
		lockstep_run_ranges(&text, 1 + any(4));
		same("the counts", turn, counts[0], counts[1],
		    sizeof counts[0]);
		same("their copy", turn, copies[0], copies[1],
		    sizeof copies[0]);
		same("the word", turn, &arrived[0], &arrived[1],
		    sizeof arrived[0]);
	}
}

/* What is not of the matrix stays as it is. */
static void
take_symmetric_turn(int turn)
{
	enum { MOST = 100, ROOM_OF_IT = MOST * (MOST + 4) };
	static float from[ROOM_OF_IT], to[2][ROOM_OF_IT];
	struct ac_recast_symmetric twin = { .from = from, .to = to[0],
		.n = 1 + any(any(2) ? 40 : MOST), .is_lower = any(2) }, text;
	void *arguments[] = { &twin };

	twin.ld = twin.n + any(4);
	twin.ld_to = twin.n + any(4);
	for (uint32_t i = 0; i < ROOM_OF_IT; i++)
		from[i] = ac_cast_float(any(1u << 16) << 16 ^ any(1u << 16));
	memcpy(to[1], to[0], sizeof to[0]);
	text = twin;
	text.to = to[1];
	run_twin("ac_recast_symmetric", arguments);
	lockstep_run_symmetric(&text);
	same("a whole matrix", turn, to[0], to[1], sizeof to[0]);
	for (int64_t i = 0; i < twin.n; i++)
		for (int64_t j = 0; j <= i; j++) {
			const int64_t row = twin.is_lower ? i : j;
			const float *stored = &from[row + (i + j - row)
			    * twin.ld];

			same("its lower half", turn, stored,
			    &to[0][i + j * twin.ld_to], sizeof *stored);
			same("its upper half", turn, stored,
			    &to[0][j + i * twin.ld_to], sizeof *stored);
		}
}

/* Both read the same tensors, with an output that is wrong or large. */
static void
take_conv_turn(int turn)
{
	static const float bad[] = { 1, 40000, NAN, INFINITY };
	const struct conv_case c = conv_case_random(&seed);
	double scratch[AC_CONV_CHECK_DOUBLES] = {0};
	struct ac_conv_post post = {0};
	struct conv_data data;
	struct ac_conv_job job;
	void *arguments[] = { &job };

	conv_data_make(&c, seed, &data);
	data.out[any(2) ? data.out_count - 1 : any((uint32_t)data.out_count)]
	    = bad[any(4)];
	if (!any(4))
		data.memory[any(3)][0] = bad[any(4)];
	ac_conv_job_make(&data.check, &job);
	run_twin("ac_conv_check", arguments);
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
	const int lists = (turns + 1) / 2; /* of many tensors */
	unsigned scaler = 0;

	seed = start;
	for (int turn = 0; turn < turns; turn++) {
		take_ranges_turn(turn);
		take_symmetric_turn(turn);
		take_conv_turn(turn);
	}
	printf("%sok 1 - %d counts of exponents, symmetric matrices and "
	    "convolutions: %s and the twins agree\n", differences ? "not " : "",
	    turns, text);
	for (int turn = 0; turn < lists; turn++)
		scaler = lockstep_scaler_turn(turn, start);
	printf("%sok 2 - %d lists of gradients: %s and the twins agree\n",
	    scaler ? "not " : "", lists, text);
	return !differences && !scaler;
}
