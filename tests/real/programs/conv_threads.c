/* SPDX-License-Identifier: Apache-2.0 */
/* tests/real/programs/conv_threads.c -- eight threads that build graphs of
 * convolutions at once, each its own sizes over and over, so that descriptors
 * are made where others were destroyed: conv_threads WAY DEVICE.json ROUNDS
 * THREADS. Prints, for each thread, its answers, and how many rounds had
 * another answer than the first. */
#include "conv_answers.h"

#include <pthread.h>

enum { THREADS = 8, ROOM = 6 };

static descriptor_t on;
static int rounds;

static struct work {
	pthread_t thread;
	int number;
	char first[4096];
	int others;
} works[THREADS];

static void
answer(int number, char *text, size_t room)
{
	struct wish wish = usual;
	descriptor_t config[ROOM], of, heuristic;
	int64_t count;
	size_t used = 0;

	wish.c = 64 + 32 * number;
	wish.op = number % 3 == 0 ? "fprop" :
	    number % 3 == 1	  ? "dgrad" :
				    "wgrad";
	wish.layout = number % 2 ? "nhwc" : "nchw";
	wish.beta = number == 7;
	of = graph(&wish);
	heuristic = heuristics(&wish, of, on);
	destroy(of);
	count = configurations(heuristic, number % 2 ? 1 : ROOM, config);
	destroy(heuristic);
	*text = 0;
	for (int64_t i = 0; i < count; i++) {
		descriptor_t engine = engine_of(config[i]);
		int status = 0;
		descriptor_t plan = plan_of(config[i], on, &status);

		used += (size_t)snprintf(text + used, room - used,
		    " %" PRId64 ":%#x:%d:%" PRId64, index_of(engine),
		    notes_by_count(engine), status,
		    plan ? workspace_of(plan) : -1);
		destroy(plan);
		destroy(engine);
		destroy(config[i]);
	}
}

static void *
run(void *argument)
{
	struct work *work = argument;
	char text[sizeof work->first];

	answer(work->number, work->first, sizeof work->first);
	for (int i = 1; i < rounds; i++) {
		answer(work->number, text, sizeof text);
		work->others += strcmp(text, work->first) != 0;
	}
	return NULL;
}

int
main(int argc, char **argv)
{
	int threads;

	if (argc < 5)
		return 99;
	reach(argv[1]);
	on = device(argv[2]);
	if (!on)
		return 77;
	rounds = atoi(argv[3]);
	threads = atoi(argv[4]);
	for (int i = 0; i < THREADS; i++) {
		works[i].number = i;
		if (threads == 1)
			run(&works[i]);
		else if (pthread_create(&works[i].thread, NULL, run, &works[i]))
			return 98;
	}
	for (int i = 0; i < THREADS; i++) {
		if (threads > 1)
			pthread_join(works[i].thread, NULL);
		printf("%d%s others %d\n", i, works[i].first, works[i].others);
	}
	destroy(on);
	return 0;
}
