/* SPDX-License-Identifier: Apache-2.0 */
/* tests/real/programs/conv_describe.h -- for the clients here: cuDNN's graph
 * API, reached as a program would reach it, and a convolution described with
 * it from the words of a command line. Knows nothing of who is preloaded. */
#ifndef TESTS_REAL_CONV_DESCRIBE_H
#define TESTS_REAL_CONV_DESCRIBE_H

#include <cudnn.h>

#include <dlfcn.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef cudnnBackendDescriptor_t descriptor_t;

#define API(row) \
	row(cudnnGetVersion) \
	row(cudnnGetLastErrorString) \
	row(cudnnBackendCreateDescriptor) \
	row(cudnnBackendDestroyDescriptor) \
	row(cudnnBackendSetAttribute) \
	row(cudnnBackendFinalize) \
	row(cudnnBackendGetAttribute)

static struct {
#define MEMBER(name) __typeof__(&name) name;
	API(MEMBER)
#undef MEMBER
} api;

/* WAY: linked; or SONAME:local, SONAME:global, by dlopen() and dlsym(). */
static inline void
reach(const char *way)
{
	char name[128] = "";
	const char *scope = strchr(way, ':');
	void *library;

#ifdef LINKED
	if (!strcmp(way, "linked")) {
#define LINK(name) api.name = name;
		API(LINK)
#undef LINK
		return;
	}
#endif
	if (!scope)
		exit(99);
	snprintf(name, sizeof name, "%.*s", (int)(scope - way), way);
	library = dlopen(name, RTLD_NOW
	    | (strcmp(scope, ":global") ? RTLD_LOCAL : RTLD_GLOBAL));
	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		exit(77);
	}
	if (!strcmp(scope, ":global"))
		library = RTLD_DEFAULT;
#define FIND(name) \
	api.name = (__typeof__(&name))(uintptr_t)dlsym(library, #name); \
	if (!api.name) \
		exit(98);
	API(FIND)
#undef FIND
}

/* What is asked for; sizes of the forward convolution, whatever the direction.
 * A picture has one to three dimensions. */
struct wish {
	const char *op, *layout, *fusion;
	int64_t spatial, n, c, d, h, w, k, filter, pad, stride, dilation,
	    groups;
	int64_t post;           /* padding at the far end; -1: pad */
	int64_t sm_count, dynamic, alignment;
	int64_t uids;           /* added to all unique ids */
	double alpha, beta;
	cudnnDataType_t type, compute;
	cudnnBackendHeurMode_t mode;
};

static const struct wish usual = {
	.op = "fprop", .layout = "nchw", .fusion = "none", .spatial = 2,
	.n = 32, .c = 256, .d = 14, .h = 28, .w = 28, .k = 256, .filter = 3,
	.pad = 1, .stride = 1, .dilation = 1, .groups = 1, .post = -1,
	.alignment = 16, .alpha = 1,
	.type = CUDNN_DATA_FLOAT, .compute = CUDNN_DATA_FLOAT,
	.mode = CUDNN_HEUR_MODE_A,
};

static const struct {
	const char *word;
	int value;
} types[] = {
	{ "float", CUDNN_DATA_FLOAT }, { "half", CUDNN_DATA_HALF },
	{ "double", CUDNN_DATA_DOUBLE }, { "bfloat16", CUDNN_DATA_BFLOAT16 },
	{ "A", CUDNN_HEUR_MODE_A }, { "B", CUDNN_HEUR_MODE_B },
	{ "INSTANT", CUDNN_HEUR_MODE_INSTANT },
	{ "FALLBACK", CUDNN_HEUR_MODE_FALLBACK },
};

static inline int
value_of(const char *word)
{
	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (!strcmp(word, types[i].word))
			return types[i].value;
	fprintf(stderr, "what is %s?\n", word);
	exit(99);
}

