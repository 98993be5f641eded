/* SPDX-License-Identifier: Apache-2.0 */
/* tests/real/programs/conv_table.c -- twenty layers, three operations, two
 * layouts: conv_table WAY DEVICE.json first|twin|ours [STEP]. A line each:
 * `first` prints the first configuration that cuDNN names for the FP32 graph;
 * `ours`, built with -DENGINE_ROOM, what shim/conv/engine.c finds first;
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

#ifdef ENGINE_ROOM
#include "shim/conv/engine.h"
#include "shim/conv/builder.h"

#include <assert.h>

static struct { descriptor_t made; int type; } made[1 << 20];
static int made_count;
static descriptor_t described;

static cudnnStatus_t
create_noted(cudnnBackendDescriptorType_t type, descriptor_t *out)
{
	const cudnnStatus_t status = api.cudnnBackendCreateDescriptor(type,
	    out);

	assert(made_count < 1 << 20);
	made[made_count].made = *out;
	made[made_count++].type = (int)type;
	return status;
}

/* Engines are those of the device that is described. */
static cudnnStatus_t
finalize_described(descriptor_t d)
{
	int i = made_count - 1;

	while (i >= 0 && made[i].made != d)
		i--;
	if (made[i].type == CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR)
		set_descriptor(d, CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, described);
	if (made[i].type == CUDNN_BACKEND_ENGINE_DESCRIPTOR)
		set_descriptor(d, CUDNN_ATTR_ENGINE_DEVICEPROP, described);
	return api.cudnnBackendFinalize(d);
}

static cudnnStatus_t
set_but_handles(descriptor_t d, cudnnBackendAttributeName_t name,
    cudnnBackendAttributeType_t type, int64_t count, const void *values)
{
	return type == CUDNN_TYPE_HANDLE ? CUDNN_STATUS_SUCCESS
	    : api.cudnnBackendSetAttribute(d, name, type, count, values);
}

ac_fn
ac_provider_look_up(struct ac_provider *of, enum ac_entry entry)
{
	return NULL;
}

static void
fill(struct ac_conv_tensor *tensor, const struct wish *wish,
    const int64_t *size, int64_t uid)
{
	const _Bool last = !strcmp(wish->layout, "nhwc");
	int64_t step = last ? size[1] : 1;

	tensor->uid = uid;
	tensor->dims = 4;
	tensor->type = CUDNN_DATA_FLOAT;
	tensor->alignment = wish->alignment;
	for (int i = 3; i >= 0; i--) {
		tensor->dim[i] = size[i];
		tensor->stride[i] = last && i == 1 ? 1 : step;
		step *= last && i == 1 ? 1 : size[i];
	}
}

static void
print_ours(const struct wish *wish, descriptor_t on)
{
	static struct ac_provider provider;
	struct ac_conv conv;
	const struct ac_engine_question question = {
		.device.provider = &provider, .conv = &conv,
		.rung = AC_RUNG_FP16
	};
	descriptor_t of = graph(wish);
	struct ac_engines engines;
	int64_t x[5], w[5], y[5];

	provider.real[ENTRY_cudnnBackendCreateDescriptor] =
	    (ac_fn)create_noted;
	provider.real[ENTRY_cudnnBackendSetAttribute] = (ac_fn)set_but_handles;
	provider.real[ENTRY_cudnnBackendFinalize] = (ac_fn)finalize_described;
	provider.real[ENTRY_cudnnBackendGetAttribute] =
	    (ac_fn)api.cudnnBackendGetAttribute;
	provider.real[ENTRY_cudnnBackendDestroyDescriptor] =
	    (ac_fn)api.cudnnBackendDestroyDescriptor;
	described = on;
	made_count = 0;
	memset(&conv, 0, sizeof conv);
	sizes(wish, x, w, y);
	fill(&conv.x, wish, x, 'x');
	fill(&conv.w, wish, w, 'w');
	fill(&conv.y, wish, y, 'y');
	conv.operation = AC_OP_CONV_FPROP + (*wish->op == 'd' ? 1
	    : *wish->op == 'w' ? 2 : 0);
	conv.space = 2;
	conv.mode = CUDNN_CROSS_CORRELATION;
	conv.type = CUDNN_DATA_FLOAT;
	conv.scalars.alpha = 1;
	for (int i = 0; i < 2; i++) {
		conv.pad[i] = conv.post_pad[i] = wish->pad;
		conv.stride[i] = wish->stride;
		conv.dilation[i] = wish->dilation;
	}
	if (ac_engine_find(&question, of, &engines)) {
		printf(" engine=%" PRId64 " knobs", engines.engine[0].index);
		for (uint32_t i = 0; i < engines.engine[0].knobs; i++)
			printf("%c%d:%" PRId64, i ? ',' : '=',
			    (int)engines.engine[0].knob[i].type,
			    engines.engine[0].knob[i].value);
	}
	destroy(of);
}
#else
#define print_ours print_first
#endif

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
		(*argv[3] == 'f' ? print_first : *argv[3] == 'o' ? print_ours
		    : print_twin)(&wish, on);
		puts("");
	}
	destroy(on);
	return 0;
}
