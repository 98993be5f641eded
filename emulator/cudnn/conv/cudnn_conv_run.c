/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cudnn/conv/cudnn_conv_run.c -- computes a convolution on the
 * stream's worker: copies the inputs, rounds them as the arithmetic says, sums
 * in FP32, then applies alpha, beta and the output's type. Beta 0 never reads
 * the output. Both interfaces of cuDNN use it. */
#include "emulator/shared/round.h"
#include "emulator/cudnn/conv/cudnn_conv.h"

#include <stdlib.h>

/* Channels of x over channels of the filter. */
static int64_t
groups_of(const struct emu_conv *conv)
{
	return conv->x.dim[1] / conv->w.dim[1];
}

static bool
fits_space(const struct emu_conv *conv, int i)
{
	const int64_t in = conv->x.dim[2 + i] + conv->pad[i] +
	    conv->post_pad[i];
	const int64_t reach = (conv->w.dim[2 + i] - 1) * conv->dilation[i] + 1;

	return conv->stride[i] > 0 && conv->dilation[i] > 0 &&
	    conv->pad[i] >= 0 && conv->post_pad[i] >= 0 && in >= reach &&
	    conv->y.dim[2 + i] == (in - reach) / conv->stride[i] + 1;
}

bool
emu_conv_is_valid(const struct emu_conv *conv)
{
	const struct emu_tensor *const tensors[] = { &conv->x, &conv->w,
		&conv->y };

	if (conv->space < 1 || conv->space > EMU_CONV_SPACE)
		return false;
	for (int t = 0; t < 3; t++) {
		if (tensors[t]->dims != conv->space + 2 ||
		    !emu_dnn_bytes(tensors[t]->type))
			return false;
		for (int i = 0; i < tensors[t]->dims; i++)
			if (tensors[t]->dim[i] < 1)
				return false;
	}
	for (int i = 0; i < conv->space; i++)
		if (!fits_space(conv, i))
			return false;
	return conv->x.dim[1] % conv->w.dim[1] == 0 &&
	    conv->w.dim[0] % groups_of(conv) == 0 &&
	    conv->y.dim[0] == conv->x.dim[0] &&
	    conv->y.dim[1] == conv->w.dim[0];
}

enum emu_rate
emu_conv_arithmetic(int device, cudnnMathType_t math, cudnnDataType_t x,
    cudnnDataType_t w)
{
	if (x == CUDNN_DATA_DOUBLE)
		return EMU_FP64;
	if (x == CUDNN_DATA_FLOAT && w == CUDNN_DATA_FLOAT)
		return math != CUDNN_FMA_MATH && emu_device_has_tf32(device) ?
		    EMU_TF32 : EMU_FP32;
	if (math == CUDNN_FMA_MATH)
		return EMU_FP32;
	return x == CUDNN_DATA_HALF ? EMU_FP16 :
	    x == CUDNN_DATA_BFLOAT16 ? EMU_BF16 : EMU_FP32;
}

double
emu_conv_operations(const struct emu_conv *conv)
{
	double operations = 2.0 * (double)emu_tensor_elements(&conv->y);

	for (int i = 1; i < conv->w.dims; i++)
		operations *= (double)conv->w.dim[i];
	return operations;
}

static struct emu_dense
dense_of(const struct emu_conv *conv)
{
	const int skip = EMU_CONV_SPACE - conv->space;
	struct emu_dense d = {
		.operation = conv->operation, .n = conv->x.dim[0],
		.groups = groups_of(conv), .c = conv->w.dim[1],
		.k = conv->w.dim[0] / groups_of(conv), .space = conv->space
	};

	for (int i = 0; i < EMU_CONV_SPACE; i++) {
		const int from = i - skip;
		const bool used = from >= 0;

		d.in[i] = used ? conv->x.dim[2 + from] : 1;
		d.filter[i] = used ? conv->w.dim[2 + from] : 1;
		d.out[i] = used ? conv->y.dim[2 + from] : 1;
		d.pad[i] = used ? conv->pad[from] : 0;
		d.post_pad[i] = used ? conv->post_pad[from] : 0;
		d.stride[i] = used ? conv->stride[from] : 1;
		d.dilation[i] = used ? conv->dilation[from] : 1;
	}
	return d;
}

/* ---- dense copies ------------------------------------------------------- */

/* A dense row-major copy of a tensor, in FP32, or in FP64 if wide. */
struct copy {
	const struct emu_tensor *tensor;
	void   *data;           /* the program's */
	float  *narrow;
	double *wide;
	bool    flipped;        /* a filter of a true convolution */
};

/* The n-th element of a filter whose space is reversed. */
static int64_t
flip(const struct emu_tensor *t, int64_t n)
{
	int64_t plane = 1;

	for (int i = 2; i < t->dims; i++)
		plane *= t->dim[i];
	return n - n % plane + (plane - 1 - n % plane);
}

static int64_t
place(const struct copy *c, int64_t n)
{
	return c->flipped ? flip(c->tensor, n) : n;
}

/* Room for the copy, zeroed. */
static bool
make_room(struct copy *c, bool wide)
{
	const size_t count = (size_t)emu_tensor_elements(c->tensor);

	if (wide)
		c->wide = calloc(count, sizeof *c->wide);
	else
		c->narrow = calloc(count, sizeof *c->narrow);
	return c->wide || c->narrow;
}

