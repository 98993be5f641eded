/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/shim/test_conv_site.c -- which convolutions are one site, what the
 * policy and the report see of one, and what its answer becomes. */
#include "conv_site_world.h"

/* ---- A convolution ------------------------------------------------------ */

static struct ac_conv_query query;
static const char *caller = (const char *)1000;

static void
set(struct ac_conv_tensor *t, int dims, const int64_t *dim)
{
	int64_t stride = 1;

	t->dims = dims;
	for (int i = dims - 1; i >= 0; i--) {
		t->dim[i] = dim[i];
		t->stride[i] = stride;
		stride *= dim[i];
	}
}

/* Two images of 6 channels, 5 x 4, to 8 channels in 2 groups by 3 x 2, from a
 * place that nothing was called from before. */
static int
begin(void **state)
{
	static const int64_t x[] = { 2, 6, 5, 4 }, w[] = { 8, 3, 3, 2 },
		y[] = { 2, 8, 3, 3 };

	memset(&query, 0, sizeof query);
	query.caller = ++caller;
	query.math = CUDNN_DEFAULT_MATH;
	query.conv.operation = AC_OP_CONV_FPROP;
	query.conv.space = 2;
	set(&query.conv.x, 4, x);
	set(&query.conv.w, 4, w);
	set(&query.conv.y, 4, y);
	for (int i = 0; i < 3; i++)
		query.conv.stride[i] = query.conv.dilation[i] = 1;
	memset(&shim, 0, sizeof shim);
	memset(&answer, 0, sizeof answer);
	answer.rung = AC_RUNG_FP16;
	handle_record.device = 0;
	gpu.sm = 90;
	record = records;
	is_off = may_time = false;
	ac_region_mark = 0;
	decided = 0;
	counted = NULL;
	return 0;
}

static struct ac_conv_site *
find(void)
{
	struct ac_conv_site *site = ac_conv_site_of(&query);

	assert_non_null(site);
	return site;
}

/* ---- What is one site --------------------------------------------------- */

CASE_WITH(test_told_apart, begin, NULL)
{
	struct ac_conv *conv = &query.conv;
	struct ac_conv_site *first = find(), *other;
	uint64_t *const long_ones[] = { (uint64_t *)&query.caller,
		(uint64_t *)&query.provider,
		(uint64_t *)&conv->x.dim[0], (uint64_t *)&conv->x.stride[3],
		(uint64_t *)&conv->x.alignment, (uint64_t *)&conv->w.dim[1],
		(uint64_t *)&conv->y.dim[3], (uint64_t *)&conv->pad[1],
		(uint64_t *)&conv->post_pad[0], (uint64_t *)&conv->stride[0],
		(uint64_t *)&conv->dilation[1] };
	uint32_t *const short_ones[] = { &query.entry, &query.region,
		(uint32_t *)&query.device,
		(uint32_t *)&query.math, (uint32_t *)&query.algo,
		(uint32_t *)&conv->mode, (uint32_t *)&conv->operation,
		(uint32_t *)&conv->adds, (uint32_t *)&conv->scales,
		(uint32_t *)&conv->x.type };

	assert_ptr_equal(find(), first);
	assert_int_equal(decided, 1);
	assert_memory_equal(&first->query, &query, sizeof query);
	for (size_t i = 0; i < sizeof long_ones / sizeof *long_ones; i++) {
		++*long_ones[i];
		other = find();
		assert_ptr_not_equal(other, first);
		assert_memory_equal(&other->query, &query, sizeof query);
		assert_ptr_equal(find(), other);
		--*long_ones[i];
		assert_ptr_equal(find(), first);
	}
	for (size_t i = 0; i < sizeof short_ones / sizeof *short_ones; i++) {
		++*short_ones[i];
		other = find();
		assert_ptr_not_equal(other, first);
		assert_ptr_equal(find(), other);
		--*short_ones[i];
		assert_ptr_equal(find(), first);
	}
}

/* More of each way than a look-up looks at. */
enum { WAYS = 16, EACH_WAY = 100 };

/* From one place, as all of a framework's come: no extent and no stride is so
 * like the others that its sites crowd in one part of the table. */
CASE_WITH(test_many_of_a_place, begin, NULL)
{
	struct ac_conv *conv = &query.conv;
	int64_t *const changed[WAYS] = { &conv->x.dim[0], &conv->x.dim[1],
		&conv->x.dim[2], &conv->x.dim[3], &conv->x.dim[4],
		&conv->x.stride[0], &conv->x.stride[1], &conv->x.stride[2],
		&conv->x.stride[3], &conv->y.dim[2], &conv->y.dim[3],
		&conv->y.stride[0], &conv->y.stride[1], &conv->y.stride[2],
		&conv->w.dim[0], &conv->w.dim[2] };

	for (size_t i = 0; i < WAYS; i++) {
		const int64_t was = *changed[i];

		for (int j = 0; j < EACH_WAY; j++) {
			*changed[i] += 8;
			(void)find();
		}
		*changed[i] = was;
	}
}

