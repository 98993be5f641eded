/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/shim/test_lt_door.c -- a call of cublasLtMatmul as the recipes see
 * it, and what becomes of their products: plans are only noted. Addresses are
 * numbers. */
#include "shim/lt/call.h"

#include "shim/gemm/recipe.h"
#include "shim/lt/plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* ---- What is noted ------------------------------------------------------- */

#define AT(address) ((void *)(uintptr_t)(address))

struct noted {
	struct ac_lt_kind kind;
	struct ac_lt_run  run;
};
static struct noted made, ran, first;
static unsigned makes, runs, looks;
static bool is_known;              /* ac_lt_plan_again() finds it */
static struct ac_lt_last last;
static bool may_make;
static int reason_counted;         /* -1: as the site was decided; -2: none */
static bool can_read;
static struct ac_lt_pointers pointers;
static struct ac_provider provider;

__thread struct ac_report_mine ac_report_mine;

void
ac_report_count_slowly(struct ac_site_record *of)
{
	(void)of;
	reason_counted = -1;
}

void
ac_report_count_other(struct ac_site_record *of, enum ac_reason reason)
{
	(void)of;
	reason_counted = (int)reason;
}

void
ac_lt_plan_make(const struct ac_lt_kind *kind, const struct ac_lt_run *run)
{
	made = (struct noted){ *kind, *run };
	makes++;
	assert_int_equal(runs, 0);
}

/* Before all else, by what may change: the rest is not there yet. */
bool
ac_lt_plan_again(const struct ac_lt_kind *kind, const struct ac_lt_run *run,
    ac_lt_plan_hint *hint, enum ac_reason *reason_out,
    cublasStatus_t *status_out)
{
	assert_int_equal(runs, 0);
	assert_true(!hint || hint == &last.plan);
	memcpy(&first.kind, kind, offsetof(struct ac_lt_kind, transb));
	first.run = *run;
	looks += hint != NULL;
	if (!hint || !is_known)
		return false;
	*reason_out = AC_REASON_DRIVER;
	*status_out = CUBLAS_STATUS_MAPPING_ERROR;
	return true;
}

enum ac_reason
ac_lt_plan_run(const struct ac_lt_kind *kind, const struct ac_lt_run *run,
    bool may, ac_lt_plan_hint *hint, cublasStatus_t *status_out)
{
	assert_int_equal(hint != NULL, looks);
	assert_memory_equal(kind, &first.kind,
	    offsetof(struct ac_lt_kind, transb));
	assert_memory_equal(run, &first.run, sizeof *run);
	ran = (struct noted){ *kind, *run };
	runs++;
	may_make = may;
	*status_out = CUBLAS_STATUS_INTERNAL_ERROR;
	return AC_REASON_WORKSPACE;
}

bool
ac_lt_read_pointers(const struct ac_lt_asked *asked,
    const struct ac_lt_content *content, const struct ac_lt_sort *sort,
    struct ac_lt_pointers *pointers_out)
{
	assert_true(content && sort == AT(0x50) && asked->provider == &provider
	    && asked->desc == (cublasLtMatmulDesc_t)AT(0x11));
	*pointers_out = pointers;
	return can_read;
}

/* Nothing is classified here. */
enum ac_asked
ac_asked_by_compute(int asked)
{
	(void)asked;
	return AC_ASKED_UNSAID;
}

enum ac_type_class
ac_type_class_of(cudaDataType a, cudaDataType b, cudaDataType c, int asked)
{
	(void)a, (void)b, (void)c, (void)asked;
	return AC_TYPE_OTHER;
}

/* ---- A call -------------------------------------------------------------- */

/* All of other alignments. */
enum { A = 0x0101, B = 0x0202, C = 0x0304, D = 0x0408, BIAS = 0x0510,
	AUX = 0x0620, RESULT = 0x0740, CAST_A = 0x0880, CAST_B = 0x0900 };

static struct ac_site_record record;
static struct ac_site site;
static struct ac_place place;
static struct ac_lt_arguments x;
static struct ac_lt_use use;
static void (*then)(const struct ac_gemm *g);  /* in ac_gemm_recast() */
static struct ac_gemm gemm;
static struct ac_gemm_tail tail;
static unsigned recasts;

