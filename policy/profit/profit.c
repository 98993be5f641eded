/* SPDX-License-Identifier: Apache-2.0 */
/* policy/profit/profit.c -- the profit model: rates.def and the formulas of
 * profit.h. Pure arithmetic; called by decide.c and explain.c. */
#include "policy/profit/parts.h"
#include "policy/profit/tiles.h"
#include "policy/language/names.h"

#include "base/text.h"

#include <math.h>
#include <string.h>

/* Bytes per cast element: FP32 read, 16 bits written, or back. */
#define CAST_BYTES(terms) (4.0 + 2.0 * (terms))

/* Kernels around the product of a cast: probe, cast, verify, mend. */
#define CAST_LAUNCHES 4.0

/* More than for another product: neighbours of a group may be made apart. */
#define GROUP_LAUNCHES 1.0

/* What they take on top of that product, measured on an H200 (bench/results/:
 * ours-amp less pure16, from 1024 to 8192): however small it is, 26 us, as long
 * as ten launches are assumed to take; 1.9 times what those bytes take; 1.6
 * times 8 bytes an output where D is not the product. */
#define CAST_EMPTY  10.4
#define CAST_SLOWER 1.9
#define APART_BYTES (1.6 * 8)

/* Kernels around a convolution that cuDNN converts: x, w, y. */
#define CONV_LAUNCHES 3.0

static const struct ac_rates rows[] = {
#define RATES(sm, name, gpu, multiprocessors, fp32, tf32, fp16, bf16, \
    bandwidth, launch, host_launch, measured, source) \
	{ gpu, name, sm, multiprocessors, fp32, tf32, fp16, bf16, bandwidth, \
	  launch, host_launch, measured, source },
#include "policy/profit/rates.def"
#undef RATES
};
enum { ROW_COUNT = sizeof(rows) / sizeof(rows[0]) };

const struct ac_rates *
ac_rates_row(unsigned i)
{
	return i < ROW_COUNT ? &rows[i] : NULL;
}

const struct ac_rates *
ac_rates_find(const char *gpu, int sm)
{
	const struct ac_rates *nearest = NULL;

	for (unsigned i = 0; i < ROW_COUNT; i++) {
		/* One for every GPU of its compute capability. */
		if (strcmp(rows[i].gpu, "*") == 0) {
			if (rows[i].sm <= sm &&
			    (nearest == NULL || rows[i].sm > nearest->sm))
				nearest = &rows[i];
		} else if ((rows[i].sm == sm || sm == 0) && gpu != NULL &&
		    ac_text_glob(rows[i].gpu, gpu)) {
			return &rows[i];
		}
	}
	return nearest;
}

void
ac_rates_add_source(const struct ac_rates *rates, struct ac_text *text)
{
	ac_text_addf(text, "%s%s", rates->measured ? "" :
	    "from public figures: ", rates->source);
}

const struct ac_rates *
ac_rates_of(const struct ac_op *op)
{
	const double sm = ac_op_has(op, AC_Q_SM) ? op->quantity[AC_Q_SM] : 0;

	if (op->rates != NULL)
		return op->rates;
	return ac_rates_find(op->fact[AC_FACT_GPU],
	    sm > 0 && sm < 1e6 ? (int)sm : 0);
}

const char *const ac_rate_names[AC_RATE_COUNT] = {
	[AC_RATE_FP32] = "fp32",
	[AC_RATE_TF32] = "tf32",
	[AC_RATE_FP16] = "fp16",
	[AC_RATE_BF16] = "bf16",
	[AC_RATE_BANDWIDTH] = "bandwidth",
	[AC_RATE_LAUNCH] = "launch",
	[AC_RATE_HOST_LAUNCH] = "host-launch",
};

