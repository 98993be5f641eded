/* SPDX-License-Identifier: Apache-2.0 */
/* tests/policy/agree_driver.c -- what the C parser and decision make of many
 * texts, for agree.py to compare.
 * Reads records "LENGTH\n" + text from standard input. Answers each with one
 * line: the places of all errors, or what it decides about the calls below;
 * a policy that prints to one that reads or decides differently is reported
 * as such. */
#include "base/text.h"
#include "policy/policy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUFFER_BYTES = 1 << 20, CALL_COUNT = 33, VECTOR_COUNT = 4 };

static struct ac_op calls[CALL_COUNT], vectors[VECTOR_COUNT];

static struct ac_op *
add_call(unsigned i, enum ac_operation operation, const char *type)
{
	calls[i].operation = operation;
	calls[i].fact[AC_FACT_TYPE] = type;
	return &calls[i];
}

static void
make_profitable_calls(void)
{
	struct ac_op *op;

	op = add_call(10, AC_OP_GEMM_SINGLE, "f32");
	ac_op_set_product(op, 4096, 4096, 4096, 1);
	ac_op_set(op, AC_Q_SM, 90);
	op->fact[AC_FACT_ASKED] = "fp32";
	op->fact[AC_FACT_GPU] = "NVIDIA H200";

	op = add_call(11, AC_OP_GEMM_STRIDED, "f32");
	ac_op_set_product(op, 64, 2048, 64, 16);
	ac_op_set(op, AC_Q_SM, 80);
	op->fact[AC_FACT_ASKED] = "fast16bf";

	op = add_call(12, AC_OP_GEMM_BATCHED, "f32");
	ac_op_set_product(op, 1024, 1024, 1024, 8);
	ac_op_set(op, AC_Q_SM, 90);
	op->fact[AC_FACT_ASKED] = "tf32";

	op = add_call(13, AC_OP_GEMM_SINGLE, "f32");
	ac_op_set_product(op, 640, 640, 640, 1);
	ac_op_set(op, AC_Q_SM, 89);
	op->fact[AC_FACT_GPU] = "NVIDIA GeForce RTX 4090";
	op->fact[AC_FACT_SOLVER] = "yes";
}

/* The same as in agree.py, and in its order. */
static const struct {
	enum ac_operation    operation;
	struct ac_conv_sizes sizes;
	int                  sm;
	const char          *asked, *layout, *fn;
} convolutions[] = {
#define PLANE(n, cin, cout, groups, in, to, f, s) \
	{ n, cin, cout, groups, 2, { in, in }, { to, to }, { f, f }, \
	  { s, s }, { 1, 1 } }
	{ AC_OP_CONV_FPROP, PLANE(32, 256, 256, 1, 28, 28, 3, 1), 90, "tf32",
	  "nhwc", NULL },
	{ AC_OP_CONV_DGRAD, PLANE(32, 64, 256, 1, 56, 56, 1, 1), 80, "fp32",
	  "nchw", NULL },
	{ AC_OP_CONV_WGRAD, PLANE(64, 128, 128, 2, 28, 14, 3, 2), 100, "fp32",
	  "nchw", NULL },
	{ AC_OP_CONV_FPROP, PLANE(8, 512, 512, 1, 14, 14, 3, 1), 75, "fp32",
	  "nchw", NULL },
	{ AC_OP_CONV_FPROP, PLANE(64, 512, 512, 1, 14, 14, 3, 1), 100, "fp32",
	  "nhwc", NULL },
	{ AC_OP_CONV_FPROP, PLANE(128, 512, 512, 1, 28, 28, 3, 1), 90,
	  "fast16f", "nchw", NULL },
	{ AC_OP_CONV_FPROP, PLANE(128, 512, 512, 1, 28, 28, 3, 1), 90, "tf32",
	  "nchw", "cudnnBackendExecute" },
#undef PLANE
};

