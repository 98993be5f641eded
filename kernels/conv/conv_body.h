/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/conv/conv_body.h -- the sample of a convolution, once for both sides:
 * conv_check.cu (GPU) and twins_conv.c (CPU). As cast.h: the same bits on
 * both.
 *
 * All three operations are one sum for each output, over four axes (channels or
 * images, and space), of an element of tensor A, which moves with the output
 * and may miss the tensor (padding, gaps of a stride), times one of tensor B:
 *
 *              A   B   axes               one output is
 *   fprop      x   w   c of group, taps   (n, space) x k
 *   dgrad      y   w   k of group, taps   (n, space) x c
 *   wgrad      x   y   n, space of y      (c of group, tap) x k
 *
 * conv_job.c makes struct ac_conv_job of that: plain offsets and steps. The
 * terms are numbered with axis 0 running fastest; lane t of 256 adds terms t,
 * t + 256, ...; 32 neighbouring lanes are added l with l ^ 16, ^ 8, ^ 4, ^ 2,
 * ^ 1, and the eight sums from the first to the last. */
#ifndef AC_KERNELS_CONV_BODY_H
#define AC_KERNELS_CONV_BODY_H

#include "kernels/conv/conv_look.h"

/* Before a loop over registers, which have no addresses. */
#ifdef __CUDACC__
#define AC_CONV_UNROLLED _Pragma("unroll")
#else
#define AC_CONV_UNROLLED
#endif

enum {
	AC_CONV_AXES = 4,
	AC_CONV_LANES = AC_CAST_BLOCK,
	AC_CONV_WARPS = AC_CONV_LANES / AC_CAST_LANES,
	AC_CONV_PROBES = 32,    /* elements of each operand */
	AC_CONV_LARGEST = 0x46ffe000, /* bits of 32752, half of FP16's most */
	AC_CONV_BAD = 1 << 16   /* next to verdicts: an output is not finite */
};

/* With digit d on this axis: A's coordinate is (base + d step) / div, if that
 * is whole and within [0, limit). */
struct ac_conv_axis {
	int64_t a, b;           /* strides of A by coordinate, B by digit */
	int32_t count, step, div, limit;
};

/* A position or a channel: what it adds to offsets. */
struct ac_conv_line {
	int64_t a, b, out, z, bias;
	int32_t base[AC_CONV_AXES]; /* of positions */
};

struct ac_conv_scratch {
	uint32_t arrived;       /* blocks that have finished */
	uint32_t found;         /* AC_VERDICT_*, AC_CONV_BAD */
	uint32_t reserved[2];
	ac_conv_looks looks;  /* row + col * AC_CONV_SIDE */
};

struct ac_conv_job {
	struct ac_conv_line line[2][AC_CONV_SIDE]; /* positions, channels */
	struct ac_conv_axis axis[AC_CONV_AXES];
	const float *a, *b, *out, *z, *bias;
	int64_t  terms;
	/* The whole output: axes by stride, those that continue one another
	 * made one. */
	int64_t  scan_count, scan_dim[5], scan_stride[5];
	uint32_t scan_axes;
	/* Of A and B: offsets of elements, the same at each call. */
	int64_t  probe[2][AC_CONV_PROBES];
	uint32_t probes[2];
	uint32_t count[2];      /* of lines */
	uint32_t relu, reserved;
	float    alpha, alpha2;
	struct ac_conv_scratch *scratch;
	struct ac_conv_post *post;
	uint64_t number;
};

/* The host compiler writes it, the GPU reads it. */
static_assert(sizeof(struct ac_conv_job) == 2632, "job layout");
static_assert(sizeof(struct ac_conv_post) == 40, "post layout");
static_assert(sizeof(struct ac_conv_scratch)
    == AC_CONV_CHECK_DOUBLES * sizeof(double), "scratch layout");

/* What there is to do for `check`. Pure. */
void ac_conv_job_make(const struct ac_conv_check *check,
    struct ac_conv_job *job_out);

/* ---- One sampled output ------------------------------------------------ */

