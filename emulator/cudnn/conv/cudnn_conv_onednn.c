/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cudnn/conv/cudnn_conv_onednn.c -- a convolution by oneDNN, with one
 * thread, because its bits depend on their number. All of oneDNN's objects are
 * made and destroyed within the call. Not under TSan, which must see every
 * access. */
#include "emulator/cudnn/conv/cudnn_conv.h"

#include <dnnl.h>

#if EMU_TSAN

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

/* A convolution in oneDNN's form: arrays of its own size. */
struct geometry {
	dnnl_dims_t stride, gap, pad, post;
};

/* ---- What oneDNN 2 and 3 call differently ------------------------------- */

#if DNNL_VERSION_MAJOR == 2

typedef const dnnl_memory_desc_t *layout;

static bool
make_tensor(dnnl_engine_t engine, int dims, const dnnl_dims_t dim,
    const dnnl_dims_t stride, float *data, dnnl_memory_t *tensor_out)
{
	dnnl_memory_desc_t desc;

	return !dnnl_memory_desc_init_by_strides(&desc, dims, dim, dnnl_f32,
	    stride) && !dnnl_memory_create(tensor_out, &desc, engine, data);
}

static bool
describe(enum emu_conv_operation which, const struct geometry *g,
    const layout *t, dnnl_engine_t engine, dnnl_primitive_desc_t forward,
    dnnl_primitive_desc_t *desc_out)
{
	dnnl_convolution_desc_t own;
	dnnl_status_t status;

	if (which == EMU_CONV_FPROP)
		status = dnnl_dilated_convolution_forward_desc_init(&own,
		    dnnl_forward_training, dnnl_convolution_direct, t[X],
		    t[W], NULL, t[Y], g->stride, g->gap, g->pad, g->post);
	else if (which == EMU_CONV_DGRAD)
		status = dnnl_dilated_convolution_backward_data_desc_init(
		    &own, dnnl_convolution_direct, t[X], t[W], t[Y],
		    g->stride, g->gap, g->pad, g->post);
	else
		status = dnnl_dilated_convolution_backward_weights_desc_init(
		    &own, dnnl_convolution_direct, t[X], t[W], NULL, t[Y],
		    g->stride, g->gap, g->pad, g->post);
	return !status && !dnnl_primitive_desc_create(desc_out, &own, NULL,
	    engine, forward);
}

#else

typedef const_dnnl_memory_desc_t layout;

static bool
make_tensor(dnnl_engine_t engine, int dims, const dnnl_dims_t dim,
    const dnnl_dims_t stride, float *data, dnnl_memory_t *tensor_out)
{
	dnnl_memory_desc_t desc;
	bool made;

	if (dnnl_memory_desc_create_with_strides(&desc, dims, dim, dnnl_f32,
	    stride))
		return false;
	made = !dnnl_memory_create(tensor_out, desc, engine, data);
	dnnl_memory_desc_destroy(desc);
	return made;
}

static bool
describe(enum emu_conv_operation which, const struct geometry *g,
    const layout *t, dnnl_engine_t engine, dnnl_primitive_desc_t forward,
    dnnl_primitive_desc_t *desc_out)
{
	if (which == EMU_CONV_FPROP)
		return !dnnl_convolution_forward_primitive_desc_create(
		    desc_out, engine, dnnl_forward_training,
		    dnnl_convolution_direct, t[X], t[W], NULL, t[Y],
		    g->stride, g->gap, g->pad, g->post, NULL);
	if (which == EMU_CONV_DGRAD)
		return !dnnl_convolution_backward_data_primitive_desc_create(
		    desc_out, engine, dnnl_convolution_direct, t[X], t[W],
		    t[Y], g->stride, g->gap, g->pad, g->post, forward, NULL);
	return !dnnl_convolution_backward_weights_primitive_desc_create(
	    desc_out, engine, dnnl_convolution_direct, t[X], t[W], NULL, t[Y],
	    g->stride, g->gap, g->pad, g->post, forward, NULL);
}

#endif

/* ---- A convolution ------------------------------------------------------ */

/* Two leading dimensions (a filter has its groups before them), then space. */
static bool
make_dense(const struct emu_dense *d, int64_t groups, int64_t first,
    int64_t second, const int64_t *space, dnnl_engine_t engine, float *data,
    dnnl_memory_t *tensor_out)
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
	return make_tensor(engine, dims, dim, stride, data, tensor_out);
}

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

/* The operation, by way of the forward one that it belongs to. */
static bool
make(const struct emu_dense *d, dnnl_engine_t engine,
    const dnnl_memory_t *tensor, dnnl_primitive_t *primitive_out)
{
	const struct geometry g = geometry_of(d);
	dnnl_primitive_desc_t hint = NULL, desc = NULL;
	layout t[TENSORS];
	bool made = true;

	for (int i = 0; i < TENSORS; i++)
		made = made && !dnnl_memory_get_memory_desc(tensor[i], &t[i]);
	made = made && describe(EMU_CONV_FPROP, &g, t, engine, NULL, &hint) &&
	    describe(d->operation, &g, t, engine, hint, &desc) &&
	    !dnnl_primitive_create(primitive_out, desc);
	if (hint)
		dnnl_primitive_desc_destroy(hint);
	if (desc)
		dnnl_primitive_desc_destroy(desc);
	return made;
}

static bool
execute(const struct emu_dense *d, dnnl_engine_t engine,
    const dnnl_memory_t *tensor, dnnl_primitive_t primitive)
{
	static const int names[][TENSORS] = {
		[EMU_CONV_FPROP] = { DNNL_ARG_SRC, DNNL_ARG_WEIGHTS,
			DNNL_ARG_DST },
		[EMU_CONV_DGRAD] = { DNNL_ARG_DIFF_SRC, DNNL_ARG_WEIGHTS,
			DNNL_ARG_DIFF_DST },
		[EMU_CONV_WGRAD] = { DNNL_ARG_SRC, DNNL_ARG_DIFF_WEIGHTS,
			DNNL_ARG_DIFF_DST }
	};
	dnnl_exec_arg_t arguments[TENSORS];
	dnnl_stream_t stream;
	bool done;

	if (dnnl_stream_create(&stream, engine, dnnl_stream_default_flags))
		return false;
	for (int i = 0; i < TENSORS; i++)
		arguments[i] = (dnnl_exec_arg_t){ names[d->operation][i],
			tensor[i] };
	done = !dnnl_primitive_execute(primitive, stream, TENSORS, arguments) &&
	    !dnnl_stream_wait(stream);
	dnnl_stream_destroy(stream);
	return done;
}

static bool
run(const struct emu_dense *d, float *x, float *w, float *y)
{
	dnnl_memory_t tensor[TENSORS] = { NULL };
	dnnl_engine_t engine = NULL;
	dnnl_primitive_t primitive = NULL;
	bool done = !dnnl_engine_create(&engine, dnnl_cpu, 0) &&
	    make_dense(d, 0, d->n, d->groups * d->c, d->in, engine, x,
	    &tensor[X]) &&
	    make_dense(d, d->groups > 1 ? d->groups : 0, d->k, d->c,
	    d->filter, engine, w, &tensor[W]) &&
	    make_dense(d, 0, d->n, d->groups * d->k, d->out, engine, y,
	    &tensor[Y]) &&
	    make(d, engine, tensor, &primitive) &&
	    execute(d, engine, tensor, primitive);

	if (primitive)
		dnnl_primitive_destroy(primitive);
	for (int i = 0; i < TENSORS; i++)
		if (tensor[i])
			dnnl_memory_destroy(tensor[i]);
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
