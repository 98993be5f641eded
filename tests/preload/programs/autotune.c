/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/autotune.c -- a program in the shape of XLA: autotune
 * tune FILE [key=value...] runs every configuration that the heuristics name,
 * but for those noted DOWN_CONVERT_INPUTS, compares what each leaves with what
 * the last one leaves, keeps the fastest that is as near as tolerance=T (2e-2),
 * stores its engine and knobs, and runs that rounds=COUNT (3) times. autotune
 * replay FILE runs what is stored so often without asking anybody; autotune
 * threads COUNT tunes in so many threads at once, again and again, and stores
 * nothing. A line per configuration: engine, notes, the distance by the root of
 * the sum of squares, a hash of the output's bits; and one for each handle that
 * has the address of the thread's last one. */
#include "tests/real/programs/conv_answers.h"

#include <cuda_runtime_api.h>

#include <math.h>
#include <pthread.h>

#define MUST(call) must((int)(call), #call)

enum { CONFIGS = 16, ROUNDS = 3 };

static void
must(int status, const char *call)
{
	if (status) {
		printf("%.*s: %d\n", (int)strcspn(call, "("), call, status);
		exit(EXIT_FAILURE);
	}
}

/* ---- Memory -------------------------------------------------------------- */

struct memory {
	cudnnHandle_t handle;
	float *device[3], *host, *reference; /* x, w, y; of y */
	size_t count[3];
};

static size_t
product_of(const int64_t *size, int64_t dims)
{
	size_t count = 1;

	for (int64_t i = 0; i < dims; i++)
		count *= (size_t)size[i];
	return count;
}

static void
make_memory(const struct wish *wish, struct memory *m)
{
	int64_t size[3][5];
	uint32_t seed = 1;

	sizes(wish, size[0], size[1], size[2]);
	MUST(cudnnCreate(&m->handle));
	for (int i = 0; i < 3; i++) {
		m->count[i] = product_of(size[i], wish->spatial + 2);
		m->host = realloc(m->host, m->count[i] * sizeof(float));
		for (size_t j = 0; j < m->count[i]; j++) {
			seed = seed * 1664525 + 1013904223;
			m->host[j] = (float)(seed >> 8) / (1 << 24) - 0.5f;
		}
		MUST(cudaMalloc((void **)&m->device[i],
		    m->count[i] * sizeof(float)));
		MUST(cudaMemcpy(m->device[i], m->host, m->count[i]
		    * sizeof(float), cudaMemcpyHostToDevice));
	}
	m->reference = calloc(m->count[2], sizeof(float));
}

static uint64_t
hash(const struct memory *m)
{
	uint64_t h = 1469598103934665603u;

	for (size_t i = 0; i < m->count[2]; i++) {
		uint32_t bits;

		memcpy(&bits, &m->host[i], sizeof bits);
		h = (h ^ bits) * 1099511628211u;
	}
	return h;
}

static double
distance(const struct memory *m)
{
	double lost = 0, all = 0;

	for (size_t i = 0; i < m->count[2]; i++) {
		const double is = (double)m->host[i];
		const double wants = (double)m->reference[i];

		lost += (is - wants) * (is - wants);
		all += wants * wants;
	}
	return all > 0 ? sqrt(lost / all) : 0;
}

/* ---- Plans --------------------------------------------------------------- */

/* Runs `config`; microseconds of the fastest of so many runs, negative if there
 * is no plan. The output is in m->host. */
