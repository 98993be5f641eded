/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cudnn/conv/cudnn_conv_plain.c -- a convolution as a plain loop: FP64
 * tensors, builds with TSan, AUTOCAST_EMU_SUMS other than fast, and what oneDNN
 * refuses. */
#include "emulator/cudnn/conv/cudnn_conv.h"

/* The arrays are copies that no other call has: TSan finds nothing in them, and
 * takes fifty times as long. */
#define OWN_COPIES __attribute__((no_sanitize("thread")))

/* One image and channel of x, one filter plane, one image and channel of y. */
struct planes {
	double *x, *w, *y;
};

OWN_COPIES static void
combine(const struct emu_dense *d, const struct planes *p, int64_t in,
    int64_t filter, int64_t out)
{
	switch (d->operation) {
	case EMU_CONV_FPROP:
		p->y[out] += p->x[in] * p->w[filter];
		break;
	case EMU_CONV_DGRAD:
		p->x[in] += p->y[out] * p->w[filter];
		break;
	default:
		p->w[filter] += p->x[in] * p->y[out];
	}
}

/* Along the last dimension, at fixed positions of the others. */
OWN_COPIES static void
run_row(const struct emu_dense *d, const struct planes *p, int64_t in,
    int64_t filter, int64_t out)
{
	for (int64_t f = 0; f < d->filter[2]; f++)
		for (int64_t o = 0; o < d->out[2]; o++) {
			const int64_t i = o * d->stride[2] - d->pad[2] +
			    f * d->dilation[2];

			if (i >= 0 && i < d->in[2])
				combine(d, p, in * d->in[2] + i,
				    filter * d->filter[2] + f,
				    out * d->out[2] + o);
		}
}

OWN_COPIES static void
run_planes(const struct emu_dense *d, const struct planes *p)
{
	for (int64_t f0 = 0; f0 < d->filter[0]; f0++)
	for (int64_t f1 = 0; f1 < d->filter[1]; f1++)
	for (int64_t o0 = 0; o0 < d->out[0]; o0++)
	for (int64_t o1 = 0; o1 < d->out[1]; o1++) {
		const int64_t i0 = o0 * d->stride[0] - d->pad[0] +
		    f0 * d->dilation[0];
		const int64_t i1 = o1 * d->stride[1] - d->pad[1] +
		    f1 * d->dilation[1];

		if (i0 >= 0 && i0 < d->in[0] && i1 >= 0 && i1 < d->in[1])
			run_row(d, p, i0 * d->in[1] + i1,
			    f0 * d->filter[1] + f1, o0 * d->out[1] + o1);
	}
}

static int64_t
volume(const int64_t size[EMU_CONV_SPACE])
{
	return size[0] * size[1] * size[2];
}

void
emu_conv_plain(const struct emu_dense *d, double *x, double *w, double *y)
{
	for (int64_t n = 0; n < d->n; n++)
	for (int64_t k = 0; k < d->groups * d->k; k++)
	for (int64_t c = 0; c < d->c; c++) {
		const int64_t channel = k / d->k * d->c + c;
		const struct planes planes = {
			x + (n * d->groups * d->c + channel) * volume(d->in),
			w + (k * d->c + c) * volume(d->filter),
			y + (n * d->groups * d->k + k) * volume(d->out)
		};

		run_planes(d, &planes);
	}
}