CASE_WITH(test_steps_and_scalars, begin, NULL)
{
	struct ac_conv_site *first = find(), *fused;

	query.conv.scalars.alpha = 3;
	query.conv.step[0].mode = 7;
	assert_ptr_equal(find(), first);
	query.conv.steps = 1;
	fused = find();
	assert_ptr_not_equal(fused, first);
	query.conv.step[1].mode = 7;
	assert_ptr_equal(find(), fused);
	query.conv.step[0].slope = 1;
	assert_ptr_not_equal(find(), fused);
}

CASE_WITH(test_generations, begin, NULL)
{
	struct ac_conv_site *first = find();

	ac_binding_generation++;
	assert_ptr_equal(find(), first);
	assert_ptr_equal(find(), first);
	assert_int_equal(decided, 2);
	ac_binding_generation++;
	record = &records[1];
	assert_ptr_not_equal(find(), first);
	assert_ptr_equal(find()->record, record);
	assert_int_equal(decided, 3);
}

/* ---- What is seen of it ------------------------------------------------- */

static void
assert_shape(const char *shape)
{
	find();
	assert_string_equal(seen.key.shape, shape);
	query.caller = ++caller;
}

CASE_WITH(test_shapes, begin, NULL)
{
	static const int64_t line_x[] = { 1, 4, 9 }, line_w[] = { 2, 4, 3 },
		line_y[] = { 1, 2, 7 }, cube[] = { 1, 2, 3, 4, 5 };
	struct ac_conv *conv = &query.conv;

	assert_shape("n2 c6 5x4 k8 3x2 s1 p0 d1 g2 nchw");
	conv->stride[1] = 3;
	conv->pad[0] = 2;
	conv->dilation[0] = conv->dilation[1] = 4;
	assert_shape("n2 c6 5x4 k8 3x2 s1x3 p2x0 d4 g2 nchw");
	conv->x.stride[1] = 1;
	assert_shape("n2 c6 5x4 k8 3x2 s1x3 p2x0 d4 g2 nhwc");
	assert_string_equal(seen.op.fact[AC_FACT_LAYOUT], "nhwc");
	conv->x.dim[3] = 1;
	assert_shape("n2 c6 5x1 k8 3x2 s1x3 p2x0 d4 g2 nhwc");
	/* One channel, or one point, is in both orders. */
	conv->x.dim[1] = 1;
	assert_shape("n2 c1 5x1 k8 3x2 s1x3 p2x0 d4 g0 nchw");
	conv->x.dim[1] = 6;
	conv->x.dim[2] = 1;
	assert_shape("n2 c6 1x1 k8 3x2 s1x3 p2x0 d4 g2 nchw");
	assert_string_equal(seen.op.fact[AC_FACT_LAYOUT], "nchw");
	begin(NULL);
	conv->space = 1;
	set(&conv->x, 3, line_x);
	set(&conv->w, 3, line_w);
	set(&conv->y, 3, line_y);
	assert_shape("n1 c4 9 k2 3 s1 p0 d1 g1 nchw");
	conv->space = 3;
	set(&conv->x, 5, cube);
	set(&conv->w, 5, cube);
	set(&conv->y, 5, cube);
	assert_shape("n1 c2 3x4x5 k1 3x4x5 s1 p0 d1 g1 nchw");
	conv->stride[1] = 2;
	assert_shape("n1 c2 3x4x5 k1 3x4x5 s1x2x1 p0 d1 g1 nchw");
	conv->stride[1] = 1;
	/* No division by a size that cuDNN will refuse. */
	conv->w.dim[1] = 0;
	assert_shape("n1 c2 3x4x5 k1 3x4x5 s1 p0 d1 g1 nchw");
}

CASE_WITH(test_long_shapes, begin, NULL)
{
	char first[sizeof seen.key.shape];
	struct ac_conv *conv = &query.conv;

	for (int i = 0; i < 2; i++) {
		conv->x.dim[i] = conv->w.dim[i] = 1000000000;
		conv->x.dim[2 + i] = conv->w.dim[2 + i] = 1000000000 + i;
		conv->pad[i] = 1000000000 + i;
	}
	find();
	strcpy(first, seen.key.shape);
	assert_int_equal(strlen(first), sizeof first - 1);
	assert_int_equal(first[strlen(first) - 9], '#');
	query.conv.stride[1] = 2;
	find();
	assert_string_not_equal(seen.key.shape, first);
	query.conv.stride[1] = 1;
	query.conv.x.stride[1] = 1;
	find();
	assert_string_not_equal(seen.key.shape, first);
}