double *
ac_rate_of(struct ac_rates *rates, enum ac_rate which)
{
	double *const all[AC_RATE_COUNT] = {
		[AC_RATE_FP32] = &rates->fp32,
		[AC_RATE_TF32] = &rates->tf32,
		[AC_RATE_FP16] = &rates->fp16,
		[AC_RATE_BF16] = &rates->bf16,
		[AC_RATE_BANDWIDTH] = &rates->bandwidth,
		[AC_RATE_LAUNCH] = &rates->launch,
		[AC_RATE_HOST_LAUNCH] = &rates->host_launch,
	};

	return all[which];
}

/* ---- One product ------------------------------------------------------- */

struct work {
	double m, n, k, batch;
	double flops, inputs, outputs;  /* elements; batch included */
	double words;                   /* 4-byte words per element */
	bool   is_skinny, is_complex, by_pointers, is_apart;
};

/* Programs pass anything; what is not a size does no work. */
static double
size_of(const struct ac_op *op, enum ac_quantity which)
{
	const double size = op->quantity[which];

	return size > 0 && size < 1e19 ? size : 0;
}

static bool
read_work(const struct ac_op *op, struct work *work_out)
{
	const double m = size_of(op, AC_Q_M), n = size_of(op, AC_Q_N);
	const double k = size_of(op, AC_Q_K);
	const double batch = ac_op_has(op, AC_Q_BATCH) ?
	    size_of(op, AC_Q_BATCH) : 1;
	const bool is_complex = ac_op_is(op, AC_FACT_TYPE, "c32");

	if (!ac_op_has(op, AC_Q_M) || !ac_op_has(op, AC_Q_N) ||
	    !ac_op_has(op, AC_Q_K))
		return false;
	*work_out = (struct work){
		.m = m, .n = n, .k = k, .batch = batch,
		.flops = (is_complex ? 8 : 2) * m * n * k * batch,
		.inputs = (m + n) * k * batch,
		.outputs = m * n * batch,
		.words = is_complex ? 2 : 1,
		.is_skinny = m <= AC_WIDEST_SKINNY ||
		    n <= AC_WIDEST_SKINNY,
		.is_complex = is_complex,
		.by_pointers = ac_operation_is_in_arrays(op->operation),
		.is_apart = ac_operation_is_in_arrays(op->operation) ||
		    (op->fact[AC_FACT_EPILOGUE] &&
		    !ac_op_is(op, AC_FACT_EPILOGUE, "none")),
	};
	return true;
}

static double
rate_of(const struct ac_rates *rates, enum ac_rung arithmetic)
{
	switch (ac_rung_rows[arithmetic].base) {
	case AC_RUNG_KEEP:
		return rates->fp32;
	case AC_RUNG_TF32:
		return rates->tf32;
	case AC_RUNG_FP16:
		return rates->fp16;
	case AC_RUNG_BF16:
		return rates->bf16;
	default:
		return 0;
	}
}

static struct ac_tiled
tiled_of(const struct ac_rates *rates, const struct work *work,
    enum ac_rung arithmetic)
{
	return (struct ac_tiled){
		.m = work->m, .n = work->n, .k = work->k, .batch = work->batch,
		.words = work->words, .rate = rate_of(rates, arithmetic),
		.has_tensor_cores = arithmetic != AC_RUNG_KEEP,
	};
}

/* A product in that arithmetic whose inputs take `bytes` per word. Operands
 * come while it multiplies; a tile is stored when it is done. */
static double
product_seconds(const struct ac_rates *rates, const struct work *work,
    enum ac_rung arithmetic, double bytes)
{
	const struct ac_tiled tiled = tiled_of(rates, work, arithmetic);
	double compute, load, store;

	if (!(tiled.rate > 0) || !(rates->bandwidth > 0))
		return (double)INFINITY;
	compute = work->is_skinny ? 0 : ac_tiles_seconds(rates, &tiled);
	load = bytes * work->inputs * work->words / rates->bandwidth;
	store = 4 * work->outputs * work->words / rates->bandwidth;
	return (load > compute ? load : compute) + store + rates->launch;
}

