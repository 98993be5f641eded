/* SPDX-License-Identifier: Apache-2.0 */
/* tests/real/programs/conv_graph.c -- what cuDNN answers about a convolution:
 * conv_graph WAY DEVICE.json [key=value...]. One line per configuration:
 * engine, knobs, numerical notes (asked by count, and by a full array), and, of
 * the plan, its status, workspace and the engine its JSON names. plans=N ends
 * after N plans, ask=N asks for so many, repeat=N does everything N times and
 * prints the last; "/" begins another. op=matmul is a product of matrices
 * instead. */
#include "conv_answers.h"

struct question {
	struct wish wish;
	int64_t ask, plans, repeat;
};

/* All notes of one array that is too long, and what the call leaves alone. */
static void
print_notes(descriptor_t engine)
{
	cudnnBackendNumericalNote_t note[CUDNN_NUMERICAL_NOTE_TYPE_COUNT + 2];
	int64_t count = -1, told = -1;
	int status, touched = 0;

	status = (int)api.cudnnBackendGetAttribute(engine,
	    CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE, 0,
	    &told, NULL);
	printf(" count=%d:%" PRId64 " notes=%#x", status, told,
	    notes_by_count(engine));
	memset(note, 0x7f, sizeof note);
	status = (int)api.cudnnBackendGetAttribute(engine,
	    CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE,
	    CUDNN_NUMERICAL_NOTE_TYPE_COUNT, &count, note);
	printf(" array=%d:%" PRId64, status, count);
	for (int64_t i = 0; i < count; i++)
		printf("%c%d", i ? ',' : ':', (int)note[i]);
	for (int i = 0; i < CUDNN_NUMERICAL_NOTE_TYPE_COUNT + 2; i++)
		touched += (int)note[i] != 0x7f7f7f7f;
	printf(" written=%d", touched);
}

static void
print_plan(descriptor_t config, descriptor_t on)
{
	int status = 0;
	descriptor_t plan = plan_of(config, on, &status);

	printf(" plan=%d", status);
	if (plan)
		printf(" workspace=%" PRId64 " json=%" PRId64,
		    workspace_of(plan), engine_by_json(plan));
	destroy(plan);
}

/* C = A B of 512 x 512, which nobody takes for a convolution. */
static descriptor_t
product(const struct wish *wish)
{
	const int64_t size[3] = { 1, 512, 512 };
	struct wish plain = *wish;
	descriptor_t made = create(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
	descriptor_t how = create(CUDNN_BACKEND_MATMUL_DESCRIPTOR);
	descriptor_t of = create(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);

	plain.spatial = 1;
	plain.layout = "nchw";
	set(how, CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1,
	    &wish->compute);
	give(made, CUDNN_ATTR_OPERATION_MATMUL_DESC, finish(how));
	give(made, CUDNN_ATTR_OPERATION_MATMUL_ADESC,
	    tensor(&plain, size, 'a', wish->type, 0));
	give(made, CUDNN_ATTR_OPERATION_MATMUL_BDESC,
	    tensor(&plain, size, 'b', wish->type, 0));
	give(made, CUDNN_ATTR_OPERATION_MATMUL_CDESC,
	    tensor(&plain, size, 'c', wish->type, 0));
	give(of, CUDNN_ATTR_OPERATIONGRAPH_OPS, finish(made));
	return finish(of);
}

static int
answer(const struct question *question, descriptor_t on, int print)
{
	enum { ROOM = 256 };
	static descriptor_t config[ROOM];
	const struct wish *wish = &question->wish;
	descriptor_t of = strcmp(wish->op, "matmul")
	    ? graph(wish) : product(wish);
	descriptor_t heuristic = of ? heuristics(wish, of, on) : NULL;
	int64_t count = heuristic ? configurations(heuristic,
	    question->ask, config) : -1;

	if (print)
		printf("graph=%d heuristic=%d configs=%" PRId64 "\n",
		    of != NULL, heuristic != NULL, count);
	destroy(of);
	destroy(heuristic);
	for (int64_t i = 0; i < count; i++) {
		descriptor_t engine = print ? engine_of(config[i]) : NULL;
		struct knobs knobs;

		if (print) {
			printf("%" PRId64 " engine=%" PRId64, i,
			    index_of(engine));
			knobs_of(config[i], &knobs);
			knobs_print(&knobs);
			print_notes(engine);
			if (i < question->plans)
				print_plan(config[i], on);
			puts("");
		}
		destroy(engine);
		destroy(config[i]);
	}
	return count < 0;
}

int
main(int argc, char **argv)
{
	const struct question plain = { usual, 256, 256, 1 };
	struct question question = plain;
	descriptor_t on;

	if (argc < 3)
		return 99;
	reach(argv[1]);
	on = device(argv[2]);
	if (!on)
		return 77;
	for (int i = 3; i <= argc; i++)
		if (i == argc || !strcmp(argv[i], "/")) {
			while (--question.repeat > 0)
				answer(&question, on, 0);
			answer(&question, on, 1);
			question = plain;
		} else if (!strncmp(argv[i], "ask=", 4))
			question.ask = atoll(argv[i] + 4);
		else if (!strncmp(argv[i], "plans=", 6))
			question.plans = atoll(argv[i] + 6);
		else if (!strncmp(argv[i], "repeat=", 7))
			question.repeat = atoll(argv[i] + 7);
		else if (!wish_parse(&question.wish, argv[i]))
			return 99;
	destroy(on);
	return 0;
}