CASE_WITH(test_sizes, begin, NULL)
{
	query.region = 5;
	find();
	/* A product for each group: all outputs by the channels of a group. */
	assert_int_equal(seen.key.m, 2 * 3 * 3);
	assert_int_equal(seen.key.n, 4);
	assert_int_equal(seen.key.k, 3 * 3 * 2);
	assert_int_equal(seen.key.batch, 2);
	assert_true(seen.op.quantity[AC_Q_CIN] == 6);
	assert_true(seen.op.quantity[AC_Q_COUT] == 8);
	assert_true(seen.op.quantity[AC_Q_GROUPS] == 2);
	assert_int_equal(seen.key.operation, AC_OP_CONV_FPROP);
	assert_int_equal(described_region, 5);
	assert_int_equal(described_device, 0);
	assert_string_equal(seen.key.type, "f32");
	assert_string_equal(seen.op.fact[AC_FACT_EPILOGUE], "none");
	query.conv.steps = 1;
	find();
	assert_string_equal(seen.op.fact[AC_FACT_EPILOGUE], "fused");
	query.conv.x.type = CUDNN_DATA_HALF;
	find();
	assert_string_equal(seen.key.type, "other");
	query.conv.x.type = CUDNN_DATA_FLOAT;
	query.conv.adds = 1;
	find();
	assert_string_equal(seen.key.type, "f32");
}

CASE_WITH(test_asked, begin, NULL)
{
	static const struct {
		int device, gpu, math;
		bool refused;
		const char *asked;
	} rows[] = {
		{ 0, 90, CUDNN_DEFAULT_MATH, false, "tf32" },
		{ 0, 80, CUDNN_TENSOR_OP_MATH, false, "tf32" },
		{ 0, 75, CUDNN_DEFAULT_MATH, false, "fp32" },
		{ 0, 90, CUDNN_FMA_MATH, false, "opted-out" },
		{ 0, 90, CUDNN_DEFAULT_MATH, true, "opted-out" },
		{ -1, 90, CUDNN_DEFAULT_MATH, false, "fp32" },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		begin(state);
		query.device = rows[i].device;
		query.math = rows[i].math;
		gpu.sm = rows[i].gpu;
		shim.environment_opted_out = rows[i].refused;
		find();
		assert_string_equal(seen.key.asked, rows[i].asked);
	}
}

/* ---- What becomes of the answer ----------------------------------------- */

static void
offer(bool judges, enum ac_rung first, enum ac_rung second)
{
	answer.judges_profit = judges;
	answer.rung = first;
	answer.candidate_count = second == AC_RUNG_KEEP ? 1 : 2;
	answer.candidate[0] = (struct ac_candidate){ first, AC_TACTIC_CAST, 1,
		0, 0 };
	answer.candidate[1] = (struct ac_candidate){ second,
		AC_TACTIC_LIBRARY, 2, 0, 0 };
}

CASE_WITH(test_objections, begin, NULL)
{
	struct ac_conv_site *site;

	query.conv.adds = 1;
	site = find();
	assert_int_equal(site->decision.rung, AC_RUNG_KEEP);
	assert_int_equal(site->decision.reason, AC_REASON_UNSUPPORTED);
	answer.rung = AC_RUNG_KEEP;
	answer.reason = AC_REASON_RULE;
	query.caller = ++caller;
	assert_int_equal(find()->decision.reason, AC_REASON_RULE);
}

/* Without TF32 what is left is FP16, if the policy has it in its place. */
CASE_WITH(test_opted_out, begin, NULL)
{
	static const struct {
		bool judges;
		enum ac_rung first, second, left;
	} rows[] = {
		{ true, AC_RUNG_TF32, AC_RUNG_FP16, AC_RUNG_FP16 },
		{ true, AC_RUNG_FP16, AC_RUNG_TF32, AC_RUNG_FP16 },
		{ true, AC_RUNG_TF32, AC_RUNG_KEEP, AC_RUNG_KEEP },
		{ false, AC_RUNG_TF32, AC_RUNG_FP16, AC_RUNG_KEEP },
		{ false, AC_RUNG_FP16, AC_RUNG_TF32, AC_RUNG_FP16 },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct ac_decision *d;

		begin(state);
		offer(rows[i].judges, rows[i].first, rows[i].second);
		assert_int_equal(find()->decision.rung, rows[i].first);
		shim.environment_opted_out = true;
		query.caller = ++caller;
		d = &find()->decision;
		assert_int_equal(d->rung, rows[i].left);
		if (d->rung == AC_RUNG_KEEP) {
			assert_int_equal(d->reason, AC_REASON_OPTED_OUT);
			continue;
		}
		assert_int_equal(d->candidate_count, 1);
		assert_int_equal(d->candidate[0].rung, AC_RUNG_FP16);
		assert_int_equal(d->tactic, d->candidate[0].tactic);
		assert_true(d->tol == d->candidate[0].tol);
		assert_true(d->tol == (rows[i].first == AC_RUNG_FP16 ? 1 : 2));
	}
}

