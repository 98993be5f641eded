/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/shim/test_lt_issue.c -- what becomes of the recipes' products: by
 * which plans they run. */
#include "tests/unit/cases.h"
#include "tests/unit/shim/lt_backend_world.h"

static struct ac_gemm product;
static cublasComputeType_t compute;
static bool apart;

static void
issue(const struct ac_gemm *g)
{
	cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
	const struct ac_job job = {
		.call = { .place = &place }, .g = g, .site = &site
	};

	assert_int_equal(g->backend->issue(&job, &product, compute, apart,
	    &status), AC_REASON_WORKSPACE);
	assert_int_equal(status, CUBLAS_STATUS_INTERNAL_ERROR);
	assert_int_equal(runs, 1);
}

static void
issue_again(const struct ac_gemm *g)
{
	cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
	const struct ac_job job = {
		.call = { .place = &place }, .g = g, .site = &site
	};

	assert_int_equal(g->backend->issue(&job, &product, compute, apart,
	    &status), AC_REASON_DRIVER);
	assert_int_equal(status, CUBLAS_STATUS_MAPPING_ERROR);
}

/* What is alike wherever it goes. */
static void
check_alike(const struct noted *n)
{
	assert_ptr_equal(n->kind.provider, &provider);
	assert_true(n->kind.m == 5 && n->kind.n == 6);
	assert_int_equal(n->kind.k, product.k);
	assert_int_equal(n->kind.batch, 3);
	assert_true(n->kind.device == 2 && n->kind.sm_count_target == 7);
	assert_int_equal(n->kind.compute, compute);
	assert_int_equal(n->kind.transa, product.transa);
	assert_int_equal(n->kind.transb, product.transb);
	assert_int_equal(n->kind.type, product.a.type);
	assert_true(n->kind.a.ld == product.a.ld
	    && n->kind.a.stride == product.a.stride);
	assert_true(n->kind.b.ld == product.b.ld
	    && n->kind.b.stride == product.b.stride);
	assert_ptr_equal(n->run.handle, x.handle);
	assert_ptr_equal(n->run.alpha, product.alpha);
	assert_ptr_equal(n->run.beta, product.beta);
	assert_ptr_equal(n->run.a, product.a.data);
	assert_ptr_equal(n->run.b, product.b.data);
	assert_true(n->run.stream == place.stream
	    && n->run.driver == place.driver);
	assert_int_equal(n->kind.alignment[0],
	    ac_lt_alignment(n->run.a));
	assert_int_equal(n->kind.alignment[1],
	    ac_lt_alignment(n->run.b));
	assert_int_equal(n->kind.alignment[2],
	    ac_lt_alignment(n->run.c));
	assert_int_equal(n->kind.alignment[3],
	    ac_lt_alignment(n->run.d));
	assert_int_equal(n->kind.alignment[4],
	    ac_lt_alignment(n->run.bias));
	assert_int_equal(n->kind.alignment[5],
	    ac_lt_alignment(n->run.aux));
	for (unsigned i = 0; i < sizeof n->kind.reserved; i++)
		assert_int_equal(n->kind.reserved[i], 0);
}

/* In C's place, with all that follows. */
static void
check_in_place(const struct noted *n)
{
	const struct ac_lt_epilogue *does =
	    &ac_lt_epilogues[decided.product.epilogue];
	const bool aux = does->aux != AC_LT_AUX_NO;

	check_alike(n);
	assert_int_equal(n->kind.epilogue, decided.product.epilogue);
	assert_ptr_equal(n->run.d, AT(D));
	assert_true(n->kind.d.ld == 34 && n->kind.d.stride == 44);
	assert_ptr_equal(n->run.c, AT(x.c ? C : D));
	assert_int_equal(n->kind.c.ld, x.c ? 33 : 34);
	assert_int_equal(n->kind.c.stride, x.c ? 43 : 44);
	assert_ptr_equal(n->run.bias, AT(BIAS));
	assert_ptr_equal(n->run.aux, AT(AUX));
	assert_int_equal(n->kind.bias_stride, 23);
	assert_int_equal(n->kind.aux_ld, aux ? 21 : 0);
	assert_int_equal(n->kind.aux_stride, aux ? 22 : 0);
}

