/* SPDX-License-Identifier: Apache-2.0 */
/* tests/real/programs/conv_replay.c -- a program that stores what it chose:
 * conv_replay WAY DEVICE.json store|load FILE [key=value...]. store takes, as a
 * frontend does, the first plan whose engine is not noted DOWN_CONVERT_INPUTS,
 * and writes the engine with its knobs to FILE, the plan's JSON to FILE.json;
 * load makes plans of them without a heuristic. Prints what they are. */
#include "conv_answers.h"

static void
print(const char *what, descriptor_t plan, int status, unsigned notes)
{
	printf("%s status=%d json=%" PRId64 " notes=%#x\n", what, status,
	    plan ? engine_by_json(plan) : -1, notes);
}

static unsigned
notes_of(descriptor_t config)
{
	descriptor_t engine = engine_of(config);
	const unsigned notes = notes_by_count(engine);

	destroy(engine);
	return notes;
}

static void
write_file(const char *path, const void *bytes, size_t count)
{
	FILE *file = fopen(path, "wb");

	if (!file || fwrite(bytes, 1, count, file) != count || fclose(file))
		exit(98);
}

static size_t
read_file(const char *path, void *bytes, size_t room)
{
	FILE *file = fopen(path, "rb");
	const size_t count = file ? fread(bytes, 1, room, file) : 0;

	if (!count || fclose(file))
		exit(98);
	return count;
}

static void
store(const struct wish *wish, descriptor_t of, descriptor_t on,
    const char *path, const char *json_path)
{
	enum { ROOM = 64 };
	descriptor_t config[ROOM], heuristic = heuristics(wish, of, on);
	const int64_t count = configurations(heuristic, ROOM, config);

	for (int64_t i = 0; i < count; i++) {
		const unsigned notes = notes_of(config[i]);
		descriptor_t engine = engine_of(config[i]), plan = NULL;
		struct choice choice = { .engine = index_of(engine) };
		int64_t length = 0;
		int status = 0;
		char *json;

		destroy(engine);
		if (!(notes & 1u << CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS))
			plan = plan_of(config[i], on, &status);
		if (!plan)
			continue;
		knobs_of(config[i], &choice.knobs);
		print("stored", plan, status, notes);
		json = json_of(plan, &length);
		write_file(path, &choice, sizeof choice);
		write_file(json_path, json ? json : "", (size_t)length);
		free(json);
		return;
	}
}

static void
load(descriptor_t of, descriptor_t on, const char *path, const char *json_path)
{
	static char json[1 << 18];
	descriptor_t plan = NULL, config;
	struct choice choice;
	int status = 0;
	size_t length;

	read_file(path, &choice, sizeof choice);
	config = configure(of, on, &choice);
	if (config)
		plan = plan_of(config, on, &status);
	print("configured", plan, status, config ? notes_of(config) : 0);
	destroy(plan);
	length = read_file(json_path, json, sizeof json);
	plan = create(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
	set_descriptor(plan, CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, on);
	status = set(plan, CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION,
	    CUDNN_TYPE_CHAR, (int64_t)length, json);
	if (!status)
		status = (int)api.cudnnBackendFinalize(plan);
	print("deserialized", plan, status, 0);
}

int
main(int argc, char **argv)
{
	struct wish wish = usual;
	char json_path[256];
	descriptor_t on, of;

	if (argc < 5)
		return 99;
	reach(argv[1]);
	on = device(argv[2]);
	if (!on)
		return 77;
	for (int i = 5; i < argc; i++)
		if (!wish_parse(&wish, argv[i]))
			return 99;
	of = graph(&wish);
	snprintf(json_path, sizeof json_path, "%s.json", argv[4]);
	if (!strcmp(argv[3], "store"))
		store(&wish, of, on, argv[4], json_path);
	else
		load(of, on, argv[4], json_path);
	return 0;
}