CASE_WITH(test_asking_makes_none, begin, NULL)
{
	struct ac_decision decision;

	query.conv.adds = 1;
	ac_conv_site_ask(&query, &decision);
	assert_int_equal(decision.reason, AC_REASON_UNSUPPORTED);
	assert_int_equal(decided, 0);
}

/* By its decision where that stays, unless nothing is guarded. */
CASE_WITH(test_trials, begin, NULL)
{
	struct ac_conv_site *site = find();

	assert_null(site->trial.variants);
	assert_int_equal(site->own_bytes, -1);
	assert_ptr_equal(site->record, record);
	answer.guard = AC_GUARD_ON;
	for (int timed = 0; timed < 2; timed++) {
		may_time = timed;
		query.caller = ++caller;
		site = find();
		assert_ptr_equal(site->trial.variants, &made_variants);
		assert_ptr_equal(decided_of, &site->decision);
		assert_int_equal(is_timed, timed);
	}
	answer.rung = AC_RUNG_KEEP;
	query.caller = ++caller;
	assert_null(find()->trial.variants);
}

CASE_WITH(test_scalars, begin, NULL)
{
	struct ac_conv_site *site = find();
	struct ac_conv conv = query.conv;

	assert_true(ac_conv_site_admits(site, &conv));
	conv.scales = 1;
	conv.scalars.alpha = 3;
	assert_true(ac_conv_site_admits(site, &conv));
	assert_true(site->query.conv.scalars.alpha == 3);
	assert_true(ac_conv_site_admits(site, &conv));
	conv.scalars.alpha = 4;
	assert_false(ac_conv_site_admits(site, &conv));
	assert_true(site->query.conv.scalars.alpha == 3);
	conv.scales = 0;
	assert_true(ac_conv_site_admits(site, &conv));
	/* Another thread is about to set them. */
	site->scalars = 1;
	conv = query.conv;
	conv.scales = 1;
	conv.scalars.alpha = 3;
	assert_false(ac_conv_site_admits(site, &conv));
}

/* ---- Where everything is kept ------------------------------------------- */

static struct ac_provider provider, other;

static bool
keeps(enum ac_entry entry, const char *from)
{
	return ac_conv_is_kept(entry, from, &provider,
	    (cudnnHandle_t)(void *)&provider, AC_OP_CONV_DGRAD);
}

CASE_WITH(test_kept, begin, NULL)
{
	const char *const from = ++caller;

	assert_false(keeps(1, from));
	assert_false(ac_conv_is_kept(1, NULL, NULL, NULL, AC_OP_CONV_DGRAD));
	is_off = true;
	assert_false(ac_conv_is_kept(1, NULL, NULL, NULL, AC_OP_CONV_DGRAD));
	assert_int_equal(decided, 0);
	assert_true(keeps(1, from));
	assert_ptr_equal(counted, record);
	assert_string_equal(seen.key.shape, AC_SHAPE_UNREAD);
	assert_string_equal(seen.key.type, "-");
	assert_string_equal(seen.key.asked, "-");
	assert_int_equal(seen.key.operation, AC_OP_CONV_DGRAD);
	assert_int_equal(seen.key.m + seen.key.n + seen.key.k, 0);
	counted = NULL;
	assert_true(keeps(1, from));
	assert_ptr_equal(counted, record);
	assert_int_equal(decided, 1);
	assert_true(keeps(2, from) && keeps(1, from + 1));
	assert_int_equal(decided, 3);
	ac_region_mark = UINT64_C(1) << AC_REGION_SHIFT;
	assert_true(keeps(1, from));
	assert_int_equal(described_region, 1);
	handle_record.device = 3;
	ac_handle_generation++;
	assert_true(keeps(1, from));
	assert_int_equal(described_device, 3);
	assert_int_equal(decided, 5);
	assert_true(ac_conv_is_kept(1, from, &other,
	    (cudnnHandle_t)(void *)&other, AC_OP_CONV_DGRAD));
	assert_int_equal(decided, 6);
	caller++;
}

CASE_WITH(test_no_room, begin, NULL)
{
	enum { MOST = 1 << 13 };
	int made = 0;

	while (made <= MOST && ac_conv_site_of(&query)) {
		query.caller = ++caller;
		made++;
	}
	assert_in_range(made, MOST - WAYS * EACH_WAY - 200, MOST);
	is_off = true;
	counted = NULL;
	assert_false(keeps(1, ++caller));
	assert_null(counted);
}

CASES_RUN(NULL, NULL)
