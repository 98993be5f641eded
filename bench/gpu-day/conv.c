/* SPDX-License-Identifier: Apache-2.0 */
/* bench/gpu-day/conv.c -- convolutions by cuDNN: conv [-age] [-l LABEL]
 * [-o FILE] PART. Its parts:
 *   questions  is ALLOW_CONVERSION faster than TF32 (a5), and does FP16 in,
 *              FP32 out run at full speed (n7)?
 *   layers     resnet.c; -a in all math types, -g by the graph interface, too,
 *              -e with errors, -l what rows call the default here
 *   list       the layers
 *   probe      probe.c; -l likewise
 *   device     cuDNN's properties of the device, into the file of -o */
#include "resnet.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct dnn dnn;

static const struct layer layers[] = {
	{ 256,  256, 14,  256, 3, 1, 1 },
	{ 256,   64, 56,   64, 3, 1, 1 },
	{ 256,  256, 14, 1024, 1, 1, 1 },
	{ 256, 1024, 14,  256, 1, 1, 1 },
}, tiny = { 2, 32, 8, 32, 3, 1, 1 };
enum { LAYERS = sizeof layers / sizeof *layers, RESULTS = 16 };

/* Whether two functions come from files of one folder. */
static bool
are_neighbours(void *a, void *b)
{
	Dl_info one, other;
	size_t folder;

	if (!dladdr(a, &one) || !dladdr(b, &other))
		return false;
	folder = (size_t)(strrchr(one.dli_fname, '/') - one.dli_fname);
	return !strncmp(one.dli_fname, other.dli_fname, folder + 1);
}

