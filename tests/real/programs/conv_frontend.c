/* SPDX-License-Identifier: Apache-2.0 */
/* tests/real/programs/conv_frontend.c -- a program in the shape of
 * cudnn-frontend under PyTorch: conv_frontend WAY DEVICE.json [key=value...].
 * It asks each heuristic in turn, drops whatever is noted
 * DOWN_CONVERT_INPUTS (with strict=1, TENSOR_CORE too), and takes the first
 * plan that can be made. Prints which that is. */
#include "conv_answers.h"

int
main(int argc, char **argv)
{
	enum { ROOM = 128 };
	static descriptor_t config[ROOM];
	struct wish wish = usual;
	unsigned banned = 1u << CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS;
	int dropped = 0, failed = 0;
	descriptor_t on, of, heuristic, plan = NULL;

	if (argc < 3)
		return 99;
	reach(argv[1]);
	on = device(argv[2]);
	if (!on)
		return 77;
	for (int i = 3; i < argc; i++)
		if (!strcmp(argv[i], "strict=1"))
			banned |= 1u << CUDNN_NUMERICAL_NOTE_TENSOR_CORE;
		else if (!wish_parse(&wish, argv[i]))
			return 99;
	of = graph(&wish);
	for (int mode = 0; mode < 2 && !plan; mode++) {
		int64_t count;

		wish.mode = mode ? CUDNN_HEUR_MODE_FALLBACK
		    : CUDNN_HEUR_MODE_INSTANT;
		heuristic = heuristics(&wish, of, on);
		count = configurations(heuristic, ROOM, config);
		destroy(heuristic);
		for (int64_t i = 0; i < count; i++) {
			descriptor_t engine = engine_of(config[i]);
			const unsigned notes = notes_by_count(engine);
			int status = 0;

			if (plan || notes & banned)
				dropped += !plan;
			else if ((plan = plan_of(config[i], on, &status)))
				printf("engine=%" PRId64 " json=%" PRId64
				       " notes=%#x workspace=%" PRId64 "\n",
				    index_of(engine), engine_by_json(plan),
				    notes, workspace_of(plan));
			else
				failed++;
			destroy(engine);
			destroy(config[i]);
		}
	}
	printf("dropped=%d failed=%d\n", dropped, failed);
	destroy(plan);
	destroy(of);
	destroy(on);
	return 0;
}