/* ---- The ways to make a call ------------------------------------------- */

/* The arithmetic that a program asked for; a GPU without it does FP32. */
static enum ac_rung
asked_rung(const struct ac_rates *rates, const struct ac_op *op)
{
	enum ac_rung rung = AC_RUNG_KEEP;

	if (ac_op_is(op, AC_FACT_ASKED, "tf32"))
		rung = AC_RUNG_TF32;
	else if (ac_op_is(op, AC_FACT_ASKED, "fast16f"))
		rung = AC_RUNG_FP16;
	else if (ac_op_is(op, AC_FACT_ASKED, "fast16bf"))
		rung = AC_RUNG_BF16;
	return rate_of(rates, rung) > 0 ? rung : AC_RUNG_KEEP;
}

/* The product of casts: its terms along K, in chunks that add to what those
 * before them wrote. */
static double
terms_seconds(const struct ac_rates *rates, const struct ac_op *op,
    const struct work *work, enum ac_rung rung)
{
	const double terms = ac_rung_rows[rung].terms;
	const uint32_t chunk = ac_rung_chunk(op, rung);
	const uint64_t more = chunk && work->k > 1 ?
	    ((uint64_t)work->k - 1) / chunk : 0;
	struct work all = *work;

	all.k *= terms;
	all.inputs *= terms;
	return product_seconds(rates, &all, rung, 2) + (double)more *
	    (rates->launch + 8 * work->outputs / rates->bandwidth);
}

static double
cast_seconds(const struct ac_rates *rates, const struct ac_op *op,
    const struct work *work, enum ac_rung rung)
{
	const double terms = ac_rung_rows[rung].terms;
	double moved = CAST_SLOWER * CAST_BYTES(terms) * work->inputs;

	if (work->is_apart)
		moved += APART_BYTES * work->outputs;
	return moved / rates->bandwidth + CAST_EMPTY * rates->launch +
	    terms_seconds(rates, op, work, rung);
}

/* ---- Convolutions ------------------------------------------------------ */

/* What implicit GEMM reaches of the rate of a large product. */
#define CONV_EFFICIENCY 0.75

/* NCHW to NHWC or back: FP32 read and written. */
#define TRANSPOSE_BYTES 8.0

/* Of x, w and y together; those of the product if the bytes are not known. */
static double
conv_elements(const struct ac_op *op, const struct work *work)
{
	return ac_op_has(op, AC_Q_BYTES) ? size_of(op, AC_Q_BYTES) / 4 :
	    work->inputs + work->outputs;
}

static double
conv_seconds(const struct ac_rates *rates, const struct ac_op *op,
    const struct work *work, enum ac_rung arithmetic)
{
	const bool halves = arithmetic == AC_RUNG_FP16;
	const double rate = rate_of(rates, arithmetic);
	const double elements = conv_elements(op, work);
	double compute, moved, around = 0, seconds;

	if (!(rate > 0) || !(rates->bandwidth > 0))
		return (double)INFINITY;
	compute = work->flops / (CONV_EFFICIENCY * rate);
	if (halves)
		around = CAST_BYTES(1) * elements;
	else if (arithmetic != AC_RUNG_KEEP &&
	    ac_op_is(op, AC_FACT_LAYOUT, "nchw"))
		around = TRANSPOSE_BYTES * elements;
	moved = (halves ? 2 : 4) * elements / rates->bandwidth;
	seconds = (compute > moved ? compute : moved) + rates->launch +
	    around / rates->bandwidth;
	return halves ? seconds + CONV_LAUNCHES * rates->launch : seconds;
}