/* One word of the form key=value; false if it is no wish. */
static inline int
wish_parse(struct wish *wish, const char *word)
{
	const struct {
		const char *key;
		int64_t *value;
	} numbers[] = {
		{ "spatial", &wish->spatial }, { "n", &wish->n },
		{ "c", &wish->c }, { "d", &wish->d }, { "h", &wish->h },
		{ "w", &wish->w }, { "k", &wish->k },
		{ "filter", &wish->filter },
		{ "pad", &wish->pad }, { "stride", &wish->stride },
		{ "dilation", &wish->dilation }, { "groups", &wish->groups },
		{ "sm_count", &wish->sm_count }, { "dynamic", &wish->dynamic },
		{ "alignment", &wish->alignment }, { "post", &wish->post },
	};
	const char *value = strchr(word, '=');
	const size_t length = value ? (size_t)(value - word) : 0;

	if (!value++)
		return 0;
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		if (strlen(numbers[i].key) == length &&
		    !memcmp(word, numbers[i].key, length))
			return (*numbers[i].value = atoll(value)), 1;
	if (!strncmp(word, "op=", 3))
		wish->op = value;
	else if (!strncmp(word, "layout=", 7))
		wish->layout = value;
	else if (!strncmp(word, "fusion=", 7))
		wish->fusion = value;
	else if (!strncmp(word, "alpha=", 6))
		wish->alpha = atof(value);
	else if (!strncmp(word, "beta=", 5))
		wish->beta = atof(value);
	else if (!strncmp(word, "type=", 5))
		wish->type = (cudnnDataType_t)value_of(value);
	else if (!strncmp(word, "compute=", 8))
		wish->compute = (cudnnDataType_t)value_of(value);
	else if (!strncmp(word, "mode=", 5))
		wish->mode = (cudnnBackendHeurMode_t)value_of(value);
	else
		return 0;
	return 1;
}

static inline descriptor_t
create(cudnnBackendDescriptorType_t type)
{
	descriptor_t made = NULL;

	return api.cudnnBackendCreateDescriptor(type, &made) ? NULL : made;
}

static inline void
destroy(descriptor_t descriptor)
{
	if (descriptor)
		api.cudnnBackendDestroyDescriptor(descriptor);
}

static inline int
set(descriptor_t to, cudnnBackendAttributeName_t name,
    cudnnBackendAttributeType_t type, int64_t count, const void *values)
{
	return (int)api.cudnnBackendSetAttribute(to, name, type, count, values);
}

static inline int
set_int(descriptor_t to, cudnnBackendAttributeName_t name, int64_t value)
{
	return set(to, name, CUDNN_TYPE_INT64, 1, &value);
}

static inline int
set_descriptor(descriptor_t to, cudnnBackendAttributeName_t name,
    descriptor_t value)
{
	return set(to, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &value);
}

/* A reference set, and the child destroyed at once: cuDNN has taken its own. */
static inline int
give(descriptor_t to, cudnnBackendAttributeName_t name, descriptor_t child)
{
	const int status = set_descriptor(to, name, child);

	destroy(child);
	return status;
}

static inline descriptor_t
finish(descriptor_t made)
{
	if (made && !api.cudnnBackendFinalize(made))
		return made;
	destroy(made);
	return NULL;
}

/* A tensor of `dims` sizes, batch and channels first, laid out as `layout`
 * says; numbered `uid`; in memory or (virtual) not. */
static inline descriptor_t
tensor(const struct wish *wish, const int64_t *size, int64_t uid,
    cudnnDataType_t type, _Bool is_virtual)
{
	const int64_t dims = wish->spatial + 2;
	int64_t stride[5], step = 1;
	descriptor_t made = create(CUDNN_BACKEND_TENSOR_DESCRIPTOR);

	if (!strcmp(wish->layout, "nhwc")) {
		stride[1] = 1;
		step = size[1];
	}
	for (int64_t i = dims - 1; i >= 0; i--)
		if (i != 1 || strcmp(wish->layout, "nhwc")) {
			stride[i] = step;
			step *= size[i];
		}
	set(made, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &type);
	set(made, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, dims, size);
	set(made, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, dims, stride);
	set_int(made, CUDNN_ATTR_TENSOR_UNIQUE_ID, uid + wish->uids);
	set_int(made, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, wish->alignment);
	if (is_virtual)
		set(made, CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, 1,
		    &is_virtual);
	return finish(made);
}