static void
pack(struct emu_touched *touched, struct copy *c, enum emu_rate format)
{
	const struct emu_tensor *t = c->tensor;
	const int64_t row = t->dim[t->dims - 1], step = t->stride[t->dims - 1];
	const int64_t count = emu_tensor_elements(t);

	for (int64_t n = 0; n < count; n += row) {
		const int64_t at = emu_tensor_at(t, n);

		for (int64_t i = 0; i < row; i++) {
			const double value = emu_tensor_load(touched, c->data,
			    t->type, at + i * step);

			if (c->narrow)
				c->narrow[place(c, n + i)] =
				    emu_round((float)value, format);
			else
				c->wide[place(c, n + i)] =
				    format == EMU_FP64 ? value : (double)
				    emu_round((float)value, format);
		}
	}
}

static void
unpack(struct emu_touched *touched, const struct copy *c,
    const struct emu_conv *conv)
{
	const struct emu_tensor *t = c->tensor;
	const int64_t row = t->dim[t->dims - 1], step = t->stride[t->dims - 1];
	const int64_t count = emu_tensor_elements(t);

	for (int64_t n = 0; n < count; n++) {
		const int64_t at = emu_tensor_at(t, n - n % row) +
		    n % row * step, from = place(c, n);
		double value = c->narrow ? (double)c->narrow[from] :
		    conv->arithmetic == EMU_FP64 ? c->wide[from] :
		    (double)(float)c->wide[from];

		value *= conv->alpha;
		if (conv->round_output)
			value = (double)emu_round((float)value, EMU_FP16);
		if (conv->beta != 0)
			value += conv->beta * emu_tensor_load(touched,
			    c->data, t->type, at);
		emu_tensor_store(touched, c->data, t->type, at, value);
	}
}

/* ---- the whole ---------------------------------------------------------- */

enum { X, W, Y, COPIES };

static void
drop(struct copy *copies)
{
	for (int i = 0; i < COPIES; i++) {
		free(copies[i].narrow);
		free(copies[i].wide);
		copies[i].narrow = NULL;
		copies[i].wide = NULL;
	}
}

/* In FP32 by oneDNN, or wide by the plain loop. EMU_NOT_SUPPORTED: oneDNN
 * cannot do it, and nothing was written. */
static int
compute(const struct emu_conv *conv, struct copy *copies, bool wide,
    struct emu_touched *touched)
{
	const struct emu_dense dense = dense_of(conv);
	const struct emu_tensor *output = emu_conv_output(conv);
	int status = EMU_OK;

	for (int i = 0; i < COPIES; i++) {
		if (!make_room(&copies[i], wide))
			return EMU_OUT_OF_MEMORY;
		if (copies[i].tensor != output)
			pack(touched, &copies[i], conv->arithmetic);
	}
	if (wide) {
		emu_count(EMU_convolutions_plain, 1);
		emu_conv_plain(&dense, copies[X].wide, copies[W].wide,
		    copies[Y].wide);
	} else if (!emu_conv_onednn(&dense, copies[X].narrow,
	    copies[W].narrow, copies[Y].narrow))
		status = EMU_NOT_SUPPORTED;
	for (int i = 0; i < COPIES && !status; i++)
		if (copies[i].tensor == output)
			unpack(touched, &copies[i], conv);
	return status;
}

/* `own` bytes of the traffic are not device memory. */
static int
run(const struct emu_conv *conv, void *x, void *w, void *y, uint64_t own)
{
	struct copy copies[COPIES] = {
		{ .tensor = &conv->x, .data = x },
		{ .tensor = &conv->w, .data = w,
		  .flipped = conv->mode == CUDNN_CONVOLUTION },
		{ .tensor = &conv->y, .data = y }
	};
	const unsigned mode = emu_float_mode(EMU_FLOAT_MODE);
	const bool wide = EMU_TSAN || conv->arithmetic == EMU_FP64 ||
	    emu_device_sums() != EMU_SUMS_FAST;
	struct emu_touched touched = { 0 };
	int status;

	if (conv->arithmetic != EMU_FP64 &&
	    emu_device_sums() == EMU_SUMS_EXACT)
		emu_device_not_exact("convolutions are added in FP64");
	status = compute(conv, copies, wide, &touched);

	drop(copies);
	if (status == EMU_NOT_SUPPORTED) {
		touched.bytes = 0;
		status = compute(conv, copies, true, &touched);
		drop(copies);
	}
	if (!status) {
		touched.bytes -= own;
		emu_count(EMU_gemm_bytes, touched.bytes);
		emu_clock_compute(conv->arithmetic, emu_conv_operations(conv),
		    touched.bytes);
	}
	emu_float_mode(mode);
	return status;
}

int
emu_conv_run(const struct emu_conv *conv, void *x, void *w, void *y)
{
	return run(conv, x, w, y, 0);
}

void *
emu_conv_run_aside(const struct emu_conv *conv, void *x, void *w, void *y,
    struct emu_tensor *tensor_out)
{
	struct emu_conv aside = *conv;
	struct emu_tensor *const outputs[] = { [EMU_CONV_FPROP] = &aside.y,
		[EMU_CONV_DGRAD] = &aside.x, [EMU_CONV_WGRAD] = &aside.w };
	struct emu_tensor *const output = outputs[conv->operation];
	uint64_t bytes;
	void *data;

	output->type = conv->arithmetic == EMU_FP64 ? CUDNN_DATA_DOUBLE :
	    CUDNN_DATA_FLOAT;
	emu_tensor_lay_out(output, CUDNN_TENSOR_NCHW);
	aside.round_output = false;
	bytes = emu_tensor_extent(output);
	data = malloc(bytes);
	if (data && run(&aside, output == &aside.x ? data : x, output ==
	    &aside.w ? data : w, output == &aside.y ? data : y, bytes)) {
		free(data);
		data = NULL;
	}
	*tensor_out = *output;
	return data;
}