/* Why not, or NULL. */
static const char *
look_up(void)
{
	char soname[32];
	void *library, *found, *emulated;

	snprintf(soname, sizeof soname, "libcudnn.so.%d", CUDNN_MAJOR);
	library = dlopen(soname, RTLD_NOW);
	emulated = dlsym(RTLD_DEFAULT, "emuTwinRegister");
	if (!library)
		return "no cuDNN";
	/* NVIDIA's would run on nothing. */
	if (emulated && !are_neighbours(emulated,
	    dlsym(library, "cudnnGetVersion")))
		return "no cuDNN on the emulated GPU";
#define LOOK_UP(name) \
	if (!(found = dlsym(library, #name))) \
		return "libcudnn lacks " #name; \
	memcpy(&dnn.name, &found, sizeof found);
	CUDNN_FUNCTIONS(LOOK_UP)
	return NULL;
}

/* The fastest algorithm that does run in this math type; 0: there is none. */
static double
old_seconds(const struct conv *c, cudnnMathType_t math)
{
	cudnnConvolutionFwdAlgoPerf_t results[RESULTS];
	struct old old;
	double seconds = 0;
	int count = 0;

	old_make(c, math, &old);
	if (dnn.cudnnFindConvolutionForwardAlgorithm(dnn.handle, old.x, old.w,
	    old.descriptor, old.y, RESULTS, &count, results))
		count = 0;
	for (int i = 0; i < count && !(seconds > 0); i++) {
		if (results[i].status || results[i].memory > CONV_WORKSPACE ||
		    results[i].mathType != math)
			continue;
		old.algorithm = (int)results[i].algo;
		seconds = gpu_time(old_call, &old).median;
	}
	old_free(&old);
	return seconds;
}

static void
say(const char *id, const struct layer *l, const char *what, double seconds,
    double other, const char *verdict)
{
	char name[CONV_TEXT], part[96];

	conv_name(l, name);
	snprintf(part, sizeof part, "%s, %s", name, what);
	if (seconds > 0)
		row_item(id, part, seconds, "s", verdict, "%.4g of TF32's time",
		    seconds / other);
	else
		row_unanswered(id, part, "not offered");
}

static void
measure(const struct layer *l)
{
	struct conv c = { .layer = *l, .op = CONV_FPROP, .nhwc = true };
	double fp32, tf32, conversion, wide, narrow;

	conv_make(&c, true);
	fp32 = old_seconds(&c, CUDNN_FMA_MATH);
	tf32 = old_seconds(&c, CUDNN_DEFAULT_MATH);
	conversion = old_seconds(&c, CUDNN_TENSOR_OP_MATH_ALLOW_CONVERSION);
	say("a5", l, "FP32", fp32, tf32, "-");
	say("a5", l, "TF32", tf32, tf32, "-");
	say("a5", l, "ALLOW_CONVERSION", conversion, tf32,
	    conversion < 0.97 * tf32 ? "faster than TF32" :
	    "not faster than TF32");
	wide = graph_seconds(&c, CUDNN_DATA_HALF, CUDNN_DATA_FLOAT);
	narrow = graph_seconds(&c, CUDNN_DATA_HALF, CUDNN_DATA_HALF);
	say("n7", l, "graph, FP32", graph_seconds(&c, CUDNN_DATA_FLOAT,
	    CUDNN_DATA_FLOAT), tf32, "-");
	say("n7", l, "graph, FP16 in and out", narrow, tf32, "-");
	say("n7", l, "graph, FP16 in, FP32 out", wide, tf32,
	    !(narrow > 0) ? "-" : wide < 1.25 * narrow ? "full speed" :
	    "slower than FP16 out");
	conv_free(&c);
}

/* ---- Parts of the program */

static struct {
	struct resnet_options resnet;
	const char *path;
} options;

static void
questions(void)
{
	for (int i = 0; i < (gpu.quick ? 1 : LAYERS); i++)
		if (!gpu_is_late())
			measure(gpu.quick ? &tiny : &layers[i]);
}

static void
times(void)
{
	resnet_measure(&options.resnet);
}

static void
probe(void)
{
	probe_measure(options.resnet.label);
}

/* The JSON as it is: it may become a file of tests/real/devices. */
static void
device(void)
{
	FILE *file = options.path ? fopen(options.path, "w") : NULL;
	char *text = graph_device();

	gpu_must(!file, "-o FILE");
	if (text) {
		gpu_must(fputs(text, file) < 0 || fclose(file), "write");
		row_item("c5", "-", (double)strlen(text), "bytes",
		    "device.json", "-");
	} else {
		(void)remove(options.path);
		row_unanswered("c5", "-", "cuDNN does not say");
	}
	free(text);
}

static const struct part {
	const char *name, *ids[3];   /* what it answers */
	void (*run)(void);
} parts[] = {
	{ "questions", { "n7", "a5" }, questions },
	{ "layers", { "c4" }, times },
	{ "list", { NULL }, resnet_list },
	{ "probe", { "c1", "c2", "c3" }, probe },
	{ "device", { "c5" }, device },
};

static void
take(int option, const char *value)
{
	switch (option) {
	case 'a': options.resnet.ways |= WAYS_MATH; break;
	case 'g': options.resnet.ways |= WAYS_GRAPH; break;
	case 'l': options.resnet.label = value; break;
	case 'e': options.resnet.errors = true; break;
	case 'o': options.path = value; break;
	}
}

int
main(int argc, char **argv)
{
	const int first = gpu_start(argc, argv, "agl:eo:", take);
	const struct part *part = NULL;
	const char *missing = look_up();

	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		if (first < argc && !strcmp(parts[i].name, argv[first]))
			part = &parts[i];
	if (!part)
		return 2;
	if (missing) {
		for (int i = 0; i < 3 && part->ids[i]; i++)
			row_unanswered(part->ids[i], "-", missing);
		return 0;
	}
	MUST(dnn.cudnnCreate(&dnn.handle));
	MUST(dnn.cudnnSetStream(dnn.handle, gpu.stream));
	row("library", "name=cuDNN\tversion=%zu", dnn.cudnnGetVersion());
	part->run();
	return 0;
}
