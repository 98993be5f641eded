/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/shim/test_conv.c -- which convolutions a rung of ours could
 * serve, and when two have the same scalars. */
#include "shim/conv/conv.h"
#include "tests/unit/cases.h"

#include <cudnn.h>

static struct ac_conv conv;

static int
begin(void **state)
{
	struct ac_conv_tensor *const all[] = { &conv.x, &conv.w, &conv.y,
		&conv.step[0].other, &conv.step[0].out, &conv.step[1].other,
		&conv.step[1].out, &conv.step[2].out };

	memset(&conv, 0, sizeof conv);
	conv.operation = AC_OP_CONV_DGRAD;
	conv.space = 2;
	conv.steps = 3;
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		all[i]->dims = 4;
		for (int d = 0; d < 5; d++)
			all[i]->dim[d] = all[i]->stride[d] = 8;
	}
	for (int i = 0; i < 3; i++)
		conv.stride[i] = conv.dilation[i] = 1;
	return 0;
}

CASE_WITH(test_objections, begin, NULL)
{
	enum { SIDE = 1 << 30, FILTER = 1 << 15 };
	const struct {
		int32_t *number;         /* this one is ... */
		int64_t *wide, is;       /* or this one is */
		enum ac_reason reason;
	} rows[] = {
		{ &conv.steps, NULL, 0, AC_REASON_NONE },
		{ &conv.steps, NULL, -1, AC_REASON_UNSUPPORTED },
		{ &conv.steps, NULL, 4, AC_REASON_UNSUPPORTED },
		{ &conv.operation, NULL, AC_OP_CONV_FPROP, AC_REASON_NONE },
		{ &conv.operation, NULL, AC_OP_CONV_WGRAD, AC_REASON_NONE },
		{ &conv.operation, NULL, AC_OP_CONV_FPROP - 1,
		    AC_REASON_UNSUPPORTED },
		{ &conv.operation, NULL, AC_OP_CONV_WGRAD + 1,
		    AC_REASON_UNSUPPORTED },
		{ &conv.adds, NULL, 1, AC_REASON_UNSUPPORTED },
		{ &conv.scales, NULL, 1, AC_REASON_NONE },
		{ &conv.space, NULL, 0, AC_REASON_UNSUPPORTED },
		{ &conv.space, NULL, 1, AC_REASON_UNSUPPORTED },
		{ &conv.space, NULL, 3, AC_REASON_UNSUPPORTED },
		{ &conv.x.dims, NULL, 3, AC_REASON_UNSUPPORTED },
		{ &conv.w.dims, NULL, 5, AC_REASON_UNSUPPORTED },
		{ &conv.y.dims, NULL, 5, AC_REASON_UNSUPPORTED },
		{ &conv.x.type, NULL, CUDNN_DATA_HALF, AC_REASON_TYPE },
		{ &conv.w.type, NULL, CUDNN_DATA_HALF, AC_REASON_TYPE },
		{ &conv.y.type, NULL, CUDNN_DATA_DOUBLE, AC_REASON_TYPE },
		{ &conv.type, NULL, CUDNN_DATA_HALF, AC_REASON_TYPE },
		{ &conv.step[1].other.type, NULL, CUDNN_DATA_HALF,
		    AC_REASON_TYPE },
		/* There is no such tensor. */
		{ &conv.step[2].other.type, NULL, CUDNN_DATA_HALF,
		    AC_REASON_NONE },
		{ &conv.step[2].out.type, NULL, CUDNN_DATA_HALF,
		    AC_REASON_TYPE },
		{ &conv.step[0].type, NULL, CUDNN_DATA_HALF, AC_REASON_TYPE },
		{ NULL, &conv.x.dim[0], 0, AC_REASON_UNSUPPORTED },
		{ NULL, &conv.w.dim[3], -1, AC_REASON_UNSUPPORTED },
		{ NULL, &conv.x.dim[0], SIDE, AC_REASON_NONE },
		{ NULL, &conv.x.dim[0], SIDE + 1, AC_REASON_UNSUPPORTED },
		{ NULL, &conv.y.dim[3], SIDE + 1, AC_REASON_UNSUPPORTED },
		{ NULL, &conv.x.dim[4], 0, AC_REASON_NONE },
		{ NULL, &conv.w.dim[2], FILTER, AC_REASON_NONE },
		{ NULL, &conv.w.dim[3], FILTER + 1, AC_REASON_UNSUPPORTED },
		{ NULL, &conv.w.dim[1], FILTER + 1, AC_REASON_NONE },
		{ NULL, &conv.stride[1], FILTER, AC_REASON_NONE },
		{ NULL, &conv.stride[1], FILTER + 1, AC_REASON_UNSUPPORTED },
		{ NULL, &conv.dilation[0], FILTER, AC_REASON_NONE },
		{ NULL, &conv.dilation[0], FILTER + 1, AC_REASON_UNSUPPORTED },
		{ NULL, &conv.dilation[2], FILTER + 1, AC_REASON_NONE },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		begin(state);
		assert_int_equal(ac_conv_objection(&conv), AC_REASON_NONE);
		if (rows[i].number)
			*rows[i].number = (int32_t)rows[i].is;
		else
			*rows[i].wide = rows[i].is;
		if (ac_conv_objection(&conv) != rows[i].reason)
			fail_msg("row %zu", i);
	}
}

