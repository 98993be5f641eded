/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/twins/twins_finish.c -- what finish, write and ranges do, on the CPU:
 * the outputs one after the other. The sample is twins_sample.c's. */
#include "kernels/recast/recast_sample.h"
#include "kernels/twins/twins_recast.h"

enum {
	STRIP = 64,             /* rows whose lists are kept at a time */
	LISTED = 32             /* bad factors that a list holds */
};

/* Where a line is inf. More than fit: the line is looked through each time. */
struct list {
	uint32_t mark;
	int      count;         /* LISTED + 1: more than fit */
	int64_t  k[LISTED];
};

/* A product's work on its outputs. */
struct work {
	const struct ac_recast *r;
	struct ac_recast_duty duty;
	float alpha, beta;
	struct ac_meter meter;
};

/* Element (line, k) of an operand. */
static float
factor(struct work *work, int operand, int64_t matrix, int64_t line, int64_t k)
{
	const struct ac_recast_operand *o = &work->r->operand[operand];

	return ac_read_one(&work->meter, ac_recast_matrix(o, matrix)
	    + ac_recast_offset(o, line, k));
}

static void
fill_list(struct work *work, int operand, int64_t matrix, int64_t line,
    struct list *list)
{
	list->mark = list->count = 0;
	if (!work->duty.repair)
		return;
	work->meter.read += sizeof(uint32_t);
	list->mark = ac_recast_mark_of(&work->r->operand[operand], matrix,
	    line);
	if (list->mark != 1)
		return; /* nothing, or a NaN: no need to look */
	for (int64_t k = 0; k < work->r->k && list->count <= LISTED; k++) {
		if (ac_recast_is_finite(factor(work, operand, matrix, line,
		    k)))
			continue;
		if (list->count < LISTED)
			list->k[list->count] = k;
		list->count++;
	}
}

/* The products of an output with a factor that a list names. */
static uint32_t
products_of(struct work *work, int64_t matrix, int64_t row, int64_t col,
    const struct list *list)
{
	const bool all = list->count > LISTED;
	const int64_t count = all ? work->r->k : list->count;
	uint32_t products = 0;

	for (int64_t i = 0; i < count && products < 3; i++) {
		const int64_t k = all ? i : list->k[i];
		const float x = factor(work, 0, matrix, row, k);
		const float y = factor(work, 1, matrix, col, k);

		if (!ac_recast_is_finite(x) || !ac_recast_is_finite(y))
			products |= ac_recast_product(x, y);
	}
	return products;
}

static void
do_output(struct work *work, int64_t matrix, int64_t row, int64_t col,
    const struct list *of_row, const struct list *of_col)
{
	const struct ac_recast *r = work->r;
	float *c = ac_recast_c(r, matrix, row, col);
	uint32_t products;
	float value;

	if ((of_row->mark | of_col->mark) & 2)
		products = AC_RECAST_NEITHER;
	else
		products = products_of(work, matrix, row, col, of_row)
		    | products_of(work, matrix, row, col, of_col);
	if (!products && !work->duty.write)
		return;
	value = ac_read_one(&work->meter, work->duty.write
	    ? ac_recast_result(r, matrix, row, col) : c);
	value = ac_recast_repaired(value, products, work->alpha);
	if (work->duty.write) {
		if (work->beta != 0)
			work->meter.read += sizeof *c;
		value = ac_recast_sum(value, work->beta,
		    ac_recast_old(r, matrix, row, col));
	}
	ac_write_one(&work->meter, c, value);
}