static void
start(void)
{
	makes = runs = recasts = looks = 0;
	is_known = false;
	memset(&last, 0, sizeof last);
	reason_counted = -2;
	can_read = true;
	then = NULL;
	pointers = (struct ac_lt_pointers){ AT(BIAS), AT(AUX), 21, 22 };
	site = (struct ac_site){ .record = &record,
		.binding = { NULL, &provider } };
	place = (struct ac_place){
		.stream = (ac_cu_stream)AT(0x20),
		.driver = (const struct ac_driver *)AT(0x30)
	};
	x = (struct ac_lt_arguments){
		.handle = (cublasLtHandle_t)AT(0x10),
		.operation = (cublasLtMatmulDesc_t)AT(0x11),
		.alpha = AT(0x12), .a = AT(A), .b = AT(B), .beta = AT(0x13),
		.c = AT(C), .d = AT(D), .workspace = AT(0x1000),
		.workspace_bytes = 777, .stream = (cudaStream_t)AT(0x14)
	};
	use = (struct ac_lt_use){
		.site = &site, .device = 2, .last = &last, .sort = AT(0x50),
		.content = { .sm_count_target = 7, .bias_stride = 23 },
		.product = {
			.transa = CUBLAS_OP_T, .transb = CUBLAS_OP_N,
			.m = 5, .n = 6, .k = 7, .batch = 3,
			.a = { 31, 41 }, .b = { 32, 42 }, .c = { 33, 43 },
			.d = { 34, 44 },
			.pointer_mode = CUBLAS_POINTER_MODE_DEVICE,
			.epilogue = AC_EPILOGUE_DEFAULT
		}
	};
}

enum ac_outcome
ac_gemm_recast(const struct ac_gemm *g, const struct ac_site *of,
    struct ac_kept *kept_out, cublasStatus_t *status_out)
{
	(void)kept_out;
	assert_ptr_equal(of, &site);
	recasts++;
	gemm = *g;
	tail = *g->tail;
	if (then)
		then(g);
	*status_out = CUBLAS_STATUS_EXECUTION_FAILED;
	return AC_OUTCOME_TIMED;
}

static enum ac_outcome
recast(void)
{
	const struct ac_lt_asked asked = {
		.provider = &provider, .desc = x.operation
	};
	cublasStatus_t status;
	struct ac_kept kept;

	ac_lt_use_prepare(&use);
	return ac_lt_recast(&x, &asked, &use, &kept, &status);
}

/* ---- As the recipes see it ----------------------------------------------- */

static void
test_gemm(void **state)
{
	(void)state;
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
	assert_true(gemm.door->needs_place);
	assert_false(gemm.door->has_handles);
	/* In row order D^T is computed: A is the program's B. */
	use.product.swapped = true;
	recast();
	assert_ptr_equal(gemm.a.data, AT(B));
	assert_ptr_equal(gemm.b.data, AT(A));
	assert_true(gemm.a.ld == 31 && gemm.b.ld == 32);
	assert_int_equal(reason_counted, -2);
}

static void
ask_door(const struct ac_gemm *g)
{
	cublasPointerMode_t mode = (cublasPointerMode_t)99;
	ac_cu_stream stream;

	assert_int_equal(g->door->find_stream(g, &provider, &stream),
	    AC_REASON_NONE);
	assert_ptr_equal(stream, x.stream);
	assert_true(g->door->pointer_mode(g, &provider, &mode));
	assert_int_equal(mode, use.product.pointer_mode);
}

static void
test_door(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		start();
		use.product.pointer_mode = i ? CUBLAS_POINTER_MODE_HOST
		    : CUBLAS_POINTER_MODE_DEVICE;
		then = ask_door;
		recast();
		assert_int_equal(recasts, 1);
	}
}

