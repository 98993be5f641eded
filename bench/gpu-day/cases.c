/* SPDX-License-Identifier: Apache-2.0 */
/* bench/gpu-day/cases.c -- the sets of products of the sweep. */
#include "gemm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const gemm_forms[] = { "single", "strided", "array",
	"linear" };

/* What is computed on the CPU in a try-out. */
enum { QUICK_MOST = 300 * 300 * 300, QUICK_BATCH = 3 };

/* Zeros end a list. */
static const struct set {
	const char *name;
	enum gemm_form form;
	int batch;
	int sizes[24][3];
	const char *prefix, *ops;    /* none: no transposes */
	cublasLtEpilogue_t epilogue;
} sets[] = {
	{ "square", FORM_SINGLE, 1, { { 8192, 8192, 8192 },
	  { 4096, 4096, 4096 }, { 2048, 2048, 2048 }, { 1024, 1024, 1024 },
	  { 512, 512, 512 }, { 256, 256, 256 }, { 128, 128, 128 },
	  { 64, 64, 64 }, { 96, 96, 96 }, { 192, 192, 192 },
	  { 384, 384, 384 }, { 768, 768, 768 }, { 1536, 1536, 1536 },
	  { 3072, 3072, 3072 }, { 6144, 6144, 6144 } } },
	/* Under amp its probation takes ten seconds. */
	{ "huge", FORM_SINGLE, 1, { { 16384, 16384, 16384 } } },
	{ "skinny", FORM_SINGLE, 1, { { 1, 4096, 4096 }, { 8, 4096, 4096 },
	  { 32, 4096, 4096 }, { 128, 4096, 4096 }, { 512, 4096, 4096 },
	  { 4096, 32, 4096 }, { 4096, 4096, 32 }, { 4096, 4096, 128 },
	  { 1, 64, 64 }, { 32, 64, 64 } } },
	{ "odd", FORM_SINGLE, 1, { { 127, 127, 127 }, { 1023, 1023, 1023 },
	  { 4097, 4097, 4097 }, { 2047, 1023, 511 } } },
	{ "strided", FORM_STRIDED, 64, { { 64, 64, 64 }, { 128, 128, 128 },
	  { 256, 256, 256 }, { 512, 512, 512 }, { 1024, 1024, 1024 },
	  { 512, 512, 64 }, { 512, 64, 512 } } },
	{ "array", FORM_ARRAY, 64, { { 64, 64, 64 }, { 256, 256, 256 },
	  { 1024, 1024, 1024 } } },
	/* Training is two thirds of these: x W^T, and the gradient of W. */
	{ "tn", FORM_SINGLE, 1, { { 8192, 8192, 8192 }, { 4096, 4096, 4096 },
	  { 2048, 2048, 2048 }, { 1024, 1024, 1024 }, { 96, 64, 128 } },
	  "", "TN" },
	{ "nt", FORM_SINGLE, 1, { { 8192, 8192, 8192 }, { 4096, 4096, 4096 },
	  { 2048, 2048, 2048 }, { 1024, 1024, 1024 }, { 96, 64, 128 } },
	  "", "NT" },
	/* 8192 tokens: qkv, projection, the two of the MLP, LM head. */
	{ "gpt2", FORM_SINGLE, 1, { { 2304, 8192, 768 }, { 768, 8192, 768 },
	  { 3072, 8192, 768 }, { 768, 8192, 3072 }, { 50257, 8192, 768 },
	  { 96, 64, 32 } }, "GPT-2 ", "TN" },
	{ "gpt2-gradients", FORM_SINGLE, 1, { { 768, 3072, 8192 },
	  { 3072, 768, 8192 }, { 64, 96, 32 } }, "GPT-2 ", "NT" },
	/* 4096 tokens: qkv, projection, the two of the MLP. */
	{ "7b", FORM_SINGLE, 1, { { 12288, 4096, 4096 }, { 4096, 4096, 4096 },
	  { 11008, 4096, 4096 }, { 4096, 4096, 11008 }, { 64, 32, 96 } },
	  "7B ", "TN" },
	/* The same by cublasLt: qkv, projection and the second of the MLP have
	 * a bias, the first GELU, too. */
	{ "gpt2-bias", FORM_LINEAR, 1, { { 2304, 8192, 768 },
	  { 768, 8192, 768 }, { 768, 8192, 3072 }, { 96, 64, 32 } },
	  "GPT-2 bias ", "TN", CUBLASLT_EPILOGUE_BIAS },
	{ "gpt2-gelu", FORM_LINEAR, 1, { { 3072, 8192, 768 },
	  { 64, 96, 32 } }, "GPT-2 GELU ", "TN",
	  CUBLASLT_EPILOGUE_GELU_BIAS },
	{ "7b-bias", FORM_LINEAR, 1, { { 12288, 4096, 4096 },
	  { 4096, 4096, 4096 }, { 4096, 4096, 11008 }, { 64, 32, 96 } },
	  "7B bias ", "TN", CUBLASLT_EPILOGUE_BIAS },
	{ "7b-gelu", FORM_LINEAR, 1, { { 11008, 4096, 4096 },
	  { 32, 64, 96 } }, "7B GELU ", "TN", CUBLASLT_EPILOGUE_GELU_BIAS },
	{ "linear", FORM_LINEAR, 1, { { 4096, 4096, 4096 },
	  { 128, 96, 64 } }, "bias ", "TN", CUBLASLT_EPILOGUE_BIAS },
	{ "attention-qk", FORM_STRIDED, 64, { { 2048, 2048, 128 },
	  { 1024, 1024, 64 }, { 64, 64, 32 } }, "QK ", "TN" },
	{ "attention-pv", FORM_STRIDED, 64, { { 128, 2048, 2048 },
	  { 64, 1024, 1024 }, { 32, 64, 64 } }, "PV ", "NN" },
	{ "rates", FORM_SINGLE, 1, { { 1024, 1024, 1024 },
	  { 2048, 2048, 2048 }, { 4096, 4096, 4096 }, { 8192, 8192, 8192 },
	  { 16384, 16384, 16384 }, { 128, 128, 128 } } },
	{ "crossover", FORM_SINGLE, 1, { { 512, 512, 512 }, { 768, 768, 768 },
	  { 1024, 1024, 1024 }, { 1280, 1280, 1280 }, { 1536, 1536, 1536 },
	  { 2048, 2048, 2048 }, { 3072, 3072, 3072 }, { 4096, 4096, 4096 },
	  { 128, 128, 128 } } },
};