/* A term's number, axis by axis. */
struct ac_conv_digits {
	int32_t at[AC_CONV_AXES];
};

AC_CAST_BODY struct ac_conv_digits
ac_conv_digits_of(const struct ac_conv_job *job, uint32_t number)
{
	struct ac_conv_digits digits;

	AC_CONV_UNROLLED
	for (int i = 0; i < AC_CONV_AXES; i++) {
		const uint32_t count = (uint32_t)job->axis[i].count;

		digits.at[i] = (int32_t)(number % count);
		number = number / count;
	}
	return digits;
}

/* digits + step; past the last term, anything. */
AC_CAST_BODY void
ac_conv_advance(const struct ac_conv_job *job,
    const struct ac_conv_digits *step, struct ac_conv_digits *digits)
{
	int32_t carry = 0;

	AC_CONV_UNROLLED
	for (int i = 0; i < AC_CONV_AXES; i++) {
		/* Each below count: their sum may be beyond int32_t. */
		const uint32_t next = (uint32_t)digits->at[i]
		    + (uint32_t)step->at[i] + (uint32_t)carry;
		const uint32_t count = (uint32_t)job->axis[i].count;

		carry = next >= count;
		digits->at[i] = (int32_t)(carry ? next - count : next);
	}
}

/* Where a term's factors are. */
struct ac_conv_pair {
	int64_t a, b;
	bool    is_inside;
};

AC_CAST_BODY struct ac_conv_pair
ac_conv_pair_of(const struct ac_conv_job *job,
    const struct ac_conv_pair *from, const int32_t *base,
    const struct ac_conv_digits *digits)
{
	struct ac_conv_pair pair = *from;

	AC_CONV_UNROLLED
	for (int i = 0; i < AC_CONV_AXES; i++) {
		const struct ac_conv_axis *axis = &job->axis[i];
		const int32_t at = base[i] + digits->at[i] * axis->step;
		int32_t coordinate = at;

		if (axis->div > 1) {
			coordinate = at / axis->div;
			pair.is_inside &= coordinate * axis->div == at;
		}
		pair.is_inside &= at >= 0 && coordinate < axis->limit;
		pair.a += coordinate * axis->a;
		pair.b += digits->at[i] * axis->b;
	}
	return pair;
}

/* `dot` in FP64 and the output, into the scratch; what was found. */
AC_CAST_BODY uint32_t
ac_conv_compare(const struct ac_conv_job *job, uint32_t row, uint32_t col,
    double dot)
{
	const struct ac_conv_line *position = &job->line[0][row];
	const struct ac_conv_line *channel = &job->line[1][col];
	const float out = job->out[position->out + channel->out];
	const double added = (double)job->alpha * dot;
	double hides = 0;
	struct ac_conv_look look;
	bool clipped;

	if (job->z)
		hides = hides + (double)job->alpha2
		    * (double)job->z[position->z + channel->z];
	if (job->bias)
		hides = hides + (double)job->bias[channel->bias];
	clipped = job->relu && added + hides < 0;
	look = ac_conv_look_of(out, clipped ? 0 : added + hides, added);
	/* Of what is cut off nobody knows whether it was right. */
	if (clipped)
		look.added = 0;
	look.hidden = clipped || ac_conv_hides(hides, look.added);
	ac_conv_look_store(job->scratch->looks, &look,
	    (int)(row + col * AC_CONV_SIDE));
	return ac_cast_is_finite((float)(added + hides)) || clipped ? 0
	    : AC_VERDICT_NONFINITE;
}

/* ---- The whole output -------------------------------------------------- */

AC_CAST_BODY int64_t
ac_conv_scan_offset(const struct ac_conv_job *job, int64_t number)
{
	const uint32_t last = job->scan_axes - 1;
	int64_t offset = 0;

	AC_CAST_ROLLED
	for (uint32_t i = 0; i < last; i++) {
		const int64_t next = number / job->scan_dim[i];

		offset += (number - next * job->scan_dim[i])
		    * job->scan_stride[i];
		number = next;
	}
	return offset + number * job->scan_stride[last];
}