/* Next to C: the product alone. */
static void
check_beside(const struct noted *n)
{
	check_alike(n);
	assert_int_equal(n->kind.epilogue, AC_EPILOGUE_DEFAULT);
	assert_ptr_equal(n->run.d, AT(RESULT));
	assert_ptr_equal(n->run.c, AT(RESULT));
	assert_true(n->kind.d.ld == 5 && n->kind.d.stride == 30);
	assert_true(n->kind.c.ld == 5 && n->kind.c.stride == 30);
	assert_null(n->run.bias);
	assert_null(n->run.aux);
	assert_true(n->kind.bias_stride == 0 && n->kind.aux_ld == 0
	    && n->kind.aux_stride == 0);
}

static void
prepare(bool casts, bool is_apart)
{
	start();
	then = issue;
	apart = is_apart;
	compute = casts ? CUBLAS_COMPUTE_32F : CUBLAS_COMPUTE_32F_FAST_TF32;
	product = (struct ac_gemm){
		.transa = casts ? CUBLAS_OP_T : CUBLAS_OP_N,
		.transb = casts ? CUBLAS_OP_N : CUBLAS_OP_T,
		.m = 5, .n = 6, .k = casts ? 8 : 7, .batch = 3,
		/* In place, what the library converts has the program's. */
		.alpha = casts || is_apart ? AT(0x71) : AT(0x12),
		.beta = casts || is_apart ? AT(0x72) : AT(0x13),
		.a = { AT(casts ? CAST_A : A), casts ? CUDA_R_16F : CUDA_R_32F,
			51, 61 },
		.b = { AT(casts ? CAST_B : B), casts ? CUDA_R_16F : CUDA_R_32F,
			52, 62 },
		.c = { AT(is_apart ? RESULT : D), CUDA_R_32F, 5, 30 }
	};
}

CASE(test_in_place)
{
	for (unsigned i = 0; i < AC_EPILOGUE_INPUT_SUMS * 4; i++) {
		prepare(i & 1, false);
		decided.product.epilogue = (enum ac_epilogue)(i / 4);
		if (i & 2)
			x.c = NULL;
		recast();
		check_in_place(&ran);
		assert_true(may_make);
	}
}

/* By the plan of the last call of its content, if that was alike. */
CASE(test_again)
{
	for (unsigned i = 0; i < 8; i++) {
		prepare(i & 1, i & 4);
		then = issue_again;
		is_known = true;
		place.capture = i & 2 ? 5 : 0;
		recast();
		assert_int_equal(looks, 1);
		assert_int_equal(runs, 0);
	}
}

CASE(test_beside)
{
	for (unsigned i = 0; i < AC_EPILOGUE_INPUT_SUMS * 2; i++) {
		prepare(i & 1, true);
		decided.product.epilogue = (enum ac_epilogue)(i / 2);
		recast();
		check_beside(&ran);
		assert_true(may_make);
	}
}

CASE(test_capture)
{
	for (unsigned i = 0; i < 4; i++) {
		prepare(i & 1, i & 2);
		place.capture = 5;
		recast();
		assert_false(may_make);
	}
}

/* Ours are on the device, whatever the program has. */
CASE(test_pointer_modes)
{
	for (unsigned i = 0; i < 8; i++) {
		prepare(i & 1, i & 2);
		decided.product.pointer_mode = i & 4
		    ? CUBLAS_POINTER_MODE_DEVICE
		    : CUBLAS_POINTER_MODE_HOST;
		recast();
		assert_int_equal(ran.kind.pointer_mode, i
		    ? CUBLASLT_POINTER_MODE_DEVICE
		    : CUBLASLT_POINTER_MODE_HOST);
	}
}

/* The program's. */
CASE(test_workspace)
{
	static const uintptr_t places[] = { 0x1000, 0x1100, 0 };

	for (unsigned i = 0; i < sizeof places / sizeof *places; i++) {
		prepare(true, i & 1);
		x.workspace = AT(places[i]);
		recast();
		assert_ptr_equal(ran.run.workspace, AT(places[i]));
		assert_int_equal(ran.kind.workspace_bytes,
		    places[i] ? 777 : 0);
	}
}

CASES_RUN(NULL, NULL)