static void
make(const struct set *set, const int size[3], struct gemm_case *c_out)
{
	const bool square = size[0] == size[1] && size[1] == size[2];
	struct gemm_case c = { .form = set->form, .m = size[0], .n = size[1],
		.k = size[2], .batch = set->batch,
		.epilogue = set->epilogue };
	const char *prefix = set->prefix ? set->prefix : "";

	if (gpu.quick && c.batch > QUICK_BATCH)
		c.batch = QUICK_BATCH;
	for (int i = 0; set->ops && i < 2; i++)
		c.trans[i] = set->ops[i] == 'T';
	if (square)
		snprintf(c.name, sizeof c.name, "%s%d", prefix, c.m);
	else
		snprintf(c.name, sizeof c.name, "%s%dx%dx%d", prefix, c.m, c.n,
		    c.k);
	if (set->ops)
		snprintf(c.name + strlen(c.name),
		    sizeof c.name - strlen(c.name), " %s", set->ops);
	if (set->batch > 1)
		snprintf(c.name + strlen(c.name),
		    sizeof c.name - strlen(c.name), " %s of %d",
		    gemm_forms[set->form], c.batch);
	*c_out = c;
}

static void
use_if_small(const struct gemm_case *c,
    void (*use)(const struct gemm_case *c))
{
	if (!gpu.quick || (double)c->m * c->n * c->k * c->batch <= QUICK_MOST)
		use(c);
}

void
gemm_cases_of(const char *name, void (*use)(const struct gemm_case *c))
{
	const int size = (int)strtol(name, NULL, 10);
	const int square[3] = { size, size, size };
	const struct set *set = NULL;
	struct gemm_case c;

	for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
		if (!strcmp(sets[i].name, name))
			set = &sets[i];
	if (set) {
		for (int i = 0; set->sizes[i][0]; i++) {
			make(set, set->sizes[i], &c);
			use_if_small(&c, use);
		}
	} else if (size > 0) {
		make(&sets[0], square, &c);
		use_if_small(&c, use);
	} else {
		fprintf(stderr, "gemm: no set '%s'\n", name);
		exit(2);
	}
}