static void
make_convolutions(unsigned first)
{
	struct ac_op *op;
	unsigned i;

	for (i = 0; i < sizeof(convolutions) / sizeof(convolutions[0]); i++) {
		op = add_call(first + i, convolutions[i].operation, "f32");
		ac_op_set_conv(op, &convolutions[i].sizes);
		ac_op_set(op, AC_Q_SM, convolutions[i].sm);
		op->fact[AC_FACT_ASKED] = convolutions[i].asked;
		op->fact[AC_FACT_LAYOUT] = convolutions[i].layout;
		op->fact[AC_FACT_FN] = convolutions[i].fn;
	}
}

/* As the program asks for where it opens a region; auto is every rung. */
static void
allow(struct ac_op *op, unsigned count, const enum ac_rung *rungs)
{
	op->region_rungs = count;
	memcpy(op->region_rung, rungs, count * sizeof(*rungs));
}

static void
make_regions(unsigned first)
{
	static const enum ac_rung some[] = { AC_RUNG_BF16, AC_RUNG_TF32,
		AC_RUNG_FP16 };
	static const enum ac_rung all[AC_RUNG_COUNT - 1] = { AC_RUNG_TF32,
		AC_RUNG_FP16, AC_RUNG_BF16, AC_RUNG_FP16X2, AC_RUNG_FP16X3,
		AC_RUNG_BF16X3, AC_RUNG_BF16X6 };
	static const enum ac_rung pair[] = { AC_RUNG_FP16, AC_RUNG_TF32 };

	calls[first] = calls[first + 1] = calls[10];
	calls[first].fact[AC_FACT_REGION] = "loss";
	calls[first].region_keeps = true;
	calls[first + 1].fact[AC_FACT_REGION] = "enc.0";
	allow(&calls[first + 1], 3, some);
	calls[first + 2] = calls[15];
	calls[first + 2].fact[AC_FACT_REGION] = "loss";
	allow(&calls[first + 2], AC_RUNG_COUNT - 1, all);
	calls[first + 3] = calls[20];
	calls[first + 3].fact[AC_FACT_REGION] = "enc.1";
	allow(&calls[first + 3], 2, pair);
}

static void
make_cublaslt(unsigned first)
{
	static const char *const epilogues[] = { "gelu_bias", "bgrada/bgradb",
		"other", "none" };

	for (unsigned i = 0; i < 4; i++) {
		struct ac_op *op = add_call(first + i, AC_OP_GEMM_LT,
		    i < 3 ? "f32" : "c32");

		if (i == 0)
			ac_op_set_product(op, 3072, 4096, 768, 1);
		else
			ac_op_set_product(op, 768, 3072, 4096, 1);
		ac_op_set(op, AC_Q_SM, i < 2 ? 90 : 80);
		op->fact[AC_FACT_ASKED] = i == 2 ? "tf32" : "fp32";
		op->fact[AC_FACT_EPILOGUE] = epilogues[i];
	}
	calls[first].fact[AC_FACT_GPU] = "NVIDIA H200";
}

/* Parts of calls. */
static void
make_parts(unsigned first)
{
	for (unsigned i = 0; i < 4; i++) {
		struct ac_op *op = add_call(first + i, i & 1 ? AC_OP_GEMM_SYRK
		    : AC_OP_GEMM_GROUPED, "f32");

		ac_op_set_product(op, i < 2 ? 1024 : 512, 1024, 2048,
		    i == 0 ? 2 : 1);
		ac_op_set(op, AC_Q_SM, i < 2 ? 90 : 80);
		op->fact[AC_FACT_ASKED] = i == 3 ? "tf32" : "fp32";
		op->fact[AC_FACT_GPU] = i < 2 ? "NVIDIA H200"
		    : "NVIDIA A100";
	}
}