static double
conv_way_seconds(const struct ac_rates *rates, const struct ac_op *op,
    const struct work *work, enum ac_rung rung, enum ac_tactic tactic)
{
	const enum ac_rung arithmetic = rung != AC_RUNG_KEEP ? rung :
	    asked_rung(rates, op);
	double host = rates->host_launch, seconds;

	if (rung != AC_RUNG_KEEP && (tactic != AC_TACTIC_LIBRARY ||
	    (rung != AC_RUNG_TF32 && rung != AC_RUNG_FP16)))
		return (double)INFINITY;
	seconds = conv_seconds(rates, op, work, arithmetic);
	if (arithmetic == AC_RUNG_FP16)
		host *= 1 + CONV_LAUNCHES;
	return seconds > host ? seconds : host;
}

/* ---- Any call ---------------------------------------------------------- */

double
ac_profit_seconds(const struct ac_rates *rates, const struct ac_op *op,
    enum ac_rung rung, enum ac_tactic tactic)
{
	const bool is_cast = tactic == AC_TACTIC_CAST && rung != AC_RUNG_KEEP;
	const bool is_group = op->operation == AC_OP_GEMM_GROUPED;
	double seconds, host = rates->host_launch;
	struct work work;

	if (!read_work(op, &work))
		return 0;
	if (ac_op_is_conv(op))
		return conv_way_seconds(rates, op, &work, rung, tactic);
	if (rung == AC_RUNG_KEEP && !ac_operation_is_timed(op->operation)) {
		const struct ac_tiled tiled = tiled_of(rates, &work,
		    asked_rung(rates, op));

		return is_group ? ac_group_seconds(rates, &tiled) :
		    ac_syrk_seconds(rates, &tiled);
	}
	if (rung == AC_RUNG_KEEP)
		seconds = product_seconds(rates, &work, asked_rung(rates, op),
		    4);
	else if (is_cast && (work.is_complex || rung == AC_RUNG_TF32))
		seconds = (double)INFINITY;
	else if (is_cast)
		seconds = cast_seconds(rates, op, &work, rung);
	else if (work.by_pointers)
		seconds = (double)INFINITY;
	else
		seconds = product_seconds(rates, &work, rung, 4);
	if (is_cast)
		host *= 1 + CAST_LAUNCHES;
	if (is_cast && is_group) {
		seconds += GROUP_LAUNCHES * rates->launch;
		host += GROUP_LAUNCHES * rates->host_launch;
	}
	return seconds > host ? seconds : host;
}

double
ac_profit_apart_seconds(const struct ac_rates *rates, const struct ac_op *op)
{
	struct work work;

	return ac_op_is_conv(op) || !read_work(op, &work) || work.is_apart
	    || !(rates->bandwidth > 0) ? 0
	    : APART_BYTES * work.outputs / rates->bandwidth;
}

/* ---- From times to rates ----------------------------------------------- */

/* Steps towards a rate, each of which leaves a small part of the distance: a
 * time is nearly in inverse proportion to it. */
#define RATE_STEPS 8

double
ac_profit_rate(const struct ac_rates *rates, enum ac_rate which, double size,
    double seconds)
{
	static const enum ac_rung arithmetic[AC_RATE_COUNT] = {
		[AC_RATE_FP32] = AC_RUNG_KEEP, [AC_RATE_TF32] = AC_RUNG_TF32,
		[AC_RATE_FP16] = AC_RUNG_FP16, [AC_RATE_BF16] = AC_RUNG_BF16,
	};
	const struct work work = { .m = size, .n = size, .k = size, .batch = 1,
		.inputs = 2 * size * size, .outputs = size * size, .words = 1 };
	const double plain = 2 * size * size * size / seconds;
	const bool halves = which == AC_RATE_FP16 || which == AC_RATE_BF16;
	struct ac_rates guess = *rates;
	double *const rate = ac_rate_of(&guess, which);
	double factor = 1;

	*rate = plain;
	for (unsigned i = 0; i < RATE_STEPS; i++) {
		factor = (product_seconds(&guess, &work, arithmetic[which],
		    halves ? 2 : 4) - rates->launch) / seconds;
		*rate *= factor;
	}
	/* Something else than this arithmetic took the time. */
	return fabs(factor - 1) < 0.01 ? *rate : plain;
}