/* C is apart from D if it lies elsewhere, or otherwise. */
static void
test_added(void **state)
{
	(void)state;
	start();
	recast();
	assert_ptr_equal(tail.added.from, AT(C));
	assert_true(tail.added.ld == 33 && tail.added.stride == 43);
	use.product.c = use.product.d;
	recast();
	assert_ptr_equal(tail.added.from, AT(C));
	x.c = NULL;
	recast();
	assert_null(tail.added.from);
	x.c = x.d;
	recast();
	assert_null(tail.added.from);
	use.product.c.ld++;
	recast();
	assert_ptr_equal(tail.added.from, AT(D));
	use.product.c = use.product.d;
	use.product.c.stride++;
	recast();
	assert_ptr_equal(tail.added.from, AT(D));
	assert_int_equal(tail.added.stride, 45);
}

static void
test_epilogues(void **state)
{
	(void)state;
	for (unsigned i = 0; i < AC_EPILOGUE_INPUT_SUMS * 2; i++) {
		const struct ac_lt_epilogue *does = &ac_lt_epilogues[i / 2];
		const bool many = i & 1, reads = does->aux == AC_LT_AUX_IN;
		const struct ac_recast_epilogue *e = &tail.epilogue;

		start();
		use.product.epilogue = (enum ac_epilogue)(i / 2);
		use.product.batch = many ? 3 : 1;
		recast();
		assert_int_equal(recasts, 1);
		assert_int_equal(e->activation, does->activation);
		assert_int_equal(e->is_set, i / 2 != AC_EPILOGUE_DEFAULT);
		assert_ptr_equal(e->bias, AT(does->adds_bias ? BIAS : 0));
		assert_int_equal(e->bias_stride, many ? 23 : 0);
		assert_ptr_equal(e->aux, AT(reads ? AUX : 0));
		assert_int_equal(e->aux_ld, reads ? 21 : 0);
		assert_int_equal(e->aux_stride, reads ? 22 : 0);
	}
}