/* The same as in agree.py. */
static void
make_vectors(void)
{
	static const char *const names[VECTOR_COUNT] = { "cublasSscal_v2",
		"cublasSaxpy_v2", "cublasSaxpy_v2", "cublasSscal_v2_64" };
	static const double sizes[VECTOR_COUNT] = { 320, 4096, 16, 1 };

	for (unsigned i = 0; i < VECTOR_COUNT; i++) {
		vectors[i].fact[AC_FACT_FN] = names[i];
		ac_op_set(&vectors[i], AC_Q_N, sizes[i]);
	}
	vectors[0].fact[AC_FACT_CALLER] = "train";
	ac_op_set(&vectors[0], AC_Q_SM, 90);
	vectors[0].fact[AC_FACT_SOLVER] = "no";
	vectors[1].fact[AC_FACT_CALLER] = "train";
	ac_op_set(&vectors[1], AC_Q_SM, 80);
	ac_op_set(&vectors[1], AC_Q_DEVICE, 1);
	vectors[2].fact[AC_FACT_CALLER] = "libcudnn.so.9";
	ac_op_set(&vectors[2], AC_Q_SM, 90);
	vectors[3].fact[AC_FACT_GPU] = "NVIDIA H200";
	vectors[3].fact[AC_FACT_PROGRAM] = "x";
}

/* The same as in agree.py. */
static void
make_calls(void)
{
	struct ac_op *op;

	op = add_call(0, AC_OP_GEMM_SINGLE, "f32");
	ac_op_set_product(op, 768, 4096, 768, 1);
	ac_op_set(op, AC_Q_SM, 90);
	op->fact[AC_FACT_TA] = "T";
	op->fact[AC_FACT_TB] = "N";
	op->fact[AC_FACT_ASKED] = "fp32";
	op->fact[AC_FACT_CALLER] = "train";
	op->fact[AC_FACT_SITE] = "9c41d2e0";

	op = add_call(1, AC_OP_GEMM_SINGLE, "f32");
	ac_op_set_product(op, 16, 16, 16, 1);
	ac_op_set(op, AC_Q_SM, 75);
	op->fact[AC_FACT_TA] = "N";
	op->fact[AC_FACT_ASKED] = "tf32";

	op = add_call(2, AC_OP_GEMM_STRIDED, "f32");
	ac_op_set_product(op, 64, 1024, 1024, 96);
	ac_op_set(op, AC_Q_SM, 75);
	op->fact[AC_FACT_CALLER] = "libcusolver.so.12";
	op->fact[AC_FACT_SOLVER] = "yes";

	op = add_call(3, AC_OP_GEMM_BATCHED, "f32");
	ac_op_set_product(op, 512, 512, 512, 64);
	ac_op_set(op, AC_Q_SM, 80);

	op = add_call(4, AC_OP_GEMM_SINGLE, "c32");
	ac_op_set_product(op, 512, 512, 512, 1);
	ac_op_set(op, AC_Q_SM, 90);

	op = add_call(5, AC_OP_CONV_FPROP, "f32");
	ac_op_set_product(op, 50176, 64, 147, 1);
	ac_op_set(op, AC_Q_CIN, 3);
	ac_op_set(op, AC_Q_COUT, 64);
	ac_op_set_extents(op, AC_Q_FILTER, 7, 7, 0);
	ac_op_set_extents(op, AC_Q_STRIDE, 2, 1, 0);
	ac_op_set(op, AC_Q_SM, 90);

	op = add_call(6, AC_OP_CONV_WGRAD, "f32");
	ac_op_set(op, AC_Q_SM, 80);
	ac_op_set_extents(op, AC_Q_FILTER, 3, 0, 0);

	op = add_call(7, AC_OP_GEMM_GROUPED, "f32");
	op = add_call(8, AC_OP_GEMM_SINGLE, "f32");
	ac_op_set_product(op, 256, 256, 256, 1);
	ac_op_set(op, AC_Q_SM, 80);
	op->fact[AC_FACT_ASKED] = "pedantic";
	op->fact[AC_FACT_GPU] = "NVIDIA A100";

	op = add_call(9, AC_OP_CONV_DGRAD, NULL);
	make_profitable_calls();
	make_convolutions(14);
	make_vectors();
	make_regions(21);
	make_cublaslt(25);
	make_parts(29);
}

static void
answer_candidates(const struct ac_decision *d)
{
	unsigned i;

	printf(":%s", d->candidate_count == 0 ? "-" : "");
	for (i = 0; i < d->candidate_count; i++)
		printf("%s%s", i > 0 ? "+" : "",
		    ac_rung_names[d->candidate[i].rung]);
	printf("%s", d->is_doubtful ? "?" : "");
}