CASE_WITH(test_spaces, begin, NULL)
{
	for (int32_t space = 0; space <= 4; space++) {
		begin(state);
		conv.space = space;
		conv.x.dims = conv.w.dims = conv.y.dims = space + 2;
		assert_int_equal(ac_conv_objection(&conv),
		    space >= 1 && space <= 3 ? AC_REASON_NONE
		    : AC_REASON_UNSUPPORTED);
	}
}

CASE_WITH(test_scalars, begin, NULL)
{
	struct ac_conv_scalars scalars;

	conv.steps = 2;
	scalars = conv.scalars;
	assert_true(ac_conv_has_scalars(&conv, &scalars));
	scalars.alpha1[2] = 1;
	assert_true(ac_conv_has_scalars(&conv, &scalars));
	scalars.alpha1[1] = 1;
	assert_false(ac_conv_has_scalars(&conv, &scalars));
	scalars = conv.scalars;
	scalars.alpha2[0] = 1;
	assert_false(ac_conv_has_scalars(&conv, &scalars));
	scalars = conv.scalars;
	scalars.alpha = 1;
	assert_false(ac_conv_has_scalars(&conv, &scalars));
	scalars = conv.scalars;
	scalars.beta = 1;
	assert_false(ac_conv_has_scalars(&conv, &scalars));
}

CASE_WITH(test_outputs, begin, NULL)
{
	assert_ptr_equal(ac_conv_output(&conv), &conv.x);
	conv.operation = AC_OP_CONV_FPROP;
	assert_ptr_equal(ac_conv_output(&conv), &conv.y);
	conv.operation = AC_OP_CONV_WGRAD;
	assert_ptr_equal(ac_conv_output(&conv), &conv.w);
	conv.steps = 0;
	assert_ptr_equal(ac_conv_last_output(&conv), &conv.w);
	conv.steps = 2;
	assert_ptr_equal(ac_conv_last_output(&conv), &conv.step[1].out);
}

/* No two tensors of a graph have the same one, whatever a program's are. */
CASE_WITH(test_rename, begin, NULL)
{
	static const struct ac_conv_uids rows[] = {
		{ { 'x', 'w', 'y', 'z', 'b' } }, { { 1, 2, 3, 4, 5 } },
		{ { 0, 17, 16, 18, 19 } }, { { INT64_MAX, 0, 1, 2, 3 } },
		{ { -5, -4, -3, -2, -9 } },
	};
	struct ac_conv renamed;

	conv.steps = 3;
	conv.step[0].other.dims = conv.step[1].other.dims = 4;
	conv.step[0].other.uid = AC_CONV_Z;
	conv.step[1].other.uid = AC_CONV_BIAS;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const int64_t *of = rows[i].of;
		const int64_t *const all[] = { &renamed.x.uid, &renamed.w.uid,
			&renamed.step[2].out.uid, &renamed.step[0].other.uid,
			&renamed.step[1].other.uid, &renamed.y.uid,
			&renamed.step[0].out.uid, &renamed.step[1].out.uid };

		ac_conv_rename(&conv, &rows[i], &renamed);
		for (int j = 0; j < 8; j++) {
			if (j < AC_CONV_ROLES)
				assert_int_equal(*all[j], of[j]);
			for (int k = 0; k < j; k++)
				assert_int_not_equal(*all[j], *all[k]);
		}
		assert_int_equal(renamed.step[2].other.uid,
		    conv.step[2].other.uid);
	}
	conv.steps = 0;
	ac_conv_rename(&conv, &ac_conv_roles, &renamed);
	assert_int_equal(renamed.y.uid, AC_CONV_Y);
}

CASES_RUN(NULL, NULL)
