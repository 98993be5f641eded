/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cudnn/conv/cudnn_conv_onednn.c -- a convolution by oneDNN, with one
 * thread, because its bits depend on their number. All of oneDNN's objects are
 * made and destroyed within the call. Not under TSan, which must see every
 * access. */
#include "emulator/cudnn/conv/cudnn_conv.h"

#include <dnnl.h>

#if EMU_TSAN || DNNL_VERSION_MAJOR != 2

bool
emu_conv_onednn(const struct emu_dense *dense, float *x, float *w, float *y)
{
	(void)dense;
	(void)x;
	(void)w;
	(void)y;
	return false;
}

void
emu_conv_onednn_prepare(void)
{
}

#else

#include <pthread.h>

/* oneDNN's OpenMP, if it has one, obeys this setting of the thread. */
__attribute__((weak)) int omp_get_max_threads(void);
__attribute__((weak)) void omp_set_num_threads(int count);

static pthread_once_t once = PTHREAD_ONCE_INIT;

enum { X, W, Y, TENSORS };
struct tensors {
	dnnl_memory_desc_t desc[TENSORS];
	float *data[TENSORS];
};

/* Two leading dimensions (a filter has its groups before them), then space. */
static bool
describe(const struct emu_dense *d, int64_t groups, int64_t first,
    int64_t second, const int64_t *space, dnnl_memory_desc_t *out)
{
	dnnl_dims_t dim, stride;
	int dims = 0;
	int64_t step = 1;

	if (groups)
		dim[dims++] = groups;
	dim[dims++] = first;
	dim[dims++] = second;
	for (int i = EMU_CONV_SPACE - d->space; i < EMU_CONV_SPACE; i++)
		dim[dims++] = space[i];
	for (int i = dims - 1; i >= 0; i--) {
		stride[i] = step;
		step *= dim[i];
	}
	return dnnl_memory_desc_init_by_strides(out, dims, dim, dnnl_f32,
	    stride) == dnnl_success;
}

/* Shapes in oneDNN's form: arrays of its own size. */
struct geometry {
	dnnl_dims_t stride, gap, pad, post;
};

static struct geometry
geometry_of(const struct emu_dense *d)
{
	struct geometry g = { .stride = { 0 } };

	for (int i = 0; i < d->space; i++) {
		const int from = EMU_CONV_SPACE - d->space + i;

		g.stride[i] = d->stride[from];
		g.gap[i] = d->dilation[from] - 1;
		g.pad[i] = d->pad[from];
		g.post[i] = d->post_pad[from];
	}
	return g;
}

/* The operation, or the forward one that it belongs to. */
static bool
describe_operation(const struct emu_dense *d, enum emu_conv_operation which,
    const struct tensors *t, dnnl_convolution_desc_t *out)
{
	const struct geometry g = geometry_of(d);
	dnnl_status_t status;

	if (which == EMU_CONV_FPROP)
		status = dnnl_dilated_convolution_forward_desc_init(out,
		    dnnl_forward_training, dnnl_convolution_direct,
		    &t->desc[X], &t->desc[W], NULL, &t->desc[Y], g.stride,
		    g.gap, g.pad, g.post);
	else if (which == EMU_CONV_DGRAD)
		status = dnnl_dilated_convolution_backward_data_desc_init(out,
		    dnnl_convolution_direct, &t->desc[X], &t->desc[W],
		    &t->desc[Y], g.stride, g.gap, g.pad, g.post);
	else
		status = dnnl_dilated_convolution_backward_weights_desc_init(
		    out, dnnl_convolution_direct, &t->desc[X], &t->desc[W],
		    NULL, &t->desc[Y], g.stride, g.gap, g.pad, g.post);
	return status == dnnl_success;
}

static bool
make(const struct emu_dense *d, dnnl_engine_t engine,
    const struct tensors *t, dnnl_primitive_t *primitive_out)
{
	dnnl_convolution_desc_t forward, own;
	dnnl_primitive_desc_t hint = NULL, desc = NULL;
	bool made = describe_operation(d, EMU_CONV_FPROP, t, &forward) &&
	    describe_operation(d, d->operation, t, &own) &&
	    !dnnl_primitive_desc_create(&hint, &forward, NULL, engine, NULL) &&
	    !dnnl_primitive_desc_create(&desc, &own, NULL, engine, hint) &&
	    !dnnl_primitive_create(primitive_out, desc);

	if (hint)
		dnnl_primitive_desc_destroy(hint);
	if (desc)
		dnnl_primitive_desc_destroy(desc);
	return made;
}