AC_CAST_BODY uint32_t
ac_conv_found_in(float out)
{
	const uint32_t magnitude = ac_cast_bits(out) & 0x7fffffff;

	if (magnitude >= AC_CAST_INF)
		return AC_CONV_BAD;
	return magnitude > AC_CONV_LARGEST ? AC_VERDICT_LARGE : 0;
}

/* ---- The end ----------------------------------------------------------- */

AC_CAST_BODY void
ac_conv_release(uint64_t number, uint64_t *to)
{
#ifdef __CUDACC__
	__threadfence_system();
	*(volatile uint64_t *)to = number;
#else
	__atomic_store_n(to, number, __ATOMIC_RELEASE);
#endif
}

/* Positions are lines 0 .. 15, channels 16 .. 31. */
AC_CAST_BODY struct ac_conv_norm
ac_conv_norm_of(const struct ac_conv_job *job, uint32_t line)
{
	const uint32_t side = line / AC_CONV_SIDE, own = line % AC_CONV_SIDE;

	return ac_conv_norm_line(job->scratch->looks, (int)line,
	    own < job->count[side] ? (int)job->count[!side] : 0);
}

/* What calls with other data have another one of: the energy of some elements
 * of A (0) or B (1). */
AC_CAST_BODY float
ac_conv_energy(const struct ac_conv_job *job, uint32_t operand)
{
	const float *from = operand ? job->b : job->a;
	double sum = 0;

	AC_CAST_ROLLED
	for (uint32_t i = 0; i < job->probes[operand]; i++) {
		const float x = from[job->probe[operand][i]];

		if (ac_cast_is_finite(x)) /* a NaN has many spellings */
			sum = sum + (double)x * (double)x;
	}
	return (float)sum;
}

/* A line has 16 outputs at most and is not looked at again, but may lose 3 tol:
 * where sizes are distributed exponentially and the error is 0.57 tol, behind
 * ReLU four are over that by chance in two of 100,000 lines with 16, more in
 * fewer than one, not in 1.5 of 100. */
AC_CAST_BODY float
ac_conv_line_error(uint32_t relu, const struct ac_conv_norm *norm)
{
	return relu ? ac_conv_norm_shown(norm, AC_CONV_SIDE, AC_CONV_SIDE)
	    : ac_conv_relative(norm->lost, norm->all);
}

/* By one thread: everything is compared, summed by lines and looked through. */
AC_CAST_BODY void
ac_conv_close(const struct ac_conv_job *job,
    const struct ac_conv_norm *norms, const float *energy)
{
	volatile struct ac_conv_scratch *scratch = job->scratch;
	volatile struct ac_conv_post *post = job->post;
	const uint32_t found = scratch->found;
	struct ac_conv_norm whole = ac_conv_norm_none();
	float line_error = 0, exact = 0;

	AC_CAST_ROLLED
	for (int i = 0; i < 2 * AC_CONV_SIDE; i++) {
		ac_conv_raise(ac_conv_line_error(job->relu, &norms[i]),
		    &line_error);
		ac_conv_raise(ac_conv_norm_whole(&norms[i]),
		    &exact);
		if (i >= AC_CONV_SIDE)
			continue;
		ac_conv_norm_join(&whole, &norms[i]);
	}
	ac_conv_raise(ac_conv_norm_exact(&whole), &exact);
	scratch->arrived = 0;
	scratch->found = 0;
	post->verdict = (found & AC_VERDICT_NONFINITE)
	    | (found & AC_VERDICT_LARGE || (found & AC_CONV_BAD
	    && !(found & AC_VERDICT_NONFINITE)) ? AC_VERDICT_LARGE : 0);
	post->samples = whole.added != 0;
	post->error = ac_conv_norm_final(job->relu, &whole);
	post->line_error = line_error;
	post->exact = exact;
	post->energy[0] = energy[0];
	post->energy[1] = energy[1];
	post->reserved = 0;
	ac_conv_release(job->number, &job->post->number);
}

#endif