/* A plan's name is what the 64 bytes say, wherever they lie, and the room. */
static void
test_algorithm(void **state)
{
	cublasLtMatmulAlgo_t one = { { 1, 2, 3 } }, two = one;
	uint64_t name;

	(void)state;
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
static void
test_algorithms_in_turn(void **state)
{
	enum { ALL = 100 };
	cublasLtMatmulAlgo_t algorithm = { { 0 } };
	uint64_t names[ALL];

	(void)state;
	start();
	x.algorithm = &algorithm;
	for (int round = 0; round < 3; round++)
		for (uint64_t i = 0; i < ALL; i++) {
			algorithm.data[i % 8] = i;
			if (round == 2)
				use.last = NULL;
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

static void
test_kept(void **state)
{
	(void)state;
	for (unsigned i = 0; i < AC_EPILOGUE_INPUT_SUMS; i++) {
		const struct ac_lt_epilogue *does = &ac_lt_epilogues[i];

		start();
		use.product.epilogue = (enum ac_epilogue)i;
		pointers.bias = NULL;
		if (does->adds_bias || does->sums_output)
			is_kept(AC_REASON_UNSUPPORTED);
		else
			assert_int_equal(recast(), AC_OUTCOME_TIMED);
		start();
		use.product.epilogue = (enum ac_epilogue)i;
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
	use.product.epilogue = AC_EPILOGUE_INPUT_SUMS;
	can_read = false;
	is_kept(-1);
	start();
	use.product.epilogue = AC_EPILOGUE_OTHER;
	is_kept(-1);
}

/* What the library refuses: a sum onto no C, as far as the host can see, and a
 * workspace that is not aligned. */
static void
test_refused(void **state)
{
	static const float none = 0, half = 0.5f;

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		start();
		x.c = NULL;
		x.beta = i & 1 ? &half : &none;
		use.product.pointer_mode = i & 2 ? CUBLAS_POINTER_MODE_DEVICE
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
}

/* ---- Products ------------------------------------------------------------ */

static struct ac_gemm product;
static cublasComputeType_t compute;
static bool beside;

static void
issue(const struct ac_gemm *g)
{
	cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
	const struct ac_job job = {
		.call = { .place = &place }, .g = g, .site = &site
	};

	assert_int_equal(g->door->issue(&job, &product, compute, beside,
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

	assert_int_equal(g->door->issue(&job, &product, compute, false,
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
	    &ac_lt_epilogues[use.product.epilogue];
	const bool aux = does->aux != AC_LT_AUX_NO;

	check_alike(n);
	assert_int_equal(n->kind.epilogue, use.product.epilogue);
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
prepare(bool casts, bool is_beside)
{
	start();
	then = issue;
	beside = is_beside;
	compute = casts ? CUBLAS_COMPUTE_32F : CUBLAS_COMPUTE_32F_FAST_TF32;
	product = (struct ac_gemm){
		.transa = casts ? CUBLAS_OP_T : CUBLAS_OP_N,
		.transb = casts ? CUBLAS_OP_N : CUBLAS_OP_T,
		.m = 5, .n = 6, .k = casts ? 8 : 7, .batch = 3,
		.alpha = AT(0x71), .beta = AT(0x72),
		.a = { AT(casts ? CAST_A : A), casts ? CUDA_R_16F : CUDA_R_32F,
			51, 61 },
		.b = { AT(casts ? CAST_B : B), casts ? CUDA_R_16F : CUDA_R_32F,
			52, 62 },
		.c = { AT(is_beside ? RESULT : D), CUDA_R_32F, 5, 30 }
	};
}

static void
test_in_place(void **state)
{
	(void)state;
	for (unsigned i = 0; i < AC_EPILOGUE_INPUT_SUMS * 4; i++) {
		prepare(i & 1, false);
		use.product.epilogue = (enum ac_epilogue)(i / 4);
		if (i & 2)
			x.c = NULL;
		recast();
		check_in_place(&ran);
		assert_int_equal(makes, 0);
		assert_true(may_make);
	}
}

/* By the plan of the last call of its content, if that was alike. */
static void
test_again(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		prepare(i & 1, false);
		then = issue_again;
		is_known = true;
		place.capture = i & 2 ? 5 : 0;
		recast();
		assert_int_equal(looks, 1);
		assert_int_equal(runs, 0);
	}
}

/* The call after a try may be captured: what will run in C's place is looked
 * for, first. */
static void
test_beside(void **state)
{
	(void)state;
	for (unsigned i = 0; i < AC_EPILOGUE_INPUT_SUMS * 2; i++) {
		prepare(i & 1, true);
		use.product.epilogue = (enum ac_epilogue)(i / 2);
		recast();
		check_beside(&ran);
		assert_true(may_make);
		assert_int_equal(makes, 1);
		check_in_place(&made);
	}
}

static void
test_capture(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		prepare(i & 1, i & 2);
		place.capture = 5;
		recast();
		assert_false(may_make);
		assert_int_equal(makes, 0);
	}
}

/* Casts have their scalars on the device, whatever the program has. */
static void
test_pointer_modes(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 8; i++) {
		prepare(i & 1, i & 2);
		use.product.pointer_mode = i & 4 ? CUBLAS_POINTER_MODE_DEVICE
		    : CUBLAS_POINTER_MODE_HOST;
		recast();
		assert_int_equal(ran.kind.pointer_mode, i & 5
		    ? CUBLASLT_POINTER_MODE_DEVICE
		    : CUBLASLT_POINTER_MODE_HOST);
	}
}

/* The program's. */
static void
test_workspace(void **state)
{
	static const uintptr_t places[] = { 0x1000, 0x1100, 0 };

	(void)state;
	for (unsigned i = 0; i < sizeof places / sizeof *places; i++) {
		prepare(true, i & 1);
		x.workspace = AT(places[i]);
		recast();
		assert_ptr_equal(ran.run.workspace, AT(places[i]));
		assert_int_equal(ran.kind.workspace_bytes,
		    places[i] ? 777 : 0);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gemm),
		cmocka_unit_test(test_door),
		cmocka_unit_test(test_added),
		cmocka_unit_test(test_epilogues),
		cmocka_unit_test(test_algorithm),
		cmocka_unit_test(test_algorithms_in_turn),
		cmocka_unit_test(test_kept),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_in_place),
		cmocka_unit_test(test_again),
		cmocka_unit_test(test_beside),
		cmocka_unit_test(test_capture),
		cmocka_unit_test(test_pointer_modes),
		cmocka_unit_test(test_workspace),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