static bool
execute(const struct emu_dense *d, dnnl_engine_t engine,
    const struct tensors *t, dnnl_primitive_t primitive)
{
	static const int names[][TENSORS] = {
		[EMU_CONV_FPROP] = { DNNL_ARG_SRC, DNNL_ARG_WEIGHTS,
			DNNL_ARG_DST },
		[EMU_CONV_DGRAD] = { DNNL_ARG_DIFF_SRC, DNNL_ARG_WEIGHTS,
			DNNL_ARG_DIFF_DST },
		[EMU_CONV_WGRAD] = { DNNL_ARG_SRC, DNNL_ARG_DIFF_WEIGHTS,
			DNNL_ARG_DIFF_DST }
	};
	dnnl_exec_arg_t arguments[TENSORS] = { 0 };
	dnnl_stream_t stream = NULL;
	bool done = !dnnl_stream_create(&stream, engine,
	    dnnl_stream_default_flags);

	for (int i = 0; i < TENSORS && done; i++) {
		arguments[i].arg = names[d->operation][i];
		done = !dnnl_memory_create(&arguments[i].memory, &t->desc[i],
		    engine, t->data[i]);
	}
	done = done && !dnnl_primitive_execute(primitive, stream, TENSORS,
	    arguments) && !dnnl_stream_wait(stream);
	for (int i = 0; i < TENSORS; i++)
		if (arguments[i].memory)
			dnnl_memory_destroy(arguments[i].memory);
	if (stream)
		dnnl_stream_destroy(stream);
	return done;
}

static bool
run(const struct emu_dense *d, float *x, float *w, float *y)
{
	struct tensors t = { .data = { x, w, y } };
	dnnl_engine_t engine = NULL;
	dnnl_primitive_t primitive = NULL;
	bool done = describe(d, 0, d->n, d->groups * d->c, d->in,
	    &t.desc[X]) &&
	    describe(d, d->groups > 1 ? d->groups : 0, d->k, d->c, d->filter,
	    &t.desc[W]) &&
	    describe(d, 0, d->n, d->groups * d->k, d->out, &t.desc[Y]) &&
	    !dnnl_engine_create(&engine, dnnl_cpu, 0) &&
	    make(d, engine, &t, &primitive) &&
	    execute(d, engine, &t, primitive);

	if (primitive)
		dnnl_primitive_destroy(primitive);
	if (engine)
		dnnl_engine_destroy(engine);
	return done;
}

/* With one thread, whatever the program has set. */
static bool
run_alone(const struct emu_dense *d, float *x, float *w, float *y)
{
	const int threads = omp_get_max_threads ? omp_get_max_threads() : 1;
	bool done;

	if (omp_set_num_threads)
		omp_set_num_threads(1);
	done = run(d, x, w, y);
	if (omp_set_num_threads)
		omp_set_num_threads(threads);
	return done;
}

/* Only instructions that valgrind and all machines of the last ten years know,
 * and no cache of earlier convolutions. oneDNN makes tables when it first meets
 * a kind of operation and destroys them at exit, when a worker might still need
 * them. So it meets all kinds now. */
static void
prepare(void)
{
	enum { CHANNELS = 16, SIDE = 8, TAPS = 3 };
	static float x[CHANNELS * SIDE * SIDE], y[CHANNELS * SIDE * SIDE],
		w[CHANNELS * CHANNELS * TAPS * TAPS];
	struct emu_dense d = { .n = 1, .groups = 1, .c = CHANNELS,
		.k = CHANNELS, .in = { 1, SIDE, SIDE },
		.filter = { 1, TAPS, TAPS }, .out = { 1, SIDE, SIDE },
		.pad = { 0, 1, 1 }, .post_pad = { 0, 1, 1 },
		.stride = { 1, 1, 1 }, .dilation = { 1, 1, 1 }, .space = 2 };

	dnnl_set_max_cpu_isa(dnnl_cpu_isa_avx2);
	dnnl_set_primitive_cache_capacity(0);
	for (int i = EMU_CONV_FPROP; i <= EMU_CONV_WGRAD; i++) {
		d.operation = (enum emu_conv_operation)i;
		run_alone(&d, x, w, y);
	}
	emu_device_end_first();
}

void
emu_conv_onednn_prepare(void)
{
	pthread_once(&once, prepare);
}

bool
emu_conv_onednn(const struct emu_dense *d, float *x, float *w, float *y)
{
	emu_conv_onednn_prepare();
	return run_alone(d, x, w, y);
}

#endif
