/* SPDX-License-Identifier: Apache-2.0 */
/* tests/real/programs/conv_table.c -- twenty layers, three operations, two
 * layouts: conv_table WAY DEVICE.json first|twin [STEP]. A line each:
 * `first` prints the first configuration that cuDNN names for the FP32 graph;
 * `twin` maps those of the FP16 graph to the FP32 graph: the first that is
 * noted DOWN_CONVERT_INPUTS and neither REDUCED_PRECISION_REDUCTION nor
 * NONDETERMINISTIC, its rank, and the notes of the very first. Only every
 * STEP-th. */
#include "conv_answers.h"

static const struct layer {
	int64_t n, c, h, k, filter, pad, stride, groups;
} layers[] = {
	{ 32,    3, 224,   64, 7, 3, 2,  1 },   /* ResNet-50 */
	{ 32,   64,  56,   64, 1, 0, 1,  1 },
	{ 32,   64,  56,   64, 3, 1, 1,  1 },
	{ 32,   64,  56,  256, 1, 0, 1,  1 },
	{ 32,  256,  56,  128, 1, 0, 1,  1 },
	{ 32,  128,  56,  128, 3, 1, 2,  1 },
	{ 32,  128,  28,  128, 3, 1, 1,  1 },
	{ 32,  256,  56,  512, 1, 0, 2,  1 },
	{ 32,  256,  28,  256, 3, 1, 2,  1 },
	{ 32,  256,  14,  256, 3, 1, 1,  1 },
	{ 32, 1024,  14,  256, 1, 0, 1,  1 },
	{ 32,  512,   7,  512, 3, 1, 1,  1 },
	{ 32,  512,   7, 2048, 1, 0, 1,  1 },
	{ 16,   64, 224,   64, 3, 1, 1,  1 },   /* VGG */
	{ 16,  128, 112,  128, 3, 1, 1,  1 },
	{ 16,  512,  28,  512, 3, 1, 1,  1 },
	{  2,  320,  64,  320, 3, 1, 1,  1 },   /* a diffusion model */
	{  2,  640,  32,  640, 3, 1, 1,  1 },
	{  2, 1280,  16, 1280, 3, 1, 1,  1 },
	{ 32,  256,  28,  256, 3, 1, 1, 32 },   /* in groups */
};

static void
print_config(descriptor_t config)
{
	descriptor_t engine = engine_of(config);
	struct knobs knobs;

	knobs_of(config, &knobs);
	printf(" engine=%" PRId64, index_of(engine));
	knobs_print(&knobs);
	destroy(engine);
}

static void
print_first(const struct wish *wish, descriptor_t on)
{
	descriptor_t of = graph(wish), config = NULL;
	descriptor_t heuristic = heuristics(wish, of, on);

	if (configurations(heuristic, 1, &config) == 1) {
		print_config(config);
		destroy(config);
	}
	destroy(heuristic);
	destroy(of);
}

/* The configuration `like` for the graph `of`, if that is a good one; and the
 * notes of its engine there, 0 if there is none. */
static descriptor_t
mapped(descriptor_t of, descriptor_t on, descriptor_t like,
    unsigned *notes_out)
{
	const unsigned wanted = 1u << CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS,
	    banned = 1u << CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION
	    | 1u << CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC;
	descriptor_t model = engine_of(like), choice[CONV_KNOBS], config = NULL;
	descriptor_t engine = create(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
	struct knobs knobs;
	unsigned notes;

	set_descriptor(engine, CUDNN_ATTR_ENGINE_OPERATION_GRAPH, of);
	set_descriptor(engine, CUDNN_ATTR_ENGINE_DEVICEPROP, on);
	set_int(engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, index_of(model));
	destroy(model);
	engine = finish(engine);
	notes = engine ? notes_by_count(engine) : 0;
	*notes_out = notes;
	if (notes & wanted && !(notes & banned)) {
		config = create(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
		set_descriptor(config, CUDNN_ATTR_ENGINECFG_ENGINE, engine);
		knobs_of(like, &knobs);
		for (int64_t i = 0; i < knobs.count; i++) {
			choice[i] =
			    create(CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR);
			set(choice[i], CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE,
			    CUDNN_TYPE_KNOB_TYPE, 1, &knobs.of[i].type);
			set_int(choice[i], CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE,
			    knobs.of[i].value);
			choice[i] = finish(choice[i]);
		}
		set(config, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES,
		    CUDNN_TYPE_BACKEND_DESCRIPTOR, knobs.count, choice);
		for (int64_t i = 0; i < knobs.count; i++)
			destroy(choice[i]);
		config = finish(config);
	}
	destroy(engine);
	return config;
}

static void
print_twin(const struct wish *wish, descriptor_t on)
{
	enum { ROOM = 64 };
	struct wish half = *wish;
	descriptor_t of = graph(wish), like[ROOM], twin, heuristic,
		     config = NULL;
	int64_t count, rank = -1;
	unsigned notes, first = 0;

	half.type = CUDNN_DATA_HALF;
	twin = graph(&half);
	heuristic = heuristics(&half, twin, on);
	count = configurations(heuristic, ROOM, like);
	for (int64_t i = 0; i < count; i++) {
		if (!config && (config = mapped(of, on, like[i], &notes)))
			rank = i + 1;
		if (!i)
			first = notes;
		destroy(like[i]);
	}
	if (config)
		print_config(config);
	printf(" first=%#x rank=%" PRId64, first, rank);
	destroy(config);
	destroy(heuristic);
	destroy(twin);
	destroy(of);
}

int
main(int argc, char **argv)
{
	static const char *const ops[] = { "fprop", "dgrad", "wgrad" };
	static const char *const layouts[] = { "nchw", "nhwc" };
	const int every = argc > 4 ? atoi(argv[4]) : 1;
	descriptor_t on;

	if (argc < 4 || every < 1)
		return 99;
	reach(argv[1]);
	on = device(argv[2]);
	if (!on)
		return 77;
	for (int i = 0; i < 120; i += every) {
		const struct layer *layer = &layers[i / 6];
		struct wish wish = usual;

		wish.op = ops[i % 3];
		wish.layout = layouts[i / 3 % 2];
		wish.n = layer->n;
		wish.c = layer->c;
		wish.h = wish.w = layer->h;
		wish.k = layer->k;
		wish.filter = layer->filter;
		wish.pad = layer->pad;
		wish.stride = layer->stride;
		wish.groups = layer->groups;
		printf("%d %s %s", i / 6, wish.op, wish.layout);
		(*argv[3] == 'f' ? print_first : print_twin)(&wish, on);
		puts("");
	}
	destroy(on);
	return 0;
}
