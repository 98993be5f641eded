/* SPDX-License-Identifier: Apache-2.0 */
/* shim/conv/engine.c -- finding the engines of a rung (shim/conv/engine.h), and
 * remembering which they are. */
#include "shim/conv/engine.h"

#include "base/mapped.h"
#include "base/table.h"
#include "shim/conv/builder.h"

#include <string.h>

/* Of the probe's configurations, the first so many: all that cuDNN was seen to
 * name (24 to 40). One engine that the FP32 graph does not have may fill the
 * head of the list with its settings. */
enum { ASKED = 64 };
_Static_assert((int)ASKED < (int)AC_BUILDER_LIMIT, "one holds them all");

/* ---- One engine ---------------------------------------------------------- */

static bool
has_note(struct ac_provider *provider,
    cudnnBackendDescriptor_t engine, cudnnBackendNumericalNote_t note)
{
	cudnnBackendNumericalNote_t notes[64];
	struct ac_builder builder = { .provider = provider };
	const int64_t count = ac_builder_get(&builder, engine,
	    CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE,
	    64, notes);

	for (int64_t i = 0; i < count; i++)
		if (notes[i] == note)
			return true;
	return false;
}

static cudnnBackendDescriptor_t
make_engine(struct ac_builder *builder, cudnnBackendDescriptor_t graph,
    int64_t index)
{
	cudnnBackendDescriptor_t d = ac_builder_new(builder,
	    CUDNN_BACKEND_ENGINE_DESCRIPTOR);

	ac_builder_set(builder, d, CUDNN_ATTR_ENGINE_OPERATION_GRAPH,
	    CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &graph);
	ac_builder_set(builder, d, CUDNN_ATTR_ENGINE_GLOBAL_INDEX,
	    CUDNN_TYPE_INT64, 1, &index);
	ac_builder_finalize(builder, d);
	return d;
}

bool
ac_engine_configure(const struct ac_engine_device *device,
    cudnnBackendDescriptor_t graph, const struct ac_engine *engine,
    cudnnBackendDescriptor_t config)
{
	struct ac_builder builder = { .provider = device->provider };
	cudnnBackendDescriptor_t choice[AC_ENGINE_KNOBS];
	cudnnBackendDescriptor_t d = make_engine(&builder, graph,
	    engine->index);

	for (uint32_t i = 0; i < engine->knobs; i++) {
		const cudnnBackendKnobType_t type =
		    (cudnnBackendKnobType_t)engine->knob[i].type;

		choice[i] = ac_builder_new(&builder,
		    CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR);
		ac_builder_set(&builder, choice[i],
		    CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE, 1,
		    &type);
		ac_builder_set(&builder, choice[i],
		    CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, CUDNN_TYPE_INT64, 1,
		    &engine->knob[i].value);
		ac_builder_finalize(&builder, choice[i]);
	}
	ac_builder_set(&builder, config, CUDNN_ATTR_ENGINECFG_ENGINE,
	    CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &d);
	if (engine->knobs)
		ac_builder_set(&builder, config,
		    CUDNN_ATTR_ENGINECFG_KNOB_CHOICES,
		    CUDNN_TYPE_BACKEND_DESCRIPTOR, engine->knobs, choice);
	ac_builder_finalize(&builder, config);
	ac_builder_end(&builder, NULL);
	return !builder.is_refused;
}

/* Which engine a configuration is of, and how its knobs are set. How many there
 * are cannot be asked: a query without an array says none. */
static bool
read_config(struct ac_provider *provider, cudnnBackendDescriptor_t config,
    struct ac_engine *engine)
{
	struct ac_builder builder = { .provider = provider };
	cudnnBackendDescriptor_t choice[AC_ENGINE_KNOBS], d;