static inline int64_t
post_of(const struct wish *wish)
{
	return wish->post < 0 ? wish->pad : wish->post;
}

static inline void
sizes(const struct wish *wish, int64_t x[5], int64_t w[5], int64_t y[5])
{
	const int64_t pixels[3] = { wish->d, wish->h, wish->w };

	x[0] = y[0] = wish->n;
	x[1] = wish->c;
	y[1] = w[0] = wish->k;
	w[1] = wish->c / wish->groups;
	for (int64_t i = 0; i < wish->spatial; i++) {
		x[i + 2] = pixels[3 - wish->spatial + i];
		w[i + 2] = wish->filter;
		y[i + 2] = (x[i + 2] + wish->pad + post_of(wish) -
			       wish->dilation * (wish->filter - 1) - 1) /
			wish->stride +
		    1;
	}
}

static inline descriptor_t
convolution(const struct wish *wish)
{
	descriptor_t made = create(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
	const cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
	const struct {
		cudnnBackendAttributeName_t name;
		int64_t value;
	} rows[] = {
		{ CUDNN_ATTR_CONVOLUTION_DILATIONS, wish->dilation },
		{ CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, wish->stride },
		{ CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, wish->pad },
		{ CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, post_of(wish) },
	};

	set_int(made, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, wish->spatial);
	set(made, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1,
	    &wish->compute);
	set(made, CUDNN_ATTR_CONVOLUTION_CONV_MODE,
	    CUDNN_TYPE_CONVOLUTION_MODE, 1, &mode);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const int64_t values[3] = { rows[i].value, rows[i].value,
		    rows[i].value };

		set(made, rows[i].name, CUDNN_TYPE_INT64, wish->spatial,
		    values);
	}
	return finish(made);
}

/* The convolution alone; its output is virtual if `fused`. */
static inline descriptor_t
convolve(const struct wish *wish, _Bool fused)
{
	static const struct {
		const char *op;
		cudnnBackendDescriptorType_t type;
		cudnnBackendAttributeName_t alpha, beta, conv, w, x, y;
	} rows[] = {
#define ROW(word, kind, part, image, filter, result) { word, \
	CUDNN_BACKEND_OPERATION_CONVOLUTION_##kind##_DESCRIPTOR, \
	CUDNN_ATTR_OPERATION_CONVOLUTION_##part##_ALPHA, \
	CUDNN_ATTR_OPERATION_CONVOLUTION_##part##_BETA, \
	CUDNN_ATTR_OPERATION_CONVOLUTION_##part##_CONV_DESC, \
	CUDNN_ATTR_OPERATION_CONVOLUTION_##part##_##filter, \
	CUDNN_ATTR_OPERATION_CONVOLUTION_##part##_##image, \
	CUDNN_ATTR_OPERATION_CONVOLUTION_##part##_##result }
		ROW("fprop", FORWARD, FORWARD, X, W, Y),
		ROW("dgrad", BACKWARD_DATA, BWD_DATA, DX, W, DY),
		ROW("wgrad", BACKWARD_FILTER, BWD_FILTER, X, DW, DY),
#undef ROW
	};
	/* cuDNN's names of scalars are of the type the compute type asks
	 * for. */
	const _Bool wide = wish->compute == CUDNN_DATA_DOUBLE;
	const cudnnBackendAttributeType_t scalar =
	    wide ? CUDNN_TYPE_DOUBLE : CUDNN_TYPE_FLOAT;
	const float alpha = (float)wish->alpha, beta = (float)wish->beta;
	int64_t x[5], w[5], y[5];
	descriptor_t made;
	size_t i = 0;

	while (strcmp(rows[i].op, wish->op))
		if (++i == sizeof rows / sizeof *rows)
			exit(99);
	sizes(wish, x, w, y);
	made = create(rows[i].type);
	set(made, rows[i].alpha, scalar, 1,
	    wide ? (const void *)&wish->alpha : &alpha);
	set(made, rows[i].beta, scalar, 1,
	    wide ? (const void *)&wish->beta : &beta);
	give(made, rows[i].conv, convolution(wish));
	give(made, rows[i].x, tensor(wish, x, 'x', wish->type, 0));
	give(made, rows[i].w, tensor(wish, w, 'w', wish->type, 0));
	give(made, rows[i].y, tensor(wish, y, fused ? 'c' : 'y', wish->type,
	    fused));
	return finish(made);
}