static float
run(struct memory *m, descriptor_t config, int rounds)
{
	descriptor_t plan = create(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
	descriptor_t pack = create(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
	const int64_t ids[3] = { 'x', 'w', 'y' };
	void *workspace = NULL;
	cudaEvent_t event[2];
	float best = INFINITY, took;

	set(plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1,
	    &m->handle);
	set_descriptor(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config);
	if (api.cudnnBackendFinalize(plan))
		return -1;
	if (workspace_of(plan))
		MUST(cudaMalloc(&workspace, (size_t)workspace_of(plan)));
	set(pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, 3, ids);
	set(pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, 3,
	    m->device);
	set(pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1,
	    &workspace);
	MUST(api.cudnnBackendFinalize(pack));
	MUST(cudaEventCreate(&event[0]));
	MUST(cudaEventCreate(&event[1]));
	for (int i = 0; i < rounds; i++) {
		MUST(cudaEventRecord(event[0], NULL));
		MUST(cudnnBackendExecute(m->handle, plan, pack));
		MUST(cudaEventRecord(event[1], NULL));
		MUST(cudaEventSynchronize(event[1]));
		MUST(cudaEventElapsedTime(&took, event[0], event[1]));
		best = fminf(best, took * 1e3f);
	}
	MUST(cudaMemcpy(m->host, m->device[2], m->count[2] * sizeof(float),
	    cudaMemcpyDeviceToHost));
	MUST(cudaFree(workspace));
	destroy(pack);
	destroy(plan);
	return best;
}

/* ---- Choices ------------------------------------------------------------- */

static void
print(const struct memory *m, descriptor_t config, const char *how)
{
	descriptor_t engine = engine_of(config);

	printf("%s engine=%" PRId64 " notes=%#x distance=%.3g %016" PRIx64 "\n",
	    how, index_of(engine), notes_by_count(engine), distance(m),
	    hash(m));
	if (notes_by_array(engine) != notes_by_count(engine))
		printf("broken: notes=%#x by an array\n",
		    notes_by_array(engine));
	destroy(engine);
}

static int
tune(const struct wish *wish, struct memory *m, descriptor_t of,
    descriptor_t on, double tolerance, struct choice *choice_out)
{
	descriptor_t config[CONFIGS], heuristic = heuristics(wish, of, on);
	const int64_t count = configurations(heuristic, CONFIGS, config);
	float best = INFINITY;

	if (count < 1 || run(m, config[count - 1], ROUNDS) < 0)
		return 0;
	memcpy(m->reference, m->host, m->count[2] * sizeof(float));
	for (int64_t i = 0; i < count; i++) {
		descriptor_t engine = engine_of(config[i]);
		const unsigned notes = notes_by_count(engine);
		const int64_t index = index_of(engine);
		float took = -1;

		destroy(engine);
		if (!(notes & 1u << CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS))
			took = run(m, config[i], ROUNDS);
		if (took < 0)
			continue;
		print(m, config[i], distance(m) <= tolerance ? "tuned"
		    : "mismatch");
		if (took >= best || distance(m) > tolerance)
			continue;
		best = took;
		choice_out->engine = index;
		knobs_of(config[i], &choice_out->knobs);
	}
	return best < INFINITY;
}

/* From the first descriptor to the last run. `path` NULL: nothing is stored. */
static int
do_all(const struct wish *wish, double tolerance, const char *path,
    int is_replay, int rounds)
{
	static __thread cudnnHandle_t last;
	struct choice choice = { .engine = -1 };
	struct memory m = { .host = NULL };
	descriptor_t of, on, config;
	FILE *file;

	make_memory(wish, &m);
	if (m.handle == last)
		puts("the same address");
	last = m.handle;
	of = graph(wish);
	on = create(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
	set(on, CUDNN_ATTR_DEVICEPROP_HANDLE, CUDNN_TYPE_HANDLE, 1, &m.handle);
	on = finish(on);
	if (!is_replay && !tune(wish, &m, of, on, tolerance, &choice))
		return 1;
	file = path ? fopen(path, is_replay ? "rb" : "wb") : NULL;
	if (path && (!file || !(is_replay
	    ? fread(&choice, sizeof choice, 1, file)
	    : fwrite(&choice, sizeof choice, 1, file)) || fclose(file)))
		return 98;
	config = configure(of, on, &choice);
	if (!config || run(&m, config, rounds) < 0)
		return 97;
	print(&m, config, is_replay ? "replayed" : "chosen");
	destroy(config);
	destroy(of);
	destroy(on);
	MUST(cudnnDestroy(m.handle));
	return 0;
}

static struct wish common;

static void *
tune_in_thread(void *tolerance)
{
	for (int i = 0; i < ROUNDS; i++)
		must(do_all(&common, *(double *)tolerance, NULL, 0, ROUNDS),
		    "tune");
	return NULL;
}

static int
do_all_at_once(int count, double tolerance)
{
	pthread_t thread[16];

	for (int i = 0; i < count && i < 16; i++)
		MUST(pthread_create(&thread[i], NULL, tune_in_thread,
		    &tolerance));
	for (int i = 0; i < count && i < 16; i++)
		MUST(pthread_join(thread[i], NULL));
	return 0;
}

int
main(int argc, char **argv)
{
	double tolerance = 2e-2;
	int rounds = ROUNDS;

	if (argc < 3)
		return 99;
	common = usual;
	for (int i = 3; i < argc; i++)
		if (!strncmp(argv[i], "tolerance=", 10))
			tolerance = atof(argv[i] + 10);
		else if (!strncmp(argv[i], "rounds=", 7))
			rounds = atoi(argv[i] + 7);
		else if (!wish_parse(&common, argv[i]))
			return 99;
	reach("libcudnn.so.9:local");
	if (!strcmp(argv[1], "threads"))
		return do_all_at_once(atoi(argv[2]), tolerance);
	return do_all(&common, tolerance, argv[2], !strcmp(argv[1], "replay"),
	    rounds);
}