static void
answer_decisions(const struct ac_policy *policy)
{
	struct ac_decision d;
	enum ac_scaling kind;
	uint32_t line;
	unsigned i;

	printf("ok");
	for (i = 0; i < CALL_COUNT; i++) {
		ac_policy_decide(policy, &calls[i], &d);
		printf(" %s:%u:%s:%s:%s", d.source, d.line,
		    ac_rung_names[d.rung], ac_tactic_names[d.tactic],
		    ac_reason_names[d.reason]);
		answer_candidates(&d);
		printf(":%llu", (unsigned long long)d.own);
	}
	for (i = 0; i < VECTOR_COUNT; i++) {
		kind = ac_policy_scaling(policy, &vectors[i], &line);
		printf(" %s:%u", ac_scaling_names[kind], line);
	}
	printf("\n");
}

static bool
decides_alike(const struct ac_policy *a, const struct ac_policy *b)
{
	struct ac_decision x, y;
	unsigned i;

	for (i = 0; i < CALL_COUNT; i++) {
		ac_policy_decide(a, &calls[i], &x);
		ac_policy_decide(b, &calls[i], &y);
		if (x.rung != y.rung || x.tactic != y.tactic ||
		    x.reason != y.reason || x.tol != y.tol ||
		    x.candidate_count != y.candidate_count ||
		    x.guard != y.guard || x.own != y.own)
			return false;
	}
	for (i = 0; i < VECTOR_COUNT; i++)
		if (ac_policy_scaling(a, &vectors[i], NULL) !=
		    ac_policy_scaling(b, &vectors[i], NULL))
			return false;
	return ac_policy_scale(a) == ac_policy_scale(b);
}

/* Whether the canonical text reads back as the same policy. */
static bool
survives_printing(const struct ac_policy *policy, char *once, char *twice)
{
	struct ac_policy_problems problems = { 0 };
	struct ac_text text;
	struct ac_policy *again;
	bool same;

	ac_text_init(&text, once, BUFFER_BYTES);
	ac_policy_print(policy, &text);
	again = ac_policy_parse(NULL, once, text.used, "file", &problems);
	if (again == NULL)
		return false;
	ac_text_init(&text, twice, BUFFER_BYTES);
	ac_policy_print(again, &text);
	same = strcmp(once, twice) == 0 && decides_alike(policy, again);
	ac_policy_destroy(again);
	return same;
}

/* "file:3:14: message" lines, warnings left out, as " 3:14". */
static void
answer_errors(char *diagnostics)
{
	char *line, *save = NULL;
	unsigned row, column;

	printf("errors");
	for (line = strtok_r(diagnostics, "\n", &save); line != NULL;
	    line = strtok_r(NULL, "\n", &save)) {
		if (sscanf(line, "file:%u:%u:", &row, &column) != 2 ||
		    strstr(line, ": warning: ") != NULL)
			continue;
		printf(" %u:%u", row, column);
	}
	printf("\n");
}

static void
answer(const char *record, size_t count, char *out, char *spare)
{
	struct ac_text text;
	struct ac_policy_problems problems = { .text = &text };
	struct ac_policy *policy;

	ac_text_init(&text, out, BUFFER_BYTES);
	policy = ac_policy_parse(NULL, record, count, "file", &problems);
	if (policy == NULL) {
		answer_errors(out);
		return;
	}
	if (survives_printing(policy, out, spare))
		answer_decisions(policy);
	else
		printf("printed wrongly\n");
	ac_policy_destroy(policy);
}

int
main(void)
{
	char *record = malloc(BUFFER_BYTES), *out = malloc(BUFFER_BYTES);
	char *spare = malloc(BUFFER_BYTES);
	unsigned length;

	if (record == NULL || out == NULL || spare == NULL)
		return 1;
	make_calls();
	while (scanf("%u", &length) == 1 && getchar() == '\n' &&
	    length < BUFFER_BYTES &&
	    fread(record, 1, length, stdin) == length)
		answer(record, length, out, spare);
	free(record);
	free(out);
	free(spare);
	return 0;
}