/* from (c) and maybe `other` to `to`: a pointwise step behind an fprop. */
static inline descriptor_t
step(const struct wish *wish, cudnnPointwiseMode_t mode, const char *from,
    const char *other, const char *to)
{
	descriptor_t how = create(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
	descriptor_t made =
	    create(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
	int64_t x[5], w[5], y[5], bias[5] = { 1, 0, 1, 1, 1 };

	sizes(wish, x, w, y);
	bias[1] = y[1];
	set(how, CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, 1,
	    &mode);
	set(how, CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, 1,
	    &wish->compute);
	give(made, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, finish(how));
	give(made, CUDNN_ATTR_OPERATION_POINTWISE_XDESC,
	    tensor(wish, y, *from, wish->type, 1));
	if (other)
		give(made, CUDNN_ATTR_OPERATION_POINTWISE_BDESC, tensor(wish,
		    *other == 'b' ? bias : y, *other, wish->type, 0));
	give(made, CUDNN_ATTR_OPERATION_POINTWISE_YDESC,
	    tensor(wish, y, *to, wish->type, *to != 'y'));
	return finish(made);
}

/* fusion: none, or steps in order joined by dashes: add, bias, relu. */
static inline descriptor_t
graph(const struct wish *wish)
{
	static const struct {
		const char *word, *other;
		cudnnPointwiseMode_t mode;
	} steps[] = {
		{ "add", "z", CUDNN_POINTWISE_ADD },
		{ "bias", "b", CUDNN_POINTWISE_ADD },
		{ "relu", NULL, CUDNN_POINTWISE_RELU_FWD },
	};
	const char *rest = strcmp(wish->fusion, "none") ? wish->fusion : "";
	descriptor_t ops[4], made = create(
	    CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
	int64_t count = 0;
	const _Bool dynamic = 1;

	ops[count++] = convolve(wish, *rest != 0);
	while (*rest && count < 4) {
		static const char *const between[] = { "c", "d", "e", "f" };
		const size_t length = strcspn(rest, "-");
		size_t i = 0;

		while (strncmp(rest, steps[i].word, length))
			if (++i == sizeof steps / sizeof *steps)
				exit(99);
		rest += length + (rest[length] == '-');
		ops[count] = step(wish, steps[i].mode, between[count - 1],
		    steps[i].other, *rest ? between[count] : "y");
		count++;
	}
	set(made, CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
	    count, ops);
	if (wish->dynamic)
		set(made, CUDNN_ATTR_OPERATIONGRAPH_IS_DYNAMIC_SHAPE_ENABLED,
		    CUDNN_TYPE_BOOLEAN, 1, &dynamic);
	while (count--)
		destroy(ops[count]);
	return finish(made);
}

/* The device a file of properties describes. */
static inline descriptor_t
device(const char *path)
{
	char text[4096];
	FILE *file = fopen(path, "r");
	descriptor_t made = create(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
	size_t length;

	if (!file)
		exit(99);
	length = fread(text, 1, sizeof text - 1, file);
	text[length] = 0;
	fclose(file);
	set(made, CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR,
	    (int64_t)length, text);
	return finish(made);
}

#endif
