/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/shim/test_lt_backend.c -- a call of cublasLtMatmul as the recipes
 * see it. */
#include "tests/unit/cases.h"
#include "tests/unit/shim/lt_backend_world.h"

/* ---- As the recipes see it ----------------------------------------------- */

CASE(test_gemm)
{
	start();
	assert_int_equal(recast(), AC_OUTCOME_TIMED);
	assert_ptr_equal(gemm.handle, x.handle);
	assert_int_equal(gemm.transa, CUBLAS_OP_T);
	assert_int_equal(gemm.transb, CUBLAS_OP_N);
	assert_true(gemm.m == 5 && gemm.n == 6 && gemm.k == 7);
	assert_int_equal(gemm.batch, 3);
	assert_ptr_equal(gemm.alpha, x.alpha);
	assert_ptr_equal(gemm.beta, x.beta);
	assert_ptr_equal(gemm.a.data, AT(A));
	assert_true(gemm.a.ld == 31 && gemm.a.stride == 41);
	assert_ptr_equal(gemm.b.data, AT(B));
	assert_true(gemm.b.ld == 32 && gemm.b.stride == 42);
	assert_ptr_equal(gemm.c.data, AT(D));
	assert_true(gemm.c.ld == 34 && gemm.c.stride == 44);
	assert_true(gemm.a.type == CUDA_R_32F && gemm.b.type == CUDA_R_32F
	    && gemm.c.type == CUDA_R_32F);
	assert_false(gemm.in_arrays);
	assert_true(gemm.backend->needs_place);
	assert_false(gemm.backend->has_handles);
	/* In row order D^T is computed: A is the program's B. */
	decided.product.swapped = true;
	recast();
	assert_ptr_equal(gemm.a.data, AT(B));
	assert_ptr_equal(gemm.b.data, AT(A));
	assert_true(gemm.a.ld == 31 && gemm.b.ld == 32);
	assert_int_equal(reason_counted, -2);
}

static void
ask_backend(const struct ac_gemm *g)
{
	cublasPointerMode_t mode = (cublasPointerMode_t)99;
	ac_cu_stream stream;

	assert_int_equal(g->backend->find_stream(g, &provider, &stream),
	    AC_REASON_NONE);
	assert_ptr_equal(stream, x.stream);
	assert_true(g->backend->pointer_mode(g, &provider, &mode));
	assert_int_equal(mode, decided.product.pointer_mode);
}

CASE(test_backend)
{
	for (int i = 0; i < 2; i++) {
		start();
		decided.product.pointer_mode = i ? CUBLAS_POINTER_MODE_HOST
		    : CUBLAS_POINTER_MODE_DEVICE;
		then = ask_backend;
		recast();
		assert_int_equal(recasts, 1);
	}
}

/* C is apart from D if it lies elsewhere, or otherwise. */
CASE(test_added)
{
	start();
	recast();
	assert_ptr_equal(tail.added, AT(C));
	assert_true(tail.added_ld == 33 && tail.added_stride == 43);
	decided.product.c = decided.product.d;
	recast();
	assert_ptr_equal(tail.added, AT(C));
	x.c = NULL;
	recast();
	assert_null(tail.added);
	x.c = x.d;
	recast();
	assert_null(tail.added);
	decided.product.c.ld++;
	recast();
	assert_ptr_equal(tail.added, AT(D));
	decided.product.c = decided.product.d;
	decided.product.c.stride++;
	recast();
	assert_ptr_equal(tail.added, AT(D));
	assert_int_equal(tail.added_stride, 45);
}

CASE(test_epilogues)
{
	for (unsigned i = 0; i < AC_EPILOGUE_INPUT_SUMS * 2; i++) {
		const struct ac_lt_epilogue *does = &ac_lt_epilogues[i / 2];
		const bool many = i & 1, has = does->aux != AC_LT_AUX_NO;
		const struct ac_verified_tail *t = &tail.then;

		start();
		decided.product.epilogue = (enum ac_epilogue)(i / 2);
		decided.product.batch = many ? 3 : 1;
		recast();
		assert_int_equal(recasts, 1);
		assert_int_equal(tail.follows, i / 2 != AC_EPILOGUE_DEFAULT);
		assert_int_equal(t->activation, does->activation);
		assert_ptr_equal(t->bias, AT(does->adds_bias ? BIAS : 0));
		assert_int_equal(t->bias_stride, many && does->adds_bias ? 23
		    : 0);
		assert_int_equal(t->bias_is_row, 0);
		assert_ptr_equal(t->sums, AT(does->sums_output ? BIAS : 0));
		assert_int_equal(t->sums_stride, many && does->sums_output ? 23
		    : 0);
		assert_ptr_equal(t->aux, AT(has ? AUX : 0));
		assert_int_equal(t->aux_ld, has ? 21 : 0);
		assert_int_equal(t->aux_stride, has ? 22 : 0);
		assert_int_equal(tail.writes_aux, does->aux == AC_LT_AUX_OUT);
		assert_true(!t->partials && !t->arrived);
	}
}