	memset(engine, 0, sizeof *engine);
	d = ac_builder_new(&builder, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
	for (unsigned i = 0; i < AC_ENGINE_KNOBS; i++)
		choice[i] = ac_builder_new(&builder,
		    CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR);
	ac_builder_get(&builder, config, CUDNN_ATTR_ENGINECFG_ENGINE,
	    CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &d);
	ac_builder_get(&builder, d, CUDNN_ATTR_ENGINE_GLOBAL_INDEX,
	    CUDNN_TYPE_INT64, 1, &engine->index);
	engine->knobs = (uint32_t)ac_builder_get(&builder, config,
	    CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, CUDNN_TYPE_BACKEND_DESCRIPTOR,
	    AC_ENGINE_KNOBS, choice);
	for (uint32_t i = 0; i < engine->knobs; i++) {
		cudnnBackendKnobType_t type = CUDNN_KNOB_TYPE_COUNTS;

		ac_builder_get(&builder, choice[i],
		    CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE, 1,
		    &type);
		ac_builder_get(&builder, choice[i],
		    CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, CUDNN_TYPE_INT64, 1,
		    &engine->knob[i].value);
		engine->knob[i].type = type;
	}
	ac_builder_end(&builder, NULL);
	/* A full array may have had more to hold. */
	return !builder.is_refused && engine->knobs < AC_ENGINE_KNOBS;
}

/* Whether the engine computes on the FP32 graph as `rung` says, and nothing
 * worse, and its knobs are legal there. */
static bool
is_accepted(const struct ac_engine_device *device,
    cudnnBackendDescriptor_t graph, const struct ac_engine *engine,
    enum ac_rung rung)
{
	struct ac_builder builder = { .provider = device->provider };
	cudnnBackendDescriptor_t d = make_engine(&builder, graph,
	    engine->index);
	bool is_good = !builder.is_refused
	    && has_note(device->provider, d,
		CUDNN_NUMERICAL_NOTE_TENSOR_CORE)
	    && has_note(device->provider, d,
		CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS)
	    == (rung == AC_RUNG_FP16)
	    && !has_note(device->provider, d,
		CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION)
	    && !has_note(device->provider, d,
		CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC);

