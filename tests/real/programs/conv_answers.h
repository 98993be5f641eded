/* SPDX-License-Identifier: Apache-2.0 */
/* tests/real/programs/conv_answers.h -- for the clients here: what cuDNN
 * answers about a graph: configurations, engines, notes, knobs, plans. */
#ifndef TESTS_REAL_CONV_ANSWERS_H
#define TESTS_REAL_CONV_ANSWERS_H

#include "conv_describe.h"

static inline descriptor_t
heuristics(const struct wish *wish, descriptor_t of, descriptor_t on)
{
	descriptor_t made = create(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
	const int32_t processors = (int32_t)wish->sm_count;

	set_descriptor(made, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, of);
	set(made, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1,
	    &wish->mode);
	set_descriptor(made, CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, on);
	if (processors)
		set(made, CUDNN_ATTR_ENGINEHEUR_SM_COUNT_TARGET,
		    CUDNN_TYPE_INT32, 1, &processors);
	return finish(made);
}

/* At most `room` configurations into descriptors made here. Returns how many
 * cuDNN says it filled; those beyond are destroyed. */
static inline int64_t
configurations(descriptor_t heuristic, int64_t room, descriptor_t *configs)
{
	int64_t count = 0;
	int status;

	for (int64_t i = 0; i < room; i++)
		configs[i] = create(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
	status = (int)api.cudnnBackendGetAttribute(heuristic,
	    CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, room,
	    &count, configs);
	if (status)
		count = 0;
	for (int64_t i = count; i < room; i++)
		destroy(configs[i]);
	return count > room ? -count : count;
}

/* The engine of a configuration: a descriptor of the caller's. */
static inline descriptor_t
engine_of(descriptor_t config)
{
	descriptor_t engine = create(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
	int64_t count = 0;

	if (!api.cudnnBackendGetAttribute(config, CUDNN_ATTR_ENGINECFG_ENGINE,
	    CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &count, &engine) && count == 1)
		return engine;
	destroy(engine);
	return NULL;
}

static inline int64_t
index_of(descriptor_t engine)
{
	int64_t index = -1, count = 0;

	api.cudnnBackendGetAttribute(engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX,
	    CUDNN_TYPE_INT64, 1, &count, &index);
	return index;
}

/* The numerical notes as bits: the count first, then as many as it says. */
static inline unsigned
notes_by_count(descriptor_t engine)
{
	cudnnBackendNumericalNote_t note[CUDNN_NUMERICAL_NOTE_TYPE_COUNT];
	int64_t count = 0, found = 0;
	unsigned bits = 0;

	if (api.cudnnBackendGetAttribute(engine,
		CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE,
		CUDNN_NUMERICAL_NOTE_TYPE_COUNT, &count, NULL) ||
	    count > CUDNN_NUMERICAL_NOTE_TYPE_COUNT)
		return 0;
	memset(note, 0x7f, sizeof note);
	if (count)
		api.cudnnBackendGetAttribute(engine,
		    CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE,
		    count, &found, note);
	for (int64_t i = 0; i < count; i++)
		bits |= (unsigned)note[i] < 31 ? 1u << note[i] : 1u << 31;
	return bits;
}

/* The same by an array that is long enough, as programs do that count what they
 * get; a bit more if there is more or less than notes_by_count() has. */
static inline unsigned
notes_by_array(descriptor_t engine)
{
	enum { ROOM = CUDNN_NUMERICAL_NOTE_TYPE_COUNT + 2 };
	cudnnBackendNumericalNote_t note[ROOM];
	int64_t count = -1;
	unsigned bits = 0;

	memset(note, 0x7f, sizeof note);
	if (api.cudnnBackendGetAttribute(engine,
		CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE,
		ROOM, &count, note) ||
	    count > ROOM)
		return 1u << 30;
	for (int64_t i = 0; i < count; i++)
		bits |= (unsigned)note[i] < 30 ? 1u << note[i] : 1u << 30;
	return bits;
}

enum { CONV_KNOBS = 32 };

struct knobs {
	int64_t count;
	struct {
		cudnnBackendKnobType_t type;
		int64_t value;
	} of[CONV_KNOBS];
};

/* How the knobs of a configuration are set. A count of 0 would say none. */
static inline void
knobs_of(descriptor_t config, struct knobs *knobs_out)
{
	descriptor_t choice[CONV_KNOBS];
	int64_t one = 0;

	memset(knobs_out, 0, sizeof *knobs_out);
	for (int i = 0; i < CONV_KNOBS; i++)
		choice[i] = create(CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR);
	if (api.cudnnBackendGetAttribute(config,
	    CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, CUDNN_TYPE_BACKEND_DESCRIPTOR,
	    CONV_KNOBS, &knobs_out->count, choice) ||
	    knobs_out->count > CONV_KNOBS)
		knobs_out->count = 0;
	for (int64_t i = 0; i < knobs_out->count; i++) {
		api.cudnnBackendGetAttribute(choice[i],
		    CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE, 1,
		    &one, &knobs_out->of[i].type);
		api.cudnnBackendGetAttribute(choice[i],
		    CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, CUDNN_TYPE_INT64, 1,
		    &one, &knobs_out->of[i].value);
	}
	for (int i = 0; i < CONV_KNOBS; i++)
		destroy(choice[i]);
}

static inline void
knobs_print(const struct knobs *knobs)
{
	printf(" knobs");
	for (int64_t i = 0; i < knobs->count; i++)
		printf("%c%d:%" PRId64, i ? ',' : '=', (int)knobs->of[i].type,
		    knobs->of[i].value);
}

/* What is left of a configuration when it is stored. */
struct choice {
	int64_t engine;
	struct knobs knobs;
};

/* A configuration of that engine; NULL if there is none such. */
static inline descriptor_t
configure(descriptor_t of, descriptor_t on, const struct choice *choice)
{
	descriptor_t engine = create(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
	descriptor_t config = create(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
	descriptor_t knob[CONV_KNOBS];
	int64_t i;

	set_descriptor(engine, CUDNN_ATTR_ENGINE_OPERATION_GRAPH, of);
	set_int(engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, choice->engine);
	set_descriptor(engine, CUDNN_ATTR_ENGINE_DEVICEPROP, on);
	give(config, CUDNN_ATTR_ENGINECFG_ENGINE, finish(engine));
	for (i = 0; i < choice->knobs.count; i++) {
		knob[i] = create(CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR);
		set(knob[i], CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE,
		    CUDNN_TYPE_KNOB_TYPE, 1, &choice->knobs.of[i].type);
		set_int(knob[i], CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE,
		    choice->knobs.of[i].value);
		knob[i] = finish(knob[i]);
	}
	set(config, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES,
	    CUDNN_TYPE_BACKEND_DESCRIPTOR, choice->knobs.count, knob);
	while (i-- > 0)
		destroy(knob[i]);
	return finish(config);
}

/* The plan of a configuration, or NULL and why not. */
static inline descriptor_t
plan_of(descriptor_t config, descriptor_t on, int *status_out)
{
	descriptor_t plan = create(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);

	set_descriptor(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config);
	set_descriptor(plan, CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, on);
	*status_out = (int)api.cudnnBackendFinalize(plan);
	if (!*status_out)
		return plan;
	destroy(plan);
	return NULL;
}

static inline int64_t
workspace_of(descriptor_t plan)
{
	int64_t size = -1, count = 0;

	api.cudnnBackendGetAttribute(plan,
	    CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1,
	    &count, &size);
	return size;
}

/* A plan as JSON, to be freed; *length_out with the final 0. NULL: none. */
static inline char *
json_of(descriptor_t plan, int64_t *length_out)
{
	enum { ROOM = 1 << 18 };
	char *text = calloc(1, ROOM);

	if (text && !api.cudnnBackendGetAttribute(plan,
	    CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION, CUDNN_TYPE_CHAR,
	    ROOM - 1, length_out, text))
		return text;
	free(text);
	return NULL;
}

/* The engine that a plan's JSON names; -1: none. */
static inline int64_t
engine_by_json(descriptor_t plan)
{
	int64_t length = 0, engine = -1;
	char *text = json_of(plan, &length);
	const char *at = text ? strstr(text, "\"engineId\":") : NULL;

	if (at)
		engine = atoll(at + strlen("\"engineId\":"));
	free(text);
	return engine;
}

#endif