/* A plan's name is what the 64 bytes say, wherever they lie, and the room. */
CASE(test_algorithm)
{
	cublasLtMatmulAlgo_t one = { { 1, 2, 3 } }, two = one;
	uint64_t name;

	start();
	recast();
	assert_int_equal(tail.algorithm, 0);
	x.algorithm = &one;
	recast();
	name = tail.algorithm;
	assert_int_not_equal(name, 0);
	x.algorithm = &two;
	recast();
	assert_int_equal(tail.algorithm, name);
	x.workspace_bytes--;
	recast();
	assert_int_not_equal(tail.algorithm, name);
	x.workspace_bytes++;
	x.workspace = NULL;
	recast();
	assert_int_not_equal(tail.algorithm, name);
	x.workspace = AT(0x1000);
	two.data[7] = 1;
	recast();
	assert_int_not_equal(tail.algorithm, name);
}

/* Whatever was named before: what is remembered says what a hash would. */
CASE(test_algorithms_in_turn)
{
	enum { ALL = 100 };
	cublasLtMatmulAlgo_t algorithm = { { 0 } };
	uint64_t names[ALL];

	start();
	x.algorithm = &algorithm;
	for (int round = 0; round < 3; round++)
		for (uint64_t i = 0; i < ALL; i++) {
			algorithm.data[i % 8] = i;
			if (round == 2)
				decided.last = NULL;
			recast();
			recast();
			if (round == 0)
				names[i] = tail.algorithm;
			assert_int_equal(tail.algorithm, names[i]);
			algorithm.data[i % 8] = 0;
		}
	for (int i = 0; i < ALL; i++)
		for (int j = 0; j < i; j++)
			assert_int_not_equal(names[i], names[j]);
}

/* ---- What is kept -------------------------------------------------------- */

static void
is_kept(int reason)
{
	assert_int_equal(recast(), AC_OUTCOME_KEPT);
	assert_int_equal(recasts, 0);
	assert_int_equal(reason_counted, reason);
}

CASE(test_kept)
{
	for (unsigned i = 0; i < AC_EPILOGUE_INPUT_SUMS; i++) {
		const struct ac_lt_epilogue *does = &ac_lt_epilogues[i];

		start();
		decided.product.epilogue = (enum ac_epilogue)i;
		pointers.bias = NULL;
		if (does->adds_bias || does->sums_output)
			is_kept(AC_REASON_UNSUPPORTED);
		else
			assert_int_equal(recast(), AC_OUTCOME_TIMED);
		start();
		decided.product.epilogue = (enum ac_epilogue)i;
		pointers.aux = NULL;
		if (does->aux != AC_LT_AUX_NO)
			is_kept(AC_REASON_UNSUPPORTED);
		else
			assert_int_equal(recast(), AC_OUTCOME_TIMED);
	}
	start();
	can_read = false;
	is_kept(AC_REASON_UNSUPPORTED);
	start();
	decided.product.epilogue = AC_EPILOGUE_INPUT_SUMS;
	can_read = false;
	is_kept(-1);
	start();
	decided.product.epilogue = AC_EPILOGUE_OTHER;
	is_kept(-1);
}

/* What the library refuses: a sum onto no C, as far as the host can see, and a
 * workspace that is not aligned. And what its algorithms may refuse: a bias or
 * a second matrix that is not. */
CASE(test_refused)
{
	static const float none = 0, half = 0.5f;

	for (unsigned i = 0; i < 4; i++) {
		start();
		x.c = NULL;
		x.beta = i & 1 ? &half : &none;
		decided.product.pointer_mode = i & 2
		    ? CUBLAS_POINTER_MODE_DEVICE
		    : CUBLAS_POINTER_MODE_HOST;
		if (i == 1)
			is_kept(AC_REASON_UNSUPPORTED);
		else
			assert_int_equal(recast(), AC_OUTCOME_TIMED);
	}
	for (unsigned bit = 0; bit < 8; bit++) {
		start();
		x.workspace = AT(0x1000 | 1u << bit);
		is_kept(AC_REASON_UNSUPPORTED);
	}
	for (unsigned bit = 2; bit < 8; bit++)
		for (unsigned i = 0; i < 2; i++) {
			start();
			decided.product.epilogue = AC_EPILOGUE_GELU_AUX_BIAS;
			if (i)
				pointers.aux = AT(0x1000 | 1u << bit);
			else
				pointers.bias = AT(0x1000 | 1u << bit);
			if (bit < 4)
				is_kept(AC_REASON_UNSUPPORTED);
			else
				assert_int_equal(recast(), AC_OUTCOME_TIMED);
		}
}

CASES_RUN(NULL, NULL)