	if (is_good) {
		d = ac_builder_new(&builder,
		    CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
		is_good = d && ac_engine_configure(device, graph, engine, d);
	}
	ac_builder_end(&builder, NULL);
	return is_good;
}

static cudnnBackendDescriptor_t
ask_heuristics(struct ac_builder *builder, cudnnBackendDescriptor_t graph)
{
	const cudnnBackendHeurMode_t mode = CUDNN_HEUR_MODE_A;
	cudnnBackendDescriptor_t d = ac_builder_new(builder,
	    CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);

	ac_builder_set(builder, d, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH,
	    CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &graph);
	ac_builder_set(builder, d, CUDNN_ATTR_ENGINEHEUR_MODE,
	    CUDNN_TYPE_HEUR_MODE, 1, &mode);
	ac_builder_finalize(builder, d);
	return d;
}

/* ---- A plan's own -------------------------------------------------------- */

/* The ENGINE of what has its ENGINECFG as `name`. */
static cudnnBackendDescriptor_t
engine_under(struct ac_builder *builder, cudnnBackendDescriptor_t parent,
    cudnnBackendAttributeName_t name, cudnnBackendDescriptor_t *config_out)
{
	cudnnBackendDescriptor_t engine = ac_builder_new(builder,
	    CUDNN_BACKEND_ENGINE_DESCRIPTOR);

	*config_out = ac_builder_new(builder,
	    CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
	ac_builder_get(builder, parent, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1,
	    config_out);
	ac_builder_get(builder, *config_out, CUDNN_ATTR_ENGINECFG_ENGINE,
	    CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &engine);
	return engine;
}

bool
ac_engine_of_plan(struct ac_provider *provider, cudnnBackendDescriptor_t plan,
    struct ac_engine *engine_out, bool *on_tensor_cores_out)
{
	struct ac_builder builder = { .provider = provider };
	cudnnBackendDescriptor_t config, engine = engine_under(&builder, plan,
	    CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, &config);
	bool is_read = !builder.is_refused
	    && read_config(provider, config, engine_out);

	if (is_read)
		*on_tensor_cores_out = has_note(provider, engine,
		    CUDNN_NUMERICAL_NOTE_TENSOR_CORE);
	ac_builder_end(&builder, NULL);
	return is_read;
}

bool
ac_engine_is_first_on_tensor_cores(struct ac_provider *provider,
    cudnnBackendDescriptor_t plan)
{
	struct ac_builder builder = { .provider = provider };
	cudnnBackendDescriptor_t asked, config, engine = engine_under(&builder,
	    plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, &config);
	cudnnBackendDescriptor_t graph = ac_builder_new(&builder,
	    CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
	bool is_there;

	ac_builder_get(&builder, engine, CUDNN_ATTR_ENGINE_OPERATION_GRAPH,
	    CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &graph);
	asked = ask_heuristics(&builder, graph);
	engine = engine_under(&builder, asked, CUDNN_ATTR_ENGINEHEUR_RESULTS,
	    &config);
	is_there = builder.is_refused || has_note(provider, engine,
	    CUDNN_NUMERICAL_NOTE_TENSOR_CORE);
	ac_builder_end(&builder, NULL);
	return is_there;
}

/* ---- All of them --------------------------------------------------------- */

/* Ask about `shown`, for engines of `graph`. */
static void
ask(const struct ac_engine_question *question, cudnnBackendDescriptor_t shown,
    cudnnBackendDescriptor_t graph, struct ac_engines *engines)
{
	const struct ac_engine_device *device = &question->device;
	struct ac_builder builder = { .provider = device->provider };
	cudnnBackendDescriptor_t config[ASKED];
	const cudnnBackendDescriptor_t d = ask_heuristics(&builder, shown);
	int64_t count;

	for (unsigned i = 0; i < ASKED; i++)
		config[i] = ac_builder_new(&builder,
		    CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
	count = ac_builder_get(&builder, d, CUDNN_ATTR_ENGINEHEUR_RESULTS,
	    CUDNN_TYPE_BACKEND_DESCRIPTOR, ASKED, config);
	for (int64_t i = 0; i < count && engines->count < AC_ENGINES; i++) {
		struct ac_engine *engine = &engines->engine[engines->count];

		if (read_config(device->provider, config[i], engine)
		    && is_accepted(device, graph, engine, question->rung))
			engines->count++;
	}
	ac_builder_end(&builder, NULL);
}

static void
find(const struct ac_engine_question *question, cudnnBackendDescriptor_t graph,
    struct ac_engines *engines)
{
	struct ac_builder builder = { .provider = question->device.provider };
	cudnnBackendDescriptor_t probe;

	memset(engines, 0, sizeof *engines);
	if (question->rung == AC_RUNG_TF32) {
		ask(question, graph, graph, engines);
		return;
	}
	probe = ac_engine_graph(&question->device, question->conv,
	    CUDNN_DATA_HALF);
	if (!probe)
		return;
	ask(question, probe, graph, engines);
	builder.made[builder.count++] = probe;
	ac_builder_end(&builder, NULL);
}

/* ---- Remembered ---------------------------------------------------------- */

struct key {
	uint64_t device, version;
	uint64_t provider;
	uint32_t rung, reserved;
	struct ac_conv conv;    /* with neither unique ids */
};

struct node {
	struct ac_table_entry entry;
	struct key key;
	struct ac_engines engines;
};

/* What finds no room is asked again each time. */
enum { BITS = 13 };
static ac_table_slot slots[1 << BITS];
static struct ac_table nodes = { slots, BITS, 1 << (BITS - 1), 0 };

static void
make_key(const struct ac_engine_question *question, struct key *key)
{
	__typeof__(&cudnnGetVersion) get_version =
	    PROVIDER(question->device.provider, cudnnGetVersion);

	memset(key, 0, sizeof *key);
	key->device = question->key;
	key->version = get_version ? get_version() : 0;
	key->provider = (uintptr_t)question->device.provider;
	key->rung = (uint32_t)question->rung;
	memcpy(&key->conv, question->conv, sizeof key->conv);
	key->conv.x.uid = key->conv.w.uid = key->conv.y.uid = 0;
	for (unsigned i = 0; i < AC_CONV_STEPS; i++)
		key->conv.step[i].other.uid = key->conv.step[i].out.uid = 0;
}

/* Of two threads that ask together one remembers. */
static void
remember(ac_table_slot *slot, uint64_t hash, const struct key *key,
    const struct ac_engines *engines)
{
	struct node *node = ac_mapped_take(sizeof *node);

	if (!node)
		return;
	node->entry.hash = hash;
	node->key = *key;
	node->engines = *engines;
	(void)ac_table_put(&nodes, slot, NULL, &node->entry);
}

unsigned
ac_engine_find(const struct ac_engine_question *question,
    cudnnBackendDescriptor_t graph, struct ac_engines *engines_out)
{
	struct ac_table_entry *there;
	ac_table_slot *slot;
	struct key key;
	uint64_t hash;

	_Static_assert(sizeof key % sizeof hash == 0 && offsetof(struct node,
	    key) == sizeof(struct ac_table_entry), "as the table wants it");
	if (!question->key) {
		find(question, graph, engines_out);
		return engines_out->count;
	}
	make_key(question, &key);
	hash = ac_table_hash(&key, sizeof key);
	slot = ac_table_find(&nodes, hash, &key, sizeof key, &there);
	if (there) {
		*engines_out = ((const struct node *)there)->engines;
	} else {
		find(question, graph, engines_out);
		/* cuDNN may have some the next time. */
		if (slot && engines_out->count)
			remember(slot, hash, &key, engines_out);
	}
	return engines_out->count;
}