static void
do_strip(struct work *work, int64_t matrix, int64_t first)
{
	const struct ac_recast *r = work->r;
	const int64_t rows = r->m - first < STRIP ? r->m - first : STRIP;
	struct list lists[STRIP], of_col;
	uint32_t marks = 0;

	for (int64_t i = 0; i < rows; i++) {
		fill_list(work, 0, matrix, first + i, &lists[i]);
		marks |= lists[i].mark;
	}
	for (int64_t j = 0; j < r->n; j++) {
		fill_list(work, 1, matrix, j, &of_col);
		for (int64_t i = 0; i < rows && (marks || of_col.mark
		    || work->duty.write); i++)
			do_output(work, matrix, first + i, j, &lists[i],
			    &of_col);
	}
}

static void
do_outputs(struct work *work)
{
	const struct ac_recast *r = work->r;

	for (int64_t matrix = 0; matrix < r->batch; matrix++)
		for (int64_t row = 0; row < r->m; row += STRIP)
			do_strip(work, matrix, row);
}

static void
clear_marks(struct work *work)
{
	for (int i = 0; i < 2; i++) {
		const struct ac_recast_operand *o = &work->r->operand[i];
		const int64_t words = ac_recast_mark_words(o);

		memset(o->marks, 0, (size_t)words * sizeof *o->marks);
		work->meter.written += (uint64_t)words * sizeof *o->marks;
	}
}

static struct work
work_of(const struct ac_recast *r)
{
	return (struct work){
		.r = r,
		.alpha = ac_cast_scalar_read(&r->alpha),
		.beta = ac_cast_scalar_read(&r->beta),
	};
}

void
ac_twin_recast_finish(const struct ac_twin_launch *launch, void **params)
{
	const struct ac_recast *r = params[0];
	const unsigned mode = ac_float_mode_enter();
	const bool probes = ac_recast_probes(r), each = probes && r->batch > 1;
	struct ac_recast_estimate estimate = {0};
	struct work work = work_of(r);

	(void)launch;
	work.duty = ac_recast_duty_of(r, r->state->todo);
	if (probes || work.duty.each)
		estimate = ac_twin_do_matrices(r, probes, work.duty.each,
		    &work.meter);
	work.duty.sample |= estimate.suspect;
	if (work.duty.repair || work.duty.write)
		do_outputs(&work);
	if (work.duty.sample)
		ac_twin_sample(r, work.duty.kept, &work.meter);
	else if (each)
		ac_recast_matrices_close(r);
	if (work.duty.clear)
		clear_marks(&work);
	if (each)
		estimate = ac_recast_estimate_all(r);
	ac_recast_close(r, &estimate);
	ac_float_mode_leave(mode);
	ac_meter_add(&work.meter);
}

void
ac_twin_recast_write(const struct ac_twin_launch *launch, void **params)
{
	const unsigned mode = ac_float_mode_enter();
	struct work work = work_of(params[0]);

	(void)launch;
	work.duty.write = true;
	do_outputs(&work);
	ac_float_mode_leave(mode);
	ac_meter_add(&work.meter);
}

static void
count_operand(const struct ac_recast_operand *o, struct ac_meter *meter,
    uint64_t *counts)
{
	for (int64_t b = 0; b < o->batch; b++)
		for (int64_t j = 0; j < o->cols; j++) {
			const float *x = ac_read_run(meter,
			    ac_recast_matrix(o, b) + j * o->ld, o->rows);

			for (int64_t i = 0; i < o->rows; i++)
				counts[ac_cast_bits(x[i]) >> 23 & 0xff]++;
		}
}

void
ac_twin_recast_ranges(const struct ac_twin_launch *launch, void **params)
{
	const struct ac_recast *r = params[0];
	uint64_t *counts, *copy;
	struct ac_meter meter = {0};

	(void)launch;
	memcpy(&counts, params[1], sizeof counts);
	memcpy(&copy, params[2], sizeof copy);
	for (int i = 0; i < 2; i++)
		count_operand(&r->operand[i], &meter,
		    counts + i * AC_RANGE_BINS);
	memcpy(copy, counts, 2 * AC_RANGE_BINS * sizeof *copy);
	r->state->arrived = 0;
	ac_meter_add(&meter);
}
